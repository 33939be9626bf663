"""Least squares with rows that depend on each other within clusters, for one outcome or many at once.

A row stands for `counts` observations of one design and holds the sums of their outcomes, which is all that least
squares and every cluster-robust variance need, as long as no row spans two clusters. The design is made orthonormal
first, X = QR, so that a year near 2,000 beside its square loses no digits: coefficients are b = R⁻¹t, with t those of
Q. Of a cluster g with residuals e_g, all that is used is the cross product P_g = Q_g'Q_g and the score s_g = Q_g'e_g:

- without the cluster, t is t − (I − P_g)⁻¹ s_g, exactly (jackknife);
- the adjusted score of CR2, Q_g'(I − Q_g Q_g')^(−½) e_g, is (I − P_g)^(−½) s_g, because Z'f(ZZ') = f(Z'Z) Z'
  (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018);
- degrees of freedom are Satterthwaite's, (tr Γ)² / tr Γ² with Γ = diag(|a_g|²) − (q_g'q_h), where a_g is the part of
  a coefficient that a cluster's adjusted residuals carry, and q_g = Q_g'a_g.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import stdtr

from biasgauge.core import Array, Estimate, Flags, Floats, Integers
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import student_quantile

NUMBERS = 2**21
"""Numbers of scores in memory at a time."""
MOST_PRODUCTS = 2**27
"""Clusters × columns²: numbers in the cross products of all clusters (1 GiB), and work of each draw of a test."""
_ALONE = 1e-9
"""Share of a coefficient's information that lies outside of one cluster below which that cluster alone tells it."""


ONE_CLUSTER = "a single cluster determines this coefficient, so its error is unknown"


@dataclass(frozen=True, eq=False)
class ClusteredRegression:
    """A fit of outcomes on a design.

    Attributes:
        basis: rows × columns: the design made orthonormal over observations (Q), sorted by cluster.
        counts: observations of each row.
        sums: rows × outcomes: sums of outcomes over the observations of each row, in the order in which they were
            given; single precision is enough. They are read in blocks and never copied.
        centers: groups × outcomes, to be taken from the outcomes of the observations of each group; None for none.
        groups: group of each row.
        starts: index of the first row of each cluster, and the number of rows at the end.
        back: R⁻¹, which turns coefficients of the basis into those of the columns; (X'X)⁻¹ is R⁻¹R⁻¹'.
        basis_coefficients: columns × outcomes, of the basis.
        order: index of each row among the rows as they were given.
    """

    basis: Floats
    counts: Floats
    sums: Array
    centers: Floats | None
    groups: Integers | None
    starts: Integers
    back: Floats
    basis_coefficients: Floats
    order: Integers

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.starts) - 1

    @cached_property
    def coefficients(self) -> Floats:
        """Columns × outcomes."""
        return self.back @ self.basis_coefficients

    @cached_property
    def leverages(self) -> tuple[Floats, Floats]:
        """Eigenvalues (clusters × directions) and eigenvectors (× columns) of P_g that may differ from 0.

        A cluster has no more of them than rows: they are the squared singular values of its rows, or, where some
        cluster has more rows than there are columns, the eigenvalues of the cross products.
        """
        sizes, n_columns = np.diff(self.starts), len(self.back)
        size = min(int(sizes.max()), n_columns)
        leverages = np.empty((self.n_clusters, size))
        directions = np.empty((self.n_clusters, size, n_columns))
        for clusters, rows in self.blocks(n_columns**2):
            basis = self.basis[rows] * np.sqrt(self.counts[rows, None])
            if size < n_columns:
                padded = np.zeros((len(sizes[clusters]), size, n_columns))
                cluster = np.repeat(np.arange(len(padded)), sizes[clusters])
                within = np.arange(len(basis)) - np.repeat(self.starts[clusters] - rows.start, sizes[clusters])
                padded[cluster, within] = basis
                _, roots, directions[clusters] = np.linalg.svd(padded, full_matrices=False)
                leverages[clusters] = roots**2
            else:
                products = self.add_rows(basis[:, :, None] * basis[:, None, :], clusters)
                leverages[clusters], vectors = np.linalg.eigh(products)
                directions[clusters] = vectors.transpose(0, 2, 1)
        return np.clip(leverages, 0.0, 1.0), directions

    @cached_property
    def _adjusting_factors(self) -> Floats:
        """(1 − leverage)^(−½) of each eigenvalue; 0 where one cluster holds a direction: it carries no residual."""
        leverages, _ = self.leverages
        usable = leverages <= 1 - _ALONE
        factors: Floats = np.where(usable, 1.0, 0.0) / np.sqrt(np.where(usable, 1 - leverages, 1.0))
        return factors

    @cached_property
    def alone(self) -> Flags:
        """Columns whose coefficient one cluster alone tells: without that cluster the design is singular."""
        leverages, directions = self.leverages
        clusters, eigenvalues = np.nonzero(leverages > 1 - _ALONE)
        loads = np.abs(self.back @ directions[clusters, eigenvalues].T)
        scale = np.linalg.norm(self.back, axis=1)[:, None]
        told: Flags = (loads > np.sqrt(_ALONE) * scale).any(axis=1)
        return told

    def score_blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the scores Q_g'e_g (clusters × columns × outcomes) of some clusters at a time."""
        n_columns, n_outcomes = self.basis_coefficients.shape
        for clusters, rows in self.blocks(n_columns * n_outcomes):
            fitted = self.counts[rows, None] * (self.basis[rows] @ self.basis_coefficients)
            residuals = self.row_sums(rows) - fitted
            by_row = self.basis[rows, :, None] * residuals[:, None, :]
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
        blocks = self.blocks(self.sums.shape[1])
        return np.concatenate([self.add_rows(self.row_sums(rows), clusters) for clusters, rows in blocks])

    def influences(self) -> Iterator[tuple[slice, Floats]]:
        """Yield by how much each cluster moves the coefficients under CR2: products sum to their covariance."""
        _, directions = self.leverages
        for clusters, scores in self.score_blocks():
            yield clusters, self.back @ _stretched(scores, directions[clusters], self._adjusting_factors[clusters])

    def left_out_changes(self) -> Iterator[tuple[slice, Floats]]:
        """Yield by how much the coefficients change without each cluster, clusters × columns × outcomes, exactly.

        NaN where the design is singular without the cluster.
        """
        leverages, directions = self.leverages
        singular = np.asarray((leverages > 1 - _ALONE).any(axis=1))
        factors = 1 / (1 - np.where(singular[:, None], 0.0, leverages))
        for clusters, scores in self.score_blocks():
            changes: Floats = -self.back @ _stretched(scores, directions[clusters], factors[clusters])
            changes[singular[clusters]] = np.nan
            yield clusters, changes

    def freedom(self, weights: Floats) -> float:
        """Satterthwaite's degrees of freedom of a linear combination of the coefficients of one outcome."""
        leverages, directions = self.leverages
        factors = self._adjusting_factors
        coordinates = directions @ (weights @ self.back)  # along the eigenvectors
        lengths = (coordinates**2 * leverages * factors**2).sum(axis=1)  # |a_g|²
        carried = np.einsum("gjk,gj->gk", directions, leverages * factors * coordinates)  # q_g
        inner = (carried**2).sum(axis=1)
        crossed = carried.T @ carried
        trace = float((lengths - inner).sum())
        squares = float((lengths**2 - 2 * lengths * inner).sum() + (crossed**2).sum())
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
        row = weights @ self.back
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
    if len(starts) * design.shape[1] ** 2 > MOST_PRODUCTS:
        raise ParameterError(
            f"{design.shape[1]:,} coefficients over {len(starts):,} clusters are too many to compute; join values of a "
            "factor into fewer groups."
        )
    # Columns are scaled first: a year near 2,000 beside an intercept would look like a dependence.
    weighted = design * np.sqrt(counts)[:, None]
    lengths = np.linalg.norm(weighted, axis=0)
    if not len(design) or (lengths == 0).any() or np.linalg.matrix_rank(weighted / lengths) < design.shape[1]:
        raise ParameterError(
            f"{len(design):,} rows do not tell {design.shape[1]} coefficients apart: columns of the design are "
            "linearly dependent."
        )
    orthogonal, triangle = np.linalg.qr(weighted)
    basis = orthogonal / np.sqrt(counts)[:, None]
    projected = np.zeros((design.shape[1], sums.shape[1]))
    block = max(NUMBERS // sums.shape[1], 1)
    for first in range(0, len(design), block):
        rows = slice(first, first + block)
        projected += basis[rows].T @ _centered(sums, counts, centers, groups, order, rows)
    starts = np.append(starts, len(design))
    back = solve_triangular(triangle, np.eye(len(triangle)))
    return ClusteredRegression(basis, counts, sums, centers, groups, starts, back, projected, order)


def _stretched(scores: Floats, directions: Floats, factors: Floats) -> Floats:
    """Multiply the part of scores (clusters × columns × outcomes) along each direction by its factor."""
    along = directions @ scores
    stretched: Floats = scores + directions.transpose(0, 2, 1) @ ((factors - 1)[:, :, None] * along)
    return stretched


def _centered(
    sums: Array, counts: Floats, centers: Floats | None, groups: Integers | None, order: Integers, rows: slice
) -> Floats:
    """Sums of some rows of the fit in double precision, less the centers of their groups times their counts."""
    block: Floats = sums[order[rows]].astype(np.float64)
    if centers is not None and groups is not None:
        block -= counts[rows, None] * centers[groups[rows]]
    return block
