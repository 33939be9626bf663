"""Agreement on categories beyond chance: the kappas of Cohen and Fleiss, and Krippendorff's alpha.

Cohen, Educational and Psychological Measurement 20 (1960), with the large-sample variance of Fleiss, Cohen & Everitt,
Psychological Bulletin 72 (1969); Fleiss, Psychological Bulletin 76 (1971), with the variance over items of Gwet,
Educational and Psychological Measurement 81 (2021); Krippendorff, *Content Analysis* (2004), chapter 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from biasgauge.core import (
    Estimate,
    Estimates,
    Fields,
    Floats,
    Integers,
    Places,
    Reason,
    Vectors,
    check_choice,
    check_level,
    flat,
)
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import blocks, draw_counts, percentile_ends
from biasgauge.stats.means import means_along
from biasgauge.stats.numerics import normal_quantile, student_quantile

Weights = Literal["linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]

MISSING = -1
"""The code of a rating that was not given."""
_CATEGORIES = 3  # directions: to the first end, to neither, to the second
_DRAWS = 200  # draws computed at a time
_BLOCK = 1_000  # matrices counted at a time
_CERTAIN = 1e-12  # agreement by chance this near to 1 is certain; differences of this share of a sum are rounding
_MOST_VALUES = 5_000  # different values that ratings on a ratio scale may have: every two of them are compared


def cohen_kappa(
    first: object,
    second: object,
    *,
    weights: Weights | None = None,
    categories: Sequence[object] | None = None,
    level: float = 0.95,
) -> Estimate | Estimates:
    """Cohen's kappa, (p_o − p_e) / (1 − p_e): agreement of two raters on categories beyond chance.

    p_o is the share of items on which they agree (weighted by credit), p_e that expected from their own frequencies.
    1: always the same category; 0: as often as by chance; negative: less often. Items that a rater left out (None,
    NaN) do not count. The interval is normal with the large-sample variance of Fleiss, Cohen & Everitt, cut at ±1.
    Undefined, with a reason, with fewer than two items or when both raters use one and the same category alone.

    Args:
        first: labels of the items, of the shape (items,) or (…, items) for a stack.
        second: those of the other rater, of the same shape.
        weights: "linear" or "quadratic" gives near misses partial credit, in the order of the categories.
        categories: their order; those that occur, sorted, when None.
        level: nominal coverage of the interval.
    """
    check_level(level)
    check_choice((None, "linear", "quadratic"), weights=weights)
    a, b = (
        np.asarray(labels, dtype=object if np.asarray(labels).dtype.kind in "US" else None)
        for labels in (first, second)
    )
    if a.shape != b.shape or a.ndim == 0:
        raise ParameterError(
            f"cohen_kappa needs two ratings of the same items. Got the shapes {a.shape} and {b.shape}."
        )
    both, kinds = codes(np.stack([a, b]), categories)
    rows = both.reshape(2, -1, a.shape[-1])
    counts = _confusions(rows[0], rows[1], max(len(kinds), 1))
    estimates = _cohen(counts, _credit(len(counts[0]), weights), level, weights)
    return estimates[0] if a.ndim == 1 else estimates.reshape(a.shape[:-1])


def fleiss_kappa(ratings: object, *, level: float = 0.95) -> Estimate | Estimates:
    """Fleiss' kappa, (P̄ − P_e) / (1 − P_e): agreement of several raters on categories beyond chance.

    P̄ is the mean over items of the share of pairs of raters that agree, P_e = Σ p_j² from the frequencies p_j of all
    ratings. 1: all raters always agree; 0: as often as by chance; negative: less often. Items that a rater left out do
    not count, nor do raters who rated nothing. The interval is Gwet's: Student's t, variance over items, cut at ±1; it
    generalizes over items, not over raters. Undefined, with a reason, with fewer than two items or raters or when all
    ratings fall into one category.

    Args:
        ratings: labels with items in rows and raters in columns, or (…, items, raters) for a stack.
        level: nominal coverage of the interval.
    """
    check_level(level)
    labels, kinds = codes(ratings)
    if labels.ndim < 2:
        raise ParameterError(f"fleiss_kappa needs items in rows and raters in columns. Got the shape {labels.shape}.")
    stack = flat(labels)
    estimates = Estimates.blank(
        len(stack), statistic="Fleiss' kappa", level=level, method="Gwet (t over items)", subjects="items"
    )
    complete = (stack != MISSING).all(axis=(1, 2))
    for start in range(0, len(stack), _BLOCK):
        here = start + np.flatnonzero(complete[start : start + _BLOCK])
        _fleiss(estimates, here, stack[here], max(len(kinds), 1))
    for index in np.flatnonzero(~complete):
        matrix = stack[index][:, (stack[index] != MISSING).any(axis=0)]
        matrix = matrix[(matrix != MISSING).all(axis=1)]
        _fleiss(estimates, np.array([index]), matrix[None], max(len(kinds), 1))
    return estimates[0] if labels.ndim == 2 else estimates.reshape(labels.shape[:-2])


def codes(labels: object, categories: Sequence[object] | None = None) -> tuple[Integers, list[Any]]:
    """Return the index of each label among the categories, and the categories; None and NaN become `MISSING`.

    Labels are strings, numbers or booleans; without `categories` those that occur count, sorted.

    Raises:
        ParameterError: a label is not among the categories, or labels cannot be put in an order.
    """
    import pandas as pd

    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ParameterError(f"Ratings must be a table without ragged rows. Got {error}.") from error
    if array.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        array = np.asarray(labels, dtype=object)  # NumPy would turn None into the string "None"
    missing = np.array(pd.isna(array), bool)
    try:
        present, positions = np.unique(array[~missing], return_inverse=True)
    except TypeError as error:
        raise ParameterError(f"Ratings must be all strings or all numbers. Got {error}.") from error
    kinds: list[Any] = present.tolist()
    coded = np.full(array.shape, MISSING, np.int64)
    if categories is None:
        coded[~missing] = positions.reshape(-1)
        return coded, kinds
    order = {kind: index for index, kind in enumerate(categories)}
    unknown = [kind for kind in kinds if kind not in order]
    if unknown:
        raise ParameterError(f"Ratings must be among the categories {list(categories)}. Got {unknown[0]!r}.")
    coded[~missing] = np.array([order[kind] for kind in kinds], np.int64)[positions.reshape(-1)]
    return coded, list(categories)


def _confusions(first: Integers, second: Integers, kinds: int) -> Floats:
    """Confusion matrices of two raters: stack × categories × categories."""
    size = len(first)
    rated = (first != MISSING) & (second != MISSING)
    cells = np.arange(size)[:, None] * kinds**2 + first * kinds + second
    counts = np.bincount(cells[rated], minlength=size * kinds**2)
    return counts.reshape(size, kinds, kinds).astype(np.float64)


def _credit(kinds: int, weights: Weights | None) -> Floats:
    """Credit for each pair of categories: 1 on the diagonal."""
    apart = np.abs(np.subtract.outer(np.arange(kinds), np.arange(kinds))) / max(kinds - 1, 1)
    if weights is None:
        return np.eye(kinds)
    credit: Floats = 1 - (apart if weights == "linear" else apart**2)
    return credit


def _cohen(counts: Floats, credit: Floats, level: float, weights: Weights | None) -> Estimates:
    name = "Cohen's kappa" + ("" if weights is None else f" ({weights} weights)")
    estimates = Estimates.blank(
        len(counts), statistic=name, level=level, method="normal (Fleiss, Cohen & Everitt)", subjects="items"
    )
    estimates.n[:] = counts.sum(axis=(1, 2))
    estimates.k[:] = 2
    # Cells p_ij and margins p_i., p_.j; p_o = Σ w_ij p_ij, p_e = Σ w_ij p_i. p_.j with credit w_ij.
    shares = counts / np.maximum(estimates.n, 1)[:, None, None]
    rows, columns = shares.sum(axis=2), shares.sum(axis=1)
    observed = (shares * credit).sum(axis=(1, 2))
    chance = np.einsum("si,ij,sj->s", rows, credit, columns)
    estimates.undefined[chance > 1 - _CERTAIN] = Reason.ONE_CATEGORY
    estimates.undefined[estimates.n < 2] = Reason.TOO_FEW_SUBJECTS
    defined = estimates.undefined == 0
    beyond_chance = np.where(defined, 1 - chance, 1)
    kappa = (observed - chance) / beyond_chance
    marginal = (columns @ credit.T)[:, :, None] + (rows @ credit)[:, None, :]
    # Variance of Fleiss, Cohen & Everitt (1969): cells by their credit less the mean credit of their margins.
    spread = (shares * (credit - marginal * (1 - kappa)[:, None, None]) ** 2).sum(axis=(1, 2))
    variance = np.maximum(spread - (kappa - chance * (1 - kappa)) ** 2, 0) / (
        np.maximum(estimates.n, 1) * beyond_chance**2
    )
    variance[observed > 1 - _CERTAIN] = 0  # perfect agreement: what is left is rounding
    margin = normal_quantile(level) * np.sqrt(variance)
    estimates.value[defined] = kappa[defined]
    estimates.low[defined] = np.maximum(kappa - margin, -1)[defined]
    estimates.high[defined] = np.minimum(kappa + margin, 1)[defined]
    return estimates


def _fleiss(estimates: Estimates, here: Places, labels: Integers, kinds: int) -> None:
    """Write the kappas of matrices without missing ratings at the indexes `here`."""
    size, n, k = labels.shape
    estimates.n[here], estimates.k[here] = n, k
    if n < 2 or k < 2:
        estimates.undefined[here] = Reason.TOO_FEW_RATERS if k < 2 else Reason.TOO_FEW_SUBJECTS
        return
    cells = np.arange(size * n).reshape(size, n, 1) * kinds + labels
    counts = np.bincount(cells.ravel(), minlength=size * n * kinds).reshape(size, n, kinds).astype(np.float64)
    shares = counts.mean(axis=1) / k  # p_j
    chance = (shares**2).sum(axis=1)  # P_e
    certain = chance > 1 - _CERTAIN
    beyond_chance = np.where(certain, 1, 1 - chance)[:, None]
    # P_i, the share of pairs of raters that agree on an item; kappa is the mean of (P_i − P_e) / (1 − P_e).
    agreement = (counts * (counts - 1)).sum(axis=2) / (k * (k - 1))
    by_item = (agreement - chance[:, None]) / beyond_chance
    kappa = by_item.mean(axis=1, keepdims=True)
    expected = (counts @ shares[:, :, None])[:, :, 0] / k
    # Gwet (2021): influence of an item on kappa, through its own agreement and through the frequencies in P_e.
    influence = by_item - 2 * (1 - kappa) * (expected - chance[:, None]) / beyond_chance - kappa
    margin = student_quantile(n - 1, estimates.level) * np.sqrt((influence**2).sum(axis=1) / (n * (n - 1)))
    estimates.undefined[here[certain]] = Reason.ONE_CATEGORY
    here = here[~certain]
    estimates.value[here] = kappa[~certain, 0]
    estimates.low[here] = np.maximum(kappa[:, 0] - margin, -1)[~certain]
    estimates.high[here] = np.minimum(kappa[:, 0] + margin, 1)[~certain]


def mean_kappa(first: Floats, second: Floats, level: float, resamples: int, random_state: int) -> Estimate:
    """Mean of Cohen's kappas over pairs, with a percentile bootstrap interval over words.

    `first` and `second` are the directions by two raters, pairs × words: −1, 0, 1; NaN where undefined. All pairs see
    the same words, so that their kappas are not independent: each draw takes words again for all of them together.
    Pairs without a kappa are left out, here and in each draw; `k` says how many are not.
    """
    # Words × pairs × 9: indicator of the cell of the 3 × 3 confusion matrix, all 0 where a direction is undefined.
    both = ~(np.isnan(first) | np.isnan(second))
    cell = np.where(both, _CATEGORIES * (first + 1) + second + 1, -1).astype(np.int64)
    cells: Floats = (cell.T[:, :, None] == np.arange(_CATEGORIES**2)).astype(np.float64)
    cells = cells[cells.any(axis=(1, 2))]
    n = len(cells)
    by_pair = kappas(cells.sum(axis=0))
    used = ~np.isnan(by_pair)
    k = int(used.sum())
    fields: Fields = {"statistic": f"mean of {k} kappas", "level": level, "n": n, "k": k}
    fields["method"] = "bootstrap over words (percentile)"
    if k == 0:
        return Estimate(value=None, reason="no pair has a kappa", **fields)
    cells = cells[:, used].reshape(n, -1)
    random = np.random.default_rng(random_state)
    drawn = []
    for draws in blocks(resamples, 1, _DRAWS):
        counts = draw_counts(random, n, draws) @ cells
        values = kappas(counts.reshape(len(counts), -1, _CATEGORIES**2))
        # Mean over the pairs that have a kappa in the draw, as the estimate itself is taken.
        drawn.append(means_along(values, axis=1).mean)
    value, ends = float(by_pair[used].mean()), percentile_ends(np.concatenate(drawn), level)
    if ends is None:
        return Estimate(value=value, reason=Reason.TOO_FEW_DRAWS.sentence("words"), **fields)
    return Estimate(value=value, low=ends[0], high=ends[1], **fields)


def kappas(cells: Vectors) -> Floats:
    """Cohen's kappa from counts (…, 9) of the cells of 3 × 3 tables; NaN where it is undefined."""
    tables = cells.reshape(*cells.shape[:-1], _CATEGORIES, _CATEGORIES)
    total = tables.sum(axis=(-1, -2))
    shares = tables / np.maximum(total, 1)[..., None, None]
    observed = np.trace(shares, axis1=-2, axis2=-1)
    chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
    certain = (chance > 1 - _CERTAIN) | (total < 2)
    kappa: Floats = np.where(certain, np.nan, (observed - chance) / np.where(certain, 1, 1 - chance))
    return kappa


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
        raise ParameterError(f"krippendorff_alpha needs units in rows, raters in columns. Got shape {labels.shape}.")
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
    if metric == "ratio" and len(values) > _MOST_VALUES:
        raise ParameterError(f"The metric 'ratio' compares at most {_MOST_VALUES:,} values. Got {len(values):,}.")
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
    weights = (draw_counts(random, n, draws) for draws in blocks(resamples, 1, _DRAWS // 2))
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
        # D_o = observed / n and D_e = expected / (n (n − 1)) with n ratings: their ratio needs n − 1 alone.
        by_chance = expected / (weights @ sizes - 1)
        return np.where(expected > 0, 1 - observed / np.where(expected > 0, by_chance, 1), np.nan)

    # Each returns the sum of squared differences δ² over pairs of ratings within units, divided by the number of
    # partners of a rating (unit size − 1), and the sum over all pairs of ratings.

    def _nominal(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        # Pairs of unlike categories: (Σ n_c)² − Σ n_c², within a unit and over all ratings.
        same = np.asarray(counts.multiply(counts) @ np.ones(counts.shape[1]))
        return weights @ ((sizes**2 - same) / (sizes - 1)), margins.sum(axis=1) ** 2 - (margins**2).sum(axis=1)

    def _ordinal(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        # δ² of two ordinal categories is the squared difference of their mid-ranks among the ratings drawn.
        ranks = np.cumsum(margins, axis=1) - margins / 2
        within = _within(counts @ ranks.T, counts @ (ranks**2).T, sizes[:, None])
        return np.einsum("du,ud->d", weights, within), _all_pairs(margins, ranks)

    def _interval(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        # Differences do not change when the mean is subtracted, but sums of squares lose fewer digits.
        centered = self.values - float((counts @ self.values).sum() / sizes.sum())
        return weights @ _within(counts @ centered, counts @ centered**2, sizes), _all_pairs(margins, centered)

    def _ratio(self, counts: csr_array, sizes: Floats, weights: Floats, margins: Floats) -> tuple[Floats, Floats]:
        # δ² = ((a − b) / (a + b))².
        apart = np.subtract.outer(self.values, self.values) ** 2
        together = np.add.outer(self.values, self.values) ** 2
        difference = np.divide(apart, together, out=np.zeros_like(apart), where=together > 0)
        within = np.asarray(counts.multiply(counts @ difference) @ np.ones(counts.shape[1]))
        return weights @ (within / (sizes - 1)), ((margins @ difference) * margins).sum(axis=1)


def _within(sums: Floats, squares: Floats, sizes: Floats) -> Floats:
    """Σ over ordered pairs (x_i − x_j)² = 2 (n Σ x² − (Σ x)²) within each unit, divided by n − 1."""
    pairs: Floats = 2 * (sizes * squares - sums**2) / (sizes - 1)
    return np.maximum(pairs, 0)


def _all_pairs(margins: Floats, values: Floats) -> Floats:
    """Σ over all ordered pairs of ratings (x_i − x_j)² = 2 (n Σ x² − (Σ x)²); 0 where only rounding remains."""
    ratings = margins.sum(axis=1)
    squares = (margins * values**2).sum(axis=1)
    pairs: Floats = 2 * (ratings * squares - (margins * values).sum(axis=1) ** 2)
    return np.where(pairs > _CERTAIN * ratings * squares, pairs, 0)
