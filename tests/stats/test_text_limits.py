"""Limits for a new planting, in the same text and in a new one: against worlds whose components are known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats as distributions

from biasgauge.core import Estimate, Floats
from biasgauge.stats import (
    DoseResponse,
    Source,
    TextLine,
    Variances,
    contrast_bounds,
    limit_bounds,
    new_text_limits,
    text_line,
)
from biasgauge.stats.numerics import satterthwaite
from biasgauge.stats.text_limits import ASSUMED_LEVEL, ASSUMED_SLOPE

LEVELS = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [15, 15, 40, 15, 15])
CARRIER, PLANTING, RUN, SHIFT, SLOPE = 0.5, 0.3, 0.4, 0.1, 0.4
WORD = CARRIER**2 + PLANTING**2 + RUN**2
VARIANCES = Variances(0.0, CARRIER**2, PLANTING**2, RUN**2, SHIFT**2)
FOLLOWS = DoseResponse(
    0.0, Estimate(value=SLOPE, low=0.3, high=0.5), 0.0, ((0.0, 0.0), (0.0, 0.0)), 9.0, 0.5, VARIANCES
)


def text(
    random: np.random.Generator,
    *,
    level: float = 0.0,
    slopes: float = 0.0,
    spread: float = 0.0,
    plantings: float = 0.0,
    draws: int = 3,
    runs: int = 2,
) -> tuple[TextLine, float, float]:
    """A calibrated text, its slope and its factor of the spread of words; sd between texts and between plantings."""
    factor, slope = np.exp(spread * random.normal()), SLOPE * np.exp(slopes * random.normal())
    doses = np.stack([random.permutation(LEVELS) for _ in range(draws)], axis=1)
    lasting = random.normal(0, CARRIER, (len(LEVELS), 1)) + random.normal(0, PLANTING, doses.shape)
    scores = level * random.normal() + slope * doses + factor * lasting + plantings * random.normal(size=(1, draws))
    noise = factor * random.normal(0, RUN, (*doses.shape, runs)) + random.normal(0, SHIFT, (1, draws, runs))
    line = text_line(scores[:, :, None] + noise, doses, doses, FOLLOWS, one_slope=True)
    return line, slope, factor


def shares(
    count: int,
    words: int,
    worlds: int,
    seed: int,
    *,
    level: float,
    plantings: float,
    **more: Any,  # noqa: ANN401 - of `text`
) -> Floats:
    """For each world the chance of new blanks beyond the limit, and that of new words with the dose of the other.

    Exact for the texts that are drawn: a new set is normal around the level of its text.
    """
    random, chances = np.random.default_rng(seed), []
    for _ in range(worlds):
        calibrated = [text(random, level=level, plantings=plantings, **more) for _ in range(count)]
        bounds = limit_bounds([line for line, _, _ in calibrated], "first", words=words)
        around, slope, factor = (np.array([each]) for each in (0.0, *calibrated[0][1:]))
        if count > 1:
            around = level * random.normal(size=200)
            slope = SLOPE * np.exp(more.get("slopes", 0.0) * random.normal(size=200))
            factor = np.exp(more.get("spread", 0.0) * random.normal(size=200))
        sd = np.sqrt(np.square(factor) * WORD / words + plantings**2 + SHIFT**2)
        blank, dose = bounds.blank[0], bounds.detection[0]
        reached = 1.0 if np.isinf(dose) else float(distributions.norm.sf((blank - around - slope * dose) / sd).mean())
        chances.append((float(distributions.norm.sf((blank - around) / sd).mean()), reached))
    return np.array(chances)


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("words", [8, 25])
@pytest.mark.parametrize(
    ("count", "worlds", "world"),
    [
        (1, 300, {"level": 0.0, "plantings": 0.1}),
        *(
            (count, worlds, world)
            for count, worlds in ((2, 400), (3, 250), (5, 150))
            for world in (
                {"level": 0.0, "plantings": 0.0},
                {"level": 0.1, "plantings": 0.1, "slopes": 0.2},
                {"level": 0.3, "plantings": 0.0, "slopes": 0.4, "spread": 0.3},
            )
        ),
    ],
)
def test_blanks_of_a_new_text_stay_below_and_doses_are_detected(
    count: int, worlds: int, world: dict[str, float], words: int
) -> None:
    """At most .05 and at least .95, with 2, 3 and 5 texts, and for one text in a new planting of its own."""
    found = shares(count, words, worlds, 7, **world)
    (blank, detected), (error, other) = found.mean(axis=0), found.std(axis=0, ddof=1) / worlds**0.5
    assert blank <= 0.05 + 3 * error
    assert blank > 0.001  # few where less varies between texts than is assumed of two
    assert detected >= 0.95 - 3 * other


def test_one_t_for_all_components_would_be_too_narrow() -> None:
    """Where texts vary about as much as sets, Satterthwaite's t of two texts is exceeded in more than 5 %."""
    random, single, each = np.random.default_rng(3), list[float](), list[float]()
    tau = sd = 0.2
    for _ in range(4000):
        texts = random.normal(0, tau, 2) + random.normal(0, sd / 10, 2)
        between, within = float(texts.var(ddof=1)) * 1.5, sd**2 * random.chisquare(100) / 100
        df = satterthwaite([(between, 1), (within, 100)])
        t = [float(distributions.t.ppf(0.95, freedom)) for freedom in (1, 100)]
        single.append(texts.mean() + distributions.t.ppf(0.95, df) * np.sqrt(between + within))
        each.append(texts.mean() + np.sqrt(between * t[0] ** 2 + within * t[1] ** 2))
    chances = [distributions.norm.sf(np.array(limits) / np.hypot(tau, sd)) for limits in (single, each)]
    assert chances[0].mean() > 0.06
    assert chances[1].mean() < 0.05


def made(blanks: list[list[float]], slope: float = 1.0, variance: float = 0.0) -> TextLine:
    """A text whose numbers are these."""
    lines = tuple(tuple((value, slope, slope) for value in runs) for runs in blanks)
    leverage = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    rows = tuple(map(tuple, blanks))
    return TextLine(rows, lines, leverage, 1e12, variance, variance, 1.0, 1.0, 100.0, 2.0)


def test_where_only_texts_differ_the_limit_is_the_textbooks() -> None:
    """Mean + t(T − 1) · sd · √(1 + 1/T)."""
    means = [0.1, 0.4, 0.2]
    found = limit_bounds([made([[mean]]) for mean in means], "first", words=4)
    margin = distributions.t.ppf(0.95, 2) * np.std(means, ddof=1) * np.sqrt(1 + 1 / 3)
    assert found.blank[0] == pytest.approx(np.mean(means) + margin)
    assert [source.name for source in found.sources if source.variance > 0] == ["texts"]
    assert found.sources[0] == Source("texts", pytest.approx(np.var(means, ddof=1) * 4 / 3), 2.0)  # type: ignore[arg-type]


def test_where_only_plantings_differ_the_limit_of_one_text_is_the_textbooks() -> None:
    means = [0.1, 0.4, 0.2, 0.6]
    found = limit_bounds([made([[mean] for mean in means])], "second", words=4)
    margin = distributions.t.ppf(0.95, 3) * np.std(means, ddof=1) * np.sqrt(1 + 1 / 4)
    assert found.blank[0] == pytest.approx(np.mean(means) - margin)
    assert all(source.name != "texts" for source in found.sources)


def test_slopes_that_differ_by_factors_make_the_limit_larger_by_a_factor() -> None:
    """Log slopes of texts are normal: the lower limit of a new one has t with T − 1 degrees of freedom."""
    slopes = [1.0, 2.0, 4.0]
    texts = [made([[0.0]], slope, 0.04) for slope in slopes]
    found = limit_bounds(texts, "first", words=4)
    logs = np.log(slopes)
    lower = np.exp(logs.mean() - distributions.t.ppf(0.95, 2) * logs.std(ddof=1) * np.sqrt(4 / 3))
    center = np.exp(logs.mean())
    dose = found.detection[0]
    margin = np.hypot(found.blank[0], (center - lower) * dose)
    assert center * dose - margin == pytest.approx(found.blank[0], rel=1e-6)
    falling = limit_bounds([*texts[:2], made([[0.0]], -0.1, 0.04)], "first", words=4)
    assert np.isinf(falling.detection[0])


def test_texts_that_happen_to_be_alike_are_not_taken_as_proof_that_others_are() -> None:
    """The least margin of level and slope is that of an assumed spread, and it falls with the number of texts."""
    for count in (2, 3, 5):
        texts = [made([[0.2]], variance=0.09)] * count
        found = limit_bounds(texts, "first", words=10**9)
        share = np.sqrt(2 / (count + 1)) * np.sqrt(1 + 1 / count)
        assert found.blank[0] - 0.2 == pytest.approx(
            distributions.norm.ppf(0.95) * 0.3 * ASSUMED_LEVEL * share, rel=1e-3
        )
        lower = np.exp(-distributions.norm.ppf(0.95) * ASSUMED_SLOPE * share)
        dose, margin = found.detection[0], found.blank[0] - 0.2
        assert dose - np.hypot(margin, (1 - lower) * dose) == pytest.approx(margin, rel=1e-3)


@pytest.mark.parametrize("count", [1, 3])
def test_contrasts_are_free_of_what_moves_all_words_alike(count: int) -> None:
    """Limits of texts of any level are the same, and of many words with one slope those of two normal means."""
    texts = [made([[0.1 * number], [0.3]], slope=0.5, variance=0.04) for number in range(count)]
    value, dose = contrast_bounds(texts, (8, 12), "first")
    assert contrast_bounds([made([[0.0], [0.0]], 0.5, 0.04)] * count, (8, 12), "first") == (value, dose)
    t = distributions.t.ppf(0.95, 100.0 * count)
    assert value == pytest.approx(2 * t * 0.2 * np.sqrt(1 / 8 + 1 / 12))
    if count == 1:
        assert dose == pytest.approx(value / 0.5)
    else:
        assert dose > value / 0.5
    assert contrast_bounds([made([[0.0]], -1.0, 0.04)], (8, 12), "first")[1] == np.inf


def test_limits_of_several_texts_have_no_interval_and_say_why() -> None:
    texts = [made([[mean]], variance=0.01) for mean in (0.0, 0.1)]
    for limit in new_text_limits(texts, words=(1, 8)):
        assert limit.detection.value is not None
        assert limit.detection.low is None
        assert limit.detection.reason == "the limit is a prediction limit, which has no interval"
        assert limit.detection.over == "texts"


def test_a_line_of_a_text_goes_to_json_and_back() -> None:
    line, _, _ = text(np.random.default_rng(1))
    assert TextLine.from_dict(json.loads(json.dumps(line.to_dict()))) == line


def test_lines_are_least_squares_of_each_model() -> None:
    random = np.random.default_rng(2)
    doses = np.stack([random.permutation(LEVELS) for _ in range(2)], axis=1)
    scores = 0.3 * doses[:, :, None] + random.normal(size=(len(LEVELS), 2, 2))
    line = text_line(scores, doses, doses, FOLLOWS)
    for planting, run in np.ndindex(2, 2):
        design = np.column_stack([np.ones(100), np.minimum(doses[:, planting], 0), np.maximum(doses[:, planting], 0)])
        oracle = np.linalg.lstsq(design, scores[:, planting, run], rcond=None)[0]
        assert line.lines[planting][run] == pytest.approx(oracle)
        blanks = scores[doses[:, planting] == 0, planting, run]
        assert line.blanks[planting][run] == pytest.approx(blanks.mean())
    x = np.array([1.0, 0.0, 1.5])
    inverses = [
        np.linalg.inv(design.T @ design)
        for planting in range(2)
        for design in [
            np.column_stack([np.ones(100), np.minimum(doses[:, planting], 0), np.maximum(doses[:, planting], 0)])
        ]
    ]
    constant, linear, square = line.leverage[1]
    expected = np.mean([x @ inverse @ x for inverse in inverses])
    assert constant + linear * 1.5 + square * 1.5**2 == pytest.approx(expected)
