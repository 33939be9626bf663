"""Rows of the tables of a regression: squared norms, projections on an axis, counts, neighbors, contexts."""

from __future__ import annotations

from dataclasses import dataclass

from biasgauge.core import Estimate, Record


@dataclass(frozen=True)
class TargetCount(Record):
    """Occurrences of a target word.

    Attributes:
        word: the word.
        occurrences: how many were embedded.
        documents: in how many documents they stand.
        without_vectors: occurrences without any vector within the window, which are left out.
        incomplete: occurrences in documents that lack a covariate, which are left out.
    """

    word: str
    occurrences: int
    documents: int
    without_vectors: int = 0
    incomplete: int = 0


@dataclass(frozen=True)
class TermNorm(Record):
    """Size of a coefficient of the embedding regression: its squared Euclidean norm.

    Attributes:
        term: the term.
        norm2: squared norm of the coefficient as estimated; sampling error alone makes it larger than 0.
        norm2_bias: what sampling error adds in the mean: trace of the robust covariance of the coefficient (Green et
            al. 2025); HC1 over occurrences without a cluster column, CR2 over clusters with one. None with no more
            occurrences than coefficients, or where a single cluster determines the coefficient.
        norm2_corrected: norm2 less norm2_bias; 0: the covariate makes no difference; below 0 by chance alone.
        low, high: jackknife interval over clusters of the norm corrected by `clustered_bias`; it may reach below 0.
        p: of no difference.
        n: occurrences.
        se: jackknife standard error of norm2 over clusters.
        clustered_bias: what sampling error adds where occurrences in a cluster are alike: trace of the CR2 covariance.
        p_method: permutation of the covariates over clusters, or random signs of the scores of clusters.
        level, method: of the interval.
        reason: why there is no interval, or no p.
    """

    term: str
    norm2: float
    norm2_bias: float | None
    norm2_corrected: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    se: float | None = None
    clustered_bias: float | None = None
    p_method: str = ""
    level: float = 0.95
    method: str = ""
    reason: str | None = None

    @property
    def estimate(self) -> Estimate:
        """The norm corrected for clusters, with its interval."""
        return Estimate(
            value=None if self.clustered_bias is None else self.norm2 - self.clustered_bias,
            low=self.low, high=self.high, level=self.level, method=self.method, n=self.n, reason=self.reason,
        )  # fmt: skip


@dataclass(frozen=True)
class TermEffect(Record):
    """Effect of a term, of a contrast or of a trend on one number: the projection on an axis, or log odds from counts.

    Attributes:
        term: the term, or the contrast in words.
        estimate: the effect; positive: toward A; 0: no difference.
        se: cluster-robust standard error.
        low, high: ends of the interval.
        p: two-sided, of no difference.
        n: occurrences of the target; of counts, contexts of A and B that hold the target.
        df: degrees of freedom.
        level, method: of the interval.
        reason: why there is no number, or no interval.
    """

    term: str
    estimate: float | None
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    df: float | None = None
    level: float = 0.95
    method: str = ""
    reason: str | None = None

    @property
    def interval(self) -> Estimate:
        """The effect with its interval."""
        return Estimate(
            value=self.estimate, low=self.low, high=self.high, level=self.level, method=self.method, n=self.n,
            reason=self.reason,
        )  # fmt: skip
