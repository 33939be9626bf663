"""From the sums over rows to variances, coefficients and degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.stats.mixed_models.reml import Criterion, Problem, minimize, problem

if TYPE_CHECKING:
    from biasgauge.stats.mixed_models.moments import Moments

_PERFECT = 1e-14
_SAYS_NOTHING = 1e-10
"""Below this share of the largest curvature, the likelihood says nothing in a direction."""


@dataclass(frozen=True)
class Solution:
    """The fit as arrays, for whatever is computed from it.

    Attributes:
        sums: what the rows came to.
        problem: the same, projected off the columns of X.
        ratios: variance of each group over that of the residual.
        sigma2: the residual variance.
        scaled: coefficients of the shifted and scaled columns.
        inverse: their covariance over `sigma2`.
        effects: the predicted effect of every level of every group.
        at: criterion and derivatives at the minimum.
    """

    sums: Moments
    problem: Problem
    ratios: Floats
    sigma2: float
    scaled: Floats
    inverse: Floats
    effects: Floats
    at: Criterion
    converged: bool

    @property
    def variances(self) -> Floats:
        """Variance of each group."""
        found: Floats = self.ratios * self.sigma2
        return found


def solve(sums: Moments, *, reml: bool = True, start: Floats | None = None) -> Solution:
    """Find the variances, then the coefficients that follow from them."""
    one = problem(sums, reml=reml)
    if one.error <= _PERFECT * max(sums.yy, 1e-300):
        raise ParameterError("Columns and groups explain the outcome exactly: there is no error left to estimate.")
    least = minimize(one, start)
    weights = np.concatenate(
        [np.full(part.stop - part.start, ratio) for part, ratio in zip(one.parts, least.ratios, strict=True)]
    )
    effects = weights * least.at.d
    roots = np.sqrt(weights)
    inner = cho_factor(np.eye(len(roots)) + roots[:, None] * sums.zz * roots)
    inside = roots[:, None] * sums.xz.T
    information = sums.xx - inside.T @ cho_solve(inner, inside)
    inverse = np.linalg.inv((information + information.T) / 2)
    scaled = cho_solve(cho_factor(sums.xx), sums.xy - sums.xz @ effects)
    return Solution(
        sums=sums,
        problem=one,
        ratios=least.ratios,
        sigma2=least.at.rest / one.freedom,
        scaled=scaled,
        inverse=(inverse + inverse.T) / 2,
        effects=effects,
        at=least.at,
        converged=least.converged,
    )


def satterthwaite(found: Solution, variances: Floats) -> Floats:
    """Degrees of freedom of each coefficient: 2 v² / Var(v), Var(v) by the delta method.

    A group whose variance is estimated as 0 counts as known to be absent, as in lmerTest.
    """
    sums, free = found.sums, found.ratios > 0
    weights = np.concatenate(
        [np.full(part.stop - part.start, r) for part, r in zip(found.problem.parts, found.ratios, strict=True)]
    )
    roots = np.sqrt(weights)
    inner = cho_factor(np.eye(len(roots)) + roots[:, None] * sums.zz * roots)
    weighted = sums.xz.T - (sums.zz * roots) @ cho_solve(inner, roots[:, None] * sums.xz.T)  # Z'V⁻¹X
    turned = weighted @ found.inverse @ sums.back.T
    slopes = [found.sigma2 * (turned[part] ** 2).sum(axis=0) for part in found.problem.parts]
    gradient = np.array([*(slope for slope, is_free in zip(slopes, free, strict=True) if is_free),
                         variances / found.sigma2])  # fmt: skip
    spread = np.einsum("ij,ik,kj->j", gradient, covariance_of_ratios(found), gradient)
    freedom: Floats = 2 * variances**2 / spread
    return freedom


def covariance_of_ratios(found: Solution) -> Floats:
    """Asymptotic covariance of the variance ratios that are not 0, and of the residual variance, in this order."""
    free = np.flatnonzero(found.ratios > 0)
    sigma2, at = found.sigma2, found.at
    size = len(free)
    hessian = np.empty((size + 1, size + 1))
    for i, first in enumerate(free):
        own = found.problem.parts[first]
        for j, second in enumerate(free):
            other = found.problem.parts[second]
            cross = float(at.d[own] @ at.c[own, other] @ at.d[other])
            hessian[i, j] = at.curvature[first, second] + 2 * cross / sigma2
        hessian[i, size] = hessian[size, i] = float(at.d[own] @ at.d[own]) / sigma2**2
    hessian[size, size] = found.problem.freedom / sigma2**2
    scale = 1 / np.sqrt(np.diag(hessian))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    solid = values > _SAYS_NOTHING * values.max()
    inverse = (vectors[:, solid] / values[solid]) @ vectors[:, solid].T
    found_covariance: Floats = 2 * inverse * np.outer(scale, scale)
    return found_covariance
