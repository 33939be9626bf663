"""Orthogonal Procrustes on arrays: the rotation Q that brings rows of A nearest to the same rows of B, ‖A Q − B‖ least.

Q is U Vᵀ of the singular value decomposition of AᵀB (Schönemann, *Psychometrika* 31, 1966). AᵀB is summed in double
precision over blocks of rows, so that 16-bit and memory-mapped vectors are fine and memory is that of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge.errors import ParameterError
from biasgauge.geometry import row_lengths, unit_rows

ROWS = 1024
"""Rows in a block: two of them, widened, stay in the cache for any usual number of dimensions."""

_SAFE = {4: (1e-15, 1e15), 8: (1e-140, 1e140)}
"""Lengths between which a product of two vectors is sound in numbers of so many bytes."""


class Rotation(NamedTuple):
    """The best rotation.

    Attributes:
        matrix: Q, dimensions × dimensions; row vectors are multiplied from the left.
        overlap: sum of the singular values of AᵀB, that is the sum of the products of A Q with B.
        rank: rank of AᵀB; where it is below the dimensions, Q is one of many that fit as well.
    """

    matrix: NDArray[np.float64]
    overlap: float
    rank: int


@dataclass(frozen=True, eq=False)
class Side:
    """Some rows of one model, as they enter an alignment.

    Attributes:
        vectors: the whole model, as stored.
        rows: which rows, in the order of the other side's.
        unit: every row is divided by its length first; zero rows stay zero, so that they turn nothing.
        center: is then subtracted from every row.
    """

    vectors: NDArray[np.floating[Any]]
    rows: NDArray[np.intp]
    unit: bool = False
    center: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _first(self) -> int | None:
        """Row of the first, where all follow one another: such rows need not be gathered."""
        return int(self.rows[0]) if len(self.rows) and (np.diff(self.rows) == 1).all() else None

    def stored(self, part: slice) -> NDArray[np.floating[Any]]:
        """Some of the rows, as they are stored."""
        if self._first is None:
            found: NDArray[np.floating[Any]] = self.vectors[self.rows[part]]
        else:
            found = self.vectors[self._first + part.start : self._first + part.stop]
        return found

    def block(self, part: slice, dtype: DTypeLike = np.float64) -> NDArray[np.floating[Any]]:
        """Some of the rows, as they enter the alignment."""
        if not self.unit and self.center is None:
            return self.stored(part).astype(dtype, copy=False)
        wide = self.stored(part).astype(np.float64)
        if self.unit:
            wide = np.nan_to_num(unit_rows(wide, rescale=True))
        if self.center is not None:
            wide = wide - self.center
        return wide.astype(dtype, copy=False)

    def parts(self) -> Iterator[slice]:
        """Slices that cover the rows, a block each."""
        for start in range(0, len(self.rows), ROWS):
            yield slice(start, min(start + ROWS, len(self.rows)))

    def centered(self) -> Side:
        """The same rows less their mean."""
        total = np.zeros(self.vectors.shape[1])
        for part in self.parts():
            total += self.block(part).sum(axis=0)
        return replace(self, center=total / max(len(self.rows), 1))


def cross_product(a: Side, b: Side) -> NDArray[np.float64]:
    """AᵀB in double precision."""
    total = np.zeros((a.vectors.shape[1], b.vectors.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # `best_rotation` refuses what overflowed
        for part in a.parts():
            total += a.block(part).T @ b.block(part)
    return total


def best_rotation(cross: NDArray[np.float64]) -> Rotation:
    """Find Q from AᵀB.

    Raises:
        ParameterError: the vectors are so long that their products are not finite.
    """
    if not np.isfinite(cross).all():
        raise ParameterError("These vectors are too long to be aligned: their products overflow; use unit=True.")
    left, values, right = np.linalg.svd(cross)
    least = values.max(initial=0) * len(values) * np.finfo(np.float64).eps
    return Rotation(left @ right, float(values.sum()), int(np.count_nonzero(values > least)))


def cosines(
    a: Side,
    b: Side,
    rotation: NDArray[np.float64],
    known: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """cos(a Q, b) of each row, in [−1, 1]; NaN where either is zero and so has no direction.

    Computed in the precision of the vectors (at least single); rows so long or short that it cannot hold their products
    are done again. `known` are the lengths of the rows of either side, where they have been computed before.
    """
    single = a.center is None and max(a.vectors.itemsize, b.vectors.itemsize) <= 4
    dtype = np.dtype(np.float32 if single else np.float64)
    turn = rotation.astype(dtype)
    low, high = _SAFE[dtype.itemsize]
    found = np.empty(len(a))
    for part in a.parts():
        left, right = a.block(part, dtype), b.block(part, dtype)
        wide = (row_lengths(side.block(part), rescale=True) for side in (a, b))
        sizes = [lengths[part] for lengths in known] if known else list(wide)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found[part] = np.einsum("ij,ij->i", left @ turn, right) / sizes[0] / sizes[1]
        sound = np.logical_and.reduce([(lengths > low) & (lengths < high) for lengths in sizes])
        if not sound.all():
            again = np.flatnonzero(~sound)
            found[part.start + again] = _exact_cosines(a.block(part)[again], b.block(part)[again], rotation)
    return np.clip(found, -1, 1)


def _exact_cosines(
    left: NDArray[np.floating[Any]], right: NDArray[np.floating[Any]], rotation: NDArray[np.float64]
) -> NDArray[np.float64]:
    one, other = (unit_rows(side.astype(np.float64), rescale=True) for side in (left, right))
    found: NDArray[np.float64] = np.einsum("ij,ij->i", one @ rotation, other)
    return found
