"""Association tests on planted sets: curves, and how often sets lie beyond the limit of blank of other texts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.calibrate.set_tests import SetValues, blank_rates, set_curves

TEXTS, SETS, MOVED = 4, 40, 3.0


def world(random: np.random.Generator, moved: float = MOVED) -> SetValues:
    """Values of WEAT on sets: standard normal at dose 0; a dose of 1 to either side moves them by as much."""
    values = {}
    for dose in (-1.0, 0.0, 1.0):
        texts = np.repeat(np.arange(TEXTS), SETS)
        values["weat", 8, dose] = np.column_stack([texts, random.normal(moved * dose, 1.0, len(texts))])
    return SetValues(
        np.array([-1.0, 0.0, 1.0]), {-1.0: -0.9, 0.0: 0.0, 1.0: 1.1}, values, {}, {8: 12}, (2_000, 500.0), (1_500,) * 4
    )


def test_five_percent_of_blank_sets_lie_beyond_the_limit_of_other_texts() -> None:
    random = np.random.default_rng(1)
    found = [blank_rates(world(random)) for _ in range(150)]
    by_dose = {dose: np.array([rates[place].share.value for rates in found]) for place, dose in enumerate((-1, 0, 1))}
    error = by_dose[0].std(ddof=1) / len(found) ** 0.5
    assert 0.035 < by_dose[0].mean() < 0.05 + 3 * error
    power = stats.norm.sf(stats.norm.ppf(0.95) - MOVED)
    for side in (-1, 1):
        error = by_dose[side].std(ddof=1) / len(found) ** 0.5
        assert by_dose[side].mean() == pytest.approx(power, abs=0.02 + 3 * error)


def test_one_text_has_no_other() -> None:
    one = world(np.random.default_rng(2))
    kept = {key: rows[rows[:, 0] == 0] for key, rows in one.values.items()}
    alone = SetValues(one.levels, one.counted, kept, {}, {8: 3}, (50, 50.0), (0,))
    assert blank_rates(alone) == ()
    (curve,) = set_curves(alone)
    assert curve.monotone is None
    assert curve.points[0].mean.low is None


def test_curves_are_means_over_sets_with_intervals_over_texts() -> None:
    made = world(np.random.default_rng(3))
    (curve,) = set_curves(made)
    assert (curve.test, curve.words) == ("weat", 8)
    assert [(point.level, point.dose) for point in curve.points] == [(-1.0, -0.9), (0.0, 0.0), (1.0, 1.1)]
    for point in curve.points:
        rows = made.values["weat", 8, point.level]
        texts = rows[:, 1].reshape(TEXTS, SETS).mean(axis=1)
        assert point.mean.value == pytest.approx(texts.mean())
        low, high = stats.t.interval(0.95, TEXTS - 1, texts.mean(), texts.std(ddof=1) / TEXTS**0.5)
        assert (point.mean.low, point.mean.high) == pytest.approx((low, high))
    doses = np.repeat([-0.9, 0.0, 1.1], TEXTS * SETS)
    values = np.concatenate([made.values["weat", 8, dose][:, 1] for dose in (-1.0, 0.0, 1.0)])
    assert curve.r == pytest.approx(stats.pearsonr(doses, values).statistic)
    assert curve.monotone


def test_a_curve_that_turns_back_is_not_monotone() -> None:
    made = world(np.random.default_rng(4))
    made.values["weat", 8, 1.0][:, 1] -= 2 * MOVED - 0.5
    (curve,) = set_curves(made)
    assert curve.monotone is False
