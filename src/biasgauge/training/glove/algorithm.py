"""`train_glove`: vectors whose products are the logarithms of co-occurrence counts.

The cost of a cell is f(X) (w_i · w~_j + b_i + b~_j - log X)² / 2 with f(X) = min(1, (X / x_max) ** alpha); AdaGrad
visits the cells one by one, in the same random order in each iteration (Pennington, Socher & Manning 2014).

The steps are those of the official tool as it stands since 2020, with two traits that the paper does not have: sums of
squared gradients start at 1 and hold gradients times eta; and biases move without eta, twenty times as fast as vectors.
Numbers are 32-bit where the tool's are 64-bit, which moves vectors by a ten-thousandth of their length. With several
threads, the tool's order drifts from iteration to iteration, which raises its cost by 0.2 to 0.4 %.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import ParameterError
from biasgauge.training.glove.descent import descend, first_weights
from biasgauge.training.glove.order import shuffled

if TYPE_CHECKING:
    from biasgauge.training.cooccurrence import Cooccurrence


@dataclass(frozen=True, eq=False)
class GloveFit:
    """Trained vectors, and how training went.

    Attributes:
        vectors: one row a word, 32-bit.
        costs: mean cost of a cell in each iteration, each cell's taken just before its step, as the official tool
            prints it.
        untrained: places of words that no cell mentions; they keep the random vectors they started with.
        seconds: time it took, shuffling included.
    """

    vectors: NDArray[np.float32]
    costs: tuple[float, ...]
    untrained: NDArray[np.int64]
    seconds: float


def train_glove(
    cells: Cooccurrence,
    *,
    dim: int = 100,
    iterations: int = 15,
    x_max: float = 100.0,
    alpha: float = 0.75,
    eta: float = 0.05,
    seed: int,
    sum_vectors: bool = True,
    threads: int = 1,
    memory: int = 2**31,
    progress: Callable[[int, int], None] | None = None,
) -> GloveFit:
    """Fit vectors to counts.

    The same cells, settings and seed give the same bytes, whatever the process, the load and the processor's width;
    logarithms and powers are the system's own, rounded from 64 to 32 bits, which hides how systems differ in them.

    Args:
        cells: what `count_cooccurrences` counted.
        dim: numbers in a vector.
        iterations: passes over the cells.
        x_max: counts from which on cells have full weight.
        alpha: power with which weight grows below that.
        eta: learning rate at the start.
        seed: decides the first vectors and the order of the cells.
        sum_vectors: whether a word's vector is the sum of its two, as word and as context; else that as word.
        threads: above 1, so many parts of the cells are trained on at once without locks; results then differ from
            run to run.
        memory: the cells in their order, 16 bytes each, lie in a temporary file where they would need more.
        progress: called with cells visited and cells to visit, over all iterations.

    Raises:
        ParameterError: a setting is impossible, there are no cells, or `eta` lets the cost grow without bounds.
    """
    _check(dim=dim, iterations=iterations, threads=threads, memory=memory, at_least=1)
    _check(seed=seed, at_least=0)
    for name, number in {"x_max": x_max, "alpha": alpha, "eta": eta}.items():
        if not 0 < number < np.inf:
            raise ParameterError(f"The {name!r} of train_glove must be a finite number above 0. Got {number!r}.")
    if not len(cells):
        raise ParameterError("The 'cells' of train_glove must not be empty: there is nothing to learn from.")
    started = time.perf_counter()
    visits = shuffled(cells, x_max=float(x_max), alpha=float(alpha), seed=seed, memory=memory)
    weights = first_weights(2 * cells.size, dim, seed)
    costs = descend(weights, dim, visits, iterations=iterations, eta=eta, threads=threads, progress=progress)
    words, contexts = weights[: cells.size, :dim], weights[cells.size :, :dim]
    mentioned = np.diff(cells.starts) > 0
    mentioned[np.bincount(cells.columns, minlength=cells.size) > 0] = True
    return GloveFit(
        vectors=words + contexts if sum_vectors else words.copy(),
        costs=costs,
        untrained=np.flatnonzero(~mentioned),
        seconds=time.perf_counter() - started,
    )


def _check(*, at_least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < at_least:
            raise ParameterError(
                f"The {name!r} of train_glove must be a whole number of at least {at_least}. Got {number!r}."
            )
