"""Exact nearest neighbors by cosine, in blocks whose size only the vocabulary decides.

One matrix product per block finds the similarities; a threshold from a sample of columns passes a few hundred
candidates per row; the k best of those are kept. Where candidates are so close at the k-th place that rounding could
decide, they are compared again in double precision, and equal ones by their row: so the result is the same whatever
the number of threads, the block size or the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING = 4e-6
"""Similarities of unit vectors that differ by less than this may be in the wrong order in single precision."""

DIGITS = 12
"""Decimals to which exact similarities are rounded, so that equal vectors tie on every machine."""

_BLOCK_BYTES = 2**26
_MOST_ROWS = 4096
_SAMPLE = 2048
_EXPECTED_PASSES = 4
_LEAST_RANK = 12


def block_rows(pool: int) -> int:
    """Rows of queries in a block: as many as keep the similarities within 64 MB, from 16 to 4,096."""
    return min(max(_BLOCK_BYTES // (4 * max(pool, 1)), 16), _MOST_ROWS)


class Workspace:
    """Memory for the similarities of one block: fresh pages would cost a third of the product's time."""

    def __init__(self, rows: int, pool: int) -> None:
        self.similarities = np.empty((rows, pool), np.float32)
        self.passed = np.empty((rows, pool), np.bool_)


def nearest(
    queries: NDArray[np.float32],
    pool: NDArray[np.float32],
    k: int,
    own: NDArray[np.intp],
    workspace: Workspace | None = None,
) -> NDArray[np.intp]:
    """Rows of the `k` nearest vectors of `pool` for each query, in no particular order.

    Args:
        queries: unit vectors, one a row: one block of them.
        pool: unit vectors, at least k + 1 of them.
        k: how many.
        own: each query's own row in the pool, which is left out; −1 where it has none.
        workspace: memory to compute in, for many blocks after each other.
    """
    workspace = workspace or Workspace(len(queries), len(pool))
    similarities = np.matmul(queries, pool.T, out=workspace.similarities[: len(queries)])
    inside = np.flatnonzero(own >= 0)
    similarities[inside, own[inside]] = -np.inf
    columns, values = _candidates(similarities, workspace.passed[: len(queries)], k)
    return best(queries, pool, k, columns, values)


def _candidates(
    similarities: NDArray[np.float32], passed: NDArray[np.bool_], k: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Columns and similarities of everything that may be among the k best, padded with −1 and −infinity."""
    rows, size = similarities.shape
    sample = similarities[:, :: max(size // _SAMPLE, 1)]
    np.greater_equal(similarities, thresholds(sample, k, size)[:, None], out=passed)
    flat, counts = set_places(passed)
    if counts.min() < k:
        for row in np.flatnonzero(counts < k).tolist():  # the sample misled: keep all that reach the k-th value
            least = np.partition(similarities[row], size - k)[size - k] - ROUNDING
            passed[row] = similarities[row] >= least
        flat, counts = set_places(passed)
    widest = int(counts.max())
    before = np.cumsum(counts) - counts
    slots = np.arange(len(flat)) + np.repeat(np.arange(rows) * widest - before, counts)
    columns = np.full(rows * widest, -1, np.intp)
    values = np.full(rows * widest, -np.inf, np.float32)
    columns[slots] = flat - np.repeat(np.arange(rows) * size, counts)
    values[slots] = similarities.ravel()[flat]
    return columns.reshape(rows, widest), values.reshape(rows, widest)


def thresholds(sample: NDArray[np.float32], k: int, size: int) -> NDArray[np.float32]:
    """For each row a value that about four times k of `size` similarities reach, from an even sample of them."""
    rank = max(round(_EXPECTED_PASSES * k / size * sample.shape[1]), _LEAST_RANK)
    if rank >= sample.shape[1]:
        return np.full(len(sample), -np.finfo(np.float32).max, np.float32)
    place = sample.shape[1] - rank
    found: NDArray[np.float32] = np.partition(sample, place, axis=1)[:, place] - np.float32(ROUNDING)
    return found


def set_places(passed: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Flat places of the true entries, and how many each row has; few are true, so eight are looked at together."""
    flat = passed.ravel()
    whole = len(flat) // 8 * 8
    words = np.flatnonzero(flat[:whole].view(np.uint64) != 0)
    inside = np.flatnonzero(flat[:whole].view(np.uint64)[words].view(np.bool_))
    places = np.concatenate([words[inside >> 3] * 8 + (inside & 7), whole + np.flatnonzero(flat[whole:])])
    ends = np.searchsorted(places, np.arange(len(passed) + 1) * passed.shape[1])
    return places, np.diff(ends)


def best(
    queries: NDArray[np.float32],
    pool: NDArray[np.float32],
    k: int,
    columns: NDArray[np.intp],
    values: NDArray[np.float32],
) -> NDArray[np.intp]:
    """Keep the k best candidates of each row; settle in double precision what rounding could decide."""
    order = np.argpartition(-values, k - 1, axis=1)
    chosen = np.take_along_axis(columns, order[:, :k], axis=1)
    last = np.take_along_axis(values, order[:, k - 1 : k], axis=1)
    close = np.abs(values - last) <= ROUNDING
    for row in np.flatnonzero(np.count_nonzero(close, axis=1) > 1).tolist():
        sure = columns[row, values[row] > last[row] + ROUNDING]
        doubtful = np.sort(columns[row, close[row]])
        exact = exact_similarities(queries[row : row + 1], pool, doubtful[None])[0]
        chosen[row] = np.concatenate([sure, doubtful[np.argsort(-exact, kind="stable")][: k - len(sure)]])
    return chosen


def exact_similarities(
    queries: NDArray[np.float32], pool: NDArray[np.float32], places: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Similarity of each query with the vectors at its places, in double precision."""
    products = np.einsum("ijk,ik->ij", pool[places].astype(np.float64), queries.astype(np.float64))
    rounded: NDArray[np.float64] = np.round(products, DIGITS)
    return rounded


def drop_nearest(queries: NDArray[np.float32], pool: NDArray[np.float32], found: NDArray[np.intp]) -> NDArray[np.intp]:
    """Leave out the nearest of each row's neighbors, the first in the pool among equals."""
    found = np.sort(found, axis=1)
    keep = np.ones(found.shape, dtype=bool)
    step = max(_BLOCK_BYTES // (8 * found.shape[1] * pool.shape[1]), 1)
    for start in range(0, len(found), step):
        part = slice(start, start + step)
        nearest_of_all = np.argmax(exact_similarities(queries[part], pool, found[part]), axis=1)
        keep[np.arange(start, start + len(nearest_of_all)), nearest_of_all] = False
    kept: NDArray[Any] = found[keep]
    return kept.reshape(len(found), -1)
