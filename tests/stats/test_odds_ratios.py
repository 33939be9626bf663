"""Log odds ratios against statsmodels, leaving out against counting again, intervals against known truths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.stats import odds_ratios

COUNTS = st.lists(st.integers(0, 5_000), min_size=4, max_size=4)


@given(COUNTS)
def test_closed_form_is_that_of_statsmodels(counts: list[int]) -> None:
    from statsmodels.stats.contingency_tables import Table2x2

    table = np.array(counts, np.float64)
    theirs = Table2x2(np.array([[counts[0], counts[1]], [counts[2], counts[3]]]), shift_zeros=True)
    value = float(odds_ratios.log_odds_ratio(table, "zeros"))
    se = float(odds_ratios.closed_form_se(table, shift="zeros"))
    assert value == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    assert se == pytest.approx(theirs.log_oddsratio_se, abs=1e-10)
    ours = odds_ratios.closed_form(value, se, 0.9)
    assert (ours.low, ours.high) == pytest.approx(theirs.log_oddsratio_confint(alpha=0.1), abs=1e-9)


@given(COUNTS)
def test_groups_of_equal_size_get_half_in_all_four_where_one_is_zero(counts: list[int]) -> None:
    """Haldane and Anscombe's correction: statsmodels itself, given the table with .5 in every cell."""
    from statsmodels.stats.contingency_tables import Table2x2

    size = 1 + max(counts)
    table = np.array([counts[0], size - counts[0], counts[2], size - counts[2]], np.float64)
    moved = table + 0.5 if table.min() == 0 else table
    theirs = Table2x2(moved.reshape(2, 2))
    assert float(odds_ratios.log_odds_ratio(table)) == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    assert float(odds_ratios.closed_form_se(table)) == pytest.approx(theirs.log_oddsratio_se, abs=1e-10)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_what_was_never_seen_leans_nowhere(n_a: int, n_b: int) -> None:
    assert float(odds_ratios.log_odds_ratio(np.array([0.0, n_a, 0.0, n_b]))) == pytest.approx(0, abs=1e-12)
    assert float(odds_ratios.log_odds_ratio(np.array([0.0, 0.0, 3.0, n_b]))) == 0  # one group is empty


@pytest.mark.parametrize("ratio", [1, 3, 10, 20])
@pytest.mark.parametrize("contexts", [0.05, 0.5, 2.0, 10.0, 50.0, 100.0])
def test_rare_things_do_not_lean_on_average(ratio: int, contexts: float) -> None:
    """Exact mean over all counts where there is nothing to find: within .2, a quarter of its standard deviation."""
    from scipy.stats import poisson

    seen = np.arange(int(contexts + 9 * contexts**0.5 + 9))
    chance = np.outer(poisson.pmf(seen, contexts * ratio / (ratio + 1)), poisson.pmf(seen, contexts / (ratio + 1)))
    chance[0, 0] = 0.0  # undefined
    first, second = np.meshgrid(seen, seen, indexing="ij")
    size = 1e9
    values = odds_ratios.log_odds_ratio(np.stack([first, size * ratio - first, second, size - second], -1))
    assert abs((chance * values).sum() / chance.sum()) < 0.2


def test_weighted_counts_have_the_error_of_a_sum_of_weights() -> None:
    """Sums of weights drawn many times spread as the formula says."""
    random = np.random.default_rng(1)
    weights = np.array([1.0, 0.6, 0.2])
    drawn = random.poisson(np.array([40, 900, 25, 1100])[:, None], (20_000, 4, 3)) * weights
    values = odds_ratios.log_odds_ratio(drawn.sum(axis=2))
    rates = np.array([40, 900, 25, 1100])[:, None] * np.ones(3)
    se = float(odds_ratios.closed_form_se((rates * weights).sum(axis=1), (rates * weights**2).sum(axis=1)))
    assert se == pytest.approx(values.std(), rel=0.03)


@given(st.lists(COUNTS, min_size=2, max_size=8))
def test_a_document_left_out_is_counted_exactly(rows: list[list[int]]) -> None:
    tables = np.array(rows, np.float64)
    changes = odds_ratios.left_out_changes(tables)
    whole = odds_ratios.log_odds_ratio(tables.sum(axis=0))
    for number in range(len(tables)):
        without = odds_ratios.log_odds_ratio(np.delete(tables, number, axis=0).sum(axis=0))
        assert changes[number] == pytest.approx(without - whole, abs=1e-9)


def test_effective_documents_are_all_of_equal_ones_and_one_of_one() -> None:
    assert odds_ratios.effective_documents(np.full(7, -0.3)) == pytest.approx(7)
    assert odds_ratios.effective_documents(np.array([0.0, 5.0, 0.0])) == pytest.approx(1)
    assert odds_ratios.effective_documents(np.zeros(4)) == 0


def test_documents_drawn_again_are_drawn_with_replacement() -> None:
    """How often each is drawn has the mean and variance of a multinomial draw of all documents."""
    carriers = np.arange(5)
    drawn = np.array(list(odds_ratios.draw_documents(20, carriers, 20_000, 0)))
    assert drawn.mean(axis=0) == pytest.approx(np.ones(5), abs=0.03)
    assert drawn.var(axis=0) == pytest.approx(np.full(5, 19 / 20), abs=0.05)
    assert np.cov(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 20, abs=0.03)
