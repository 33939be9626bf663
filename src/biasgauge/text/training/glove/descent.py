"""The cells of a count in random order, and the descent of GloVe over them: each a step for two vectors and two biases.

Each cell is dealt to a random pile, then each pile is shuffled: together a uniform shuffle (Rao 1961, Sandelius 1962)
whose piles fit the cache and whose passes are sequential, so that it also works in a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Integers, Singles
from biasgauge.errors import ParameterError
from biasgauge.text.training.glove.counting import scratch
from biasgauge.text.training.lanes import LINE, fetch_row, padded, product, step
from biasgauge.text.training.random_stream import below, compiled, fill_uniform, stream

if TYPE_CHECKING:
    from biasgauge.text.training.cooccurrence import Cooccurrence

Cells = Any
"""A table of cells, of the type `CELL`, which compiled code reads by field."""
CELL = np.dtype([("row", np.int32), ("column", np.int32), ("log", np.float32), ("weight", np.float32)])
"""A cell as training needs it: its words (contexts are numbered after all words), log X and f(X)."""
_PILE = 1 << 15
_ONE = np.float32(1)
_BOUND = np.float32(100)
"""Gradients of vectors are held within ± this, before eta, as the official tool does."""
_AHEAD = 4
"""The rows of the cell that is so many steps away are fetched from main memory meanwhile."""
PIECE = 1 << 21
"""Cells between two reports of progress."""


def shuffled(cells: Cooccurrence, *, x_max: float, alpha: float, seed: int, memory: int) -> NDArray[np.void]:
    """Cells in an order that the seed decides, with f(X) = min(1, (X / x_max) ** alpha)."""
    dealt = scratch(len(cells), CELL, memory)
    piles = np.zeros(len(cells) // _PILE + 2, np.int64)
    _count_piles(piles, len(cells), stream("piles of cells", seed))
    ends = np.cumsum(piles)
    _deal(cells.starts, cells.columns, cells.values, x_max, alpha, ends.copy(), stream("piles of cells", seed), dealt)
    _shuffle_piles(dealt, np.empty(1, CELL), ends, stream("order of cells", seed))
    return dealt


@compiled
def _count_piles(piles: Integers, cells: int, state: NDArray[np.uint64]) -> None:
    """Count the cells of each pile, one place further on, so that running sums give where piles begin."""
    for _ in range(cells):
        piles[1 + below(state, len(piles) - 1)] += 1


@compiled
def _deal(
    starts: Integers, columns: NDArray[np.int32], values: Singles, x_max: float, alpha: float,
    ahead: Integers, state: NDArray[np.uint64], dealt: Cells,
) -> None:  # fmt: skip
    size = len(starts) - 1
    for row in range(size):
        for cell in range(starts[row], starts[row + 1]):
            pile = below(state, len(ahead) - 1)
            place = ahead[pile]
            ahead[pile] += 1
            value = np.float64(values[cell])
            dealt[place]["row"] = row
            dealt[place]["column"] = columns[cell] + size
            dealt[place]["log"] = math.log(value)
            dealt[place]["weight"] = 1.0 if value > x_max else (value / x_max) ** alpha


@compiled
def _shuffle_piles(dealt: Cells, spare: Cells, ends: Integers, state: NDArray[np.uint64]) -> None:
    for pile in range(len(ends) - 1):
        first = ends[pile]
        for place in range(ends[pile + 1] - 1, first, -1):
            other = first + below(state, place - first + 1)
            spare[0] = dealt[place]
            dealt[place] = dealt[other]
            dealt[other] = spare[0]


def first_weights(count: int, dim: int, seed: int) -> Singles:
    """Random vectors and biases in ±1 / (2 dim), sums of squares of 0: rows as `lanes.step` has them."""
    width = padded(dim)
    weights = _aligned(count, -(-(2 * width + 2) // LINE) * LINE)
    state = stream("first weights", seed)
    fill_uniform(weights, dim, 1.0 / dim, state)
    biases = np.empty((count, 1), np.float32)
    fill_uniform(biases, 1, 1.0 / dim, state)
    weights[:, 2 * width] = biases[:, 0]
    return weights


def _aligned(rows: int, width: int) -> Singles:
    """Zeros whose rows begin where lines of the cache do, if the width is a whole number of lines."""
    line = LINE * np.dtype(np.float32).itemsize
    raw = np.zeros(rows * width * 4 + line, np.uint8)
    start = -raw.ctypes.data % line
    return raw[start : start + rows * width * 4].view(np.float32).reshape(rows, width)


def descend(
    weights: Singles,
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
    rounds = range(0, int(np.diff(edges).max()), PIECE)
    run = partial(pass_over, weights, padded(dim), visits, np.float32(eta))
    costs: list[float] = []
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        side_by_side = map if threads == 1 else pool.map
        for _ in range(iterations):
            cost = 0.0
            for offset in rounds:
                firsts = np.minimum(edges[:-1] + offset, edges[1:])
                lasts = np.minimum(firsts + PIECE, edges[1:])
                cost += sum(side_by_side(run, firsts, lasts))
                done += int((lasts - firsts).sum())
                if progress is not None:
                    progress(done, iterations * len(visits))
            refuse_cost(cost, eta, len(costs) + 1)
            costs.append(cost / len(visits))
    return tuple(costs)


def refuse_cost(cost: float, eta: float, iteration: int) -> None:
    """Refuse a cost that has left the numbers.

    Raises:
        ParameterError: it has.
    """
    if not np.isfinite(cost):
        raise ParameterError(
            f"The 'eta' of train_glove must be lower for these cells: with {eta:g} the cost is no longer "
            f"finite in iteration {iteration}."
        )


@compiled
def pass_over(weights: Singles, width: int, visits: Cells, eta: np.float32, first: int, last: int) -> float:
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
