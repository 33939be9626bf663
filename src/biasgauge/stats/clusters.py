"""Means of items that come in clusters, with their intervals.

Items of one cluster (sentences about one target, pairs by one writer) go up and down together, and so do all items in
one replicate: an interval that counts items as independent is too narrow. The variance of a clustered mean leaves out
one cluster at a time, then one replicate at a time, and counts what both hold of their interaction once (two-way
clustering: Cameron, Gelbach & Miller, *Journal of Business & Economic Statistics* 29, 2011; the same two ways that the
multi-bootstrap of Sellam et al. 2022 draws again). Degrees of freedom are Satterthwaite's, with the effective number of
clusters of Carter, Schnepel & Steigerwald, *Review of Economics and Statistics* 99 (2017), instead of their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Estimate, Floats, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.means import UNBOUNDED
from biasgauge.stats.numerics import SAME, satterthwaite, student_quantile

CLUSTERED = "clustered jackknife t"


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
