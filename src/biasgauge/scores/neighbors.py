"""Exact nearest neighbors by cosine, in blocks whose size only the vocabulary decides.

A threshold from a sample of columns passes a few hundred candidates per row. Where some are so close at the k-th place
that rounding could decide, they are compared again in double precision, and equal ones by their row: so the result is
the same whatever the number of threads, the block size or the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock, local

import numpy as np

from biasgauge.core import Flags, Floats, Places, Singles, Vectors, all_lengths, unit_rows

ROUNDING = 4e-6
"""Similarities of unit vectors that differ by less than this may be in the wrong order in single precision."""

DIGITS = 12
"""Decimals to which exact similarities are rounded, so that equal vectors tie on every machine."""

BLOCK_BYTES = 2**26
_MOST_ROWS = 4096
SAMPLE = 2048
_EXPECTED_PASSES = 4
LEAST_RANK = 12

_TILE_SAMPLE = 1536

KEPT = 2**30
"""Bytes of unit vectors that are kept beside the vectors; more are made when they are used."""
_LEAST, _MOST = 1e-12, 1e12  # lengths by which products of single precision can be divided without loss
_COLUMNS = 2**18


class UnitPool:
    """Unit vectors of a large vocabulary without a second copy of it; made when asked for, with the bits of a copy."""

    def __init__(self, vectors: Vectors, lengths: Floats) -> None:
        self._vectors = vectors
        self._scales: Singles = (1 / lengths).astype(np.float32)
        self.shape = vectors.shape

    @classmethod
    def from_vectors(cls, vectors: Vectors, kept: int = KEPT) -> UnitPool | None:
        """The pool; None where a copy is needed, of other numbers than single precision or of extreme lengths.

        None, too, of vectors of at most `kept` bytes: a copy of them is cheap.
        """
        if vectors.dtype != np.float32 or vectors.nbytes <= kept:
            return None
        lengths = all_lengths(vectors)
        return cls(vectors, lengths) if ((lengths > _LEAST) & (lengths < _MOST)).all() else None

    def __len__(self) -> int:
        return len(self._vectors)

    def __getitem__(self, indices: slice | Places) -> Singles:
        """Unit vectors of some rows; of the shape of `indices`, and dimensions."""
        rows = self._vectors[indices]
        units: Singles = unit_rows(rows.reshape(-1, rows.shape[-1]).astype(np.float64)).astype(np.float32)
        return units.reshape(rows.shape)

    def similarities(self, queries: Singles, out: Singles) -> Singles:
        """Cosines of unit vectors with every row, divided by lengths after the product; they err no more for that."""
        np.matmul(queries, self._vectors.T, out=out)
        for start in range(0, len(self), _COLUMNS):
            chunk = slice(start, start + _COLUMNS)
            out[:, chunk] *= self._scales[chunk]
        return out


def block_rows(pool: int, block_bytes: int = BLOCK_BYTES) -> int:
    """Rows of queries in a block: as many as keep the similarities within `block_bytes`, from 16 to 4,096."""
    return min(max(block_bytes // (4 * max(pool, 1)), 16), _MOST_ROWS)


class Workspace:
    """Memory for the similarities of one block: fresh pages would cost a third of the product's time."""

    def __init__(self, rows: int, pool: int) -> None:
        self.similarities = np.empty((rows, pool), np.float32)
        self.passed = np.empty((rows, pool), np.bool_)


def nearest(
    queries: Singles,
    pool: Singles | UnitPool,
    k: int,
    self_index: Places,
    workspace: Workspace | None = None,
    *,
    sample: int = SAMPLE,
    least_rank: int = LEAST_RANK,
) -> Places:
    """Rows of the `k` nearest unit vectors of `pool` (more than k) for each of a block of unit vectors, in no order.

    `self_index` is the row of each query in the pool, which is left out, −1 where it has none; `workspace` is
    memory to compute in, for many blocks after each other. The threshold of a row is a similarity of rank `least_rank`
    or beyond among about `sample` vectors of the pool.
    """
    workspace = workspace or Workspace(len(queries), len(pool))
    similarities = workspace.similarities[: len(queries)]
    if isinstance(pool, UnitPool):
        pool.similarities(queries, similarities)
    else:
        np.matmul(queries, pool.T, out=similarities)
    inside = np.flatnonzero(self_index >= 0)
    similarities[inside, self_index[inside]] = -np.inf
    least = thresholds(similarities[:, :: max(len(pool) // sample, 1)], k, len(pool), least_rank)
    columns, values = _candidates(similarities, least, workspace.passed[: len(queries)], k)
    return best(queries, pool, k, columns, values)


def _candidates(similarities: Singles, least: Singles, passed: Flags, k: int) -> tuple[Places, Singles]:
    """Columns and similarities of everything that may be among the k best, padded with −1 and −infinity."""
    rows, size = similarities.shape
    np.greater_equal(similarities, least[:, None], out=passed)
    flat, counts = set_places(passed)
    if counts.min() < k:
        for row in np.flatnonzero(counts < k).tolist():  # the sample misled: keep all that reach the k-th value
            passed[row] = similarities[row] >= np.partition(similarities[row], size - k)[size - k] - ROUNDING
        flat, counts = set_places(passed)
    widest = int(counts.max())
    before = np.cumsum(counts) - counts
    slots = np.arange(len(flat)) + np.repeat(np.arange(rows) * widest - before, counts)
    columns = np.full(rows * widest, -1, np.intp)
    values = np.full(rows * widest, -np.inf, np.float32)
    columns[slots] = flat - np.repeat(np.arange(rows) * size, counts)
    values[slots] = similarities.ravel()[flat]
    return columns.reshape(rows, widest), values.reshape(rows, widest)


def thresholds(sample: Singles, k: int, size: int, least_rank: int = LEAST_RANK) -> Singles:
    """For each row a value that about four times k of `size` similarities reach, from an even sample of them."""
    rank = max(round(_EXPECTED_PASSES * k / size * sample.shape[1]), least_rank)
    if rank >= sample.shape[1]:
        return np.full(len(sample), -np.finfo(np.float32).max, np.float32)
    position = sample.shape[1] - rank
    values: Singles = np.partition(sample, position, axis=1)[:, position] - np.float32(ROUNDING)
    return values


def set_places(passed: Flags) -> tuple[Places, Places]:
    """Return flat indices of the true entries, and their count per row; few are true, so eight are tested at once."""
    flat = passed.ravel()
    aligned = len(flat) // 8 * 8
    words = np.flatnonzero(flat[:aligned].view(np.uint64) != 0)
    inside = np.flatnonzero(flat[:aligned].view(np.uint64)[words].view(np.bool_))
    indices = np.concatenate([words[inside >> 3] * 8 + (inside & 7), aligned + np.flatnonzero(flat[aligned:])])
    ends = np.searchsorted(indices, np.arange(len(passed) + 1) * passed.shape[1])
    return indices, np.diff(ends)


def best(queries: Singles, pool: Singles | UnitPool, k: int, columns: Places, values: Singles) -> Places:
    """Keep the k best candidates of each row; compare again in double precision what rounding could decide."""
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


def exact_similarities(queries: Singles, pool: Singles | UnitPool, rows: Places) -> Floats:
    """Similarity of each query with the vectors at its rows of the pool, in double precision."""
    products = np.einsum("ijk,ik->ij", pool[rows].astype(np.float64), queries.astype(np.float64))
    rounded: Floats = np.round(products, DIGITS)
    return rounded


def drop_nearest(
    queries: Singles, pool: Singles | UnitPool, neighbors: Places, block_bytes: int = BLOCK_BYTES
) -> Places:
    """Leave out the nearest of each row's neighbors, the first in the pool among equals.

    Vectors of neighbors are gathered in blocks of `block_bytes`.
    """
    neighbors = np.sort(neighbors, axis=1)
    keep = np.ones(neighbors.shape, dtype=bool)
    step = max(block_bytes // (8 * neighbors.shape[1] * pool.shape[1]), 1)
    for start in range(0, len(neighbors), step):
        chunk = slice(start, start + step)
        nearest_of_all = np.argmax(exact_similarities(queries[chunk], pool, neighbors[chunk]), axis=1)
        keep[np.arange(start, start + len(nearest_of_all)), nearest_of_all] = False
    remaining: Places = neighbors[keep]
    return remaining.reshape(len(neighbors), -1)


class AllPairs:
    """The neighbors of every vector of a pool within it: each similarity is computed once, for both its ends.

    Tiles of the upper triangle are compared with the thresholds of their rows and of their columns; what passes is kept
    by row, and cut back to the best when a row's room is full, which raises its threshold. Run the jobs of
    `first_jobs`, then those of `second_jobs`, each kind in any order, then ask for `neighbors`, part by part.

    A tile has `tile` rows and columns; a row has room for `room` candidates, more than k: when None, for 3 k and at
    least 256 more than k.
    """

    def __init__(
        self, pool: Singles | UnitPool, k: int, *, exclude_self: bool, tile: int = 1024, room: int | None = None
    ) -> None:
        self._pool = pool
        self._k = k
        self._exclude_self = exclude_self
        self.tile = tile
        self._room = max(3 * k, k + 256) if room is None else room
        self._threshold = np.empty(len(pool), np.float32)
        self._count = np.zeros(len(pool), np.intp)
        self._column = np.empty((len(pool), self._room), np.int32)
        self._value = np.empty((len(pool), self._room), np.float32)
        self._misled = np.zeros(len(pool), np.bool_)
        self._lock = Lock()
        self._thread_memory = local()

    def first_jobs(self) -> Iterator[Callable[[], None]]:
        """Find a threshold for every row from an even sample of the pool."""
        sample = np.ascontiguousarray(self._pool[:: max(len(self._pool) // _TILE_SAMPLE, 1)])
        for start in range(0, len(self._pool), self.tile):
            yield partial(self._sample, sample, start)

    def second_jobs(self) -> Iterator[Callable[[], None]]:
        """Compare every tile of the upper triangle."""
        for row in range(0, len(self._pool), self.tile):
            for column in range(row, len(self._pool), self.tile):
                yield partial(self._compare, row, column)

    def _sample(self, sample: Singles, start: int) -> None:
        similarities = self._pool[start : start + self.tile] @ sample.T
        self._threshold[start : start + self.tile] = thresholds(similarities, self._k, len(self._pool))

    def _compare(self, row: int, column: int) -> None:
        rows, columns = self._pool[row : row + self.tile], self._pool[column : column + self.tile]
        size = len(rows) * len(columns)
        if not hasattr(self._thread_memory, "similarities"):
            self._thread_memory.similarities, self._thread_memory.passed = (
                np.empty(self.tile**2, np.float32),
                np.empty(self.tile**2, np.bool_),
            )
        flat = self._thread_memory.similarities[:size]
        similarities = np.matmul(rows, columns.T, out=flat.reshape(len(rows), len(columns)))
        passed = self._thread_memory.passed[:size].reshape(similarities.shape)
        if row == column and self._exclude_self:
            np.fill_diagonal(similarities, -np.inf)
        np.greater_equal(similarities, self._threshold[row : row + self.tile, None], out=passed)
        indices, counts = set_places(passed)
        self._add(row, counts, column + indices % len(columns), flat[indices])
        if row != column:
            np.greater_equal(similarities, self._threshold[column : column + self.tile], out=passed)
            indices, _ = set_places(passed)
            ends = (indices % len(columns)).astype(np.uint16)  # 16 bits sort by radix
            indices = indices[np.argsort(ends, kind="stable")]
            self._add(column, np.bincount(ends, minlength=len(columns)), row + indices // len(columns), flat[indices])

    def _add(self, first: int, counts: Places, columns: Places, values: Singles) -> None:
        """Keep candidates of the rows from `first` on, `counts` of them for each, one row after the other."""
        rows = slice(first, first + len(counts))
        with self._lock:
            full = np.flatnonzero(self._count[rows] + counts > self._room)
            if len(full):
                self._cut(first + full)
            fits = self._count[rows] + counts <= self._room
            if not fits.all():  # too many alike at once: such a row is done again by itself
                self._misled[rows] |= ~fits
                fitting = np.repeat(fits, counts)
                columns, values, counts = columns[fitting], values[fitting], np.where(fits, counts, 0)
            before = np.cumsum(counts) - counts
            slots = np.repeat(np.arange(first, rows.stop) * self._room + self._count[rows] - before, counts)
            slots += np.arange(len(slots))
            self._column.reshape(-1)[slots] = columns
            self._value.reshape(-1)[slots] = values
            self._count[rows] += counts

    def _cut(self, rows: Places) -> None:
        """Keep the best of some rows, with all that rounding could put in their place, and raise their thresholds."""
        rows = rows[self._count[rows] > self._k]
        if not len(rows):
            return
        filled = np.arange(self._room) < self._count[rows, None]
        values = np.where(filled, self._value[rows], -np.inf)
        position = self._room - self._k
        least = np.partition(values, position, axis=1)[:, position] - np.float32(ROUNDING)
        good = values >= least[:, None]
        order = np.argsort(~good, axis=1, kind="stable")
        self._column[rows] = np.take_along_axis(self._column[rows], order, axis=1)
        self._value[rows] = np.take_along_axis(values, order, axis=1)
        self._count[rows] = np.count_nonzero(good, axis=1)
        self._threshold[rows] = np.maximum(self._threshold[rows], least)

    def neighbors(self, chunk: slice) -> Places:
        """Rows of the k nearest, for some vectors of the pool."""
        filled = np.arange(self._room) < self._count[chunk, None]
        columns = np.where(filled, self._column[chunk], -1).astype(np.intp)
        values = np.where(filled, self._value[chunk], np.float32(-np.inf))
        nearest_rows = np.empty((len(filled), self._k), np.intp)
        misled = self._misled[chunk] | (self._count[chunk] < self._k)
        sound = np.flatnonzero(~misled)
        if len(sound):
            nearest_rows[sound] = best(self._pool[chunk][sound], self._pool, self._k, columns[sound], values[sound])
        again = chunk.start + np.flatnonzero(misled)
        step = block_rows(len(self._pool))
        for start in range(0, len(again), step):
            rows = again[start : start + step]
            self_index = rows if self._exclude_self else np.full(len(rows), -1)
            nearest_rows[rows - chunk.start] = nearest(self._pool[rows], self._pool, self._k, self_index)
        return nearest_rows
