"""`analogies`: a is to b as c is to …? With or without the question's own words, both ways round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from biasgauge.core import JsonMapping, Places, Record, VectorsLike, check_choice, check_whole, distinct_words
from biasgauge.errors import ParameterError
from biasgauge.results import Result, Summary, Table, counted
from biasgauge.vectors import (
    REASONS,
    ZERO,
    Embedding,
    Method,
    Question,
    Solutions,
    load,
    question_rows,
    questions_of,
    solve_analogies,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.vectors import Questions

Direction = Literal["stated", "reversed"]

RESTRICT = 50_000
"""Only so many of a model's first words can be an answer, as in Zhang et al.: the rest are too rare to be of use."""


@dataclass(frozen=True)
class AnalogyAnswer(Record):
    """One question, and what a model answers.

    Attributes:
        question: the words as they were asked about. Where `direction` is "reversed", a and c have changed places, and
            no right answer is known.
        direction: "stated", or "reversed": "c is to b as a is to …?".
        answers: the best candidates, best first, each with its score: 3CosAdd the cosine with b − a + c, in [−1, 1];
            3CosMul the quotient, at least 0. Empty where the question is undefined.
        reason: why there is no answer, naming the lost words; None when there is one.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"question"})

    question: Question
    direction: Direction
    answers: tuple[tuple[str, float], ...]
    reason: str | None = None

    @property
    def answer(self) -> str | None:
        """The best candidate; None where the question is undefined."""
        return self.answers[0][0] if self.answers else None

    def derived(self) -> JsonMapping:
        """The words of the question, and each answer with its score."""
        return {**self.question._asdict(), "answers": [{"word": word, "score": score} for word, score in self.answers]}


@dataclass(frozen=True, eq=False, repr=False)
class Analogies(Result):
    """Answers of one model to analogy questions.

    Attributes:
        model: the model's name.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: whether a, b and c were kept from being the answer.
        restrict: how many of the model's first words could be an answer; None: all.
        answers: one for each question and direction, in the order of the questions.
    """

    abridged: ClassVar[bool] = True

    model: str
    method: Method
    exclude_inputs: bool
    restrict: int | None
    answers: tuple[AnalogyAnswer, ...]

    @property
    def undefined(self) -> int:
        """Number of questions without an answer."""
        return sum(answer.reason is not None for answer in self.answers)

    def to_frame(self) -> pd.DataFrame:
        """One row for each answer, `rank` 1 being the best; one without an answer for each undefined question."""
        import pandas as pd

        rows = [
            (*answer.question, answer.direction, rank, word, score, answer.reason)
            for answer in self.answers
            for rank, (word, score) in enumerate(answer.answers or ((None, None),), start=1)
        ]
        columns = [*Question._fields, "direction", "rank", "answer", "score", "reason"]
        return pd.DataFrame(rows, columns=columns, dtype=object).astype({"rank": int, "score": float})

    def summary(self) -> Summary:
        """Number of questions with an answer, and the answers."""
        words = [", ".join(word for word, _ in row.answers) or f"undefined: {row.reason}" for row in self.answers]
        questions = ["{} : {} :: {} :".format(*row.question[1:4]) for row in self.answers]
        rows = list(zip(questions, words, strict=True))
        return Summary(
            title=f"Analogies of {self.model}, {self.method}",
            headline=f"{self.model}, {self.method}: {counted(self.answers, 'answer')}, {self.undefined:,} undefined",
            tables=(Table.of("answers", "", ["question", "answer"], rows, most=20),),
        )


def analogies(
    vectors: VectorsLike,
    questions: Questions | None = None,
    *,
    method: Method = "3cosadd",
    exclude_inputs: bool = True,
    restrict: int | None = RESTRICT,
    direction: Direction | Literal["both"] = "stated",
    top: int = 1,
    case_fallback: bool = False,
) -> Analogies:
    """Solve analogy questions: which word is to c as b is to a?

    Args:
        vectors: an `Embedding` or anything `load` takes.
        questions: three or four words each (the fourth is the answer expected), such questions by category, or a file
            as the Google set has it; None: the Google set itself.
        method: "3cosadd" or "3cosmul", as in `biasgauge.solve_analogies`.
        exclude_inputs: a, b and c cannot be the answer. Without this the answer is b or c more often than not (Nissim,
            van Noord & van der Goot, *Computational Linguistics* 46, 2020).
        restrict: only the first so many words of the model can be an answer; None: all. Any word may be asked about.
        direction: "stated"; "reversed" asks "c is to b as a is to …?" instead; or "both".
        top: how many answers to each question.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_choice((*get_args(Direction), "both"), direction=direction)
    model = load(vectors)
    stated = questions_of(questions, "analogies", answers=False)
    pool = candidate_rows(model, restrict)
    solve = partial(
        solve_analogies, model, method=method, exclude_inputs=exclude_inputs, candidates=pool, top=top
    )  # fmt: skip
    directions = get_args(Direction) if direction == "both" else (direction,)
    answers = [_answers(model, stated, way, solve, case_fallback=case_fallback) for way in directions]
    in_order = tuple(answer for both in zip(*answers, strict=True) for answer in both)
    return Analogies(model.name, method, exclude_inputs, restrict, in_order)


def two_words(pair: Iterable[str], function: str) -> tuple[str, str]:
    """The two words of a pair.

    Raises:
        ParameterError: it is something else.
    """
    words = distinct_words(pair, "pair", function)
    if len(words) != 2:
        raise ParameterError(f"The 'pair' parameter of {function} must be two different words. Got {pair!r}.")
    return words[0], words[1]


def directed_rows(
    model: Embedding, words: Iterable[str], *, case_fallback: bool
) -> tuple[dict[str, int], dict[str, str]]:
    """Rows of the words that have a direction, and why the others are lost."""
    lookup = model.lookup(words, case_fallback=case_fallback)
    lookup = lookup.only(np.asarray(model.vectors[lookup.rows].any(axis=1)), ZERO)
    return dict(zip(lookup.words, lookup.rows.tolist(), strict=True)), dict(lookup.lost)


def candidate_rows(model: Embedding, restrict: int | None) -> Places:
    """Rows that can be an answer: the first so many, or all.

    Raises:
        ParameterError: it is no number of words.
    """
    if restrict is None:
        return np.arange(len(model))
    check_whole(1, restrict=restrict)
    return np.arange(min(restrict, len(model)))


def _answers(
    model: Embedding,
    stated: Sequence[Question],
    direction: Direction,
    solve: Callable[..., Solutions],
    *,
    case_fallback: bool,
) -> list[AnalogyAnswer]:
    if direction == "reversed":
        stated = [question._replace(a=question.c, c=question.a, d="") for question in stated]
    rows, lost = question_rows(model, stated, roles=3, case_fallback=case_fallback)
    answerable = [index for index in range(len(stated)) if index not in lost]
    answers = [AnalogyAnswer(question, direction, (), lost.get(index)) for index, question in enumerate(stated)]
    solutions = solve(*rows[answerable].T)
    columns = (column.tolist() for column in (solutions.ranked, solutions.ranked_scores, solutions.undefined))
    for index, ranked, scores, undefined in zip(answerable, *columns, strict=True):
        best = tuple((model.words[row], score) for row, score in zip(ranked, scores, strict=True) if row >= 0)
        answers[index] = AnalogyAnswer(stated[index], direction, best, REASONS[undefined] or None)
    return answers
