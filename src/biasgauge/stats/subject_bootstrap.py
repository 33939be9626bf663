"""Bootstrap intervals of intraclass correlations and alpha, which hold up better with heavy tails and few raters.

Subjects are drawn again; log F = log(MS_R / MS_E) is studentized by its own standard error in each draw (bootstrap-t:
Efron & Tibshirani 1993, section 12.5; Ukoumunne et al., *Statistics in Medicine* 22 (2003), for intraclass
correlations), which covers better than BCa and percentiles. Coverage: docs/reliability_intervals.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeVar, get_args

import numpy as np

from biasgauge.core import Doubt, Estimates, Floats, Reason, Vectors, check_choice, check_whole, flat
from biasgauge.stats.bootstrap import blocks, draw_counts, percentile_ends

Interval = Literal["f", "bootstrap", "auto"]
Several = TypeVar("Several", bound=Estimates)

FEWEST = 20
"""Subjects below which tails cannot be judged (Anscombe & Glynn 1983)."""
SIGNIFICANT = 0.05
"""One-sided p of the excess kurtosis of the subjects' means from which tails count as heavy."""
FEW_RATERS = 5
"""Raters below which Satterthwaite's F is too narrow for ICC(2,…) of many subjects."""


def add_bootstrap_intervals(
    estimates: Several, stack: Vectors, form: str, interval: Interval, resamples: int, random_state: int
) -> Several:
    """Return the same numbers with doubts about F, and with bootstrap intervals where `interval` asks for them.

    A doubt is heavy tails, by the kurtosis of the subjects' means (`SIGNIFICANT`, with at least `FEWEST` subjects), and
    for ICC(2,…) fewer than `FEW_RATERS` raters. One matrix is always checked, a stack only with "auto".
    """
    check_choice(get_args(Interval), interval=interval)
    check_whole(1, resamples=resamples)
    check_whole(0, random_state=random_state)
    if interval == "f" and stack.ndim > 2:
        return estimates
    matrices = [without_gaps(matrix) for matrix in flat(stack)]
    doubts = np.array([_doubt(matrix, form) for matrix in matrices], np.uint8)
    chosen = np.full(len(doubts), interval == "bootstrap")
    if interval == "auto":
        chosen = doubts != Doubt.NONE
    chosen &= estimates.value.ravel() < 1  # defined, and with some error to compare with
    shape = estimates.shape
    changed = estimates.reshape((len(doubts),))
    low, high, undefined = changed.low.copy(), changed.high.copy(), changed.undefined.copy()
    for index in np.flatnonzero(chosen):
        ends = bootstrap_ends(matrices[index], form, estimates.level, resamples, random_state)
        low[index], high[index] = ends or (np.nan, np.nan)
        undefined[index] = Reason.TOO_FEW_DRAWS if ends is None else Reason.DEFINED
    return replace(
        changed, low=low, high=high, undefined=undefined, doubts=doubts, resampled=chosen, resamples=resamples
    ).reshape(shape)


def without_gaps(scores: Vectors) -> Floats:
    """Return a matrix without the columns that have no score, then without the rows that lack one."""
    matrix = np.asarray(scores, np.float64)
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    return matrix[~np.isnan(matrix).any(axis=1)]


def _doubt(matrix: Floats, form: str) -> int:
    if heavy_tails(matrix):
        return Doubt.HEAVY_TAILS
    return Doubt.FEW_RATERS if form[0] == "2" and matrix.shape[1] < FEW_RATERS else Doubt.NONE


def heavy_tails(matrix: Floats) -> bool:
    """True if the excess kurtosis of the means of rows is significantly above 0."""
    from scipy.stats import kurtosistest

    means = matrix.mean(axis=1) if matrix.size else np.zeros(0)
    if len(means) < FEWEST or np.ptp(means) <= 1e-12 * np.abs(means).max():
        return False
    return bool(kurtosistest(means, alternative="greater").pvalue < SIGNIFICANT)


def bootstrap_ends(
    matrix: Floats, form: str, level: float, resamples: int, random_state: int
) -> tuple[float, float] | None:
    """Ends of the interval of an ICC; None where too few draws have a value, or there is no error to compare with.

    The pivot (log F* − log F) / se* of each draw * gives a draw of the true log F, log F − se · pivot, and so an ICC.
    What raters share ("2,…") cannot be learned from drawing subjects: their mean square is drawn from its own pivot, χ²
    with k − 1 degrees of freedom, which takes raters for normal.
    """
    n, k = matrix.shape
    scaled = matrix / (np.abs(matrix).max() or 1.0)
    means = scaled.mean(axis=1)
    within, means = scaled - means[:, None], means - means.mean()
    random = np.random.default_rng(random_state)
    one_way = form[0] == "1"
    (log_ratio,), (error,) = _log_ratios(means, within, np.ones((1, n)), one_way=one_way)
    draws = [_log_ratios(means, within, draw_counts(random, n, rows), one_way=one_way) for rows in blocks(resamples, n)]
    ratios, errors = np.concatenate(draws, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        drawn = log_ratio - error * (ratios - log_ratio) / errors
        # From a ratio of variances per subject to F = MS_R / MS_E: degrees of freedom, and k scores per mean.
        freedom_ratio = n * (k - 1) / (n - 1) if one_way else k - 1
        f = k * freedom_ratio * np.exp(np.where(np.isfinite(drawn), drawn, np.nan))
        rater_term = np.zeros(resamples)  # k/n (MS_C / MS_E − 1) of ICC(2,1)
        if form[0] == "2":
            rater_means = within.mean(axis=0)
            ms_error = ((within - rater_means) ** 2).sum() / ((n - 1) * (k - 1))
            ss_raters = n * (rater_means**2).sum()
            rater_term = k / n * (ss_raters / ms_error / random.chisquare(k - 1, resamples) - 1)
        values = (f - 1) / (f + k - 1 + rater_term)
        if form[2] == "k":
            values = k * values / (1 + (k - 1) * values)  # Spearman & Brown
    return percentile_ends(values, level)


def _log_ratios(means: Floats, within: Floats, counts: Floats, *, one_way: bool) -> tuple[Floats, Floats]:
    """Log of (variance of the means / mean square within), and its standard error, for each row of counts.

    The standard error is that of the influence of each subject on the logarithm, b_i / b̄ − w_i / w̄.
    """
    n = len(means)
    between = (means - (counts @ means)[:, None] / n) ** 2
    columns = np.zeros((len(counts), within.shape[1])) if one_way else counts @ within / n
    # Σ over raters of (within − column mean)², expanded so that no draws × subjects × raters array is needed.
    error = (within**2).sum(axis=1) - 2 * columns @ within.T + (columns**2).sum(axis=1, keepdims=True)
    mean_between, mean_error = (counts * between).sum(axis=1) / n, (counts * error).sum(axis=1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        influence = between / mean_between[:, None] - error / mean_error[:, None]
        return np.log(mean_between / mean_error), np.sqrt((counts * influence**2).sum(axis=1)) / n
