"""`similarity_explained`: "man is to x as woman is to …?" mostly returns what is merely similar to x.

The argument of Zhang, Sneyd & Stevenson (*Robustness and Reliability of Gender Bias Assessment in Word Embeddings*,
2020, section 7): where the two words of a pair are close, b − a + c is close to b, so the answer is a neighbor of b
whatever the pair is about. Their code asked the reverse of what the text states; both are computed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasgauge.embeddings.analogies import REASONS, Method, Solutions, solve_analogies
from biasgauge.embeddings.benchmark_files import google_analogies, read_analogies
from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.loading import load
from biasgauge.embeddings.procrustes import ROWS
from biasgauge.errors import ParameterError
from biasgauge.geometry import row_cosines
from biasgauge.inputs import VectorsLike, distinct_words
from biasgauge.sensitivity.analogy_search import RESTRICT, Direction, candidate_rows, directed_rows, two_words
from biasgauge.sensitivity.explained_result import Condition, SimilarityExplained, WordAnswer
from biasgauge.sensitivity.neighbor_ranks import NeighborRanks, neighbor_ranks
from biasgauge.stats import repeated_words
from biasgauge.stats.estimate import check_level
from biasgauge.stats.repeated_words import WordStatistic

__all__ = ["SimilarityExplained", "similarity_explained"]

Way = tuple[Direction, bool]
WAYS: tuple[Way, ...] = (("stated", True), ("reversed", True), ("stated", False), ("reversed", False))
"""Ways of asking: the direction, and whether the inputs are excluded."""

ALL = "all"
_TWO = 2


class _Item(NamedTuple):
    category: str
    x: str
    expected: str


ItemsLike: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str | Sequence[str]] | Mapping[str, Iterable[str | Sequence[str]]]"
)
"""Words, or pairs of a word and what is expected, by category or not; or a file of questions."""


def similarity_explained(
    vectors: VectorsLike,
    words: ItemsLike | None = None,
    *,
    pair: tuple[str, str] = ("man", "woman"),
    method: Method = "3cosadd",
    restrict: int | None = RESTRICT,
    neighbors: int = 10,
    excluded: Sequence[str] = ("family",),
    case_fallback: bool = False,
    level: float = 0.95,
    random_pairs: int = 100_000,
    random_state: int = 0,
) -> SimilarityExplained:
    """Ask "first is to x as second is to …?" for many words x, and see how near the answers are to x.

    Each word is asked about both ways round, with and without excluding x and the pair from the answers.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        words: words x, pairs (x, expected answer), either by category, or a file of analogy questions, of which the
            first two words of each line count, once in a category; None: the Google set, 573 such pairs.
        pair: (first, second).
        method: "3cosadd" or "3cosmul".
        restrict: only the first so many words of the model can be an answer or a neighbor; None: all.
        neighbors: how many neighbors of x count as near.
        excluded: categories whose pairs are of the kind that `pair` is: they are left out of the totals.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        level: nominal coverage of the intervals.
        random_pairs: how many random pairs of words the similarities are held against.
        random_state: seed of those pairs.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    if not isinstance(neighbors, int) or neighbors < 1 or not isinstance(random_pairs, int) or random_pairs < _TWO:
        raise ParameterError(
            "similarity_explained needs at least 1 of 'neighbors' and 2 'random_pairs'. "
            f"Got {neighbors!r} and {random_pairs!r}."
        )
    model = load(vectors)
    items = _items(words)
    pool = candidate_rows(model, restrict, "similarity_explained")
    pair = two_words(pair, "similarity_explained")
    excluded = distinct_words(excluded, "excluded", "similarity_explained")
    asked = {*pair, *(word for one in items for word in one[1:] if word)}
    rows, lost = directed_rows(model, sorted(asked), case_fallback=case_fallback)
    reason = "; ".join(f"{end}: {lost[end]}" for end in pair if end in lost) or None
    solved = None if reason else _Solved.of(model, [one.x for one in items if one.x in rows], rows, pair, pool, method)
    answers = [
        solved.answer(one, way) if solved and one.x in rows else _no_answer(one, way, reason or lost[one.x])
        for one in items
        for way in WAYS
    ]
    spelled = {word: model.words[row] for word, row in rows.items()}
    summarize = partial(_condition, spelled=spelled, neighbors=neighbors, level=level)
    counted = [one for one in answers if one.category not in excluded]
    judged = [one for one in _asked(counted, *WAYS[0]) if one.expected in spelled]
    return SimilarityExplained(
        model=model.name,
        pair=pair,
        method=method,
        restrict=restrict,
        neighbors=neighbors,
        excluded=excluded,
        pair_cosine=None if reason else float(_cosines(model, *([rows[end]] for end in pair))[0]),
        conditions=tuple(summarize(counted, ALL, *way) for way in WAYS),
        by_category=tuple(
            summarize([one for one in answers if one.category == name], name, *way)
            for name in dict.fromkeys(one.category for one in items)
            for way in WAYS
            if name != ALL
        ),
        nearest_correct=repeated_words.share_of_repeated(
            [one.nearest == spelled[one.expected] for one in judged], [one.x for one in judged], level
        ),
        listed=_listed(model, [one for one in items if one.category not in excluded], rows, level),
        listed_with_excluded=_listed(model, items, rows, level),
        random_pairs=_random_pairs(model, pool, random_pairs, random_state, level),
        answers=tuple(answers),
        lost=lost,
        reason=reason,
    )


def _items(given: ItemsLike | None) -> list[_Item]:
    """Words and what is expected for each, once in a category, in the order given."""
    if given is None or isinstance(given, (str, os.PathLike)):
        asked = google_analogies() if given is None else read_analogies(Path(given))
        return list(dict.fromkeys(_Item(one.category, one.a, one.b) for one in asked))
    grouped: Mapping[Any, Any] = given if isinstance(given, Mapping) else {ALL: given}
    found = []
    for category, some in grouped.items():
        for one in some if isinstance(some, Iterable) and not isinstance(some, str) else (None,):
            words = (one, "") if isinstance(one, str) else tuple(one) if isinstance(one, Iterable) else ()
            if len(words) != _TWO or not all(isinstance(word, str) for word in words):
                raise ParameterError(
                    "The 'words' parameter of similarity_explained must be a file of questions, words, pairs of words, "
                    f"or a dict of category to either. Got {one!r}."
                )
            found.append(_Item(str(category), *words))
    if not found:
        raise ParameterError("The 'words' parameter of similarity_explained holds no word.")
    return list(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class _Solved:
    """All ways of asking about some words, solved.

    Attributes:
        model: the model.
        place: of each word x in the arrays.
        solutions: one for each of `WAYS`.
        ranks: of those answers among the neighbors of x.
    """

    model: Embedding
    place: Mapping[str, int]
    solutions: tuple[Solutions, ...]
    ranks: NeighborRanks

    @classmethod
    def of(
        cls,
        model: Embedding,
        words: Iterable[str],
        rows: Mapping[str, int],
        pair: tuple[str, str],
        pool: NDArray[np.intp],
        method: Method,
    ) -> _Solved:
        """Solve all ways of asking about some words."""
        place = {word: number for number, word in enumerate(dict.fromkeys(words))}
        x = np.array([rows[word] for word in place], np.intp)
        ends = np.array([rows[end] for end in pair])
        solutions = []
        for direction, exclude in WAYS:
            a, c = (np.full(len(x), end) for end in (ends if direction == "stated" else ends[::-1]))
            found = solve_analogies(model, a, x, c, method=method, exclude_inputs=exclude, candidates=pool)
            solutions.append(found)
        answers = np.stack([one.rows for one in solutions], axis=1)
        leaves_out = np.array([exclude for _, exclude in WAYS])
        return cls(model, place, tuple(solutions), neighbor_ranks(model.vectors, x, answers, pool, ends, leaves_out))

    def answer(self, item: _Item, way: Way) -> WordAnswer:
        """The answer for one word."""
        place, column = self.place[item.x], WAYS.index(way)
        found = self.solutions[column]
        if reason := REASONS[int(found.undefined[place])]:
            return _no_answer(item, way, reason)
        nearest = int(self.ranks.nearest[place])
        return WordAnswer(
            *item,
            *way,
            answer=self.model.words[found.rows[place]],
            score=float(found.scores[place]),
            cosine=float(self.ranks.cosines[place, column]),
            rank=int(self.ranks.ranks[place, column]),
            nearest=None if nearest < 0 else self.model.words[nearest],
        )


def _no_answer(item: _Item, way: Way, reason: str) -> WordAnswer:
    return WordAnswer(*item, *way, answer=None, score=None, cosine=None, rank=None, nearest=None, reason=reason)


def _asked(answers: Iterable[WordAnswer], direction: Direction, exclude_inputs: bool) -> list[WordAnswer]:  # noqa: FBT001 - half of a way
    """Those that were asked in one way and have an answer."""
    return [
        one
        for one in answers
        if (one.direction, one.exclude_inputs) == (direction, exclude_inputs) and one.answer is not None
    ]


def _condition(
    answers: Iterable[WordAnswer],
    category: str,
    direction: Direction,
    exclude_inputs: bool,  # noqa: FBT001 - half of a way
    *,
    spelled: Mapping[str, str],
    neighbors: int,
    level: float,
) -> Condition:
    """Summarize one way of asking."""
    used = _asked(answers, direction, exclude_inputs)
    judged = [one for one in used if one.expected in spelled]
    words = [one.x for one in used]
    ranks = np.array([one.rank for one in used], float)
    return Condition(
        category=category,
        direction=direction,
        exclude_inputs=exclude_inputs,
        itself=repeated_words.share_of_repeated(ranks == 0, words, level),
        explained=repeated_words.share_of_repeated(ranks <= 1, words, level),
        near=repeated_words.share_of_repeated(ranks <= neighbors, words, level),
        correct=repeated_words.share_of_repeated(
            [one.answer == spelled[one.expected] for one in judged], [one.x for one in judged], level
        ),
        rank=repeated_words.median_of_distinct(ranks, words, level),
        cosine=repeated_words.mean_cosine(np.array([one.cosine for one in used], float), words, level),
    )


def _listed(model: Embedding, items: Sequence[_Item], rows: Mapping[str, int], level: float) -> WordStatistic:
    """Mean cosine of the words with what is expected for them."""
    known = [one for one in items if one.x in rows and one.expected in rows]
    cosines = _cosines(model, [rows[one.x] for one in known], [rows[one.expected] for one in known])
    return repeated_words.mean_cosine(cosines, [one.x for one in known], level)


def _random_pairs(
    model: Embedding, pool: NDArray[np.intp], count: int, random_state: int, level: float
) -> WordStatistic:
    """Mean cosine of two different words drawn at random."""
    directed = pool[np.concatenate([model.vectors[pool[i : i + ROWS]].any(axis=1) for i in range(0, len(pool), ROWS)])]
    if len(directed) < _TWO:
        return repeated_words.undefined(level, repeated_words.STUDENT)
    random = np.random.default_rng(random_state)
    first = random.integers(0, len(directed), count)
    second = (first + random.integers(1, len(directed), count)) % len(directed)
    cosines = _cosines(model, directed[first], directed[second])
    return repeated_words.mean_cosine(cosines, None, level, over="random pairs")


def _cosines(model: Embedding, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Cosines of rows, one by one."""
    one, other = np.asarray(first, np.intp), np.asarray(second, np.intp)
    found = np.empty(len(one))
    for start in range(0, len(one), ROWS):
        part = slice(start, start + ROWS)
        found[part] = np.clip(row_cosines(model.vectors[one[part]], model.vectors[other[part]]), -1, 1)
    return found
