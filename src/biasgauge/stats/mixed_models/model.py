"""`fit_mixed`: a linear model with crossed random intercepts, by REML, in the time of one pass over the rows.

Made for many rows and groups of few levels. Fixed effects, variances and criterion are those of lme4; degrees of
freedom are Satterthwaite's as in lmerTest. Sources: Bates, Mächler, Bolker & Walker 2015 (lme4);
Giesbrecht & Burns 1985 and Fai & Cornelius 1996 (degrees of freedom).

The interval of a variance inverts Wald's pivot (Wald 1947; Harville & Fenech 1985): with the outcome projected off the
columns of X and off all other groups, the effects of one group have the covariance σ²(A + g A²), g being its variance
over the residual's; the weighted mean square of its levels over that of the residual then follows F exactly. The ends
of g times the estimated residual variance are those of the variance, which is inexact only where few rows are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, fdtri, stdtr, stdtrit

from biasgauge.core import Estimate, Fields, Floats, JsonMapping, Record, check_level
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats.mixed_models.moment_sums import Moments, moments
from biasgauge.stats.mixed_models.reml import ProjectedSums, Solution, satterthwaite, solve
from biasgauge.stats.numerics import on_one_thread

FEW_LEVELS = 5
"""Below this many levels the variance of a group, or of a facet, is barely known, and output says so."""
RESIDUAL = "residual"
OVER = "groups and rows"
NOT_SEPARATED = "the other groups and the columns leave nothing by which its levels could be told apart"
_RANK = 1e-9


@dataclass(frozen=True)
class FixedEffect(Record):
    """One coefficient.

    Attributes:
        estimate: change of the outcome per unit of the column; None when it is undefined.
        se: its standard error.
        df: Satterthwaite's degrees of freedom; about the number of levels minus one where groups decide it.
        t: estimate / se.
        p: two-sided, of no effect.
        interval: of the coefficient.
        reason: why it is undefined.
    """

    name: str
    estimate: float | None
    se: float | None
    df: float | None
    t: float | None
    p: float | None
    interval: Estimate
    reason: str | None = None


@dataclass(frozen=True)
class RandomEffect(Record):
    """Variance between the levels of one group, or of the residuals.

    Attributes:
        name: the group, or "residual".
        levels: number of levels; of rows, for the residual.
        variance: of the effects; 0 at the boundary of the parameter space; None where every split between it and
            other groups fits the rows equally well.
        interval: of the variance.
    """

    name: str
    levels: int
    variance: float | None
    interval: Estimate

    @property
    def sd(self) -> float | None:
        """Standard deviation of the effects; None where the variance is."""
        return None if self.variance is None else float(self.variance**0.5)

    def derived(self) -> JsonMapping:
        """The standard deviation."""
        return {"sd": self.sd}


@dataclass(frozen=True, eq=False, repr=False)
class MixedFit(Result):
    """A fitted mixed model.

    Attributes:
        fixed: one coefficient for each column of X, in their order.
        random: one variance for each group, then that of the residual.
        criterion: −2 log restricted likelihood (lme4's REML criterion), or −2 log likelihood.
        reml: True for the restricted likelihood.
        rows: number of rows.
        converged: True if the search ended where no step lowers the criterion.
        singular: groups whose variance is estimated as 0, the boundary of the parameter space.
        warnings: limitations of the fit.
        covariance: of the coefficients that are defined, in their order.
        solution: the fit as arrays.
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("fixed",)
    hidden: ClassVar[frozenset[str]] = frozenset({"covariance", "solution"})

    fixed: tuple[FixedEffect, ...]
    random: tuple[RandomEffect, ...]
    criterion: float
    reml: bool
    rows: int
    converged: bool
    singular: tuple[str, ...]
    warnings: tuple[str, ...]
    covariance: Floats
    solution: Solution

    def summary(self) -> Summary:
        """Coefficients and variances, with their intervals."""
        heads = ["column", Column("estimate", "estimate", 4), Column("df", "number"), Column("p", "p")]
        fixed = [(effect.name, effect.interval, effect.df, effect.p) for effect in self.fixed]
        groups = [(group.name, group.interval, group.levels) for group in self.random]
        group_heads = ["group", Column("variance", "estimate", 4), Column("levels", "count")]
        return Summary(
            title="Mixed model",
            headline=f"{counted(self.fixed, 'coefficient')} and {counted(self.random, 'variance')} of "
            f"{counted(self.rows, 'row')}",
            tables=(Table.of("fixed", "", heads, fixed), Table.of("random", "", group_heads, groups)),
            warnings=self.warnings,
        )


def fit_mixed(
    y: ArrayLike,
    x: ArrayLike,
    groups: Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    reml: bool = True,
    level: float = 0.95,
) -> MixedFit:
    """Fit y = Xβ + a random intercept for each group + error.

    Args:
        y: the outcome, one number per row.
        x: rows × columns; a column of ones among them is the intercept.
        groups: for each grouping factor its level in every row; factors may be crossed or nested.
        names: one for each column of `x`.
        reml: restricted maximum likelihood; False for maximum likelihood.
        level: of the intervals.

    Columns that are a combination of the ones before them get no coefficient but a reason.

    Raises:
        ParameterError: shapes differ, a number is not finite, a group has one level, or nothing is left to estimate.
    """
    check_level(level)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        return fit_moments(moments(y, x, groups, names), tuple(names), reml=reml, level=level)


def fit_moments(sums: Moments, names: tuple[str, ...], *, reml: bool = True, level: float = 0.95) -> MixedFit:
    """Fit a model whose rows have been summed; `names` orders the coefficients, those without one included."""
    fit = solve(sums, reml=reml)
    covariance = fit.sigma2 * sums.back @ fit.inverse @ sums.back.T
    random = random_effects(fit, level)
    singular = tuple(group.name for group in random if group.variance == 0)
    warnings = [] if fit.converged else ["the search for the variances did not converge: do not use these numbers"]
    undefined = {group.name for group in random if group.interval.low is None}
    warnings += [
        f"{group.name} has {len(group.levels)} levels, which barely identify its variance: "
        "its interval is wide, and what rests on it (the intercept, R²) is uncertain"
        for group in sums.groups
        if len(group.levels) < FEW_LEVELS and group.name not in undefined
    ]
    warnings += [
        f"the variance of {group.name} has no interval: {group.interval.reason}; R² has none either"
        for group in random
        if group.name in undefined
    ]
    warnings += [f"the variance of {name} is estimated as 0, the boundary: the fit is singular" for name in singular]
    return MixedFit(
        _fixed(fit, covariance, names, level), random, fit.at.value, reml, sums.rows, fit.converged, singular,
        tuple(warnings), covariance, fit,
    )  # fmt: skip


def _fixed(fit: Solution, covariance: Floats, names: tuple[str, ...], level: float) -> tuple[FixedEffect, ...]:
    estimates = fit.sums.back @ fit.scaled + fit.sums.offset
    errors = np.sqrt(np.diag(covariance))
    freedom = satterthwaite(fit, np.diag(covariance))
    ratios = estimates / errors
    p = 2 * stdtr(freedom, -np.abs(ratios))
    margins = (stdtrit(freedom, (1 + level) / 2) * errors).tolist()
    numbers = np.stack([estimates, errors, freedom, ratios, p], axis=1).tolist()
    by_name = dict(zip(fit.sums.names, zip(numbers, margins, strict=True), strict=True))
    fields: Fields = {"level": level, "method": "t, Satterthwaite", "over": OVER}
    rows = []
    for name in names:
        if name in by_name:
            (value, *tests), margin = by_name[name]
            se, df, t, chance = tests
            interval = Estimate.symmetric(value, margin, **fields)
            rows.append(FixedEffect(name, value, se, df, t, chance, interval))
        else:
            reason = "the column is constant or a combination of the ones before it"
            interval = Estimate(value=None, reason=reason, **fields)
            rows.append(FixedEffect(name, None, None, None, None, None, interval, reason))
    return tuple(rows)


class Pivot(NamedTuple):
    """The mean square of one group over that of the residual, as a function of the group's variance ratio.

    `sizes` are the eigenvalues of A, about the numbers of rows at a level; `squares` the squared effects along its
    eigenvectors, in units of the residual mean square, which has `freedom` degrees of freedom.
    """

    sizes: Floats
    squares: Floats
    freedom: int

    def at(self, ratio: float) -> float:
        """F at a variance ratio; falls as it grows."""
        return float((self.squares / (1 + ratio * self.sizes)).mean())

    def solve(self, targets: Floats) -> Floats:
        """Variance ratios at which F is each of the targets; 0 where F is smaller than that already at 0.

        Newton from below: F is falling and convex, so that no step goes beyond the root.
        """
        at_zero = self.at(0.0)
        ratios: Floats = np.maximum(at_zero / targets - 1, 0.0) / self.sizes.max()
        for _ in range(200):
            shrunken = 1 + ratios[..., None] * self.sizes
            terms = self.squares / shrunken
            slope = (terms * self.sizes / shrunken).mean(axis=-1)
            gap = np.maximum(terms.mean(axis=-1) - targets, 0.0)
            step = np.divide(gap, slope, out=np.zeros_like(gap), where=slope > 0)
            ratios = ratios + np.where(at_zero > targets, step, 0.0)
            if (step <= 1e-10 * ratios).all():
                break
        return ratios


class Pivots(NamedTuple):
    """One pivot for each group (None where other groups leave nothing of it), and the residual's mean square."""

    groups: tuple[Pivot | None, ...]
    mean_square: float
    freedom: int


def pivots(fit: Solution) -> Pivots:
    """Return the pivot of each group, net of the columns of X and the other groups."""
    rows = fit.problem
    freedom = fit.sums.rows - len(fit.sums.xx) - len(rows.along)
    if freedom < 1:
        return Pivots((None,) * len(rows.parts), 0.0, 0)
    mean_square = rows.error / freedom
    return Pivots(tuple(_pivot(rows, columns, mean_square, freedom) for columns in rows.parts), mean_square, freedom)


def _pivot(rows: ProjectedSums, columns: slice, mean_square: float, freedom: int) -> Pivot | None:
    outside = np.ones(len(rows.basis), bool)
    outside[columns] = False
    net = rows.basis[columns]
    if outside.any():  # columns of B stand for directions of rows: project off those that the other groups span
        values, vectors = np.linalg.eigh(rows.basis[outside].T @ rows.basis[outside])
        free = vectors[:, values <= _RANK * max(float(values.max()), 1e-300)]
        net = net @ free @ free.T
    values, vectors = np.linalg.eigh(net @ net.T)
    solid = values > _RANK * max(float((rows.basis[columns] ** 2).sum(axis=1).max()), 1e-300)
    if not solid.any():
        return None
    sizes = values[solid]
    squares = (vectors[:, solid].T @ (net @ rows.along)) ** 2 / sizes / mean_square
    return Pivot(sizes, squares, freedom)


def confounded_groups(fit: Solution) -> tuple[str, ...]:
    """Name the groups whose variances are not identified: the likelihood depends on a combination of them alone.

    The covariance of the outcome, projected off X, is σ²(I + Σ g_k A_k) with A_k = B_k'B_k. The ratios g_k are
    identified where I and all A_k are linearly independent: where the matrix of their inner products tr(A_k A_l) has
    full rank.
    """
    basis, parts = fit.problem.basis, fit.problem.parts
    inner = np.array([[np.sum((basis[one] @ basis[other].T) ** 2) for other in parts] for one in parts])
    traces = np.array([np.sum(basis[columns] ** 2) for columns in parts])
    gram = np.block([[inner, traces[:, None]], [traces[None], np.array([[float(fit.sums.rows - len(fit.sums.xx))]])]])
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    involved = (np.abs(vectors[:-1, values <= _RANK]) > np.sqrt(_RANK)).any(axis=1)
    return tuple(group.name for group, part in zip(fit.sums.groups, involved, strict=True) if part)


def random_effects(fit: Solution, level: float) -> tuple[RandomEffect, ...]:
    """Variance of each group, then that of the residual."""
    pivot = pivots(fit)
    confounded = confounded_groups(fit)
    effects = []
    for group, ratio_pivot, estimate in zip(fit.sums.groups, pivot.groups, fit.variances.tolist(), strict=True):
        variance = None if group.name in confounded else estimate
        fields: Fields = {"value": variance, "level": level, "method": "Wald's F pivot", "over": OVER}
        if ratio_pivot is None:
            interval = Estimate(reason=NOT_SEPARATED, **fields)
        else:
            tails = np.array([(1 + level) / 2, (1 - level) / 2])
            quantiles = np.asarray(fdtri(len(ratio_pivot.sizes), ratio_pivot.freedom, tails), np.float64)
            low, high = (ratio_pivot.solve(quantiles) * fit.sigma2).tolist()
            interval = Estimate(low=low, high=high, **fields)
        effects.append(RandomEffect(group.name, len(group.levels), variance, interval))
    fields = {"value": fit.sigma2, "level": level, "method": "chi-squared", "over": "rows"}
    if pivot.freedom < 1:
        residual = Estimate(reason="groups and columns leave no residual", **fields)
    else:
        sum_of_squares = pivot.mean_square * pivot.freedom
        low, high = (sum_of_squares / float(chdtri(pivot.freedom, (1 + sign * level) / 2)) for sign in (-1, 1))
        residual = Estimate(low=low, high=high, **fields)
    return *effects, RandomEffect(RESIDUAL, fit.sums.rows, fit.sigma2, residual)
