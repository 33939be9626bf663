"""Internal consistency of the items of a scale.

Cronbach's alpha (Psychometrika 16, 1951) with the interval of Feldt (Psychometrika 30, 1965), and McDonald's omega
total (*Test Theory*, 1999) from one common factor fitted by minimal residuals (Harman & Jones, Psychometrika 31, 1966).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Estimate, Estimates, Floats, Reason, as_stack, check_level, flat
from biasgauge.stats.anova import mean_squares
from biasgauge.stats.bootstrap import draw_counts, percentile_ends
from biasgauge.stats.intraclass import Interval, add_bootstrap_intervals, from_mean_squares, without_gaps

_ITERATIONS, _TOLERANCE = 5_000, 1e-10
_RESAMPLE_ITERATIONS, _RESAMPLE_TOLERANCE = 200, 1e-5
"""Iterations and largest last step of a fit; and of the fits to resamples, of which only the spread counts."""
_COMMUNALITY = 0.995  # most of an item's variance that the factor may explain: an item is never free of error
_ROUNDING = 1e-14


def cronbach_alpha(
    scores: ArrayLike,
    *,
    level: float = 0.95,
    interval: Interval = "f",
    resamples: int = 1_000,
    random_state: int = 0,
    n_jobs: int | None = None,
    observations: str = "observations",
    items: str = "items",
) -> Estimate | Estimates:
    """Cronbach's alpha of a matrix with observations in rows and items in columns, or of a stack of matrices.

    k/(k−1)·(1 − Σ item variances / variance of the sum); the same number as ICC(3,k). At most 1: items rise and fall
    together; 0: they share nothing; negative, without a bound, when they work against each other. The interval is
    Feldt's, 1 − (1 − alpha) F_q with F on (n − 1, (n − 1)(k − 1)) degrees of freedom, or a bootstrap over observations.
    NaN marks an undefined score: items without any are left out, then observations that lack one. Undefined, with a
    reason, when fewer than two of either are left, all scores are equal or the sums do not vary.

    Arguments are those of `icc`; `observations` and `items` name rows and columns, for the reasons.
    """
    array = as_stack(scores, "cronbach_alpha")
    numbers = from_mean_squares(mean_squares(flat(array), n_jobs), "3,k", level)
    estimates = Estimates(
        statistic="Cronbach's alpha", method="Feldt (F)", subjects=observations, raters=items, **numbers
    )
    estimates = add_bootstrap_intervals(estimates, array, "3,k", interval, resamples, random_state)
    return estimates[0] if array.ndim == 2 else estimates.reshape(array.shape[:-2])


def omega(
    scores: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 1_000,
    random_state: int = 0,
    max_groups: int = 500,
    observations: str = "observations",
    items: str = "items",
) -> Estimate | Estimates:
    """McDonald's omega total: the share of the variance of the items' sum that one common factor explains.

    (Σ λᵢ sᵢ)² / ((Σ λᵢ sᵢ)² + Σ sᵢ² (1 − λᵢ²)), with loadings λ fitted to the correlations by minimal residuals and
    standard deviations s. Between 0 and 1; equal to alpha where all items load alike, and larger where they do not. The
    interval is a percentile bootstrap over observations, in random groups where there are more than `max_groups`.
    Undefined,
    with a reason, with fewer than three items or observations or when an item does not vary; gaps are treated as in
    `cronbach_alpha`, and so are the arguments.
    """
    array = as_stack(scores, "omega")
    check_level(level)
    stack, method = flat(array), "bootstrap over observations (percentile)"
    estimates = Estimates.blank(
        len(stack), statistic="omega", level=level, method=method, subjects=observations, raters=items
    )
    for index, matrix in enumerate(stack):
        _omega(estimates, index, without_gaps(matrix), resamples, random_state, max_groups)
    return estimates[0] if array.ndim == 2 else estimates.reshape(array.shape[:-2])


def _omega(
    estimates: Estimates, index: int, matrix: Floats, resamples: int, random_state: int, max_groups: int
) -> None:
    n, k = matrix.shape
    estimates.n[index], estimates.k[index] = n, k
    if n < 3 or k < 3:
        estimates.undefined[index] = Reason.TOO_FEW_SUBJECTS if n < 3 else Reason.TOO_FEW_ITEMS
        return
    scaled = matrix / np.abs(matrix).max(initial=0) if matrix.any() else matrix
    centered = scaled - scaled.mean(axis=0)
    value, loadings = _omegas((centered.T @ centered / n)[None], np.zeros((1, k)))
    if np.isnan(value[0]):
        estimates.undefined[index] = Reason.CONSTANT_ITEM
        return
    drawn, _ = _omegas(*_resampled(centered, resamples, np.random.default_rng(random_state), max_groups), loadings)
    estimates.put(index, value[0], percentile_ends(drawn, estimates.level))


def _resampled(centered: Floats, resamples: int, random: np.random.Generator, max_groups: int) -> tuple[Floats, Floats]:
    """Second moments and means of observations drawn with replacement: resamples × items × items, × items."""
    n, k = centered.shape
    groups = min(n, max_groups)
    # Groups of observations are drawn instead of single ones: sums and products of each group are taken once, so that
    # a resample costs the number of groups, not of observations.
    member = random.permutation(n) % groups if groups < n else np.arange(n)
    sizes = np.bincount(member, minlength=groups).astype(np.float64)
    order = np.argsort(member, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    sums = np.add.reduceat(centered[order], starts)
    products = np.array([rows.T @ rows for rows in np.split(centered[order], starts[1:])])
    drawn = draw_counts(random, groups, resamples)
    total = drawn @ sizes
    moments = (drawn @ products.reshape(groups, -1)).reshape(resamples, k, k) / total[:, None, None]
    return moments, drawn @ sums / total[:, None]


def _omegas(moments: Floats, means: Floats, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Omega of each matrix of second moments, about the means, and its loadings; NaN where an item does not vary."""
    covariances = moments - means[:, :, None] * means[:, None, :]
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    largest = np.diagonal(moments, axis1=1, axis2=2).max(axis=1, keepdims=True)
    varies = (variances > _ROUNDING * largest).all(axis=1)
    omegas = np.full(len(moments), np.nan)
    if not varies.any():
        return omegas, means
    deviations = np.sqrt(variances[varies])
    loadings = one_factor(covariances[varies] / (deviations[:, :, None] * deviations[:, None, :]), start)
    common = (loadings * deviations).sum(axis=1) ** 2
    unique = (deviations**2 * (1 - loadings**2)).sum(axis=1)
    omegas[varies] = common / (common + unique)
    return omegas, loadings


def one_factor(correlations: Floats, start: Floats | None = None) -> Floats:
    """Loadings on one factor of a stack of correlation matrices R: minimal residuals, min Σ_{i≠j} (r_ij − λᵢ λⱼ)².

    Coordinate descent: given the others, the best loading of item i is Σ_{j≠i} r_ij λⱼ / Σ_{j≠i} λⱼ². Starts at the
    first principal component, or at a `start` near the solution with a looser tolerance.
    """
    limit = _COMMUNALITY**0.5
    if start is None:
        values, vectors = np.linalg.eigh(correlations)
        first: Floats = vectors[:, :, -1] * np.sqrt(np.clip(values[:, -1:], 0, None))
        loadings = first * np.where(first.sum(axis=1, keepdims=True) < 0, -1, 1)
    else:
        loadings = np.repeat(start, len(correlations), axis=0)
    loadings = np.clip(loadings, -limit, limit)
    tolerance, iterations = (_TOLERANCE, _ITERATIONS) if start is None else (_RESAMPLE_TOLERANCE, _RESAMPLE_ITERATIONS)
    active = np.arange(len(loadings))  # matrices whose loadings still move
    for _ in range(iterations):
        current, matrix = loadings[active], correlations[active]
        previous = current.copy()
        squares = (current**2).sum(axis=1)  # Σ λ², kept up to date item by item
        for item in range(current.shape[1]):
            loading = current[:, item].copy()
            numerator = (matrix[:, item] * current).sum(axis=1) - loading * matrix[:, item, item]
            denominator = squares - loading**2
            best = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
            current[:, item] = np.clip(best, -limit, limit)
            squares = denominator + current[:, item] ** 2
        loadings[active] = current
        active = active[np.abs(current - previous).max(axis=1) > tolerance]
        if not len(active):
            break
    return loadings
