"""Log odds ratios against statsmodels, leaving out against counting again, intervals against known truths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.core.arrays import Floats
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
def test_half_is_added_to_all_four_where_one_is_zero(counts: list[int]) -> None:
    """Statsmodels itself, given the table with .5 in every cell: its own shift touches the zeros alone."""
    from statsmodels.stats.contingency_tables import Table2x2

    table = np.array(counts, np.float64)
    moved = table + 0.5 if table.min() == 0 else table
    theirs = Table2x2(moved.reshape(2, 2), shift_zeros=True)
    assert float(odds_ratios.log_odds_ratio(table)) == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    assert float(odds_ratios.closed_form_se(table)) == pytest.approx(theirs.log_oddsratio_se, abs=1e-10)


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


def test_a_number_of_one_document_has_no_interval_over_documents() -> None:
    estimate = odds_ratios.over_documents(1.0, np.array([0.0, -0.4, 0.0]), 1, 0.1, 0.95)
    assert estimate.low is None
    assert "fewer than two documents" in (estimate.reason or "")


def test_documents_drawn_again_are_drawn_with_replacement() -> None:
    """How often each is drawn has the mean and variance of a multinomial draw of all documents."""
    carriers = np.arange(5)
    drawn = np.array(list(odds_ratios.draw_documents(20, carriers, 20_000, 0)))
    assert drawn.mean(axis=0) == pytest.approx(np.ones(5), abs=0.03)
    assert drawn.var(axis=0) == pytest.approx(np.full(5, 19 / 20), abs=0.05)
    assert np.cov(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 20, abs=0.03)


def clustered(random: np.random.Generator, documents: int, truth: float, burst: float, present: float) -> Floats:
    """Counts by document: documents differ in whom they are about, and in how often they use the word."""
    share = random.beta(0.5, 0.5, documents)
    size = 8 * random.poisson(12 * random.gamma(1.0, 1.0, documents))
    first = random.binomial(size, share)
    second = size - first
    rate = 0.004 * (random.random(documents) < present) / present * random.gamma(1 / burst, burst, documents)
    near = [random.binomial(n, np.minimum(0.9, rate * odds)) for n, odds in ((first, np.exp(truth)), (second, 1.0))]
    return np.stack([near[0], first - near[0], near[1], second - near[1]], axis=1).astype(np.float64)


@pytest.mark.calibration
@pytest.mark.parametrize(("documents", "truth", "burst", "present"), [(400, 0.0, 1.0, 0.3), (1500, 1.0, 2.0, 0.1)])
def test_interval_over_documents_covers_where_the_closed_form_does_not(
    documents: int, truth: float, burst: float, present: float
) -> None:
    random = np.random.default_rng(documents)
    target = float(odds_ratios.log_odds_ratio(
        np.sum([clustered(random, 20_000, truth, burst, present).sum(axis=0) for _ in range(40)], axis=0)
    ))  # fmt: skip
    covered = np.zeros(2)
    repeats = 600
    for _ in range(repeats):
        tables = clustered(random, documents, truth, burst, present)
        total = tables.sum(axis=0)
        value, se = float(odds_ratios.log_odds_ratio(total)), float(odds_ratios.closed_form_se(total))
        carriers = int((tables[:, 0] + tables[:, 2] > 0).sum())
        own = odds_ratios.over_documents(value, odds_ratios.left_out_changes(tables), carriers, se, 0.95)
        closed = odds_ratios.closed_form(value, se, 0.95)
        covered += [not own.excludes(target), not closed.excludes(target)]
    share = covered / repeats
    assert share[0] >= 0.95 - 3 * (0.95 * 0.05 / repeats) ** 0.5
    assert share[1] < 0.9  # else the documents were not clustered, and this tests nothing
