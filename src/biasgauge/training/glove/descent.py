"""The descent of GloVe: cells visited one by one, each a step for two vectors and two biases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import ParameterError
from biasgauge.training.compiled import compiled
from biasgauge.training.glove.lanes import product, step
from biasgauge.training.lanes import LINE, fetch_row, padded
from biasgauge.training.stream import fill_uniform, stream

_ONE = np.float32(1)
_BOUND = np.float32(100)
"""Gradients of vectors are held within ± this, before eta, as the official tool does."""
_AHEAD = 4
"""The rows of the cell that is so many steps away are fetched from main memory meanwhile."""
_PIECE = 1 << 21
"""Cells between two reports of progress."""


def first_weights(count: int, dim: int, seed: int) -> NDArray[np.float32]:
    """Random vectors and biases in ±1 / (2 dim), sums of squares of 0: rows as `glove_lanes` lays them out."""
    width = padded(dim)
    weights = _aligned(count, -(-(2 * width + 2) // LINE) * LINE)
    state = stream("first weights", seed)
    fill_uniform(weights, dim, 1.0 / dim, state)
    biases = np.empty((count, 1), np.float32)
    fill_uniform(biases, 1, 1.0 / dim, state)
    weights[:, 2 * width] = biases[:, 0]
    return weights


def _aligned(rows: int, width: int) -> NDArray[np.float32]:
    """Zeros whose rows begin where lines of the cache do, if the width is a whole number of lines."""
    line = LINE * np.dtype(np.float32).itemsize
    raw = np.zeros(rows * width * 4 + line, np.uint8)
    start = -raw.ctypes.data % line
    return raw[start : start + rows * width * 4].view(np.float32).reshape(rows, width)


def descend(
    weights: NDArray[np.float32],
    dim: int,
    visits: NDArray[np.void],
    *,
    iterations: int,
    eta: float,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[float, ...]:
    """Pass over the cells again and again, changing `weights`; return the mean cost of each pass."""
    edges = np.linspace(0, len(visits), threads + 1).astype(np.int64)
    rounds = range(0, int(np.diff(edges).max()), _PIECE)
    run = partial(pass_over, weights, padded(dim), visits, np.float32(eta))
    costs: list[float] = []
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        side_by_side = map if threads == 1 else pool.map
        for _ in range(iterations):
            cost = 0.0
            for offset in rounds:
                firsts = np.minimum(edges[:-1] + offset, edges[1:])
                lasts = np.minimum(firsts + _PIECE, edges[1:])
                cost += sum(side_by_side(run, firsts, lasts))
                done += int((lasts - firsts).sum())
                if progress is not None:
                    progress(done, iterations * len(visits))
            if not np.isfinite(cost):
                raise ParameterError(
                    f"The 'eta' of train_glove must be lower for these cells: with {eta:g} the cost is no longer "
                    f"finite in iteration {len(costs) + 1}."
                )
            costs.append(cost / len(visits))
    return tuple(costs)


@compiled
def pass_over(
    weights: NDArray[np.float32],
    width: int,
    visits: Any,  # noqa: ANN401 - a table of cells
    eta: np.float32,
    first: int,
    last: int,
) -> float:
    """Visit the cells `first` … `last` - 1 and return the sum of their costs."""
    bias, sum_of_squares = 2 * width, 2 * width + 1
    cost = 0.0
    for visit in range(first, last):
        if visit + _AHEAD < last:
            fetch_row(weights, visits[visit + _AHEAD]["row"])
            fetch_row(weights, visits[visit + _AHEAD]["column"])
        row = np.int64(visits[visit]["row"])
        column = np.int64(visits[visit]["column"])
        off = product(weights, row, column, width)
        off += weights[row, bias] + weights[column, bias] - visits[visit]["log"]
        slope = visits[visit]["weight"] * off
        cost += 0.5 * np.float64(slope) * np.float64(off)
        step(weights, row, column, width, slope, eta, _BOUND)
        weights[row, bias] -= slope / np.sqrt(_ONE + weights[row, sum_of_squares])
        weights[column, bias] -= slope / np.sqrt(_ONE + weights[column, sum_of_squares])
        square = slope * slope
        weights[row, sum_of_squares] += square
        weights[column, sum_of_squares] += square
    return cost
