"""Sums of products of all columns in one pass over the rows: sufficient statistics of a mixed model.

Columns are shifted towards 0 and scaled to length 1 while they are summed, so that a column of large numbers that
differ little keeps its digits; estimates are turned back to the columns as given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from biasgauge.core import Floats, Integers, Vectors
from biasgauge.errors import ParameterError

_ROWS = 32_768  # rows summed at a time: bounds the memory
_COLLINEAR = 1e-10
"""A column of which less than this share (of its sum of squares) is left beside the others adds nothing."""
_DIGITS = 1e-12  # a column that differs from a constant by less than this share of it differs by rounding
MOST_LEVELS = 6_000
"""Levels of all groups together; the work grows with their third power."""


@dataclass(frozen=True)
class GroupingFactor:
    """One grouping factor: its name, its levels, and the slice of its columns among those of all groups."""

    name: str
    levels: tuple[Any, ...]
    columns: slice


@dataclass(frozen=True)
class Moments:
    """Sums over rows, of the shifted and scaled columns that are not redundant.

    Attributes:
        names: the columns of X that are no combination of the ones before them.
        groups: the grouping factors; their 0/1 columns stand side by side in `xz`, `zz`, `zy`.
        xx, xz, zz, xy, zy, yy: sums of products of columns of X (x), of the groups (z) and of the outcome (y).
        back: matrix that turns estimates for the scaled columns into estimates for the columns as given.
        offset: what is added to them after that: the shift of the outcome.
        constant: index of the constant column, to which all others are orthogonal; None when there is none.
    """

    rows: int
    names: tuple[str, ...]
    groups: tuple[GroupingFactor, ...]
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
        """Return the sums of the same rows without some columns of X; the constant column stays."""
        keep = [column for column, name in enumerate(self.names) if name not in names or column == self.constant]
        return replace(
            self,
            names=tuple(self.names[column] for column in keep),
            xx=self.xx[np.ix_(keep, keep)],
            xz=self.xz[keep],
            xy=self.xy[keep],
            back=self.back[np.ix_(keep, keep)],
            offset=self.offset[keep],
            constant=None if self.constant is None else keep.index(self.constant),
        )

    def with_outcome(self, coefficients: Floats, effects: Floats, error: float) -> Moments:
        """Return the sums for another outcome: these effects, and an orthogonal error with this sum of squares."""
        xy = self.xx @ coefficients + self.xz @ effects
        zy = self.xz.T @ coefficients + self.zz @ effects
        return replace(self, xy=xy, zy=zy, yy=float(coefficients @ xy + effects @ zy) + error)


def moments(
    y: ArrayLike, x: ArrayLike, groups: Mapping[str, ArrayLike], names: Sequence[str], *, block: int = _ROWS
) -> Moments:
    """Sum the rows, `block` of them at a time; arguments as in `fit_mixed`.

    Raises:
        ParameterError: shapes differ, a number is not finite, a group has fewer than two levels, or too few rows.
    """
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
    codes, coded = _codes(groups, len(outcome))
    # The first column of X that holds one number, not 0, in all rows.
    candidates = np.flatnonzero((matrix[:_ROWS] == matrix[:1]).all(axis=0) & (matrix[0] != 0)).tolist()
    constant = next((column for column in candidates if (matrix[:, column] == matrix[0, column]).all()), None)
    shift = np.zeros(matrix.shape[1] + 1)
    if constant is not None:
        shift[:-1] = np.mean(matrix[:_ROWS], axis=0, dtype=np.float64)
        shift[constant] = 0.0
        shift[-1] = np.mean(outcome[:_ROWS], dtype=np.float64)
    ww, zw = _sums(outcome, matrix, codes, coded, shift, block)
    unit = 1.0 if constant is None else float(matrix[0, constant])
    scaled = _scaled(len(outcome), names, ww, zw, shift, constant, unit)
    return Moments(rows=len(outcome), groups=coded, zz=_counts(codes, coded), **scaled)


def _codes(groups: Mapping[str, ArrayLike], rows: int) -> tuple[list[Integers], tuple[GroupingFactor, ...]]:
    """Level of every row in each group, and the groups."""
    import pandas as pd

    if not groups:
        raise ParameterError("A mixed model needs at least one grouping factor. Got none.")
    codes: list[Integers] = []
    coded: list[GroupingFactor] = []
    start = 0
    for name, labels in groups.items():
        values = np.asanyarray(labels)
        if values.shape != (rows,):
            raise ParameterError(
                f"The group {name!r} must have one label for each of the {rows:,} rows. Got shape {values.shape}."
            )
        code, levels = pd.factorize(values, sort=True)
        if (code < 0).any():
            raise ParameterError(f"The group {name!r} has no label in row {int(np.argmax(code < 0)) + 1:,}.")
        if len(levels) < 2:
            raise ParameterError(f"The group {name!r} needs at least two levels to have a variance. Got {len(levels)}.")
        codes.append(code.astype(np.int64))
        coded.append(GroupingFactor(name, tuple(levels.tolist()), slice(start, start + len(levels))))
        start += len(levels)
    if start > MOST_LEVELS:
        raise ParameterError(
            f"The groups of a mixed model may have {MOST_LEVELS:,} levels together. Got {start:,}; "
            "a factor with so many levels needs another method."
        )
    return codes, tuple(coded)


def _sums(
    y: Vectors, x: Vectors, codes: list[Integers], groups: tuple[GroupingFactor, ...], shift: Floats, block: int
) -> tuple[Floats, Floats]:
    """Products of [X y], shifted, with itself and with the columns of the groups."""
    width = x.shape[1] + 1
    ww, zw = np.zeros((width, width)), np.zeros((groups[-1].columns.stop, width))
    buffer = np.empty((min(block, len(y)), width))
    for start in range(0, len(y), block):
        stop = min(start + block, len(y))
        rows = buffer[: stop - start]
        np.subtract(x[start:stop], shift[:-1], out=rows[:, :-1])
        np.subtract(y[start:stop], shift[-1], out=rows[:, -1])
        ww += rows.T @ rows
        if not np.isfinite(ww).all():
            _raise_not_finite(np.column_stack([x[start:stop], y[start:stop]]), start)
        columns = [code[start:stop] + group.columns.start for code, group in zip(codes, groups, strict=True)]
        cells = np.stack(columns, axis=1)
        pointers = np.arange(0, cells.size + 1, len(codes))
        zw += csr_array((np.ones(cells.size), cells.ravel(), pointers), shape=(len(rows), len(zw))).T @ rows
    return ww, zw


def _raise_not_finite(block: Vectors, start: int) -> None:
    bad = np.argwhere(~np.isfinite(block))
    if len(bad):
        row, column = bad[0].tolist()
        column_name = "the outcome" if column == block.shape[1] - 1 else f"column {column + 1} of X"
        raise ParameterError(
            f"Every number of a mixed model must be finite. Row {start + row + 1:,} of {column_name} is not."
        )
    raise ParameterError("The numbers of a mixed model are too large for their squares to be summed; scale them.")


def _counts(codes: list[Integers], groups: tuple[GroupingFactor, ...]) -> Floats:
    """Number of rows that each pair of levels shares, Z'Z."""
    size = groups[-1].columns.stop
    zz = np.zeros((size, size))
    for code, group in zip(codes, groups, strict=True):
        np.fill_diagonal(zz[group.columns, group.columns], np.bincount(code, minlength=len(group.levels)))
    for (code, group), (second_code, second) in combinations(zip(codes, groups, strict=True), 2):
        width = len(second.levels)
        shared = np.bincount(code * width + second_code, minlength=len(group.levels) * width).reshape(-1, width)
        zz[group.columns, second.columns] = shared
        zz[second.columns, group.columns] = shared.T
    return zz


def _scaled(
    rows: int, names: Sequence[str], ww: Floats, zw: Floats, shift: Floats, constant: int | None, unit: float
) -> dict[str, Any]:
    """Finish the shift, scale every column to length 1 and leave out the redundant ones: fields of `Moments`."""
    share = np.zeros(len(names) + 1)  # how much of the constant column is taken from each column of [X y]
    if constant is not None:
        # Center exactly: subtract from each column its mean times the constant column, W → W T.
        means = ww[constant] / ww[constant, constant]
        center = np.eye(len(means))
        center[constant] -= means
        center[constant, constant] = 1.0
        ww, zw = center.T @ ww @ center, zw @ center
        share = means + shift / unit
        share[constant] = 0.0
    lengths = np.sqrt(np.maximum(np.diag(ww)[:-1], 0.0))
    independent = _independent_columns(ww[:-1, :-1], lengths, _DIGITS * np.sqrt(rows) * np.abs(share[:-1] * unit))
    if len(independent) >= rows:
        raise ParameterError(
            f"A mixed model needs more rows than columns. Got {rows:,} rows and {len(independent)} columns."
        )
    scale = 1.0 / lengths[independent]
    back, offset, row = np.diag(scale), np.zeros(len(independent)), None
    if constant is not None:
        row = independent.index(constant)
        back[row] -= share[independent] * scale
        offset[row] = share[-1]
    return {
        "names": tuple(names[column] for column in independent),
        "xx": ww[np.ix_(independent, independent)] * np.outer(scale, scale),
        "xz": zw[:, independent].T * scale[:, None],
        "xy": ww[independent, -1] * scale,
        "zy": zw[:, -1],
        "yy": float(ww[-1, -1]),
        "back": back,
        "offset": offset,
        "constant": row,
    }


def _independent_columns(products: Floats, lengths: Floats, rounding: Floats) -> list[int]:
    """Indexes of the columns that are no combination of the ones before them (Cholesky factor, row by row)."""
    independent: list[int] = []
    factor = np.zeros((0, 0))
    for column in np.flatnonzero(lengths > rounding).tolist():
        cosines = products[column, independent] / (lengths[column] * lengths[independent])
        row = np.linalg.solve(factor, cosines) if independent else np.zeros(0)
        left = 1.0 - float(row @ row)
        if left > _COLLINEAR:
            factor = np.block([[factor, np.zeros((len(independent), 1))], [row[None, :], np.array([[left**0.5]])]])
            independent.append(column)
    return independent
