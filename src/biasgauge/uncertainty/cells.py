"""All that the Normal model needs to know of the distances: count, mean and spread of each (connection, word)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.uncertainty.table import DistanceTable

NO_SPREAD = "all its distances are the same for each word, so there is no spread to measure"
_ROUNDING = 1e-10
"""Standard deviations below this are rounding."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The words of one connection: sufficient statistics of the Normal model.

    Attributes:
        connection: its name.
        words: places of its words in the table's `words`.
        count: distances of each word.
        mean: their mean.
        within: sum of squares around the means, all words together.
    """

    connection: str
    words: NDArray[np.intp]
    count: Floats
    mean: Floats
    within: float

    @property
    def rows(self) -> int:
        """Distances in all."""
        return int(self.count.sum())

    @property
    def spare(self) -> int:
        """Distances beyond the first of each word: what tells of the residual spread."""
        return self.rows - len(self.words)

    @property
    def spread(self) -> float:
        """Standard deviation of all distances around their mean."""
        center = (self.count * self.mean).sum() / self.rows
        return float(np.sqrt((self.within + (self.count * (self.mean - center) ** 2).sum()) / self.rows))

    @property
    def degenerate(self) -> bool:
        """Whether the likelihood grows without bound as sigma goes to 0: the posterior does not exist."""
        if self.spare:
            return self.within <= self.spare * _ROUNDING**2
        return len(self.words) > 1 and float(np.ptp(self.mean)) <= _ROUNDING


def cells_of(table: DistanceTable) -> list[Cells]:
    """The cells of each connection that has rows, in the order of `CONNECTIONS`."""
    return [_cells(table, name) for name in table.connections]


def cell_places(cells: Sequence[Cells]) -> dict[str, Any]:
    """Which connection and which word each cell is of, as `Draws` have it."""
    return {
        "connections": tuple(one.connection for one in cells),
        "cell_connection": np.concatenate([np.full(len(one.words), at) for at, one in enumerate(cells)]),
        "cell_word": np.concatenate([one.words for one in cells]),
    }


def _cells(table: DistanceTable, connection: str) -> Cells:
    rows = table.rows_of([connection])
    words, word = np.unique(table.word[rows], return_inverse=True)
    values = table.distance[rows]
    count = np.bincount(word).astype(np.float64)
    mean = np.bincount(word, values) / count
    residual = values - mean[word]
    mean += np.bincount(word, residual) / count  # a second pass takes the rounding out
    residual = values - mean[word]
    return Cells(connection, words, count, mean, float(residual @ residual))
