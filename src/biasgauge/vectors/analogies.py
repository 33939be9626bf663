"""`solve_analogies`: a is to b as c is to …? Every question against every candidate, in blocks.

Similarities of the questions' distinct words with a block of candidates are kept in single precision; what comes within
rounding of the best is compared again in double, so that the answer depends neither on blocks nor on threads.
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
"""Why a question has no answer; `Solutions.undefined` holds the place in this list, 0 where it has one."""

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
        undefined: places in `REASONS`.
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
    asked = np.flatnonzero(undefined == 0)
    search = _Search(embedding.vectors, inputs[:, asked], _Rule(method, epsilon), top, exclude_inputs=exclude_inputs)
    search.run(_candidates(embedding, candidates))
    undefined[asked[search.rows[:, 0] < 0]] = _NO_CANDIDATE
    ranked, scores = np.full((len(undefined), top), -1, np.intp), np.full((len(undefined), top), np.nan)
    ranked[asked] = search.rows
    adds = method == "3cosadd"
    scores[asked] = np.clip(search.scores / lengths[asked, None], -1, 1) if adds else search.scores
    scores[ranked < 0] = np.nan
    return Solutions(ranked, scores, undefined)


def _inputs(embedding: Embedding, *words: ArrayLike) -> Places:
    """Rows of a, b and c: 3 × questions."""
    try:
        rows = np.stack([np.asarray(given) for given in words])
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


def _candidates(embedding: Embedding, given: ArrayLike | None) -> Places:
    """Rows that can be an answer, each once, in order; those without a direction cannot."""
    rows = _checked(embedding, np.arange(len(embedding)) if given is None else np.unique(np.asarray(given)))
    return rows[embedding.directed(rows)]


def _undefined(embedding: Embedding, inputs: Places, method: Method) -> tuple[Codes, Floats]:
    """Why questions cannot be asked, and the length of b − a + c of each (1 where it is zero)."""
    reasons = np.zeros(inputs.shape[1], np.uint8)
    lengths = np.ones(inputs.shape[1])
    for start in range(0, inputs.shape[1], _CANDIDATES):
        part = slice(start, start + _CANDIDATES)
        a, b, c = (unit_rows(embedding.vectors[rows].astype(np.float64), rescale=True) for rows in inputs[:, part])
        goal = b - a + c
        length = row_lengths(goal)
        pointless = (length <= 10.0**-_DIGITS) & (method == "3cosadd")
        reasons[part] = np.where(pointless, _NO_GOAL, 0)
        reasons[part][~has_direction(goal)] = _NO_DIRECTION
        lengths[part] = np.where(length == 0, 1, length)
    return reasons, lengths


class _Search:
    """One search: for questions, 3 rows of words each, the `most` best of some candidates, rows in rising order."""

    def __init__(self, vectors: Vectors, inputs: Places, rule: _Rule, most: int, *, exclude_inputs: bool) -> None:
        self._vectors = vectors
        self._inputs = inputs
        self._rule = rule
        self._exclude = exclude_inputs
        words, place = np.unique(inputs, return_inverse=True)
        self._place = place.reshape(inputs.shape)
        self._units = unit_rows(vectors[words].astype(np.float64), rescale=True)
        shape = (inputs.shape[1], most)
        self._near = np.full(shape, -np.inf, np.float32)
        self._room = np.empty((2, _QUESTIONS * _CANDIDATES), np.float32)  # fresh pages for every block would cost more
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
        """Compare some questions with a block of candidates in single precision; settle the near-best in double."""
        place = self._place[:, some]
        room = self._room[:, : place.shape[1] * len(rows)].reshape(2, place.shape[1], len(rows))
        scores = self._rule.rough(tables, *place, *room)
        if self._exclude:
            _strike_out(scores, rows, self._inputs[:, some])
        best = scores.max(axis=1)
        hopeful = np.flatnonzero(best >= self._rule.threshold(self._near[some, -1]))
        near = some.start + hopeful
        scores = scores[hopeful]
        self._near[near] = _largest(self._near[near], best[hopeful, None], scores)
        question, column = np.nonzero(scores >= self._rule.threshold(self._near[near, -1])[:, None])
        self._settle(near[question], column, rows, units)

    def _settle(self, question: Places, column: Places, rows: Places, units: Floats) -> None:
        """Compare candidates of a block, each with its question, in double precision, and keep the best."""
        exact = np.empty(len(question))
        for start in range(0, len(question), _CANDIDATES):
            part = slice(start, start + _CANDIDATES)
            answer = units[column[part]]
            words = (self._units[place] for place in self._place[:, question[part]])
            exact[part] = self._rule.exact(*(np.einsum("ij,ij->i", answer, word) for word in words))
        asked = np.unique(question)
        most = self.rows.shape[1]
        whose = np.concatenate([np.repeat(asked, most), question])
        answers = np.concatenate([self.rows[asked].ravel(), rows[column]])
        scores = np.concatenate([self.scores[asked].ravel(), exact])
        order = np.lexsort((answers, -scores, whose))
        starts = np.searchsorted(whose[order], asked)
        kept = order[starts[:, None] + np.arange(most)]
        self.rows[asked], self.scores[asked] = answers[kept], scores[kept]


def _largest(known: Singles, best: Singles, scores: Singles) -> Singles:
    """The largest of the known values of each row and of its scores, as many as were known, in falling order."""
    most = known.shape[1]
    if most == 1:
        return np.maximum(known, best)
    if most < scores.shape[1]:
        scores = np.partition(scores, scores.shape[1] - most, axis=1)[:, -most:]
    joined = np.sort(np.concatenate([known, scores], axis=1), axis=1)
    found: Singles = joined[:, ::-1][:, :most]
    return found


_Tables = tuple[Singles, Singles]


@dataclass(frozen=True)
class _Rule:
    """How a candidate's cosines with a, b and c become its score."""

    method: Method
    epsilon: float

    def tables(self, cosines: Floats) -> _Tables:
        """What b and c contribute, and what a does: words × candidates."""
        if self.method == "3cosadd":
            plain = cosines.astype(np.float32)
            return plain, plain
        shifted = np.maximum((1 + cosines) / 2, 0)
        return shifted.astype(np.float32), (1 / (shifted + self.epsilon)).astype(np.float32)

    def rough(self, tables: _Tables, a: Places, b: Places, c: Places, scores: Singles, room: Singles) -> Singles:
        """Scores, questions × candidates, from the places of the words in the tables; computed in the last two."""
        in_favor, against = tables
        adds = self.method == "3cosadd"
        np.take(in_favor, b, axis=0, out=scores, mode="clip")
        for step, table, words in (
            (np.subtract if adds else np.multiply, against, a),
            (np.add if adds else np.multiply, in_favor, c),
        ):
            step(scores, np.take(table, words, axis=0, out=room, mode="clip"), out=scores)
        return scores

    def exact(self, a: Floats, b: Floats, c: Floats) -> Floats:
        """Scores in double precision from the three cosines, rounded so that equal vectors tie."""
        if self.method == "3cosadd":
            return np.round(b - a + c, _DIGITS)
        a, b, c = (np.maximum((1 + cosine) / 2, 0) for cosine in (a, b, c))
        return np.round(b * c / (a + self.epsilon), _DIGITS)

    def threshold(self, last: Singles) -> Singles:
        """What may reach the last place for all that single precision can tell: any number where it is not taken."""
        margin = np.float32(_ROUNDING) * np.maximum(np.abs(last), 1 if self.method == "3cosadd" else 0)
        least: Singles = np.where(np.isinf(last), -np.finfo(np.float32).max, last - margin)
        return least


def _strike_out(scores: Singles, rows: Places, inputs: Places) -> None:
    """Take each question's own words out of the running; `rows` are those of the columns, in rising order."""
    for words in inputs:
        column = np.minimum(np.searchsorted(rows, words), len(rows) - 1)
        own = np.flatnonzero(rows[column] == words)
        scores[own, column[own]] = -np.inf
