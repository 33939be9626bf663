"""Sums of products of all columns, in one pass over the rows: all that a mixed model needs to know about them.

Columns are shifted towards 0 and scaled to length 1 while they are summed, so that a column of large numbers that
differ little keeps its digits; estimates are turned back to the columns as given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError

_ROWS = 32_768
"""Rows summed at a time: bounds the memory."""
_COLLINEAR = 1e-10
"""A column of which less than this share (of its sum of squares) is left beside the others adds nothing."""
_DIGITS = 1e-12
"""A column that differs from a constant by less than this share of it differs by rounding."""
MOST_LEVELS = 6_000
"""Levels of all groups together; the work grows with their third power."""


@dataclass(frozen=True)
class Group:
    """One grouping factor: its name, its levels, and the places of its columns among those of all groups."""

    name: str
    levels: tuple[Any, ...]
    columns: slice


@dataclass(frozen=True)
class Moments:
    """Sums over rows, of the shifted and scaled columns that are not redundant.

    Attributes:
        rows: how many.
        names: the columns of X that were kept.
        redundant: the columns of X that are a combination of the ones before them.
        groups: the grouping factors; their 0/1 columns stand side by side in `xz`, `zz`, `zy`.
        xx, xz, zz, xy, zy, yy: sums of products of columns of X (x), of the groups (z) and of the outcome (y).
        back: matrix that turns estimates for the scaled columns into estimates for the columns as given.
        offset: what is added to them after that: the shift of the outcome.
        constant: place of the constant column, to which all others are orthogonal; None when there is none.
    """

    rows: int
    names: tuple[str, ...]
    redundant: tuple[str, ...]
    groups: tuple[Group, ...]
    xx: Floats
    xz: Floats
    zz: Floats
    xy: Floats
    zy: Floats
    yy: float
    back: Floats
    offset: Floats
    constant: int | None

    def without(self, names: Sequence[str]) -> Moments:
        """Give the sums of the same rows without some columns of X; the constant column stays."""
        keep = [place for place, name in enumerate(self.names) if name not in names or place == self.constant]
        return replace(
            self,
            names=tuple(self.names[place] for place in keep),
            redundant=tuple(name for name in self.redundant if name not in names),
            xx=self.xx[np.ix_(keep, keep)],
            xz=self.xz[keep],
            xy=self.xy[keep],
            back=self.back[np.ix_(keep, keep)],
            offset=self.offset[keep],
            constant=None if self.constant is None else keep.index(self.constant),
        )

    def with_outcome(self, coefficients: Floats, effects: Floats, error: float) -> Moments:
        """Give the sums for another outcome: these effects, and an error orthogonal to all columns with this square."""
        xy = self.xx @ coefficients + self.xz @ effects
        zy = self.xz.T @ coefficients + self.zz @ effects
        return replace(self, xy=xy, zy=zy, yy=float(coefficients @ xy + effects @ zy) + error)


def moments(y: ArrayLike, x: ArrayLike, groups: Mapping[str, ArrayLike], names: Sequence[str]) -> Moments:
    """Sum the rows.

    Args:
        y: the outcome, one number a row.
        x: rows × columns of the fixed part; a column of ones, if wanted, must be among them.
        groups: for each grouping factor the level of every row.
        names: one for each column of `x`.

    Raises:
        ParameterError: shapes differ, a number is not finite, a group has fewer than two levels, or too few rows.
    """
    outcome, matrix = _checked(y, x, names)
    coded, levels = _codes(groups, len(outcome))
    constant = _constant_column(matrix)
    shift = np.zeros(matrix.shape[1] + 1)
    if constant is not None:
        shift[:-1] = np.mean(matrix[:_ROWS], axis=0, dtype=np.float64)
        shift[constant.place] = 0.0
        shift[-1] = np.mean(outcome[:_ROWS], dtype=np.float64)
    ww, zw = _sums(outcome, matrix, coded, [len(one) for one in levels], shift)
    places = np.cumsum([0, *(len(one) for one in levels)]).tolist()
    columns = [slice(*ends) for ends in pairwise(places)]
    joined = tuple(Group(name, one, part) for name, one, part in zip(groups, levels, columns, strict=True))
    return _scaled(len(outcome), tuple(names), joined, _Sums(ww, zw, _counts(coded, joined)), shift, constant)


@dataclass(frozen=True)
class _Sums:
    """Products of the columns [X y] with themselves and with those of the groups, and of the groups."""

    ww: Floats
    zw: Floats
    zz: Floats


def _checked(y: ArrayLike, x: ArrayLike, names: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    outcome, matrix = np.asanyarray(y), np.asanyarray(x)
    if outcome.ndim != 1 or matrix.ndim != 2 or len(outcome) != len(matrix):
        raise ParameterError(
            "A mixed model needs one outcome for each row of X. Got an outcome of shape "
            f"{outcome.shape} and X of shape {matrix.shape}."
        )
    if len(outcome) < 2:
        raise ParameterError(f"A mixed model needs at least two rows. Got {len(outcome)}.")
    if len(names) != matrix.shape[1] or len(set(names)) != len(names):
        raise ParameterError(
            f"The 'names' parameter must name each of the {matrix.shape[1]} columns of X once. Got {list(names)!r}."
        )
    return outcome, matrix


def _codes(groups: Mapping[str, ArrayLike], rows: int) -> tuple[list[NDArray[np.int64]], list[tuple[Any, ...]]]:
    import pandas as pd

    if not groups:
        raise ParameterError("A mixed model needs at least one grouping factor. Got none.")
    codes, levels = [], []
    for name, labels in groups.items():
        values = np.asanyarray(labels)
        if values.shape != (rows,):
            raise ParameterError(
                f"The group {name!r} must have one label for each of the {rows:,} rows. Got shape {values.shape}."
            )
        found, unique = pd.factorize(values, sort=True)
        if (found < 0).any():
            raise ParameterError(f"The group {name!r} has no label in row {int(np.argmax(found < 0)) + 1:,}.")
        if len(unique) < 2:
            raise ParameterError(f"The group {name!r} needs at least two levels to have a variance. Got {len(unique)}.")
        codes.append(found.astype(np.int64))
        levels.append(tuple(unique.tolist()))
    if (total := sum(map(len, levels))) > MOST_LEVELS:
        raise ParameterError(
            f"The groups of a mixed model may have {MOST_LEVELS:,} levels together. Got {total:,}; "
            "a factor with so many levels needs another method."
        )
    return codes, levels


@dataclass(frozen=True)
class _Constant:
    """The column of X that holds one number in all rows: where it is, and the number."""

    place: int
    value: float


def _constant_column(matrix: NDArray[Any]) -> _Constant | None:
    candidates = (matrix[:_ROWS] == matrix[:1]).all(axis=0) & (matrix[0] != 0)
    for place in np.flatnonzero(candidates).tolist():
        if bool((matrix[:, place] == matrix[0, place]).all()):
            return _Constant(place, float(matrix[0, place]))
    return None


def _sums(
    outcome: NDArray[Any], matrix: NDArray[Any], codes: list[NDArray[np.int64]], sizes: list[int], shift: Floats
) -> tuple[Floats, Floats]:
    """Products of [X y], shifted, with itself and with the columns of the groups."""
    width = matrix.shape[1] + 1
    ww, zw = np.zeros((width, width)), np.zeros((sum(sizes), width))
    starts = np.cumsum([0, *sizes[:-1]])
    block = np.empty((min(_ROWS, len(outcome)), width))
    for start in range(0, len(outcome), _ROWS):
        stop = min(start + _ROWS, len(outcome))
        part = block[: stop - start]
        np.subtract(matrix[start:stop], shift[:-1], out=part[:, :-1])
        np.subtract(outcome[start:stop], shift[-1], out=part[:, -1])
        ww += part.T @ part
        if not np.isfinite(ww).all():
            _complain(np.column_stack([matrix[start:stop], outcome[start:stop]]), start)
        places = np.stack([one[start:stop] + first for one, first in zip(codes, starts, strict=True)], axis=1)
        ones = np.ones(places.size)
        pointers = np.arange(0, places.size + 1, len(codes))
        zw += csr_array((ones, places.ravel(), pointers), shape=(len(part), len(zw))).T @ part
    return ww, zw


def _complain(part: NDArray[Any], start: int) -> None:
    bad = np.argwhere(~np.isfinite(part))
    if len(bad):
        row, column = bad[0].tolist()
        what = "the outcome" if column == part.shape[1] - 1 else f"column {column + 1} of X"
        raise ParameterError(f"Every number of a mixed model must be finite. Row {start + row + 1:,} of {what} is not.")
    raise ParameterError("The numbers of a mixed model are too large for their squares to be summed; scale them.")


def _counts(codes: list[NDArray[np.int64]], groups: tuple[Group, ...]) -> Floats:
    """How many rows each pair of levels shares."""
    size = groups[-1].columns.stop
    zz = np.zeros((size, size))
    for place, (code, group) in enumerate(zip(codes, groups, strict=True)):
        own = group.columns
        np.fill_diagonal(zz[own, own], np.bincount(code, minlength=len(group.levels)))
        for other_code, other in zip(codes[place + 1 :], groups[place + 1 :], strict=True):
            width = len(other.levels)
            shared = np.bincount(code * width + other_code, minlength=len(group.levels) * width)
            zz[own, other.columns] = shared.reshape(-1, width)
            zz[other.columns, own] = zz[own, other.columns].T
    return zz


def _scaled(
    rows: int, names: tuple[str, ...], groups: tuple[Group, ...], sums: _Sums, shift: Floats, constant: _Constant | None
) -> Moments:
    """Finish the shift, scale every column to length 1 and leave out the redundant ones."""
    ww, zw = sums.ww, sums.zw
    share = np.zeros(len(names) + 1)  # how much of the constant column is taken from each column of [X y]
    if constant is not None:
        means = ww[constant.place] / ww[constant.place, constant.place]
        turn = np.eye(len(means))
        turn[constant.place] -= means
        turn[constant.place, constant.place] = 1.0
        ww, zw = turn.T @ ww @ turn, zw @ turn
        share = means + shift / constant.value
        share[constant.place] = 0.0
    lengths = np.sqrt(np.maximum(np.diag(ww)[:-1], 0.0))
    rounding = _DIGITS * np.sqrt(rows) * np.abs(share[:-1] * (1.0 if constant is None else constant.value))
    kept = independent_columns(ww[:-1, :-1], lengths, rounding)
    if len(kept) >= rows:
        raise ParameterError(f"A mixed model needs more rows than columns. Got {rows:,} rows and {len(kept)} columns.")
    scale = 1.0 / lengths[kept]
    back, offset, row = np.diag(scale), np.zeros(len(kept)), None
    if constant is not None:
        row = int(np.flatnonzero(kept == constant.place)[0])
        back[row] -= share[kept] * scale
        offset[row] = share[-1]
    return Moments(
        rows=rows,
        names=tuple(names[place] for place in kept),
        redundant=tuple(name for place, name in enumerate(names) if place not in set(kept.tolist())),
        groups=groups,
        xx=ww[np.ix_(kept, kept)] * np.outer(scale, scale),
        xz=zw[:, kept].T * scale[:, None],
        zz=sums.zz,
        xy=ww[kept, -1] * scale,
        zy=zw[:, -1],
        yy=float(ww[-1, -1]),
        back=back,
        offset=offset,
        constant=row,
    )


def independent_columns(products: Floats, lengths: Floats, rounding: Floats) -> NDArray[np.intp]:
    """Places of the columns that are no combination of the ones before them, from their sums of products."""
    kept: list[int] = []
    factor = np.zeros((0, 0))
    for place in np.flatnonzero(lengths > rounding).tolist():
        cosines = products[place, kept] / (lengths[place] * lengths[kept])
        row = np.linalg.solve(factor, cosines) if kept else np.zeros(0)
        left = 1.0 - float(row @ row)
        if left > _COLLINEAR:
            factor = np.block([[factor, np.zeros((len(kept), 1))], [row[None, :], np.array([[left**0.5]])]])
            kept.append(place)
    return np.array(kept, np.intp)
