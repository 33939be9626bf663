"""Pearson's correlation within strata, between strata, and of all points pooled; slopes within strata.

Within: x and y are measured from the mean of their stratum, so that differences between strata cannot make or hide a
relation (Bakdash & Marusich 2017: repeated measures correlation). Between: the means of the strata. The sign may turn
from one to the other (Simpson's paradox). Lines that differ between strata are fitted by REML, as in lme4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, stdtr

from biasgauge.core import Fields, Floats, JsonObject, LabeledEstimate, Places, Record
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.correlations import (
    bootstrap_correlation,
    correlation,
    fisher_interval,
    t_p,
    weighted_r,
    why_undefined,
)
from biasgauge.stats.mixed_models.model import fit_mixed
from biasgauge.stats.numerics import SAME, student_quantile
from biasgauge.stats.power import FEWEST

_STARTS = ((1.0, 0.0, 1.0), (0.1, 0.0, 0.1), (3.0, 0.0, 0.1), (0.1, 0.0, 3.0))
_BOUNDS = [(0.0, None), (None, None), (0.0, None)]
_ZERO = 1e-4  # a standard deviation below this share of the residual one is the boundary
_ON_LINES = 1e-10  # share of the spread of y that may be rounding
FEW_STRATA = 5
"""Strata below which the spread of their slopes is not estimated."""

SHARED = "points share units; but for the interval of r within strata, errors are known for independent points only"


@dataclass(frozen=True, kw_only=True)
class LevelEstimate(LabeledEstimate):
    """A correlation or a slope at one level, with the points or strata (`n`) that it rests on.

    Attributes:
        p: two-sided, of none; None when undefined.
        caution: limitation of its interval.
    """

    p: float | None = None
    caution: str | None = None

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        return {**shape, "reason": shape["reason"] or self.caution}


@dataclass(frozen=True)
class Levels(Record):
    """Correlations and slopes within and between strata.

    Attributes:
        strata: number of strata with points.
        within_r: correlation of deviations from the means of strata.
        within_slope: change of y per unit of x within strata (fixed effects).
        between_r: correlation of the means of strata, each counted once.
        random_intercept: slope of a mixed model with an intercept for each stratum (REML).
        random_slope: mean slope of a mixed model with a line for each stratum (REML).
        slope_sd: standard deviation of true slopes over strata.
        q, q_df, q_p: Cochran's test that strata have one correlation (Fisher's z, Hedges & Olkin 1985);
            `q_p` is None where points share units, since it assumes independent points.
        i2: share of the variance of correlations over strata beyond sampling error, max(0, (Q − df) / Q)
            (Higgins & Thompson 2002).
    """

    strata: int
    within_r: LevelEstimate
    within_slope: LevelEstimate
    between_r: LevelEstimate
    random_intercept: LevelEstimate
    random_slope: LevelEstimate
    slope_sd: float | None
    q: float | None
    q_df: int
    q_p: float | None
    i2: float | None


def levels(x: Floats, y: Floats, strata: Places, units: Places | None, how: Resampling) -> Levels:
    """Estimates at each level, for two strata or more."""
    slope, sd = _random_slope(x, y, strata, how.level)
    q, df, p = _heterogeneity(x, y, strata)
    slopes = {
        "within_slope": _within_slope(x, y, strata, how.level),
        "between_r": _between(x, y, strata, how.level),
        "random_intercept": _random_intercept(x, y, strata, how.level),
        "random_slope": slope,
    }
    if units is not None:  # these assume independent points
        for name, estimate in slopes.items():
            reason = estimate.caution or estimate.reason or SHARED
            slopes[name] = replace(estimate, low=None, high=None, method="", p=None, caution=None, reason=reason)
        p = None
    return Levels(
        strata=int(strata.max()) + 1,
        within_r=_within(x, y, strata, units, how),
        **slopes,
        slope_sd=sd,
        q=q,
        q_df=df,
        q_p=p,
        i2=None if q is None else max(0.0, (q - df) / q) if q > 0 else 0.0,
    )


def within_r(x: Floats, y: Floats, strata: Places, weights: Floats) -> Floats:
    """Correlation within strata, Σ w dx dy / √(Σ w dx² Σ w dy²), for each row of weights.

    dx and dy are deviations from the weighted means of a point's stratum. NaN where x or y does not vary within any.
    """
    member = np.eye(int(strata.max()) + 1)[strata]
    size = weights @ member
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [np.nan_to_num((weights * values) @ member / size)[:, strata] for values in (x, y)]
    dx, dy = x - means[0], y - means[1]
    xx, yy = (weights * dx**2).sum(axis=1), (weights * dy**2).sum(axis=1)
    floor = [SAME**2 * (weights * values**2).sum(axis=1) for values in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
    return np.where((xx <= floor[0]) | (yy <= floor[1]), np.nan, np.clip(r, -1, 1))


def _within(x: Floats, y: Floats, strata: Places, units: Places | None, how: Resampling) -> LevelEstimate:
    x, y = x - x.mean(), y - y.mean()
    value = float(within_r(x, y, strata, np.ones((1, len(x))))[0])
    freedom = len(x) - int(strata.max()) - 2
    if np.isnan(value) or freedom < 1:
        reason = "x or y does not vary within strata, or points are too few"
        return LevelEstimate(value=None, n=len(x), reason=reason)
    codes = np.arange(len(x)) if units is None else units
    over = "points" if units is None else "units"
    estimate = bootstrap_correlation(lambda weights: within_r(x, y, strata, weights), value, codes, how, over)
    if units is not None:
        return LevelEstimate.of_estimate(estimate, n=len(x), caution=SHARED)
    return LevelEstimate.of_estimate(estimate, n=len(x), p=t_p(value, freedom))


def _within_slope(x: Floats, y: Floats, strata: Places, level: float) -> LevelEstimate:
    number = int(strata.max()) + 1
    size = np.bincount(strata, minlength=number)
    dx, dy = (values - (np.bincount(strata, values, number) / size)[strata] for values in (x, y))
    xx, freedom = float(dx @ dx), len(x) - number - 1
    if freedom < 1 or xx <= SAME**2 * float(x @ x):
        return LevelEstimate(value=None, n=len(x), reason="x does not vary within strata, or points are too few")
    slope = float(dx @ dy) / xx
    residuals = dy - slope * dx
    se = (float(residuals @ residuals) / freedom / xx) ** 0.5
    return _student(slope, se, freedom, level, "t, fixed effects", len(x))


def _student(value: float, se: float, df: float, level: float, name: str, n: int) -> LevelEstimate:
    if se <= SAME * abs(value):
        return LevelEstimate(value=value, level=level, n=n, reason="all points lie on lines")
    fields: Fields = {"level": level, "method": name, "over": "points", "n": n}
    p = float(2 * stdtr(df, -abs(value) / se))
    return LevelEstimate.symmetric(value, student_quantile(df, level) * se, p=p, **fields)


def _between(x: Floats, y: Floats, strata: Places, level: float) -> LevelEstimate:
    size = np.bincount(strata)
    means = [np.bincount(strata, values) / size for values in (x, y)]
    reason = why_undefined(means[0], means[1], ("x", "y"))
    if reason is not None:
        return LevelEstimate(value=None, n=len(size), reason=f"means of strata: {reason}")
    value = float(weighted_r(means[0] - means[0].mean(), means[1] - means[1].mean(), np.ones((1, len(size))))[0])
    return LevelEstimate.of_estimate(fisher_interval(value, len(size), level=level), p=t_p(value, len(size) - 2))


def _random_intercept(x: Floats, y: Floats, strata: Places, level: float) -> LevelEstimate:
    design = np.stack([np.ones(len(x)), x], axis=1)
    try:
        fit = fit_mixed(y, design, {"stratum": strata}, ["intercept", "slope"], level=level)
    except ParameterError as problem:
        return LevelEstimate(value=None, n=len(x), reason=str(problem))
    slope = fit.fixed[1]
    caution = None if fit.converged else fit.warnings[0]
    return LevelEstimate.of_estimate(slope.interval, n=len(x), p=slope.p, caution=caution)


def _random_slope(x: Floats, y: Floats, strata: Places, level: float) -> tuple[LevelEstimate, float | None]:
    members = [x[strata == stratum] for stratum in range(int(strata.max()) + 1)]
    enough = sum(len(values) >= FEWEST and bool(np.ptp(values) > 0) for values in members)
    if enough < FEW_STRATA:
        reason = f"slopes that differ between strata take {FEW_STRATA} strata of {FEWEST} points; there are {enough}"
        return LevelEstimate(value=None, n=enough, reason=reason), None
    fit = random_slopes(x, y, strata)
    if fit is None:
        return LevelEstimate(value=None, n=enough, reason="all points lie on lines"), None
    return _student(fit.slope, fit.se, enough - 1, level, "t, strata − 1 degrees of freedom", enough), fit.slope_sd


def _heterogeneity(x: Floats, y: Floats, strata: Places) -> tuple[float | None, int, float | None]:
    # Cochran's Q = Σ w (z − z̄)² of Fisher's z, w = n − 3 being the inverse of its variance.
    z, weights = [], []
    for stratum in range(int(strata.max()) + 1):
        here = strata == stratum
        if here.sum() > FEWEST and why_undefined(x[here], y[here], ("x", "y")) is None:
            r = float(correlation("pearson", x[here], y[here])[0])
            z.append(np.arctanh(np.clip(r, -1 + SAME, 1 - SAME)))
            weights.append(float(here.sum()) - 3)
    if len(z) < 2:
        return None, 0, None
    z_values, weight = np.array(z), np.array(weights)
    q = float(weight @ (z_values - weight @ z_values / weight.sum()) ** 2)
    return q, len(z) - 1, float(chdtrc(len(z) - 1, q))


class RandomSlopes(NamedTuple):
    """A line in every stratum: y = a + b x + (a_s + b_s x) + error, with (a_s, b_s) normal of any covariance.

    The slope is the mean over strata; `slope_sd` is 0 where true slopes do not seem to differ, `intercept_sd` is at the
    mean of x, and the criterion is −2 log restricted likelihood.
    """

    slope: float
    se: float
    slope_sd: float
    intercept_sd: float
    residual_sd: float
    criterion: float


class _Sums(NamedTuple):
    """Sums of products of the columns [1, x] and y, a stratum in each row."""

    zz: Floats
    zy: Floats
    yy: float
    n: int


def random_slopes(x: Floats, y: Floats, strata: Places) -> RandomSlopes | None:
    """Fit a random intercept and slope by REML; None when all points lie on the lines of their strata (0, 1, …)."""
    from scipy.optimize import minimize

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

    fits = [minimize(criterion, np.array(start), method="L-BFGS-B", bounds=_BOUNDS) for start in _STARTS]
    best = min(fits, key=lambda fit: float(fit.fun))
    value, coefficients, inverse, variance = _profile(sums, best.x)
    spreads = np.sqrt(variance) * np.array([abs(best.x[0]), np.hypot(best.x[1], best.x[2])])
    spreads[spreads < _ZERO * np.sqrt(variance)] = 0.0
    scale = unit[1] / unit[0]
    slope, se = float(coefficients[1]) * scale, float(np.sqrt(variance * inverse[1, 1])) * scale
    intercept_sd, slope_sd = float(spreads[0]) * unit[1], float(spreads[1]) * scale
    # Back to the units of x and y: each log-likelihood term and the determinant of X'V⁻¹X change with them.
    in_units = value + 2 * (len(x) - 2) * float(np.log(unit[1])) + 2 * float(np.log(unit[0]))
    return RandomSlopes(slope, se, slope_sd, intercept_sd, float(np.sqrt(variance)) * unit[1], in_units)


def _profile(sums: _Sums, theta: Floats) -> tuple[float, Floats, Floats, float]:
    """−2 log restricted likelihood at a relative Cholesky factor Λ; coefficients, their covariance / σ², and σ².

    With V = σ² (I + Z Λ Λ' Z') in each stratum, X'V⁻¹X and its kin follow from the 2 × 2 matrices I + Λ' Z'Z Λ by
    Woodbury's identity: σ² V⁻¹ = I − Z Λ (I + Λ' Z'Z Λ)⁻¹ Λ' Z'; here X = Z.
    """
    factor = np.array([[theta[0], 0.0], [theta[1], theta[2]]])
    inner = np.eye(2) + factor.T @ sums.zz @ factor
    right = factor.T @ sums.zz
    solved = np.linalg.solve(inner, right)
    shrunken = np.linalg.solve(inner, (sums.zy @ factor)[..., None])[..., 0]
    xx = (sums.zz - right.swapaxes(1, 2) @ solved).sum(axis=0)
    xy = (sums.zy - (right.swapaxes(1, 2) @ shrunken[..., None])[..., 0]).sum(axis=0)
    yy = sums.yy - float(((sums.zy @ factor) * shrunken).sum())
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
