"""Correlations corrected for the error of what was correlated, with an interval that carries both errors.

An observed correlation is the true one times √reliability (Spearman 1904). The reliability is itself measured on the
same subjects: subjects are drawn again, and both are computed in every draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from biasgauge.core import Estimate, Fields, Floats
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.correlations import bootstrap_correlation, weighted_r, why_undefined

STATISTIC = "r / √reliability"


def weighted_alpha(scores: Floats, weights: Floats) -> Floats:
    """Cronbach's alpha of subjects × raters for each row of weights: reliability of the mean over these raters.

    The same as ICC(3,k). At most 1; below 0 where raters disagree more than by chance. NaN where subjects do not vary.
    """
    raters = scores.shape[1]
    centered = scores - scores.mean(axis=0)
    own = _weighted_variance(centered, weights).sum(axis=1)
    whole = _weighted_variance(centered.sum(axis=1)[:, None], weights)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = raters / (raters - 1) * (1 - own / whole)
    return np.where(whole > 0, alpha, np.nan)


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
    """Pearson's r of values with a truth, divided by the root of the values' reliability.

    0: no relation; an estimate may lie beyond 1, since both parts have error. Undefined, with a reason, where there is
    no correlation, or no reliability above 0.

    Args:
        values: one a subject.
        truth: taken as known.
        reliability: of the values, for each row of weights (how often each subject is drawn).
        how: to draw subjects again.
        over: what the subjects are.
    """
    about: Fields = {"level": how.level, "method": how.method, "over": over, "n": len(values), "statistic": STATISTIC}
    if reason := why_undefined(values, truth, ("score", "truth")):
        return Estimate(value=None, reason=reason, **about)

    def statistic(weights: Floats) -> Floats:
        share = reliability(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            corrected: Floats = weighted_r(values, truth, weights) / np.sqrt(share)
        return np.where(share > 0, corrected, np.nan)

    value = float(statistic(np.ones((1, len(values))))[0])
    if not np.isfinite(value):
        return Estimate(value=None, reason="the reliability is not above 0", **about)
    estimate = bootstrap_correlation(statistic, value, np.arange(len(values)), how, over)
    return replace(estimate, n=len(values), statistic=STATISTIC)
