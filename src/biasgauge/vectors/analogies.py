"""`solve_analogies`: a is to b as c is to …? Every question against every candidate, in blocks.

Questions share few distinct words, so cosines of these words with a block of candidates are computed once, as a table
in single precision; scores of a question are sums of three rows of it. Candidates within rounding of the best are
compared again in double precision, so that the answer depends neither on blocks nor on threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import (
    Codes,
    Floats,
    Places,
    Singles,
    Vectors,
    VectorsLike,
    check_choice,
    check_number,
    check_whole,
    has_direction,
    row_lengths,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.loading import load

Method = Literal["3cosadd", "3cosmul"]

REASONS = ("", "the vector of a, b or c is zero", "b − a + c is zero", "there is no candidate")
"""Reasons for a question without an answer; `Solutions.undefined` holds the index, 0 where it has one."""

_NO_DIRECTION, _NO_GOAL, _NO_CANDIDATE = 1, 2, 3

EPSILON = 0.001
"""Keeps the divisor of 3CosMul from being zero (Levy & Goldberg 2014)."""

_ROUNDING = 2e-6
_DIGITS = 12
_TABLE_BYTES = 2**25
_CANDIDATES = 1024
_QUESTIONS = 256


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

    Raises:
        ParameterError: rows that are not there, or not as many of a, b and c; an argument cannot be used.
    """
    embedding = load(vectors)
    inputs = _inputs(embedding, a, b, c)
    check_choice(get_args(Method), method=method)
    check_number(0, inf, ends=False, epsilon=epsilon)
    check_whole(1, top=top)
    undefined, lengths = _undefined(embedding, inputs, method)
    questions = np.flatnonzero(undefined == 0)
    search = _AnalogySearch(
        embedding.vectors, inputs[:, questions], _Rule(method, epsilon), top, exclude_inputs=exclude_inputs
    )
    search.run(_candidates(embedding, candidates))
    undefined[questions[search.rows[:, 0] < 0]] = _NO_CANDIDATE
    ranked, scores = np.full((len(undefined), top), -1, np.intp), np.full((len(undefined), top), np.nan)
    ranked[questions] = search.rows
    adds = method == "3cosadd"
    scores[questions] = np.clip(search.scores / lengths[questions, None], -1, 1) if adds else search.scores
    scores[ranked < 0] = np.nan
    return Solutions(ranked, scores, undefined)


def _inputs(embedding: Embedding, *words: ArrayLike) -> Places:
    """Rows of a, b and c: 3 × questions."""
    try:
        rows = np.stack([np.asarray(rows_of_words) for rows_of_words in words])
    except ValueError:
        rows = np.empty(0)
    if rows.ndim != 2 or (rows.size and rows.dtype.kind not in "iu"):
        raise ParameterError("Analogies need as many rows of a as of b and of c, each a list of whole numbers.")
    return _checked(embedding, rows)


def _checked(embedding: Embedding, rows: Places) -> Places:
    if rows.size and not (rows.min() >= 0 and rows.max() < len(embedding)):
        raise ParameterError(
            f"Rows of {embedding.name!r} go from 0 to {len(embedding) - 1}. Got {rows.min()} to {rows.max()}."
        )
    return rows.astype(np.intp)


def _candidates(embedding: Embedding, candidates: ArrayLike | None) -> Places:
    """Rows of possible answers, each once, in order; those without a direction are left out."""
    rows = _checked(embedding, np.arange(len(embedding)) if candidates is None else np.unique(np.asarray(candidates)))
    return rows[embedding.directed(rows)]


def _undefined(embedding: Embedding, inputs: Places, method: Method) -> tuple[Codes, Floats]:
    """Reason code of each question, and the length of b − a + c (1 where it is zero)."""
    reasons = np.zeros(inputs.shape[1], np.uint8)
    lengths = np.ones(inputs.shape[1])
    for start in range(0, inputs.shape[1], _CANDIDATES):
        block = slice(start, start + _CANDIDATES)
        a, b, c = (unit_rows(embedding.vectors[rows].astype(np.float64), rescale=True) for rows in inputs[:, block])
        goal = b - a + c
        length = row_lengths(goal)
        pointless = (length <= 10.0**-_DIGITS) & (method == "3cosadd")
        reasons[block] = np.where(pointless, _NO_GOAL, 0)
        reasons[block][~has_direction(goal)] = _NO_DIRECTION
        lengths[block] = np.where(length == 0, 1, length)
    return reasons, lengths


class _AnalogySearch:
    """Search for questions of 3 rows each: the `most` best of some candidates, whose rows rise."""

    def __init__(self, vectors: Vectors, inputs: Places, rule: _Rule, most: int, *, exclude_inputs: bool) -> None:
        self._vectors = vectors
        self._inputs = inputs
        self._rule = rule
        self._exclude = exclude_inputs
        words, word_index = np.unique(inputs, return_inverse=True)
        self._word_index = word_index.reshape(inputs.shape)
        self._units = unit_rows(vectors[words].astype(np.float64), rescale=True)
        shape = (inputs.shape[1], most)
        self._near = np.full(shape, -np.inf, np.float32)
        self._buffers = np.empty(
            (2, _QUESTIONS * _CANDIDATES), np.float32
        )  # fresh pages for every block would cost more
        self.rows = np.full(shape, -1, np.intp)
        self.scores = np.full(shape, -np.inf)

    def run(self, candidates: Places) -> None:
        """Go through the candidates, a block at a time."""
        step = int(np.clip(_TABLE_BYTES // (4 * max(len(self._units), 1)), 16, _CANDIDATES))
        for start in range(0, len(candidates), step):
            rows = candidates[start : start + step]
            units = unit_rows(self._vectors[rows].astype(np.float64), rescale=True)
            tables = self._rule.tables(self._units @ units.T)
            for first in range(0, len(self.rows), _QUESTIONS):
                self._compare(slice(first, first + _QUESTIONS), rows, units, tables)

    def _compare(self, some: slice, rows: Places, units: Floats, tables: _Tables) -> None:
        """Compare some questions with a block of candidates in single precision, and the near-best in double."""
        word_index = self._word_index[:, some]
        buffers = self._buffers[:, : word_index.shape[1] * len(rows)].reshape(2, word_index.shape[1], len(rows))
        scores = self._rule.rough(tables, *word_index, *buffers)
        if self._exclude:
            _exclude_inputs(scores, rows, self._inputs[:, some])
        best = scores.max(axis=1)
        hopeful = np.flatnonzero(best >= self._rule.threshold(self._near[some, -1]))
        near = some.start + hopeful
        scores = scores[hopeful]
        self._near[near] = _largest(self._near[near], best[hopeful, None], scores)
        question, column = np.nonzero(scores >= self._rule.threshold(self._near[near, -1])[:, None])
        self._compare_exactly(near[question], column, rows, units)

    def _compare_exactly(self, question: Places, column: Places, rows: Places, units: Floats) -> None:
        """Compare candidates of a block, each with its question, in double precision, and keep the best."""
        exact = np.empty(len(question))
        for start in range(0, len(question), _CANDIDATES):
            block = slice(start, start + _CANDIDATES)
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


def _largest(current: Singles, best: Singles, scores: Singles) -> Singles:
    """Largest of the current values of each row and of its scores, as many as there were, in falling order."""
    most = current.shape[1]
    if most == 1:
        return np.maximum(current, best)
    if most < scores.shape[1]:
        scores = np.partition(scores, scores.shape[1] - most, axis=1)[:, -most:]
    joined = np.sort(np.concatenate([current, scores], axis=1), axis=1)
    largest: Singles = joined[:, ::-1][:, :most]
    return largest


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


def _exclude_inputs(scores: Singles, rows: Places, inputs: Places) -> None:
    """Exclude each question's words as answers; `rows` are those of the columns, in rising order."""
    for words in inputs:
        column = np.minimum(np.searchsorted(rows, words), len(rows) - 1)
        questions = np.flatnonzero(rows[column] == words)
        scores[questions, column[questions]] = -np.inf
