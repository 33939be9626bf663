"""Lengths, directions and cosines: exact on vectors that arithmetic finds hard, undefined for zero vectors."""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np
import pytest

from biasgauge.core.geometry import (
    BLOCK,
    all_lengths,
    cosine,
    cosines,
    has_direction,
    row_cosines,
    row_lengths,
    unit_rows,
    unit_singles,
)

HALF = sqrt(0.5)
ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [1e-300, 0.0], [-1e200, 1e200], [5e-324, 0.0], [-1e308, 1e308]])
LENGTHS = np.array([5.0, 0.0, 1e-300, 1e200 / HALF, 5e-324, 1e308 / HALF])
UNITS = np.array([[0.6, 0.8], [np.nan, np.nan], [1.0, 0.0], [-HALF, HALF], [1.0, 0.0], [-HALF, HALF]])

orders = pytest.mark.parametrize(("rescale", "pairwise"), [(a, b) for a in (False, True) for b in (False, True)])


@orders
def test_lengths_and_directions_of_long_short_and_zero_vectors(rescale: bool, pairwise: bool) -> None:  # noqa: FBT001
    np.testing.assert_allclose(row_lengths(ROWS, rescale=rescale, pairwise=pairwise), LENGTHS, rtol=1e-15)
    np.testing.assert_allclose(unit_rows(ROWS, rescale=rescale, pairwise=pairwise), UNITS, rtol=1e-15)


@orders
def test_lengths_agree_with_exact_sums(rescale: bool, pairwise: bool) -> None:  # noqa: FBT001
    rows = np.random.default_rng(0).normal(size=(200, 301))
    exact = [sqrt(fsum(value**2 for value in row)) for row in rows.tolist()]
    np.testing.assert_allclose(row_lengths(rows, rescale=rescale, pairwise=pairwise), exact, rtol=1e-15)


def test_single_precision_is_measured_in_its_own_range() -> None:
    rows = np.array([[3, 4], [0, 0], [1e-30, 0], [3e25, 4e25]], np.float32)
    lengths = row_lengths(rows)
    assert lengths.dtype == np.float64
    np.testing.assert_allclose(lengths, [5, 0, 1e-30, 5e25], rtol=1e-6)


def test_the_length_of_a_row_does_not_depend_on_its_company() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 300)).astype(np.float32)
    with_zero = np.concatenate([rows, np.zeros((1, 300), np.float32)])
    np.testing.assert_array_equal(row_lengths(with_zero)[:-1], row_lengths(rows))


def test_cosines_are_undefined_for_zero_vectors_only() -> None:
    columns = np.array([[1.0, 0.0], [0.0, 0.0]])
    expected = [[0.6, np.nan], [np.nan, np.nan], [1, np.nan], [-HALF, np.nan], [1, np.nan], [-HALF, np.nan]]
    for rescale in (False, True):
        np.testing.assert_allclose(cosines(ROWS, columns, rescale=rescale, pairwise=True), expected, rtol=1e-15)
    np.testing.assert_allclose(row_cosines(ROWS[:4], ROWS[[2, 2, 1, 0]]), [0.6, np.nan, np.nan, HALF / 5], rtol=1e-14)
    assert cosine(np.array([3.0, 4.0]), np.array([2.0, 0.0])) == pytest.approx(0.6)
    assert np.isnan(cosine(np.zeros(2), np.ones(2)))


def test_inputs_are_not_changed() -> None:
    rows = ROWS.copy()
    for rescale in (False, True):
        unit_rows(rows, rescale=rescale)
        row_lengths(rows, rescale=rescale)
    np.testing.assert_array_equal(rows, ROWS)


def test_single_precision_units_of_all_and_of_some_rows_over_several_blocks() -> None:
    vectors = np.random.default_rng(2).normal(size=(BLOCK + 5, 3)).astype(np.float16)
    vectors[[7, BLOCK + 1]] = 0
    units = unit_singles(vectors)
    assert units.dtype == np.float32
    assert np.flatnonzero(~has_direction(units)).tolist() == [7, BLOCK + 1]
    kept = has_direction(units)
    wide = vectors[kept].astype(np.float64)
    np.testing.assert_allclose(units[kept], wide / np.linalg.norm(wide, axis=1)[:, None], rtol=1e-6, atol=1e-7)
    some = np.array([BLOCK + 4, 7, 0])
    np.testing.assert_array_equal(unit_singles(vectors, some), units[some])
    np.testing.assert_array_equal(all_lengths(vectors, some), all_lengths(vectors)[some])
    assert all_lengths(vectors[:0]).shape == (0,)
