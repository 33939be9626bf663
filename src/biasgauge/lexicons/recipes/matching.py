"""Frequency matching: words of two lists in pairs of nearly one log frequency, one to one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biasgauge.core import Floats
from biasgauge.lexicons.recipes.recipe import MatchMethod


class MatchedRows(NamedTuple):
    """Matched pairs: rows of the first list, in order of preference, and those of the second."""

    first: list[int]
    second: list[int]


def match_rows(
    first: Floats, second: Floats, size: int, *, method: MatchMethod = "optimal", max_difference: float = np.inf
) -> MatchedRows:
    """Pair values of two lists, at most `size` pairs, none further apart than `max_difference`.

    "optimal" has the least sum of |difference| of all ways to choose that many pairs. "greedy" gives each value of the
    first list, in order, the nearest value of the second that is free.
    """
    distance = np.abs(np.subtract.outer(np.asarray(first, np.float64), np.asarray(second, np.float64)))
    size = min(size, *distance.shape)
    pairs = _optimal(distance, size) if method == "optimal" else _greedy(distance, size, max_difference)
    near = sorted((row, column) for row, column in pairs if distance[row, column] <= max_difference)
    return MatchedRows([row for row, _ in near], [column for _, column in near])


def _optimal(distance: Floats, size: int) -> list[tuple[int, int]]:
    """Assignment of exactly `size` rows to columns with the least sum of distances."""
    from scipy.optimize import linear_sum_assignment

    if not size:
        return []
    rows, columns = distance.shape
    # Rows and columns that stay free are assigned to padding at no cost; padding is never assigned to padding, so
    # that exactly `size` rows get columns.
    total = rows + columns - size
    costs = np.zeros((total, total))
    costs[:rows, :columns] = distance
    costs[rows:, columns:] = distance.sum() + 1.0
    chosen_rows, chosen_columns = linear_sum_assignment(costs)
    return [
        (row, column)
        for row, column in zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True)
        if row < rows and column < columns
    ]


def _greedy(distance: Floats, size: int, max_difference: float) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    free = distance.copy()
    for row in range(len(distance)):
        column = int(np.argmin(free[row]))
        if free[row, column] <= max_difference and np.isfinite(free[row, column]):
            pairs.append((row, column))
            free[:, column] = np.inf
        if len(pairs) == size:
            break
    return pairs
