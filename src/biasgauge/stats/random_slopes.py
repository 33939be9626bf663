"""A line in every stratum, drawn from a common distribution of lines: random intercepts and slopes, by REML.

y = a + b x + (a_s + b_s x) + error, with (a_s, b_s) normal of any covariance. `reliability.fit_mixed` has intercepts
only. The variances are found as in lme4 (Bates et al. 2015), with the few sums that each stratum needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from biasgauge.arrays import Floats

_STARTS = ((1.0, 0.0, 1.0), (0.1, 0.0, 0.1), (3.0, 0.0, 0.1), (0.1, 0.0, 3.0))
_BOUNDS = [(0.0, None), (None, None), (0.0, None)]
_ZERO = 1e-4
"""A standard deviation below this share of the residual one is the boundary."""

_ON_LINES = 1e-10
"""Share of the spread of y that may be rounding."""


@dataclass(frozen=True)
class RandomSlopes:
    """The fit.

    Attributes:
        slope: mean slope over strata.
        se: its standard error.
        slope_sd: standard deviation of true slopes over strata; 0 where they do not seem to differ.
        intercept_sd: the same of intercepts, at the mean of x.
        residual_sd: of points around the line of their stratum.
        criterion: −2 log restricted likelihood.
    """

    slope: float
    se: float
    slope_sd: float
    intercept_sd: float
    residual_sd: float
    criterion: float


@dataclass(frozen=True)
class _Sums:
    """Sums of products of the columns [1, x] and y, a stratum in each row."""

    zz: Floats
    zy: Floats
    yy: float
    n: int


def random_slopes(x: Floats, y: Floats, strata: NDArray[np.intp]) -> RandomSlopes | None:
    """Fit the model; None when all points lie on the lines of their strata, so that there is no error to compare with.

    Args:
        x: one number a point.
        y: the outcome.
        strata: the stratum of each point, 0, 1, ….
    """
    unit = float(x.std()), float(y.std())
    z = np.stack([np.ones(len(x)), (x - x.mean()) / unit[0]], axis=1)
    outcome = (y - y.mean()) / unit[1]
    number = int(strata.max()) + 1
    zz, zy = np.zeros((number, 2, 2)), np.zeros((number, 2))
    np.add.at(zz, strata, z[:, :, None] * z[:, None, :])
    np.add.at(zy, strata, z * outcome[:, None])
    sums = _Sums(zz, zy, float(outcome @ outcome), len(x))
    if sums.yy - float(np.einsum("si,sij,sj->", zy, np.linalg.pinv(zz), zy)) <= _ON_LINES * sums.yy:
        return None

    def criterion(theta: Floats) -> float:
        return _profile(sums, theta)[0]

    found = [minimize(criterion, np.array(start), method="L-BFGS-B", bounds=_BOUNDS) for start in _STARTS]
    best = min(found, key=lambda one: float(one.fun))
    value, coefficients, inverse, variance = _profile(sums, best.x)
    spreads = np.sqrt(variance) * np.array([abs(best.x[0]), np.hypot(best.x[1], best.x[2])])
    spreads[spreads < _ZERO * np.sqrt(variance)] = 0.0
    scale = unit[1] / unit[0]
    return RandomSlopes(
        slope=float(coefficients[1]) * scale,
        se=float(np.sqrt(variance * inverse[1, 1])) * scale,
        slope_sd=float(spreads[1]) * scale,
        intercept_sd=float(spreads[0]) * unit[1],
        residual_sd=float(np.sqrt(variance)) * unit[1],
        criterion=value + 2 * (len(x) - 2) * float(np.log(unit[1])) + 2 * float(np.log(unit[0])),
    )


def _profile(sums: _Sums, theta: Floats) -> tuple[float, Floats, Floats, float]:
    """−2 log restricted likelihood at a relative Cholesky factor; coefficients, their covariance / σ², and σ²."""
    factor = np.array([[theta[0], 0.0], [theta[1], theta[2]]])
    inner = np.eye(2) + factor.T @ sums.zz @ factor
    right = factor.T @ sums.zz
    solved = np.linalg.solve(inner, right)
    turned = np.linalg.solve(inner, (sums.zy @ factor)[..., None])[..., 0]
    xx = (sums.zz - right.swapaxes(1, 2) @ solved).sum(axis=0)
    xy = (sums.zy - (right.swapaxes(1, 2) @ turned[..., None])[..., 0]).sum(axis=0)
    yy = sums.yy - float(((sums.zy @ factor) * turned).sum())
    inverse = np.linalg.inv(xx)
    coefficients = inverse @ xy
    freedom = sums.n - 2
    variance = max(yy - float(xy @ coefficients), 1e-300) / freedom
    value = (
        freedom * (1 + np.log(2 * np.pi * variance))
        + float(np.linalg.slogdet(inner)[1].sum())
        + float(np.linalg.slogdet(xx)[1])
    )
    return float(value), coefficients, inverse, float(variance)
