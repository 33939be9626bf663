"""Area under the ROC curve against scikit-learn's definition by pairs, and its interval's coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import mannwhitneyu

from biasgauge.stats import auc_estimate


def test_area_is_that_of_mann_whitney() -> None:
    random = np.random.default_rng(0)
    first, second = random.integers(0, 6, 17), random.integers(0, 5, 23)
    area = mannwhitneyu(first, second).statistic / (17 * 23)
    assert auc_estimate(first, second).value == pytest.approx(area)
    assert auc_estimate(second, first).value == pytest.approx(1 - area)


def test_ends_solve_their_equation() -> None:
    """Each end θ is as far from the area as the quantile times θ's own standard error (Newcombe's method 5)."""
    first, second = np.arange(10.0) + 2.5, np.arange(14.0)
    estimate = auc_estimate(first, second, level=0.9)
    assert estimate.value is not None
    for end in (estimate.low, estimate.high):
        assert end is not None
        spread = 1 + ((10 + 14) / 2 - 1) * ((1 - end) / (2 - end) + end / (1 + end))
        margin = 1.6448536 * (end * (1 - end) * spread / 140) ** 0.5
        assert abs(end - estimate.value) == pytest.approx(margin, rel=1e-6)


def test_a_perfect_area_has_an_interval() -> None:
    estimate = auc_estimate(np.arange(8) + 10.0, np.arange(8.0))
    assert estimate.value == 1
    assert estimate.high == 1
    assert estimate.low is not None
    assert 0.6 < estimate.low < 0.9
    assert auc_estimate(np.empty(0), np.arange(3)).reason == "one of the groups has no words"


@pytest.mark.calibration
@pytest.mark.parametrize(("sizes", "shift"), [((8, 8), 0.0), ((8, 8), 1.5), ((20, 40), 0.7), ((30, 30), 2.5)])
def test_interval_covers(sizes: tuple[int, int], shift: float) -> None:
    random = np.random.default_rng(4)
    area = float(ndtr(shift / 2**0.5))
    repeats = 1_000
    hits = sum(
        not auc_estimate(random.normal(shift, 1, sizes[0]), random.normal(0, 1, sizes[1])).excludes(area)
        for _ in range(repeats)
    )
    assert 0.93 <= hits / repeats <= 0.99
