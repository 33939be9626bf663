"""From the sums over rows to variances with their intervals, coefficients, and degrees of freedom.

The interval of a variance inverts Wald's pivot (Wald 1947; Harville & Fenech 1985): with the outcome projected off the
columns of X and off all other groups, the effects of one group have the covariance σ²(A + g A²), g being its variance
over the residual's; the weighted mean square of its levels over that of the residual then follows F exactly. The ends
of g times the estimated residual variance are those of the variance, which is inexact only where few rows are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import chdtri, fdtri

from biasgauge.core import Estimate, Fields, Floats, JsonMapping, Record
from biasgauge.errors import ParameterError
from biasgauge.stats.mixed_models.moment_sums import Moments
from biasgauge.stats.mixed_models.reml import Criterion, Problem, minimize, problem

RESIDUAL = "residual"
OVER = "groups and rows"
_RANK = 1e-9
_PERFECT = 1e-14
_SAYS_NOTHING = 1e-10
"""Below this share of the largest curvature, the likelihood says nothing in a direction."""


@dataclass(frozen=True)
class Solution:
    """A fit as arrays.

    Attributes:
        ratios: variance of each group over that of the residual, `sigma2`.
        scaled: coefficients of the shifted and scaled columns; `inverse` is their covariance over `sigma2`.
        turned: R(I + RZ'ZR)⁻¹RZ'X without its first R, the roots of the variance ratios on a diagonal.
        effects: the predicted effect of every level of every group; `at` is the criterion at the minimum.
    """

    sums: Moments
    problem: Problem
    ratios: Floats
    sigma2: float
    scaled: Floats
    inverse: Floats
    turned: Floats
    effects: Floats
    at: Criterion
    converged: bool

    @property
    def variances(self) -> Floats:
        """Variance of each group."""
        variances: Floats = self.ratios * self.sigma2
        return variances


def solve(sums: Moments, *, reml: bool = True, start: Floats | None = None) -> Solution:
    """Find the variances, then the coefficients that follow from them."""
    rows = problem(sums, reml=reml)
    if rows.error <= _PERFECT * max(sums.yy, 1e-300):
        raise ParameterError("Columns and groups explain the outcome exactly: there is no error left to estimate.")
    least = minimize(rows, start)
    weights = rows.weights(least.ratios)
    effects, roots = weights * least.at.d, np.sqrt(weights)
    inner = cho_factor(np.eye(len(roots)) + roots[:, None] * sums.zz * roots)
    inside = roots[:, None] * sums.xz.T
    turned = cho_solve(inner, inside)
    information = sums.xx - inside.T @ turned
    inverse = np.linalg.inv((information + information.T) / 2)
    return Solution(
        sums=sums,
        problem=rows,
        ratios=least.ratios,
        sigma2=least.at.residual / rows.freedom,
        scaled=cho_solve(cho_factor(sums.xx), sums.xy - sums.xz @ effects),
        inverse=(inverse + inverse.T) / 2,
        turned=turned,
        effects=effects,
        at=least.at,
        converged=least.converged,
    )


def satterthwaite(fit: Solution, variances: Floats) -> Floats:
    """Degrees of freedom of each coefficient, 2 v² / Var(v), Var(v) by the delta method.

    v is the variance of the coefficient, a function of the variance ratios and σ²: with c its row of the inverse,
    ∂v/∂r_k = σ² |Z_k'V⁻¹X c|² and ∂v/∂σ² = v / σ². A group whose variance is estimated as 0 counts as known to be
    absent, as in lmerTest.
    """
    sums, roots = fit.sums, np.sqrt(fit.problem.weights(fit.ratios))
    weighted = sums.xz.T - (sums.zz * roots) @ fit.turned  # Z'V⁻¹X
    spread_out = weighted @ fit.inverse @ sums.back.T
    group_columns = [columns for columns, ratio in zip(fit.problem.parts, fit.ratios, strict=True) if ratio > 0]
    slopes = [fit.sigma2 * (spread_out[columns] ** 2).sum(axis=0) for columns in group_columns]
    gradient = np.array([*slopes, variances / fit.sigma2])
    spread = np.einsum("ij,ik,kj->j", gradient, _covariance_of_ratios(fit), gradient)
    freedom: Floats = 2 * variances**2 / spread
    return freedom


def _covariance_of_ratios(fit: Solution) -> Floats:
    """Asymptotic covariance of the variance ratios that are not 0, and of the residual variance, in this order."""
    free = np.flatnonzero(fit.ratios > 0)
    sigma2, at = fit.sigma2, fit.at
    size = len(free)
    hessian = np.empty((size + 1, size + 1))
    for i, first in enumerate(free):
        first_columns = fit.problem.parts[first]
        for j, second in enumerate(free):
            second_columns = fit.problem.parts[second]
            cross = float(at.d[first_columns] @ at.c[first_columns, second_columns] @ at.d[second_columns])
            hessian[i, j] = at.curvature[first, second] + 2 * cross / sigma2
        hessian[i, size] = hessian[size, i] = float(at.d[first_columns] @ at.d[first_columns]) / sigma2**2
    hessian[size, size] = fit.problem.freedom / sigma2**2
    scale = 1 / np.sqrt(np.diag(hessian))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    solid = values > _SAYS_NOTHING * values.max()
    inverse = (vectors[:, solid] / values[solid]) @ vectors[:, solid].T
    covariance: Floats = 2 * inverse * np.outer(scale, scale)
    return covariance


@dataclass(frozen=True)
class RandomEffect(Record):
    """Variance between the levels of one group, or of the residuals.

    Attributes:
        name: the group, or "residual".
        levels: number of levels; of rows, for the residual.
        variance: of the effects; 0 at the boundary of the parameter space.
        interval: of the variance.
    """

    name: str
    levels: int
    variance: float
    interval: Estimate

    @property
    def sd(self) -> float:
        """Standard deviation of the effects."""
        return float(self.variance**0.5)

    def derived(self) -> JsonMapping:
        """The standard deviation."""
        return {"sd": self.sd}


@dataclass(frozen=True)
class Pivot:
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

    def solve(self, target: float) -> float:
        """Variance ratio at which F is `target`; 0 when F is smaller than that already at 0."""
        from scipy.optimize import brentq

        if self.at(0.0) <= target:
            return 0.0
        low = (self.at(0.0) / target - 1) / self.sizes.max()
        high = (self.at(0.0) / target - 1) / self.sizes.min()
        if high <= low * (1 + 1e-12) or self.at(low) <= target:  # the root is an end, or beside it by rounding
            return float(low)
        if self.at(high) >= target:
            return float(high)
        return float(brentq(lambda ratio: self.at(ratio) - target, low, high, xtol=1e-300, rtol=1e-12))


@dataclass(frozen=True)
class Pivots:
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


def _pivot(rows: Problem, columns: slice, mean_square: float, freedom: int) -> Pivot | None:
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


def random_effects(fit: Solution, level: float) -> tuple[RandomEffect, ...]:
    """Variance of each group, then that of the residual."""
    pivot = pivots(fit)
    effects = []
    for group, ratio_pivot, variance in zip(fit.sums.groups, pivot.groups, fit.variances.tolist(), strict=True):
        interval = _interval(variance, ratio_pivot, fit.sigma2, level)
        effects.append(RandomEffect(group.name, len(group.levels), variance, interval))
    return *effects, RandomEffect(RESIDUAL, fit.sums.rows, fit.sigma2, _residual(fit.sigma2, pivot, level))


def _interval(value: float, pivot: Pivot | None, sigma2: float, level: float) -> Estimate:
    fields: Fields = {"value": value, "level": level, "method": "Wald's F pivot", "over": OVER}
    if pivot is None:
        reason = "the other groups and the columns leave nothing by which its levels could be told apart"
        return Estimate(reason=reason, **fields)
    ends = [pivot.solve(float(fdtri(len(pivot.sizes), pivot.freedom, (1 + sign * level) / 2))) for sign in (1, -1)]
    return Estimate(low=ends[0] * sigma2, high=ends[1] * sigma2, **fields)


def _residual(value: float, pivot: Pivots, level: float) -> Estimate:
    fields: Fields = {"value": value, "level": level, "method": "chi-squared", "over": "rows"}
    if pivot.freedom < 1:
        return Estimate(reason="groups and columns leave no residual", **fields)
    sum_of_squares = pivot.mean_square * pivot.freedom
    low, high = (sum_of_squares / float(chdtri(pivot.freedom, (1 + sign * level) / 2)) for sign in (-1, 1))
    return Estimate(low=low, high=high, **fields)
