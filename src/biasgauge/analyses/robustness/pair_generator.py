"""`generate_pairs`: the pairs of words that differ as a given pair does.

Bolukbasi, Chang, Zou, Saligrama & Kalai (*Man is to Computer Programmer as Woman is to Homemaker?*, 2016, section 4):
"a is to x as b is to y" scores cos(a − b, x − y) where ‖x − y‖ ≤ δ, all vectors of length 1, else 0. With δ = 1 the
cosine of x and y is at least .5, so that what is returned is similar before anything else (Zhang, Sneyd & Stevenson
2020, section 7): the result says how similar, and how similar random words are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from biasgauge.analyses.robustness.analogy_search import RESTRICT, candidate_rows, directed_rows, two_words
from biasgauge.analyses.robustness.difference_search import EQUAL, Differences, best_differences
from biasgauge.core import (
    Floats,
    Places,
    VectorsLike,
    check_choice,
    check_level,
    check_whole,
    distinct_words,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import WordStatistic, mean_cosine
from biasgauge.vectors import Embedding, load

Unique = Literal["side", "word"]

DELTA = 1.0
"""Largest distance of x and y in Bolukbasi et al.: their cosine is at least .5."""
_SPARE = 20
"""So many times as many pairs as are wanted are looked at first where words must not recur."""


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
    case_fallback: bool = False,
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
        restrict: without `words`, the first so many words of the model; None: all.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
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
    pair = two_words(pair, "generate_pairs")
    ends, lost = directed_rows(model, pair, case_fallback=case_fallback)
    if words is None:
        rows = candidate_rows(model, restrict)
        rows = rows[np.asarray(model.vectors[rows].any(axis=1))]
    else:
        chosen = distinct_words(words, "words", "generate_pairs")
        rows_by_word, more = directed_rows(model, chosen, case_fallback=case_fallback)
        rows, lost = np.unique(np.array(list(rows_by_word.values()), np.intp)), {**lost, **more}
    reason = "; ".join(f"{end}: {lost[end]}" for end in pair if end in lost) or None
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
    most = top if unique is None else _SPARE * top
    while True:
        best = best_differences(model.vectors, rows, direction, delta, most)
        indexes = _first_of_each(best, unique)[:top]
        if len(indexes) == top or len(best.first) < most:
            columns = (column[indexes].tolist() for column in best)
            return [
                GeneratedPair(model.words[first], model.words[second], score, cosine)
                for first, second, score, cosine in zip(*columns, strict=True)
            ]
        most *= _SPARE


def _first_of_each(best: Differences, unique: Unique | None) -> list[int]:
    """Indexes of pairs whose words occur in no better pair."""
    if unique is None:
        return list(range(len(best.first)))
    firsts: set[int] = set()
    seconds = firsts if unique == "word" else set()
    indexes = []
    for index, (first, second) in enumerate(zip(best.first.tolist(), best.second.tolist(), strict=True)):
        if first not in firsts and second not in seconds:
            firsts.add(first)
            seconds.add(second)
            indexes.append(index)
    return indexes
