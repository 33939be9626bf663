"""Squared norms of coefficients: bias correction, jackknife over clusters, permutation and sign-flipping tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.regress.rows import TermNorm
from biasgauge.core import Floats
from biasgauge.stats import ClusteredRegression, monte_carlo_p, on_one_thread, student_quantile


@dataclass(frozen=True)
class NormSettings:
    """Settings of the table of norms.

    Attributes:
        level: nominal coverage of the intervals.
        permutations: draws of the test.
        random_state: seed of the draws.
        named_clusters: whether the user named a cluster column, so that the printed bias is clustered as well.
    """

    level: float
    permutations: int
    random_state: int
    named_clusters: bool


def squared_norms(fit: ClusteredRegression) -> Floats:
    """Squared Euclidean norm of each coefficient."""
    norms: Floats = (fit.coefficients**2).sum(axis=1)
    return norms


def occurrence_bias(fit: ClusteredRegression, squares: Floats) -> Floats:
    """Bias of the squared norms with occurrences independent: traces of the HC1 covariances of the coefficients.

    The trace over dimensions is Σ_i a_ij² |e_i|² · n / (n − k), with a_i = (X'X)⁻¹ x_i; and of the residuals e_i of the
    occurrences of a row, only Σ |v_i|² − 2 f'Σ v_i + m |f|² is needed, with f the fitted embedding.

    Args:
        fit: the regression.
        squares: sum of squared lengths of the embeddings of each row, in the order of the fit.
    """
    bias = np.zeros(fit.design.shape[1])
    for _, rows in fit.blocks(fit.coefficients.shape[1]):
        fitted = fit.design[rows] @ fit.coefficients
        crossed = np.einsum("rd,rd->r", fitted, fit.row_sums(rows))
        residual_squares = squares[rows] - 2 * crossed + fit.counts[rows] * (fitted**2).sum(axis=1)
        bias += ((fit.design[rows] @ fit.inverse) ** 2 * residual_squares[:, None]).sum(axis=0)
    n, k = fit.counts.sum(), fit.design.shape[1]
    corrected: Floats = bias * (n / max(n - k, 1))
    return corrected


def clustered_bias(fit: ClusteredRegression) -> Floats:
    """Bias of the squared norms with clusters independent: traces of the CR2 covariances of the coefficients."""
    total = np.zeros(len(fit.coefficients))
    for _, block in fit.influences():
        total += (block**2).sum(axis=(0, 2))
    return total


def jackknife_errors(fit: ClusteredRegression) -> Floats:
    """Standard errors of the squared norms by leaving out each cluster; NaN where one cluster alone tells a term."""
    left_out = np.concatenate([((fit.coefficients + change) ** 2).sum(axis=2) for _, change in fit.left_out_changes()])
    usable = ~np.isnan(left_out).any(axis=1)
    values, n_clusters = left_out[usable], int(usable.sum())
    if n_clusters < 2:
        return np.full(len(fit.coefficients), np.nan)
    deviations = values - values.mean(axis=0)
    errors: Floats = np.sqrt((n_clusters - 1) / n_clusters * (deviations**2).sum(axis=0))
    return np.where(fit.alone, np.nan, errors)


def permuted_norms(fit: ClusteredRegression, draws: int, random_state: int) -> Floats | None:
    """Squared norms after the covariates were dealt anew to the clusters, draws × columns.

    None where covariates vary within clusters, so that they cannot be dealt to them.
    """
    first = fit.design[fit.starts[:-1]]
    sizes = np.diff(fit.starts)
    if np.abs(fit.design - np.repeat(first, sizes, axis=0)).max() > 1e-12 * np.abs(first).max():
        return None
    counts = np.add.reduceat(fit.counts, fit.starts[:-1])
    sums = fit.cluster_sums()
    centered = sums - counts[:, None] * (sums.sum(axis=0) / counts.sum())  # the mean is no difference
    generator = np.random.default_rng(random_state)
    norms = np.full((draws, first.shape[1]), np.nan)
    scale = np.abs(first).max(axis=0)
    design = first / scale
    for draw in range(draws):
        dealt = design[generator.permutation(len(design))]
        cross = (dealt * counts[:, None]).T @ dealt
        if np.linalg.matrix_rank(cross) == len(cross):
            norms[draw] = (np.linalg.solve(cross, dealt.T @ centered) ** 2).sum(axis=1) / scale**2
    return norms


def flipped_norms(fit: ClusteredRegression, draws: int, random_state: int) -> Floats:
    """Squared norms with random signs of the scores of clusters, each under no effect of its column, draws × columns.

    With x the column less its fit by the others, and residuals r of the fit without it, a coefficient is
    Σ_g x_g'r_g / x'x: without an effect the signs of its terms are as likely either way (wild bootstrap with the null
    imposed; Cameron, Gelbach & Miller 2008). As x = X M_j / M_jj, and r are the residuals plus x b_j, the term of a
    cluster is (M s_g)_j + (M P_g M)_jj b_j / M_jj.
    """
    shares = np.einsum("jk,gkl,lj->gj", fit.inverse, fit.cross_products, fit.inverse) / np.diag(fit.inverse)
    generator = np.random.default_rng(random_state)
    n_columns, n_outcomes = fit.coefficients.shape
    totals = np.zeros((draws, n_columns * n_outcomes))
    with on_one_thread():
        for clusters, scores in fit.score_blocks():
            terms = fit.inverse @ scores + shares[clusters, :, None] * fit.coefficients
            signs = np.where(generator.random((len(terms), draws)) < 0.5, -1.0, 1.0)  # by cluster, whatever the block
            totals += signs.T @ terms.reshape(len(terms), -1)
    norms: Floats = (totals.reshape(draws, n_columns, n_outcomes) ** 2).sum(axis=2)
    return norms


def norm_table(
    fits: Sequence[ClusteredRegression], squares: Floats, columns: Sequence[str], skip: int, settings: NormSettings
) -> tuple[TermNorm, ...]:
    """Rows of the table of norms.

    Args:
        fits: the same fit over every way in which occurrences cluster: documents or authors, and of a list of targets
            its words; of several, the most careful bias, error and p are taken.
        squares: sums of squared lengths of the embeddings, in the order of rows as they were given.
        columns: names of the columns of the design.
        skip: columns at the start that are no terms: the intercept.
        settings: of the table.
    """
    norms = squared_norms(fits[0])
    plain = occurrence_bias(fits[0], squares[fits[0].order])
    clustered = np.max([clustered_bias(fit) for fit in fits], axis=0)
    errors = np.max([jackknife_errors(fit) for fit in fits], axis=0)
    permuted = permuted_norms(fits[0], settings.permutations, settings.random_state) if len(fits) == 1 else None
    if permuted is not None:
        method, draws = "permutation of covariates over clusters", [permuted]
    else:
        method = "random signs of clusters"
        draws = [flipped_norms(fit, settings.permutations, settings.random_state) for fit in fits]
    p_values = np.max([monte_carlo_p(norms, [values]) for values in draws], axis=0)
    bias = clustered if settings.named_clusters or len(fits) > 1 else plain
    smallest = min(fit.n_clusters for fit in fits)
    rows = []
    for column, term in list(enumerate(columns))[skip:]:
        margin = student_quantile(max(smallest - 1, 1), settings.level) * errors[column]
        center = norms[column] - clustered[column]
        alone = any(fit.alone[column] for fit in fits) or not np.isfinite(margin)
        rows.append(TermNorm(
            term=term, norm2=float(norms[column]), norm2_bias=float(bias[column]),
            norm2_corrected=float(norms[column] - bias[column]),
            low=None if alone else float(max(center - margin, 0.0)),
            high=None if alone else float(max(center + margin, 0.0)),
            p=None if alone else float(p_values[column]),
            n=int(fits[0].counts.sum()), se=None if alone else float(errors[column]),
            clustered_bias=float(clustered[column]), p_method=method, level=settings.level,
            method="jackknife over clusters",
            reason="one cluster alone tells this coefficient, so that its error is unknown" if alone else None,
        ))  # fmt: skip
    return tuple(rows)
