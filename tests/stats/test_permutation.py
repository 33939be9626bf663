"""Permutation p: against enumeration by hand, against chance, and against the rules it states."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.stats import Alternative, Ties, clopper_pearson, permutation_p

if TYPE_CHECKING:
    from collections.abc import Sequence

ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
MIRRORED: dict[Alternative, Alternative] = {"greater": "less", "less": "greater", "two-sided": "two-sided"}


def enumerated(first: Sequence[float], second: Sequence[float], alternative: str, ties: str = "inclusive") -> float:
    """The definition, split by split, on whole numbers so that nothing is rounded."""
    pool, k = [*first, *second], len(first)
    n, total = len(pool), sum(pool)

    def scaled_difference(chosen: Sequence[float]) -> float:
        return sum(chosen) * (n - k) - (total - sum(chosen)) * k

    seen = scaled_difference(first)
    found = []
    for chosen in combinations(pool, k):
        value = scaled_difference(chosen)
        other, mine = {"greater": (value, seen), "less": (-value, -seen), "two-sided": (abs(value), abs(seen))}[
            alternative
        ]
        found.append(other > mine if ties == "strict" else other >= mine)
    return sum(found) / len(found)


whole_numbers = st.lists(st.integers(-6, 6), min_size=1, max_size=5)


@settings(max_examples=200, deadline=None)
@given(
    first=whole_numbers,
    second=whole_numbers,
    alternative=st.sampled_from(ALTERNATIVES),
    ties=st.sampled_from(get_args(Ties)),
    factor=st.sampled_from([1.0, 0.1, 1e-7, 1e9]),
)
def test_exact_p_is_the_enumeration(
    first: list[int], second: list[int], alternative: Alternative, ties: Ties, factor: float
) -> None:
    # Many equal sums, and factors that make them unequal by rounding.
    result = permutation_p(np.array(first) * factor, np.array(second) * factor, alternative=alternative, ties=ties)
    assert result.p_value == enumerated(first, second, alternative, ties)
    assert result.method == "exact"
    assert (result.interval.low, result.interval.high) == (result.p_value, result.p_value)


def test_separated_sets_of_four_reach_one_in_seventy_and_no_less() -> None:
    result = permutation_p([5, 6, 7, 8], [1, 2, 3, 4])
    assert result.splits == 70
    assert result.p_value == 1 / 70
    assert permutation_p([5, 6, 7, 8], [1, 2, 3, 4], alternative="two-sided").p_value == 2 / 70
    assert permutation_p([5, 6, 7, 8], [1, 2, 3, 4], alternative="less").p_value == 1.0


def test_one_word_in_each_set_cannot_be_below_one_half() -> None:
    assert permutation_p([1.0], [-1.0]).p_value == 0.5
    assert permutation_p([1.0], [-1.0], alternative="two-sided").p_value == 1.0


def test_all_equal_values_are_no_evidence() -> None:
    for alternative in ALTERNATIVES:
        assert permutation_p([0.1, 0.1, 0.1], [0.1, 0.1], alternative=alternative).p_value == 1.0
        assert permutation_p([0.1] * 30, [0.1] * 30, alternative=alternative, samples=50).p_value == 1.0


@pytest.mark.parametrize("max_exact", [2_000_000, 0])
@pytest.mark.parametrize("sizes", [(6, 6), (4, 7)])
@pytest.mark.parametrize("seed", range(5))
def test_exchanging_the_sets_mirrors_p(sizes: tuple[int, int], max_exact: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = (random.normal(size=size) for size in sizes)
    for alternative, mirrored in MIRRORED.items():
        there = permutation_p(first, second, alternative=alternative, max_exact=max_exact, samples=500)
        back = permutation_p(second, first, alternative=mirrored, max_exact=max_exact, samples=500)
        assert there.p_value == back.p_value
        assert there.interval == back.interval


@pytest.mark.parametrize("max_exact", [2_000_000, 0])
def test_the_order_of_words_does_not_matter(max_exact: int) -> None:
    random = np.random.default_rng(1)
    first, second = random.normal(size=7), random.normal(size=6)
    results = {
        permutation_p(random.permutation(first), random.permutation(second), max_exact=max_exact, samples=400)
        for _ in range(5)
    }
    assert len(results) == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("max_exact", [2_000_000, 0])
def test_nothing_is_beyond_what_is_all_nought(alternative: Alternative, max_exact: int) -> None:
    zeros = np.zeros(5)
    result = permutation_p(zeros, zeros, alternative=alternative, max_exact=max_exact, samples=50, ties="strict")
    assert result.p_value == 0.0


def test_a_tie_broken_only_by_rounding_still_counts() -> None:
    # 0.1 + 0.2 is not 0.3 in binary: the splits {0.1, 0.2} and {0.3, 0} are equal all the same.
    assert permutation_p([0.3, 0.0], [0.1, 0.2]).p_value == enumerated([3, 0], [1, 2], "greater")
    assert permutation_p([0.1, 0.2], [0.3, 0.0]).p_value == enumerated([1, 2], [3, 0], "greater")


def test_a_tie_among_cancelled_numbers_is_judged_by_the_size_of_what_was_cancelled() -> None:
    blurred = 1e-16 * np.array([3, 1, -2, 2, -1, 0])
    assert permutation_p(blurred[:3], blurred[3:], scale=1.0).p_value == 1.0
    assert permutation_p(blurred[:3], blurred[3:]).p_value < 1.0


def test_exact_p_of_many_splits_agrees_with_visiting_each() -> None:
    values = np.random.default_rng(3).normal(size=20)
    chosen = np.array(list(combinations(range(20), 9)))
    sums = values[chosen].sum(axis=1)
    expected = np.mean(sums >= values[:9].sum() - 1e-12)
    result = permutation_p(values[:9], values[9:])
    assert result.splits == 167_960
    assert result.p_value == expected


def test_beyond_max_exact_random_splits_are_drawn() -> None:
    values = np.random.default_rng(0).normal(size=24)
    assert permutation_p(values[:12], values[12:]).method == "monte-carlo"  # 2,704,156 splits
    assert permutation_p(values[:11], values[11:22]).method == "exact"  # 705,432
    assert permutation_p(values[:12], values[12:], max_exact=3_000_000).method == "exact"
    many = np.random.default_rng(0).normal(size=60)
    assert permutation_p(many[:1], many[1:], max_exact=100).method == "monte-carlo"  # too many words to count


def test_monte_carlo_never_gives_zero() -> None:
    first, second = np.arange(30) + 100.0, np.arange(30) * 1.0
    result = permutation_p(first, second, samples=999)
    assert result.p_value == 1 / 1_000
    assert result.interval.low is not None
    assert result.interval.high is not None
    assert 0 < result.interval.low < result.p_value < result.interval.high
    assert permutation_p(first, second, samples=999, ties="strict").p_value == 0.0  # as published


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_exact_p_lies_in_the_monte_carlo_interval_as_often_as_it_says(alternative: Alternative) -> None:
    random = np.random.default_rng(11)
    first, second = random.normal(0.3, 1, size=9), random.normal(size=8)
    exact = permutation_p(first, second, alternative=alternative).p_value
    inside, values = 0, set()
    for seed in range(100):
        drawn = permutation_p(first, second, alternative=alternative, max_exact=0, samples=2_000, random_state=seed)
        assert drawn.interval.low is not None
        assert drawn.interval.high is not None
        inside += drawn.interval.low <= exact <= drawn.interval.high
        values.add(drawn.p_value)
    assert inside >= 93
    assert len(values) > 10  # seeds matter


def test_the_same_seed_gives_the_same_p_whatever_the_block() -> None:
    values = np.random.default_rng(5).normal(size=30)
    before = permutation_p(values[:14], values[14:], samples=3_000)
    assert permutation_p(values[:14], values[14:], samples=3_000, block=777) == before


def null_p_values(rule: Any, count: int = 600) -> list[float]:  # noqa: ANN401 - any rule that gives p
    random = np.random.default_rng(2024)
    return [rule(random.normal(size=9), random.normal(size=8)) for _ in range(count)]


@pytest.mark.calibration
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_p_is_uniform_when_there_is_nothing_to_find(alternative: Alternative) -> None:
    p = null_p_values(lambda x, y: permutation_p(x, y, alternative=alternative).p_value)
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.calibration
def test_a_two_sided_p_against_the_signed_value_is_not_uniform() -> None:
    # A planted fault, WEFE's rule: |split| against the observed value with its sign.
    random = np.random.default_rng(0)

    def signed(x: Any, y: Any) -> float:  # noqa: ANN401 - arrays
        drawn = random.permuted(np.tile(np.concatenate([x, y]), (200, 1)), axis=1)
        splits = drawn[:, :9].mean(axis=1) - drawn[:, 9:].mean(axis=1)
        return float(np.mean(np.abs(splits) >= x.mean() - y.mean()))

    assert stats.kstest(null_p_values(signed), "uniform").pvalue < 1e-6


@pytest.mark.parametrize(("hits", "trials"), [(0, 50), (1, 50), (17, 50), (50, 50), (3, 100_000)])
def test_clopper_pearson_agrees_with_scipy(hits: int, trials: int) -> None:
    ours, theirs = clopper_pearson(hits, trials), stats.binomtest(hits, trials).proportion_ci(method="exact")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert ours.over == "splits"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"first": []}, "non-empty"),
        ({"first": [[1.0]]}, "lists of numbers"),
        ({"second": [np.nan]}, "finite"),
        ({"alternative": "bigger"}, "'alternative' parameter must be one of"),
        ({"ties": "half"}, "'ties' parameter must be one of"),
        ({"samples": 0}, "'samples' parameter must be a whole number of at least 1"),
        ({"random_state": -1}, "'random_state' parameter must be a whole number of at least 0"),
    ],
)
def test_impossible_arguments_get_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        permutation_p(**{"first": [1.0, 2.0], "second": [3.0, 4.0], **arguments})
