"""Two-way analysis of variance of many matrices at once, for ICCs and Cronbach's alpha.

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

_DOUBT = 1e-4  # share of the raw sum of squares below which a difference of sums is computed again on centered columns
_ROUNDING = 1e-13
"""Share of the sum of squares within columns below which a difference of sums is rounding, and counts as zero."""
_EQUAL = 1e-14  # scores that differ by this share of their size are equal
_TINY, _HUGE = 1e-250, 1e250  # raw sums of squares outside of these are looked at again
_SMALL, _LARGE = 1e-100, 1e100
"""A matrix whose largest score is outside of these is scaled by it, and so are its sums: ratios are the same."""


@dataclass(frozen=True)
class MeanSquares:
    """Sums of squares of each matrix: between its n subjects (rows), between its k raters (columns), and error.

    The mean squares are these divided by their degrees of freedom.
    """

    rows: Floats
    columns: Floats
    error: Floats
    n: Integers
    k: Integers

    @classmethod
    def empty(cls, size: int) -> MeanSquares:
        """Allocate sums for `size` matrices, to be filled in."""
        n, k = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return cls(np.zeros(size), np.zeros(size), np.zeros(size), n, k)

    def put(self, index: slice | Places, squares: MeanSquares) -> None:
        """Write the sums of some matrices at their indexes."""
        for field in fields(self):
            getattr(self, field.name)[index] = getattr(squares, field.name)

    @property
    def equal(self) -> Flags:
        """True for matrices that hold one and the same score throughout."""
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


def mean_squares(stack: Vectors, n_jobs: int | None = None, *, span: int = 2**23, block: int = 2**18) -> MeanSquares:
    """Mean squares of every matrix of a stack of the shape (matrices, subjects, raters), in any layout in memory.

    NaN marks what is undefined: raters without any score are left out of their matrix, then every subject that lacks a
    score of a rater that is left. One thread computes `span` scores at a time and holds `block` of them in double
    precision; results do not depend on either but for rounding.

    Raises:
        ParameterError: a score is infinite.
    """
    size, n, k = stack.shape
    squares = MeanSquares.empty(size)
    if stack.size == 0:
        squares.n[:], squares.k[:] = n, k
        return squares
    step = max(1, span // (n * k))
    spans = [slice(start, min(start + step, size)) for start in range(0, size, step)]

    def compute(matrices: slice) -> None:
        squares.put(matrices, _mean_squares(stack[matrices], block))

    threads = min(n_jobs or os.cpu_count() or 1, len(spans))
    if threads == 1:
        for matrices in spans:
            compute(matrices)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(compute, spans))
    return squares


def _mean_squares(stack: Vectors, block: int) -> MeanSquares:
    """Compute all matrices as if complete; those with gaps or extreme scores once more, by pattern of gaps."""
    squares, usable = _complete(stack, block)
    unusable = np.flatnonzero(~usable)
    for members, matrices in _without_gaps(np.asarray(stack[unusable], np.float64)) if len(unusable) else ():
        squares.put(unusable[members], _complete(_scaled(matrices), block)[0])
    return squares


def _without_gaps(stack: Floats) -> Iterator[tuple[Places, Floats]]:
    """Yield matrices with the same gaps together, without the raters and subjects that have to be left out."""
    if np.isinf(stack).any():
        raise ParameterError("Scores must be numbers, or NaN where they are undefined. Got an infinite one.")
    gaps = np.isnan(stack)
    by_pattern: dict[bytes, list[int]] = {}
    for index, pattern in enumerate(np.packbits(gaps.reshape(len(stack), -1), axis=1)):
        by_pattern.setdefault(pattern.tobytes(), []).append(index)
    for indexes in by_pattern.values():
        members = np.array(indexes)
        missing = gaps[members[0]]
        raters = np.flatnonzero(~missing.all(axis=0))
        subjects = np.flatnonzero(~missing[:, raters].any(axis=1))
        yield members, stack[np.ix_(members, subjects, raters)]


def _scaled(stack: Floats) -> Floats:
    """Divide scores by the largest of their matrix where squares would otherwise overflow or vanish."""
    largest = np.abs(stack).max(axis=(1, 2), keepdims=True, initial=0)
    extreme = (largest > 0) & ((largest < _SMALL) | (largest > _LARGE))
    scaled: Floats = stack / np.where(extreme, largest, 1)
    return scaled


def _complete(stack: Vectors, block: int) -> tuple[MeanSquares, Flags]:
    """Mean squares of matrices without gaps, and a mask of those that are usable."""
    size, n, k = stack.shape
    if n == 0 or k == 0:
        return MeanSquares.empty(size), np.ones(size, bool)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = _moments(stack, block)
        columns, (rows, error) = sums.of_columns(), sums.of_rows_and_error()
        usable = (sums.squares > _TINY) & (sums.squares < _HUGE)
        imprecise = np.flatnonzero(usable & (np.minimum(rows, error) < _DOUBT * sums.squares))
    if len(imprecise):  # differences of large sums lost their digits: center the columns first
        matrices = stack[imprecise]
        means = matrices.mean(axis=1, dtype=np.float64)
        rows[imprecise], error[imprecise] = _moments(matrices, block, means).of_rows_and_error()
        columns[imprecise] = n * ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    columns[columns <= _EQUAL**2 * sums.squares] = 0
    equal = rows + columns + error <= _EQUAL**2 * sums.squares
    for sums_of_squares in (rows, columns, error):
        sums_of_squares[equal] = 0
    return MeanSquares(rows, columns, error, np.full(size, n), np.full(size, k)), usable


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
        """Sum of squares between rows, and that of error; 0 where rounding alone makes it."""
        correction = self.total**2 / (self.n * self.k)
        within = self.squares - self.columns / self.n
        between = self.rows / self.k - correction
        error = within - self.rows / self.k + correction
        return np.where(between > _ROUNDING * within, between, 0), np.where(error > _ROUNDING * within, error, 0)


def _moments(stack: Vectors, size_of_block: int, centers: Floats | None = None) -> _Moments:
    """Sums over each matrix, from blocks in double precision; of scores less `centers`, one for each column."""
    size, n, k = stack.shape
    sums = _Moments(n, k, *(np.zeros(size) for _ in range(4)))
    subjects = min(n, max(1, size_of_block // k))
    matrices = max(1, size_of_block // (subjects * k))
    over_raters = np.ones(k)
    for start in range(0, size, matrices):
        span = slice(start, start + matrices)
        columns = np.zeros((len(sums.total[span]), k))
        for first in range(0, n, subjects):
            block = np.array(stack[span, first : first + subjects], np.float64, order="K")
            if centers is not None:
                block -= centers[span, None, :]
            sums.rows[span] += _sum_of_squares(block @ over_raters)
            sums.squares[span] += _sum_of_squares(block)
            columns += np.ones(block.shape[1]) @ block
        sums.columns[span] = _sum_of_squares(columns)
        sums.total[span] = columns.sum(axis=1)
    return sums


def _sum_of_squares(block: Floats) -> Floats:
    """Sum of squares of each entry along the first axis."""
    if not block.flags.c_contiguous:
        return np.asarray(np.einsum("ijk,ijk->i", block, block))
    flat = block.reshape(len(block), -1)
    squares: Floats = (flat[:, None, :] @ flat[:, :, None])[:, 0, 0]
    return squares


def _by(sums: Floats, freedom: Integers) -> Floats:
    return np.asarray(np.divide(sums, freedom, out=np.full(sums.shape, np.nan), where=freedom > 0))
