"""`analogies`: a is to b as c is to …? With or without the question's own words, both ways round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.analogies import REASONS, Method, Solutions, solve_analogies
from biasgauge.embeddings.analogy_questions import question_rows
from biasgauge.embeddings.benchmark_files import Question, questions_of
from biasgauge.embeddings.coverage import ZERO
from biasgauge.embeddings.loading import load
from biasgauge.errors import ParameterError
from biasgauge.inputs import VectorsLike, distinct_words

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.embeddings.analogy_questions import Questions
    from biasgauge.embeddings.embedding import Embedding

Direction = Literal["stated", "reversed"]

RESTRICT = 50_000
"""Only so many of a model's first words can be an answer, as in Zhang et al.: the rest are too rare to be of use."""

_SHOWN = 20


@dataclass(frozen=True)
class AnalogyAnswer:
    """One question, and what a model answers.

    Attributes:
        question: the words as they were asked about. Where `direction` is "reversed", a and c have changed places, and
            no right answer is known.
        direction: "stated", or "reversed": "c is to b as a is to …?".
        answers: the best candidates, best first, each with its score: 3CosAdd the cosine with b − a + c, in [−1, 1];
            3CosMul the quotient, at least 0. Empty where the question is undefined.
        reason: why there is no answer, naming the lost words; None when there is one.
    """

    question: Question
    direction: Direction
    answers: tuple[tuple[str, float], ...]
    reason: str | None = None

    @property
    def answer(self) -> str | None:
        """The best candidate; None where the question is undefined."""
        return self.answers[0][0] if self.answers else None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            **self.question._asdict(),
            "direction": self.direction,
            "answers": [{"word": word, "score": score} for word, score in self.answers],
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class Analogies:
    """Answers of one model to analogy questions.

    Attributes:
        model: the model's name.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: whether a, b and c were kept from being the answer.
        restrict: how many of the model's first words could be an answer; None: all.
        answers: one for each question and direction, in the order of the questions.
    """

    model: str
    method: Method
    exclude_inputs: bool
    restrict: int | None
    answers: tuple[AnalogyAnswer, ...]

    @property
    def undefined(self) -> int:
        """How many questions have no answer."""
        return sum(one.reason is not None for one in self.answers)

    def to_frame(self) -> pd.DataFrame:
        """One row for each answer, `rank` 1 being the best; one without an answer for each undefined question."""
        import pandas as pd

        rows = [
            (*one.question, one.direction, rank, word, score, one.reason)
            for one in self.answers
            for rank, (word, score) in enumerate(one.answers or ((None, None),), start=1)
        ]
        return pd.DataFrame(
            rows, columns=[*Question._fields, "direction", "rank", "answer", "score", "reason"], dtype=object
        ).astype({"rank": int, "score": float})

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "model": self.model,
            "method": self.method,
            "exclude_inputs": self.exclude_inputs,
            "restrict": self.restrict,
            "answers": [one.to_dict() for one in self.answers],
        }

    def __repr__(self) -> str:
        return (
            f"<Analogies of {self.model!r}, {self.method}: {len(self.answers):,} answers, {self.undefined:,} undefined>"
        )

    def _repr_html_(self) -> str:
        more = f"<p>… and {len(self.answers) - _SHOWN:,} more</p>" if len(self.answers) > _SHOWN else ""
        rows = "".join(
            f"<tr><td>{escape(f'{one.question.a} : {one.question.b} :: {one.question.c} :')}</td>"
            f"<td>{escape(', '.join(word for word, _ in one.answers) or f'undefined: {one.reason}')}</td></tr>"
            for one in self.answers[:_SHOWN]
        )
        return f"<p>{escape(repr(self))}</p><table>{rows}</table>{more}"


def analogies(
    vectors: VectorsLike,
    questions: Questions | None = None,
    *,
    method: Method = "3cosadd",
    exclude_inputs: bool = True,
    restrict: int | None = RESTRICT,
    direction: Direction | Literal["both"] = "stated",
    topn: int = 1,
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
        topn: how many answers to each question.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    directions = get_args(Direction) if direction == "both" else (direction,)
    if not set(directions) <= set(get_args(Direction)):
        allowed = (*get_args(Direction), "both")
        raise ParameterError(f"The 'direction' parameter of analogies must be one of {allowed}. Got {direction!r}.")
    model = load(vectors)
    stated = questions_of(questions, "analogies", answers=False)
    solve = partial(
        solve_analogies,
        model,
        method=method,
        exclude_inputs=exclude_inputs,
        candidates=candidate_rows(model, restrict, "analogies"),
        topn=topn,
    )
    found = [_answers(model, stated, way, solve, case_fallback=case_fallback) for way in directions]
    answers = tuple(one for both in zip(*found, strict=True) for one in both)
    return Analogies(model.name, method, exclude_inputs, restrict, answers)


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
    found = model.lookup(words, case_fallback=case_fallback)
    found = found.only(np.asarray(model.vectors[found.rows].any(axis=1)), ZERO)
    return dict(zip(found.words, found.rows.tolist(), strict=True)), dict(found.lost)


def candidate_rows(model: Embedding, restrict: int | None, function: str) -> NDArray[np.intp]:
    """Rows that can be an answer: the first so many, or all.

    Raises:
        ParameterError: it is no number of words.
    """
    if restrict is not None and (not isinstance(restrict, int) or restrict < 1):
        raise ParameterError(
            f"The 'restrict' parameter of {function} must be a whole number of at least 1, or None. Got {restrict!r}."
        )
    return np.arange(len(model) if restrict is None else min(restrict, len(model)))


def _answers(
    model: Embedding,
    stated: Sequence[Question],
    direction: Direction,
    solve: Callable[..., Solutions],
    *,
    case_fallback: bool,
) -> list[AnalogyAnswer]:
    asked = stated if direction == "stated" else [one._replace(a=one.c, c=one.a, d="") for one in stated]
    rows, lost = question_rows(model, asked, roles=3, case_fallback=case_fallback)
    kept = [place for place in range(len(asked)) if place not in lost]
    found = [AnalogyAnswer(one, direction, (), lost.get(place)) for place, one in enumerate(asked)]
    for place, answers, reason in zip(kept, *_words(model, solve(*rows[kept].T)), strict=True):
        found[place] = AnalogyAnswer(asked[place], direction, answers, reason)
    return found


def _words(model: Embedding, solutions: Solutions) -> tuple[list[tuple[tuple[str, float], ...]], list[str | None]]:
    """Answers with their scores, and why there are none, for each question."""
    answers = [
        tuple((model.words[row], score) for row, score in zip(rows, scores, strict=True) if row >= 0)
        for rows, scores in zip(solutions.ranked.tolist(), solutions.ranked_scores.tolist(), strict=True)
    ]
    return answers, [REASONS[place] or None for place in solutions.undefined.tolist()]
