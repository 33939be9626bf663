"""Analogies: a is to b as c is to …? `solve_analogies` answers, `analogy_accuracy` counts right answers.

Every question is compared with every candidate, in blocks. Questions share few distinct words, so cosines of these
words with a block of candidates are computed once, as a table in single precision; scores of a question are sums of
three rows of it. Candidates within rounding of the best are compared again in double precision, so that the answer
depends neither on blocks nor on threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import (
    Codes,
    Estimate,
    Flags,
    Floats,
    JsonObject,
    Places,
    Singles,
    Vectors,
    VectorsLike,
    WordPolicy,
    check_choice,
    check_level,
    check_number,
    check_whole,
    has_direction,
    row_lengths,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, share_text
from biasgauge.stats import leave_one_out, wilson
from biasgauge.vectors.benchmarks import BENCHMARK_POLICY, Question, questions_of
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.loading import load

if TYPE_CHECKING:
    import pandas as pd

Questions: TypeAlias = "str | os.PathLike[str] | Mapping[str, Iterable[Sequence[str]]] | Iterable[Sequence[str]]"
"""Questions as users hand them over: a file, questions, or questions by category."""
Method = Literal["3cosadd", "3cosmul"]
REASONS = ("", "the vector of a, b or c is zero", "b − a + c is zero", "there is no candidate")
"""Reasons for a question without an answer; `Solutions.undefined` holds the index, 0 where it has one."""
_NO_DIRECTION, _NO_GOAL, _NO_CANDIDATE = 1, 2, 3
EPSILON = 0.001
"""Keeps the divisor of 3CosMul from being zero (Levy & Goldberg 2014)."""
_ROUNDING = 2e-6
_DIGITS = 12
_TABLE_BYTES = 2**25
WILSON = "wilson, effective size from a jackknife over word pairs"


@dataclass(frozen=True, eq=False)
class Solutions:
    """Answers to analogy questions.

    Attributes:
        ranked: questions × as many answers as were asked for, best first: rows in the embedding, −1 where there are no
            further candidates or the question is undefined.
        ranked_scores: 3CosAdd: cosine of the answer with b − a + c, all of length 1, in [−1, 1]; 3CosMul: the quotient,
            at least 0. NaN where there is no answer.
        undefined: indices in `REASONS`.
    """

    ranked: Places
    ranked_scores: Floats
    undefined: Codes

    @property
    def rows(self) -> Places:
        """Row of the best answer to each question; −1 exactly where `undefined` is not 0."""
        return self.ranked[:, 0]

    @property
    def scores(self) -> Floats:
        """Score of the best answer to each question; NaN where undefined."""
        return self.ranked_scores[:, 0]


def solve_analogies(
    vectors: VectorsLike,
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike,
    *,
    method: Method = "3cosadd",
    exclude_inputs: bool = True,
    candidates: ArrayLike | None = None,
    epsilon: float = EPSILON,
    top: int = 1,
    block: tuple[int, int] = (256, 1024),
) -> Solutions:
    """For each question, the words d that best complete "a is to b as c is to d". Among equals the lower row is first.

    3CosAdd seeks the largest cos(d, b) − cos(d, a) + cos(d, c); 3CosMul the largest cos(d, b) cos(d, c) / (cos(d, a) +
    ε), with cosines shifted to [0, 1] (Levy & Goldberg, CoNLL 2014). Undefined, with a reason, where a word has no
    direction or nothing can be the answer.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        a: rows of the first words, one for each question.
        b: rows of the second words.
        c: rows of the third words.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: a, b and c cannot be the answer. Without this the answer is b or c more often than not.
        candidates: rows that can be the answer; all when None. Words with a zero vector never are.
        epsilon: ε of 3CosMul.
        top: how many answers to each question.
        block: how many questions are compared with how many candidates at a time; the answers do not depend on it.

    Raises:
        ParameterError: rows that are not there, or not as many of a, b and c; an argument cannot be used.
    """
    embedding = load(vectors)
    try:
        stacked = np.stack([np.asarray(rows) for rows in (a, b, c)])
    except ValueError:
        stacked = np.empty(0)
    if stacked.ndim != 2 or (stacked.size and stacked.dtype.kind not in "iu"):
        raise ParameterError("Analogies need as many rows of a as of b and of c, each a list of whole numbers.")
    inputs = _checked_rows(embedding, stacked)  # 3 × questions
    check_choice(get_args(Method), method=method)
    check_number(0, inf, ends=False, epsilon=epsilon)
    check_whole(1, top=top)
    undefined, lengths = _undefined(embedding, inputs, method, block[1])
    questions = np.flatnonzero(undefined == 0)
    search = _AnalogySearch(
        embedding.vectors, inputs[:, questions], _Rule(method, epsilon), top, block, exclude_inputs=exclude_inputs
    )
    # Possible answers, each once, in order; those without a direction are left out.
    pool = np.arange(len(embedding)) if candidates is None else np.unique(np.asarray(candidates))
    pool = _checked_rows(embedding, pool)
    search.run(pool[embedding.directed(pool)])
    undefined[questions[search.rows[:, 0] < 0]] = _NO_CANDIDATE
    ranked, scores = np.full((len(undefined), top), -1, np.intp), np.full((len(undefined), top), np.nan)
    ranked[questions] = search.rows
    adds = method == "3cosadd"
    scores[questions] = np.clip(search.scores / lengths[questions, None], -1, 1) if adds else search.scores
    scores[ranked < 0] = np.nan
    return Solutions(ranked, scores, undefined)


def _checked_rows(embedding: Embedding, rows: Places) -> Places:
    if rows.size and not (rows.min() >= 0 and rows.max() < len(embedding)):
        raise ParameterError(
            f"Rows of {embedding.name!r} go from 0 to {len(embedding) - 1}. Got {rows.min()} to {rows.max()}."
        )
    return rows.astype(np.intp)


def _undefined(embedding: Embedding, inputs: Places, method: Method, step: int) -> tuple[Codes, Floats]:
    """Reason code of each question, and the length of b − a + c (1 where it is zero)."""
    reasons = np.zeros(inputs.shape[1], np.uint8)
    lengths = np.ones(inputs.shape[1])
    for start in range(0, inputs.shape[1], step):
        block = slice(start, start + step)
        a, b, c = (unit_rows(embedding.vectors[rows].astype(np.float64), rescale=True) for rows in inputs[:, block])
        goal = b - a + c
        length = row_lengths(goal)
        pointless = (length <= 10.0**-_DIGITS) & (method == "3cosadd")
        reasons[block] = np.where(pointless, _NO_GOAL, 0)
        reasons[block][~has_direction(goal)] = _NO_DIRECTION
        lengths[block] = np.where(length == 0, 1, length)
    return reasons, lengths


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
    json_types: ClassVar[Mapping[str, Any]] = {"lost": tuple[JsonObject, ...]}

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
    policy: WordPolicy = BENCHMARK_POLICY,
    level: float = 0.95,
) -> AnalogyAccuracy:
    """Share of analogy questions that are answered rightly: a is to b as c is to d, where d is the answer.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        questions: a file like the Google set (`: category` lines, then four words per line), four words per question,
            or such questions by category; None: the Google set itself.
        method: "3cosadd" or "3cosmul", as in `solve_analogies`.
        exclude_inputs: a, b and c cannot be the answer, as in the literature.
        limit: only the first `limit` words of the model may be asked about or be the answer.
        policy: how words are looked up, and the share of the questions of a category that must be possible.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    check_whole(1, limit=1 if limit is None else limit)
    model = load(vectors)
    listed = questions_of(questions, "analogy_accuracy")
    rows, lost = question_rows(model, listed, limit, case_fallback=policy.uses_fallback([model]))
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
    answers = Answers(listed, right, frozenset(usable.tolist()), level, policy.min_coverage)
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
    min_coverage: float = 0.0

    def accuracy(self, name: str, categories: Sequence[str]) -> Accuracy:
        """Accuracy over some categories together."""
        wanted = set(categories)
        indices = [index for index, question in enumerate(self.questions) if question.category in wanted]
        used = [index for index in indices if index in self.usable]
        correct = int(self.right[used].sum())
        labels: dict[str, Any] = {"name": name, "correct": correct, "lost": len(indices) - len(used), "n": len(used)}
        if not used or len(used) < self.min_coverage * len(indices):
            few = f"fewer than {share_text(self.min_coverage)}" if used else "none"
            reason = f"{few} of the questions can be asked" if indices else "there is no such question"
            return Accuracy(value=None, level=self.level, method=WILSON, over="word pairs", reason=reason, **labels)
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


class _AnalogySearch:
    """Search for questions of 3 rows each: the `most` best of some candidates, whose rows rise."""

    def __init__(
        self, vectors: Vectors, inputs: Places, rule: _Rule, most: int, block: tuple[int, int], *, exclude_inputs: bool
    ) -> None:
        self._vectors = vectors
        self._inputs = inputs
        self._rule = rule
        self._exclude = exclude_inputs
        self._questions_at_once, self._candidates_at_once = block
        words, word_index = np.unique(inputs, return_inverse=True)
        self._word_index = word_index.reshape(inputs.shape)
        self._units = unit_rows(vectors[words].astype(np.float64), rescale=True)
        shape = (inputs.shape[1], most)
        self._near = np.full(shape, -np.inf, np.float32)
        self._buffers = np.empty((2, block[0] * block[1]), np.float32)  # fresh pages for every block would cost more
        self.rows = np.full(shape, -1, np.intp)
        self.scores = np.full(shape, -np.inf)

    def run(self, candidates: Places) -> None:
        """Go through the candidates, a block at a time."""
        step = int(np.clip(_TABLE_BYTES // (4 * max(len(self._units), 1)), 16, self._candidates_at_once))
        for start in range(0, len(candidates), step):
            rows = candidates[start : start + step]
            units = unit_rows(self._vectors[rows].astype(np.float64), rescale=True)
            tables = self._rule.tables(self._units @ units.T)
            for first in range(0, len(self.rows), self._questions_at_once):
                self._compare(slice(first, first + self._questions_at_once), rows, units, tables)

    def _compare(self, some: slice, rows: Places, units: Floats, tables: _Tables) -> None:
        """Compare some questions with a block of candidates in single precision, and the near-best in double."""
        word_index = self._word_index[:, some]
        buffers = self._buffers[:, : word_index.shape[1] * len(rows)].reshape(2, word_index.shape[1], len(rows))
        scores = self._rule.rough(tables, *word_index, *buffers)
        if self._exclude:
            for words in self._inputs[:, some]:  # the rows of the columns rise
                at = np.minimum(np.searchsorted(rows, words), len(rows) - 1)
                questions = np.flatnonzero(rows[at] == words)
                scores[questions, at[questions]] = -np.inf
        best = scores.max(axis=1)
        hopeful = np.flatnonzero(best >= self._rule.threshold(self._near[some, -1]))
        near = some.start + hopeful
        scores = scores[hopeful]
        # The largest scores so far of each question, as many as answers are wanted, in falling order.
        most = min(self._near.shape[1], scores.shape[1])
        top = best[hopeful, None] if most == 1 else np.partition(scores, -most, axis=1)[:, -most:]
        joined = np.sort(np.concatenate([self._near[near], top], axis=1), axis=1)
        self._near[near] = joined[:, ::-1][:, : self._near.shape[1]]
        question, column = np.nonzero(scores >= self._rule.threshold(self._near[near, -1])[:, None])
        self._compare_exactly(near[question], column, rows, units)

    def _compare_exactly(self, question: Places, column: Places, rows: Places, units: Floats) -> None:
        """Compare candidates of a block, each with its question, in double precision, and keep the best."""
        exact = np.empty(len(question))
        for start in range(0, len(question), self._candidates_at_once):
            block = slice(start, start + self._candidates_at_once)
            answer = units[column[block]]
            words = (self._units[word_index] for word_index in self._word_index[:, question[block]])
            exact[block] = self._rule.exact(*(np.einsum("ij,ij->i", answer, word) for word in words))
        questions = np.unique(question)
        most = self.rows.shape[1]
        whose = np.concatenate([np.repeat(questions, most), question])
        answers = np.concatenate([self.rows[questions].ravel(), rows[column]])
        scores = np.concatenate([self.scores[questions].ravel(), exact])
        # By question, then by falling score, then by row: the first `most` of each question are its answers.
        order = np.lexsort((answers, -scores, whose))
        starts = np.searchsorted(whose[order], questions)
        best = order[starts[:, None] + np.arange(most)]
        self.rows[questions], self.scores[questions] = answers[best], scores[best]


_Tables = tuple[Singles, Singles]


@dataclass(frozen=True)
class _Rule:
    """Score of a candidate from its cosines with a, b and c."""

    method: Method
    epsilon: float

    def tables(self, cosines: Floats) -> _Tables:
        """Factors or terms of b and c, and of a: words × candidates."""
        if self.method == "3cosadd":
            plain = cosines.astype(np.float32)
            return plain, plain
        shifted = np.maximum((1 + cosines) / 2, 0)
        return shifted.astype(np.float32), (1 / (shifted + self.epsilon)).astype(np.float32)

    def rough(self, tables: _Tables, a: Places, b: Places, c: Places, scores: Singles, buffer: Singles) -> Singles:
        """Scores, questions × candidates, from the rows of the words in the tables; computed in the last two."""
        in_favor, against = tables
        adds = self.method == "3cosadd"
        np.take(in_favor, b, axis=0, out=scores, mode="clip")
        for step, table, words in (
            (np.subtract if adds else np.multiply, against, a),
            (np.add if adds else np.multiply, in_favor, c),
        ):
            step(scores, np.take(table, words, axis=0, out=buffer, mode="clip"), out=scores)
        return scores

    def exact(self, a: Floats, b: Floats, c: Floats) -> Floats:
        """Scores in double precision from the three cosines, rounded so that equal vectors tie."""
        if self.method == "3cosadd":
            return np.round(b - a + c, _DIGITS)
        a, b, c = (np.maximum((1 + cosine) / 2, 0) for cosine in (a, b, c))
        return np.round(b * c / (a + self.epsilon), _DIGITS)

    def threshold(self, last: Singles) -> Singles:
        """Least score in single precision that may still be among the best; any number while ranks are free."""
        margin = np.float32(_ROUNDING) * np.maximum(np.abs(last), 1 if self.method == "3cosadd" else 0)
        least: Singles = np.where(np.isinf(last), -np.finfo(np.float32).max, last - margin)
        return least
