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
from biasgauge.vectors.benchmark_files import Question, questions_of
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
        """As it stands in `--json`."""
        counts = {"correct": self.correct, "questions": self.n, "lost": self.lost}
        reason = None if self.defined else self.reason
        return {"name": self.name, "value": self.value, **counts, "interval": self.interval(), "reason": reason}


@dataclass(frozen=True, eq=False, repr=False)
class AnalogyAccuracy(Result):
    """Accuracy on a set of analogy questions.

    Attributes:
        model: the model's name.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: whether a, b and c were kept from being the answer.
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
        lost = [{**question._asdict(), "reason": why} for question, why in self.lost]
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
    """Ask analogy questions: a is to b as c is to d, where d is the right answer.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        questions: a file as the Google set has it (`: category` lines, then four words a line), four words a question,
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
    asked = questions_of(questions, "analogy_accuracy")
    rows, lost = question_rows(model, asked, limit, case_fallback=case_fallback)
    kept = np.flatnonzero((rows >= 0).all(axis=1))
    solved = solve_analogies(
        model,
        *rows[kept, :3].T,
        method=method,
        exclude_inputs=exclude_inputs,
        candidates=None if limit is None else np.arange(min(limit, len(model))),
    )
    lost |= {int(kept[at]): REASONS[int(solved.undefined[at])] for at in np.flatnonzero(solved.undefined)}
    usable = kept[solved.undefined == 0]
    right = np.zeros(len(asked), bool)
    right[usable] = solved.rows[solved.undefined == 0] == rows[usable, 3]
    answers = Answers(asked, right, frozenset(usable.tolist()), level)
    names = list(dict.fromkeys(question.category for question in asked))
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
        lost=tuple((asked[place], why) for place, why in sorted(lost.items())),
    )


def question_rows(
    model: Embedding, asked: Sequence[Question], limit: int | None = None, *, roles: int = 4, case_fallback: bool
) -> tuple[Places, dict[int, str]]:
    """Rows of a, b, c and d of each question, −1 for lost words; and why questions are lost, by their place.

    With three `roles` only a, b and c are looked up.
    """
    words = [question[1 : 1 + roles] for question in asked]
    lookup = model.lookup((word for members in words for word in members), case_fallback=case_fallback)
    places, why = lookup.row_of, dict(lookup.lost)
    if limit is not None:
        why |= {word: f"not among the first {limit:,} words" for word, row in places.items() if row >= limit}
    rows = np.array([[-1 if word in why else places[word] for word in members] for members in words], np.intp)
    lost = {
        place: "; ".join(f"{word}: {why[word]}" for word in dict.fromkeys(members) if word in why)
        for place, members in enumerate(words)
        if (rows[place] < 0).any()
    }
    return rows, lost


@dataclass(frozen=True)
class Answers:
    """All questions, which of them were answered rightly, and the places of those that could be asked."""

    asked: Sequence[Question]
    right: Flags
    usable: frozenset[int]
    level: float

    def accuracy(self, name: str, categories: Sequence[str]) -> Accuracy:
        """Accuracy over some categories together."""
        wanted = set(categories)
        places = [place for place, question in enumerate(self.asked) if question.category in wanted]
        used = [place for place in places if place in self.usable]
        correct = int(self.right[used].sum())
        labels: dict[str, Any] = {"name": name, "correct": correct, "lost": len(places) - len(used), "n": len(used)}
        if not used:
            why = "none of the questions can be asked" if places else "there is no such question"
            return Accuracy(value=None, level=self.level, method=WILSON, over="word pairs", reason=why, **labels)
        from biasgauge.stats import wilson

        share = wilson(correct / len(used), self._effective(used), self.level, WILSON, "word pairs")
        return Accuracy.of_estimate(share, **labels)

    def _effective(self, used: Sequence[int]) -> float:
        """How many independent questions these are worth; the number of distinct pairs where there is no spread."""
        variance, pairs = 0.0, 0
        groups: dict[str, list[int]] = {}
        for place in used:
            groups.setdefault(self.asked[place].category, []).append(place)
        for places in groups.values():
            units: dict[tuple[str, str], int] = {}
            ends = [
                [units.setdefault(pair, len(units)) for pair in ((question.a, question.b), (question.c, question.d))]
                for question in (self.asked[place] for place in places)
            ]
            pairs += len(units)
            variance += (len(places) / len(used)) ** 2 * _variance(np.array(ends), self.right[places], len(units))
        share = float(self.right[used].mean())
        if variance <= 0 or not 0 < share < 1:
            return float(min(pairs, len(used)))
        return min(share * (1 - share) / variance, float(len(used)))


def _variance(ends: Places, right: Flags, units: int) -> float:
    """Jackknife variance of a category's accuracy, leaving out each pair of words with all its questions.

    With fewer than three pairs, that of as many independent questions as there are pairs.
    """
    totals, counts = np.zeros((units, 1)), np.zeros((units, 1))
    for column in ends.T:
        np.add.at(counts[:, 0], column, 1)
        np.add.at(totals[:, 0], column, right)
    left_out = leave_one_out(np.array([right.sum()], float), np.array([len(right)], float), totals, counts)
    variance, share = float(left_out.variance[0]), float(right.mean())
    return share * (1 - share) / units if np.isnan(variance) else variance
