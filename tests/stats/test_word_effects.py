"""Sets of words with words as a random effect: known ends, by hand, and intervals that hold where one word has most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.core import Integers
from biasgauge.stats import ClusteredTable, WordCells, balanced_odds, clustered_estimate, largest_share
from biasgauge.stats.odds_ratios import log_odds_ratio
from biasgauge.stats.word_effects import FEW_WORDS, LEAST, ONE_SIDED, word_weights

OUTSIDE = np.array([1e6, 1e6])


def cells(first: Any, second: Any, outside: Any = OUTSIDE, effect: float = 1.0) -> WordCells:  # noqa: ANN401 - counts
    """Words with these contexts near the two groups, every word in a document of its own."""
    near = np.stack([np.asarray(first, float), np.asarray(second, float)], axis=1)
    places = np.arange(len(near))
    return WordCells(places, places, near, np.asarray(outside, float), effect)


def test_words_with_equally_many_contexts_are_pooled() -> None:
    found = balanced_odds(cells([8, 3, 5, 1], [2, 7, 5, 9], [900.0, 450.0]), level=0.95)
    assert found.value == pytest.approx(np.log(17 / 23) - np.log(2))


def test_with_words_that_differ_in_all_every_word_counts_the_same() -> None:
    """Shares of 0 and 1 alone: two contexts of one word say no more than one, r = 1."""
    shares, contexts = np.array([1.0, 0.0, 1.0, 0.0]), np.array([100.0, 3.0, 7.0, 20.0])
    assert word_weights(shares, contexts) == pytest.approx([1.0, 1.0, 1.0, 1.0], rel=0.15)


def test_words_that_lean_alike_have_the_least_correlation() -> None:
    contexts = np.array([1000.0, 50.0, 10.0, 1.0])
    weights = word_weights(np.full(4, 0.4), contexts)
    assert weights == pytest.approx(contexts / (1 + (contexts - 1) * LEAST))


def test_the_correlation_is_that_of_beta_binomial_counts() -> None:
    """Many words of a beta-binomial distribution: 1 / (a + b + 1)."""
    random = np.random.default_rng(0)
    contexts = random.integers(5, 200, 20_000).astype(float)
    shares = random.binomial(contexts.astype(int), random.beta(1.2, 2.8, len(contexts))) / contexts
    weights = word_weights(shares, contexts)
    correlation = (contexts / weights - 1) / (contexts - 1)
    assert correlation == pytest.approx(np.full(len(contexts), 0.2), abs=0.01)


def test_the_interval_by_hand() -> None:
    first, second = np.array([30.0, 4.0, 9.0]), np.array([10.0, 6.0, 3.0])
    contexts, shares = first + second, first / (first + second)
    weights = word_weights(shares, contexts)
    weights = weights / weights.sum()
    mean = float(weights @ shares)
    words = sum((w * (p - mean)) ** 2 / (1 - w) for w, p in zip(weights, shares, strict=True))
    independent = sum(w**2 * mean * (1 - mean) / m for w, m in zip(weights, contexts, strict=True))
    se = max(words, independent) ** 0.5 / (mean * (1 - mean))
    df = max(1, 1 / sum(weights**2) - 1)
    found = balanced_odds(cells(first, second), level=0.9)
    assert found.value == pytest.approx(np.log(mean / (1 - mean)))
    assert found.high == pytest.approx(found.value + stats.t.ppf(0.95, df) * se)
    assert found.low == pytest.approx(found.value - stats.t.ppf(0.95, df) * se)


def test_a_difference_is_of_two_sets_and_documents_that_they_share_count_once() -> None:
    x, y = cells([30, 4, 9], [10, 6, 3]), cells([5, 5, 8], [9, 6, 7])
    alone = [balanced_odds(side, level=0.95) for side in (x, y)]
    apart = WordCells(y.words, y.documents + 100, y.near, y.outside)
    found = balanced_odds(x, apart, level=0.95)
    assert alone[0].value is not None
    assert alone[1].value is not None
    assert found.value == pytest.approx(alone[0].value - alone[1].value)
    swapped = balanced_odds(apart, x, level=0.95)
    assert (swapped.value, swapped.low) == pytest.approx((-(found.value or 0), -(found.high or 0)))


def test_documents_that_hold_several_words_widen_the_interval() -> None:
    """Half of the documents are near the first group alone, with all words: fewer documents than contexts."""
    words, documents = np.repeat(np.arange(6), 10), np.tile(np.arange(10), 6)
    near = np.where((documents < 5)[:, None], [4.0, 0.0], [0.0, 4.0])
    together = balanced_odds(WordCells(words, documents, near, OUTSIDE), level=0.95)
    spread = balanced_odds(WordCells(words, np.arange(60), near, OUTSIDE), level=0.95)
    assert together.value == spread.value
    assert (together.high or 0) > 1.4 * (spread.high or 0)


def test_what_has_no_answer() -> None:
    assert balanced_odds(cells([3, 0], [4, 0]), level=0.95).reason == FEW_WORDS
    assert balanced_odds(cells([3, 2], [0, 0]), level=0.95).reason == ONE_SIDED
    nothing = WordCells(np.empty(0, int), np.empty(0, int), np.empty((0, 2)), OUTSIDE)
    assert balanced_odds(nothing, level=0.95).reason == FEW_WORDS
    assert largest_share([1.0, 3.0]) == (1, 0.75)
    assert largest_share([0.0]) == (0, 0.0)


def test_weighted_contexts_count_as_what_they_are_worth() -> None:
    first, second = np.array([30.0, 40.0, 90.0]), np.array([10.0, 60.0, 30.0])
    plain = balanced_odds(cells(first, second), level=0.95)
    halved = balanced_odds(cells(first / 2, second / 2, OUTSIDE / 2, effect=0.5), level=0.95)
    assert (halved.value, halved.low) == pytest.approx((plain.value, plain.low))


DOMINATED = np.array([890, 80, 60, 50, 40, 30, 20, 11])
"""Contexts of the words of a set, of which one has three quarters."""


def excluding(
    contexts: Integers, spread: float, lean: float, draws: int, seed: int = 1
) -> tuple[float, float, float, float]:
    """Shares of intervals that exclude 0, pooled and balanced, and root mean squares of the two numbers."""
    random = np.random.default_rng(seed)
    pooled, balanced = [], []
    for _ in range(draws):
        chance = 1 / (1 + np.exp(-lean - spread * random.standard_normal(len(contexts))))
        near = random.binomial(contexts, chance).astype(float)
        far = contexts - near
        table = np.array([near.sum(), OUTSIDE[0], far.sum(), OUTSIDE[1]])
        moves = np.concatenate(
            [np.tile([-1.0, 0, 0, 0], (int(table[0]), 1)), np.tile([0, 0, -1.0, 0], (int(table[2]), 1))]
        )
        changes = log_odds_ratio(table + moves, "margins") - log_odds_ratio(table, "margins")
        words = np.stack([near, far], axis=1)
        clustered = ClusteredTable(table, table, np.asarray(changes), np.ones(len(changes)), words)
        pooled.append(clustered_estimate(clustered, level=0.95))
        balanced.append(balanced_odds(cells(near, far), level=0.95))
    rates = [float(np.mean([found.excludes(0) for found in each])) for each in (pooled, balanced)]
    sizes = [float(np.sqrt(np.mean([(found.value or 0) ** 2 for found in each]))) for each in (pooled, balanced)]
    return rates[0], rates[1], sizes[0], sizes[1]


@pytest.mark.parametrize("spread", [0.3, 0.7])
def test_one_word_does_not_carry_a_set(spread: float) -> None:
    """Words lean at random, the set does not: the balanced number is nearer to 0, and its interval holds its level."""
    rate_pooled, rate_balanced, size_pooled, size_balanced = excluding(DOMINATED, spread, 0.0, 200)
    assert rate_balanced <= 0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5
    assert rate_balanced < rate_pooled
    assert size_balanced < 0.75 * size_pooled


@pytest.mark.calibration
@pytest.mark.parametrize("contexts", [DOMINATED, np.full(8, 100), [8, 6, 5, 4, 3, 3, 2, 1], [300, 4, 3, 3, 2, 2, 1, 1]])
@pytest.mark.parametrize("spread", [0.0, 0.3, 0.7, 1.2])
def test_intervals_hold_their_level(contexts: Any, spread: float) -> None:  # noqa: ANN401 - counts
    assert excluding(np.asarray(contexts), spread, 0.0, 600, seed=3)[1] <= 0.05 + 2 * (0.05 * 0.95 / 600) ** 0.5
