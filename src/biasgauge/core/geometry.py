"""Lengths, directions and cosines of vectors, with one rule: a zero vector has no direction.

Its unit vector and its cosines are NaN, and the caller says what is undefined and why. Squares of very long or very
short vectors leave the range of floating-point numbers: such rows are divided by their largest entry first, so that
every vector that is not zero has a direction.

The last bit depends on the order of operations, and published numbers, random walks and ties hang on last bits. So two
choices are the caller's: `rescale` divides every row by its largest entry first, and `pairwise` adds squares as
`numpy.linalg.norm` does, not as `numpy.einsum` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core.arrays import Flags, Floats, Places, Singles

if TYPE_CHECKING:
    Vectors = NDArray[np.floating[Any]]

BLOCK = 8192
"""Rows that are widened to double precision at a time."""

_SAFE = {2: (3e-13, 3e17), 4: (3e-13, 3e17), 8: (1e-140, 1e140)}
"""Lengths whose squares are sound in numbers of so many bytes."""


def row_lengths(rows: Vectors, *, rescale: bool = False, pairwise: bool = False) -> Floats:
    """Euclidean length of each row, also where its square would be too small or too large a number."""
    if rescale:
        wide, largest = _rescaled(rows)
        return _roots(wide, pairwise=pairwise) * largest
    with np.errstate(over="ignore", under="ignore"):
        lengths = _roots(rows, pairwise=pairwise)
    low, high = _SAFE[rows.dtype.itemsize]
    extreme = np.flatnonzero(~((lengths > low) & (lengths < high)))
    if len(extreme):
        lengths[extreme] = row_lengths(rows[extreme].astype(np.float64), rescale=True, pairwise=pairwise)
    return lengths


def unit_rows(rows: Floats, *, rescale: bool = False, pairwise: bool = False) -> Floats:
    """Each row divided by its length; NaN for a zero row."""
    if rescale:
        rows, _ = _rescaled(rows)
        lengths = _roots(rows, pairwise=pairwise)
    else:
        lengths = row_lengths(rows, pairwise=pairwise)
    with np.errstate(invalid="ignore", divide="ignore"):
        units: Floats = rows / lengths[:, None]
    return units


def cosines(rows: Floats, columns: Floats, *, rescale: bool = False, pairwise: bool = False) -> Floats:
    """Cosine of every row of the one with every row of the other; NaN where either is zero."""
    products: Floats = (
        unit_rows(rows, rescale=rescale, pairwise=pairwise) @ unit_rows(columns, rescale=rescale, pairwise=pairwise).T
    )
    return products


def row_cosines(left: Vectors, right: Vectors) -> Floats:
    """Cosine of each row of the one with the same row of the other; NaN where either is zero."""
    units = (unit_rows(rows.astype(np.float64), rescale=True) for rows in (left, right))
    products: Floats = np.einsum("ij,ij->i", *units)
    return products


def cosine(one: Floats, other: Floats) -> float:
    """Cosine of two vectors; NaN where either is zero."""
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length > 0 else float("nan")


def all_lengths(vectors: Vectors, rows: Places | None = None, *, rescale: bool = False) -> Floats:
    """Length of every vector, or of some rows, in double precision whatever they are stored in, a block at a time."""
    blocks = [row_lengths(block, rescale=rescale) for block in wide_blocks(vectors, rows)]
    return np.concatenate([np.empty(0), *blocks])


def unit_singles(vectors: Vectors, rows: Places | None = None, *, threads: int = 1) -> Singles:
    """All vectors, or some rows, at length 1: computed in double precision, kept in single; NaN for a zero one."""
    count = len(vectors) if rows is None else len(rows)
    units: Singles = np.empty((count, vectors.shape[1]), np.float32)

    def fill(start: int) -> None:
        units[start : start + BLOCK] = unit_rows(_wide(vectors, rows, start))

    starts = range(0, count, BLOCK)
    if threads == 1:
        for start in starts:
            fill(start)
        return units
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(fill, starts):
            pass
    return units


def take_rows(vectors: Vectors, rows: Places) -> Vectors:
    """Return some rows of a matrix: a view, which costs nothing, where they follow each other; else a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return vectors[rows[0] : rows[0] + len(rows)]
    copied: Vectors = vectors[rows]
    return copied


def has_direction(units: Vectors) -> Flags:
    """Mask of unit rows that are those of vectors that are not zero."""
    return ~np.isnan(units[:, 0]) if units.shape[1] else np.zeros(len(units), bool)


def wide_blocks(vectors: Vectors, rows: Places | None = None) -> Iterator[Floats]:
    """Vectors in double precision, a block at a time."""
    for start in range(0, len(vectors) if rows is None else len(rows), BLOCK):
        yield _wide(vectors, rows, start)


def _wide(vectors: Vectors, rows: Places | None, start: int) -> Floats:
    part = slice(start, start + BLOCK)
    wide: Floats = (vectors[part] if rows is None else take_rows(vectors, rows[part])).astype(np.float64)
    return wide


def _roots(rows: Vectors, *, pairwise: bool) -> Floats:
    if pairwise:
        lengths: Floats = np.linalg.norm(rows, axis=1).astype(np.float64, copy=False)
        return lengths
    squares: Floats = np.einsum("ij,ij->i", rows, rows).astype(np.float64, copy=False)
    return np.sqrt(squares)


def _rescaled(rows: Vectors) -> tuple[Floats, Floats]:
    """Rows divided by their largest entry, which is then 1 or −1; zero rows stay zero. And those entries."""
    largest = np.abs(rows).max(axis=1, initial=0)
    return rows / np.where(largest == 0, 1, largest)[:, None], largest
