"""Unit vectors of a large vocabulary without a second copy of it: products are divided by lengths afterwards."""

from __future__ import annotations

import numpy as np

from biasgauge.core import Floats, Places, Singles, Vectors, all_lengths, unit_rows

KEPT = 2**30
"""Bytes of unit vectors that are kept beside the vectors; more are made when they are used."""
_LEAST, _MOST = 1e-12, 1e12
"""Lengths by which products of single precision can be divided without loss."""
_COLUMNS = 2**18


class UnitPool:
    """Rows of `vectors`, single precision, at length 1; made when asked for, with the bits that a copy would have."""

    def __init__(self, vectors: Vectors, lengths: Floats) -> None:
        self._vectors = vectors
        self._scales: Singles = (1 / lengths).astype(np.float32)

    @classmethod
    def from_vectors(cls, vectors: Vectors) -> UnitPool | None:
        """The pool; None where a copy is needed: of other numbers than single precision, or of extreme lengths."""
        if vectors.dtype != np.float32 or vectors.nbytes <= KEPT:
            return None
        lengths = all_lengths(vectors)
        return cls(vectors, lengths) if ((lengths > _LEAST) & (lengths < _MOST)).all() else None

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and dimensions."""
        return self._vectors.shape

    def __getitem__(self, indices: slice | Places) -> Singles:
        """Unit vectors of some rows; of the shape of `indices`, and dimensions."""
        rows = self._vectors[indices]
        units: Singles = unit_rows(rows.reshape(-1, rows.shape[-1]).astype(np.float64)).astype(np.float32)
        return units.reshape(rows.shape)

    def similarities(self, queries: Singles, out: Singles) -> Singles:
        """Cosines of unit vectors with every row; they err no more than products of two unit vectors do."""
        np.matmul(queries, self._vectors.T, out=out)
        for start in range(0, len(self), _COLUMNS):
            chunk = slice(start, start + _COLUMNS)
            out[:, chunk] *= self._scales[chunk]
        return out


def similarities_with(queries: Singles, pool: Singles | UnitPool, out: Singles) -> Singles:
    """Cosines of unit vectors with every row of a pool."""
    if isinstance(pool, UnitPool):
        return pool.similarities(queries, out)
    products: Singles = np.matmul(queries, pool.T, out=out)
    return products
