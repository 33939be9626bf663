"""The engine on a GPU, through PyTorch: the same steps as on the CPU, the same results within single precision.

The product may run in reduced precision (TF32), since it only proposes candidates; those that count are compared in
double precision. Where the proposal could have missed one, the row is done again on the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from biasgauge.core import Flags, Places, Singles, unit_singles
from biasgauge.metrics import Linear, Neighborhood
from biasgauge.scores.engine import LARGE, SMALL, Pool, ScoringTask, linear_exact, other_jobs
from biasgauge.scores.neighbors import DIGITS, drop_nearest, nearest

PROPOSAL_ERROR = 2e-3
"""Bound on the error of a TF32 product of unit vectors less a threshold: 2^-10 and 2^-11 for the rounded factors."""

_VOTERS = 16_384
_PADDING = 4
_SHARE = 8
_EXPECTED_PASSES = 4


@dataclass(frozen=True)
class Sizes:
    """Sizes of blocks and samples, on which no result depends.

    Attributes:
        rows: words in a block of linear scores.
        block_bytes: bytes of similarities in a block.
        sample: vectors of the pool from which the threshold of a row is estimated.
        least_rank: lowest rank in that sample that may be the threshold.
        error: bound on the error of a product less a threshold.
    """

    rows: int = 65_536
    block_bytes: int = 2**33
    sample: int = 4096
    least_rank: int = 16
    error: float = PROPOSAL_ERROR


SIZES = Sizes()


def compute(
    task: ScoringTask,
    device: torch.device,
    progress: Callable[[int, int], None] | None = None,
    sizes: Sizes = SIZES,
) -> Singles:
    """Scores, measures × pairs × words; NaN where undefined. As `engine.compute`."""
    scores = np.full((len(task.measures), len(task.first), len(task.rows)), np.nan, np.float32)
    for index, measure in enumerate(task.measures):
        if isinstance(measure, Linear):
            scores[index] = _linear(task, measure, device, sizes.rows)
    for job in other_jobs(task, scores):
        job()
    wanted = {index: measure for index, measure in enumerate(task.measures) if isinstance(measure, Neighborhood)}
    pool = Pool.in_memory(task, threads=_threads()) if wanted else None
    if pool is None or len(pool.unit) <= task.k:
        return scores
    on_device = widen(torch.from_numpy(pool.unit).to(device))
    for exclusion in sorted({measure.self_exclusion for measure in wanted.values()}):
        tables = {
            index: _votes(task, measure, pool, on_device)
            for index, measure in wanted.items()
            if measure.self_exclusion == exclusion
        }
        drop_first = exclusion == "first-hit"
        vote(task, pool, on_device, tables, scores, drop_first=drop_first, progress=progress, sizes=sizes)
    for index, measure in wanted.items():
        scores[index, task.undirected(measure.bias)] = np.nan
    return scores


def vote(
    task: ScoringTask,
    pool: Pool,
    on_device: torch.Tensor,
    tables: Mapping[int, torch.Tensor],
    scores: Singles,
    *,
    drop_first: bool = False,
    progress: Callable[[int, int], None] | None = None,
    sizes: Sizes = SIZES,
) -> None:
    """Find neighbors block by block and write the tallies of each table's votes into the scores."""
    free = torch.cuda.mem_get_info(on_device.device)[0] if on_device.is_cuda else sizes.block_bytes
    compared = 12 * _proposals(task.k + drop_first) * pool.unit.shape[1]
    step = max(min(sizes.block_bytes, free // _SHARE) // max(4 * len(pool.unit), compared), 64)
    for start in range(0, len(task.rows), step):
        chunk = slice(start, start + step)
        neighbors, usable = _neighbors(task, pool, on_device, chunk, sizes, drop_first=drop_first)
        for index, votes in tables.items():
            tally = votes[neighbors].sum(dim=1, dtype=torch.int32).cpu().numpy()
            scores[index, :, chunk] = np.where(usable, (tally / np.float32(task.k)).T, np.nan)
        if progress is not None:
            progress(min(start + step, len(task.rows)), len(task.rows))


def _votes(task: ScoringTask, measure: Neighborhood, pool: Pool, on_device: torch.Tensor) -> torch.Tensor:
    """Vote of each vector of the pool on each pair: pool × pairs, as `Pool.votes`."""
    directions = np.nan_to_num(task.directions(measure.bias)).T
    directions_on_device = torch.from_numpy(directions).to(on_device.device)
    unit = on_device[:, :-_PADDING]

    def block(start: int) -> NDArray[np.int8]:
        bias = (unit[start : start + _VOTERS].double() @ directions_on_device).cpu().numpy()
        pool.recompute_near_zero(task, directions, start, bias)
        return measure.votes(bias)

    with ThreadPoolExecutor(_threads()) as threads:
        blocks = list(threads.map(block, range(0, len(unit), _VOTERS)))
    return torch.from_numpy(np.concatenate(blocks)).to(on_device.device)


def _threads() -> int:
    """Number of CPU threads that prepare data for the GPU: all cores up to 16, since the GPU waits."""
    return min(16, os.cpu_count() or 1)


def _linear(task: ScoringTask, measure: Linear, device: torch.device, block_rows: int) -> Singles:
    directions = task.directions(measure).astype(np.float32)
    directions_on_device = torch.from_numpy(directions).to(device)
    linear_scores = np.empty((len(task.first), len(task.rows)), np.float32)
    for start in range(0, len(task.rows), block_rows):
        chunk = slice(start, start + block_rows)
        with np.errstate(over="ignore"):
            stored = np.ascontiguousarray(task.vectors[task.rows[chunk]], np.float32)
        block = torch.from_numpy(stored).to(device)
        product = directions_on_device @ block.T
        squares = (block * block).sum(dim=1)
        product = product / squares.sqrt() if measure.per_length else product
        linear_scores[:, chunk] = product.cpu().numpy()
        extreme = torch.nonzero(~((squares > SMALL) & (squares < LARGE))).ravel().cpu().numpy()
        if len(extreme):
            per_length = np.full(len(directions), measure.per_length)
            linear_scores[:, start + extreme] = linear_exact(task, task.rows[start + extreme], directions, per_length)
    return linear_scores


def _neighbors(
    task: ScoringTask, pool: Pool, on_device: torch.Tensor, chunk: slice, sizes: Sizes, *, drop_first: bool
) -> tuple[torch.Tensor, Flags]:
    """Return pool indices of the k nearest for a chunk of words, and flags of the words that have a direction."""
    rows = task.rows[chunk]
    indices = pool.pool_index[rows]
    unit_queries = on_device[torch.from_numpy(np.maximum(indices, 0)).to(on_device.device)]
    usable = indices >= 0
    outside = np.flatnonzero(~usable)
    if len(outside):
        queries = _queries(task, rows[outside])
        usable[outside] = queries.any(axis=1)
        unit_queries[torch.from_numpy(outside).to(unit_queries.device)] = widen(
            torch.from_numpy(queries).to(unit_queries.device)
        )
    self_index = np.full(len(rows), -1) if drop_first else indices
    k = task.k + drop_first
    neighbors, sure = _propose(unit_queries, on_device, k, torch.from_numpy(self_index).to(on_device.device), sizes)
    doubtful = torch.nonzero(~sure).ravel().cpu().numpy()
    if len(doubtful):
        again = nearest(_queries(task, rows[doubtful]), pool.unit, k, self_index[doubtful])
        neighbors[torch.from_numpy(doubtful).to(neighbors.device)] = torch.from_numpy(again).to(neighbors.device)
    if drop_first:
        queries = _queries(task, rows)
        neighbors = torch.from_numpy(drop_nearest(queries, pool.unit, neighbors.cpu().numpy())).to(on_device.device)
    return neighbors, usable


def _queries(task: ScoringTask, rows: Places) -> Singles:
    """Unit vectors of some words; zeros, not NaN, where a word has no direction: its neighbors are not used."""
    return np.nan_to_num(unit_singles(task.vectors, rows), copy=False)


def _propose(
    queries: torch.Tensor, pool: torch.Tensor, k: int, self_index: torch.Tensor, sizes: Sizes
) -> tuple[torch.Tensor, torch.Tensor]:
    """The k nearest of each row, and whether that is sure. The last columns of the pool are 1 and zeros (`widen`)."""
    size = len(pool)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    threshold = _threshold(queries, pool, k, sizes)
    # The column of ones subtracts the threshold within the product: what passes is what is not negative.
    queries = torch.cat([queries[:, :-_PADDING], -threshold[:, None], queries[:, 1 - _PADDING :]], dim=1)
    above = queries @ pool.T
    torch.set_float32_matmul_precision(before)
    inside = torch.nonzero(self_index >= 0).ravel()
    above[inside, self_index[inside]] = -torch.inf
    row, column = _passed(above)
    counts = torch.bincount(row, minlength=len(queries))
    widest = int(counts.max())
    slot = torch.arange(len(row), device=pool.device) - (torch.cumsum(counts, 0) - counts)[row]
    columns = torch.full((len(queries), widest), size, dtype=torch.int64, device=pool.device)
    values = torch.full((len(queries), widest), -torch.inf, device=pool.device)
    columns[row, slot] = column
    values[row, slot] = above[row, column]
    keep = min(widest, _proposals(k))
    best = torch.topk(values, keep, dim=1)
    columns = torch.sort(columns.gather(1, best.indices), dim=1).values
    exact = _exact(queries, pool, columns)
    order = torch.sort(exact, dim=1, descending=True, stable=True)
    chosen = columns.gather(1, order.indices[:, :k])
    if chosen.shape[1] < k:
        chosen = torch.nn.functional.pad(chosen, (0, k - chosen.shape[1]))
    least = order.values[:, min(k, keep) - 1]
    # What was not compared is at most as near as the last proposal, or as the threshold that it did not reach.
    missed = threshold + torch.where(counts > keep, best.values[:, -1], 0) + sizes.error
    return chosen, (counts >= k) & (least > missed.double())


def _proposals(k: int) -> int:
    """Number of the nearest by the product that are compared in double precision."""
    return k + max(k // 4, 16)


def widen(unit: torch.Tensor) -> torch.Tensor:
    """Add a column of ones, for thresholds, and zeros up to a width that the hardware likes."""
    wide = torch.nn.functional.pad(unit, (0, _PADDING))
    wide[:, -_PADDING] = 1
    return wide


def _threshold(queries: torch.Tensor, pool: torch.Tensor, k: int, sizes: Sizes) -> torch.Tensor:
    """For each row a similarity that about four times k vectors reach, from an even sample of the pool."""
    sample = pool[:: max(len(pool) // sizes.sample, 1), :-_PADDING]
    rank = max(round(_EXPECTED_PASSES * k / len(pool) * len(sample)), sizes.least_rank)
    if rank >= len(sample):
        return torch.full((len(queries),), -2.0, device=pool.device)
    return torch.topk(queries[:, :-_PADDING] @ sample.T, rank, dim=1).values[:, -1]


def _passed(above: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows and columns of what is not negative, in order; few are, so eight are looked at together."""
    size = above.shape[1]
    flat = (above >= 0).view(-1)
    aligned = len(flat) // 8 * 8
    words = torch.nonzero(flat[:aligned].view(torch.int64)).ravel()
    indices = (words[:, None] * 8 + torch.arange(8, device=above.device)).view(-1)
    indices = torch.cat([indices[flat[indices]], aligned + torch.nonzero(flat[aligned:]).ravel()])
    return indices // size, indices % size


def _exact(queries: torch.Tensor, pool: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Similarities in double precision, rounded as on the CPU; −infinity for the padding."""
    size = pool.shape[0]
    gathered = pool[columns.clamp(max=size - 1)].double()[:, :, :-_PADDING]
    exact = torch.round(torch.einsum("ijk,ik->ij", gathered, queries[:, :-_PADDING].double()), decimals=DIGITS)
    return torch.where(columns < size, exact, -torch.inf)
