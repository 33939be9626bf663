"""Shares, means and kappas against other libraries and textbook values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from biasgauge.analyses.robustness.agreements import DirectionComparison, directions
from biasgauge.analyses.robustness.base_pairs import change_shares, over_pairs
from biasgauge.stats import mean_kappa, mean_share, share_of_words
from biasgauge.stats.kappas import kappas
from biasgauge.stats.shares import NO_WORDS

DIRECTIONS = arrays(np.float64, (2, 30), elements=st.sampled_from([-1.0, 0.0, 1.0]))


@given(DIRECTIONS)
def test_kappas_from_counts_are_those_of_scikit_learn(both: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    table = np.zeros(9)
    for one, other in both.T.tolist():
        table[int(3 * (one + 1) + other + 1)] += 1
    found = kappas(table)
    if len(np.unique(both)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(cohen_kappa_score(*both.astype(int)))


@given(DIRECTIONS)
def test_a_row_has_the_kappa_of_scikit_learn_and_names_the_words(
    both: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    words = tuple(f"w{number}" for number in range(30))
    comparison = DirectionComparison("between_measures", "a", "b", (("he", "she"),), words, both[:1], both[1:], {})
    (row,) = comparison.rows(0.95)
    assert set(row.flipped) == {w for w, one, other in zip(words, *both.tolist(), strict=True) if one * other == -1}
    assert set(row.undirected) == {w for w, one, other in zip(words, *both.tolist(), strict=True) if one * other == 0}
    assert row.same.value == np.mean(both[0] == both[1])
    if len(np.unique(both)) == 1:
        assert row.kappa.value is None
        assert row.to_dict()["reason"].startswith("all ratings fall into one category")
    else:
        assert row.kappa.value == pytest.approx(cohen_kappa_score(*both.astype(int)))


def test_exactly_zero_has_no_direction_and_is_male_as_published() -> None:
    scores = np.array([0.3, 0.0, -0.0, -0.2, np.nan], np.float32)
    np.testing.assert_array_equal(directions(scores), [1, 0, 0, -1, np.nan])
    np.testing.assert_array_equal(directions(scores, as_published=True), [1, 1, 1, -1, np.nan])


def test_fleiss_is_that_of_statsmodels_and_shares_are_counted() -> None:
    random = np.random.default_rng(5)
    scores = random.normal(size=(6, 1)) * 0.3 + random.normal(size=(6, 80)) + random.normal(size=80)
    found = over_pairs("dbwa", scores, 1.5, 0.95, as_published=True)
    table, _ = aggregate_raters(np.sign(scores).T.astype(int))
    assert found.kappa.value == pytest.approx(fleiss_kappa(table))
    agreed = int(np.sum(np.abs(np.sign(scores).sum(axis=0)) == 6))
    assert found.unanimous.value == agreed / 80
    assert (found.unanimous.low, found.unanimous.high) == pytest.approx(proportion_confint(agreed, 80, method="wilson"))
    slow = np.mean([abs(a - b) >= 1.5 for word in scores.T for i, a in enumerate(word) for b in word[:i]])
    assert found.changed_by_one_sd.value == pytest.approx(slow)
    shown = found.to_dict()
    assert shown["magnitude_as_published"] == pytest.approx(1 - slow)
    assert shown["changed_by_one_sd"] == pytest.approx(slow)


def test_a_change_of_exactly_one_sd_counts() -> None:
    scores = np.array([[0.0, 0.0, 0.0], [0.5, 0.25, np.nan]])
    np.testing.assert_array_equal(change_shares(scores, 0.5), [1, 0])


def test_without_a_standard_deviation_the_magnitude_is_undefined() -> None:
    scores = np.array([[1.0, -1.0], [1.0, 1.0]])
    found = over_pairs("dbwa", scores, None, 0.95, as_published=False)
    assert found.changed_by_one_sd.value is None
    assert "standard deviation" in found.to_dict()["reason"]
    assert "magnitude_as_published" not in found.to_dict()


def test_lost_pairs_and_words_do_not_count() -> None:
    scores = np.array([[1, 1, -1, np.nan], [np.nan] * 4, [1, -1, -1, np.nan]])
    found = over_pairs("dbwa", scores, 1.0, 0.95, as_published=False)
    assert (found.kappa.n, found.kappa.k) == (3, 2)
    assert found.unanimous.value == 2 / 3


def test_mean_of_kappas_and_its_interval() -> None:
    random = np.random.default_rng(1)
    first = np.sign(random.normal(size=(4, 60)))
    second = first * np.where(random.random((4, 60)) < 0.2, -1, 1)
    expected = [cohen_kappa_score(*both) for both in zip(first.astype(int), second.astype(int), strict=True)]
    found = mean_kappa(first, second, 0.9, 500, 3)
    assert found.value == pytest.approx(np.mean(expected))
    assert (found.n, found.k) == (60, 4)
    random = np.random.default_rng(3)
    slow = []
    for weights in random.multinomial(60, np.full(60, 1 / 60), size=200):  # the first block of draws
        places = np.repeat(np.arange(60), weights)
        slow.append(np.mean([cohen_kappa_score(a[places], b[places]) for a, b in zip(first, second, strict=True)]))
    again = mean_kappa(first, second, 0.9, 200, 3)
    assert (again.low, again.high) == pytest.approx(tuple(np.quantile(slow, [0.05, 0.95])))
    assert found == mean_kappa(first, second, 0.9, 500, 3)
    assert found != mean_kappa(first, second, 0.9, 500, 4)


def test_pairs_without_a_kappa_are_left_out_of_the_mean() -> None:
    first = np.array([[1.0, -1, 1, -1], [1, 1, 1, 1], [np.nan] * 4])
    second = np.array([[1.0, -1, 1, 1], [1, 1, 1, 1], [1.0] * 4])
    found = mean_kappa(first, second, 0.95, 50, 0)
    assert found.value == pytest.approx(0.5)
    assert found.k == 1
    nothing = mean_kappa(first[1:], second[1:], 0.95, 50, 0)
    assert (nothing.value, nothing.reason) == (None, "no pair has a kappa")


@pytest.mark.calibration
def test_intervals_of_means_cover() -> None:
    """Draws from a population with a known mean kappa: nine in ten intervals of level .9, give or take three errors."""
    random = np.random.default_rng(8)
    chance, size, runs = 0.25, 80, 300
    covered = 0
    for run in range(runs):
        first = np.sign(random.normal(size=(3, size)))
        second = first * np.where(random.random((3, size)) < chance, -1, 1)
        found = mean_kappa(first, second, 0.9, 200, run)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 1 - 2 * chance <= found.high
    assert abs(covered / runs - 0.9) < 3 * (0.9 * 0.1 / runs) ** 0.5 + 0.02


@pytest.mark.parametrize("n", [2, 5, 40])
def test_a_mean_share_has_the_t_interval_of_scipy(n: int) -> None:
    each = 0.5 + 0.02 * np.random.default_rng(n).normal(size=n)
    found = mean_share(each, 0.9, "mean", 3)
    expected = stats.t.interval(0.9, n - 1, each.mean(), stats.sem(each))
    assert found.value == pytest.approx(np.mean(each))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert (found.n, found.k) == (n, 3)


def test_the_interval_of_a_mean_share_ends_at_0_and_1() -> None:
    found = mean_share(np.array([0.0, 1.0]), 0.95, "mean", 2)  # half a word more or less would reach beyond both
    assert (found.value, found.low, found.high) == (0.5, 0, 1)


def test_shares_and_means_without_words() -> None:
    assert share_of_words(0, 0, 0.95, "share").reason == NO_WORDS
    assert mean_share(np.array([0.5]), 0.95, "mean", 2).value is None
    found = share_of_words(3, 4, 0.95, "share")
    assert found.without("why").to_dict() | {
        "value": 0.75,
        "low": found.low,
        "high": found.high,
        "reason": None,
    } == (found.to_dict())
