"""Rows, cosines and neighbor ranks that the analyses of analogies share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import (
    Flags,
    Floats,
    Places,
    Vectors,
    WordPolicy,
    check_whole,
    distinct_words,
    has_direction,
    row_cosines,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.stats import SAME, STUDENT, WordStatistic, mean_cosine, undefined_statistic
from biasgauge.vectors import ROWS, ZERO, Embedding

RESTRICT = 50_000
"""Only the first words of a model can be an answer, as in Zhang et al.: later words are too rare to be useful."""


def two_words(pair: Iterable[str], function: str) -> tuple[str, str]:
    """The two words of a pair.

    Raises:
        ParameterError: it is something else.
    """
    words = distinct_words(pair, "pair", function)
    if len(words) != 2:
        raise ParameterError(f"The 'pair' parameter of {function} must be two different words. Got {pair!r}.")
    return words[0], words[1]


def directed_rows(model: Embedding, words: Iterable[str], policy: WordPolicy) -> tuple[dict[str, int], dict[str, str]]:
    """Rows of the words that have a direction, and why the others are lost."""
    lookup = model.lookup(words, case_fallback=policy.uses_fallback([model]))
    lookup = lookup.only(model.directed(lookup.rows), ZERO)
    return dict(lookup.row_of), dict(lookup.lost)


def lost_ends(pair: tuple[str, str], lost: dict[str, str]) -> str | None:
    """Reason why a pair cannot be used; None when it can."""
    return "; ".join(f"{end}: {lost[end]}" for end in pair if end in lost) or None


def candidate_rows(model: Embedding, restrict: int | None) -> Places:
    """Rows that can be an answer: the first `restrict`, or all.

    Raises:
        ParameterError: it is no number of words.
    """
    check_whole(1, restrict=1 if restrict is None else restrict)
    return np.arange(len(model) if restrict is None else min(restrict, len(model)))


def cosines_of_rows(model: Embedding, first: ArrayLike, second: ArrayLike) -> Floats:
    """Cosines of rows, one by one, in [−1, 1]."""
    left, right = np.asarray(first, np.intp), np.asarray(second, np.intp)
    cosines = np.empty(len(left))
    for start in range(0, len(left), ROWS):
        block = slice(start, start + ROWS)
        cosines[block] = np.clip(row_cosines(model.vectors[left[block]], model.vectors[right[block]]), -1, 1)
    return cosines


def mean_of_random_pairs(model: Embedding, pool: Places, count: int, random_state: int, level: float) -> WordStatistic:
    """Mean cosine of two different words drawn at random."""
    directed = pool[model.directed(pool)]
    if len(directed) < 2:
        return undefined_statistic(level, STUDENT)
    random = np.random.default_rng(random_state)
    first = random.integers(0, len(directed), count)
    second = (first + random.integers(1, len(directed), count)) % len(directed)
    return mean_cosine(cosines_of_rows(model, directed[first], directed[second]), None, level, over="random pairs")


class NeighborRanks(NamedTuple):
    """Ranks and cosines, words × answers, and the row of each word's nearest neighbor, left-out words aside.

    A rank is 1 where no other word is nearer, 0 for the word itself. Where there is none: rank −1, cosine NaN, row −1.
    """

    ranks: Places
    cosines: Floats
    nearest: Places


def neighbor_ranks(
    vectors: Vectors,
    words: Places,
    answers: Places,
    pool: Places,
    left_out: Places,
    leaves_out: Flags,
    block_rows: int = ROWS,
) -> NeighborRanks:
    """Rank each answer (words × answers; −1 where there is none) among the neighbors of its word by cosine.

    Equals share the better rank. Neighbors are the rows of `pool`, in rising order; for columns of answers marked in
    `leaves_out`, the rows `left_out` are none. `block_rows` of the pool are compared at a time.
    """
    units = unit_rows(vectors[words].astype(np.float64), rescale=True)
    cosines = np.full(answers.shape, np.nan)
    for column, rows in enumerate(answers.T):
        answered = np.flatnonzero(rows >= 0)
        cosines[answered, column] = np.clip(row_cosines(vectors[words[answered]], vectors[rows[answered]]), -1, 1)
    nearer = np.zeros(answers.shape, np.intp)
    best, nearest = np.full(len(words), -np.inf), np.full(len(words), -1, np.intp)
    for start in range(0, len(pool), block_rows):
        rows = pool[start : start + block_rows]
        candidates = unit_rows(vectors[rows].astype(np.float64), rescale=True)
        similarities = np.round(units @ candidates.T, 12)
        similarities[:, ~has_direction(candidates)] = -np.inf
        similarities[words[:, None] == rows] = -np.inf
        for excluding in (False, True):
            if excluding:
                similarities[:, np.isin(rows, left_out)] = -np.inf
            for column in np.flatnonzero(leaves_out == excluding).tolist():
                nearer[:, column] += np.count_nonzero(similarities > cosines[:, column, None] + SAME, axis=1)
        column_of_best = similarities.argmax(axis=1)
        largest = similarities[np.arange(len(words)), column_of_best]
        better = largest > best
        best[better], nearest[better] = largest[better], rows[column_of_best[better]]
    ranks = np.where(answers < 0, -1, np.where(answers == words[:, None], 0, nearer + 1))
    return NeighborRanks(ranks, cosines, nearest)
