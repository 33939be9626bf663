"""`analogy_accuracy`: the share of analogy questions that a model answers with the right word."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings.analogies import REASONS, Method, solve_analogies
from biasgauge.embeddings.benchmark_files import Question, questions_of
from biasgauge.embeddings.interval import Interval, check_level, leave_one_out
from biasgauge.embeddings.load import load
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from biasgauge.embeddings.embedding import Embedding

    Questions = str | os.PathLike[str] | Mapping[str, Iterable[Sequence[str]]] | Iterable[Sequence[str]]
    """Questions as users hand them over: a file, questions, or questions by category."""

WILSON = "wilson, effective size from a jackknife over word pairs"
_LIMITED = "not among the first {:,} words"


@dataclass(frozen=True)
class Accuracy:
    """How many questions were answered rightly.

    Attributes:
        name: the category, or "total", "semantic", "syntactic".
        value: share of the questions asked that were answered rightly, in [0, 1]; None when none could be asked.
        correct: how many were.
        questions: how many were asked.
        lost: how many could not be asked.
        interval: over pairs of words. Questions that share a pair are right or wrong together, so the interval is
            Wilson's for as many independent questions as would give the variance of a jackknife over pairs.
        reason: why `value` is undefined; None when it is not.
    """

    name: str
    value: float | None
    correct: int
    questions: int
    lost: int
    interval: Interval
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "name": self.name,
            "value": self.value,
            "correct": self.correct,
            "questions": self.questions,
            "lost": self.lost,
            "interval": self.interval.to_dict(),
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class AnalogyAccuracy:
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

    model: str
    method: Method
    exclude_inputs: bool
    total: Accuracy
    categories: tuple[Accuracy, ...]
    semantic: Accuracy | None
    syntactic: Accuracy | None
    lost: tuple[tuple[Question, str], ...]

    def rows(self) -> list[Accuracy]:
        """The total, the two kinds where there are such, and the categories."""
        return [one for one in (self.total, self.semantic, self.syntactic, *self.categories) if one is not None]

    def to_frame(self) -> pd.DataFrame:
        """One row each for the total, the two kinds and the categories."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most commands take to run

        rows = [{**one.to_dict(), "low": one.interval.low, "high": one.interval.high} for one in self.rows()]
        return pd.DataFrame(rows, columns=["name", "value", "low", "high", "correct", "questions", "lost", "reason"])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "model": self.model,
            "method": self.method,
            "exclude_inputs": self.exclude_inputs,
            "total": self.total.to_dict(),
            "semantic": None if self.semantic is None else self.semantic.to_dict(),
            "syntactic": None if self.syntactic is None else self.syntactic.to_dict(),
            "categories": [one.to_dict() for one in self.categories],
            "lost": [{**question._asdict(), "reason": why} for question, why in self.lost],
        }

    def __repr__(self) -> str:
        one = self.total
        shown = f"undefined: {one.reason}" if one.value is None else f"{one.value:.3f} of {one.questions:,} questions"
        return f"<AnalogyAccuracy of {self.model!r}, {self.method}: {shown}, {one.lost:,} lost>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def analogy_accuracy(
    embedding: object,
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
        embedding: an `Embedding` or anything `load` takes.
        questions: a file as the Google set has it (`: category` lines, then four words a line), four words a question,
            or such questions by category; None: the Google set itself.
        method: "3cosadd" or "3cosmul", as in `solve_analogies`.
        exclude_inputs: a, b and c cannot be the answer, as in the literature.
        limit: only the first so many words of the model may be asked about or be the answer.
        case_fallback: look words up in lower case, then capitalised, when they are not there as written.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ParameterError(
            f"The 'limit' parameter of analogy_accuracy must be a whole number of at least 1. Got {limit!r}."
        )
    model = load(embedding)
    asked = questions_of(questions, "analogy_accuracy")
    rows, lost = question_rows(model, asked, limit, case_fallback=case_fallback)
    kept = np.flatnonzero((rows >= 0).all(axis=1))
    found = solve_analogies(
        model,
        *rows[kept, :3].T,
        method=method,
        exclude_inputs=exclude_inputs,
        candidates=None if limit is None else np.arange(min(limit, len(model))),
    )
    for place in np.flatnonzero(found.undefined).tolist():
        lost[int(kept[place])] = REASONS[int(found.undefined[place])]
    usable = kept[found.undefined == 0]
    right = np.zeros(len(asked), bool)
    right[usable] = found.rows[found.undefined == 0] == rows[usable, 3]
    answers = Answers(asked, right, frozenset(usable.tolist()), level)
    names = list(dict.fromkeys(one.category for one in asked))
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
) -> tuple[NDArray[np.intp], dict[int, str]]:
    """Rows of a, b, c and d of each question, −1 for lost words; and why questions are lost, by their place.

    With three `roles` only a, b and c are looked up.
    """
    words = [one[1 : 1 + roles] for one in asked]
    found = model.lookup((word for one in words for word in one), case_fallback=case_fallback)
    places = dict(zip(found.words, found.rows.tolist(), strict=True))
    why = dict(found.lost)
    if limit is not None:
        why.update({word: _LIMITED.format(limit) for word, row in places.items() if row >= limit})
    rows = np.array([[-1 if word in why else places[word] for word in one] for one in words], np.intp)
    lost = {
        place: "; ".join(f"{word}: {why[word]}" for word in dict.fromkeys(one) if word in why)
        for place, one in enumerate(words)
        if (rows[place] < 0).any()
    }
    return rows, lost


@dataclass(frozen=True)
class Answers:
    """Which questions were answered, and which rightly.

    Attributes:
        asked: all questions.
        right: whether each was answered rightly.
        usable: places of the questions that could be asked.
        level: nominal coverage of the intervals.
    """

    asked: Sequence[Question]
    right: NDArray[np.bool_]
    usable: frozenset[int]
    level: float

    def accuracy(self, name: str, categories: Sequence[str]) -> Accuracy:
        """Accuracy over some categories together."""
        wanted = set(categories)
        places = [place for place, one in enumerate(self.asked) if one.category in wanted]
        used = [place for place in places if place in self.usable]
        correct = int(self.right[used].sum())
        if not used:
            why = "none of the questions can be asked" if places else "there is no such question"
            none = Interval(None, None, self.level, WILSON, "word pairs", why)
            return Accuracy(name, None, 0, 0, len(places), none, why)
        interval = wilson(correct / len(used), self._effective(used), self.level)
        return Accuracy(name, correct / len(used), correct, len(used), len(places) - len(used), interval)

    def _effective(self, used: Sequence[int]) -> float:
        """How many independent questions these are worth: p (1 − p) over the jackknife variance, at most all of them.

        Where there is no spread, it is the number of distinct pairs of words.
        """
        variance, pairs = 0.0, 0
        groups: dict[str, list[int]] = {}
        for place in used:
            groups.setdefault(self.asked[place].category, []).append(place)
        for places in groups.values():
            units: dict[tuple[str, str], int] = {}
            ends = [
                [units.setdefault(pair, len(units)) for pair in ((one.a, one.b), (one.c, one.d))]
                for one in (self.asked[place] for place in places)
            ]
            pairs += len(units)
            variance += (len(places) / len(used)) ** 2 * _variance(np.array(ends), self.right[places], len(units))
        share = float(self.right[used].mean())
        if variance <= 0 or not 0 < share < 1:
            return float(min(pairs, len(used)))
        return min(share * (1 - share) / variance, float(len(used)))


def _variance(ends: NDArray[np.intp], right: NDArray[np.bool_], units: int) -> float:
    """Jackknife variance of a category's accuracy, leaving out each pair of words with all its questions.

    With fewer than three pairs, that of as many independent questions as there are pairs.
    """
    totals, counts = np.zeros((units, 1)), np.zeros((units, 1))
    for column in ends.T:
        np.add.at(counts[:, 0], column, 1)
        np.add.at(totals[:, 0], column, right)
    found = leave_one_out(np.array([right.sum()], float), np.array([len(right)], float), totals, counts)
    share = float(right.mean())
    return share * (1 - share) / units if np.isnan(found.variance[0]) else float(found.variance[0])


def wilson(share: float, size: float, level: float, method: str = WILSON, over: str = "word pairs") -> Interval:
    """Wilson's interval of a share of `size` independent questions; `method` and `over` are what it says of itself."""
    from scipy.special import ndtri  # noqa: PLC0415 - loading vectors does without it

    z = float(ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    margin = z / (1 + z**2 / size) * (share * (1 - share) / size + z**2 / (4 * size**2)) ** 0.5
    low, high = 0.0 if share == 0 else max(centre - margin, 0.0), 1.0 if share == 1 else min(centre + margin, 1.0)
    return Interval(low, high, level, method, over)
