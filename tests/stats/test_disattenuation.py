"""Reliability under weights against its definition on repeated rows; the corrected correlation covers the true one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from biasgauge.core.estimate import Estimate
from biasgauge.stats import Resampling, cronbach_alpha, disattenuated, weighted_alpha, weighted_signal_share


def test_weighted_alpha_is_alpha_of_repeated_rows() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(0, 1, (12, 1)) + random.normal(0, 0.7, (12, 4))
    times = random.integers(0, 4, (3, 12))
    for row in times:
        repeated = cronbach_alpha(np.repeat(scores, row, axis=0))
        assert isinstance(repeated, Estimate)
        assert weighted_alpha(scores, row[None].astype(float))[0] == pytest.approx(repeated.value)


def test_signal_share_is_that_of_the_definition() -> None:
    values, errors = np.array([0.2, 1.4, -0.8, 0.5]), np.array([0.1, 0.3, 0.2, 0.1])
    expected = 1 - (errors**2).mean() / values.var(ddof=1)
    assert weighted_signal_share(values, errors, np.ones((1, 4)))[0] == pytest.approx(expected)


def test_without_reliability_there_is_no_corrected_number() -> None:
    values, truth = np.arange(6.0), np.array([1.0, 3, 2, 5, 4, 6])
    none = disattenuated(values, truth, lambda weights: np.zeros(len(weights)), Resampling())
    assert (none.value, none.reason) == (None, "the reliability is not above 0")
    whole = disattenuated(values, truth, lambda weights: np.full(len(weights), 0.25), Resampling(resamples=200))
    assert whole.value == pytest.approx(2 * np.corrcoef(values, truth)[0, 1])


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("words", "rho", "noise", "models"), [(60, 0.5, 1.0, 3), (120, 0.3, 0.4, 8), (60, 0.8, 1.0, 4), (185, 0.0, 2.0, 5)]
)
def test_the_interval_carries_both_errors(words: int, rho: float, noise: float, models: int) -> None:
    """True scores have a known correlation with the truth; what is seen of them is a mean of noisy repeats."""
    random = np.random.default_rng([words, models])
    how = Resampling(resamples=400)
    repeats, hits = 300, 0
    for number in range(repeats):
        truth = random.normal(0, 1, words)
        real = rho * truth + (1 - rho**2) ** 0.5 * random.normal(0, 1, words)
        seen = real[:, None] + noise * random.normal(0, 1, (words, models))
        estimate = disattenuated(
            seen.mean(axis=1), truth, partial(weighted_alpha, seen),
            Resampling(resamples=how.resamples, random_state=number),
        )  # fmt: skip
        hits += not estimate.excludes(rho)
    assert 0.95 - 4 * (0.95 * 0.05 / repeats) ** 0.5 <= hits / repeats <= 0.99
