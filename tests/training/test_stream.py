from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasgauge.text.training.random_stream import alias_table, below, draw, fill_uniform, next_number, stream


def test_the_numbers_are_those_of_splitmix64() -> None:
    # The reference sequence of SplitMix64 from the state 1234567, printed in many implementations of it.
    state = np.array([1234567], dtype=np.uint64)
    assert [int(next_number(state)) for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_streams_differ_by_purpose_and_by_seed_and_repeat() -> None:
    starts = {(purpose, seed): int(stream(purpose, seed)[0]) for purpose in ("a", "b") for seed in range(100)}
    assert len(set(starts.values())) == 200
    assert int(stream("a", 7)[0]) == starts["a", 7]


@pytest.mark.parametrize("bound", [1, 2, 7, 1000])
def test_below_is_uniform(bound: int) -> None:
    state = stream("test", 1)
    drawn = np.array([below(state, bound) for _ in range(20_000)])
    counts = np.bincount(drawn, minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or stats.chisquare(counts).pvalue > 1e-4


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_an_alias_table_holds_exactly_the_weights(weights: list[float]) -> None:
    keep, other = alias_table(np.array(weights))
    size = len(weights)
    held = np.minimum(keep.astype(np.float64), 2**32) / 2**32
    chance = held.copy()
    np.add.at(chance, other, 1 - held)
    np.testing.assert_allclose(chance / size, np.array(weights) / np.sum(weights), atol=1e-8)


def test_draws_follow_the_weights() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    keep, other = alias_table(weights)
    state = stream("test", 2)
    counts = np.bincount([draw(state, keep, other) for _ in range(50_000)], minlength=5)
    assert stats.chisquare(counts, weights / weights.sum() * 50_000).pvalue > 1e-4


def test_uniform_numbers_fill_the_columns_asked_for_and_no_others() -> None:
    matrix = np.zeros((2000, 8), dtype=np.float32)
    fill_uniform(matrix, 5, 0.2, stream("test", 3))
    assert not matrix[:, 5:].any()
    assert stats.kstest(matrix[:, :5].ravel(), stats.uniform(-0.1, 0.2).cdf).pvalue > 1e-4
