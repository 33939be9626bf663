"""The pairs of vectors whose difference points most nearly along a direction, out of all pairs, on arrays.

One matrix product per block finds the distances in single precision; from these follow a largest and a least score that
each pair can have. Only pairs that can be among the best are scored again, in double precision, equal ones by their
rows: so the result does not depend on the block size or on the number of threads. Memory is that of a block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biasgauge.core import Floats, Places, Singles, Vectors, unit_rows
from biasgauge.scores import DIGITS, set_places
from biasgauge.vectors import ROWS

_ROUNDING = 1e-5
"""Squared distances of unit vectors are right to within this in single precision."""
EQUAL = 1e-6
"""Unit vectors that are nearer than this have no difference to speak of."""
_BLOCK = 2**22
"""Similarities in a block."""
_MANY = 16
"""One in so many pairs of a block is too many to be looked at one by one."""


class Differences(NamedTuple):
    """Pairs of rows, best first: cosine of their difference (both of length 1) and the direction, and of the two."""

    first: Places
    second: Places
    scores: Floats
    cosines: Floats

    def best(self, most: int, more: Differences) -> Differences:
        """The best of these and of more."""
        first, second, scores, cosines = (np.concatenate(both) for both in zip(self, more, strict=True))
        order = np.lexsort((second, first, -scores))[:most]
        return Differences(first[order], second[order], scores[order], cosines[order])


def best_differences(vectors: Vectors, rows: Places, direction: Floats, delta: float, most: int) -> Differences:
    """The `most` pairs of different rows, at most `delta` apart, whose difference is nearest to the direction.

    Args:
        vectors: the model; none of the rows is zero.
        rows: in rising order, each once.
        direction: of length 1.
        delta: largest distance, with all vectors of length 1.
        most: how many pairs.
    """
    units = np.empty((len(rows), vectors.shape[1]), np.float32)
    along = np.empty(len(rows))
    for start in range(0, len(rows), ROWS):
        block = unit_rows(vectors[rows[start : start + ROWS]].astype(np.float64), rescale=True)
        units[start : start + ROWS] = block
        along[start : start + ROWS] = block @ direction
    best = Differences(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))
    start, least = 0, 0.0
    while start < len(rows):
        size = max(_BLOCK // (len(rows) - start), 1)
        upper, lower, squares = _close(units[start:], along[start:], size, delta, least)
        gaps = (along[start + upper] - along[start + lower]) ** 2
        able = _able(gaps, squares, delta, least, most)
        first, second = rows[start + upper[able]], rows[start + lower[able]]
        best = best.best(most, _exact(vectors, first, second, direction, delta))
        least = float(best.scores[-1]) if len(best.first) == most else 0.0
        start += size
    return best


def _close(units: Singles, along: Floats, size: int, delta: float, least: float) -> tuple[Places, Places, Floats]:
    """Places of pairs of the first `size` with all that follow, which may be within `delta`; their squared distances.

    Where that leaves many, pairs whose score is below `least` for certain are left out too.
    """
    cosines = units[:size] @ units.T
    passed = cosines >= np.float32(1 - (delta**2 + _ROUNDING) / 2)
    if least > 0 and np.count_nonzero(passed) > passed.size // _MANY:
        short = along.astype(np.float32)
        gaps = short[:size, None] - short
        gaps *= gaps
        gaps += np.float32(2 * least**2) * cosines
        passed &= gaps >= np.float32(2 * least**2 - 3 * _ROUNDING)
    flat = set_places(passed)[0]
    upper, lower = np.divmod(flat, cosines.shape[1])
    above = lower > upper
    squares = 2 - 2 * cosines.ravel()[flat[above]].astype(np.float64)
    return upper[above], lower[above], squares


def _able(gaps: Floats, squares: Floats, delta: float, least: float, most: int) -> Places:
    """Places of the pairs that can be among the best: a score is the root of gap over square."""
    largest = gaps / np.maximum(squares - _ROUNDING, EQUAL**2)
    able = np.flatnonzero(largest >= (least - _ROUNDING) ** 2 if least > _ROUNDING else gaps > 0)
    sure = able[squares[able] + _ROUNDING <= delta**2]
    sure = sure[squares[sure] > 2 * _ROUNDING]
    if len(sure) > most:
        smallest = gaps[sure] / (squares[sure] + _ROUNDING)
        last = np.partition(smallest, len(smallest) - most)[len(smallest) - most]
        able = able[largest[able] >= last]
    return able


def _exact(vectors: Vectors, upper: Places, lower: Places, direction: Floats, delta: float) -> Differences:
    """Score pairs in double precision, and turn each so that its score is positive."""
    scores, squares = np.zeros(len(upper)), np.zeros(len(upper))
    for start in range(0, len(upper), ROWS):
        block = slice(start, start + ROWS)
        left, right = (unit_rows(vectors[rows[block]].astype(np.float64), rescale=True) for rows in (upper, lower))
        apart = left - right
        squares[block] = np.einsum("ij,ij->i", apart, apart)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores[block] = apart @ direction / np.sqrt(squares[block])
    scores = np.clip(scores, -1, 1).round(DIGITS)
    usable = (squares > EQUAL**2) & (np.round(squares, DIGITS) <= round(delta**2, DIGITS)) & (scores != 0)
    turned = scores < 0
    first, second = np.where(turned, lower, upper), np.where(turned, upper, lower)
    return Differences(first[usable], second[usable], np.abs(scores[usable]), 1 - squares[usable] / 2)
