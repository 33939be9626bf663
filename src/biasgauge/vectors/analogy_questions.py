"""`analogy_accuracy`: the share of analogy questions that a model answers with the right word."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.core import Estimate, Flags, JsonObject, Places, VectorsLike, check_level, check_whole
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats import leave_one_out
from biasgauge.vectors.analogies import REASONS, Method, solve_analogies
from biasgauge.vectors.benchmarks import Question, questions_of
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.loading import load

if TYPE_CHECKING:
    import pandas as pd

    Questions = str | os.PathLike[str] | Mapping[str, Iterable[Sequence[str]]] | Iterable[Sequence[str]]
    """Questions as users hand them over: a file, questions, or questions by category."""

WILSON = "wilson, effective size from a jackknife over word pairs"


@dataclass(frozen=True, kw_only=True)
class Accuracy(Estimate):
    """Share of the `n` questions asked that were answered rightly, in [0, 1]; undefined when none could be asked.

    The interval is over pairs of words. Questions that share a pair are right or wrong together, so it is Wilson's for
    as many independent questions as would give the variance of a jackknife over pairs.

    Attributes:
        name: the category, or "total", "semantic", "syntactic".
        correct: how many were answered rightly.
        lost: how many could not be asked.
    """

    name: str
    correct: int
    lost: int

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        counts = {"correct": self.correct, "questions": self.n, "lost": self.lost}
        reason = None if self.defined else self.reason
        return {"name": self.name, "value": self.value, **counts, "interval": self.interval(), "reason": reason}


@dataclass(frozen=True, eq=False, repr=False)
class AnalogyAccuracy(Result):
    """Accuracy on a set of analogy questions.

    Attributes:
        model: the model's name.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: whether a, b and c were excluded as answers.
        total: over all questions.
        categories: each category by itself, in the order of the file.
        semantic: over the categories whose names do not start with "gram"; None where no category's name does, since
            only the Google set is named so.
        syntactic: over the categories whose names do; None likewise.
        lost: questions that could not be asked, each with the reason.
    """

    abridged: ClassVar[bool] = True

    model: str
    method: Method
    exclude_inputs: bool
    total: Accuracy
    semantic: Accuracy | None
    syntactic: Accuracy | None
    categories: tuple[Accuracy, ...]
    lost: tuple[tuple[Question, str], ...]

    def rows(self) -> list[Accuracy]:
        """The total, the two kinds where there are such, and the categories."""
        return [row for row in (self.total, self.semantic, self.syntactic, *self.categories) if row is not None]

    def to_frame(self) -> pd.DataFrame:
        """One row each for the total, the two kinds and the categories."""
        import pandas as pd

        rows = [{**row.to_dict(), "low": row.low, "high": row.high} for row in self.rows()]
        return pd.DataFrame(rows, columns=["name", "value", "low", "high", "correct", "questions", "lost", "reason"])

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        lost = [{**question._asdict(), "reason": reason} for question, reason in self.lost]
        return {**super().to_dict(), "lost": lost}

    def summary(self) -> Summary:
        """Accuracy over all questions and by category."""
        counts = [Column("accuracy", "estimate", 3), Column("asked", "count"), Column("lost", "count")]
        rows = [(row.name, row, row.n, row.lost) for row in self.rows()]
        return Summary(
            title=f"Analogy questions on {self.model}",
            headline=(
                f"{self.model!r}, {self.method}: accuracy {self.total} on {self.total.n:,} questions, "
                f"{self.total.lost:,} lost"
            ),
            tables=(Table.of("accuracy", "", ["questions", *counts], rows),),
        )


def analogy_accuracy(
    vectors: VectorsLike,
    questions: Questions | None = None,
    *,
    method: Method = "3cosadd",
    exclude_inputs: bool = True,
    limit: int | None = None,
    case_fallback: bool = False,
    level: float = 0.95,
) -> AnalogyAccuracy:
    """Share of analogy questions that are answered rightly: a is to b as c is to d, where d is the answer.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        questions: a file like the Google set (`: category` lines, then four words per line), four words per question,
            or such questions by category; None: the Google set itself.
        method: "3cosadd" or "3cosmul", as in `solve_analogies`.
        exclude_inputs: a, b and c cannot be the answer, as in the literature.
        limit: only the first so many words of the model may be asked about or be the answer.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    check_whole(1, limit=1 if limit is None else limit)
    model = load(vectors)
    listed = questions_of(questions, "analogy_accuracy")
    rows, lost = question_rows(model, listed, limit, case_fallback=case_fallback)
    complete = np.flatnonzero((rows >= 0).all(axis=1))
    solved = solve_analogies(
        model,
        *rows[complete, :3].T,
        method=method,
        exclude_inputs=exclude_inputs,
        candidates=None if limit is None else np.arange(min(limit, len(model))),
    )
    lost |= {int(complete[index]): REASONS[int(solved.undefined[index])] for index in np.flatnonzero(solved.undefined)}
    usable = complete[solved.undefined == 0]
    right = np.zeros(len(listed), bool)
    right[usable] = solved.rows[solved.undefined == 0] == rows[usable, 3]
    answers = Answers(listed, right, frozenset(usable.tolist()), level)
    names = list(dict.fromkeys(question.category for question in listed))
    grammar = [name for name in names if name.startswith("gram")]
    meaning = [name for name in names if name not in grammar]
    return AnalogyAccuracy(
        model=model.name,
        method=method,
        exclude_inputs=exclude_inputs,
        total=answers.accuracy("total", names),
        categories=tuple(answers.accuracy(name, [name]) for name in names),
        semantic=answers.accuracy("semantic", meaning) if grammar else None,
        syntactic=answers.accuracy("syntactic", grammar) if grammar else None,
        lost=tuple((listed[index], reason) for index, reason in sorted(lost.items())),
    )


def question_rows(
    model: Embedding, questions: Sequence[Question], limit: int | None = None, *, roles: int = 4, case_fallback: bool
) -> tuple[Places, dict[int, str]]:
    """Rows of a, b, c and d of each question, −1 for lost words; and the reasons of lost questions, by index.

    With three `roles` only a, b and c are looked up.
    """
    words = [question[1 : 1 + roles] for question in questions]
    lookup = model.lookup((word for members in words for word in members), case_fallback=case_fallback)
    row_of, reason_of = lookup.row_of, dict(lookup.lost)
    if limit is not None:
        reason_of |= {word: f"not among the first {limit:,} words" for word, row in row_of.items() if row >= limit}
    rows = np.array([[-1 if word in reason_of else row_of[word] for word in members] for members in words], np.intp)
    lost = {
        index: "; ".join(f"{word}: {reason_of[word]}" for word in dict.fromkeys(members) if word in reason_of)
        for index, members in enumerate(words)
        if (rows[index] < 0).any()
    }
    return rows, lost


@dataclass(frozen=True)
class Answers:
    """All questions, flags of right answers, and the indices of those that could be asked."""

    questions: Sequence[Question]
    right: Flags
    usable: frozenset[int]
    level: float

    def accuracy(self, name: str, categories: Sequence[str]) -> Accuracy:
        """Accuracy over some categories together."""
        wanted = set(categories)
        indices = [index for index, question in enumerate(self.questions) if question.category in wanted]
        used = [index for index in indices if index in self.usable]
        correct = int(self.right[used].sum())
        labels: dict[str, Any] = {"name": name, "correct": correct, "lost": len(indices) - len(used), "n": len(used)}
        if not used:
            reason = "none of the questions can be asked" if indices else "there is no such question"
            return Accuracy(value=None, level=self.level, method=WILSON, over="word pairs", reason=reason, **labels)
        from biasgauge.stats import wilson

        share = wilson(correct / len(used), self._effective(used), self.level, WILSON, "word pairs")
        return Accuracy.of_estimate(share, **labels)

    def _effective(self, used: Sequence[int]) -> float:
        """Effective number of independent questions, p (1 − p) / variance; that of distinct pairs without spread."""
        variance, pairs = 0.0, 0
        groups: dict[str, list[int]] = {}
        for index in used:
            groups.setdefault(self.questions[index].category, []).append(index)
        # Categories share no pairs, so the variance of their weighted mean is the sum of weight² · variance.
        for indices in groups.values():
            units: dict[tuple[str, str], int] = {}
            unit_of_question = [
                [units.setdefault(pair, len(units)) for pair in ((question.a, question.b), (question.c, question.d))]
                for question in (self.questions[index] for index in indices)
            ]
            pairs += len(units)
            weight = len(indices) / len(used)
            variance += weight**2 * _variance(np.array(unit_of_question), self.right[indices], len(units))
        share = float(self.right[used].mean())
        if variance <= 0 or not 0 < share < 1:
            return float(min(pairs, len(used)))
        return min(share * (1 - share) / variance, float(len(used)))


def _variance(unit_of_question: Places, right: Flags, units: int) -> float:
    """Jackknife variance of a category's accuracy, leaving out each pair of words with all its questions.

    With fewer than three pairs, that of as many independent questions as there are pairs.
    """
    totals, counts = np.zeros((units, 1)), np.zeros((units, 1))
    for column in unit_of_question.T:
        np.add.at(counts[:, 0], column, 1)
        np.add.at(totals[:, 0], column, right)
    left_out = leave_one_out(np.array([right.sum()], float), np.array([len(right)], float), totals, counts)
    variance, share = float(left_out.variance[0]), float(right.mean())
    return share * (1 - share) / units if np.isnan(variance) else variance
