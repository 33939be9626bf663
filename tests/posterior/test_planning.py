"""Plans: data simulated at the planned numbers have intervals of the planned width."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.posterior import (
    AttributePlan,
    Posterior,
    Spreads,
    bayes,
    distance_table,
    plan_attributes,
    read_distances,
)
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.posterior import DistanceTable

CONTROLS = ("human", "neutral")


def simulated(spreads: Spreads, attributes: int, seed: int) -> DistanceTable:
    """Distances of two connections from the model itself, by plain loops."""
    random = np.random.default_rng(seed)
    rows = []
    for connection, mean in (("human", 0.9), ("neutral", 0.95)):
        own = mean + spreads.between * random.standard_normal(spreads.words)
        effects = spreads.attribute * random.standard_normal(attributes)
        for w, word in enumerate(own):
            for a, effect in enumerate(effects):
                value = word + effect + spreads.residual * random.standard_normal()
                rows.append((f"w{w}", f"{connection}{a}", connection, connection, float(value)))
    return distance_table("simulated", rows)


def width_of(found: Posterior, contrast: tuple[str, str] = CONTROLS) -> float:
    (one,) = [one for one in found.contrasts if (one.a, one.b) == contrast and one.word is None]
    assert one.low is not None
    assert one.high is not None
    return one.high - one.low


@pytest.mark.parametrize(
    ("spreads", "width", "variant"),
    [
        (Spreads(0.1, 0.04, 15), 0.065, "per-connection"),
        (Spreads(0.12, 0.02, 25), 0.04, "per-connection"),
        (Spreads(0.08, 0.03, 12, 0.08), 0.1, "crossed"),
    ],
)
def test_data_of_the_planned_size_have_intervals_of_the_planned_width(
    spreads: Spreads,
    width: float,
    variant: Any,  # noqa: ANN401 - a Literal
) -> None:
    plan = plan_attributes(spreads, width=width)
    assert plan.attributes is not None
    count = plan.attributes[0]
    assert count > 4

    def mean_width(attributes: int) -> float:
        fits = [bayes(simulated(spreads, attributes, seed), variant=variant, draws=1_000) for seed in range(16)]
        return float(np.mean([width_of(found) for found in fits]))

    assert mean_width(count) == pytest.approx(width, rel=0.1)
    assert mean_width(max(1, count // 4)) > 1.25 * width


def test_a_plan_by_hand() -> None:
    """Two connections: variance (tau² + sigma² / n) / W + omega² / n each, Welch's degrees of freedom."""
    spreads = Spreads(0.1, 0.03, 20, 0.05)
    plan = plan_attributes(spreads, width=0.07, prob=0.9)

    def width(n: int) -> float:
        own, effect = (0.03**2 + 0.1**2 / n) / 20, 0.05**2 / n
        total = 2 * (own + effect)
        freedom = total**2 / (2 * own**2 / 19 + 2 * effect**2 / max(n - 1, 1))
        return float(2 * stats.t.ppf(0.95, freedom) * np.sqrt(total))

    assert plan.attributes is not None
    first = next(n for n in range(1, 1_000) if width(n) < 0.07)
    assert plan.attributes == (first, first)
    assert width(first - 1) >= 0.07
    assert plan.words == (20, 20)
    assert plan.low == plan.high == first


def test_never_by_attributes_alone() -> None:
    """With endlessly many attributes the interval still has the width that 10 words leave."""
    spreads = Spreads(0.1, 0.1, 10)
    least = 2 * stats.t.ppf(0.945, 18) * np.sqrt(2 * 0.1**2 / 10)
    plan = plan_attributes(spreads, width=0.9 * least)
    assert plan.attributes is None
    assert plan.p_never == 1
    assert plan.most_attributes == pytest.approx(least, rel=1e-9)
    assert plan.reading.startswith("Never: with 10 protected words")
    assert plan.to_dict()["reason"] == plan.reading
    assert plan_attributes(spreads, width=1.1 * least).attributes is not None
    enough = [row for row in plan.rows if row.attributes is not None]
    assert enough[0].words == (15, 15)
    assert plan_attributes(spreads, width=0.9 * least, words=15).attributes == enough[0].attributes


def test_more_protected_words_cannot_replace_attributes_in_the_crossed_model() -> None:
    crossed, plain = Spreads(0.1, 0.01, 10, 0.1), Spreads(0.1, 0.01, 10)
    needed = {
        name: [plan_attributes(one, width=0.1, words=words).attributes for words in (10, 100, 1_000, 100_000)]
        for name, one in (("crossed", crossed), ("plain", plain))
    }
    assert needed["plain"][-1] == (1, 1)
    floor = 2 * 0.1**2 * (2 * stats.norm.ppf(0.945) / 0.1) ** 2  # omega² / n alone must not exceed the width
    last = needed["crossed"][-1]
    assert last is not None
    assert last[0] >= floor
    assert last[0] <= floor + 3


def test_plans_are_monotone() -> None:
    def needed(**asked: Any) -> float:  # noqa: ANN401 - settings
        spreads = Spreads(
            **{"residual": 0.1, "between": 0.02, "words": 15, "attribute": 0.04} | asked.pop("spreads", {})
        )
        found = plan_attributes(spreads, **{"width": 0.06, **asked}).attributes
        return np.inf if found is None else found[0]

    for key, values, rising in (
        ("residual", (0.02, 0.1, 0.3), True),
        ("between", (0.0, 0.02, 0.2), True),
        ("attribute", (0.0, 0.04, 0.2), True),
        ("words", (10, 20, 80), False),
    ):
        counts = [needed(spreads={key: value}) for value in values]
        assert counts == sorted(counts, reverse=not rising), key
        assert counts[0] != counts[-1], key
    widths = [needed(width=width) for width in (0.03, 0.05, 0.08, 0.2)]
    assert widths == sorted(widths, reverse=True)
    levels = [needed(prob=prob) for prob in (0.5, 0.89, 0.95)]
    assert levels == sorted(levels)
    assert levels[0] < levels[-1]


@pytest.mark.parametrize("variant", ["per-connection", "crossed", "single-sigma"])
def test_the_present_width_asks_for_the_present_attributes(variant: Any) -> None:  # noqa: ANN401 - a Literal
    found = bayes(simulated(Spreads(0.15, 0.03, 30, 0.1 if variant == "crossed" else 0), 20, 1), variant=variant)
    plan = plan_attributes(found, width=width_of(found), contrast=CONTROLS)
    assert plan.observed_width == width_of(found)
    assert plan.expected_width == pytest.approx(plan.observed_width, rel=0.05)
    assert plan.attributes_now == (20, 20)
    assert plan.attributes is not None
    assert plan.attributes[0] == pytest.approx(20, abs=4)
    assert plan.low is not None
    assert plan.low <= plan.attributes[0]
    assert plan.high is None or plan.high >= plan.attributes[0]
    assert (plan.most_words == 0) == (variant != "crossed")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["religion_group_reddit_dataset", "gender_group_google_dataset", "weat_7_google"])
@pytest.mark.parametrize("variant", ["per-connection", "crossed"])
def test_expected_widths_on_real_distances(shared_data: Path, name: str, variant: Any) -> None:  # noqa: ANN401
    table = read_distances(shared_data / "bayes_distances" / f"{name}.csv.gz")
    found = bayes(table, variant=variant, draws=10_000)  # an interval's width of 4,000 draws errs by 2 %
    for contrast in (("associated", "different"), ("associated", "human"), ("human", "neutral")):
        plan = plan_attributes(found, width=0.05, contrast=contrast)
        assert plan.expected_width == pytest.approx(plan.observed_width, rel=0.06)
        assert plan.variant == variant


def test_assurance_asks_for_more() -> None:
    found = bayes(simulated(Spreads(0.15, 0.03, 30), 20, 1))
    needed = [
        plan_attributes(found, width=0.06, contrast=CONTROLS, assurance=one).attributes for one in (0.2, 0.5, 0.8)
    ]
    counts = [one[0] for one in needed if one is not None]
    assert len(counts) == 3
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_shared_attributes_cancel_in_the_crossed_model() -> None:
    """Both lists meet all words, once as associated and once as different: their effects leave the contrast."""
    random = np.random.default_rng(2)
    effects = random.normal(0, 0.3, 12)
    rows = [
        (f"w{w}", f"a{a:02}", f"list {a % 2}", "associated" if w % 2 == a % 2 else "different",
         float(0.9 + effects[a] + random.normal(0, 0.02) + random.normal(0, 0.05)))
        for w in range(10)
        for a in range(12)
    ]  # fmt: skip
    found = bayes(distance_table("crossed", rows), variant="crossed")
    plan = plan_attributes(found, width=0.05)
    assert plan.most_words == pytest.approx(0, abs=1e-9)
    assert plan.expected_width == pytest.approx(plan.observed_width, rel=0.1)


def test_it_can_be_written() -> None:
    plan = plan_attributes(Spreads(0.1, 0.05, 12), width=0.05)
    shape = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert shape["attributes"] is None
    assert len(shape["rows"]) == len(plan.to_frame()) == 7
    assert plan.to_frame()["associated_attributes"].isna().tolist()[0]
    assert "Never" in plan._repr_html_()
    assert AttributePlan.from_dict(shape) == plan


def test_mistakes_get_one_sentence(table: DistanceTable) -> None:
    found = bayes(table, draws=400)
    for asked, sentence in (
        ({"width": 0}, "'width' parameter must be a number above 0"),
        ({"width": 0.1, "assurance": 1}, "'assurance' parameter must be a number strictly between 0 and 1"),
        ({"width": 0.1, "prob": 89}, "'prob' parameter must be a number strictly between 0 and 1"),
        ({"width": 0.1, "words": 1}, "at least two protected words"),
        ({"width": 0.1, "contrast": ("human", "human")}, "A contrast is of two connections"),
        ({"width": 0.1, "contrast": ("human", "people")}, "There is no posterior of 'people'"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            plan_attributes(found, **asked)
    with pytest.raises(ParameterError, match="'words'"):
        Spreads(0.1, 0.1, 1)
    with pytest.raises(ParameterError, match="'residual'"):
        Spreads(-0.1, 0.1, 5)
