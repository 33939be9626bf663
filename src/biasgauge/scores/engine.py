"""Computes all measures of one model, block by block: memory is set by a block, not by the vocabulary.

Linear measures of all pairs are one matrix product per block; neighbors are found once per block, and their votes
looked up in a table of signs. Blocks are computed alike wherever they run, so that results do not depend on threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import local

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import (
    Flags,
    Floats,
    Places,
    Singles,
    Vectors,
    has_direction,
    row_lengths,
    take_rows,
    unit_rows,
    unit_singles,
)
from biasgauge.errors import ParameterError
from biasgauge.metrics import Linear, Measure, Neighborhood
from biasgauge.scores.neighbors import (
    BLOCK_BYTES,
    KEPT,
    AllPairs,
    UnitPool,
    Workspace,
    block_rows,
    drop_nearest,
    nearest,
)
from biasgauge.stats import on_one_thread

Progress = Callable[[int, int], None]

MOST = 0.6
"""Share of a pool from which on the neighbors of all of it cost less than those of the words alone."""

LEAST_FOR_ALL_PAIRS = 8192
"""A smaller pool is searched word by word: there is nothing to gain."""

SMALL, LARGE = 1e-30, 1e30
"""Between these, the square of a length is safe in single precision."""

_KERNEL_ROWS = 8  # what libraries of matrix products compute at a time, or a divisor of it: fewer rows cost as much
_DOUBT = 1e-6  # a bias of a single-precision unit vector this small may have the wrong sign


@dataclass(frozen=True)
class ScoringTask:
    """Work to do on one model: which target words, pairs (by their rows) and measures; which k neighbors vote.

    The rest is sizes, on which no score depends: rows of vectors in a block; bytes of similarities in a block; from how
    many vectors on a whole pool may be searched at once; and up to how many bytes unit vectors are kept beside them.
    """

    vectors: Vectors
    rows: Places
    first: Places
    second: Places
    measures: Sequence[Measure]
    k: int
    pool: Places | None = None
    block_rows: int = 1024  # in double precision they stay in the cache of the processor
    block_bytes: int = BLOCK_BYTES
    least_for_all_pairs: int = LEAST_FOR_ALL_PAIRS
    kept_bytes: int = KEPT

    def directions(self, measure: Linear) -> Floats:
        """Direction of each pair, pairs × dimensions; NaN where there is none."""
        first, second = (self.vectors[rows].astype(np.float64) for rows in (self.first, self.second))
        return measure.direction(first, second)

    def undirected(self, measure: Linear) -> Flags:
        """Flag the pairs without a direction: no score on them is defined."""
        return np.asarray(np.isnan(self.directions(measure)).any(axis=1))


@dataclass(frozen=True)
class Pool:
    """The vectors that may be neighbors: of length 1, zero vectors left out.

    `rows` are those of the model; `pool_index` is the index in the pool of each row of the model, −1 where it has none.
    """

    unit: Singles | UnitPool
    rows: Places
    pool_index: Places

    @classmethod
    def from_task(cls, task: ScoringTask) -> Pool:
        """Scale the pool's vectors: once, or each time where a copy of them would fill the memory."""
        large = UnitPool.from_vectors(task.vectors, task.kept_bytes) if task.pool is None else None
        if large is None:
            return cls.in_memory(task)
        rows = np.arange(len(large))
        return cls(large, rows, rows)

    @classmethod
    def in_memory(cls, task: ScoringTask, *, threads: int = 1) -> Pool:
        """Scale the pool's vectors once."""
        rows = np.arange(len(task.vectors)) if task.pool is None else np.unique(task.pool)
        unit = unit_singles(task.vectors, None if task.pool is None else rows, threads=threads)
        usable = has_direction(unit)
        if not usable.all():
            unit, rows = unit[usable], rows[usable]
        pool_index = np.full(len(task.vectors), -1, np.intp)
        pool_index[rows] = np.arange(len(rows))
        return cls(unit, rows, pool_index)

    def votes(self, task: ScoringTask, measure: Neighborhood) -> NDArray[np.int8]:
        """Vote of each vector of the pool on each pair: pool × pairs, +1, 0 or −1."""
        directions = np.nan_to_num(task.directions(measure.bias)).T
        votes = np.empty((len(self.unit), directions.shape[1]), np.int8)
        for start in range(0, len(self.unit), task.block_rows):
            bias = self.unit[start : start + task.block_rows].astype(np.float64) @ directions
            self.recompute_near_zero(task, directions, start, bias)
            votes[start : start + task.block_rows] = measure.votes(bias)
        return votes

    def recompute_near_zero(self, task: ScoringTask, directions: Floats, start: int, bias: Floats) -> None:
        """Compute again, in place and from vectors as stored, biases whose sign rounding may have decided."""
        doubtful = np.flatnonzero((np.abs(bias) < _DOUBT).any(axis=1))
        if len(doubtful):
            stored = task.vectors[self.rows[start + doubtful]].astype(np.float64)
            bias[doubtful] = unit_rows(stored) @ directions


def compute(task: ScoringTask, *, n_jobs: int | None = None, progress: Progress | None = None) -> Singles:
    """Scores, measures × pairs × words; NaN where a score is undefined: a zero vector, too few neighbors."""
    scores = np.full((len(task.measures), len(task.first), len(task.rows)), np.nan, np.float32)
    # Jobs of one phase may run in any order; a phase begins when the one before it is done.
    phases = [[*_linear_jobs(task, scores), *other_jobs(task, scores)], *map(list, _neighbor_phases(task, scores))]
    total = sum(map(len, phases))
    run_phases(phases, n_jobs, None if progress is None else lambda done: progress(done, total))
    for index, measure in enumerate(task.measures):
        if isinstance(measure, Neighborhood):
            scores[index, task.undirected(measure.bias)] = np.nan
    return scores


def run_phases(
    phases: Iterable[Iterable[Callable[[], None]]], n_jobs: int | None, progress: Callable[[int], None] | None = None
) -> None:
    """Run the jobs of each phase on threads, one phase after the other; products stay on the thread that asks."""
    done = 0
    with on_one_thread(), ThreadPoolExecutor(n_jobs or os.cpu_count() or 1) as threads:
        for phase in phases:
            for _ in threads.map(lambda job: job(), phase):
                done += 1
                if progress is not None:
                    progress(done)


def _linear_jobs(task: ScoringTask, scores: Singles) -> Iterator[Callable[[], None]]:
    measure_indices = [index for index, measure in enumerate(task.measures) if isinstance(measure, Linear)]
    if not measure_indices:
        return
    measures = [measure for measure in task.measures if isinstance(measure, Linear)]
    directions = np.concatenate([task.directions(measure) for measure in measures]).astype(np.float32)
    per_length = np.repeat([measure.per_length for measure in measures], len(task.first))
    for start in range(0, len(task.rows), task.block_rows):
        chunk = slice(start, start + task.block_rows)
        yield partial(_linear_block, task, scores, measure_indices, directions, per_length, chunk)


def other_jobs(task: ScoringTask, scores: Singles) -> Iterator[Callable[[], None]]:
    """Blocks of measures of other kinds, which compute their own scores."""
    for index, measure in enumerate(task.measures):
        if not isinstance(measure, Linear | Neighborhood):
            for start in range(0, len(task.rows), task.block_rows):
                yield partial(_other_block, task, scores[index], measure, slice(start, start + task.block_rows))


def _other_block(task: ScoringTask, scores: Singles, measure: Measure, chunk: slice) -> None:
    words, first, second = (task.vectors[at].astype(np.float64) for at in (task.rows[chunk], task.first, task.second))
    values = np.asarray(measure.scores(words, first, second), np.float64)
    if values.shape != (len(first), len(words)):
        raise ParameterError(
            f"The measure {measure.name!r} must give scores of the shape pairs × words, {(len(first), len(words))}. "
            f"Got {values.shape}."
        )
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    single[~np.isfinite(single)] = np.nan
    scores[:, chunk] = single


def _linear_block(
    task: ScoringTask, scores: Singles, measure_indices: list[int], directions: Singles, per_length: Flags, chunk: slice
) -> None:
    rows = task.rows[chunk]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # `linear_exact` does those again
        block = take_rows(task.vectors, rows).astype(np.float32, copy=False).astype(np.float64)
        squares = np.einsum("ij,ij->i", block, block)
        lengths = np.sqrt(squares)
        products = _rounded_products(directions, block, lengths)
        products[per_length] /= lengths.astype(np.float32)
    extreme = np.flatnonzero(~((squares > SMALL) & (squares < LARGE)))
    if len(extreme):
        products[:, extreme] = linear_exact(task, rows[extreme], directions, per_length)
    products[np.isnan(directions[:, 0])] = np.nan  # one NaN of the many that there are: same input, same bytes
    scores[measure_indices, :, chunk] = products.reshape(len(measure_indices), len(task.first), len(rows))


def _rounded_products(directions: Singles, block: Floats, lengths: Floats) -> Singles:
    """Products of directions and words, rounded to single precision, the same wherever a word stands in its block.

    The last bits of a matrix product depend on its shape and on the position in it. Where they could decide the
    rounding, the product is summed again in a fixed order: some in ten thousand.
    """
    wide = np.zeros((-(-len(directions) // _KERNEL_ROWS) * _KERNEL_ROWS, directions.shape[1]))
    wide[: len(directions)] = directions
    products = (wide @ block.T)[: len(directions)]
    # Any two orders of summing n products a·b differ by at most n ε ‖a‖ ‖b‖; twice that leaves room for rounding here.
    error = np.outer(np.sqrt(np.einsum("ij,ij->i", wide, wide))[: len(directions)], lengths)
    error *= 2 * block.shape[1] * np.finfo(np.float64).eps
    rounded, upper = (products - error).astype(np.float32), (products + error).astype(np.float32)
    doubtful = np.flatnonzero(rounded < upper)  # nothing where there is no direction: NaN is not less than NaN
    for start in range(0, len(doubtful), len(block)):
        pairs, words = np.divmod(doubtful[start : start + len(block)], len(block))
        rounded[pairs, words] = np.einsum("ij,ij->i", wide[pairs], block[words])
    return rounded


def linear_exact(task: ScoringTask, rows: Places, directions: Singles, per_length: Flags) -> Floats:
    """Linear scores, directions × words, of vectors whose squares single precision cannot hold; NaN for zero ones."""
    stored = task.vectors[rows].astype(np.float64)
    lengths = row_lengths(stored)
    products = _rounded_products(directions, unit_rows(stored), np.ones(len(rows))).astype(np.float64)
    products[~per_length] *= lengths
    products[:, lengths == 0] = np.nan
    return products


def _neighbor_phases(task: ScoringTask, scores: Singles) -> Iterator[Iterator[Callable[[], None]]]:
    wanted = {index: measure for index, measure in enumerate(task.measures) if isinstance(measure, Neighborhood)}
    pool = Pool.from_task(task) if wanted else None
    if pool is None or len(pool.unit) <= task.k:
        return
    for exclusion in sorted({measure.self_exclusion for measure in wanted.values()}):
        tables = {
            index: pool.votes(task, measure) for index, measure in wanted.items() if measure.self_exclusion == exclusion
        }
        yield from _Voting(task, scores, pool, tables, drop_first=exclusion == "first-hit").phases()


@dataclass(frozen=True)
class _Voting:
    """The measures that leave the word itself out, or the nearest vector: their tables of votes by their places."""

    task: ScoringTask
    scores: Singles
    pool: Pool
    tables: dict[int, NDArray[np.int8]]
    drop_first: bool

    @property
    def _k(self) -> int:
        return self.task.k + self.drop_first

    def phases(self) -> Iterator[Iterator[Callable[[], None]]]:
        if self._all_pairs_is_cheaper():
            search = AllPairs(self.pool.unit, self._k, exclude_self=not self.drop_first)
            yield search.first_jobs()
            yield search.second_jobs()
            yield self._jobs_by_pool(search)
        else:
            yield self._jobs_by_word()

    def _all_pairs_is_cheaper(self) -> bool:
        """Return true if finding the neighbors of the whole pool costs less than finding those of the words alone."""
        indices = self.pool.pool_index[self.task.rows]
        return (
            len(self.pool.unit) >= self.task.least_for_all_pairs
            and len(np.unique(indices)) > MOST * len(self.pool.unit)
            and not self.task.vectors[self.task.rows[indices < 0]].any()  # what is not in the pool has no direction
        )

    def _jobs_by_pool(self, search: AllPairs) -> Iterator[Callable[[], None]]:
        indices = self.pool.pool_index[self.task.rows]
        order = np.argsort(indices, kind="stable")
        for start in range(0, len(self.pool.unit), search.tile):
            chunk = slice(start, min(start + search.tile, len(self.pool.unit)))
            words = order[slice(*np.searchsorted(indices[order], (chunk.start, chunk.stop)))]
            if len(words):
                yield partial(self._tally_pool_chunk, search, chunk, words)

    def _tally_pool_chunk(self, search: AllPairs, chunk: slice, words: Places) -> None:
        neighbors = self._leave_out(self.pool.unit[chunk], search.neighbors(chunk))
        self._tally(words, neighbors[self.pool.pool_index[self.task.rows[words]] - chunk.start])

    def _jobs_by_word(self) -> Iterator[Callable[[], None]]:
        step = block_rows(len(self.pool.unit), self.task.block_bytes)
        workspaces = local()
        words = np.arange(len(self.task.rows))
        for start in range(0, len(words), step):
            yield partial(self._tally_words, words[start : start + step], workspaces)

    def _tally_words(self, words: Places, workspaces: local) -> None:
        rows = self.task.rows[words]
        queries = unit_singles(self.task.vectors, rows)
        directed = has_direction(queries)
        queries[~directed] = 0  # has neighbors that nobody asks for
        self_index = np.full(len(rows), -1) if self.drop_first else self.pool.pool_index[rows]
        if not hasattr(workspaces, "workspace"):
            rows_at_once = block_rows(len(self.pool.unit), self.task.block_bytes)
            workspaces.workspace = Workspace(rows_at_once, len(self.pool.unit))
        neighbors = self._leave_out(
            queries, nearest(queries, self.pool.unit, self._k, self_index, workspaces.workspace)
        )
        self._tally(words[directed], neighbors[directed])

    def _leave_out(self, queries: Singles, neighbors: Places) -> Places:
        if not self.drop_first:
            return neighbors
        return drop_nearest(queries, self.pool.unit, neighbors, self.task.block_bytes)

    def _tally(self, words: Places, neighbors: Places) -> None:
        """Write the scores of some words, from the places of their neighbors."""
        for index, votes in self.tables.items():
            self.scores[index][:, words] = (votes[neighbors].sum(axis=1, dtype=np.int32) / np.float32(self.task.k)).T
