"""Ranks by counting equal ranks by sorting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import rankdata

from biasgauge.analyses.seeds.ranks import DIGITS, RankSizes, ranks_along

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cosines(vectors: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    used = wide[lengths > 0] / lengths[lengths > 0][:, None]
    rounded: NDArray[np.float64] = np.round(used @ directions.T, DIGITS)
    return rounded


def problem(dtype: Any, *, words: int = 3000, dim: int = 20, directions: int = 9) -> tuple[NDArray[Any], ...]:  # noqa: ANN401
    """A vocabulary with a zero vector and repeated vectors, which tie."""
    random = np.random.default_rng(1)
    vectors = (random.normal(size=(words, dim)) * np.geomspace(3, 0.1, dim)).astype(dtype)
    vectors[17] = 0
    vectors[50:80] = vectors[80:110]
    towards = random.normal(size=(directions, dim))
    of = np.repeat(np.arange(directions), 25)
    wanted = random.integers(18, words, len(of))
    wanted[:20] = np.arange(50, 70)
    return vectors, towards / np.linalg.norm(towards, axis=1, keepdims=True), wanted, of


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ranks_are_those_of_a_sorted_vocabulary(dtype: Any) -> None:  # noqa: ANN401 - a type of number
    vectors, directions, wanted, of = problem(dtype)
    found = ranks_along(vectors, directions, wanted, of)
    place = np.cumsum(vectors.any(axis=1)) - 1
    table = cosines(vectors, directions)
    expected = [rankdata(-table[:, one])[place[row]] - 1 for row, one in zip(wanted, of, strict=True)]
    assert found.words == len(vectors) - 1
    assert found.values.tolist() == expected
    assert (found.values[:20] % 1 == 0.5).all()  # they do tie


def test_published_ties_are_those_of_a_reversed_sort() -> None:
    vectors, directions, wanted, of = problem(np.float32)
    found = ranks_along(vectors, directions, wanted, of, ties="later-first")
    place = np.cumsum(vectors.any(axis=1)) - 1
    table = cosines(vectors, directions)
    for row, one, rank in zip(wanted, of, found.values, strict=True):
        order = np.argsort(table[:, one], kind="stable")[::-1]
        assert order[int(rank)] == place[row]


def test_ranks_depend_on_no_block() -> None:
    vectors, directions, wanted, of = problem(np.float32)
    expected = ranks_along(vectors, directions, wanted, of)
    sizes = RankSizes()
    for change in ({"rows": 7}, {"directions": 8}, {"values": 1}, {"exact": 3}, {"scale": 30}):
        sizes = replace(sizes, **change)
        found = ranks_along(vectors, directions, wanted, of, sizes=sizes)
        assert found.values.tolist() == expected.values.tolist()
        assert found.words == expected.words


def test_vectors_too_long_or_short_for_single_precision() -> None:
    vectors, directions, wanted, of = problem(np.float64)
    expected = ranks_along(vectors, directions, wanted, of).values
    scales = np.random.default_rng(0).choice([1e-200, 1e-30, 1.0, 1e30, 1e200], len(vectors))
    found = ranks_along(vectors * scales[:, None], directions, wanted, of).values
    # Rounding differs in the last digits, so that exact ties may break; nothing else moves.
    assert np.abs(found - expected).max() <= 0.5


def test_one_word_is_on_top() -> None:
    found = ranks_along(np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]]), np.array([0]), np.array([0]))
    assert found.values.tolist() == [0]
    assert found.words == 1
