"""Sums over rows against the same sums written out one by one in 32-bit arithmetic: equal bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.text.training.lanes import LANES, add_rows, dot_rows, fetch_row, padded
from biasgauge.text.training.random_stream import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTHS = [8, 16, 24, 32, 40, 64, 104, 304]
COUNTS = [0, 1, 2, 3, 4, 5, 7, 8, 11]


@compiled
def _dots(
    a: NDArray[np.float32],
    i: int,
    b: NDArray[np.float32],
    rows: NDArray[np.int64],
    out: NDArray[np.float32],
    o: int,
    count: int,
) -> None:
    fetch_row(b, rows[0])
    dot_rows(a, i, b, rows, out, o, count)


@compiled
def _adds(
    a: NDArray[np.float32],
    i: int,
    b: NDArray[np.float32],
    rows: NDArray[np.int64],
    weights: NDArray[np.float32],
    w: int,
    count: int,
) -> None:
    add_rows(a, i, b, rows, weights, w, count)


def _dot_as_promised(left: NDArray[np.float32], right: NDArray[np.float32]) -> np.float32:
    """Eight running sums, then halves added to halves."""
    sums = np.zeros(LANES, dtype=np.float32)
    for start in range(0, len(left), LANES):
        sums = sums + left[start : start + LANES] * right[start : start + LANES]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = sums[:half] + sums[half:]
    return np.float32(sums[0])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_products_are_summed_in_the_promised_order(width: int, count: int) -> None:
    rng = np.random.default_rng(width * 100 + count)
    a = rng.normal(size=(3, width)).astype(np.float32)
    b = rng.normal(size=(20, width)).astype(np.float32)
    rows = rng.integers(0, 20, 12)
    out = np.full((2, 12), 7, dtype=np.float32)
    _dots(a, 2, b, rows, out, 1, count)
    expected = np.full((2, 12), 7, dtype=np.float32)
    expected[1, :count] = [_dot_as_promised(a[2], b[row]) for row in rows[:count]]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_allclose(out[1, :count], b[rows[:count]].astype(float) @ a[2].astype(float), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_weighted_rows_are_added_one_after_the_other(width: int, count: int) -> None:
    rng = np.random.default_rng(width * 100 + count)
    a = rng.normal(size=(3, width)).astype(np.float32)
    b = rng.normal(size=(20, width)).astype(np.float32)
    rows = rng.integers(0, 20, 12)
    weights = rng.normal(size=(2, 12)).astype(np.float32)
    expected = a.copy()
    for place in range(count):
        expected[1] = expected[1] + weights[1, place] * b[rows[place]]
    _adds(a, 1, b, rows, weights, 1, count)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize(("dim", "width"), [(1, 8), (8, 8), (9, 16), (100, 104), (300, 304)])
def test_rows_are_padded_to_whole_blocks(dim: int, width: int) -> None:
    assert padded(dim) == width
