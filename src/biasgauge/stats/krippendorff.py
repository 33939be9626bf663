"""Krippendorff's alpha: agreement of any number of raters, on any scale, with gaps.

Krippendorff, *Content Analysis* (2004), chapter 11. Disagreement is a sum over units, so that drawing units again needs
each unit's counts alone. An ordinal difference is the difference of mid-ranks, so that it is an interval one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from biasgauge.core import Estimate, Estimates, Floats, Integers, Reason, check_choice, check_level, flat
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import blocks, draw_counts, percentile_ends
from biasgauge.stats.kappas import MISSING, codes

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

_BLOCK = 100
"""Draws computed at a time."""
_ROUNDING = 1e-12
_MOST = 5_000
"""Different values that ratings on a ratio scale may have: every two of them are compared."""


def krippendorff_alpha(
    ratings: object,
    metric: Metric = "nominal",
    *,
    categories: Sequence[object] | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    random_state: int = 0,
) -> Estimate | Estimates:
    """Krippendorff's alpha, 1 − D_o / D_e, for units in rows and raters in columns.

    D_o is the mean disagreement of pairs of ratings of one unit, D_e that of all pairs of ratings. 1: perfect
    agreement; 0: as much as by chance; negative: less. None and NaN mark ratings that were not given; units with fewer
    than two ratings do not count. The interval is a percentile bootstrap over units. The package `krippendorff` has
    raters in rows: transpose its tables. Undefined, with a reason, with fewer than two units or raters that count or
    when all ratings fall into one category.

    Args:
        ratings: labels or numbers, (units, raters) or (…, units, raters) for a stack.
        metric: distance of two ratings: "nominal" (same or not), "ordinal" (ranks between them), "interval"
            (squared difference) or "ratio" (squared difference by sum; numbers that are not negative).
        categories: their order, for ordinal ratings that are no numbers.
        level: nominal coverage of the interval.
        resamples: draws of the units.
        random_state: seed of the draws.
    """
    check_level(level)
    check_choice(get_args(Metric), metric=metric)
    labels, kinds = codes(ratings, categories)
    if labels.ndim < 2:
        raise ParameterError(
            f"krippendorff_alpha needs units in rows, raters in columns. Got the shape {labels.shape}."
        )
    stack = flat(labels)
    name, method = f"Krippendorff's alpha ({metric})", "bootstrap over units (percentile)"
    estimates = Estimates.blank(len(stack), statistic=name, level=level, method=method, subjects="units")
    disagreement = _Disagreement(metric, _values(kinds, metric))
    for index, matrix in enumerate(stack):
        _alpha(estimates, index, matrix, disagreement, resamples, random_state)
    return estimates[0] if labels.ndim == 2 else estimates.reshape(labels.shape[:-2])


def _values(kinds: list[Any], metric: Metric) -> Floats:
    if metric in {"nominal", "ordinal"}:
        return np.arange(len(kinds), dtype=np.float64)
    try:
        values = np.array(kinds, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"The metric {metric!r} needs ratings that are numbers. Got {error}.") from error
    if not np.isfinite(values).all() or (metric == "ratio" and (values < 0).any()):
        raise ParameterError(f"The metric {metric!r} needs finite numbers{' ≥ 0' * (metric == 'ratio')}.")
    if metric == "ratio" and len(values) > _MOST:
        raise ParameterError(f"The metric 'ratio' compares at most {_MOST:,} different values. Got {len(values):,}.")
    return values


def _alpha(
    estimates: Estimates, index: int, labels: Integers, disagreement: _Disagreement, resamples: int, seed: int
) -> None:
    rated = labels != MISSING
    labels = labels[rated.sum(axis=1) >= 2]
    n, k = len(labels), int(rated.any(axis=0).sum())
    estimates.n[index], estimates.k[index] = n, k
    if k < 2 or n < 2:
        estimates.undefined[index] = Reason.TOO_FEW_RATERS if k < 2 else Reason.TOO_FEW_SUBJECTS
        return
    units, raters = np.nonzero(labels != MISSING)
    shape = (n, len(disagreement.values))
    counts = csr_array((np.ones(len(units)), (units, labels[units, raters])), shape=shape)
    value = disagreement.alpha(counts, np.ones((1, n)))[0]
    if np.isnan(value):
        estimates.undefined[index] = Reason.ONE_CATEGORY
        return
    random = np.random.default_rng(seed)
    weights = (draw_counts(random, n, draws) for draws in blocks(resamples, 1, _BLOCK))
    drawn = np.concatenate([disagreement.alpha(counts, rows) for rows in weights])
    estimates.put(index, value, percentile_ends(drawn, estimates.level))


class _Disagreement:
    """Alpha of units that count as often as their weights say; NaN where ratings do not vary."""

    def __init__(self, metric: Metric, values: Floats) -> None:
        self.metric, self.values = metric, values

    def alpha(self, counts: csr_array, weights: Floats) -> Floats:
        """Alpha for each row of weights (draws × units); counts are units × categories."""
        sizes = np.asarray(counts @ np.ones(counts.shape[1]))
        margins = np.asarray((counts.T @ weights.T).T)
        observed, expected = getattr(self, f"_{self.metric}")(counts, sizes, weights, margins)
        by_chance = expected / (weights @ sizes - 1)
        return np.where(expected > 0, 1 - observed / np.where(expected > 0, by_chance, 1), np.nan)

    # Each gives the sum of differences over pairs within units, by the partners of a rating, and that over all pairs.

    def _nominal(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        same = np.asarray(counts.multiply(counts) @ np.ones(counts.shape[1]))
        return weights @ ((sizes**2 - same) / (sizes - 1)), margins.sum(axis=1) ** 2 - (margins**2).sum(axis=1)

    def _ordinal(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        ranks = np.cumsum(margins, axis=1) - margins / 2
        within = _within(counts @ ranks.T, counts @ (ranks**2).T, sizes[:, None])
        return np.einsum("du,ud->d", weights, within), _all_pairs(margins, ranks)

    def _interval(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        centered = self.values - float((counts @ self.values).sum() / sizes.sum())
        return weights @ _within(counts @ centered, counts @ centered**2, sizes), _all_pairs(margins, centered)

    def _ratio(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        apart = np.subtract.outer(self.values, self.values) ** 2
        together = np.add.outer(self.values, self.values) ** 2
        difference = np.divide(apart, together, out=np.zeros_like(apart), where=together > 0)
        within = np.asarray(counts.multiply(counts @ difference) @ np.ones(counts.shape[1]))
        return weights @ (within / (sizes - 1)), ((margins @ difference) * margins).sum(axis=1)


def _within(sums: Floats, squares: Floats, sizes: Floats) -> Floats:
    """Squared differences over pairs within each unit, by the partners of a rating."""
    pairs: Floats = 2 * (sizes * squares - sums**2) / (sizes - 1)
    return np.maximum(pairs, 0)


def _all_pairs(margins: Floats, values: Floats) -> Floats:
    """Squared differences over all pairs of ratings; 0 where rounding alone makes some."""
    ratings = margins.sum(axis=1)
    squares = (margins * values**2).sum(axis=1)
    pairs: Floats = 2 * (ratings * squares - (margins * values).sum(axis=1) ** 2)
    return np.where(pairs > _ROUNDING * ratings * squares, pairs, 0)
