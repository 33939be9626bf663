"""Least squares with rows that depend on each other within clusters, for one outcome or many at once.

A row stands for `counts` observations of one design and holds the sums of their outcomes, which is all that least
squares and every cluster-robust variance need, as long as no row spans two clusters. Of a cluster g, with design X_g,
residuals e_g and M = (X'X)⁻¹, all that is used is the cross product P_g = X_g'X_g and the score s_g = X_g'e_g:

- without the cluster, the coefficients are b − (X'X − P_g)⁻¹ s_g, exactly (jackknife);
- the adjusted score of CR2, X_g'(I − X_g M X_g')^(−½) e_g, is M^(−½) (I − M^½ P_g M^½)^(−½) M^½ s_g, because
  Z'f(ZZ') = f(Z'Z) Z' for Z = X_g M^½ (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018);
- degrees of freedom are Satterthwaite's, (tr Γ)² / tr Γ² with Γ = diag(|a_g|²) − (q_g'M q_h), where a_g is the part of
  a coefficient that a cluster's adjusted residuals carry, and q_g = X_g'a_g.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtr

from biasgauge.core import Array, Estimate, Flags, Floats, Integers
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import student_quantile

NUMBERS = 2**21
"""Numbers of scores in memory at a time."""
_ALONE = 1e-9
"""Share of a coefficient's information that lies outside of one cluster below which that cluster alone tells it."""


ONE_CLUSTER = "one cluster alone tells this coefficient, so that its error is unknown"


@dataclass(frozen=True, eq=False)
class ClusteredRegression:
    """A fit of outcomes on a design.

    Attributes:
        design: rows × columns, sorted by cluster.
        counts: observations of each row.
        sums: rows × outcomes: sums of outcomes over the observations of each row, in the order in which they were
            given; single precision is enough. They are read in blocks and never copied.
        centers: groups × outcomes, to be taken from the outcomes of the observations of each group; None for none.
        groups: group of each row.
        starts: index of the first row of each cluster, and the number of rows at the end.
        inverse: (X'X)⁻¹.
        coefficients: columns × outcomes.
        order: index of each row among the rows as they were given.
    """

    design: Floats
    counts: Floats
    sums: Array
    centers: Floats | None
    groups: Integers | None
    starts: Integers
    inverse: Floats
    coefficients: Floats
    order: Integers

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.starts) - 1

    @cached_property
    def cross_products(self) -> Floats:
        """Clusters × columns × columns: X_g'X_g."""
        rows = np.einsum("rj,rk,r->rjk", self.design, self.design, self.counts)
        products: Floats = np.add.reduceat(rows, self.starts[:-1], axis=0)
        return products

    @cached_property
    def _roots(self) -> tuple[Floats, Floats, Floats, Floats]:
        """M^½, M^(−½), and eigenvalues and eigenvectors of M^½ P_g M^½ by cluster."""
        values, vectors = np.linalg.eigh(self.inverse)
        root = (vectors * np.sqrt(values)) @ vectors.T
        inverse_root = (vectors / np.sqrt(values)) @ vectors.T
        leverages, directions = np.linalg.eigh(root @ self.cross_products @ root)
        return root, inverse_root, np.clip(leverages, 0.0, 1.0), directions

    @cached_property
    def alone(self) -> Flags:
        """Columns whose coefficient one cluster alone tells: without that cluster the design is singular."""
        root, _, leverages, directions = self._roots
        clusters, eigenvalues = np.nonzero(leverages > 1 - _ALONE)
        loads = np.abs(root @ directions[clusters, :, eigenvalues].T)
        scale = np.sqrt(np.diag(self.inverse))[:, None]
        told: Flags = (loads > np.sqrt(_ALONE) * scale).any(axis=1)
        return told

    @cached_property
    def adjustments(self) -> Floats:
        """Clusters × columns × columns: matrices that turn scores into adjusted scores of CR2."""
        root, inverse_root, leverages, directions = self._roots
        usable = leverages <= 1 - _ALONE  # otherwise the generalized inverse: that direction carries no residual
        factors = np.where(usable, 1.0, 0.0) / np.sqrt(np.where(usable, 1 - leverages, 1.0))
        scaled = (directions * factors[:, None, :]) @ directions.transpose(0, 2, 1)
        adjustments: Floats = inverse_root @ scaled @ root
        return adjustments

    def score_blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the scores X_g'e_g (clusters × columns × outcomes) of some clusters at a time."""
        n_columns, n_outcomes = self.coefficients.shape
        for clusters, rows in self.blocks(n_columns * n_outcomes):
            fitted = self.counts[rows, None] * (self.design[rows] @ self.coefficients)
            residuals = self.row_sums(rows) - fitted
            by_row = self.design[rows, :, None] * residuals[:, None, :]
            yield clusters, self.add_rows(by_row, clusters)

    def blocks(self, numbers: int) -> Iterator[tuple[slice, slice]]:
        """Yield some clusters at a time and their rows; each row takes so many numbers in memory."""
        most = max(NUMBERS // numbers, 1)
        first = 0
        while first < self.n_clusters:
            last = int(np.searchsorted(self.starts, self.starts[first] + most, "right")) - 1
            last = min(max(last, first + 1), self.n_clusters)
            yield slice(first, last), slice(int(self.starts[first]), int(self.starts[last]))
            first = last

    def row_sums(self, rows: slice) -> Floats:
        """Sums of some rows in the order of the fit, centered."""
        return _centered(self.sums, self.counts, self.centers, self.groups, self.order, rows)

    def add_rows(self, values: Floats, clusters: slice) -> Floats:
        """Add values of the rows of some clusters up by cluster."""
        starts = self.starts[clusters]
        total: Floats = np.add.reduceat(values, starts - starts[0], axis=0)
        return total

    def cluster_sums(self) -> Floats:
        """Clusters × outcomes: sums of outcomes over the observations of each cluster."""
        blocks = self.blocks(self.coefficients.shape[1])
        return np.concatenate([self.add_rows(self.row_sums(rows), clusters) for clusters, rows in blocks])

    def influences(self) -> Iterator[tuple[slice, Floats]]:
        """Yield M times the adjusted scores of CR2: their products sum to the covariance of the coefficients."""
        for clusters, scores in self.score_blocks():
            yield clusters, self.inverse @ (self.adjustments[clusters] @ scores)

    def left_out_changes(self) -> Iterator[tuple[slice, Floats]]:
        """Yield by how much the coefficients change without each cluster, clusters × columns × outcomes, exactly.

        NaN where the design is singular without the cluster.
        """
        total = np.linalg.inv(self.inverse)
        singular = np.asarray((self._roots[2] > 1 - _ALONE).any(axis=1))
        for clusters, scores in self.score_blocks():
            remaining = total - self.cross_products[clusters]
            remaining[singular[clusters]] = np.eye(len(total))
            changes: Floats = -np.asarray(np.linalg.solve(remaining, scores), np.float64)
            changes[singular[clusters]] = np.nan
            yield clusters, changes

    def freedom(self, weights: Floats) -> float:
        """Satterthwaite's degrees of freedom of a linear combination of the coefficients of one outcome."""
        root, inverse_root, leverages, directions = self._roots
        usable = leverages <= 1 - _ALONE
        roots = np.where(usable, 1.0, 0.0) / np.sqrt(np.where(usable, 1 - leverages, 1.0))
        coordinates = np.einsum("gkj,k->gj", directions, root @ weights)  # of M^½ c along the eigenvectors
        lengths = (coordinates**2 * leverages * roots**2).sum(axis=1)  # |a_g|²
        carried = np.einsum("gkj,gj->gk", directions, leverages * roots * coordinates) @ inverse_root  # q_g
        inner = np.einsum("gj,jk,gk->g", carried, self.inverse, carried)
        crossed = carried.T @ carried @ self.inverse
        trace = float((lengths - inner).sum())
        squares = float((lengths**2 - 2 * lengths * inner).sum() + np.trace(crossed @ crossed))
        return trace**2 / squares if squares > 0 and trace > 0 else 0.0

    def variance(self, weights: Floats, outcome: int = 0, *, jackknife: bool = False) -> float:
        """CR2 variance of a linear combination of the coefficients of one outcome, or that of the jackknife (CR3).

        The jackknife is the more careful of the two where some clusters carry much of the information.
        """
        if jackknife:
            changes = np.concatenate([block[:, :, outcome] @ weights for _, block in self.left_out_changes()])
            changes = changes[np.isfinite(changes)]
            return float((len(changes) - 1) / max(len(changes), 1) * (changes**2).sum())
        return float(sum(((weights @ block[:, :, outcome].T) ** 2).sum() for _, block in self.influences()))

    def plain_variance(self, weights: Floats, outcome: int = 0) -> float:
        """Variance of a linear combination of the coefficients of one outcome, without an adjustment (CR0)."""
        row = weights @ self.inverse
        return float(sum(((block[:, :, outcome] @ row) ** 2).sum() for _, block in self.score_blocks()))

    def estimate(
        self, weights: Floats, level: float = 0.95, outcome: int = 0, *, jackknife: bool = False
    ) -> tuple[Estimate, float | None]:
        """Estimate a linear combination of the coefficients of one outcome: t interval and two-sided p.

        Errors are those of CR2, or of the jackknife over clusters, with Satterthwaite's degrees of freedom.

        Undefined where one cluster alone tells a coefficient that the combination needs.
        """
        value = float(weights @ self.coefficients[:, outcome])
        n = int(self.counts.sum())
        if (self.alone & (np.abs(weights) > 0)).any():
            return Estimate(value=value, n=n, level=level, reason=ONE_CLUSTER), None
        df, variance = self.freedom(weights), self.variance(weights, outcome, jackknife=jackknife)
        if df <= 0 or variance <= 0:
            reason = "the observations of a cluster do not differ from the fit, so that there is no error"
            return Estimate(value=value, n=n, level=level, reason=reason), None
        error = float(np.sqrt(variance))
        p = 2 * float(stdtr(df, -abs(value) / error))
        method = "t, jackknife over clusters" if jackknife else "t, CR2 over clusters"
        return Estimate.symmetric(value, student_quantile(df, level) * error, n=n, level=level, method=method), p


@dataclass(frozen=True)
class LinearEffect:
    """A linear combination of the coefficients of one outcome.

    Attributes:
        estimate: its value and interval.
        se: its standard error; None where it has none.
        df: degrees of freedom.
        p: two-sided, of no effect.
    """

    estimate: Estimate
    se: float | None = None
    df: float | None = None
    p: float | None = None


def effect_over_ways(
    fits: Sequence[ClusteredRegression], weights: Floats, level: float, *, jackknife: bool = False
) -> LinearEffect:
    """Effect of a linear combination of coefficients of one outcome, with an error over all ways of clustering.

    Over two ways, such as authors and words, the variance is V_one + V_two − V_both (Cameron, Gelbach & Miller 2011),
    at least the larger of the first two; degrees of freedom are the fewest.

    Args:
        fits: the same fit over one way of clustering; or over one, over the other, and, where it is known, over both.
        weights: of the coefficients.
        level: nominal coverage of the interval.
        jackknife: errors of the jackknife instead of CR2.
    """
    estimates = [fit.estimate(weights, level, jackknife=jackknife) for fit in fits[:2]]
    first, p = estimates[0]
    if undefined := next((estimate for estimate, _ in estimates if not estimate.bounded), None):
        return LinearEffect(Estimate(value=first.value, n=first.n, level=level, reason=undefined.reason))
    variances = [fit.variance(weights, jackknife=jackknife) for fit in fits[:2]]
    df = min(fit.freedom(weights) for fit in fits[:2])
    if len(fits) == 1 or first.value is None:
        return LinearEffect(first, float(np.sqrt(variances[0])), df, p)
    shared = fits[2].plain_variance(weights) if len(fits) > 2 else 0.0  # counted twice; unadjusted it is the smaller
    se = float(np.sqrt(max(sum(variances) - shared, *variances)))
    method = f"{first.method} and words"
    estimate = Estimate.symmetric(first.value, student_quantile(df, level) * se, n=first.n, level=level, method=method)
    return LinearEffect(estimate, se, df, 2 * float(stdtr(df, -abs(first.value) / se)))


def fit_clustered(
    design: Floats, counts: Floats, sums: Array, clusters: Integers, *, centers: Floats | None = None,
    groups: Integers | None = None,
) -> ClusteredRegression:  # fmt: skip
    """Fit outcomes on a design by least squares.

    Args:
        design: rows × columns.
        counts: observations that each row stands for; their design is the row's.
        sums: rows × outcomes: sums of outcomes over the observations of each row.
        clusters: number of each row's cluster.
        centers: groups × outcomes: taken from the outcomes of the observations of each group.
        groups: group of each row, with `centers`.

    Raises:
        ParameterError: the columns of the design are linearly dependent, or there are too few rows.
    """
    order = np.argsort(clusters, kind="stable")
    design, counts = design[order], np.asarray(counts, np.float64)[order]
    groups = None if groups is None else groups[order]
    starts = np.flatnonzero(np.diff(clusters[order], prepend=clusters.min(initial=0) - 1))
    # Columns are scaled first: a year near 2,000 beside an intercept would look like a dependence.
    weighted = design * np.sqrt(counts)[:, None]
    lengths = np.linalg.norm(weighted, axis=0)
    if not len(design) or (lengths == 0).any() or np.linalg.matrix_rank(weighted / lengths) < design.shape[1]:
        raise ParameterError(
            f"{len(design):,} rows do not tell {design.shape[1]} coefficients apart: columns of the design are "
            "linearly dependent."
        )
    orthogonal, triangle = np.linalg.qr(weighted)
    back = np.linalg.inv(triangle)
    projected = np.zeros((design.shape[1], sums.shape[1]))
    block = max(NUMBERS // sums.shape[1], 1)
    for first in range(0, len(design), block):
        rows = slice(first, first + block)
        outcomes = _centered(sums, counts, centers, groups, order, rows)
        projected += (orthogonal[rows] / np.sqrt(counts[rows])[:, None]).T @ outcomes
    return ClusteredRegression(
        design, counts, sums, centers, groups, np.append(starts, len(design)), back @ back.T, back @ projected, order
    )


def _centered(
    sums: Array, counts: Floats, centers: Floats | None, groups: Integers | None, order: Integers, rows: slice
) -> Floats:
    """Sums of some rows of the fit in double precision, less the centers of their groups times their counts."""
    block: Floats = sums[order[rows]].astype(np.float64)
    if centers is not None and groups is not None:
        block -= counts[rows, None] * centers[groups[rows]]
    return block
