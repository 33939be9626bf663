"""Draws under no effect, against plain loops; and sizes of the tests where nothing differs."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.analyses.regress.norms import NormSettings, norm_table
from biasgauge.core import Floats
from biasgauge.stats import ClusteredRegression, fit_clustered, flipped_norms, permuted_norms


def clustered(seed: int, *, varying: bool, n_clusters: int = 15) -> tuple[ClusteredRegression, Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n_clusters), 3)
    rows = rng.normal(size=(3 * n_clusters if varying else n_clusters, 2))
    design = np.column_stack([np.ones(3 * n_clusters), rows if varying else rows[clusters]])
    counts = rng.integers(1, 9, len(design)).astype(float)
    sums = counts[:, None] * rng.normal(size=(n_clusters, 4))[clusters] + rng.normal(size=(len(design), 4))
    return fit_clustered(design, counts, sums, clusters), design, counts, sums


def test_flipped_signs_are_a_wild_bootstrap_with_the_null_imposed(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, design, counts, sums = clustered(0, varying=True)
    monkeypatch.setattr("biasgauge.stats.clustered_regression.NUMBERS", 40)
    norms = flipped_norms(fit, 20, 5)
    # The same signs by hand: outcomes are the restricted fit plus residuals with the sign of their cluster.
    signs = np.where(np.random.default_rng(5).random((15, 20)) < 0.5, -1.0, 1.0).T
    flips = signs[:, np.repeat(np.arange(15), 3)]
    root = np.sqrt(counts)[:, None]
    means = sums / counts[:, None]
    for column in range(3):
        others = np.delete(np.arange(3), column)
        restricted = np.linalg.lstsq(root * design[:, others], root * means, rcond=None)[0]
        fitted = design[:, others] @ restricted
        for draw in range(20):
            outcomes = fitted + flips[draw][:, None] * (means - fitted)
            coefficients = np.linalg.lstsq(root * design, root * outcomes, rcond=None)[0]
            assert norms[draw, column] == pytest.approx((coefficients[column] ** 2).sum())


def test_covariates_are_dealt_to_clusters_and_only_where_they_are_constant_there() -> None:
    fit, design, counts, sums = clustered(1, varying=False)
    norms = permuted_norms(fit, 10, 3)
    assert norms is not None
    generator = np.random.default_rng(3)
    for draw in range(10):
        dealt = design[::3][generator.permutation(15)].repeat(3, axis=0)
        root = np.sqrt(counts)[:, None]
        coefficients = np.linalg.lstsq(root * dealt, root * (sums / counts[:, None]), rcond=None)[0]
        np.testing.assert_allclose(norms[draw, 1:], (coefficients[1:] ** 2).sum(axis=1))
    assert permuted_norms(clustered(1, varying=True)[0], 10, 3) is None


@pytest.mark.calibration
@pytest.mark.parametrize("varying", [False, True])
def test_p_values_of_norms_keep_their_level(varying: bool) -> None:  # noqa: FBT001 - a parameter
    settings = NormSettings(0.95, 99, 0, named_clusters=True)
    p_values = []
    for seed in range(300):
        fit, _, _, _ = clustered(seed, varying=varying, n_clusters=20)
        squares = np.full(len(fit.counts), 100.0)
        p_values += [row.p for row in norm_table([fit], squares, ["one", "x", "y"], 1, settings)]
    share = np.mean(np.array(p_values) <= 0.05)
    assert 0.02 <= share <= 0.05 + 3 * (0.05 * 0.95 / len(p_values)) ** 0.5


@pytest.mark.calibration
@pytest.mark.parametrize("size", [0.0, 0.2, 2.0])
def test_corrected_norms_are_unbiased_and_their_intervals_cover(size: float) -> None:
    """Two groups of clusters of unequal size, with a random intercept for each cluster."""
    rng = np.random.default_rng(1)
    settings = NormSettings(0.95, 1, 0, named_clusters=True)
    n_clusters, dim, covers = 60, 40, []
    values: list[float] = []
    effect = np.zeros(dim)
    effect[:4] = np.sqrt(size / 4)
    for _ in range(200):
        counts, group = rng.integers(1, 10, n_clusters).astype(float), (np.arange(n_clusters) % 2).astype(float)
        means = group[:, None] * effect + rng.normal(size=(n_clusters, dim)) * 0.5
        sums = counts[:, None] * means + np.sqrt(counts)[:, None] * rng.normal(size=(n_clusters, dim))
        design = np.column_stack([np.ones(n_clusters), group])
        fit = fit_clustered(design, counts, sums, np.arange(n_clusters))
        (row,) = norm_table([fit], np.full(n_clusters, 1e3), ["one", "group"], 1, settings)
        covers.append(row.low is not None and row.high is not None and row.low <= size <= row.high)
        assert row.norm2_corrected is not None
        values.append(row.norm2_corrected)
    assert np.mean(covers) >= 0.93
    assert abs(np.mean(values) - size) < 4 * np.std(values) / len(values) ** 0.5 + 0.02
