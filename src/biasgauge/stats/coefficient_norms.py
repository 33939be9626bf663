"""Squared norms of coefficients of many outcomes: bias, jackknife over clusters, permutation and sign-flipping tests.

The squared Euclidean norm of a coefficient says how much its column moves all outcomes together. Sampling error alone
makes it larger than 0, in the mean by the trace of the covariance of the coefficient (Green et al. 2025).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.core import Estimate, Floats
from biasgauge.stats.clustered_regression import ONE_CLUSTER, ClusteredRegression
from biasgauge.stats.numerics import on_one_thread, student_quantile


def squared_norms(fit: ClusteredRegression) -> Floats:
    """Squared Euclidean norm of each coefficient."""
    norms: Floats = (fit.coefficients**2).sum(axis=1)
    return norms


def observation_bias(fit: ClusteredRegression, squares: Floats) -> Floats:
    """Bias of the squared norms with observations independent: traces of the HC1 covariances of the coefficients.

    The trace over outcomes is Σ_i a_ij² |e_i|² · n / (n − k), with a_i = (X'X)⁻¹ x_i; and of the residuals e_i of the
    observations of a row, only Σ |v_i|² − 2 f'Σ v_i + m |f|² is needed, with f the fitted outcomes. NaN with no more
    observations than coefficients.

    Args:
        fit: the regression.
        squares: sum of squared lengths of the outcomes of the observations of each row, in the order of the fit.
    """
    bias = np.zeros(len(fit.back))
    for _, rows in fit.blocks(fit.sums.shape[1]):
        fitted = fit.basis[rows] @ fit.basis_coefficients
        crossed = np.einsum("rd,rd->r", fitted, fit.row_sums(rows))
        residual_squares = squares[rows] - 2 * crossed + fit.counts[rows] * (fitted**2).sum(axis=1)
        bias += ((fit.basis[rows] @ fit.back.T) ** 2 * residual_squares[:, None]).sum(axis=0)
    n, k = fit.counts.sum(), len(fit.back)
    return bias * (n / (n - k)) if n > k else np.full_like(bias, np.nan)


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
    basis = fit.basis[fit.starts[:-1]]
    if np.abs(fit.basis - np.repeat(basis, np.diff(fit.starts), axis=0)).max() > 1e-6 * np.abs(basis).max():
        return None
    counts = np.add.reduceat(fit.counts, fit.starts[:-1])
    sums = fit.cluster_sums()
    centered = sums - counts[:, None] * (sums.sum(axis=0) / counts.sum())  # the mean is no difference
    generator = np.random.default_rng(random_state)
    norms = np.full((draws, len(fit.back)), np.nan)
    for draw in range(draws):
        dealt = basis[generator.permutation(len(basis))]
        cross = (dealt * counts[:, None]).T @ dealt
        if np.linalg.matrix_rank(cross) == len(cross):
            norms[draw] = ((fit.back @ np.linalg.solve(cross, dealt.T @ centered)) ** 2).sum(axis=1)
    return norms


def flipped_norms(fit: ClusteredRegression, draws: int, random_state: int) -> Floats:
    """Squared norms with random signs of the scores of clusters, each under no effect of its column, draws × columns.

    With x the column less its fit by the others, and residuals r of the fit without it, a coefficient is
    Σ_g x_g'r_g / x'x: without an effect the signs of its terms are as likely either way (wild bootstrap with the null
    imposed; Cameron, Gelbach & Miller 2008). With M = (X'X)⁻¹ = R⁻¹R⁻¹', x = X M_j / M_jj, and r are the residuals plus
    x b_j, so that the term of a cluster is (R⁻¹ s_g)_j + (R⁻¹ P_g R⁻¹')_jj b_j / M_jj.
    """
    leverages, directions = fit.leverages
    shares = np.einsum("gi,gij->gj", leverages, (directions @ fit.back.T) ** 2) / (fit.back**2).sum(axis=1)
    generator = np.random.default_rng(random_state)
    n_columns, n_outcomes = fit.coefficients.shape
    totals = np.zeros((draws, n_columns * n_outcomes))
    with on_one_thread():
        for clusters, scores in fit.score_blocks():
            terms = fit.back @ scores + shares[clusters, :, None] * fit.coefficients
            signs = np.where(generator.random((len(terms), draws)) < 0.5, -1.0, 1.0)  # by cluster, whatever the block
            totals += signs.T @ terms.reshape(len(terms), -1)
    norms: Floats = (totals.reshape(draws, n_columns, n_outcomes) ** 2).sum(axis=2)
    return norms


def corrected_norms(fits: Sequence[ClusteredRegression], level: float) -> list[Estimate]:
    """Squared norms corrected for their clustered bias, with jackknife intervals over clusters.

    Where there is no difference they are as often below 0 as above, and their intervals hold 0.

    Args:
        fits: the same fit over every way in which rows cluster; of several, the largest bias and error are taken, and
            the fewest clusters.
        level: nominal coverage of the intervals.
    """
    values = squared_norms(fits[0]) - np.max([clustered_bias(fit) for fit in fits], axis=0)
    errors = np.max([jackknife_errors(fit) for fit in fits], axis=0)
    quantile = student_quantile(max(min(fit.n_clusters for fit in fits) - 1, 1), level)
    n, method = int(fits[0].counts.sum()), "jackknife over clusters"
    estimates = []
    for value, error in zip(values.tolist(), errors.tolist(), strict=True):
        if not np.isfinite(error):
            estimates.append(Estimate(value=None, n=n, level=level, reason=ONE_CLUSTER))
            continue
        estimates.append(Estimate.symmetric(value, quantile * error, n=n, level=level, method=method))
    return estimates
