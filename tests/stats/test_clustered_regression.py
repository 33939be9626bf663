"""Cluster-robust least squares, against dense matrices over single observations, statsmodels, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import block_diag, fractional_matrix_power

from biasgauge.core import Floats, Integers
from biasgauge.errors import ParameterError
from biasgauge.stats import ClusteredRegression, fit_clustered


def observations(seed: int, *, outcomes: int = 1) -> tuple[Floats, Floats, Integers, Integers]:
    """Design, outcomes, clusters and rows of single observations; a row shares its design."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    by_row = np.column_stack([np.ones(12), rng.normal(size=12), np.arange(12) % 2])
    clusters = (np.arange(12) // 2)[rows]
    return by_row[rows], rng.normal(size=(len(rows), outcomes)) + rng.normal(size=6)[clusters, None], clusters, rows


def fit_rows(design: Floats, outcomes: Floats, clusters: Integers, rows: Integers) -> ClusteredRegression:
    """The fit of sums by row, in a shuffled order."""
    order = np.random.default_rng(0).permutation(12)
    first = np.array([np.flatnonzero(rows == row)[0] for row in order])
    sums = np.array([outcomes[rows == row].sum(axis=0) for row in order])
    return fit_clustered(design[first], np.bincount(rows)[order].astype(float), sums, clusters[first])


def dense_cr2(design: Floats, outcome: Floats, clusters: Integers, weights: Floats) -> tuple[float, float]:
    """Variance and degrees of freedom by their definitions, with matrices over all observations."""
    inverse = np.linalg.inv(design.T @ design)
    residual_maker = np.eye(len(design)) - design @ inverse @ design.T
    blocks = [
        fractional_matrix_power(residual_maker[np.ix_(clusters == g, clusters == g)], -0.5).real
        for g in np.unique(clusters)
    ]
    adjusted = block_diag(*blocks)
    residuals = residual_maker @ outcome
    parts = [
        weights @ inverse @ design[clusters == g].T @ (adjusted @ residuals)[clusters == g] for g in np.unique(clusters)
    ]
    columns = np.array(
        [
            (residual_maker[:, clusters == g] @ blocks[number]) @ design[clusters == g] @ inverse @ weights
            for number, g in enumerate(np.unique(clusters))
        ]
    )
    gram = columns @ columns.T
    return float(np.sum(np.square(parts))), float(np.trace(gram) ** 2 / (gram**2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_variance_and_freedom_are_those_of_the_definition_over_single_observations(seed: int) -> None:
    design, outcomes, clusters, rows = observations(seed)
    fit = fit_rows(design, outcomes, clusters, rows)
    for weights in (*np.eye(3), np.array([1.0, 0.5, -1.0])):
        variance, freedom = dense_cr2(design, outcomes[:, 0], clusters, weights)
        assert fit.variance(weights) == pytest.approx(variance, rel=1e-9)
        assert fit.freedom(weights) == pytest.approx(freedom, rel=1e-9)


def test_coefficients_and_plain_scores_are_those_of_statsmodels() -> None:
    design, outcomes, clusters, rows = observations(1, outcomes=3)
    fit = fit_rows(design, outcomes, clusters, rows)
    scores = np.concatenate([block for _, block in fit.score_blocks()])
    for outcome in range(3):
        peer = sm.OLS(outcomes[:, outcome], design).fit(
            cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
        )
        np.testing.assert_allclose(fit.coefficients[:, outcome], peer.params)
        meat = scores[:, :, outcome].T @ scores[:, :, outcome]
        np.testing.assert_allclose(fit.back @ meat @ fit.back.T, peer.cov_params())
        weights = np.array([0.0, 1.0, 2.0])
        assert fit.plain_variance(weights, outcome) == pytest.approx(weights @ peer.cov_params() @ weights)


def test_coefficients_without_a_cluster_are_those_of_a_fit_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.stats.clustered_regression.NUMBERS", 20)  # a few clusters a block
    design, outcomes, clusters, rows = observations(2, outcomes=2)
    fit = fit_rows(design, outcomes, clusters, rows)
    changes = np.concatenate([block for _, block in fit.left_out_changes()])
    for number, cluster in enumerate(np.unique(clusters)):
        inside = clusters != cluster
        expected = np.linalg.lstsq(design[inside], outcomes[inside], rcond=None)[0]
        np.testing.assert_allclose(fit.coefficients + changes[number], expected, atol=1e-10)
    weights = np.array([0.0, 1.0, -1.0])
    jackknife = 5 / 6 * ((changes[:, :, 1] @ weights) ** 2).sum()
    assert fit.variance(weights, 1, jackknife=True) == pytest.approx(jackknife)
    assert fit.variance(weights, 1) < jackknife
    assert fit.estimate(weights, outcome=1, jackknife=True)[0].method == "t, jackknife over clusters"


def test_a_coefficient_that_one_cluster_alone_tells_has_no_error() -> None:
    design = np.column_stack([np.ones(6), [1.0, 1, 0, 0, 0, 0]])
    fit = fit_clustered(design, np.ones(6), np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 3]))
    assert fit.alone.tolist() == [False, True]
    estimate, p = fit.estimate(np.array([0.0, 1.0]))
    assert estimate.value == pytest.approx(0.5 - 3.5)
    assert (estimate.low, p) == (None, None)
    assert "a single cluster" in str(estimate.reason)
    assert fit.estimate(np.array([1.0, 0.0]))[1] is not None


def test_dependent_columns_are_refused_and_a_year_is_not_one() -> None:
    with pytest.raises(ParameterError, match="linearly dependent"):
        fit_clustered(np.ones((4, 2)), np.ones(4), np.ones((4, 1)), np.arange(4))
    years = np.arange(2000.0, 2020)
    fit = fit_clustered(np.column_stack([np.ones(20), years]), np.ones(20), (3 * years)[:, None] + 1, np.arange(20))
    assert fit.coefficients[1, 0] == pytest.approx(3)


@pytest.mark.calibration
@pytest.mark.parametrize("n_clusters", [6, 30])
def test_intervals_cover_with_few_clusters(n_clusters: int) -> None:
    """Clusters of unequal size with a random intercept; the covariate is constant within clusters."""
    rng = np.random.default_rng(3)
    covers = []
    for _ in range(1000):
        sizes = rng.integers(1, 40, n_clusters).astype(float)
        covariate = (np.arange(n_clusters) % 2).astype(float)
        means = rng.normal(size=n_clusters) + rng.normal(size=n_clusters) / np.sqrt(sizes)
        design = np.column_stack([np.ones(n_clusters), covariate])
        fit = fit_clustered(design, sizes, (means * sizes)[:, None], np.arange(n_clusters))
        estimate, _ = fit.estimate(np.array([0.0, 1.0]))
        covers.append(estimate.low <= 0 <= estimate.high)  # type: ignore[operator]
    assert 0.925 <= np.mean(covers) <= 0.985


def test_years_with_their_squares_and_cubes_have_the_errors_of_centered_ones() -> None:
    rng = np.random.default_rng(4)
    clusters = np.arange(60) // 3
    years = rng.integers(2000, 2016, 60).astype(float)
    outcomes = rng.normal(size=(60, 2)) + rng.normal(size=20)[clusters, None]
    fits = []
    for shift in (2008.0, 0.0):
        powers = (years - shift)[:, None] ** np.arange(4)
        weights: Floats = (2010.0 - shift) ** np.arange(4.0)
        fits.append((fit_clustered(powers, np.ones(60), outcomes, clusters), weights))
    (centered, weights), (raw, raw_weights) = fits
    for jackknife in (False, True):
        expected, p = centered.estimate(weights, jackknife=jackknife)
        estimate, raw_p = raw.estimate(raw_weights, jackknife=jackknife)
        assert (estimate.value, estimate.low, raw_p) == pytest.approx((expected.value, expected.low, p), rel=1e-5)
    cubes = np.eye(4)[3]
    assert raw.freedom(cubes) == pytest.approx(centered.freedom(cubes), rel=1e-5)
    assert raw.variance(cubes) == pytest.approx(centered.variance(cubes), rel=1e-5)


@pytest.mark.parametrize("rows_each", [1, 2, 5])
def test_leverages_are_the_eigenvalues_of_the_cross_products_however_large_the_clusters(rows_each: int) -> None:
    rng = np.random.default_rng(rows_each)
    clusters = np.sort(np.append(rng.permutation(np.repeat(np.arange(9), rows_each)), 0))[: 9 * rows_each]
    design, counts = rng.normal(size=(len(clusters), 4)), rng.integers(1, 5, len(clusters)).astype(float)
    fit = fit_clustered(design, counts, rng.normal(size=(len(clusters), 1)), clusters)
    values, directions = fit.leverages
    root = np.linalg.cholesky(np.linalg.inv((design * counts[:, None]).T @ design))  # R⁻¹ but for a rotation
    for number, cluster in enumerate(np.unique(clusters)):
        inside = clusters == cluster
        cross = (design[inside] * counts[inside, None]).T @ design[inside]
        expected = np.linalg.eigvalsh(root.T @ cross @ root)
        np.testing.assert_allclose(np.sort(values[number]), expected[-len(values[number]) :], atol=1e-9)
        again = fit.back.T @ cross @ fit.back
        np.testing.assert_allclose((directions[number].T * values[number]) @ directions[number], again, atol=1e-9)


def test_more_coefficients_than_can_be_computed_are_refused() -> None:
    design = np.ones((2**13, 129))
    with pytest.raises(ParameterError, match="129 coefficients over 8,192 clusters are too many"):
        fit_clustered(design, np.ones(2**13), np.ones((2**13, 1)), np.arange(2**13))
