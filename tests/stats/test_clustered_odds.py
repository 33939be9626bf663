"""Intervals of log odds ratios of clustered counts: against scipy, known limits, and simulated texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from biasgauge.core import Floats, Integers
from biasgauge.stats import ClusteredTable, clustered_estimate, odds_ratios

REPEATS = 400


def table_of(near: Floats, totals: Floats) -> ClusteredTable:
    """Table of words × documents × 2 contexts in a text of documents × 2 contexts."""
    pooled = near.sum(axis=0)
    by_document = np.stack(
        [pooled[:, 0], totals[:, 0] - pooled[:, 0], pooled[:, 1], totals[:, 1] - pooled[:, 1]], axis=1
    )
    contexts = pooled.sum(axis=1)
    return ClusteredTable(
        by_document.sum(axis=0),
        by_document.sum(axis=0),
        odds_ratios.left_out_changes(by_document),
        contexts[contexts > 0],
        near.sum(axis=1),
    )


def scattered(first: int, second: int, n_a: int = 90_000, n_b: int = 10_000) -> ClusteredTable:
    """Contexts of one word, each in a document of its own."""
    documents = 10_000
    near = np.zeros((1, documents, 2))
    near[0, :first, 0] = 1
    near[0, first : first + second, 1] = 1
    return table_of(near, np.full((documents, 2), [n_a / documents, n_b / documents]))


@given(st.integers(0, 12), st.integers(0, 12))
def test_scattered_contexts_have_the_exact_interval_of_a_share(first: int, second: int) -> None:
    """Scipy's Clopper–Pearson; an end without bound is that of half a context, which is beyond where one would be."""
    if first + second == 0:
        return
    side = scattered(first, second)
    estimate = clustered_estimate(side, level=0.95)
    share = binomtest(first, first + second).proportion_ci(0.95, "exact")
    offset = np.log(side.table[1] / side.table[3])
    assert estimate.low is not None
    assert estimate.high is not None
    if first > 0:
        exact = np.log(share.low / (1 - share.low)) - offset
        assert min(exact, estimate.value or 0) == pytest.approx(estimate.low, abs=0.02)
    if second > 0:
        exact = np.log(share.high / (1 - share.high)) - offset
        assert max(exact, estimate.value or 0) == pytest.approx(estimate.high, abs=0.02)
    assert np.isfinite([estimate.low, estimate.high]).all()
    assert estimate.low <= (estimate.value or 0) <= estimate.high


def test_contexts_of_one_document_count_once_where_all_fall_to_one_group() -> None:
    near = np.zeros((1, 2_000, 2))
    near[0, :6, 0] = 5
    bursts = clustered_estimate(table_of(near, np.full((2_000, 2), [50.0, 10.0])), level=0.95)
    near[0, :6, 0] = 1
    once = clustered_estimate(table_of(near, np.full((2_000, 2), [50.0, 10.0])), level=0.95)
    assert bursts.low == pytest.approx(once.low, abs=0.01)


def test_many_contexts_have_the_interval_of_the_jackknife() -> None:
    random = np.random.default_rng(4)
    totals = random.poisson([60.0, 40.0], (3_000, 2)).astype(np.float64)
    near = random.binomial(totals.astype(np.int64), 0.05).astype(np.float64)[None]
    side = table_of(near, totals)
    estimate = clustered_estimate(side, level=0.95)
    se = max(odds_ratios.document_se(side.changes), float(odds_ratios.closed_form_se(side.table)))
    assert estimate.high == pytest.approx((estimate.value or 0) + 1.96 * se, abs=0.05 * se)


def test_swapped_groups_and_swapped_sets_negate() -> None:
    random = np.random.default_rng(5)
    totals = random.poisson([90.0, 10.0], (500, 2)).astype(np.float64)
    near = random.poisson([0.05, 0.01], (6, 500, 2)).astype(np.float64)
    x, y = near[:3], near[3:]
    forward = clustered_estimate(table_of(x, totals), table_of(y, totals), level=0.95)
    groups = clustered_estimate(
        table_of(x[..., ::-1], totals[:, ::-1]), table_of(y[..., ::-1], totals[:, ::-1]), level=0.95
    )
    sets = clustered_estimate(table_of(y, totals), table_of(x, totals), level=0.95)
    for other in (groups, sets):
        assert (other.low, other.value, other.high) == pytest.approx(
            (-(forward.high or 0), -(forward.value or 0), -(forward.low or 0))
        )


def test_one_document_says_nothing_of_documents() -> None:
    estimate = clustered_estimate(table_of(np.array([[[3.0, 2.0]]]), np.array([[90.0, 60.0]])), level=0.95)
    assert "one document" in (estimate.warning or "")


def test_words_that_lean_apart_widen_the_interval_of_their_set() -> None:
    totals = np.full((2_000, 2), [50.0, 50.0])
    near = np.zeros((6, 2_000, 2))
    for word in range(6):
        near[word, word * 100 : word * 100 + 60, word % 2] = 1
        near[word, word * 100 + 60 : word * 100 + 70, 1 - word % 2] = 1
    together = clustered_estimate(table_of(near, totals), level=0.95)
    as_one = clustered_estimate(table_of(near.sum(axis=0, keepdims=True), totals), level=0.95)
    assert as_one.low is not None
    assert together.low is not None
    assert together.low < 2 * as_one.low < 0
    assert together.over == "documents and words"


class Clustering(NamedTuple):
    """How contexts hang together.

    Attributes:
        burst: mean contexts of a word in a document that uses it; 0: all contexts are independent.
        mixing: of the groups in a document; small: most documents have contexts of one group alone; 0: all alike.
    """

    burst: float
    mixing: float


CLUSTERINGS = {"none": Clustering(0, 0), "mild": Clustering(2, 1.0), "strong": Clustering(8, 0.3)}
BANDS = {"rare": (0.1, 3.0), "middle": (5.0, 30.0), "frequent": (100.0, 1_000.0), "mixed": (0.1, 1_000.0)}
"""Expected contexts of a word in the whole text."""


def draw_totals(random: np.random.Generator, ratio: int, clustering: Clustering, documents: int = 400) -> Integers:
    """Contexts of both groups in each document; those of the first are `ratio` times as many."""
    share = np.full(documents, ratio / (ratio + 1))
    if clustering.mixing:
        share = random.beta(clustering.mixing * share, clustering.mixing * (1 - share))
    size = 4 * random.poisson(30 * random.gamma(1.0, 1.0, documents))
    first = random.binomial(size, share)
    return np.stack([first, size - first], axis=1)


def draw_words(
    random: np.random.Generator, totals: Integers, expected: Floats, odds: float, clustering: Clustering
) -> Floats:
    """Contexts of words by document, as many as expected; near the first group `odds` times as likely."""
    documents, share = len(totals), totals[:, 0].sum() / totals.sum()
    words = []
    for number in expected:
        rates = np.full(documents, number / (totals.sum() * (share * odds + 1 - share)))
        if clustering.burst:
            present = min(1.0, number / documents / clustering.burst)
            rates = rates / present * (random.random(documents) < present) * random.gamma(2.0, 0.5, documents)
        words.append(random.binomial(totals, np.minimum(rates[:, None] * np.array([odds, 1.0]), 0.3)))
    return np.array(words, np.float64)


@pytest.mark.calibration
@pytest.mark.parametrize("odds", [1.0, 5.0])
@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize("ratio", [1, 10, 20])
def test_intervals_of_single_words_cover(ratio: int, clustering: str, odds: float) -> None:
    """From .05 to 100 expected contexts: no more misses than the level allows, where there is a context at all."""
    shape = CLUSTERINGS[clustering]
    for expected in (0.05, 0.5, 2.0, 5.0, 20.0, 100.0):
        random = np.random.default_rng([ratio, int(odds), len(clustering), int(100 * expected)])
        missed = defined = 0
        for _ in range(REPEATS):
            totals = draw_totals(random, ratio, shape)
            side = table_of(draw_words(random, totals, np.array([expected]), odds, shape), totals.astype(np.float64))
            if side.contexts:
                defined += 1
                missed += clustered_estimate(side, level=0.95).excludes(np.log(odds)) or 0
        # Beyond two Monte Carlo errors, exactly: few texts have a context of the rarest words.
        assert binom.sf(missed - 1, defined, 0.05) > 0.023, (expected, missed, defined)


SET_PAIRS = [("rare", "rare"), ("rare", "frequent"), ("middle", "middle"), ("frequent", "frequent"), ("mixed", "mixed")]


@pytest.mark.calibration
@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize("ratio", [1, 10])
@pytest.mark.parametrize("bands", SET_PAIRS)
def test_sets_of_rare_and_frequent_words_do_not_differ_by_chance(
    bands: tuple[str, str], ratio: int, clustering: str
) -> None:
    """Ten words each, unrelated to both groups: neither set nor their difference excludes 0 more often than .05."""
    shape, repeats = CLUSTERINGS[clustering], REPEATS // 2
    random = np.random.default_rng([ratio, len(clustering), SET_PAIRS.index(bands)])
    excluded, defined = np.zeros(3), np.zeros(3)
    for _ in range(repeats):
        totals = draw_totals(random, ratio, shape)
        sides = []
        for band in bands:
            expected = np.exp(random.uniform(np.log(BANDS[band][0]), np.log(BANDS[band][1]), 10))
            sides.append(table_of(draw_words(random, totals, expected, 1.0, shape), totals.astype(np.float64)))
        questions = [sides[:1], sides[1:], sides]
        for number, tables in enumerate(questions):
            if all(side.contexts for side in tables):
                defined[number] += 1
                excluded[number] += clustered_estimate(*tables, level=0.95).excludes(0) or 0
    assert (excluded <= 0.05 * defined + 2 * (0.05 * 0.95 * defined) ** 0.5).all(), (excluded, defined)


@pytest.mark.calibration
@pytest.mark.parametrize(("band", "odds", "ratio"), [("frequent", 1.12, 1), ("middle", 2.5, 1), ("middle", 3.0, 3)])
def test_differences_of_sets_are_found_nearly_as_often_as_can_be(band: str, odds: float, ratio: int) -> None:
    """At least three quarters of the power of the normal test that knows every expected count."""
    shape = CLUSTERINGS["none"]
    random = np.random.default_rng(17)
    found, best, share = 0, 0.0, ratio / (ratio + 1)
    for _ in range(REPEATS // 2):
        totals = draw_totals(random, ratio, shape)
        expected = np.exp(random.uniform(np.log(BANDS[band][0]), np.log(BANDS[band][1]), (2, 10)))
        sides = [
            table_of(draw_words(random, totals, numbers, side_odds, shape), totals.astype(np.float64))
            for numbers, side_odds in zip(expected, (odds, 1.0), strict=True)
        ]
        found += (clustered_estimate(*sides, level=0.95).low or 0) > 0
        near_first = share * odds / (share * odds + 1 - share), share
        counts = [numbers.sum() * np.array([p, 1 - p]) for numbers, p in zip(expected, near_first, strict=True)]
        error = np.sqrt(sum((1 / count).sum() for count in counts))
        best += float(norm.sf(norm.isf(0.025) - np.log(odds) / error))
    assert 0.3 * REPEATS / 2 < best < 0.97 * REPEATS / 2  # else the test says nothing
    assert found >= 0.75 * best
