"""Orthogonal Procrustes on arrays: the rotation Q that brings rows of A nearest to the same rows of B, ‖A Q − B‖ least.

Q is U Vᵀ of the singular value decomposition of AᵀB (Schönemann, *Psychometrika* 31, 1966). AᵀB is summed in double
precision over blocks of rows, so that 16-bit and memory-mapped vectors are fine and memory is that of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from biasgauge.core import Floats, Places, Vectors, row_lengths, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.vectors.embedding import Embedding

ROWS = 1024
"""Rows in a block: two of them, widened, stay in the cache for any usual number of dimensions."""

_SAFE = {4: (1e-15, 1e15), 8: (1e-140, 1e140)}
"""Lengths between which a product of two vectors is sound in numbers of so many bytes."""


class Rotation(NamedTuple):
    """The best rotation Q, the sum of the products of A Q with B, and the rank of AᵀB.

    Where the rank is below the dimensions, Q is one of many that fit as well.
    """

    matrix: Floats
    overlap: float
    rank: int


@dataclass(frozen=True, eq=False)
class Side:
    """Some rows of one model, in the order of the other side's, as they enter an alignment.

    With `unit`, rows are divided by their lengths first (zero rows stay zero); then `center` is subtracted.
    """

    vectors: Vectors
    rows: Places
    unit: bool = False
    center: Floats | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _first(self) -> int | None:
        """Row of the first, where all follow one another: such rows need not be gathered."""
        return int(self.rows[0]) if len(self.rows) and (np.diff(self.rows) == 1).all() else None

    def stored(self, part: slice) -> Vectors:
        """Some of the rows, as they are stored."""
        first = self._first
        rows: Vectors = self.vectors[self.rows[part] if first is None else slice(first + part.start, first + part.stop)]
        return rows

    def block(self, part: slice, dtype: DTypeLike = np.float64) -> Vectors:
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


def check_dimensions(models: Sequence[Embedding]) -> None:
    """Refuse models that no rotation can bring together: those that differ in their dimensions."""
    for model in models[1:]:
        if model.dim != models[0].dim:
            raise ParameterError(
                f"Models to align must have one number of dimensions. Got {models[0].dim} for {models[0].name!r} and "
                f"{model.dim} for {model.name!r}."
            )


def cross_product(a: Side, b: Side) -> Floats:
    """AᵀB in double precision."""
    total = np.zeros((a.vectors.shape[1], b.vectors.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # `best_rotation` refuses what overflowed
        for part in a.parts():
            total += a.block(part).T @ b.block(part)
    return total


def best_rotation(cross: Floats) -> Rotation:
    """Find Q from AᵀB, whose products must be finite."""
    if not np.isfinite(cross).all():
        raise ParameterError("These vectors are too long to be aligned: their products overflow; use unit=True.")
    left, values, right = np.linalg.svd(cross)
    least = values.max(initial=0) * len(values) * np.finfo(np.float64).eps
    return Rotation(left @ right, float(values.sum()), int(np.count_nonzero(values > least)))


def align_sides(
    models: Sequence[Embedding], rows: Iterable[Places], *, unit: bool, center: bool
) -> tuple[Side, Side, Rotation]:
    """Rows of two models as they enter the alignment, and the rotation that brings the first nearest to the second."""
    a, b = (Side(model.vectors, own, unit) for model, own in zip(models, rows, strict=True))
    if center:
        a, b = a.centered(), b.centered()
    rotation = best_rotation(cross_product(a, b))
    if not rotation.rank:
        raise ParameterError(
            f"There is nothing to align {models[0].name!r} and {models[1].name!r} on: they share {len(a):,} words, "
            "none of them with a direction in both."
        )
    return a, b, rotation


def cosines(a: Side, b: Side, rotation: Floats, known: tuple[Floats, Floats] | None = None) -> Floats:
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
            left, right = (unit_rows(side.block(part)[again].astype(np.float64), rescale=True) for side in (a, b))
            found[part.start + again] = np.einsum("ij,ij->i", left @ rotation, right)
    return np.clip(found, -1, 1)
