"""GloVe: co-occurrences are counted once per text, and vectors are fitted so that their products are log counts.

The cost of a cell is f(X) (w_i · w~_j + b_i + b~_j - log X)² / 2 with f(X) = min(1, (X / x_max) ** alpha); AdaGrad
visits the cells one by one, in the same random order in each iteration (Pennington, Socher & Manning 2014).

The steps are those of the official tool as it stands since 2020, with two traits that the paper does not have: sums of
squared gradients start at 1 and hold gradients times eta; and biases move without eta, twenty times as fast as vectors.
Numbers are 32-bit where the tool's are 64-bit, which moves vectors by a ten-thousandth of their length. With several
threads, the tool's order drifts from iteration to iteration, which raises its cost by 0.2 to 0.4 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Integers, Singles, check_whole
from biasgauge.errors import InputError, ParameterError
from biasgauge.text.training.algorithms import GloveSettings, TrainedVectors
from biasgauge.text.training.cooccurrence import Cooccurrence, count_cooccurrences, scratch
from biasgauge.text.training.lanes import LINE, fetch_row, padded, product, step
from biasgauge.text.training.random_stream import below, compiled, fill_uniform, stream

if TYPE_CHECKING:
    from biasgauge.text.training.sweep import TrainingText

Cells = Any
"""A table of cells, of the type `CELL`, which compiled code reads by field."""
CELL = np.dtype([("row", np.int32), ("column", np.int32), ("log", np.float32), ("weight", np.float32)])
"""A cell as training needs it: its words (contexts are numbered after all words), log X and f(X)."""
_ONE = np.float32(1)
_BOUND = np.float32(100)
"""Gradients of vectors are clipped to ± this, before eta, as in the official tool."""
_AHEAD = 4
"""Steps ahead of which the rows of a cell are prefetched from main memory."""
PIECE = 1 << 21
"""Cells between two reports of progress."""


def train_glove(
    cells: Cooccurrence,
    settings: GloveSettings,
    *,
    seed: int,
    sum_vectors: bool = True,
    threads: int = 1,
    memory: int = 2**31,
    piece: int = PIECE,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedVectors:
    """Fit vectors to counts; the losses are mean costs of a cell, each taken just before its step, as in the tool.

    The same cells, settings and seed give the same bytes, whatever the process, the load and the processor's width;
    logarithms and powers are the system's own, rounded from 64 to 32 bits, which hides how systems differ in them.

    Args:
        cells: what `count_cooccurrences` counted.
        settings: size of the vectors, weights of the cells, learning rate; an epoch is a pass over the cells.
        seed: decides the first vectors and the order of the cells.
        sum_vectors: whether a word's vector is the sum of its two, as word and as context; else that as word.
        threads: above 1, as many stretches of the cells are visited at once without locks; results then differ from
            run to run.
        memory: the cells in their order, 16 bytes each, lie in a temporary file where they would need more.
        piece: cells that each thread visits between two reports of progress.
        progress: called with cells visited and cells to visit, over all epochs.

    Raises:
        ParameterError: a setting is impossible, there are no cells, or `eta` lets the cost grow without bounds.
    """
    check_whole(1, threads=threads, memory=memory)
    check_whole(0, seed=seed)
    if not len(cells):
        raise ParameterError("The 'cells' of train_glove must not be empty: there is nothing to learn from.")
    dim, x_max, alpha = settings.dim, float(settings.x_max), float(settings.alpha)
    visits = shuffled(cells, x_max=x_max, alpha=alpha, seed=seed, memory=memory)
    weights = first_weights(2 * cells.size, dim, seed)
    costs = descend(
        weights, dim, visits, iterations=settings.epochs, eta=settings.eta, threads=threads, piece=piece,
        progress=progress,
    )  # fmt: skip
    return fit_from_weights(weights, cells, dim, costs, sum_vectors=sum_vectors)


def fit_from_weights(
    weights: Singles, cells: Cooccurrence, dim: int, costs: tuple[float, ...], *, sum_vectors: bool = True,
    tokens: int = 0,
) -> TrainedVectors:  # fmt: skip
    """Take the vectors out of trained weights, and list the words that no cell mentions."""
    words, contexts = weights[: cells.size, :dim], weights[cells.size :, :dim]
    mentioned = np.diff(cells.starts) > 0
    mentioned[np.bincount(cells.columns, minlength=cells.size) > 0] = True
    vectors = words + contexts if sum_vectors else words.copy()
    return TrainedVectors(vectors, costs, tokens, untrained=tuple(np.flatnonzero(~mentioned).tolist()))


def prepare(text: TrainingText, settings: GloveSettings, folder: Path) -> Cooccurrence:
    """Count which words occur near which, or open the counts if `folder` holds them whole."""
    with suppress(InputError):  # there are none, or a kill cut them short
        return Cooccurrence.open(folder)
    corpus, words = text.corpus, text.vocabulary
    cells = count_cooccurrences(
        corpus.tokens, corpus.lines, text.order, words.places, len(words.words), window=settings.window
    )
    cells.save(folder)
    return Cooccurrence.open(folder)


def train(
    text: TrainingText, settings: GloveSettings, *, seed: int, shared: Cooccurrence, threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedVectors:  # fmt: skip
    """TrainedVectors vectors to the counts; a word's vector is the sum of its two, as in the official tool."""
    fit = train_glove(shared, settings, seed=seed, threads=threads, progress=progress)
    return replace(fit, tokens=text.tokens * len(fit.losses))


def shuffled(
    cells: Cooccurrence, *, x_max: float, alpha: float, seed: int, memory: int, pile: int = 1 << 15
) -> NDArray[np.void]:
    """Shuffle the cells by the seed, each with log X and f(X) = min(1, (X / x_max) ** alpha).

    Each cell is dealt to a random pile, then each pile is shuffled: together a uniform shuffle (Rao 1961, Sandelius
    1962) whose piles, of about `pile` cells, fit the cache and whose passes are sequential, so that it also works in a
    file.
    """
    dealt = scratch(len(cells), CELL, memory)
    piles = np.zeros(len(cells) // pile + 2, np.int64)
    # The same stream twice: once to count the piles, once to deal the cells into their places.
    _count_piles(piles, len(cells), stream("piles of cells", seed))
    starts = np.cumsum(piles)
    _deal(cells.starts, cells.columns, cells.values, x_max, alpha, starts.copy(), stream("piles of cells", seed), dealt)
    _shuffle_piles(dealt, np.empty(1, CELL), starts, stream("order of cells", seed))
    return dealt


@compiled
def _count_piles(piles: Integers, cells: int, state: NDArray[np.uint64]) -> None:
    """Count the cells of each pile, shifted by one, so that running sums are the starts of the piles."""
    for _ in range(cells):
        piles[1 + below(state, len(piles) - 1)] += 1


@compiled
def _deal(
    starts: Integers, columns: NDArray[np.int32], values: Singles, x_max: float, alpha: float,
    next_index: Integers, state: NDArray[np.uint64], dealt: Cells,
) -> None:  # fmt: skip
    size = len(starts) - 1
    for row in range(size):
        for cell in range(starts[row], starts[row + 1]):
            pile = below(state, len(next_index) - 1)
            index = next_index[pile]
            next_index[pile] += 1
            value = np.float64(values[cell])
            dealt[index]["row"] = row
            dealt[index]["column"] = columns[cell] + size
            dealt[index]["log"] = math.log(value)
            dealt[index]["weight"] = 1.0 if value > x_max else (value / x_max) ** alpha


@compiled
def _shuffle_piles(dealt: Cells, spare: Cells, starts: Integers, state: NDArray[np.uint64]) -> None:
    """Shuffle each pile in place (Fisher–Yates)."""
    for pile in range(len(starts) - 1):
        first = starts[pile]
        for index in range(starts[pile + 1] - 1, first, -1):
            partner = first + below(state, index - first + 1)
            spare[0] = dealt[index]
            dealt[index] = dealt[partner]
            dealt[partner] = spare[0]


def first_weights(count: int, dim: int, seed: int) -> Singles:
    """Random vectors and biases in ±1 / (2 dim), sums of squares of 0: rows in the layout of `lanes.step`."""
    width = padded(dim)
    weights = _aligned(count, -(-(2 * width + 2) // LINE) * LINE)
    state = stream("first weights", seed)
    fill_uniform(weights, dim, 1.0 / dim, state)
    biases = np.empty((count, 1), np.float32)
    fill_uniform(biases, 1, 1.0 / dim, state)
    weights[:, 2 * width] = biases[:, 0]
    return weights


def _aligned(rows: int, width: int) -> Singles:
    """Zeros whose rows are aligned to lines of the cache, if the width is a whole number of lines."""
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
    piece: int = PIECE,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[float, ...]:
    """Pass over the cells again and again, changing `weights`; return the mean cost of each pass."""
    edges = np.linspace(0, len(visits), threads + 1).astype(np.int64)
    rounds = range(0, int(np.diff(edges).max()), piece)
    run = partial(pass_over, weights, padded(dim), visits, np.float32(eta))
    costs: list[float] = []
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        side_by_side = map if threads == 1 else pool.map
        for _ in range(iterations):
            cost = 0.0
            for offset in rounds:
                firsts = np.minimum(edges[:-1] + offset, edges[1:])
                lasts = np.minimum(firsts + piece, edges[1:])
                cost += sum(side_by_side(run, firsts, lasts))
                done += int((lasts - firsts).sum())
                if progress is not None:
                    progress(done, iterations * len(visits))
            refuse_cost(cost, eta, len(costs) + 1)
            costs.append(cost / len(visits))
    return tuple(costs)


def refuse_cost(cost: float, eta: float, iteration: int) -> None:
    """Refuse a cost that is no longer finite (ParameterError)."""
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
        # residual = w_i · w~_j + b_i + b~_j − log X; cost f(X) residual² / 2, its slope f(X) residual.
        residual = product(weights, row, column, width)
        residual += weights[row, bias] + weights[column, bias] - visits[visit]["log"]
        slope = visits[visit]["weight"] * residual
        cost += 0.5 * np.float64(slope) * np.float64(residual)
        step(weights, row, column, width, slope, eta, _BOUND)
        # Biases move without eta, by the slope over the root of 1 plus their sum of squares.
        weights[row, bias] -= slope / np.sqrt(_ONE + weights[row, sum_of_squares])
        weights[column, bias] -= slope / np.sqrt(_ONE + weights[column, sum_of_squares])
        square = slope * slope
        weights[row, sum_of_squares] += square
        weights[column, sum_of_squares] += square
    return cost
