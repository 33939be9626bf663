"""Means over clusters and replicates: against leaving out by hand, textbooks, and by how often intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from biasgauge.errors import ParameterError
from biasgauge.stats import clustered_mean, clustered_means

WRITERS = (
    [1] * 20 + [2] * 5 + [3] * 8 + [4, 4, 6, 6, 6, 6, 8, 8, 9, 9, 9, 10, 11, 13, 14, 16, 18, 19, 20, 20, 21, 22, 23]
)
WRITERS += [23, 23, 24, 25, 27, 27, 27, 31, 35, 43, 45, 54, 55, 68, 73, 78, 88, 90, 101, 105, 130]
"""How many pairs each of the 77 writers of CrowS-Pairs has."""


def test_clusters_of_one_size_give_students_interval_of_their_means() -> None:
    values = np.random.default_rng(1).standard_normal((12, 7))
    estimate = clustered_mean(values.ravel(), np.repeat(np.arange(12), 7))
    expected = ttest_1samp(values.mean(axis=1), 0).confidence_interval()
    assert estimate.value == pytest.approx(values.mean())
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert (estimate.n, estimate.k, estimate.over) == (84, 12, "clusters")


def test_clusters_of_any_size_against_leaving_out_by_hand() -> None:
    random = np.random.default_rng(2)
    labels = random.choice(list("abcdef"), 60)
    values = random.standard_normal(60)
    values[3] = np.nan
    means = clustered_means(*_totals(values[None, None], labels))
    kept = ~np.isnan(values)
    left_out = [values[kept & (labels != label)].mean() for label in np.unique(labels)]
    whole = values[kept].mean()
    expected = sum((value - whole) ** 2 for value in left_out) * 5 / 6
    assert means.values[0] == pytest.approx(whole)
    assert means.covariance[0, 0] == pytest.approx(expected)
    sizes = np.array([(labels[kept] == label).sum() for label in np.unique(labels)]) / kept.sum()
    assert means.df[0] == pytest.approx(1 / (sizes**2).sum() - 1)


@pytest.mark.parametrize("items", [1, 3])
def test_two_ways_of_a_balanced_layout_against_expected_mean_squares(items: int) -> None:
    """Clusters by replicates, all items of a cell alike: what the expected mean squares of the two-way table say."""
    random = np.random.default_rng(3)
    table = random.standard_normal((8, 1)) * 2 + random.standard_normal((1, 30)) + 0.5 * random.standard_normal((8, 30))
    replicates, clusters = table.shape
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    square = {
        "r": clusters * table.mean(axis=1).var(ddof=1),
        "c": replicates * table.mean(axis=0).var(ddof=1),
        "e": (rest**2).sum() / ((replicates - 1) * (clusters - 1)),
    }
    expected = (square["r"] + square["c"] - square["e"]) / (replicates * clusters)
    means = clustered_means(items * table[None], np.full((1, replicates, clusters), items))
    assert means.covariance[0, 0] == pytest.approx(expected)
    assert means.estimate().over == "clusters and replicates"


def test_undefined_with_reasons() -> None:
    assert clustered_mean([np.nan, np.nan], ["a", "b"]).reason == "no item has a value"
    assert clustered_mean([1.0, 2.0], ["a", "a"]).reason == "there are fewer than two clusters"
    assert clustered_mean([1.0, 1.0], ["a", "b"], unit="targets").reason == "all targets have the same value"
    assert clustered_mean([0.0, 1.0, 1.0], ["a", "b", "c"], bounds=(0, 1)).high == 1.0
    with pytest.raises(ParameterError, match="needs a cluster"):
        clustered_mean([1.0, 2.0], ["a"])
    with pytest.raises(ParameterError, match="replicates × clusters"):
        clustered_means(np.ones(3), np.ones(3))
    with pytest.raises(ParameterError, match="must be finite"):
        clustered_means(np.full((1, 1, 2), np.nan), np.ones((1, 1, 2)))


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("sizes", "spread"),
    [([27] * 79, 0.0), ([27] * 79, 0.12), (WRITERS, 0.12), (WRITERS, 0.0)],
    ids=["targets alike", "targets differ", "writers differ", "writers alike"],
)
def test_shares_over_clusters_are_covered(sizes: list[int], spread: float) -> None:
    """95 ± 2 %; where clusters differ, Wilson's interval of independent items covers far less."""
    random, truth, runs = np.random.default_rng(4), 0.6, 1_000
    labels = np.repeat(np.arange(len(sizes)), sizes)
    hits, independent = 0, 0
    for _ in range(runs):
        chance = np.clip(truth + random.uniform(-1, 1, len(sizes)) * spread * 3**0.5, 0, 1)
        wins = (random.random(len(labels)) < chance[labels]).astype(float)
        estimate = clustered_mean(wins, labels, bounds=(0, 1))
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
        independent += abs(wins.mean() - truth) < 1.96 * (truth * (1 - truth) / len(wins)) ** 0.5
    assert 0.93 <= hits / runs <= 0.985
    if spread:
        assert independent / runs < 0.9


@pytest.mark.calibration
@pytest.mark.parametrize("seed_spread", [0.0, 0.05])
def test_items_by_seeds_are_covered(seed_spread: float) -> None:
    """Ten seeds × 79 clusters of 27 items, where seeds, clusters and their interaction all move the share."""
    random, truth, runs = np.random.default_rng(5), 0.6, 1_000
    hits = items_alone = 0
    for _ in range(runs):
        chance = truth + 0.1 * random.standard_normal((1, 79)) + seed_spread * random.standard_normal((10, 1))
        chance = chance + 0.05 * random.standard_normal((10, 79))
        shares = random.binomial(27, np.clip(chance, 0, 1)) / 27
        estimate = clustered_means(shares[None], np.ones((1, 10, 79))).estimate()
        alone = clustered_means(shares.mean(axis=0)[None, None], np.ones((1, 1, 79))).estimate()
        hits += (estimate.low or 0) <= truth <= (estimate.high or 0)
        items_alone += (alone.low or 0) <= truth <= (alone.high or 0)
    assert 0.93 <= hits / runs <= 0.975
    if seed_spread:
        assert items_alone / runs < 0.85  # clusters alone say nothing about other seeds


def _totals(values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from biasgauge.stats.clusters import cluster_totals

    return cluster_totals(values, labels)
