"""The restricted likelihood of crossed random intercepts, as a function of the variance ratios alone, and its minimum.

The model is y = Xβ + Σ Z_k u_k + e with u_k ~ N(0, r_k σ² I) and e ~ N(0, σ² I). With Q the projection off the columns
of X, the criterion −2 log(restricted likelihood), in which β and σ² are profiled out, depends on the rows only through
Z'QZ, Z'Qy and y'Qy (Harville 1977; Bates et al. 2015, section 3). So one evaluation costs the third power of the number
of levels, however many rows there are. With Z'QZ = BB' and Z'Qy = Bf, and D the ratios on a diagonal, everything
follows from one Cholesky factor of I + B'DB, without a difference of large numbers: C = Z'PZ = B(I + B'DB)⁻¹B' and
d = Z'Py = B(I + B'DB)⁻¹f. Gradient and Hessian are exact: ∂C/∂r_k = −C_·k C_k· and ∂d/∂r_k = −C_·k d_k.

The search is written here because ratios end exactly at 0 on the boundary and thousands of refits start beside their
minimum, where these Newton steps need three or four evaluations; SciPy has no bounded method that uses a Hessian so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from biasgauge.core import Flags, Floats
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.stats.mixed_models.moment_sums import Moments

_STEPS = 200
_FLAT, _ROUNDING = 1e-12, 1e-14
"""A predicted fall of the criterion, itself or as a share of it, that the criterion could not show."""
_GRID = np.logspace(-4, 6, 11)
"""Where the search looks first for the variance of a group's means in units of the error of such a mean."""
_SMALLEST, _TINY = 1e-10, 1e-4
"""Variances in those units that are as good as 0, if the criterion rises from 0 on: always, and where it is too flat to
tell."""
_LARGEST = 1e14  # a variance in those units beyond which double precision cannot follow
_FALLS = 1e-9
_MOST_FOR_SWEEPS = 400
_NEARLY = 1e-9
_LONGEST_STEP = 3.0
_SHORT = 0.01  # a last step, in logarithms, that leads to the minimum rather than along a flat valley
_PERFECT = 1e-14  # share of the outcome's sum of squares below which the residual is rounding
_NO_INFORMATION = 1e-10  # a direction with less than this share of the largest curvature is not identified


@dataclass(frozen=True)
class ProjectedSums:
    """Sums over rows that determine the variance ratios.

    Attributes:
        basis: B, with BB' = Z'QZ; as many columns as that has rank.
        along: f, with Bf = Z'Qy.
        error: residual sum of squares y'y if the effects of all levels are free (fixed).
        det_basis: the basis of the determinant: B for REML, one of Z'Z for maximum likelihood.
        freedom: rows minus columns for REML, rows for maximum likelihood.
        parts: columns of each group among those of all groups.
        constant: part of the criterion that does not depend on the ratios.
    """

    basis: Floats
    along: Floats
    error: float
    det_basis: Floats
    freedom: int
    parts: tuple[slice, ...]
    constant: float

    @property
    def units(self) -> Floats:
        """For each group the mean number of rows at a level, net of X: turns a variance ratio into what can be seen."""
        seen = [(self.basis[columns] ** 2).sum() / max(columns.stop - columns.start - 1, 1) for columns in self.parts]
        units: Floats = np.maximum(np.array(seen), 1e-300)
        return units

    def weights(self, ratios: Floats) -> Floats:
        """The variance ratio of each column's group."""
        return np.repeat(ratios, [columns.stop - columns.start for columns in self.parts])

    def by_group(self, values: Floats) -> Floats:
        """Sum the columns of each group, along every axis."""
        starts = [columns.start for columns in self.parts]
        for axis in range(values.ndim):
            values = np.add.reduceat(values, starts, axis=axis)
        return values


class RemlValue(NamedTuple):
    """The criterion at some variance ratios, with its derivatives with respect to them.

    Attributes:
        value: −2 log(restricted) likelihood with fixed effects and residual variance at their best.
        residual: y'Py, the weighted residual sum of squares; `residual / freedom` estimates the residual variance.
        d: Z'Py, in units of the residual variance.
        squares: |d_k|² of each group.
        cross: d_k' C_kl d_l of every two groups.
        curvature: the part of the Hessian that stems from the determinant, minus Σ of squares of C_kl.
    """

    value: float
    residual: float
    gradient: Floats
    hessian: Floats
    d: Floats
    squares: Floats
    cross: Floats
    curvature: Floats


def problem(sums: Moments, *, reml: bool) -> ProjectedSums:
    """Project the groups and the outcome off the columns of X.

    With X'X = LL', the projected products are Z'QZ = Z'Z − (L⁻¹X'Z)'(L⁻¹X'Z), and so on.
    """
    root = np.linalg.cholesky(sums.xx)
    xz = solve_triangular(root, sums.xz, lower=True)
    xy = solve_triangular(root, sums.xy, lower=True)
    largest = float(np.diag(sums.zz).max())
    basis, inverse = _root(sums.zz - xz.T @ xz, largest)
    along = inverse @ (sums.zy - xz.T @ xy)
    log_xx = 2 * float(np.log(np.diag(root)).sum()) - 2 * float(np.linalg.slogdet(sums.back)[1])
    freedom = sums.rows - len(sums.xx) if reml else sums.rows
    constant = freedom * (1 + np.log(2 * np.pi / freedom)) + (log_xx if reml else 0.0)
    error = max(sums.yy - float(xy @ xy) - float(along @ along), 0.0)
    det_basis = basis if reml else _root(sums.zz, largest)[0]
    parts = tuple(group.columns for group in sums.groups)
    return ProjectedSums(basis, along, error, det_basis, freedom, parts, float(constant))


def _root(a: Floats, largest: float) -> tuple[Floats, Floats]:
    """B with BB' = A, and its pseudo-inverse; eigenvalues that rounding made are left out."""
    values, vectors = np.linalg.eigh((a + a.T) / 2)
    solid = values > len(a) * 1e-14 * max(largest, 1.0)
    roots = np.sqrt(values[solid])
    return vectors[:, solid] * roots, (vectors[:, solid] / roots).T


def evaluate(rows: ProjectedSums, ratios: Floats) -> RemlValue:
    """Criterion log|I + B'DB| + freedom · log(y'Py) + constant, with derivatives, at variance ratios of at least 0."""
    weights = rows.weights(ratios)
    log_det, lower = _factor(rows.basis, weights)
    half = solve_triangular(lower, np.column_stack([rows.basis.T, rows.along]), lower=True, check_finite=False)
    c, d = half[:, :-1].T @ half[:, :-1], half[:, :-1].T @ half[:, -1]
    residual = rows.error + float(half[:, -1] @ half[:, -1])
    c_det = c
    if rows.det_basis is not rows.basis:
        log_det, lower = _factor(rows.det_basis, weights)
        half = solve_triangular(lower, rows.det_basis.T, lower=True, check_finite=False)
        c_det = half.T @ half
    value = log_det + rows.freedom * float(np.log(residual)) + rows.constant
    squares, curvature = rows.by_group(d**2), -rows.by_group(c_det**2)
    cross = rows.by_group(d[:, None] * c * d)
    # Derivatives of log|I + B'DB| are traces of C; those of y'Py are −|d_k|², of which each falls by 2 d_k' C_kl d_l.
    scale = rows.freedom / residual
    gradient = rows.by_group(np.diag(c_det)) - scale * squares
    hessian = curvature + scale * (2 * cross - np.outer(squares, squares) / residual)
    return RemlValue(value, residual, gradient, hessian, d, squares, cross, curvature)


def _factor(basis: Floats, weights: Floats) -> tuple[float, Floats]:
    """Logarithm of the determinant of I + B'DB, and its Cholesky factor."""
    lower: Floats = np.linalg.cholesky(np.eye(basis.shape[1]) + (basis.T * weights) @ basis).astype(np.float64)
    return 2 * float(np.log(np.diag(lower)).sum()), lower


class Minimum(NamedTuple):
    """Minimum of the criterion; a ratio is exactly 0 at the boundary.

    Converged: no step within the allowed region would lower the criterion by more than rounding.
    """

    ratios: Floats
    at: RemlValue
    converged: bool


def minimize(rows: ProjectedSums, start: Floats | None = None) -> Minimum:
    """Minimize the criterion over variance ratios of at least 0.

    Newton steps in the logarithms of the ratios, each shortened until the criterion falls; a ratio that shrinks to
    nothing is set to 0 if the criterion rises from there, and is released again if it would fall.
    """
    if start is not None:
        return _descend(rows, np.maximum(start, 2 * _SMALLEST / rows.units))
    return min((_descend(rows, begin) for begin in _starting_values(rows)), key=lambda minimum: minimum.at.value)


def _starting_values(rows: ProjectedSums) -> list[Floats]:
    """Starting values: small and large ratios, each improved group by group over a coarse grid."""
    starts = [np.full(len(rows.parts), level) for level in (1.0, 1e3)]
    if len(rows.basis) > _MOST_FOR_SWEEPS:
        return [starts[0] / rows.units]
    for start in starts:
        for index in [*range(len(start))] * 2:
            values = []
            for level in _GRID:
                start[index] = level
                values.append(evaluate(rows, start / rows.units).value)
            start[index] = _GRID[int(np.argmin(values))]
    if (starts[0] == starts[1]).all():
        starts.pop()
    return [start / rows.units for start in starts]


def _descend(rows: ProjectedSums, ratios: Floats) -> Minimum:
    ratios = ratios.copy()
    units = rows.units
    at = evaluate(rows, ratios)
    for _ in range(_STEPS):
        for index in np.flatnonzero((ratios > 0) & (ratios * units < _SMALLEST)):
            ratios[index] = 0.0
            at = evaluate(rows, ratios)
        free = ratios > 0
        releasable = ~free & (at.gradient / units < -_FALLS)  # the criterion falls from the boundary inwards
        for index in np.flatnonzero(releasable):
            ratios[index] = 1e3 * _SMALLEST / units[index]
            free[index] = True
            at = evaluate(rows, ratios)
        if not free.any():
            return Minimum(ratios, at, converged=True)
        step, fall = _newton(at, ratios, free)
        # A fall below the rounding error of the criterion cannot be checked by evaluating it.
        below_rounding = fall < max(_FLAT, _ROUNDING * abs(at.value))
        better = None if below_rounding else _shorten(rows, at, ratios, free, step)
        if better is None:  # rounding hides the remaining fall, but not the step to the minimum
            short = bool(np.abs(step).max() < _SHORT)
            shrinking = free & (at.gradient > 0) & (ratios * units < _TINY)
            if not short and shrinking.any():
                ratios[shrinking] = 0.0
                at = evaluate(rows, ratios)
                continue
            if short:
                ratios[free] *= np.exp(step)
            close = fall < _NEARLY * max(abs(at.value), 1.0)
            return Minimum(ratios, evaluate(rows, ratios), converged=short and close)
        ratios, at = better
    return Minimum(ratios, at, converged=False)


def _newton(at: RemlValue, ratios: Floats, free: Flags) -> tuple[Floats, float]:
    """Newton step in the logarithms of the free ratios, and the fall of the criterion that it predicts."""
    free_ratios = ratios[free]
    # Chain rule for the logarithms: ∂/∂log r = r ∂/∂r.
    gradient = at.gradient[free] * free_ratios
    hessian = at.hessian[np.ix_(free, free)] * np.outer(free_ratios, free_ratios) + np.diag(gradient)
    values, vectors = np.linalg.eigh(hessian)
    # Absolute eigenvalues: a descent direction where the criterion is not convex, too.
    curved = np.maximum(np.abs(values), 1e-12 * max(float(np.abs(values).max()), 1e-300))
    step = -vectors @ (vectors.T @ gradient / curved)
    step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
    return step, float(-gradient @ step) / 2


def _shorten(
    rows: ProjectedSums, at: RemlValue, ratios: Floats, free: Flags, step: Floats
) -> tuple[Floats, RemlValue] | None:
    """Return the first of step, step/2, step/4, … that lowers the criterion; None when none does."""
    for halvings in range(40):
        tried = ratios.copy()
        tried[free] *= np.exp(step * 0.5**halvings)
        if (tried * rows.units > _LARGEST).any():
            continue
        candidate = evaluate(rows, tried)
        if candidate.value < at.value:
            return tried, candidate
    return None


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
    problem: ProjectedSums
    ratios: Floats
    sigma2: float
    scaled: Floats
    inverse: Floats
    turned: Floats
    effects: Floats
    at: RemlValue
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
    ratios, at, converged = minimize(rows, start)
    weights = rows.weights(ratios)
    effects, roots = weights * at.d, np.sqrt(weights)
    inner = cho_factor(np.eye(len(roots)) + roots[:, None] * sums.zz * roots)
    inside = roots[:, None] * sums.xz.T
    turned = cho_solve(inner, inside)
    # X'V⁻¹X by Woodbury's identity, and the coefficients given the effects: X'X b = X'(y − Zu).
    information = sums.xx - inside.T @ turned
    inverse = np.linalg.inv((information + information.T) / 2)
    inverse = (inverse + inverse.T) / 2
    scaled = cho_solve(cho_factor(sums.xx), sums.xy - sums.xz @ effects)
    sigma2 = at.residual / rows.freedom
    return Solution(sums, rows, ratios, sigma2, scaled, inverse, turned, effects, at, converged)


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
    """Asymptotic covariance of the variance ratios that are not 0, and of the residual variance, in this order.

    Twice the inverse of the Hessian of −2 log likelihood, in which σ² is a parameter of its own; directions in which
    the likelihood is flat are left out.
    """
    free = np.flatnonzero(fit.ratios > 0)
    sigma2, at, grid = fit.sigma2, fit.at, np.ix_(free, free)
    border = at.squares[free, None] / sigma2**2
    corner = np.array([[fit.problem.freedom / sigma2**2]])
    hessian = np.block([[at.curvature[grid] + 2 * at.cross[grid] / sigma2, border], [border.T, corner]])
    scale = 1 / np.sqrt(np.diag(hessian))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    solid = values > _NO_INFORMATION * values.max()
    inverse = (vectors[:, solid] / values[solid]) @ vectors[:, solid].T
    covariance: Floats = 2 * inverse * np.outer(scale, scale)
    return covariance
