"""Differences of means by splits: p by enumeration, the interval as the set of shifts that are not rejected."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.stats import shift_between
from biasgauge.stats.permutation import EXACT, RANDOM

numbers = st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=6)


def brute_p(first: list[float], second: list[float], shift: float = 0.0) -> float:
    """Equal-tailed p of a difference of `shift`, over every split of the numbers after taking the shift off."""
    moved = [value - shift for value in first]
    pool = [*moved, *second]
    own = np.mean(moved) - np.mean(second)
    below = above = total = 0
    for members in combinations(range(len(pool)), len(first)):
        one = [pool[place] for place in members]
        other = [pool[place] for place in range(len(pool)) if place not in members]
        difference = np.mean(one) - np.mean(other)
        below += difference <= own + 1e-12
        above += difference >= own - 1e-12
        total += 1
    return min(1.0, 2 * min(below, above) / total)


@given(numbers, numbers)
def test_p_is_that_of_every_split(first: list[float], second: list[float]) -> None:
    found = shift_between(first, second)
    assert found.exact
    assert found.p == pytest.approx(brute_p(first, second), abs=1e-12)
    assert found.value == pytest.approx(np.mean(first) - np.mean(second), abs=1e-12)


@given(numbers, numbers, st.floats(-2, 2))
def test_p_of_a_shift_is_that_of_shifted_numbers(first: list[float], second: list[float], shift: float) -> None:
    found = shift_between(first, second)
    assert found.p_at(shift) == pytest.approx(brute_p(first, second, shift), abs=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4), (5, 5), (2, 7), (6, 3)])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_interval_holds_what_is_not_rejected(sizes: tuple[int, int], level: float) -> None:
    random = np.random.default_rng(sum(sizes))
    first, second = random.normal(0.3, 1, sizes[0]).tolist(), random.normal(0, 1, sizes[1]).tolist()
    low, high = shift_between(first, second).interval(level)
    grid = np.linspace(-4, 4, 161)
    held = [float(shift) for shift in grid if brute_p(first, second, float(shift)) > 1 - level]
    inside = [float(shift) for shift in grid if low < shift < high]
    assert held == inside
    assert np.isfinite([low, high]).all()


def test_too_few_splits_exclude_nothing() -> None:
    """Two and two have six splits: no equal-tailed p is below 1/3."""
    found = shift_between([1, 2], [8, 9])
    assert found.p == pytest.approx(2 / 6)
    assert found.splits == 6
    assert found.interval(0.95) == (-np.inf, np.inf)
    low, high = found.interval(0.6)
    assert -np.inf < low < high < 0


@given(numbers, numbers, st.floats(0.02, 0.98))
def test_p_and_interval_never_contradict(first: list[float], second: list[float], level: float) -> None:
    found = shift_between(first, second)
    total = found.splits
    assume(abs((1 - level) / 2 * total - round((1 - level) / 2 * total)) > 1e-6)
    low, high = found.interval(level)
    assert (found.p <= 1 - level) == (low > 1e-12 or high < -1e-12)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_at_the_level_of_p_itself_the_interval_excludes_zero(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    found = shift_between(random.normal(1, 1, size), random.normal(0, 1, size))
    assume(found.p < 1)
    low, high = found.interval(1 - found.p)
    assert low > 0 or high < 0
    low, high = found.interval(1 - found.p + 1e-6)
    assert low <= 0 <= high


@given(numbers, numbers, st.randoms())
def test_the_order_of_words_never_matters(first: list[float], second: list[float], random: object) -> None:
    found = shift_between(first, second)
    one, other = list(first), list(second)
    random.shuffle(one)  # type: ignore[attr-defined]  # of hypothesis
    random.shuffle(other)  # type: ignore[attr-defined]
    again = shift_between(one, other)
    assert again.p == found.p
    assert again.interval(0.8) == pytest.approx(found.interval(0.8), abs=1e-12)


@given(numbers, numbers)
def test_swapping_the_lists_turns_the_sign(first: list[float], second: list[float]) -> None:
    found, swapped = shift_between(first, second), shift_between(second, first)
    assert swapped.value == pytest.approx(-found.value, abs=1e-12)
    assert swapped.p == found.p
    low, high = found.interval(0.8)
    assert swapped.interval(0.8) == pytest.approx((-high, -low), abs=1e-12)


def test_many_words_are_split_at_random() -> None:
    random = np.random.default_rng(8)
    first, second = random.normal(0.5, 1, 25), random.normal(0, 1, 20)
    found = shift_between(first, second, random_state=4)
    assert not found.exact
    assert abs(found.splits - RANDOM) <= 1
    # A large sample: the permutation distribution is near that of Student's pooled t.
    pooled = stats.ttest_ind(first, second)
    assert found.p == pytest.approx(pooled.pvalue, abs=4 * (pooled.pvalue / RANDOM) ** 0.5 + 0.01)
    interval = pooled.confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((interval.low, interval.high), abs=0.05)
    assert shift_between(first, second, random_state=4).p == found.p
    low, high = found.interval(0.9)
    assert (found.p <= 0.1) == (low > 0 or high < 0)


def test_random_splits_come_close_to_all() -> None:
    """Eight and nine have 24,310 splits, which are drawn from; here all of them are looked at."""
    random = np.random.default_rng(9)
    first, second = random.normal(0.6, 1, 8), random.normal(0, 1, 9)
    drawn = shift_between(first, second, random_state=1)
    assert not drawn.exact
    assert comb(17, 8) > EXACT >= comb(15, 7)
    assert shift_between(first[:7], second[:8]).exact
    members = np.array(list(combinations(range(17), 8)))
    for shift in (0.0, 0.5):
        pool = np.concatenate([first - shift, second])
        sums = pool[members].sum(axis=1)
        tail = min((sums <= sums[0] + 1e-9).mean(), (sums >= sums[0] - 1e-9).mean())
        assert drawn.p_at(shift) == pytest.approx(2 * tail, abs=8 * (tail * (1 - tail) / RANDOM) ** 0.5)


@pytest.mark.parametrize("lists", [([], [1.0]), ([1.0], []), ([np.nan], [1.0]), ([1.0], [np.inf]), ([[1.0]], [1.0])])
def test_impossible_lists_get_a_sentence(lists: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ParameterError, match=r"finite|non-empty"):
        shift_between(*lists)


def test_the_error_is_held_where_words_are_exchangeable() -> None:
    """400 pairs of lists from one skewed distribution: p is at most .05 in one case of twenty, or less often."""
    random = np.random.default_rng(10)
    p_values = [shift_between(random.exponential(1, 5), random.exponential(1, 6)).p for _ in range(400)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
