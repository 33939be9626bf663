"""A contrast of mean similarities, with the interval that other targets, other attributes and other models would give.

Rows are target words, columns attribute words (or base pairs), and both are samples: another author would have chosen
others. An interval that draws targets alone is too narrow, because the words of one topic lean alike. The variance here
is that of two-way clustering (Cameron, Gelbach & Miller, *Journal of Business & Economic Statistics* 29, 2011):

    Var = V(targets) + V(attributes) − V(targets × attributes),

where the last one is counted by both of the first. Replicates are a third way of the same kind. Degrees of freedom are
Satterthwaite's.

With covariates, such as log frequency, the contrast is that at equal covariates. Let R = [indicators of the groups of
rows, covariates of rows], C alike for columns, and R⁺, C⁺ their pseudo-inverses. The least-squares fit of the table S
by all products of a column of R with one of C has the coefficients K = R⁺ S C⁺ᵀ, and the contrast is Σ weight · K over
the groups. Without covariates R⁺ takes means, and K is the table of block means. Squares of residuals are divided by
one less their leverage (HC2: MacKinnon & White, *Journal of Econometrics* 29, 1985), which without covariates is the
usual divisor n − 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from biasgauge.core import WEAT_WEIGHTS, Estimate, Fields, Flags, Floats, Integers, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import SAME, satterthwaite, student_quantile

METHOD = "two-way clustered t"
SIDES = ("targets", "attributes")
REPLICATES, BOTH, ALL = "replicates", "both", "all"
CROSSED = {side: f"{side} × {REPLICATES}" for side in SIDES}
"""Names of the components of a variance: main effects of words and models, and their interactions."""
SINGLE_WORD = "a list has a single word, so that its spread is unknown"
COLLINEAR = "the covariates separate the lists, so that no words of equal covariates are left to compare"

_RANK = 0.05
"""Smallest share of the largest singular value with which the covariates leave words of both lists to compare.

Below it the standard error is some hundred times that of the contrast as it is, and the contrast any number at all.
"""
_SLACK = 1e-6
"""Smallest share of a residual's variance with which the covariates do not determine a word by themselves."""

_GROUPED = 0.2
"""Correlation of two words of one group up to which they are no nearer than groups of any words of a topic."""
_MOST_GROUPS = 8
"""Groups of near words that are looked for; of more groups, most pairs are between groups, and what is usual shows."""

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
        effective: effective numbers of words of the lists, targets first; empty where words count in full.
        adjusted: the contrast at equal word frequency; undefined, with the reason, where frequencies are not known, and
            None where nothing was adjusted.
    """

    se: float | None = None
    df: float | None = None
    p: float | None = None
    variances: Mapping[str, float] = field(default_factory=dict)
    words: Sizes = ((), ())
    effective: tuple[tuple[float, ...], ...] = ()
    adjusted: Contrast | None = None

    def with_variance(self, name: str, variance: float) -> Self:
        """Return the same contrast with a further component of its variance, that of something known.

        The component adds to the squared standard error, and counts with infinitely many degrees of freedom.
        """
        if self.se is None or self.df is None or self.value is None:
            return self
        total = self.se**2 + variance
        se, df = total**0.5, self.df * (total / self.se**2) ** 2
        p = float(2 * stdtr(df, -abs(self.value) / se))
        return replace(self, se=se, df=df, p=p, variances={**self.variances, name: variance}).at(self.level)

    def at(self, level: float) -> Self:
        """Return the same contrast with the interval of another level."""
        check_level(level)
        adjusted = None if self.adjusted is None else self.adjusted.at(level)
        if self.se is None or self.df is None or self.value is None:
            return replace(self, level=level, adjusted=adjusted)
        margin = student_quantile(self.df, level) * self.se
        ends: Fields = {"low": self.value - margin, "high": self.value + margin}
        return replace(self, level=level, adjusted=adjusted, **ends)

    def equivalence_p(self, margin: float) -> float | None:
        """Larger p of two one-sided t tests, of a contrast of at most −margin and of at least margin (Schuirmann 1987).

        At most alpha exactly where the interval of level 1 − 2 alpha lies within ± margin. None without an interval.
        """
        if self.se is None or self.df is None or self.value is None or self.se == 0:
            return None
        return float(stdtr(self.df, (abs(self.value) - margin) / self.se))


@dataclass(frozen=True, eq=False)
class TableSide:
    """Words on one side of a table of similarities, its rows or its columns.

    Attributes:
        groups: the list of each word, 0, 1, …
        covariates: words × covariates that are held constant, such as powers of log frequency; None for none.
        effective: effective number of words of each list, above 1; None: as many as there are (`effective_words`).
    """

    groups: Integers
    covariates: Floats | None = None
    effective: Floats | None = None

    @cached_property
    def sizes(self) -> Integers:
        """Number of words of each list."""
        return np.bincount(self.groups)

    @cached_property
    def design(self) -> Floats:
        """Indicators of the lists, then the covariates around their means."""
        members: Floats = np.eye(len(self.sizes))[self.groups]
        if self.covariates is None:
            return members
        return np.hstack([members, self.covariates - self.covariates.mean(axis=0)])

    @cached_property
    def inverse(self) -> Floats:
        """Pseudo-inverse of the design: without covariates, its product with a column takes the mean of each list."""
        if self.covariates is None:
            return np.ascontiguousarray((self.design / self.sizes).T)
        return _pseudo_inverse(*self._decomposition)

    @cached_property
    def _decomposition(self) -> tuple[Floats, Floats, Floats]:
        """Singular value decomposition of the design."""
        left, values, right = np.linalg.svd(self.design, full_matrices=False)
        return left, values, right

    @cached_property
    def slack(self) -> Floats:
        """One less the leverage of each word: the share of a residual's variance that the fit leaves."""
        return np.asarray(1.0 - (self.design * self.inverse.T).sum(axis=1))

    @property
    def collinear(self) -> bool:
        """True where the covariates tell the lists apart without remainder, or determine a word by themselves."""
        if self.covariates is None:
            return False
        values = self._decomposition[1]
        return bool(values[-1] < _RANK * values[0] or self.slack.min() < _SLACK)

    def means_without_each(self, scores: Floats) -> Floats:
        """Mean of each list without each word, words × lists × columns, from the scores of words × columns.

        With covariates, means at equal covariates, up to a number that all lists have in common. NaN where the list has
        no other word, or the rest is collinear.
        """
        lists = len(self.sizes)
        coefficients = self.inverse @ scores
        with np.errstate(divide="ignore", invalid="ignore"):
            missing = (scores - self.design @ coefficients) / self.slack[:, None]
        means = coefficients[:lists] - self.inverse[:lists].T[:, :, None] * missing[:, None]
        means[(self.sizes[self.groups] == 1) | self._collinear_without_each()] = np.nan
        return np.asarray(means)

    def _collinear_without_each(self) -> Flags:
        """Return whether the side is `collinear` without each word, from its design without one row."""
        count, columns = self.design.shape
        lists = len(self.sizes)
        if self.covariates is None:
            return np.zeros(count, bool)
        centered = np.tile(np.eye(columns), (count, 1, 1))  # takes the means of the other words from covariates
        centered[:, :lists, lists:] = (self.design[:, lists:] / (count - 1))[:, None]
        products = self.design.T @ self.design - self.design[:, :, None] * self.design[:, None]
        values = np.linalg.eigvalsh(np.swapaxes(centered, 1, 2) @ products @ centered)
        leverages = self.design @ self.inverse
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = self.slack - leverages**2 / self.slack[:, None]
        np.fill_diagonal(slack, np.inf)
        return np.asarray((values[:, 0] < _RANK**2 * values[:, -1]) | ~(slack.min(axis=1) >= _SLACK))

    def freedom(self) -> Floats:
        """Degrees of freedom of each list: residual ones, times (effective words − 1) / (words − 1)."""
        residual = np.bincount(self.groups, self.slack).astype(np.float64)
        if self.effective is None:
            return residual
        return residual * (self.effective - 1) / (self.sizes - 1)

    def variance_factors(self) -> Floats:
        """Factor of each list by which words that are not independent inflate the variance of its mean.

        With n words and n' effective ones, s² · (n − 1) / (n' − 1) estimates the variance of a word that the sample
        variance s² underestimates by n / n', and that of the mean is n / n' times larger.
        """
        if self.effective is None:
            return np.ones(len(self.sizes))
        return np.asarray((self.sizes - 1) / (self.effective - 1))


def _pseudo_inverse(left: Floats, values: Floats, right: Floats) -> Floats:
    """Pseudo-inverse of a design, or of each in a stack, from its singular value decomposition."""
    least = np.maximum(values, SAME * values[..., :1])
    return np.asarray((np.swapaxes(right, -1, -2) / least[..., None, :]) @ np.swapaxes(left, -1, -2))


def means_at_equal_covariates(scores: Floats, groups: Integers, covariates: Floats) -> Floats:
    """Mean of each list at equal covariates, stacks × columns × lists, of other words of the same lists in each stack.

    Scores are stacks × columns × words, covariates stacks × words × covariates (`TableSide`).
    """
    lists = int(groups.max()) + 1
    members = np.broadcast_to(np.eye(lists)[groups], (*covariates.shape[:2], lists))
    designs = np.concatenate([members, covariates - covariates.mean(axis=1, keepdims=True)], axis=2)
    inverses = _pseudo_inverse(*np.linalg.svd(designs, full_matrices=False))
    return np.asarray(scores @ np.swapaxes(inverses[:, :lists], 1, 2))


SideLike: TypeAlias = "TableSide | ArrayLike"
"""Words of one side of a table, or only the list of each of them."""


def effective_words(cosines: ArrayLike) -> float:
    """Effective number of words of a list of which some are near each other: n² / (n + Σ r), Σ over all ordered pairs.

    The smaller of two. By pairs, two words correlate in what they lean to by r = (c − m) / (1 − m), where c is their
    cosine and m the cosine that is usual in the list: the mean of the pairs within one robust standard deviation
    (median − .16 quantile) of the median. Words that are merely of one topic thus count in full, and what noise adds to
    some pairs it takes from others.

    Where a list consists of few groups of near words, m is itself raised by the many pairs within groups. By groups
    (`near_groups`), c is therefore less what both words have in common with all others (the additive fit of rows and
    columns, so that a few words far from the topic do not make a group of all others), m is the mean of pairs of two
    groups, and two words of a group correlate by r − .2: the groups that are found in words of one topic without any
    have an r of .1 on average. A negative sum counts as 0.

    Args:
        cosines: words × words.
    """
    table = np.asarray(cosines, np.float64)
    count = len(table)
    if count < 4:  # too few pairs to tell what is usual among them
        return float(count)
    pairs = np.sort(table[~np.tri(count, dtype=bool)])  # the upper triangle, smallest first
    median = pairs[len(pairs) // 2]
    spread = median - pairs[int(0.16 * len(pairs))]
    usual = float(pairs[np.abs(pairs - median) <= spread].mean())
    if usual >= 1 - SAME:
        return float(count)
    correlations = 2 * float(((pairs - usual) / (1 - usual)).sum())
    groups = near_groups(table)
    if groups is not None:
        correlations = max(correlations, _grouped_correlations(table, groups))
    return count**2 / (count + max(0.0, correlations))


def _grouped_correlations(cosines: Floats, groups: Integers) -> float:
    """Sum over ordered pairs of words of one group of their correlation, beyond that of words without groups."""
    count = len(cosines)
    together = groups[:, None] == groups
    between = float(cosines[~together].mean())
    sums = cosines.sum(axis=1) - cosines.diagonal()
    effects = (sums - sums.mean()) / (count - 2)  # least squares of the pairs of two words by word + word
    residuals = cosines - effects[:, None] - effects
    usual = float(residuals[~together].mean())
    np.fill_diagonal(together, val=False)
    return float(((residuals[together] - usual) / (1 - between) - _GROUPED).sum())


def near_groups(cosines: Floats) -> Integers | None:
    """Group of each word: average linkage, cut into the 2 to 8 groups of the largest mean silhouette (Rousseeuw 1987).

    Distances are 1 − cosine; a group has at least two words on average. None where there are fewer than six words, one
    without a direction, or no mean silhouette that is positive.
    """
    count = len(cosines)
    if count < 6 or not np.isfinite(cosines).all():
        return None
    from scipy.cluster.hierarchy import linkage

    distances = 1.0 - cosines
    np.fill_diagonal(distances, 0.0)
    merges = linkage(distances[~np.tri(count, dtype=bool)], "average")[:, :2].astype(np.intp)
    clusters = {word: [word] for word in range(count)}
    labels = np.empty(count, np.intp)
    best = SAME
    groups: Integers | None = None
    for number, (first, second) in zip(range(count - 1, 1, -1), merges.tolist(), strict=False):
        clusters[2 * count - number - 1] = clusters.pop(first) + clusters.pop(second)
        if number > min(_MOST_GROUPS, count // 2):
            continue
        for label, words in enumerate(clusters.values()):
            labels[words] = label
        members = np.eye(number)[labels]
        sizes = members.sum(axis=0)
        sums = distances @ members
        same = sums[np.arange(count), labels] / np.maximum(sizes[labels] - 1, 1)
        nearest = np.where(members > 0, np.inf, sums / sizes).min(axis=1)
        silhouettes = (nearest - same) / np.maximum(np.maximum(nearest, same), SAME)
        mean = float(silhouettes[sizes[labels] > 1].sum()) / count
        if mean > best + SAME:
            best, groups = mean, labels.copy()
    return groups


def contrast_estimate(
    similarities: ArrayLike,
    rows: SideLike,
    columns: SideLike,
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
        rows: the list of each row, 0 … as in `weights`, or a `TableSide` with covariates.
        columns: the same of each column.
        weights: of the block of each row group (first) and column group (second).
        level: nominal coverage.

    Raises:
        ParameterError: shapes do not fit, or a number is not finite.
    """
    check_level(level)
    table = np.asarray(similarities, np.float64)
    table = table[None] if table.ndim == 2 else table
    sides = table_side(rows), table_side(columns)
    lengths = tuple(len(side.groups) for side in sides)
    if table.ndim != 3 or table.shape[1:] != lengths or not len(table):
        raise ParameterError(
            "A contrast needs similarities of rows × columns (or models × rows × columns) and the group of each row "
            f"and column. Got the shape {table.shape[-2:]} for {lengths[0]} rows and {lengths[1]} columns."
        )
    if not np.isfinite(table).all():
        raise ParameterError("A contrast needs finite similarities. Got nan or infinity.")
    for side, count in zip(sides, np.shape(weights), strict=True):
        groups = sorted(set(side.groups.tolist()))
        if groups != list(range(count)):
            raise ParameterError(f"Every group from 0 to {count - 1} needs a word. Got groups {groups}.")
    stacked = contrast_parts(table[None], *sides, weights)
    sizes: Fields = {"n": lengths[0], "k": lengths[1]}
    if any(side.effective is not None for side in sides):
        numbers = (side.sizes if side.effective is None else side.effective for side in sides)
        sizes["effective"] = tuple(tuple(map(float, side)) for side in numbers)
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
        value = None if np.isnan(self.value[0]) else float(self.value[0])
        contrast = Contrast(
            value=value, level=level, method=method, reason=reason, over=self.over, statistic="contrast",
            words=self.words, **sizes,
        )  # fmt: skip
        if reason:
            return contrast
        variances = {name: float(variance[0]) for name, variance in self.variances.items()}
        numbers: Fields = {"se": float(self.se[0]), "df": float(self.df[0]), "p": float(self.p[0])}
        return replace(contrast, variances=variances, **numbers).at(level)


def table_side(words: SideLike) -> TableSide:
    """Return one side of a table; from the list of each word, a side without covariates."""
    return words if isinstance(words, TableSide) else TableSide(np.asarray(words, np.int64))


def contrast_values(tables: Floats, rows: SideLike, columns: SideLike, weights: ArrayLike = WEAT_WEIGHTS) -> Floats:
    """Contrasts of a stack of tables × models × rows × columns, the mean over models, without intervals."""
    pattern = np.asarray(weights, np.float64)
    # Rows of the pseudo-inverses that belong to lists: with covariates, means of lists at equal covariates.
    sides = zip((rows, columns), pattern.shape, strict=True)
    first, second = (table_side(words).inverse[:size] for words, size in sides)
    means: Floats = (first @ (tables @ second.T)).mean(axis=1)
    return np.asarray((pattern * means).sum(axis=(1, 2)))


def contrast_parts(
    tables: Floats, rows: SideLike, columns: SideLike, weights: ArrayLike = WEAT_WEIGHTS, *, block: int = 2**24
) -> ContrastParts:
    """`contrast_estimate` for a stack of tables × models × rows × columns, all with the same words.

    `block` is the number of similarities whose residuals are held at a time.
    """
    pattern = np.asarray(weights, np.float64)
    sides = table_side(rows), table_side(columns)
    words: Sizes = tuple(sides[0].sizes.tolist()), tuple(sides[1].sizes.tolist())
    spread = [name for name, sizes in zip(SIDES, words, strict=True) if max(sizes) > 1]
    value = contrast_values(tables, *sides, pattern)
    if not spread or any(min(sizes) == 1 < max(sizes) for sizes in words):
        return ContrastParts.undefined(value, words, SINGLE_WORD)
    if any(side.collinear for side in sides):
        return ContrastParts.undefined(np.full(len(value), np.nan), words, COLLINEAR)
    variances, terms = _variances(_TableFit(tables, *sides, pattern), spread, block)
    variance = total_variance(variances)
    rounding = (SAME * max(float(tables.max()), -float(tables.min()))) ** 2
    numbers = student(value, np.where(variance > rounding, variance, np.nan), terms)
    over = " and ".join([*spread, REPLICATES] if tables.shape[1] > 1 else spread)
    return ContrastParts(value, *numbers, variances, words, over)


def contrast_p_floor(
    by_row: Floats, by_column: Floats, rows: SideLike, columns: SideLike, weights: ArrayLike = WEAT_WEIGHTS
) -> Floats:
    """Lower bounds of p of `contrast_estimate`, of stacked tables S, from S C⁺ᵀ and R⁺ S alone; 0 where undefined.

    The variance of a contrast is at least that of the targets, and of the attributes, with every word in full; and no
    t distribution has less in its tails than the normal one. A table whose p is surely above a level need not be made.

    Args:
        by_row: S C⁺ᵀ, stacks × models × rows × coefficients of columns (`TableSide.inverse`).
        by_column: R⁺ S, stacks × models × coefficients of rows × columns.
        rows: words of one side, with or without effective numbers.
        columns: words of the other.
        weights: of the block of each row group (first) and column group (second).
    """
    pattern = np.asarray(weights, np.float64)
    sides = table_side(rows), table_side(columns)
    if any(side.sizes.min() == 1 or side.collinear for side in sides):
        return np.zeros(len(by_row))
    fit = _MarginFit(by_row, by_column, *sides, pattern)
    value = (pattern * fit.coefficients[..., : pattern.shape[0], : pattern.shape[1]].mean(axis=1)).sum(axis=(1, 2))
    variance = np.maximum(*(fit.main_effect(name, fit.contributions(name)).sum(axis=1) for name in SIDES))
    with np.errstate(divide="ignore", invalid="ignore"):
        floor: Floats = np.nan_to_num(2 * ndtr(-np.abs(value) / np.sqrt(variance)))
    return floor


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


class _MarginFit:
    """Least-squares fit of stacked tables by their groups and covariates: all that variances of main effects need.

    Attributes:
        coefficients: K = R⁺ S C⁺ᵀ, groups first; without covariates the means of the blocks.
        by_row: S C⁺ᵀ, rows × coefficients of columns; without covariates the mean of each row over each list.
        by_column: R⁺ S, coefficients of rows × columns.
    """

    def __init__(self, by_row: Floats, by_column: Floats, rows: TableSide, columns: TableSide, pattern: Floats) -> None:
        self.rows, self.columns = rows, columns
        self.by_row, self.by_column = by_row, by_column
        self.coefficients: Floats = rows.inverse @ by_row
        # The contrast is Σ L · S with L = (rows of R⁺ for groups)ᵀ · weights · (rows of C⁺ for groups).
        lists = len(rows.sizes), len(columns.sizes)
        self.row_weights: Floats = rows.inverse[: lists[0]].T @ pattern  # rows × groups of columns
        self.column_weights: Floats = (pattern @ columns.inverse[: lists[1]]).T  # columns × groups of rows
        self.leverages: Floats = self.row_weights @ columns.inverse[: lists[1]]

    def contributions(self, name: str) -> Floats:
        """Addend of each target (or attribute) beyond the fit, stacks × models × words, scaled to full variance."""
        if name == "targets":
            scores, side, weights = self.by_row, self.rows, self.row_weights
            fitted = side.design @ self.coefficients
        else:
            scores, side, weights = np.swapaxes(self.by_column, -1, -2), self.columns, self.column_weights
            fitted = side.design @ np.swapaxes(self.coefficients, -1, -2)
        residuals = (scores - fitted)[..., : weights.shape[1]]
        addends: Floats = (residuals * weights).sum(axis=-1) / np.sqrt(side.slack)
        return addends

    def main_effect(self, name: str, addends: Floats) -> Floats:
        """Variance of targets (or attributes) by list, stacks × lists: squares of their contributions.

        The contrast is a sum of contributions, list by list, and its variance the sum of their squares, times what
        words that are not independent add.
        """
        side = self.rows if name == "targets" else self.columns
        squares = addends.mean(axis=1) ** 2 @ np.eye(len(side.sizes))[side.groups]
        return np.asarray(squares * side.variance_factors())


class _TableFit(_MarginFit):
    """The same fit with the tables themselves, for their interaction."""

    def __init__(self, tables: Floats, rows: TableSide, columns: TableSide, pattern: Floats) -> None:
        super().__init__(tables @ columns.inverse.T, rows.inverse @ tables, rows, columns, pattern)
        self.tables = tables

    def interaction(self, average: bool, block: int) -> Floats:  # noqa: FBT001 - internal
        """Variance of target × attribute: Σ (L · residual)² / (slack of row · slack of column), stacks × models.

        Of the tables averaged over models, or of every model. Residuals are those of the rows and columns that the fit
        leaves: S − R R⁺ S − S C⁺ᵀ Cᵀ + R K Cᵀ.
        """
        weights = self.leverages**2 / np.outer(self.rows.slack, self.columns.slack)
        parts = self.tables, self.by_row, self.by_column, self.coefficients
        if average and self.tables.shape[1] > 1:
            parts = tuple(part.mean(axis=1, keepdims=True) for part in parts)
        tables, by_row, by_column, coefficients = (part.reshape(-1, *part.shape[2:]) for part in parts)
        squares = np.empty(len(tables))
        step = max(block // weights.size, 1)
        for start in range(0, len(tables), step):
            some = slice(start, start + step)
            rest = self.rows.design @ coefficients[some] - by_row[some]
            residuals = tables[some] + rest @ self.columns.design.T
            residuals -= self.rows.design @ by_column[some]
            squares[some] = np.einsum("tij,tij,ij->t", residuals, residuals, weights)
        return squares.reshape(parts[0].shape[:2])


def _variances(
    fit: _TableFit, spread: Sequence[str], block: int
) -> tuple[dict[str, Floats], list[tuple[Floats, float]]]:
    """Components of the variance by name, and those of main effects with their degrees of freedom."""
    models = fit.tables.shape[1]
    variances: dict[str, Floats] = {}
    terms: list[tuple[Floats, float]] = []
    by_side: dict[str, Floats] = {}
    for name in spread:
        side = fit.rows if name == "targets" else fit.columns
        addends = by_side[name] = fit.contributions(name)
        squares = fit.main_effect(name, addends)
        variances[name] = squares.sum(axis=1)
        terms += zip(squares.T, side.freedom().tolist(), strict=True)
    both = len(spread) == 2
    if both:  # interaction of targets and attributes, on the tables averaged over models
        variances[BOTH] = fit.interaction(True, block)[:, 0]  # noqa: FBT003
    if models == 1:
        return variances, terms
    counted = fit.row_weights.shape[1]
    by_model = (fit.row_weights * fit.by_row[..., :counted]).sum(axis=(2, 3))
    variances[REPLICATES] = by_model.var(axis=1, ddof=1) / models
    terms.append((variances[REPLICATES], models - 1.0))
    for name, addends in by_side.items():  # words × models: what is left of the contributions in a model alone
        within = addends - addends.mean(axis=1, keepdims=True)
        variances[CROSSED[name]] = (within**2).sum(axis=(1, 2)) / ((models - 1) * models)
    if both:  # three-way interaction: squares within models less those of the average table
        within_models = fit.interaction(False, block).sum(axis=1)  # noqa: FBT003
        variances[ALL] = np.maximum(within_models - models * variances[BOTH], 0.0) / ((models - 1) * models)
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
