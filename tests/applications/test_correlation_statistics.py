"""Correlations, their intervals and p, against SciPy, slow loops and simulation."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.stats import (
    Kind,
    Resampling,
    bootstrap_correlation,
    coefficient,
    correlation,
    estimate_from_draws,
    fisher_interval,
    holm,
    weighted_ranks,
    why_undefined,
)

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

KINDS: tuple[Kind, ...] = ("pearson", "spearman")
SCIPY: dict[str, Any] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}


def points(n: int, seed: int = 0, *, ties: bool = False) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    x = random.standard_normal(n)
    y = 0.6 * x + random.standard_normal(n)
    return (np.round(x), np.round(y)) if ties else (x, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [9, 40])
def test_value_and_p_are_those_of_scipy(kind: Kind, n: int, *, ties: bool) -> None:
    x, y = points(n, ties=ties)
    found = coefficient(kind, x, y, None, Resampling(resamples=50))
    expected = SCIPY[kind](x, y)
    assert found.value == pytest.approx(expected.statistic, abs=1e-13)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_large_offsets_cost_no_digits() -> None:
    x, y = points(30)
    assert correlation("pearson", x + 1e7, y - 1e7)[0] == pytest.approx(correlation("pearson", x, y)[0], abs=1e-7)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [4, 6])
def test_few_ranks_go_through_all_orders(n: int, *, ties: bool) -> None:
    x, y = points(n, 3, ties=ties)
    found = coefficient("spearman", x, y, None, Resampling(resamples=50))

    def slow(other: Floats) -> float:
        return float(stats.spearmanr(x, other).statistic)

    expected = stats.permutation_test((y,), slow, permutation_type="pairings", n_resamples=10_000)
    observed = abs(slow(y))
    share = float(np.mean(np.abs(np.asarray(expected.null_distribution)) >= observed - 1e-12))
    assert found.p == pytest.approx(share, abs=1e-12)
    assert found.p_method == "exact, all orders"


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repeated_points(kind: Kind) -> None:
    x, y = points(14, 1, ties=True)
    random = np.random.default_rng(2)
    weights = random.multinomial(14, np.full(14, 1 / 14), size=30)
    found = correlation(kind, x, y, weights.astype(float))
    for row, value in zip(weights, found.tolist(), strict=True):
        assert value == pytest.approx(SCIPY[kind](np.repeat(x, row), np.repeat(y, row)).statistic, abs=1e-12)
    ranks = weighted_ranks(x, weights.astype(float))
    for row, own in zip(weights, ranks, strict=True):
        assert np.repeat(own, row) == pytest.approx(stats.rankdata(np.repeat(x, row)))


def test_resamples_without_spread_have_no_value() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 2.0])
    weights = np.array([[3.0, 0, 0], [2, 1, 0], [1, 1, 1]])
    found = correlation("pearson", x, y, weights)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(1)
    flat = correlation("spearman", np.ones(3), y)
    assert np.isnan(flat[0])


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_those_of_scipy(kind: Kind, method: Any) -> None:  # noqa: ANN401 - a method
    x, y = points(25, 5)
    found = coefficient(kind, x, y, None, Resampling(method, resamples=8_000))
    expected = stats.bootstrap(  # type: ignore[call-overload]
        (x, y),
        lambda a, b: SCIPY[kind](a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=1_500,
        method={"bca": "BCa", "percentile": "percentile"}[method],
        random_state=np.random.default_rng(0),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.06)
    assert (found.method, found.over) == (method, "points")


def test_fishers_interval_is_that_of_scipy() -> None:
    x, y = points(17, 6)
    expected = stats.pearsonr(x, y).confidence_interval(0.9)
    found = fisher_interval(float(stats.pearsonr(x, y).statistic), 17, level=0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_fishers_interval_of_ranks() -> None:
    """Bonett & Wright (2000): variance (1 + r²/2) / (n − 3) on the scale of atanh r; r = .5, n = 28, by hand."""
    found = fisher_interval(0.5, 28, kind="spearman")
    reach = 1.959964 * (1.125 / 25) ** 0.5
    assert (found.low, found.high) == pytest.approx((np.tanh(0.549306 - reach), np.tanh(0.549306 + reach)), abs=1e-6)


def test_fishers_interval_that_cannot_be() -> None:
    assert fisher_interval(0.3, 3).reason == "an interval takes at least 4 points"
    assert fisher_interval(1.0, 9).reason == "the correlation is perfect"


def test_why_there_is_no_correlation() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert why_undefined(x[:1], x[:1], ("w", "g")) == "a correlation takes 3 points or more, and there is 1"
    assert why_undefined(x, np.full(3, 0.1), ("w", "g")) == "'g' is the same in all 3 points"
    assert why_undefined(np.full(3, 7.0), x, ("w", "g")) == "'w' is the same in all 3 points"
    assert why_undefined(x, x, ("w", "g")) is None


@pytest.mark.calibration
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_truth(kind: Kind) -> None:
    random = np.random.default_rng(7)
    rho = 0.5
    true = {"pearson": rho, "spearman": 6 / np.pi * np.arcsin(rho / 2)}[kind]
    held, fishers = 0, 0
    for world in range(300):
        x = random.standard_normal(40)
        y = rho * x + (1 - rho**2) ** 0.5 * random.standard_normal(40)
        found = coefficient(kind, x, y, None, Resampling(resamples=400, random_state=world))
        for around, which in ((found, 0), (found.fisher, 1)):
            assert around is not None
            assert around.low is not None
            assert around.high is not None
            inside = around.low <= true <= around.high
            held, fishers = held + inside * (which == 0), fishers + inside * (which == 1)
    assert abs(held / 300 - 0.95) < 3.5 * 0.0126 + 0.01  # BCa errs a little at 40 points
    assert abs(fishers / 300 - 0.95) < 3.5 * 0.0126


def embeddings(random: np.random.Generator, rho: float, units: int = 15) -> tuple[Floats, Floats, Any]:
    """Three intrinsic numbers of each embedding, alike, and one gap beside all three."""
    skill = random.standard_normal(units)
    gap = rho * skill + (1 - rho**2) ** 0.5 * random.standard_normal(units)
    codes = np.repeat(np.arange(units), 3)
    return (skill[codes] + 0.3 * random.standard_normal(3 * units)), gap[codes], codes


def test_points_that_share_a_unit_are_not_independent() -> None:
    """Without units p is far too small and the interval too narrow; with them both are right."""
    random = np.random.default_rng(8)
    rejected, held = np.zeros(2), np.zeros(2)
    for world in range(250):
        x, y, codes = embeddings(random, 0.0)
        for at, units in enumerate((None, codes)):
            found = coefficient("pearson", x, y, units, Resampling(resamples=200, random_state=world))
            assert found.p is not None
            rejected[at] += found.p <= 0.05
            held[at] += (found.low or 0) <= 0 <= (found.high or 0)
    assert rejected[0] / 250 > 0.2
    assert rejected[1] / 250 < 0.05 + 3.5 * 0.0138
    assert held[0] / 250 < 0.8
    assert held[1] / 250 > 0.87


@pytest.mark.parametrize("kind", KINDS)
def test_p_over_units_is_a_slow_shuffle(kind: Kind) -> None:
    x, y, codes = embeddings(np.random.default_rng(9), 0.5, 8)
    found = coefficient(kind, x, y, codes, Resampling(resamples=50))
    random = np.random.default_rng(0)
    own = y[::3]
    observed = abs(SCIPY[kind](x, y).statistic)
    slow = np.mean([abs(SCIPY[kind](x, random.permutation(own)[codes]).statistic) >= observed for _ in range(1_000)])
    assert found.p == pytest.approx(slow, abs=0.05)
    assert found.p_method == "monte-carlo, y shuffled over units"
    assert found.over == "units"


@pytest.mark.parametrize("kind", KINDS)
def test_p_over_few_units_goes_through_all_their_orders(kind: Kind) -> None:
    x, y, codes = embeddings(np.random.default_rng(4), 0.5, 5)
    found = coefficient(kind, x, y, codes, Resampling(resamples=50))
    observed = abs(SCIPY[kind](x, y).statistic) - 1e-12
    orders = [abs(SCIPY[kind](x, np.array(order)[codes]).statistic) >= observed for order in permutations(y[::3])]
    assert found.p == pytest.approx(np.mean(orders))
    assert found.p_method == "exact, all orders of units"


def test_units_without_a_single_y_have_no_p() -> None:
    x, y, codes = embeddings(np.random.default_rng(9), 0.5)
    y = y + np.arange(len(y))
    found = coefficient("pearson", x, y, codes, Resampling(resamples=50))
    assert found.p is None
    assert found.p_reason is not None
    assert found.p_reason.startswith("y differs within units")
    two = coefficient("pearson", x[:6], np.repeat([1.0, 2.0], 3), codes[:6], Resampling(resamples=50))
    assert two.p_reason == "there are only 2 units to shuffle y over"


@pytest.mark.parametrize(("number", "method"), [(2_000, "bca"), (2_001, "percentile")])
def test_many_units_take_the_percentile_interval(number: int, method: str) -> None:
    around = coefficient("pearson", *points(number), None, Resampling(resamples=200))
    assert around.method == method


def test_blocks_do_not_matter() -> None:
    x, y = points(12)
    codes = np.arange(12) // 2
    for kind in KINDS:
        whole, parts = (
            coefficient(kind, x, y[codes], codes, Resampling(resamples=300), cells=cells) for cells in (10**6, 12 * 7)
        )
        assert parts == whole


def test_an_interval_says_why_it_is_not_there() -> None:
    how = Resampling("bca", resamples=100)
    few = np.full(100, np.nan)
    few[:90] = np.linspace(0, 1, 90)
    assert estimate_from_draws(0.5, few, list, how, "points").reason == "10 of 100 resamples have no value"
    assert estimate_from_draws(0.5, np.ones(100), list, how, "points").reason == "every resample gives the same value"
    aside = estimate_from_draws(2.0, np.linspace(0, 1, 100), list, how, "points")
    assert aside.reason == "every resample lies on the same side of the value"
    lost = estimate_from_draws(0.5, np.linspace(0, 1, 100), lambda: [np.array([0.4, np.nan])], how, "points")
    assert (lost.method, lost.reason) == ("bc", None)


def test_bca_by_hand() -> None:
    """Efron & Tibshirani (1993), equations 14.9, 14.10, 14.14 and 14.15, on draws whose quantiles are known."""
    drawn = np.linspace(0, 1, 10_001)
    without = np.array([0.1, 0.2, 0.2, 0.9])
    found = estimate_from_draws(0.3, drawn, lambda: [without], Resampling("bca", level=0.9), "points")
    bias = stats.norm.ppf(0.3)
    off = without.mean() - without
    skew = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    expected = [
        stats.norm.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        for z in (stats.norm.ppf(0.05), stats.norm.ppf(0.95))
    ]
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=2e-4)
    plain = estimate_from_draws(0.3, drawn, list, Resampling("percentile", level=0.9), "points")
    assert (plain.low, plain.high) == pytest.approx((0.05, 0.95))


def test_three_points_have_a_correlation_but_no_interval() -> None:
    found = coefficient("pearson", np.array([1.0, 2, 4]), np.array([1.0, 3, 2]), None, Resampling(resamples=300))
    assert found.value == pytest.approx(stats.pearsonr([1, 2, 4], [1, 3, 2]).statistic)
    assert found.low is None
    assert "resamples have no value" in (found.reason or "")


def test_bootstrap_of_units_draws_whole_units() -> None:
    codes = np.array([0, 0, 1, 2, 2, 2])
    seen: list[Floats] = []

    def look(weights: Floats) -> Floats:
        seen.append(weights)
        total: Floats = weights.sum(axis=1)
        return total

    bootstrap_correlation(look, 6.0, codes, Resampling("percentile", resamples=200), "units")
    drawn = seen[0]
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert (drawn[:, 3] == drawn[:, 5]).all()
    assert (drawn[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_holm_is_that_of_statsmodels() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    for raw in ([0.04, 0.001, 0.3, 0.02, 0.9], [0.012, 0.01, 0.011]):
        assert holm(raw) == pytest.approx(multipletests(raw, method="holm")[1])
    assert holm([None, 0.01, None, 0.04]) == [None, 0.02, None, 0.04]
    assert holm([]) == []
