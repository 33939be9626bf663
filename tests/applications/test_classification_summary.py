"""Metrics and gaps over seeds: against loops that draw items and seeds again, and planted gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgauge.applications import TaskItems, gaps
from biasgauge.applications.classification.task import _SeedConfusionCounts, summarize
from biasgauge.stats import Resampling

HOW = Resampling("percentile", 0.95, 400, 0)


def of(rows: Any, **wanted: Any) -> Any:  # noqa: ANN401 - a metric or a gap
    found = [one for one in rows if all(getattr(one, name) == value for name, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def planted_predictions(items: int, seeds: int, shared: float, random: np.random.Generator, sd: float = 0) -> Any:  # noqa: ANN401 - arrays
    """Labels, predictions and groups; recall is 0.8 in a and 0.6 in b on average, the gap has this sd over seeds."""
    groups = np.array(["a", "b"])[np.arange(items) % 2]
    labels = np.array(["0", "1"])[np.arange(items) // 2 % 2]
    common = random.random(items)
    rows = []
    for shift in random.normal(0, sd, seeds) / 2:
        chance = np.where(groups == "a", 0.8 + shift, 0.6 - shift)
        own = np.where(random.random(items) < shared, common, random.random(items))
        rows.append(np.where(own < chance, labels, np.where(labels == "1", "0", "1")))
    return labels, rows, groups


def items_of(labels: Any, rows: Any, groups: Any) -> TaskItems:  # noqa: ANN401 - arrays
    return TaskItems(tuple(labels.tolist()), tuple(groups.tolist()), tuple(tuple(row.tolist()) for row in rows))


def summary_of(labels: Any, rows: Any, groups: Any, how: Resampling = HOW, **settings: Any) -> Any:  # noqa: ANN401 - arrays
    defaults = {"classes": ("0", "1"), "positive": "1", "order": None}
    runs: dict[int, Any] = {seed: {} for seed in range(len(rows))}
    return summarize(items_of(labels, rows, groups), runs, how, **{**defaults, **settings})


def test_means_over_seeds_and_their_intervals() -> None:
    """The interval of a mean over seeds against drawing items and seeds again one by one."""
    random = np.random.default_rng(3)
    labels, rows, groups = planted_predictions(200, 4, 0.7, random, sd=0.25)
    found = summary_of(labels, rows, groups, Resampling("percentile", 0.9, 3000, 0))
    gap = of(found.gaps, metric="recall", positive_class="1")
    each: list[Any] = [gaps(labels, row, groups, positive="1", resamples=100).gap("recall").value for row in rows]
    assert gap.values == pytest.approx(each)
    assert gap.value == pytest.approx(np.mean(each))
    assert gap.sd.value == pytest.approx(np.std(each, ddof=1))
    assert gap.p_value is None
    assert found.seeds[2].gaps[1].p_value is not None

    places = [np.flatnonzero(groups == name) for name in "ab"]
    table = np.stack(rows)
    drawn = []
    for _ in range(3000):
        a, b = (random.choice(one, len(one)) for one in places)
        recalls = [(table[:, one] == "1")[:, labels[one] == "1"].mean(axis=1) for one in (a, b)]
        drawn.append((recalls[0] - recalls[1])[random.integers(0, 4, 4)].mean())
    slow = np.quantile(drawn, [0.05, 0.95])
    assert [gap.low, gap.high] == pytest.approx(slow, abs=0.02)
    assert gap.over == "items and seeds"


@pytest.mark.parametrize(
    ("seeds", "sd", "least", "most"),
    [
        (1, 0, 87, 100),  # 95 ± 3.7 standard errors
        (5, 0.05, 87, 100),
        (1, 0.05, 60, 89),  # an interval over items does not know about seeds
    ],
)
def test_how_often_intervals_hold_the_planted_gap(seeds: int, sd: float, least: int, most: int) -> None:
    random = np.random.default_rng(4)
    hits = 0
    for _ in range(100):
        labels, rows, groups = planted_predictions(800, seeds, 0.7, random, sd)
        counts = _SeedConfusionCounts(items_of(labels, rows, groups), ["a", "b"], ("0", "1"), "1", HOW, zeros=False)
        gap = of(counts.gaps({}), metric="recall", positive_class="1")
        hits += gap.low <= 0.2 <= gap.high
    assert least <= hits <= most


def test_a_group_without_positives_and_items_of_nobody() -> None:
    labels = np.array(["1", "0", "0", "0", "1", "0"] * 20)
    groups = np.array(["a", "a", "b", "b", None, None] * 20)
    found = summary_of(labels, [labels, labels], groups)
    recall = of(found.gaps, metric="recall", positive_class="1")
    assert (recall.value, recall.low) == (None, None)
    assert recall.reason == "nothing in group 'b' is labeled '1' with 2 of 2 seeds"
    assert of(found.gaps, metric="accuracy").value == 0
    assert of(found.metrics, metric="accuracy", group=None).n == 120
    assert found.counts == {"a": 40, "b": 40}


def test_no_groups_or_one_is_said() -> None:
    labels = np.array(["1", "0"] * 10)
    nobody = summary_of(labels, [labels], np.array([None] * 20))
    assert nobody.gaps == ()
    assert "names no groups of people" in str(nobody.no_gaps)
    assert summary_of(labels, [labels], np.array(["a"] * 20)).no_gaps == "the only group is 'a'"


def test_more_than_two_groups_are_also_compared_with_the_rest() -> None:
    random = np.random.default_rng(5)
    labels = random.choice(["0", "1"], 300)
    rows = [random.choice(["0", "1"], 300) for _ in range(2)]
    groups = random.choice(["a", "b", "c"], 300)
    found = summary_of(labels, rows, groups)
    gap = of(found.gaps, metric="accuracy", a="b", b="the rest")
    expected = [(row == labels)[groups == "b"].mean() - (row == labels)[groups != "b"].mean() for row in rows]
    assert gap.value == pytest.approx(np.mean(expected))
    chosen = summary_of(labels, rows, groups, order=("c", "a"))
    assert {(one.a, one.b) for one in chosen.gaps} == {("c", "a")}
