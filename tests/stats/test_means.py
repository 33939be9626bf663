"""Intervals against statsmodels and SciPy, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from biasgauge.stats import mean_over_models, means_along, student_estimate, wilson


@pytest.mark.parametrize(("right", "trials"), [(0, 7), (3, 7), (7, 7), (40, 50)])
def test_wilson_is_that_of_statsmodels(right: int, trials: int) -> None:
    found = wilson(right / trials, trials, 0.9)
    low, high = proportion_confint(right, trials, alpha=0.1, method="wilson")
    assert found.low == pytest.approx(low, abs=1e-12)
    assert found.high == pytest.approx(high, abs=1e-12)


def test_means_over_models_have_students_interval() -> None:
    values = np.array([0.2, 0.5, 0.4, np.nan, 0.35])
    found = mean_over_models(values, 0.95, None, (0.0, 1.0))
    known = values[np.isfinite(values)]
    low, high = stats.t.interval(0.95, 3, known.mean(), stats.sem(known))
    assert found.value == pytest.approx(known.mean())
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)


def test_students_interval_is_that_of_scipy() -> None:
    found = student_estimate(0.4, 0.2, 3.5, 0.9, method="t", over="runs", n=5)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.9, 3.5, 0.4, 0.2))
    assert (found.value, found.level, found.method, found.over, found.n) == (0.4, 0.9, "t", "runs", 5)


def test_intervals_end_where_the_number_does() -> None:
    found = mean_over_models(np.array([0.9, 0.99, 0.7]), 0.99, None, (0.0, 1.0))
    assert found.high == 1.0


def test_without_spread_there_is_no_interval() -> None:
    same = mean_over_models(np.array([0.5, 0.5]), 0.95, None, (0.0, 1.0))
    assert same is not None
    assert (same.low, same.reason) == (None, "all models give the same value")
    none = mean_over_models(np.array([np.nan]), 0.95, None, (0.0, 1.0))
    assert (none.value, none.reason) == (None, "it is defined in no model")
    still = mean_over_models(np.array([0.5]), 0.95, [np.full(4, 0.5), np.full(4, 0.5)], (0.0, 1.0))
    assert still is not None
    assert still.reason == "leaving out any word gives the same value"


@pytest.mark.parametrize(("first", "second"), [(2, 5), (3, 3), (9, 4)])
def test_the_jackknife_of_a_difference_of_means_is_welchs_error_with_the_fewer_degrees_of_freedom(
    first: int, second: int
) -> None:
    random = np.random.default_rng(first)
    a, b = random.normal(0.3, 0.1, first), random.normal(0.1, 0.1, second)
    left = [(a.sum() - a) / (first - 1) - b.mean(), a.mean() - (b.sum() - b) / (second - 1)]
    found = mean_over_models(np.array([a.mean() - b.mean()]), 0.95, left, (-9.0, 9.0))
    assert found.low is not None
    assert found.high is not None
    welch = (a.var(ddof=1) / first + b.var(ddof=1) / second) ** 0.5
    margin = stats.t.ppf(0.975, min(first, second) - 1) * welch
    value = a.mean() - b.mean()
    assert (found.low, found.high) == pytest.approx((value - margin, value + margin))


@pytest.mark.calibration
def test_the_jackknife_of_a_difference_of_means_covers() -> None:
    """For a difference of two means the jackknife is Welch's standard error; with the fewer degrees of freedom."""
    random = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        a, b = random.normal(0.3, 0.1, 8), random.normal(0.1, 0.2, 8)
        left = [
            (a.sum() - a) / 7 - b.mean(),
            a.mean() - (b.sum() - b) / 7,
        ]
        found = mean_over_models(np.array([a.mean() - b.mean()]), 0.95, left, (-1.0, 1.0))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        welch = (a.var(ddof=1) / 8 + b.var(ddof=1) / 8) ** 0.5
        assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 7) * welch)
        held += found.low < 0.2 < found.high
    assert 0.945 < held / 1000 < 0.99


@pytest.mark.parametrize("held", [2, 3, 8])
def test_intervals_are_students_t_as_scipy_has_them(held: int) -> None:
    values = np.random.default_rng(held).normal(size=(4, held))
    means = means_along(values, axis=1)
    for row, mean, reach in zip(values, means.mean, means.reach, strict=True):
        low, high = stats.t.interval(0.95, held - 1, loc=row.mean(), scale=stats.sem(row))
        assert (mean - reach, mean + reach) == pytest.approx((low, high))


def test_what_is_undefined_is_left_out_of_a_mean() -> None:
    values = np.array([[1.0, np.nan, 3.0, 8.0], [np.nan, 5.0, np.nan, np.nan], [np.nan] * 4])
    means = means_along(values, axis=1)
    assert means.n.tolist() == [3, 1, 0]
    assert means.mean[:2].tolist() == [4.0, 5.0]
    assert means.reach[0] == pytest.approx(stats.t.ppf(0.975, 2) * np.std([1, 3, 8], ddof=1) / 3**0.5)
    assert np.isnan([means.mean[2], *means.reach[1:]]).all()
