"""`RegressionModel`: occurrences of targets, their documents' design, and the fits that every reading starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.regress.formulas import Design
from biasgauge.analyses.regress.rows import TermEffect
from biasgauge.core import Floats, Integers
from biasgauge.stats import ClusteredRegression, effect_over_ways, fit_clustered

if TYPE_CHECKING:
    from biasgauge.analyses.regress.contexts import ContextReader
    from biasgauge.analyses.regress.occurrences import Occurrences
    from biasgauge.analyses.regress.transform import Transform
    from biasgauge.core import VectorsLike


CELLS = 2**13
"""Cells in double precision at a time."""


@dataclass(frozen=True, eq=False)
class RegressionModel:
    """Everything that a regression is computed from.

    Attributes:
        reader: reads the contexts of the text.
        vectors: the pre-trained vectors, as they were given.
        transform: the transformation.
        occurrences: of the targets, in documents whose covariates are complete.
        documents: numbers of these documents, and a row for each in `design`.
        design: their design.
        clusters: the cluster of each of these documents.
        ids: names of all documents of the text.
        is_sample: whether the targets are a sample of words, each with an intercept of its own.
        complete: documents of the whole text whose covariates are complete, with or without a target.
        complete_design: a row of the design for each of them.
        complete_clusters: the cluster of each of them.
    """

    reader: ContextReader
    vectors: VectorsLike
    transform: Transform
    occurrences: Occurrences
    documents: Integers
    design: Design
    clusters: Integers
    ids: tuple[str, ...]
    is_sample: bool
    complete: Integers
    complete_design: Floats
    complete_clusters: Integers

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the fits: of a sample of words those without the intercept."""
        return self.design.terms if self.is_sample else self.design.columns

    @cached_property
    def cell_rows(self) -> Integers:
        """Row of the design of each cell."""
        return np.searchsorted(self.documents, self.occurrences.documents)

    def fits(self, outcomes: Floats | None = None) -> tuple[ClusteredRegression, ...]:
        """Fit the embeddings, or other sums of each cell, over each way in which occurrences cluster.

        Of one target, over documents or what they cluster in; of a sample of words also over the words and over words
        within clusters, whose variances are needed for errors over both.
        """
        sums = self.occurrences.sums if outcomes is None else outcomes
        counts = self.occurrences.counts.astype(np.float64)
        design, clusters = self.design.matrix[self.cell_rows], self.clusters[self.cell_rows]
        if not self.is_sample:
            return (fit_clustered(design, counts, sums, clusters),)
        words = self.occurrences.words
        # An intercept for each word: design and outcomes are centered within words.
        design = design[:, 1:] - self._word_means(design[:, 1:] * counts[:, None])[words]
        centers = self._word_means(sums)
        both = np.unique(clusters * len(self.occurrences.targets) + words, return_inverse=True)[1]
        ways = (clusters, words, both)
        return tuple(fit_clustered(design, counts, sums, way, centers=centers, groups=words) for way in ways)

    def _word_means(self, sums: Floats) -> Floats:
        """Mean per occurrence of each target word, of sums by cell."""
        n_words = len(self.occurrences.targets)
        total = np.zeros((n_words, sums.shape[1]))
        for first in range(0, len(sums), CELLS):
            cells = slice(first, first + CELLS)
            words = self.occurrences.words[cells]
            order = np.argsort(words, kind="stable")
            present, starts = np.unique(words[order], return_index=True)
            total[present] += np.add.reduceat(sums[cells][order], starts, axis=0)
        counts = np.bincount(self.occurrences.words, self.occurrences.counts, minlength=n_words)
        means: Floats = total / np.maximum(counts, 1)[:, None]
        return means

    @cached_property
    def embedding_fits(self) -> tuple[ClusteredRegression, ...]:
        """Fits of the embeddings."""
        return self.fits()

    @cached_property
    def coefficients(self) -> Floats:
        """Coefficients, columns of the design × dimensions; of a sample of words the intercept is that of its mean."""
        return self.with_intercept(self.embedding_fits[0].coefficients, self.occurrences.sums)

    def with_intercept(self, coefficients: Floats, sums: Floats) -> Floats:
        """Return coefficients of all columns of the design."""
        if not self.is_sample:
            return coefficients
        counts = self.occurrences.counts.astype(np.float64)
        design = counts @ self.design.matrix[self.cell_rows] / counts.sum()
        intercept = sums.sum(axis=0, dtype=np.float64) / counts.sum() - design[1:] @ coefficients
        return np.insert(coefficients, 0, intercept, axis=0)

    def weights(self, row: Floats) -> Floats | None:
        """Weights of the coefficients of the fits for a row of the design, or a difference of rows.

        None for a level of a sample of words, which depends on its words.
        """
        if not self.is_sample:
            return row
        return None if abs(row[0]) > 0 else row[1:]


def describe_values(values: Mapping[str, Any]) -> str:
    """Name chosen values of covariates: "party = R, year = 2000"."""
    return ", ".join(f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
                     for name, value in values.items()) or "all occurrences"  # fmt: skip


def combined_effect(
    term: str, fits: Sequence[ClusteredRegression], weights: Floats, level: float, n: int, *, jackknife: bool = False
) -> TermEffect:
    """Row of a linear combination of coefficients of one outcome, with an error over all ways of clustering."""
    effect = effect_over_ways(fits, weights, level, jackknife=jackknife)
    estimate = effect.estimate
    return TermEffect(
        term=term, estimate=estimate.value, se=effect.se, low=estimate.low, high=estimate.high, p=effect.p, n=n,
        df=effect.df, level=level, method=estimate.method, reason=estimate.reason,
    )  # fmt: skip
