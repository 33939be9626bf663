"""A contrast of mean similarities, with the interval that other targets, other attributes and other models would give.

Rows are target words, columns attribute words (or base pairs), and both are samples: another author would have chosen
others. An interval that draws targets alone is too narrow, because the words of one topic lean alike. The variance here
is that of two-way clustering (Cameron, Gelbach & Miller, *Journal of Business & Economic Statistics* 29, 2011): the
part of the targets, plus the part of the attributes, less what both hold of their interaction. Replicates are a third
way of the same kind. Degrees of freedom are Satterthwaite's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Integers, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import SAME

WEAT = ((1.0, -1.0), (-1.0, 1.0))
"""Weights of the four blocks of an association test: X with A, X with B; Y with A, Y with B."""
METHOD = "two-way clustered t"
_LARGE = 2**24
"""Numbers of a table that are squared at a time."""
SIDES = ("targets", "attributes")
REPLICATES, BOTH, ALL = "replicates", "both", "all"
CROSSED = {side: f"{side} × {REPLICATES}" for side in SIDES}
"""Parts of a variance: what the words and the models add, and what they have in common."""


@dataclass(frozen=True, kw_only=True)
class Contrast(Estimate):
    """A contrast in the units of the similarities, such as cosines.

    Attributes:
        se: standard error; None when it is undefined.
        df: degrees of freedom of its t.
        p: two-sided p of a contrast of 0; below 1 − level exactly where the interval excludes 0.
        variances: of what the standard error is made: "targets", "attributes", "both" (what these two have in common),
            and with replicates "replicates", "targets × replicates", "attributes × replicates", "all".
        words: sizes of the lists, targets first.
    """

    se: float | None = None
    df: float | None = None
    p: float | None = None
    variances: Mapping[str, float] = field(default_factory=dict)
    words: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def at(self, level: float) -> Self:
        """The same contrast with the interval of another level."""
        check_level(level)
        if self.se is None or self.df is None or self.value is None:
            return replace(self, level=level)
        margin = float(stdtrit(self.df, (1 + level) / 2)) * self.se
        return replace(self, level=level, low=self.value - margin, high=self.value + margin)


def contrast_estimate(
    similarities: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    weights: Sequence[Sequence[float]] = WEAT,
    *,
    level: float = 0.95,
) -> Contrast:
    """Sum over blocks of weight × mean similarity, with an interval over rows, columns and models.

    A side on which every group has a single word is taken as given: the interval then speaks of the other alone.

    Args:
        similarities: rows × columns, or models × rows × columns for replicates.
        rows: the group of each row, 0 … as in `weights`.
        columns: the group of each column.
        weights: of the block of each row group (first) and column group (second).
        level: nominal coverage.

    Raises:
        ParameterError: shapes do not fit, or a number is not finite.
    """
    check_level(level)
    table, *groups, pattern = _checked(similarities, rows, columns, weights)
    parts = contrast_parts(table[None], groups[0], groups[1], pattern)
    value = float(parts.value[0])
    about: Fields = {
        "level": level,
        "n": len(groups[0]),
        "k": len(groups[1]),
        "statistic": "contrast",
        "words": parts.words,
    }
    if parts.reason:
        return Contrast(value=value, method=METHOD, reason=parts.reason, **about)
    if not np.isfinite(parts.se[0]):
        reason = "all similarities of a list are the same"
        return Contrast(value=value, method=METHOD, over=parts.over, reason=reason, **about)
    contrast = Contrast(
        value=value,
        method=METHOD,
        over=parts.over,
        se=float(parts.se[0]),
        df=float(parts.df[0]),
        p=float(parts.p[0]),
        variances={name: float(part[0]) for name, part in parts.variances.items()},
        **about,
    )
    return contrast.at(level)


@dataclass(frozen=True, eq=False)
class ContrastParts:
    """Contrasts of many tables at once, an array each: as `Contrast`, NaN where undefined."""

    value: Floats
    se: Floats
    df: Floats
    p: Floats
    variances: Mapping[str, Floats]
    words: tuple[tuple[int, ...], tuple[int, ...]]
    over: str = ""
    reason: str = ""


def contrast_parts(tables: Floats, rows: Integers, columns: Integers, weights: ArrayLike = WEAT) -> ContrastParts:
    """`contrast_estimate` for a stack of tables × models × rows × columns, all with the same groups."""
    pattern = np.asarray(weights, np.float64)
    words = (_sizes(rows, len(pattern)), _sizes(columns, pattern.shape[1]))
    spread = [side for side, counts in zip(SIDES, words, strict=True) if max(counts) > 1]
    means = _BlockMeans(tables, rows, columns, words)
    value: Floats = (pattern * means.blocks.mean(axis=1)).sum(axis=(1, 2))
    if not spread or any(min(counts) == 1 < max(counts) for counts in words):
        nothing = np.full(len(tables), np.nan)
        reason = "a list has a single word, so that its spread is unknown"
        return ContrastParts(value, nothing, nothing, nothing, {}, words, reason=reason)
    variances, pieces = _variances(means, pattern, spread)
    variance = total_variance(variances)
    variance = np.where(variance > (SAME * max(float(tables.max()), -float(tables.min()))) ** 2, variance, np.nan)
    total = np.sum([part for part, _ in pieces], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df: Floats = total**2 / np.sum([part**2 / freedom for part, freedom in pieces], axis=0)
        se: Floats = np.sqrt(variance)
        p: Floats = 2 * stdtr(df, -np.abs(value) / se)
    over = " and ".join([*spread, REPLICATES] if tables.shape[1] > 1 else spread)
    return ContrastParts(value, se, df, p, variances, words, over)


def _checked(
    similarities: ArrayLike, rows: ArrayLike, columns: ArrayLike, weights: Sequence[Sequence[float]]
) -> tuple[Floats, Integers, Integers, Floats]:
    table = np.asarray(similarities, np.float64)
    table = table[None] if table.ndim == 2 else table
    row_groups, column_groups = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    pattern = np.asarray(weights, np.float64)
    if table.ndim != 3 or table.shape[1:] != (len(row_groups), len(column_groups)) or not len(table):
        raise ParameterError(
            "A contrast needs similarities of rows × columns (or models × rows × columns) and the group of each row "
            f"and column. Got the shape {table.shape[-2:]} for {len(row_groups)} rows and {len(column_groups)} columns."
        )
    if not np.isfinite(table).all():
        raise ParameterError("A contrast needs finite similarities. Got nan or infinity.")
    for groups, known in ((row_groups, len(pattern)), (column_groups, pattern.shape[1])):
        if set(groups.tolist()) != set(range(known)):
            raise ParameterError(f"Every group from 0 to {known - 1} needs a word. Got groups {sorted(set(groups))}.")
    return table, row_groups, column_groups, pattern


def _sizes(groups: Integers, count: int) -> tuple[int, ...]:
    return tuple(int(size) for size in np.bincount(groups, minlength=count))


class _BlockMeans:
    """Means of stacked tables within blocks, by row, by column and whole: all that the variances need."""

    def __init__(
        self, tables: Floats, rows: Integers, columns: Integers, words: tuple[tuple[int, ...], tuple[int, ...]]
    ) -> None:
        self.tables, self.groups, self.words = tables, (rows, columns), words
        self.members = [np.eye(len(sizes))[groups] for sizes, groups in zip(words, self.groups, strict=True)]
        self.by_row: Floats = tables @ (self.members[1] / words[1])
        self.by_column: Floats = (self.members[0] / words[0]).T @ tables
        self.blocks: Floats = (self.members[0] / words[0]).T @ self.by_row

    def shares(self, side: str, pattern: Floats) -> Floats:
        """What each target (or attribute) adds to the contrast, stacks × models × words."""
        if side == "targets":
            weights = (pattern / np.array(self.words[0])[:, None])[self.groups[0]]
            return np.asarray((self.by_row * weights).sum(axis=3))
        weights = (pattern / np.array(self.words[1])).T[self.groups[1]]
        return np.asarray((self.by_column * weights.T).sum(axis=2))

    def interaction(self, tables: Floats, by_row: Floats, by_column: Floats, blocks: Floats) -> Floats:
        """Sums of squares of target × attribute in each block."""
        members, (n, m) = self.members, self.words
        whole = members[0].T @ _squares_by_row(tables, members[1])
        rows = np.swapaxes(by_row**2, -1, -2) @ members[0]
        columns = by_column**2 @ members[1]
        left: Floats = whole - np.swapaxes(rows, -1, -2) * m - columns * np.array(n)[:, None]
        left += np.outer(n, m) * blocks**2
        return np.maximum(left, 0.0)


def _squares_by_row(tables: Floats, members: Floats) -> Floats:
    """Sums of squares of each row over each group of columns; a few rows at a time where the table is large."""
    if tables.size <= _LARGE:
        return np.asarray(tables**2 @ members)
    step = max(_LARGE // (tables.size // tables.shape[-2]), 1)
    parts = [tables[..., start : start + step, :] ** 2 @ members for start in range(0, tables.shape[-2], step)]
    return np.concatenate(parts, axis=-2)


def _variances(
    means: _BlockMeans, pattern: Floats, spread: Sequence[str]
) -> tuple[dict[str, Floats], list[tuple[Floats, int]]]:
    """Parts of the variance by what they are due to, and those of main effects with their degrees of freedom."""
    models = means.tables.shape[1]
    parts: dict[str, Floats] = {}
    pieces: list[tuple[Floats, int]] = []
    shares = {side: means.shares(side, pattern) for side in spread}
    for side, by_model in shares.items():
        found = [_within(part.mean(axis=1)) for part in _by_group(by_model, means.groups[SIDES.index(side)])]
        parts[side] = np.sum([part for part, _ in found], axis=0)
        pieces += found
    both = len(spread) == 2
    if both:
        freedom = np.outer(np.array(means.words[0]) - 1, np.array(means.words[1]) - 1)
        scale = pattern**2 / np.outer(means.words[0], means.words[1]) / freedom
        stacks = (means.tables, means.by_row, means.by_column, means.blocks)
        average = [array.mean(axis=1) if models > 1 else array[:, 0] for array in stacks]
        squares = means.interaction(*average)
        parts[BOTH] = (scale * squares).sum(axis=(1, 2))
    if models == 1:
        return parts, pieces
    each = (pattern * means.blocks).sum(axis=(2, 3))
    parts[REPLICATES] = each.var(axis=1, ddof=1) / models
    pieces.append((parts[REPLICATES], models - 1))
    for side, by_model in shares.items():
        crossed = [_crossed(part) for part in _by_group(by_model, means.groups[SIDES.index(side)])]
        parts[CROSSED[side]] = np.sum(crossed, axis=0)
    if both:
        own = means.interaction(means.tables, means.by_row, means.by_column, means.blocks).sum(axis=1)
        left = np.maximum(own - models * squares, 0.0)
        parts[ALL] = (scale * left).sum(axis=(1, 2)) / ((models - 1) * models)
    return parts, pieces


def _by_group(shares: Floats, groups: Integers) -> list[Floats]:
    return [shares[..., groups == group] for group in range(groups.max() + 1)]


def total_variance(parts: Mapping[str, Floats]) -> Floats:
    """The variance: each part counted once, and never less than with fewer ways."""
    main = [parts.get(name, np.zeros(())) for name in (*SIDES, REPLICATES)]
    both = parts.get(BOTH, np.zeros(()))
    crossed = sum(parts[name] for name in CROSSED.values() if name in parts)
    two_way = main[0] + main[1] - both
    whole = main[0] + main[1] + main[2] - both - crossed + parts.get(ALL, np.zeros(()))
    total: Floats = np.maximum.reduce(np.broadcast_arrays(whole, two_way, *main))
    return total


def _within(shares: Floats) -> tuple[Floats, int]:
    """Variance of the sum of independent shares, and its degrees of freedom."""
    words = shares.shape[1]
    return shares.var(axis=1, ddof=1) * words, words - 1


def _crossed(shares: Floats) -> Floats:
    """Variance of a mean over models that is due to words by models; of stacks × models × shares of words."""
    models, words = shares.shape[1:]
    left = shares - shares.mean(axis=1, keepdims=True) - shares.mean(axis=2, keepdims=True)
    left += shares.mean(axis=(1, 2), keepdims=True)
    part: Floats = (left**2).sum(axis=(1, 2)) / ((models - 1) * (words - 1)) * words / models
    return part
