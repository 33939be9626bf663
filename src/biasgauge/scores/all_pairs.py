"""Nearest neighbors of every vector of a pool within the pool: each similarity is computed once, for both its ends.

That is half the product that `neighbors.nearest` needs over all rows. Tiles of the upper triangle are compared with
the thresholds of their rows and of their columns; what passes is kept by row, and cut back to the best when a row's
room is full, which raises its threshold. Doubts are settled as there, so the neighbors are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock, local

import numpy as np
from numpy.typing import NDArray

from biasgauge.scores.neighbors import ROUNDING, best, block_rows, nearest, set_places, thresholds

TILE = 1024
_SAMPLE = 1536
_ROOM = 3
_LEAST_ROOM = 256


class AllPairs:
    """The search. Run the jobs of `first_jobs`, then those of `second_jobs`, then ask for `neighbors`, part by part.

    Jobs of one kind may run on several threads and in any order.
    """

    def __init__(self, pool: NDArray[np.float32], k: int, *, exclude_self: bool) -> None:
        self._pool = pool
        self._k = k
        self._exclude_self = exclude_self
        self._room = max(_ROOM * k, k + _LEAST_ROOM)
        self._threshold = np.empty(len(pool), np.float32)
        self._count = np.zeros(len(pool), np.intp)
        self._column = np.empty((len(pool), self._room), np.int32)
        self._value = np.empty((len(pool), self._room), np.float32)
        self._misled = np.zeros(len(pool), np.bool_)
        self._lock = Lock()
        self._own = local()

    def first_jobs(self) -> Iterator[Callable[[], None]]:
        """Find a threshold for every row from an even sample of the pool."""
        sample = np.ascontiguousarray(self._pool[:: max(len(self._pool) // _SAMPLE, 1)])
        for start in range(0, len(self._pool), TILE):
            yield partial(self._sample, sample, start)

    def second_jobs(self) -> Iterator[Callable[[], None]]:
        """Compare every tile of the upper triangle."""
        for row in range(0, len(self._pool), TILE):
            for column in range(row, len(self._pool), TILE):
                yield partial(self._compare, row, column)

    def _sample(self, sample: NDArray[np.float32], start: int) -> None:
        similarities = self._pool[start : start + TILE] @ sample.T
        self._threshold[start : start + TILE] = thresholds(similarities, self._k, len(self._pool))

    def _compare(self, row: int, column: int) -> None:
        rows, columns = self._pool[row : row + TILE], self._pool[column : column + TILE]
        size = len(rows) * len(columns)
        if not hasattr(self._own, "similarities"):
            self._own.similarities, self._own.passed = np.empty(TILE**2, np.float32), np.empty(TILE**2, np.bool_)
        flat = self._own.similarities[:size]
        similarities = np.matmul(rows, columns.T, out=flat.reshape(len(rows), len(columns)))
        passed = self._own.passed[:size].reshape(similarities.shape)
        if row == column and self._exclude_self:
            np.fill_diagonal(similarities, -np.inf)
        np.greater_equal(similarities, self._threshold[row : row + TILE, None], out=passed)
        places, counts = set_places(passed)
        self._add(row, counts, column + places % len(columns), flat[places])
        if row != column:
            np.greater_equal(similarities, self._threshold[column : column + TILE], out=passed)
            places, _ = set_places(passed)
            ends = (places % len(columns)).astype(np.uint16)  # 16 bits sort by radix
            places = places[np.argsort(ends, kind="stable")]
            self._add(column, np.bincount(ends, minlength=len(columns)), row + places // len(columns), flat[places])

    def _add(
        self, first: int, counts: NDArray[np.intp], columns: NDArray[np.intp], values: NDArray[np.float32]
    ) -> None:
        """Keep candidates of the rows from `first` on, `counts` of them for each, one row after the other."""
        rows = slice(first, first + len(counts))
        with self._lock:
            full = np.flatnonzero(self._count[rows] + counts > self._room)
            if len(full):
                self._cut(first + full)
            fits = self._count[rows] + counts <= self._room
            if not fits.all():  # too many alike at once: such a row is done again by itself
                self._misled[rows] |= ~fits
                kept = np.repeat(fits, counts)
                columns, values, counts = columns[kept], values[kept], np.where(fits, counts, 0)
            before = np.cumsum(counts) - counts
            slots = np.repeat(np.arange(first, rows.stop) * self._room + self._count[rows] - before, counts)
            slots += np.arange(len(slots))
            self._column.reshape(-1)[slots] = columns
            self._value.reshape(-1)[slots] = values
            self._count[rows] += counts

    def _cut(self, rows: NDArray[np.intp]) -> None:
        """Keep the best of some rows, with all that rounding could put in their place, and raise their thresholds."""
        rows = rows[self._count[rows] > self._k]
        if not len(rows):
            return
        held = np.arange(self._room) < self._count[rows, None]
        values = np.where(held, self._value[rows], -np.inf)
        place = self._room - self._k
        least = np.partition(values, place, axis=1)[:, place] - np.float32(ROUNDING)
        good = values >= least[:, None]
        order = np.argsort(~good, axis=1, kind="stable")
        self._column[rows] = np.take_along_axis(self._column[rows], order, axis=1)
        self._value[rows] = np.take_along_axis(values, order, axis=1)
        self._count[rows] = np.count_nonzero(good, axis=1)
        self._threshold[rows] = np.maximum(self._threshold[rows], least)

    def neighbors(self, part: slice) -> NDArray[np.intp]:
        """Places of the k nearest, for some vectors of the pool."""
        held = np.arange(self._room) < self._count[part, None]
        columns = np.where(held, self._column[part], -1).astype(np.intp)
        values = np.where(held, self._value[part], np.float32(-np.inf))
        found = np.empty((len(held), self._k), np.intp)
        misled = self._misled[part] | (self._count[part] < self._k)
        sound = np.flatnonzero(~misled)
        if len(sound):
            found[sound] = best(self._pool[part][sound], self._pool, self._k, columns[sound], values[sound])
        again = part.start + np.flatnonzero(misled)
        step = block_rows(len(self._pool))
        for start in range(0, len(again), step):
            rows = again[start : start + step]
            own = rows if self._exclude_self else np.full(len(rows), -1)
            found[rows - part.start] = nearest(self._pool[rows], self._pool, self._k, own)
        return found
