"""The cells of a count in random order, ready to be trained on.

Each cell is dealt to a random pile, then each pile is shuffled: together a uniform shuffle (Rao 1961, Sandelius 1962)
whose piles fit the cache and whose passes are sequential, so that it also works in a file.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.training.compiled import compiled
from biasgauge.training.glove.scratch import scratch
from biasgauge.training.stream import below, stream

if TYPE_CHECKING:
    from biasgauge.training.cooccurrence import Cooccurrence

CELL = np.dtype([("row", np.int32), ("column", np.int32), ("log", np.float32), ("weight", np.float32)])
"""A cell as training needs it: its words (contexts are numbered after all words), log X and f(X)."""
_PILE = 1 << 15


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
def _count_piles(piles: NDArray[np.int64], cells: int, state: NDArray[np.uint64]) -> None:
    """Count the cells of each pile, one place further on, so that running sums give where piles begin."""
    for _ in range(cells):
        piles[1 + below(state, len(piles) - 1)] += 1


@compiled
def _deal(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    x_max: float,
    alpha: float,
    ahead: NDArray[np.int64],
    state: NDArray[np.uint64],
    dealt: Any,  # noqa: ANN401 - a table of cells
) -> None:
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
def _shuffle_piles(
    dealt: Any,  # noqa: ANN401 - as above
    spare: Any,  # noqa: ANN401 - as above
    ends: NDArray[np.int64],
    state: NDArray[np.uint64],
) -> None:
    for pile in range(len(ends) - 1):
        first = ends[pile]
        for place in range(ends[pile + 1] - 1, first, -1):
            other = first + below(state, place - first + 1)
            spare[0] = dealt[place]
            dealt[place] = dealt[other]
            dealt[other] = spare[0]
