"""A property of words that lies in the vectors: nearness to the nearest other word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.embeddings import Embedding
from biasgauge.geometry import has_direction, unit_singles
from biasgauge.scores.neighbors import Workspace, block_rows, exact_similarities, nearest


def nearest_similarity(
    model: Embedding, rows: NDArray[np.intp], progress: Callable[[int, int], None] | None = None
) -> Floats:
    """Cosine of each word with its nearest other word, over the whole vocabulary.

    1 means that another word has the same direction. NaN for a zero vector, and where no other word has a direction.
    The neighbor is exact: single precision proposes, double precision decides, as for the measures.
    """
    found = np.full(len(rows), np.nan)
    pool = unit_singles(model.vectors)
    directed = has_direction(pool)
    place = np.cumsum(directed) - 1
    asked = np.flatnonzero(directed[rows])
    pool = pool[directed] if not directed.all() else pool
    if len(pool) < 2:
        return found
    step = block_rows(len(pool))
    workspace = Workspace(min(step, max(len(asked), 1)), len(pool))
    for start in range(0, len(asked), step):
        part = asked[start : start + step]
        own = place[rows[part]]
        neighbor = nearest(pool[own], pool, 1, own, workspace)
        found[part] = exact_similarities(pool[own], pool, neighbor)[:, 0]
        if progress is not None:
            progress(min(start + step, len(asked)), len(asked))
    return found
