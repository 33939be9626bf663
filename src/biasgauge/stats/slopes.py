"""Slopes and correlations of points with measurement error, corrected for it, and slopes under unequal variances.

An observed correlation is the true one times √reliability (Spearman 1904). The reliability is itself measured on the
same subjects: subjects are drawn again, and both are computed in every draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from biasgauge.core import Estimate, Fields, Floats, Places
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.correlations import bootstrap_correlation, weighted_r, why_undefined

NO_SIGNAL = "the first number varies no more than by its own error"


def weighted_slope(x: Floats, y: Floats, errors: Floats, weights: Floats) -> Floats:
    """Slope cov(x, y) / (var(x) − mean error²) for each row of weights; NaN where x does not vary beyond its errors.

    Without errors it is least squares; with them the method of moments (Fuller, *Measurement Error Models*, 1987,
    section 1.2).
    """
    total = weights.sum(axis=1)
    dx = x - x.mean()
    dy = y - y.mean()
    mean_x, mean_y = weights @ dx / total, weights @ dy / total
    variance = weights @ dx**2 / total - mean_x**2
    covariance = weights @ (dx * dy) / total - mean_x * mean_y
    signal = variance - weights @ errors**2 / total * (total - 1) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        slope: Floats = covariance / signal
    return np.where(signal > 0, slope, np.nan)


def slope_estimate(
    x: Floats, y: Floats, errors: Floats, how: Resampling, over: str = "words", *, units: Places | None = None
) -> Estimate:
    """Slope of y on x, corrected for the errors of x where they are not 0, with its interval over words drawn again.

    Where `units` says which unit (0, 1, …) each point is of, whole units are drawn. 0: y does not follow x. Undefined,
    with a reason, where x varies no more than by its error.
    """
    units = np.arange(len(x)) if units is None else units
    value = float(weighted_slope(x, y, errors, np.ones((1, len(x))))[0])
    if not np.isfinite(value):
        return Estimate(value=None, level=how.level, method=how.method, over=over, n=len(x), reason=NO_SIGNAL)
    estimate = bootstrap_correlation(lambda weights: weighted_slope(x, y, errors, weights), value, units, how, over)
    return replace(estimate, n=len(x), statistic="slope")


def robust_slope(x: Floats, y: Floats, level: float = 0.95, *, over: str = "words") -> Estimate:
    """Least squares with an interval that holds where the spread differs along the line (HC3: MacKinnon & White 1985).

    Undefined where fewer than four points are there, or all x are equal.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    fields: Fields = {"level": level, "method": "t, HC3", "n": len(x), "over": over, "statistic": "slope"}
    if len(x) < 4 or np.ptp(x) == 0:
        return Estimate(value=None, reason="a slope takes four points that differ", **fields)
    center = x.mean()
    design = np.column_stack([np.ones(len(x)), x - center])
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    scaled = (y - design @ weights) / np.maximum(1 - leverage, 1e-12)
    covariance = inverse @ (design.T * scaled**2) @ design @ inverse
    margin = float(stdtrit(len(x) - 2, (1 + level) / 2)) * float(np.sqrt(covariance[1, 1]))
    value = float(weights[1])
    return Estimate(value=value, low=value - margin, high=value + margin, **fields)


STATISTIC = "r / √reliability"


def weighted_alpha(scores: Floats, weights: Floats) -> Floats:
    """Cronbach's alpha, k/(k−1)·(1 − Σ rater variances / variance of the sum), for each row of weights.

    Reliability of the mean over these raters, the same as ICC(3,k). At most 1; below 0 where raters disagree more than
    by chance. NaN where subjects do not vary.
    """
    raters = scores.shape[1]
    centered = scores - scores.mean(axis=0)
    item_variances = _weighted_variance(centered, weights).sum(axis=1)
    variance_of_sum = _weighted_variance(centered.sum(axis=1)[:, None], weights)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = raters / (raters - 1) * (1 - item_variances / variance_of_sum)
    return np.where(variance_of_sum > 0, alpha, np.nan)


def weighted_signal_share(values: Floats, errors: Floats, weights: Floats) -> Floats:
    """Share of the variance of values that is not their own known error: 1 − mean(error²) / variance."""
    total = weights.sum(axis=1)
    spread = _weighted_variance((values - values.mean())[:, None], weights)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = spread * total / (total - 1)
        share: Floats = 1 - (weights @ errors**2) / total / variance
    return np.where(variance > 0, share, np.nan)


def _weighted_variance(columns: Floats, weights: Floats) -> Floats:
    """Draws × columns: variance (divided by the number of subjects) under each row of weights."""
    total = weights.sum(axis=1, keepdims=True)
    mean = weights @ columns / total
    variance: Floats = weights @ columns**2 / total - mean**2
    return variance


def disattenuated(
    values: Floats, truth: Floats, reliability: Callable[[Floats], Floats], how: Resampling, over: str = "words"
) -> Estimate:
    """Pearson's r of values with a truth, corrected for attenuation: r / √reliability of the values.

    0: no relation; an estimate may lie beyond 1, since both parts have error. Undefined, with a reason, where there is
    no correlation, or no reliability above 0.

    Args:
        values: one a subject.
        truth: without error.
        reliability: of the values, for each row of weights (how often each subject is drawn).
        how: settings of the bootstrap.
        over: name of the subjects.
    """
    fields: Fields = {"level": how.level, "method": how.method, "over": over, "n": len(values), "statistic": STATISTIC}
    if reason := why_undefined(values, truth, ("score", "truth")):
        return Estimate(value=None, reason=reason, **fields)

    def statistic(weights: Floats) -> Floats:
        share = reliability(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            corrected: Floats = weighted_r(values, truth, weights) / np.sqrt(share)
        return np.where(share > 0, corrected, np.nan)

    value = float(statistic(np.ones((1, len(values))))[0])
    if not np.isfinite(value):
        return Estimate(value=None, reason="the reliability is not above 0", **fields)
    estimate = bootstrap_correlation(statistic, value, np.arange(len(values)), how, over)
    return replace(estimate, n=len(values), statistic=STATISTIC)
