"""A contrast of mean similarities, with the interval that other targets, other attributes and other models would give.

Rows are target words, columns attribute words (or base pairs), and both are samples: another author would have chosen
others. An interval that draws targets alone is too narrow, because the words of one topic lean alike. The variance here
is that of two-way clustering (Cameron, Gelbach & Miller, *Journal of Business & Economic Statistics* 29, 2011):

    Var = V(targets) + V(attributes) − V(targets × attributes),

where the last one is counted by both of the first. Replicates are a third way of the same kind. Degrees of freedom are
Satterthwaite's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from biasgauge.core import WEAT_WEIGHTS, Estimate, Fields, Floats, Integers, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import SAME, satterthwaite, student_quantile

METHOD = "two-way clustered t"
SIDES = ("targets", "attributes")
REPLICATES, BOTH, ALL = "replicates", "both", "all"
CROSSED = {side: f"{side} × {REPLICATES}" for side in SIDES}
"""Names of the components of a variance: main effects of words and models, and their interactions."""
SINGLE_WORD = "a list has a single word, so that its spread is unknown"

Sizes = tuple[tuple[int, ...], tuple[int, ...]]
"""Lengths of the target lists and of the attribute lists."""


@dataclass(frozen=True, kw_only=True)
class Contrast(Estimate):
    """A contrast in the units of the similarities, such as cosines.

    Attributes:
        se: standard error; None when it is undefined.
        df: degrees of freedom of its t.
        p: two-sided p of a contrast of 0; below 1 − level exactly where the interval excludes 0.
        variances: components of the squared standard error: "targets", "attributes", "both" (their interaction), and
            with replicates "replicates", "targets × replicates", "attributes × replicates", "all".
        words: sizes of the lists, targets first.
    """

    se: float | None = None
    df: float | None = None
    p: float | None = None
    variances: Mapping[str, float] = field(default_factory=dict)
    words: Sizes = ((), ())

    def at(self, level: float) -> Self:
        """Return the same contrast with the interval of another level."""
        check_level(level)
        if self.se is None or self.df is None or self.value is None:
            return replace(self, level=level)
        margin = student_quantile(self.df, level) * self.se
        return replace(self, level=level, low=self.value - margin, high=self.value + margin)


def contrast_estimate(
    similarities: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    weights: Sequence[Sequence[float]] = WEAT_WEIGHTS,
    *,
    level: float = 0.95,
) -> Contrast:
    """Σ over blocks (g, h) of weight_gh × mean similarity of block gh, with an interval over rows, columns and models.

    With the default weights it is mean(X, A) − mean(X, B) − mean(Y, A) + mean(Y, B): 0 where X and Y lean alike. A side
    on which every group has a single word is taken as given: the interval then generalizes over the other alone. The
    interval is undefined where some list of a side has one word and another has more, or where nothing varies.

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
    table = np.asarray(similarities, np.float64)
    table = table[None] if table.ndim == 2 else table
    row_groups, column_groups = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    if table.ndim != 3 or table.shape[1:] != (len(row_groups), len(column_groups)) or not len(table):
        raise ParameterError(
            "A contrast needs similarities of rows × columns (or models × rows × columns) and the group of each row "
            f"and column. Got the shape {table.shape[-2:]} for {len(row_groups)} rows and {len(column_groups)} columns."
        )
    if not np.isfinite(table).all():
        raise ParameterError("A contrast needs finite similarities. Got nan or infinity.")
    for groups, count in zip((row_groups, column_groups), np.shape(weights), strict=True):
        if set(groups.tolist()) != set(range(count)):
            raise ParameterError(f"Every group from 0 to {count - 1} needs a word. Got groups {sorted(set(groups))}.")
    stacked = contrast_parts(table[None], row_groups, column_groups, weights)
    sizes: Fields = {"n": len(row_groups), "k": len(column_groups)}
    return stacked.contrast(METHOD, level, "all similarities of a list are the same", **sizes)


@dataclass(frozen=True, eq=False)
class ContrastParts:
    """Contrasts of many tables at once, an array each: as `Contrast`, NaN where undefined."""

    value: Floats
    se: Floats
    df: Floats
    p: Floats
    variances: Mapping[str, Floats]
    words: Sizes
    over: str = ""
    reason: str = ""

    @classmethod
    def undefined(cls, value: Floats, words: Sizes, reason: str) -> ContrastParts:
        """Return contrasts without a standard error."""
        nan = np.full(len(value), np.nan)
        return cls(value, nan, nan, nan, {}, words, reason=reason)

    def contrast(self, method: str, level: float, no_spread: str, **sizes: Any) -> Contrast:  # noqa: ANN401 - n, k
        """Return the first of the contrasts; `no_spread` is the reason where it has no standard error."""
        reason = self.reason or (None if np.isfinite(self.se[0]) else no_spread)
        contrast = Contrast(
            value=float(self.value[0]), level=level, method=method, reason=reason, over=self.over,
            statistic="contrast", words=self.words, **sizes,
        )  # fmt: skip
        if reason:
            return contrast
        variances = {name: float(variance[0]) for name, variance in self.variances.items()}
        numbers: Fields = {"se": float(self.se[0]), "df": float(self.df[0]), "p": float(self.p[0])}
        return replace(contrast, variances=variances, **numbers).at(level)


def contrast_parts(
    tables: Floats, rows: Integers, columns: Integers, weights: ArrayLike = WEAT_WEIGHTS
) -> ContrastParts:
    """`contrast_estimate` for a stack of tables × models × rows × columns, all with the same groups."""
    pattern = np.asarray(weights, np.float64)
    counts = [np.bincount(groups, minlength=size) for groups, size in zip((rows, columns), pattern.shape, strict=True)]
    words: Sizes = tuple(counts[0].tolist()), tuple(counts[1].tolist())
    spread = [side for side, sizes in zip(SIDES, words, strict=True) if max(sizes) > 1]
    means = _BlockMeans(tables, rows, columns, words)
    value: Floats = (pattern * means.blocks.mean(axis=1)).sum(axis=(1, 2))
    if not spread or any(min(sizes) == 1 < max(sizes) for sizes in words):
        return ContrastParts.undefined(value, words, SINGLE_WORD)
    variances, terms = _variances(means, pattern, spread)
    variance = total_variance(variances)
    rounding = (SAME * max(float(tables.max()), -float(tables.min()))) ** 2
    numbers = student(value, np.where(variance > rounding, variance, np.nan), terms)
    over = " and ".join([*spread, REPLICATES] if tables.shape[1] > 1 else spread)
    return ContrastParts(value, *numbers, variances, words, over)


def student(
    value: Floats, variance: Floats, terms: Sequence[tuple[Any, Any]], *, balanced: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Standard error, Satterthwaite's degrees of freedom, two-sided p of value / standard error.

    `terms` are the main terms of the variance, each with its degrees of freedom. `balanced`: no more degrees of freedom
    than if every term had those of the least. Welch's test of two against eight models rejects in 9 of 100 cases where
    nothing differs, and so in 2; between equal groups, both agree.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        df: Floats = satterthwaite(terms)
        df = np.minimum(df, len(terms) * min(freedom for _, freedom in terms)) if balanced else df
        se: Floats = np.sqrt(variance)
        p: Floats = 2 * stdtr(df, -np.abs(value) / se)
    return se, df, p


class _BlockMeans:
    """Means of stacked tables within blocks, by row, by column and over all of it: all that variances need."""

    def __init__(self, tables: Floats, rows: Integers, columns: Integers, words: Sizes) -> None:
        self.tables, self.groups, self.words = tables, (rows, columns), words
        # 0/1 indicators, words × groups; divided by the sizes they take means by one matrix product each.
        self.members = [np.eye(len(sizes))[groups] for sizes, groups in zip(words, self.groups, strict=True)]
        self.by_row: Floats = tables @ (self.members[1] / words[1])
        self.by_column: Floats = (self.members[0] / words[0]).T @ tables
        self.blocks: Floats = (self.members[0] / words[0]).T @ self.by_row

    def contributions(self, side: str, pattern: Floats) -> Floats:
        """Addend of each target (or attribute) in the contrast, stacks × models × words."""
        if side == "targets":
            weights = (pattern / np.array(self.words[0])[:, None])[self.groups[0]]
            return np.asarray((self.by_row * weights).sum(axis=3))
        weights = (pattern / np.array(self.words[1]))[:, self.groups[1]]
        return np.asarray((self.by_column * weights).sum(axis=2))

    def interaction(self, tables: Floats, by_row: Floats, by_column: Floats, blocks: Floats) -> Floats:
        """Sum of squares of target × attribute in each block.

        Σ (s_ij − s_i. − s_.j + s_..)² = Σ s_ij² − m Σ s_i.² − n Σ s_.j² + n m s_..², for n rows and m columns.
        """
        members, (n, m) = self.members, self.words
        total = members[0].T @ _squares_by_row(tables, members[1])
        rows = np.swapaxes(by_row**2, -1, -2) @ members[0]
        columns = by_column**2 @ members[1]
        squares: Floats = total - np.swapaxes(rows, -1, -2) * m - columns * np.array(n)[:, None]
        squares += np.outer(n, m) * blocks**2
        return np.maximum(squares, 0.0)


def _squares_by_row(tables: Floats, members: Floats, block: int = 2**24) -> Floats:
    """Sums of squares of each row over each group of columns; a few rows at a time where the table is large."""
    if tables.size <= block:
        return np.asarray(tables**2 @ members)
    step = max(block // (tables.size // tables.shape[-2]), 1)
    starts = range(0, tables.shape[-2], step)
    return np.concatenate([tables[..., start : start + step, :] ** 2 @ members for start in starts], axis=-2)


def _variances(
    means: _BlockMeans, pattern: Floats, spread: Sequence[str]
) -> tuple[dict[str, Floats], list[tuple[Floats, int]]]:
    """Components of the variance by name, and those of main effects with their degrees of freedom."""
    models = means.tables.shape[1]
    variances: dict[str, Floats] = {}
    terms: list[tuple[Floats, int]] = []
    by_group: dict[str, list[Floats]] = {}
    # Main effects of words: the contrast is a sum of independent contributions, list by list, and the variance of a sum
    # of n of them is n s².
    for side in spread:
        addends, groups = means.contributions(side, pattern), means.groups[SIDES.index(side)]
        lists = by_group[side] = [addends[..., groups == group] for group in range(groups.max() + 1)]
        totals = [words.mean(axis=1).var(axis=1, ddof=1) * words.shape[2] for words in lists]
        variances[side] = np.sum(totals, axis=0)
        terms += [(total, words.shape[2] - 1) for total, words in zip(totals, lists, strict=True)]
    both = len(spread) == 2
    if both:  # interaction of targets and attributes, on the tables averaged over models
        freedom = np.outer(np.array(means.words[0]) - 1, np.array(means.words[1]) - 1)
        scale = pattern**2 / np.outer(means.words[0], means.words[1]) / freedom
        stacks = (means.tables, means.by_row, means.by_column, means.blocks)
        average = [array.mean(axis=1) if models > 1 else array[:, 0] for array in stacks]
        squares = means.interaction(*average)
        variances[BOTH] = (scale * squares).sum(axis=(1, 2))
    if models == 1:
        return variances, terms
    by_model = (pattern * means.blocks).sum(axis=(2, 3))
    variances[REPLICATES] = by_model.var(axis=1, ddof=1) / models
    terms.append((variances[REPLICATES], models - 1))
    for side, lists in by_group.items():
        variances[CROSSED[side]] = np.sum([_variance_of_words_by_models(addends) for addends in lists], axis=0)
    if both:  # three-way interaction: sums of squares within models less that of the average table
        within = means.interaction(means.tables, means.by_row, means.by_column, means.blocks).sum(axis=1)
        three_way = np.maximum(within - models * squares, 0.0)
        variances[ALL] = (scale * three_way).sum(axis=(1, 2)) / ((models - 1) * models)
    return variances, terms


def total_variance(variances: Mapping[str, Floats]) -> Floats:
    """Sum of the components with each interaction counted once, and never less than with fewer ways."""
    zero = np.zeros(())
    main = [variances.get(name, zero) for name in (*SIDES, REPLICATES)]
    crossed = sum(variances[name] for name in CROSSED.values() if name in variances)
    two_way = main[0] + main[1] - variances.get(BOTH, zero)
    # Inclusion and exclusion: + main effects − two-way interactions + three-way interaction.
    three_way = main[0] + main[1] + main[2] - variances.get(BOTH, zero) - crossed + variances.get(ALL, zero)
    total: Floats = np.maximum.reduce(np.broadcast_arrays(three_way, two_way, *main))
    return total


def _variance_of_words_by_models(contributions: Floats) -> Floats:
    """Variance of a mean over models that is due to words × models; of stacks × models × contributions of words."""
    models, words = contributions.shape[1:]
    residuals = contributions - contributions.mean(axis=1, keepdims=True) - contributions.mean(axis=2, keepdims=True)
    residuals += contributions.mean(axis=(1, 2), keepdims=True)
    variance: Floats = (residuals**2).sum(axis=(1, 2)) / ((models - 1) * (words - 1)) * words / models
    return variance
