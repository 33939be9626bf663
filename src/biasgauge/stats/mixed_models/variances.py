"""Variances of the groups and of the residual, with their intervals.

Wald's pivot: with the outcome projected off the columns of X and off all other groups, the effects of one group have
the covariance σ²(A + g A²), g being its variance over the residual's; the weighted mean square of its levels over that
of the residual then follows the F distribution exactly, for any numbers of levels and rows. Where that ratio, as a
function of g, meets the quantiles of F are the ends of the interval of g (Wald 1947; Harville & Fenech 1985). The
interval of a variance is that of g times the estimated residual variance, which costs exactness only where few rows are
left over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, fdtri

from biasgauge.arrays import Floats
from biasgauge.stats.estimate import Estimate

if TYPE_CHECKING:
    from biasgauge.stats.mixed_models.reml import Problem
    from biasgauge.stats.mixed_models.solve import Solution

RESIDUAL = "residual"
OVER = "groups and rows"
_RANK = 1e-9


@dataclass(frozen=True)
class RandomEffect:
    """How much the levels of one group differ, or the rows within them.

    Attributes:
        name: the group, or "residual".
        levels: how many levels it has; rows, for the residual.
        variance: of the effects; 0 at the boundary of what is possible.
        interval: where the variance may lie.
    """

    name: str
    levels: int
    variance: float
    interval: Estimate

    @property
    def sd(self) -> float:
        """Standard deviation of the effects."""
        return float(self.variance**0.5)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "name": self.name,
            "levels": self.levels,
            "variance": self.variance,
            "sd": self.sd,
            "interval": self.interval.interval(),
        }


@dataclass(frozen=True)
class Pivot:
    """The mean square of one group over that of the residual, as a function of the group's variance ratio.

    Attributes:
        sizes: eigenvalues of A, about the numbers of rows at a level.
        squares: squared effects along its eigenvectors, in units of the residual mean square.
        freedom: degrees of freedom of the residual mean square.
    """

    sizes: Floats
    squares: Floats
    freedom: int

    def at(self, ratio: float) -> float:
        """F if the variance ratio were this; falls as it grows."""
        return float((self.squares / (1 + ratio * self.sizes)).mean())

    def solve(self, target: float) -> float:
        """Variance ratio at which F is `target`; 0 when F is smaller than that already at 0."""
        if self.at(0.0) <= target:
            return 0.0
        low = (self.at(0.0) / target - 1) / self.sizes.max()
        high = (self.at(0.0) / target - 1) / self.sizes.min()
        if high <= low * (1 + 1e-12):
            return float(low)
        return float(brentq(lambda ratio: self.at(ratio) - target, low, high, xtol=1e-300, rtol=1e-12))


@dataclass(frozen=True)
class Pivots:
    """One pivot for each group (None where other groups leave nothing of it), and the residual's mean square."""

    groups: tuple[Pivot | None, ...]
    mean_square: float
    freedom: int


def pivots(found: Solution) -> Pivots:
    """What is left of each group beside the columns of X and the other groups."""
    one = found.problem
    freedom = found.sums.rows - len(found.sums.xx) - len(one.along)
    if freedom < 1:
        return Pivots((None,) * len(one.parts), 0.0, 0)
    mean_square = one.error / freedom
    return Pivots(tuple(_pivot(one, part, mean_square, freedom) for part in one.parts), mean_square, freedom)


def _pivot(one: Problem, own: slice, mean_square: float, freedom: int) -> Pivot | None:
    others = np.ones(len(one.basis), bool)
    others[own] = False
    left = one.basis[own]
    if others.any():  # columns of B stand for directions of rows: take off those that the other groups span
        values, vectors = np.linalg.eigh(one.basis[others].T @ one.basis[others])
        free = vectors[:, values <= _RANK * max(float(values.max()), 1e-300)]
        left = left @ free @ free.T
    values, vectors = np.linalg.eigh(left @ left.T)
    solid = values > _RANK * max(float((one.basis[own] ** 2).sum(axis=1).max()), 1e-300)
    if not solid.any():
        return None
    sizes = values[solid]
    squares = (vectors[:, solid].T @ (left @ one.along)) ** 2 / sizes / mean_square
    return Pivot(sizes, squares, freedom)


def random_effects(found: Solution, level: float) -> tuple[RandomEffect, ...]:
    """Variance of each group, then that of the residual."""
    pivot = pivots(found)
    rows = [
        RandomEffect(
            group.name, len(group.levels), float(variance), _interval(float(variance), one, found.sigma2, level)
        )
        for group, variance, one in zip(found.sums.groups, found.variances, pivot.groups, strict=True)
    ]
    rows.append(RandomEffect(RESIDUAL, found.sums.rows, found.sigma2, _residual(found.sigma2, pivot, level)))
    return tuple(rows)


def _interval(value: float, pivot: Pivot | None, sigma2: float, level: float) -> Estimate:
    how = "Wald's F pivot"
    if pivot is None:
        reason = "the other groups and the columns leave nothing by which its levels could be told apart"
        return Estimate(value=value, level=level, method=how, over=OVER, reason=reason)
    ends = [pivot.solve(float(fdtri(len(pivot.sizes), pivot.freedom, (1 + sign * level) / 2))) for sign in (1, -1)]
    return Estimate(value=value, low=ends[0] * sigma2, high=ends[1] * sigma2, level=level, method=how, over=OVER)


def _residual(value: float, pivot: Pivots, level: float) -> Estimate:
    how = "chi-squared"
    if pivot.freedom < 1:
        return Estimate(
            value=value, level=level, method=how, over="rows", reason="groups and columns leave no residual"
        )
    rest = pivot.mean_square * pivot.freedom
    low, high = (rest / float(chdtri(pivot.freedom, (1 + sign * level) / 2)) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high, level=level, method=how, over="rows")
