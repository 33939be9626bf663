"""Correlations of points with their intervals and p, against SciPy and by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from biasgauge.stats import Kind, Resampling, coefficient, correlation, correlation_estimate, weighted_r

HOW = Resampling("percentile", resamples=200, random_state=3, level=0.9)
RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal(14)
Y = 0.6 * X + RANDOM.standard_normal(14)


def test_pearson_is_scipys_with_fishers_interval_and_p() -> None:
    found = coefficient("pearson", X, Y, None, HOW)
    expected = stats.pearsonr(X, Y)
    assert found.value == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.fisher is not None
    assert (found.fisher.low, found.fisher.high) == pytest.approx(tuple(expected.confidence_interval(0.9)), rel=1e-9)
    assert found.n == 14


def test_spearman_is_scipys() -> None:
    found = coefficient("spearman", X, Y, None, HOW)
    assert found.value == pytest.approx(stats.spearmanr(X, Y).statistic, rel=1e-12)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_correlation_of_points_with_gaps_is_scipys_of_those_that_are_whole(kind: Kind) -> None:
    holes = np.where(np.arange(14) == 3, np.nan, Y)
    found = correlation_estimate(X, holes, kind=kind, level=0.9)
    whole = np.arange(14) != 3
    points = X[whole], Y[whole]
    expected = (stats.pearsonr(*points) if kind == "pearson" else stats.spearmanr(*points)).statistic
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert (found.n, found.statistic) == (13, kind)
    if kind == "pearson":
        ends = stats.pearsonr(X[whole], Y[whole]).confidence_interval(0.9)
        assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9)


def test_points_of_one_unit_count_once_for_fisher() -> None:
    """Seven units of two points each: the interval is that of seven."""
    units = np.repeat(np.arange(7), 2)
    found = coefficient("pearson", X, np.repeat(Y[:7], 2), units, HOW)
    z, margin = np.arctanh(found.value or 0.0), stats.norm.ppf(0.95) / np.sqrt(7 - 3)
    assert found.fisher is not None
    assert (found.fisher.low, found.fisher.high) == pytest.approx((np.tanh(z - margin), np.tanh(z + margin)), rel=1e-9)
    assert (found.n, found.over) == (14, "units")


def test_weights_are_repetitions() -> None:
    weights = np.array([[1.0, 2.0, 0.0, 3.0, *[1.0] * 10]])
    repeated = np.repeat(np.arange(14), weights[0].astype(int))
    for kind, peer in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        found = correlation(kind, X, Y, weights)[0]  # type: ignore[arg-type]  # one of the kinds
        assert found == pytest.approx(peer(X[repeated], Y[repeated]).statistic, rel=1e-12)


def test_p_over_units_is_that_of_every_order_of_units() -> None:
    """Six units have 720 orders: the share of them with a correlation as large, by enumeration."""
    units, own = np.repeat(np.arange(6), 2), RANDOM.standard_normal(6)
    x = np.repeat(own, 2) + 0.3 * RANDOM.standard_normal(12)
    y = 0.8 * own + 0.5 * RANDOM.standard_normal(6)
    found = coefficient("pearson", x, y[units], units, HOW)
    every = [abs(np.corrcoef(x, np.array(order)[units])[0, 1]) for order in permutations(y)]
    share = float(np.mean(np.array(every) >= abs(found.value or 0.0) - 1e-12))
    assert found.p == pytest.approx(share, abs=4 * (share * (1 - share) / 10_000) ** 0.5 + 2e-4)


def test_a_weight_is_how_often_a_point_counts() -> None:
    random = np.random.default_rng(4)
    x, y = 3 + random.normal(size=12), 5 + random.normal(size=12)
    weights = random.integers(0, 4, (6, 12))
    expected = [np.corrcoef(np.repeat(x, times), np.repeat(y, times))[0, 1] for times in weights]
    np.testing.assert_allclose(weighted_r(x, y, weights.astype(float)), expected, atol=1e-12)
    assert np.isnan(weighted_r(x, np.full(12, 0.3), np.ones((1, 12)))).all(), "a column that does not vary"
