"""Slopes with and without error in the predictor: NumPy's line, and the true slope covered where x has error."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.stats import Resampling, slope_estimate
from biasgauge.stats.correlations import weighted_slope


def test_without_errors_it_is_the_least_squares_line() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(0, 1, 30), random.normal(0, 1, 30)
    assert slope_estimate(x, y, np.zeros(30), Resampling(resamples=100)).value == pytest.approx(np.polyfit(x, y, 1)[0])
    times = random.integers(0, 3, 30)
    repeated = np.polyfit(np.repeat(x, times), np.repeat(y, times), 1)[0]
    assert weighted_slope(x, y, np.zeros(30), times[None].astype(float))[0] == pytest.approx(repeated)


def test_errors_are_taken_off_the_sample_variance() -> None:
    """Fuller (1987), equation 1.2.3: s_xy / (s_xx − the mean of the squared errors), both with n − 1."""
    random = np.random.default_rng(2)
    x, y, errors = random.normal(0, 1, 12), random.normal(0, 1, 12), random.uniform(0.2, 0.6, 12)
    times = random.integers(0, 3, 12)
    for chosen in (np.arange(12), np.repeat(np.arange(12), times)):
        table = np.cov(x[chosen], y[chosen])
        expected = table[0, 1] / (table[0, 0] - (errors[chosen] ** 2).mean())
        weights = np.bincount(chosen, minlength=12)[None].astype(float)
        assert weighted_slope(x, y, errors, weights) == pytest.approx(expected)


def test_where_all_is_error_there_is_no_slope() -> None:
    x = np.array([0.1, -0.1, 0.05, 0.0])
    estimate = slope_estimate(x, 2 * x, np.ones(4), Resampling())
    assert estimate.value is None
    assert "no more than by its own error" in (estimate.reason or "")


@pytest.mark.calibration
def test_the_corrected_slope_covers_the_true_one() -> None:
    random = np.random.default_rng(1)
    repeats, hits, naive = 200, 0, 0
    for number in range(repeats):
        real = random.normal(0, 1, 120)
        errors = random.uniform(0.2, 0.8, 120)
        y = 0.5 * real + random.normal(0, 0.5, 120)
        seen = real + errors * random.normal(0, 1, 120)
        how = Resampling(resamples=400, random_state=number)
        hits += not slope_estimate(seen, y, errors, how).excludes(0.5)
        naive += not slope_estimate(seen, y, np.zeros(120), how).excludes(0.5)
    assert hits / repeats >= 0.95 - 4 * (0.95 * 0.05 / repeats) ** 0.5
    assert naive / repeats < 0.75
