"""Properties of words that lie in the vectors: length, and nearness to the nearest other word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.scores.engine import unit_block
from biasgauge.scores.neighbours import Workspace, block_rows, exact_similarities, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding

Array = np.ndarray[Any, np.dtype[np.float64]]
_ROWS = 8192


def lengths(model: Embedding, rows: NDArray[np.intp]) -> Array:
    """Euclidean lengths of the vectors as stored."""
    found = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS):
        part = np.asarray(model.vectors[rows[start : start + _ROWS]], np.float64)
        found[start : start + _ROWS] = np.sqrt(np.einsum("ij,ij->i", part, part))
    return found


def nearest_similarity(
    model: Embedding, rows: NDArray[np.intp], progress: Callable[[int, int], None] | None = None
) -> Array:
    """Cosine of each word with its nearest other word, over the whole vocabulary.

    1 means that another word has the same direction. NaN for a zero vector, and where no other word has a direction.
    The neighbour is exact: single precision proposes, double precision decides, as for the measures.
    """
    found = np.full(len(rows), np.nan)
    pool = np.empty((len(model.words), model.dim), np.float32)
    for start in range(0, len(pool), _ROWS):
        pool[start : start + _ROWS] = unit_block(model.vectors[start : start + _ROWS])
    directed = np.asarray(pool.any(axis=1))
    place = np.cumsum(directed) - 1
    asked = np.flatnonzero(directed[rows])
    pool = pool[directed] if not directed.all() else pool
    if len(pool) < 2:  # noqa: PLR2004 - a word and another
        return found
    step = block_rows(len(pool))
    workspace = Workspace(min(step, max(len(asked), 1)), len(pool))
    for start in range(0, len(asked), step):
        part = asked[start : start + step]
        own = place[rows[part]]
        neighbour = nearest(pool[own], pool, 1, own, workspace)
        found[part] = exact_similarities(pool[own], pool, neighbour)[:, 0]
        if progress is not None:
            progress(min(start + step, len(asked)), len(asked))
    return found
