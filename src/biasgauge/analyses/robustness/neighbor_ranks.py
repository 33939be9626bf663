"""The rank of a word among the neighbors of another, on arrays: how many words are nearer than it is?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biasgauge.core import Flags, Floats, Places, Vectors, has_direction, row_cosines, unit_rows
from biasgauge.stats import SAME
from biasgauge.vectors import ROWS


class NeighborRanks(NamedTuple):
    """Ranks and cosines, words × answers, and the row of each word's nearest neighbor, left-out words aside.

    A rank is 1 where no other word is nearer, 0 for the word itself. Where there is none: rank −1, cosine NaN, row −1.
    """

    ranks: Places
    cosines: Floats
    nearest: Places


def neighbor_ranks(
    vectors: Vectors, words: Places, answers: Places, pool: Places, left_out: Places, leaves_out: Flags
) -> NeighborRanks:
    """Rank each answer among the neighbors of its word by cosine; equals share the better rank.

    Args:
        vectors: the model.
        words: rows of the words.
        answers: words × answers: rows; −1 where there is none.
        pool: rows of the words that count as neighbors, in rising order.
        left_out: rows that do not count for the answers marked in `leaves_out`.
        leaves_out: one for each column of answers.
    """
    units = unit_rows(vectors[words].astype(np.float64), rescale=True)
    cosines = np.full(answers.shape, np.nan)
    for column, rows in enumerate(answers.T):
        answered = np.flatnonzero(rows >= 0)
        cosines[answered, column] = np.clip(row_cosines(vectors[words[answered]], vectors[rows[answered]]), -1, 1)
    nearer = np.zeros(answers.shape, np.intp)
    best, nearest = np.full(len(words), -np.inf), np.full(len(words), -1, np.intp)
    for start in range(0, len(pool), ROWS):
        rows = pool[start : start + ROWS]
        candidates = unit_rows(vectors[rows].astype(np.float64), rescale=True)
        similarities = np.round(units @ candidates.T, 12)
        similarities[:, ~has_direction(candidates)] = -np.inf
        similarities[words[:, None] == rows] = -np.inf
        _count(similarities, cosines, nearer, ~leaves_out)
        similarities[:, np.isin(rows, left_out)] = -np.inf
        _count(similarities, cosines, nearer, leaves_out)
        column = similarities.argmax(axis=1)
        value = similarities[np.arange(len(words)), column]
        better = value > best
        best[better], nearest[better] = value[better], rows[column[better]]
    ranks = np.where(answers < 0, -1, np.where(answers == words[:, None], 0, nearer + 1))
    return NeighborRanks(ranks, cosines, nearest)


def _count(similarities: Floats, cosines: Floats, nearer: Places, columns: Flags) -> None:
    """Add how many of the similarities are larger than that of each answer."""
    for column in np.flatnonzero(columns):
        nearer[:, column] += np.count_nonzero(similarities > cosines[:, column, None] + SAME, axis=1)
