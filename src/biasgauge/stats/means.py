"""Means with their intervals: of independent units, over models and random seeds, and of items that come in clusters.

Items of one cluster (sentences about one target, pairs by one writer) go up and down together, and so do all items in
one replicate: an interval that counts items as independent is too narrow. The variance of a clustered mean leaves out
one cluster at a time, then one replicate at a time, and counts what both hold of their interaction once (two-way
clustering: Cameron, Gelbach & Miller, *Journal of Business & Economic Statistics* 29, 2011; the same two ways that the
multi-bootstrap of Sellam et al. 2022 draws again). Degrees of freedom are Satterthwaite's, with the effective number of
clusters of Carter, Schnepel & Steigerwald, *Review of Economics and Statistics* 99 (2017), instead of their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Integers, Places, Vectors, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import Resampling, estimate_from_draws, jackknife_variance
from biasgauge.stats.numerics import SAME, normal_quantile, satterthwaite, student_quantile

CHI_SQUARE = "chi-square, seeds taken as normal"
CLUSTERED = "clustered jackknife t"
UNBOUNDED = (-np.inf, np.inf)
_OVER_WORDS = "Student's t over words"


def mean_estimate(
    values: Floats,
    *,
    level: float = 0.95,
    spread: Literal["student", "normal"] = "student",
    bounds: tuple[float, float] = UNBOUNDED,
    method: str | None = None,
    over: str = "words",
    same: str | None = None,
    **fields: Any,  # noqa: ANN401 - statistic, k
) -> Estimate:
    """Mean of independent values with the interval mean ± quantile · sd / √n, cut at `bounds`.

    Undefined without values; the interval is undefined with fewer than two, or, where `same` says why, when all values
    are the same.
    """
    n = len(values)
    fields |= {"level": level, "method": method or spread, "over": over, "n": n}
    if n == 0:
        return Estimate(value=None, reason=f"no {over} have a value", **fields)
    value = float(values.mean())
    if n < 2:
        return Estimate(value=value, reason=f"fewer than two {over} have a value", **fields)
    deviation = float(values.std(ddof=1))
    if same is not None and deviation <= SAME:
        return Estimate(value=value, reason=same, **fields)
    quantile = student_quantile(n - 1, level) if spread == "student" else normal_quantile(level)
    return Estimate.symmetric(value, quantile * deviation / n**0.5, bounds, **fields)


def student_estimate(value: float, error: float, df: float, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - method, over, n
    """Return a number with Student's interval, value ± t · error, from its standard error and degrees of freedom."""
    return Estimate.symmetric(value, student_quantile(df, level) * error, level=level, **fields)


class Means(NamedTuple):
    """Means along one axis of an array; `reach` is half the width of each Student's interval.

    The mean is NaN of no values, the reach NaN of fewer than two.
    """

    n: Places
    mean: Floats
    reach: Floats


def means_along(values: Vectors, axis: int, level: float = 0.95) -> Means:
    """Means of independent values along an axis without NaN, each with half the width of its Student's interval."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):  # undefined stays NaN
        mean = np.where(defined, values, 0).sum(axis=axis, dtype=np.float64) / np.where(count, count, np.nan)
        gaps = np.where(defined, values - np.expand_dims(mean, axis), 0)
        deviation = np.sqrt((gaps**2).sum(axis=axis) / np.where(count > 1, count - 1, np.nan))
        # One quantile per possible count, looked up by each mean's own.
        quantile = stdtrit(np.arange(np.shape(values)[axis] + 1) - 1.0, (1 + level) / 2)
        return Means(count, mean, quantile[count] * deviation / np.sqrt(count))


def mean_share(shares: Floats, level: float, statistic: str, k: int) -> Estimate:
    """Mean over words of a number between 0 and 1, with Student's interval cut at 0 and 1."""
    fields: Fields = {"level": level, "method": _OVER_WORDS, "statistic": statistic, "k": k}
    if len(shares) < 2:
        return Estimate(value=None, n=len(shares), reason="fewer than two words have scores", **fields)
    return mean_estimate(shares, bounds=(0.0, 1.0), over="", **fields)


def mean_over_models(
    values: Floats, level: float, left_out: Sequence[Floats] | None, bounds: tuple[float, float], over: str = "seeds"
) -> Estimate:
    """Mean over models (NaN where undefined) with Student's t interval, cut at `bounds`.

    Where there is one model, the interval is the jackknife over its seed words: `left_out` has the number without each
    unit, an array for each set, and `over` names the units.
    """
    sound = values[np.isfinite(values)]
    if not len(sound):
        return Estimate(value=None, level=level, over=over, reason="it is defined in no model")
    if len(sound) == 1:
        return jackknife_t(float(sound.mean()), left_out, level, bounds, over)
    fields: Fields = {"method": "t over models", "over": "models", "same": "all models give the same value"}
    return mean_estimate(sound, level=level, bounds=bounds, **fields)


def jackknife_t(
    value: float, left_out: Sequence[Floats] | None, level: float, bounds: tuple[float, float], over: str
) -> Estimate:
    """Return a number with Student's interval from the jackknife over the units of each set, cut at `bounds`."""
    fields: Fields = {"value": value, "level": level, "method": f"jackknife over {over}", "over": over}
    if left_out is None:
        return Estimate(reason="there is one model", **fields)
    if any(len(values) < 2 or not np.isfinite(values).all() for values in left_out):
        return Estimate(reason="there is one model, and not every seed can be left out", **fields)
    variance = jackknife_variance(left_out)
    if variance <= SAME**2:
        return Estimate(reason="leaving out any word gives the same value", **fields)
    margin = student_quantile(min(map(len, left_out)) - 1, level) * variance**0.5
    return Estimate.symmetric(margin=margin, bounds=bounds, **fields)


def mean_over_seeds(
    values: Floats, drawn: Floats, picked: Integers, how: Resampling, left_out: Callable[[], Sequence[Floats]] = list
) -> Estimate:
    """Mean over random seeds, with its interval over items and, where there are several, over seeds.

    `values` has one number per seed; `drawn` (resamples × seeds) the number in items drawn again; `picked` (resamples ×
    seeds) the seeds that count in each resample; `left_out` gives the mean without each item, for BCa.
    """
    over = "items" if len(values) == 1 else "items and seeds"
    means = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)  # each resample over the seeds drawn for it
    return estimate_from_draws(float(values.mean()), means, left_out, how, over)


def sd_over_seeds(values: Floats, level: float) -> Estimate | None:
    """Standard deviation over random seeds, with its interval; None with one seed."""
    return None if len(values) == 1 else sd_estimate(float(values.std(ddof=1)), len(values), level)


def sd_estimate(sd: float, n: int, level: float) -> Estimate:
    """Standard deviation of n normal numbers with its interval: (n − 1) sd² / σ² is χ² with n − 1 degrees of freedom.

    At least 0; 0 has no interval, which would suggest false certainty.
    """
    fields: Fields = {"value": sd, "level": level, "method": CHI_SQUARE, "over": "seeds", "n": n}
    if sd == 0:
        return Estimate(reason="every seed gives the same value", **fields)
    low, high = (sd * ((n - 1) / float(chdtri(n - 1, tail))) ** 0.5 for tail in ((1 - level) / 2, (1 + level) / 2))
    return Estimate(low=low, high=high, **fields)


class PooledEffect(NamedTuple):
    """A weighted mean of effects: its standard error if the `n` studies are independent, and Cochran's Q.

    `between` is the variance of the true effects between studies; 0 where they differ no more than their errors.
    """

    value: float
    se: float
    between: float
    q: float
    n: int


def pooled_effect(effects: ArrayLike, variances: ArrayLike) -> PooledEffect:
    """Random-effects mean Σ w y / Σ w of independent studies, w = 1 / (v + τ²) (DerSimonian & Laird 1986).

    y are the effects and v the variances of their errors; τ² = max(0, (Q − (n − 1)) / (Σ v⁻¹ − Σ v⁻² / Σ v⁻¹)) is the
    variance between studies, Q Cochran's.

    Raises:
        ParameterError: there are fewer than two, or a variance is not above 0.
    """
    effect: Floats = np.asarray(effects, np.float64)
    variance: Floats = np.asarray(variances, np.float64)
    if effect.ndim != 1 or len(effect) < 2 or effect.shape != variance.shape:
        raise ParameterError(f"At least two effects are needed, each with a variance. Got shapes {effect.shape}.")
    if not (np.isfinite(effect).all() and np.isfinite(variance).all() and (variance > 0).all()):
        raise ParameterError("Effects must be finite, and their variances above 0.")
    weights = 1 / variance
    total = float(weights.sum())
    fixed_effect = float(weights @ effect) / total
    q = float(weights @ (effect - fixed_effect) ** 2)
    between = max((q - (len(effect) - 1)) / (total - float(weights @ weights) / total), 0.0)
    weights = 1 / (variance + between)
    total = float(weights.sum())
    return PooledEffect(float(weights @ effect) / total, total**-0.5, between, q, len(effect))


@dataclass(frozen=True, eq=False)
class ClusteredMeans:
    """Several means of the same clusters, with the covariance of their errors; NaN where undefined.

    Attributes:
        values, df: the means, and the degrees of freedom of each.
        covariance: of their errors.
        clusters: with an item, for each mean.
        replicates: with an item.
        items: that each mean rests on.
    """

    values: Floats
    covariance: Floats
    df: Floats
    clusters: tuple[int, ...]
    replicates: int
    items: tuple[int, ...]

    def estimate(
        self,
        which: int = 0,
        *,
        level: float = 0.95,
        bounds: tuple[float, float] = UNBOUNDED,
        unit: str = "clusters",
        **fields: Any,  # noqa: ANN401 - statistic
    ) -> Estimate:
        """Return one of the means with its interval, cut at `bounds`; `unit` is the name of a cluster."""
        over = f"{unit} and replicates" if self.replicates > 1 else unit
        value = float(self.values[which])
        fields |= {"level": level, "method": CLUSTERED, "over": over, "n": self.items[which], "k": self.clusters[which]}
        if np.isnan(value):
            return Estimate(value=None, reason="no item has a value", **fields)
        if self.clusters[which] < 2:
            return Estimate(value=value, reason=f"there are fewer than two {unit}", **fields)
        variance = float(self.covariance[which, which])
        if not variance > (SAME * max(abs(value), 1.0)) ** 2:
            return Estimate(value=value, reason=f"all {unit} have the same value", **fields)
        margin = student_quantile(self.df[which], level) * variance**0.5
        return Estimate.symmetric(value, margin, bounds, **fields)


def clustered_means(totals: ArrayLike, counts: ArrayLike) -> ClusteredMeans:
    """Means total / count over clusters, and over replicates where there are several.

    `totals` (means × replicates × clusters) has the sum over the items of a cluster in a replicate, `counts` how many
    items that is; 0 where none is defined. With counts of 1 every cluster weighs the same.

    Raises:
        ParameterError: shapes do not fit, or a number is not finite.
    """
    sums, sizes = np.asarray(totals, np.float64), np.asarray(counts, np.float64)
    if sums.ndim != 3 or sums.shape != sizes.shape:
        raise ParameterError(
            f"Totals and counts must be means × replicates × clusters. Got the shapes {sums.shape} and {sizes.shape}."
        )
    if not np.isfinite(sums).all() or not np.isfinite(sizes).all() or (sizes < 0).any():
        raise ParameterError("Totals and counts must be finite, and counts at least 0.")
    replicates = sums.shape[1]
    items = sizes.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = sums.sum(axis=(1, 2)) / items
        weights = sizes / items[:, None, None]
        # Influence of a cell on its mean: (cell sum − mean × cell size) / number of items.
        influence = np.where(sizes > 0, (sums - values[:, None, None] * sizes) / items[:, None, None], 0.0)
    covariance, df = by_cluster, cluster_df = _jackknife_covariance(influence.sum(axis=1), weights.sum(axis=1))
    if replicates > 1:
        by_replicate, replicate_df = _jackknife_covariance(influence.sum(axis=2), weights.sum(axis=2))
        covariance = by_cluster + by_replicate - _interaction(sums, sizes, weights)
        # Never less than one way alone, as a variance that is mostly interaction could otherwise become.
        one_way = np.maximum(np.diagonal(by_cluster), np.diagonal(by_replicate))
        np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), one_way))
        with np.errstate(invalid="ignore", divide="ignore"):
            df = satterthwaite([(np.diagonal(by_cluster), cluster_df), (np.diagonal(by_replicate), replicate_df)])
    clusters = tuple((sizes > 0).any(axis=1).sum(axis=1).tolist())
    items_per_replicate = tuple(round(count) for count in (items / max(replicates, 1)).tolist())
    return ClusteredMeans(values, covariance, df, clusters, replicates, items_per_replicate)


def clustered_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = UNBOUNDED,
    unit: str = "clusters",
    **fields: Any,  # noqa: ANN401 - statistic
) -> Estimate:
    """Mean of items in clusters with its interval; NaN is an item without a value, which is left out.

    Args:
        values: items, or replicates × items.
        clusters: the cluster of each item: a label, or anything else that can be compared.
        level: nominal coverage.
        bounds: between which the mean lies; the interval is cut there.
        unit: name of a cluster.
        fields: further fields of the estimate.

    Raises:
        ParameterError: shapes do not fit.
    """
    check_level(level)
    table = np.atleast_2d(np.asarray(values, np.float64))
    means = clustered_means(*cluster_totals(table[None], clusters))
    return means.estimate(0, level=level, bounds=bounds, unit=unit, **fields)


def normal_moments(values: Vectors, level: float) -> tuple[Estimate, Estimate]:
    """Mean and standard deviation (ddof 0) of all values, items × clusters; NaN is left out.

    Intervals are normal, from the influence of each cluster on the mean and on the variance, and need many clusters.
    Both are undefined, without a reason, where fewer than two clusters have a value.
    """
    table = values.astype(np.float64)
    defined = ~np.isnan(table)
    counts = defined.sum(axis=0)
    clusters, items, total = int(np.count_nonzero(counts)), int(defined.any(axis=1).sum()), int(counts.sum())
    fields: Fields = {"level": level, "method": "normal, clusters as units", "n": clusters, "k": items}
    if clusters < 2:
        return Estimate(statistic="mean", value=None, **fields), Estimate(statistic="sd", value=None, **fields)
    center = float(table[defined].mean())
    deviations = np.where(defined, table - center, 0)
    variance = float((deviations**2).sum() / total)
    sd = variance**0.5
    # Influence of a cluster on the mean, and on the variance: the sum of its values' contributions.
    mean_influence = deviations.sum(axis=0) / total
    variance_influence = ((deviations**2).sum(axis=0) - counts * variance) / total
    margin, sd_margin = (
        normal_quantile(level) * float(np.sqrt((influence**2).sum()))
        for influence in (mean_influence, variance_influence)
    )
    # Delta method: d sd = d variance / (2 sd).
    sd_margin = sd_margin / (2 * sd) if sd else 0.0
    return (
        Estimate.symmetric(center, margin, statistic="mean", **fields),
        Estimate.symmetric(sd, sd_margin, (0.0, np.inf), statistic="sd", **fields),
    )


def cluster_totals(values: Floats, clusters: ArrayLike) -> tuple[Floats, Floats]:
    """Sums and counts of the items of each cluster, of means × replicates × items; NaN is left out."""
    labels = np.asarray(clusters)
    if labels.ndim != 1 or len(labels) != values.shape[-1]:
        raise ParameterError(f"Every item needs a cluster. Got {labels.shape} for {values.shape[-1]} items.")
    _, codes = np.unique(labels, return_inverse=True)
    # 0/1 indicators, items × clusters: a product with them sums the items of each cluster.
    members = np.eye(int(codes.max(initial=-1)) + 1)[codes]
    defined = ~np.isnan(values)
    return np.where(defined, values, 0.0) @ members, defined @ members


def _jackknife_covariance(influence: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Covariance of means × means from leaving out one unit at a time, and degrees of freedom.

    Without unit u, which has the weight w, a mean changes by influence / (1 − w); degrees of freedom are the effective
    number of units, 1 / Σ w², less one.
    """
    units = (weights > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = np.where(weights < 1, influence / (1 - weights), np.nan)
        scaled = moved * np.sqrt((units - 1) / units)[:, None]
        effective = 1 / (weights**2).sum(axis=1)
    return scaled @ scaled.T, np.maximum(effective - 1, 1.0)


def _interaction(sums: Floats, sizes: Floats, weights: Floats) -> Floats:
    """Variance of each mean due to clusters × replicates, which both one-way variances contain; on a diagonal."""
    means, replicates, _ = sums.shape
    interaction = np.zeros((means, means))
    for index in range(means):
        complete = (sizes[index] > 0).all(axis=0)
        clusters = int(complete.sum())
        if clusters < 2:
            continue
        cells = sums[index][:, complete] / sizes[index][:, complete]
        residuals = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True) + cells.mean()
        mean_square = float((residuals**2).sum()) / ((replicates - 1) * (clusters - 1))
        interaction[index, index] = mean_square * float((weights[index] ** 2).sum())
    return interaction
