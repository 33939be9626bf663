"""Two-way analysis of variance of many matrices at once: what ICCs and Cronbach's alpha are made of.

Matrices have subjects in rows and raters in columns. One pass takes the sums that all mean squares follow from, in
double precision; where little would be left once large sums are subtracted, columns are centered and summed again.
Each matrix is computed alike wherever it stands, so that results depend neither on threads nor on neighbors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from biasgauge.core import Flags, Floats, Integers, Places, Vectors
from biasgauge.errors import ParameterError

_BLOCK = 2**18
"""Scores held in double precision at a time."""
_SPAN = 2**23
"""Scores whose sums are turned into mean squares at a time, by one thread."""
_DOUBT = 1e-4
"""Share of the raw sum of squares below which a difference of sums is computed again on centered columns."""
_ROUNDING = 1e-13
"""Share of the sum of squares within columns below which a difference of sums is rounding, and counts as zero."""
_EQUAL = 1e-14
"""Scores that differ by this share of their size are equal."""
_TINY, _HUGE = 1e-250, 1e250
"""Raw sums of squares outside of these are looked at again."""
_SMALL, _LARGE = 1e-100, 1e100
"""A matrix whose largest score is outside of these is scaled by it, and so are its sums: ratios are the same."""


@dataclass(frozen=True)
class MeanSquares:
    """Sums of squares of each matrix: between its n subjects (rows), between its k raters (columns), and what is left.

    The mean squares are these by their degrees of freedom.
    """

    rows: Floats
    columns: Floats
    error: Floats
    n: Integers
    k: Integers

    @classmethod
    def empty(cls, size: int) -> MeanSquares:
        """Room for `size` matrices, none of which has a subject or a rater yet."""
        n, k = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return cls(np.zeros(size), np.zeros(size), np.zeros(size), n, k)

    def put(self, places: slice | Places, other: MeanSquares) -> None:
        """Write the sums of some matrices into their places."""
        for field in fields(self):
            getattr(self, field.name)[places] = getattr(other, field.name)

    @property
    def equal(self) -> Flags:
        """Which matrices hold one and the same score throughout."""
        return np.asarray(self.rows + self.columns + self.error == 0)

    @property
    def ms_rows(self) -> Floats:
        """MS_R, with n − 1 degrees of freedom; NaN where there are none, as in the others."""
        return _by(self.rows, self.n - 1)

    @property
    def ms_columns(self) -> Floats:
        """MS_C, with k − 1 degrees of freedom."""
        return _by(self.columns, self.k - 1)

    @property
    def ms_error(self) -> Floats:
        """MS_E, with (n − 1)(k − 1) degrees of freedom."""
        return _by(self.error, (self.n - 1) * (self.k - 1))

    @property
    def ms_within(self) -> Floats:
        """MS_W of the one-way layout, with n(k − 1) degrees of freedom."""
        return _by(self.columns + self.error, self.n * (self.k - 1))


def mean_squares(stack: Vectors, n_jobs: int | None = None) -> MeanSquares:
    """Mean squares of every matrix of a stack of the shape (matrices, subjects, raters), in any layout in memory.

    NaN marks what is undefined: raters without any score are left out of their matrix, then every subject that lacks a
    score of a rater that is left.

    Raises:
        ParameterError: a score is infinite.
    """
    size, n, k = stack.shape
    squares = MeanSquares.empty(size)
    if stack.size == 0:
        squares.n[:], squares.k[:] = n, k
        return squares
    step = max(1, _SPAN // (n * k))
    spans = [slice(start, min(start + step, size)) for start in range(0, size, step)]

    def work(span: slice) -> None:
        squares.put(span, _span(stack[span]))

    threads = min(n_jobs or os.cpu_count() or 1, len(spans))
    if threads == 1:
        for span in spans:
            work(span)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, spans))
    return squares


def _span(stack: Vectors) -> MeanSquares:
    squares, sound = _complete(stack)
    rest = np.flatnonzero(~sound)
    for members, part in _without_gaps(np.asarray(stack[rest], np.float64)) if len(rest) else ():
        squares.put(rest[members], _complete(_scaled(part))[0])
    return squares


def _without_gaps(stack: Floats) -> Iterator[tuple[Places, Floats]]:
    """Matrices with the same gaps together, without the raters and subjects that have to be left out."""
    if np.isinf(stack).any():
        raise ParameterError("Scores must be numbers, or NaN where they are undefined. Got an infinite one.")
    gaps = np.isnan(stack)
    alike: dict[bytes, list[int]] = {}
    for index, pattern in enumerate(np.packbits(gaps.reshape(len(stack), -1), axis=1)):
        alike.setdefault(pattern.tobytes(), []).append(index)
    for places in alike.values():
        members = np.array(places)
        missing = gaps[members[0]]
        raters = np.flatnonzero(~missing.all(axis=0))
        subjects = np.flatnonzero(~missing[:, raters].any(axis=1))
        yield members, stack[np.ix_(members, subjects, raters)]


def _scaled(stack: Floats) -> Floats:
    """Scores by the largest of their matrix, where squares would otherwise overflow or vanish."""
    largest = np.abs(stack).max(axis=(1, 2), keepdims=True, initial=0)
    extreme = (largest > 0) & ((largest < _SMALL) | (largest > _LARGE))
    scaled: Floats = stack / np.where(extreme, largest, 1)
    return scaled


def _complete(stack: Vectors) -> tuple[MeanSquares, Flags]:
    """Mean squares of matrices without gaps, and which of them can be used."""
    size, n, k = stack.shape
    if n == 0 or k == 0:
        return MeanSquares.empty(size), np.ones(size, bool)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = _moments(stack)
        columns, (rows, error) = sums.of_columns(), sums.of_rows_and_error()
        sound = (sums.squares > _TINY) & (sums.squares < _HUGE)
        doubtful = np.flatnonzero(sound & (np.minimum(rows, error) < _DOUBT * sums.squares))
    if len(doubtful):
        part = stack[doubtful]
        means = part.mean(axis=1, dtype=np.float64)
        rows[doubtful], error[doubtful] = _moments(part, means).of_rows_and_error()
        columns[doubtful] = n * ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    columns[columns <= _EQUAL**2 * sums.squares] = 0
    equal = rows + columns + error <= _EQUAL**2 * sums.squares
    for sums_of_squares in (rows, columns, error):
        sums_of_squares[equal] = 0
    return MeanSquares(rows, columns, error, np.full(size, n), np.full(size, k)), sound


class _Moments(NamedTuple):
    """Sums over each matrix: of squared row sums, of squared column sums, of squares, of everything."""

    n: int
    k: int
    rows: Floats
    columns: Floats
    squares: Floats
    total: Floats

    def of_columns(self) -> Floats:
        """Sum of squares between columns."""
        return np.maximum(self.columns / self.n - self.total**2 / (self.n * self.k), 0)

    def of_rows_and_error(self) -> tuple[Floats, Floats]:
        """Sum of squares between rows, and what is left; 0 where rounding alone makes it."""
        middle = self.total**2 / (self.n * self.k)
        within = self.squares - self.columns / self.n
        between, left = self.rows / self.k - middle, within - self.rows / self.k + middle
        return np.where(between > _ROUNDING * within, between, 0), np.where(left > _ROUNDING * within, left, 0)


def _moments(stack: Vectors, centers: Floats | None = None) -> _Moments:
    """Sums over each matrix, from blocks in double precision; of scores less `centers`, one for each column."""
    size, n, k = stack.shape
    sums = _Moments(n, k, *(np.zeros(size) for _ in range(4)))
    subjects = min(n, max(1, _BLOCK // k))
    matrices = max(1, _BLOCK // (subjects * k))
    over_raters = np.ones(k)
    for start in range(0, size, matrices):
        span = slice(start, start + matrices)
        columns = np.zeros((len(sums.total[span]), k))
        for first in range(0, n, subjects):
            block = np.array(stack[span, first : first + subjects], np.float64, order="K")
            if centers is not None:
                block -= centers[span, None, :]
            sums.rows[span] += _squared(block @ over_raters)
            sums.squares[span] += _squared(block)
            columns += np.ones(block.shape[1]) @ block
        sums.columns[span] = _squared(columns)
        sums.total[span] = columns.sum(axis=1)
    return sums


def _squared(block: Floats) -> Floats:
    """Sum of squares of each entry along the first axis."""
    if not block.flags.c_contiguous:
        return np.asarray(np.einsum("ijk,ijk->i", block, block))
    flat = block.reshape(len(block), -1)
    squares: Floats = (flat[:, None, :] @ flat[:, :, None])[:, 0, 0]
    return squares


def _by(sums: Floats, freedom: Integers) -> Floats:
    return np.asarray(np.divide(sums, freedom, out=np.full(sums.shape, np.nan), where=freedom > 0))
