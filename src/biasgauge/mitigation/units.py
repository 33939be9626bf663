"""Vectors of length 1, and cosines with a direction, a block of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.embeddings.procrustes import ROWS, unit
from biasgauge.scores.engine import unit_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding


def unit_vectors(model: Embedding, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Some rows at length 1, in single precision; zero rows stay zero."""
    units = np.empty((len(rows), model.dim), np.float32)
    for start in range(0, len(rows), ROWS):
        units[start : start + ROWS] = unit_block(model.vectors[rows[start : start + ROWS]])
    return units


def projections(model: Embedding, direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of every word with a direction of length 1, to twelve decimals; 0 for a zero vector."""
    found = np.empty(len(model))
    for start in range(0, len(model), ROWS):
        found[start : start + ROWS] = unit(model.vectors[start : start + ROWS].astype(np.float64)) @ direction
    return np.round(found, 12)


def directed(model: Embedding) -> NDArray[np.bool_]:
    """Which words have a vector that is not zero."""
    found = np.empty(len(model), bool)
    for start in range(0, len(model), ROWS):
        found[start : start + ROWS] = model.vectors[start : start + ROWS].any(axis=1)
    return found
