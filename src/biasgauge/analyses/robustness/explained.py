"""`similarity_explained`: "man is to x as woman is to …?" mostly returns what is merely similar to x.

The argument of Zhang, Sneyd & Stevenson (*Robustness and Reliability of Gender Bias Assessment in Word Embeddings*,
2020, section 7): where the two words of a pair are close, b − a + c is close to b, so the answer is a neighbor of b
whatever the pair is about. Their code asked the reverse of what the text states; both are computed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from biasgauge.analyses.robustness import word_similarity
from biasgauge.analyses.robustness.word_similarity import RESTRICT, cosines_of_rows
from biasgauge.core import (
    EXACT_POLICY,
    JsonMapping,
    Places,
    Record,
    VectorsLike,
    WordPolicy,
    check_level,
    check_whole,
    distinct_words,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, records_frame, share_text
from biasgauge.stats import WordStatistic, mean_cosine, median_of_distinct, share_of_repeated
from biasgauge.vectors import REASONS, Embedding, Method, google_analogies, load, read_analogies, solve_analogies

if TYPE_CHECKING:
    import pandas as pd

Direction = Literal["stated", "reversed"]
WAYS: tuple[tuple[Direction, bool], ...] = (
    ("stated", True), ("reversed", True), ("stated", False), ("reversed", False)
)  # fmt: skip
"""Ways of asking: the direction, and whether the inputs are excluded."""
ALL = "all"

Item: TypeAlias = tuple[str, str, str]
"""Category, word x, and what is expected for it or ""."""
ItemsLike: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str | Sequence[str]] | Mapping[str, Iterable[str | Sequence[str]]]"
)
"""Words, or pairs of a word and what is expected, by category or not; or a file of questions."""


@dataclass(frozen=True)
class WordAnswer:
    """The answer to "first is to x as second is to …?" for one word x.

    Attributes:
        category: the category that x stands in.
        x: the word asked about.
        expected: the word that stands beside x in the list; "" where there is none.
        direction: "stated", or "reversed": "second is to x as first is to …?".
        exclude_inputs: whether x and the pair were kept from being the answer.
        answer, score: the answer and its score by the method; None where it is undefined.
        cosine: of x and the answer, in [−1, 1].
        rank: of the answer among the neighbors of x; 1: the nearest; 0: x itself.
        nearest: the nearest neighbor of x, the pair aside.
        reason: why there is no answer; None when there is one.
    """

    category: str
    x: str
    expected: str
    direction: Direction
    exclude_inputs: bool
    answer: str | None = None
    score: float | None = None
    cosine: float | None = None
    rank: int | None = None
    nearest: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Condition(Record):
    """Result of one way of asking.

    Attributes:
        category: the category; "all" for all but those excluded.
        direction, exclude_inputs: as in `WordAnswer`.
        itself: share of the words for which the answer is x itself.
        explained: share for which the answer is x itself or its nearest neighbor: what similarity alone explains.
        near: share for which the answer is x itself or among its `neighbors` nearest.
        correct: share for which the answer is the expected word, among those whose expected word has a vector. Where no
            relation of gender holds between x and that word, a right answer cannot be due to the pair.
        rank: median rank of the answer among the neighbors of x.
        cosine: mean cosine of x and the answer.
    """

    STATISTICS: ClassVar = ("itself", "explained", "near", "correct", "rank", "cosine")
    category: str
    direction: Direction
    exclude_inputs: bool
    itself: WordStatistic
    explained: WordStatistic
    near: WordStatistic
    correct: WordStatistic
    rank: WordStatistic
    cosine: WordStatistic


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityExplained(Result):
    """Does "first is to x as second is to …?" return more than what is similar to x?

    Attributes:
        model: the model's name.
        pair: the two words, (first, second).
        method: "3cosadd" or "3cosmul".
        restrict: how many of the model's first words could be an answer; None: all.
        neighbors: how many neighbors of x count as near.
        excluded: categories that `conditions` leaves out, because their pairs are of the kind that `pair` is.
        pair_cosine: cosine of the two words of the pair; None where one is lost. The nearer to 1, the less the pair can
            move x.
        conditions: both directions, with and without the inputs, over all categories that are not excluded.
        by_category: the same for every category, excluded or not; empty where the words came without categories.
        nearest_correct: share of the words whose nearest neighbor is the expected word: what is answered rightly
            without any pair.
        listed: mean cosine of x and its expected word, over the categories not excluded.
        listed_with_excluded: the same over all categories.
        random_pairs: mean cosine of two words drawn at random from those that could be an answer.
        answers: for each word, each way of asking; `words_frame` has them.
        lost: words x that could not be asked about, with the reason; expected words without a vector likewise.
        reason: why nothing could be asked; None when it could.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"as_published": JsonMapping, "corrected": JsonMapping}
    hidden: ClassVar[frozenset[str]] = frozenset({"answers", "listed", "listed_with_excluded"})

    model: str
    pair: tuple[str, str]
    method: Method
    restrict: int | None
    neighbors: int
    excluded: tuple[str, ...]
    pair_cosine: float | None
    conditions: tuple[Condition, ...]
    by_category: tuple[Condition, ...]
    nearest_correct: WordStatistic
    listed: WordStatistic
    listed_with_excluded: WordStatistic
    random_pairs: WordStatistic
    answers: tuple[WordAnswer, ...]
    lost: dict[str, str]
    reason: str | None = None

    def condition(self, direction: Direction = "stated", *, exclude_inputs: bool = True) -> Condition:
        """One way of asking, over all categories that are not excluded."""
        return self.conditions[WAYS.index((direction, exclude_inputs))]

    def to_frame(self) -> pd.DataFrame:
        """One row for each way of asking, category and statistic, all categories first."""
        import pandas as pd

        rows = []
        for condition in (*self.conditions, *self.by_category):
            for name in Condition.STATISTICS:
                number = getattr(condition, name)
                rows.append({**vars(condition), "statistic": name, **number.to_dict(), **number.interval()})
        columns = ["category", "direction", "exclude_inputs", "statistic", "value", "low", "high", "sd", "n", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def words_frame(self) -> pd.DataFrame:
        """One row for each word and way of asking."""
        return records_frame(self.answers)

    def derived(self) -> JsonMapping:
        """`as_published` follows the published code, `corrected` the published text."""
        return {
            "as_published": {"correct": self.condition("reversed").correct, "listed": self.listed_with_excluded},
            "corrected": {"correct": self.condition().correct, "listed": self.listed},
        }

    def summary(self) -> Summary:
        """Share that similarity alone explains, and every way of asking."""
        question = "“{} is to x as {} is to …?”".format(*self.pair)
        near, itself = self.condition().explained, self.condition(exclude_inputs=False).itself
        headline = f"{question} is undefined: {self.reason or near.reason or itself.reason}."
        if near.value is not None and itself.value is not None:
            headline = (
                f"{question} returns the nearest neighbor of x for {share_text(near.value, 1)} of {near.n:,} words "
                f"({level_text(near.level)} interval {share_text(near.low, 1)} to {share_text(near.high, 1)}), and x "
                f"itself for {share_text(itself.value, 1)} when it may."
            )
        columns = ["direction", "inputs excluded", *(Column(name, "estimate") for name in Condition.STATISTICS)]
        rows = [
            (way.direction, "yes" if way.exclude_inputs else "no", *(getattr(way, name) for name in way.STATISTICS))
            for way in self.conditions
        ]
        return Summary("What similarity explains", headline, tables=(Table.of("conditions", "", columns, rows),))


def similarity_explained(
    vectors: VectorsLike,
    words: ItemsLike | None = None,
    *,
    pair: tuple[str, str] = ("man", "woman"),
    method: Method = "3cosadd",
    restrict: int | None = RESTRICT,
    neighbors: int = 10,
    excluded: Sequence[str] = ("family",),
    policy: WordPolicy = EXACT_POLICY,
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
        restrict: only the first `restrict` words of the model can be an answer or a neighbor; None: all.
        neighbors: how many neighbors of x count as near.
        excluded: categories whose pairs are of the kind that `pair` is: they are left out of the totals.
        policy: how words are looked up.
        level: nominal coverage of the intervals.
        random_pairs: how many random pairs of words the similarities are held against.
        random_state: seed of those pairs.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    check_whole(1, neighbors=neighbors)
    check_whole(2, random_pairs=random_pairs)
    model = load(vectors)
    items = _items(words)
    pool = word_similarity.candidate_rows(model, restrict)
    pair = word_similarity.two_words(pair, "similarity_explained")
    excluded = distinct_words(excluded, "excluded", "similarity_explained")
    wanted = {*pair, *(word for _, x, expected in items for word in (x, expected) if word)}
    rows, lost = word_similarity.directed_rows(model, sorted(wanted), policy)
    reason = word_similarity.lost_ends(pair, lost)
    if reason:
        answers = [WordAnswer(*item, *way, reason=reason) for item in items for way in WAYS]
    else:
        answers = _answers(model, items, rows, lost, pair, pool, method)
    spelled = {word: model.words[row] for word, row in rows.items()}
    included = [answer for answer in answers if answer.category not in excluded]
    hits = {answer: answer.nearest == spelled[answer.expected] for answer in _judged(included, WAYS[0], spelled)}
    categories = dict.fromkeys(answer.category for answer in answers if answer.category != ALL)
    listed = [(category, x, expected) for category, x, expected in items if x in rows and expected in rows]
    cosines = cosines_of_rows(model, *([rows[item[place]] for item in listed] for place in (1, 2)))
    counts = np.array([category not in excluded for category, _, _ in listed], bool)
    return SimilarityExplained(
        model=model.name,
        pair=pair,
        method=method,
        restrict=restrict,
        neighbors=neighbors,
        excluded=excluded,
        pair_cosine=None if reason else float(cosines_of_rows(model, *([rows[end]] for end in pair))[0]),
        conditions=tuple(_conditions(included, ALL, spelled, neighbors, level)),
        by_category=tuple(
            condition
            for name in categories
            for condition in _conditions(
                [row for row in answers if row.category == name], name, spelled, neighbors, level
            )
        ),
        nearest_correct=share_of_repeated(list(hits.values()), [answer.x for answer in hits], level),
        listed=mean_cosine(cosines[counts], [listed[index][1] for index in np.flatnonzero(counts)], level),
        listed_with_excluded=mean_cosine(cosines, [x for _, x, _ in listed], level),
        random_pairs=word_similarity.mean_of_random_pairs(model, pool, random_pairs, random_state, level),
        answers=tuple(answers),
        lost=lost,
        reason=reason,
    )


def _items(words: ItemsLike | None) -> list[Item]:
    """Words and what is expected for each, once in a category, in the order given."""
    if words is None or isinstance(words, (str, os.PathLike)):
        questions = google_analogies() if words is None else read_analogies(Path(words))
        return list(dict.fromkeys((question.category, question.a, question.b) for question in questions))
    grouped: Mapping[Any, Any] = words if isinstance(words, Mapping) else {ALL: words}
    items: list[Item] = []
    for category, listed in grouped.items():
        for entry in listed if isinstance(listed, Iterable) and not isinstance(listed, str) else (None,):
            item = (entry, "") if isinstance(entry, str) else tuple(entry) if isinstance(entry, Iterable) else ()
            if len(item) != 2 or not all(isinstance(word, str) for word in item):
                raise ParameterError(
                    "The 'words' parameter of similarity_explained must be a file of questions, words, pairs of words, "
                    f"or a dict of category to either. Got {entry!r}."
                )
            items.append((str(category), *item))
    if not items:
        raise ParameterError("The 'words' parameter of similarity_explained holds no word.")
    return list(dict.fromkeys(items))


def _answers(
    model: Embedding, items: Sequence[Item], rows: Mapping[str, int], lost: Mapping[str, str], pair: tuple[str, str],
    pool: Places, method: Method,
) -> list[WordAnswer]:  # fmt: skip
    """The answers for every word in every way of asking; words that are lost have none."""
    numbers = {x: number for number, x in enumerate(dict.fromkeys(x for _, x, _ in items if x in rows))}
    x_rows, ends = np.array([rows[x] for x in numbers], np.intp), np.array([rows[end] for end in pair])
    solutions = []
    for direction, exclude in WAYS:
        a, c = (np.full(len(x_rows), end) for end in (ends if direction == "stated" else ends[::-1]))
        solved = solve_analogies(model, a, x_rows, c, method=method, exclude_inputs=exclude, candidates=pool)
        solutions.append(solved)
    best = np.stack([solution.rows for solution in solutions], axis=1)
    leaves_out = np.array([exclude for _, exclude in WAYS])
    near = word_similarity.neighbor_ranks(model.vectors, x_rows, best, pool, ends, leaves_out)
    answers = []
    for item in items:
        number = numbers.get(item[1])
        for column, way in enumerate(WAYS):
            reason = lost[item[1]] if number is None else REASONS[int(solutions[column].undefined[number])]
            if number is None or reason:
                answers.append(WordAnswer(*item, *way, reason=reason))
                continue
            score, cosine = float(solutions[column].scores[number]), float(near.cosines[number, column])
            rank, nearest = int(near.ranks[number, column]), int(near.nearest[number])
            neighbor = None if nearest < 0 else model.words[nearest]
            answers.append(WordAnswer(*item, *way, model.words[best[number, column]], score, cosine, rank, neighbor))
    return answers


def _judged(
    answers: Iterable[WordAnswer], way: tuple[Direction, bool], spelled: Mapping[str, str] | None = None
) -> list[WordAnswer]:
    """Answers to one way of asking; with `spelled`, those whose expected word has a vector."""
    answered = [row for row in answers if (row.direction, row.exclude_inputs) == way and row.answer is not None]
    return [row for row in answered if spelled is None or row.expected in spelled]


def _conditions(
    answers: Sequence[WordAnswer], category: str, spelled: Mapping[str, str], neighbors: int, level: float
) -> Iterator[Condition]:
    """Summarize each way of asking."""
    for way in WAYS:
        used, judged = _judged(answers, way), _judged(answers, way, spelled)
        hits = [answer.answer == spelled[answer.expected] for answer in judged]
        words, ranks = [answer.x for answer in used], np.array([answer.rank for answer in used], float)
        yield Condition(
            category,
            *way,
            itself=share_of_repeated(ranks == 0, words, level),
            explained=share_of_repeated(ranks <= 1, words, level),
            near=share_of_repeated(ranks <= neighbors, words, level),
            correct=share_of_repeated(hits, [answer.x for answer in judged], level),
            rank=median_of_distinct(ranks, words, level),
            cosine=mean_cosine(np.array([row.cosine for row in used], float), words, level),
        )
