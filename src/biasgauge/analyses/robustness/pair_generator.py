"""`generate_pairs`: the pairs of words that differ as a given pair does.

Bolukbasi, Chang, Zou, Saligrama & Kalai (*Man is to Computer Programmer as Woman is to Homemaker?*, 2016, section 4):
"a is to x as b is to y" scores cos(a − b, x − y) where ‖x − y‖ ≤ δ, all vectors of length 1, else 0. With δ = 1 the
cosine of x and y is at least .5, so that what is returned is similar before anything else (Zhang, Sneyd & Stevenson
2020, section 7): the result says how similar, and how similar random words are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from biasgauge.analyses.robustness import word_similarity
from biasgauge.analyses.robustness.word_similarity import RESTRICT, directed_rows
from biasgauge.core import (
    EXACT_POLICY,
    Floats,
    Places,
    Vectors,
    VectorsLike,
    WordPolicy,
    check_choice,
    check_level,
    check_whole,
    distinct_words,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.scores import DIGITS, set_places
from biasgauge.stats import WordStatistic, mean_cosine
from biasgauge.vectors import ROWS, Embedding, load

Unique = Literal["side", "word"]

DELTA = 1.0
"""Largest distance of x and y in Bolukbasi et al.: their cosine is at least .5."""
SPARE = 20
"""So many times as many pairs as are wanted are looked at first where words must not recur."""
EQUAL = 1e-6
"""Unit vectors that are nearer than this have no difference to speak of."""
_ROUNDING = 1e-5
"""Squared distances of unit vectors are right to within this in single precision."""


@dataclass(frozen=True)
class GeneratedPair:
    """`first` is to `second` as the one word of the pair asked about is to the other.

    Attributes:
        first: x, on the side of the pair's first word.
        second: y.
        score: cos(a − b, x − y), in (0, 1]; 1: the same difference in direction.
        cosine: of x and y; at least 1 − δ² / 2.
    """

    first: str
    second: str
    score: float
    cosine: float


@dataclass(frozen=True, eq=False, repr=False)
class GeneratedPairs(Result):
    """The pairs of a model that differ most nearly as a pair does.

    Attributes:
        model: the model's name.
        pair: (a, b).
        delta: δ, the largest distance of x and y.
        unique: which words do not recur: "side": none on the same side; "word": none at all; None: any may.
        words: how many words were looked at.
        pairs: best first.
        similarity: mean cosine of the two words of a pair.
        pair_cosine: cosine of a and b; None where one is lost.
        lost: words that could not be looked at, with the reason.
        reason: why there are no pairs; None when there are.
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("pairs",)

    model: str
    pair: tuple[str, str]
    delta: float
    unique: Unique | None
    words: int
    pairs: tuple[GeneratedPair, ...]
    similarity: WordStatistic
    pair_cosine: float | None
    lost: dict[str, str]
    reason: str | None = None

    def summary(self) -> Summary:
        """Number of pairs, and the best of them."""
        first, second = self.pair
        number = f"undefined: {self.reason}" if self.reason else f"{counted(self.pairs, 'pair')}"
        columns = [first, second, Column("score", "number", 3), Column("cosine", "number", 3)]
        rows = [(pair.first, pair.second, pair.score, pair.cosine) for pair in self.pairs]
        return Summary(
            title=f"Pairs that differ as {first}–{second} do",
            headline=f"{self.model}, {first}–{second}, δ = {self.delta:g}: {number}",
            tables=(Table.of("pairs", "", columns, rows, most=20),),
        )


def generate_pairs(
    vectors: VectorsLike,
    pair: tuple[str, str] = ("he", "she"),
    *,
    words: Iterable[str] | None = None,
    delta: float = DELTA,
    top: int = 100,
    unique: Unique | None = "side",
    restrict: int | None = RESTRICT,
    policy: WordPolicy = EXACT_POLICY,
    level: float = 0.95,
) -> GeneratedPairs:
    """Find the pairs (x, y) for which "a is to x as b is to y" scores best.

    Every pair of words is looked at, exactly, in blocks. Words of equal vectors make no pair.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        pair: (a, b).
        words: from which pairs are made; None: the first `restrict` of the model.
        delta: the largest distance of x and y, all vectors of length 1; 2 allows any.
        top: how many pairs.
        unique: "side": a word recurs on neither side, as in the published code; "word": it occurs once in all; None:
            it may recur. Better pairs come first.
        restrict: without `words`, the first `restrict` words of the model; None: all.
        policy: how words are looked up.
        level: nominal coverage of the interval.

    Raises:
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    check_choice((*get_args(Unique), None), unique=unique)
    check_whole(1, top=top)
    if not 0 < delta <= 2:
        raise ParameterError(f"The 'delta' parameter must be more than 0 and at most 2. Got {delta!r}.")
    model = load(vectors)
    pair = word_similarity.two_words(pair, "generate_pairs")
    ends, lost = directed_rows(model, pair, policy)
    if words is None:
        rows = word_similarity.candidate_rows(model, restrict)
        rows = rows[model.directed(rows)]
    else:
        rows_by_word, more = directed_rows(model, distinct_words(words, "words", "generate_pairs"), policy)
        rows, lost = np.unique(np.array(list(rows_by_word.values()), np.intp)), {**lost, **more}
    reason = word_similarity.lost_ends(pair, lost)
    pairs: list[GeneratedPair] = []
    cosine = None
    if reason is None:
        first, second = unit_rows(model.vectors[[ends[end] for end in pair]].astype(np.float64), rescale=True)
        cosine, length = float(first @ second), float(np.linalg.norm(first - second))
        reason = "the two words have the same direction" if length <= EQUAL else None
    if reason is None:
        pairs = _pairs(model, rows, (first - second) / length, delta, top, unique)
        reason = None if pairs else "no two words are that near each other"
    return GeneratedPairs(
        model=model.name,
        pair=pair,
        delta=delta,
        unique=unique,
        words=len(rows),
        pairs=tuple(pairs),
        similarity=mean_cosine([row.cosine for row in pairs], None, level, "pairs"),
        pair_cosine=cosine,
        lost=lost,
        reason=reason,
    )


def _pairs(
    model: Embedding, rows: Places, direction: Floats, delta: float, top: int, unique: Unique | None
) -> list[GeneratedPair]:
    """Take the best pairs, passing over words that have had their turn; look down the list as far as needed."""
    most = top if unique is None else SPARE * top
    while True:
        best = best_differences(model.vectors, rows, direction, delta, most)
        indices = _first_of_each(best, unique)[:top]
        if len(indices) == top or len(best.first) < most:
            columns = (column[indices].tolist() for column in best)
            return [
                GeneratedPair(model.words[first], model.words[second], score, cosine)
                for first, second, score, cosine in zip(*columns, strict=True)
            ]
        most *= SPARE


class Differences(NamedTuple):
    """Pairs of rows, best first: cosine of their difference (both of length 1) and the direction, and of the two."""

    first: Places
    second: Places
    scores: Floats
    cosines: Floats


def _first_of_each(best: Differences, unique: Unique | None) -> list[int]:
    """Indices of pairs whose words occur in no better pair."""
    if unique is None:
        return list(range(len(best.first)))
    firsts: set[int] = set()
    seconds = firsts if unique == "word" else set()
    indices = []
    for index, (first, second) in enumerate(zip(best.first.tolist(), best.second.tolist(), strict=True)):
        if first not in firsts and second not in seconds:
            firsts.add(first)
            seconds.add(second)
            indices.append(index)
    return indices


def best_differences(
    vectors: Vectors, rows: Places, direction: Floats, delta: float, most: int, *, block: int = 2**22
) -> Differences:
    """The `most` pairs of rows, at most `delta` apart, whose difference is nearest to the direction of length 1.

    One matrix product per block finds distances in single precision, which bound the score of each pair. Only pairs
    that can be among the best are scored again, in double precision, equal ones by their rows: so the result depends
    neither on the number of threads nor on `block`, the number of similarities that are computed at a time.
    """
    units, along = np.empty((len(rows), vectors.shape[1]), np.float32), np.empty(len(rows))
    for start in range(0, len(rows), ROWS):
        some = slice(start, start + ROWS)
        exact = unit_rows(vectors[rows[some]].astype(np.float64), rescale=True)
        units[some], along[some] = exact, exact @ direction
    best = Differences(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))
    start, least = 0, 0.0
    while start < len(rows):
        size = max(block // (len(rows) - start), 1)
        cosines = units[start : start + size] @ units[start:].T
        flat = set_places(cosines >= np.float32(1 - (delta**2 + _ROUNDING) / 2))[0]
        upper, lower = np.divmod(flat, cosines.shape[1])
        above = lower > upper
        upper, lower = upper[above], lower[above]
        squares = 2 - 2 * cosines.ravel()[flat[above]].astype(np.float64)
        gaps = (along[start + upper] - along[start + lower]) ** 2
        able = _may_be_best(gaps, squares, delta, least, most)
        found = _score_exactly(vectors, rows[start + upper[able]], rows[start + lower[able]], direction, delta)
        first, second, scores, cosine = (np.concatenate(both) for both in zip(best, found, strict=True))
        order = np.lexsort((second, first, -scores))[:most]
        best = Differences(first[order], second[order], scores[order], cosine[order])
        least = float(best.scores[-1]) if len(order) == most else 0.0
        start += size
    return best


def _may_be_best(gaps: Floats, squares: Floats, delta: float, least: float, most: int) -> Places:
    """Indices of the pairs that can be among the best: a score is the root of gap over square."""
    largest = gaps / np.maximum(squares - _ROUNDING, EQUAL**2)
    able = np.flatnonzero(largest >= (least - _ROUNDING) ** 2 if least > _ROUNDING else gaps > 0)
    sure = able[(squares[able] + _ROUNDING <= delta**2) & (squares[able] > 2 * _ROUNDING)]
    if len(sure) > most:
        smallest = gaps[sure] / (squares[sure] + _ROUNDING)
        able = able[largest[able] >= np.partition(smallest, len(smallest) - most)[len(smallest) - most]]
    return able


def _score_exactly(vectors: Vectors, upper: Places, lower: Places, direction: Floats, delta: float) -> Differences:
    """Score pairs in double precision, and turn each so that its score is positive."""
    scores, squares = np.zeros(len(upper)), np.zeros(len(upper))
    for start in range(0, len(upper), ROWS):
        block = slice(start, start + ROWS)
        left, right = (unit_rows(vectors[rows[block]].astype(np.float64), rescale=True) for rows in (upper, lower))
        difference = left - right
        squares[block] = np.einsum("ij,ij->i", difference, difference)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores[block] = difference @ direction / np.sqrt(squares[block])
    scores = np.clip(scores, -1, 1).round(DIGITS)
    usable = (squares > EQUAL**2) & (np.round(squares, DIGITS) <= round(delta**2, DIGITS)) & (scores != 0)
    turned = scores < 0
    first, second = np.where(turned, lower, upper), np.where(turned, upper, lower)
    return Differences(first[usable], second[usable], np.abs(scores[usable]), 1 - squares[usable] / 2)
