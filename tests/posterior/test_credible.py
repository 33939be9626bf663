"""Intervals against ArviZ, against theory, and by how often they hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from biasgauge.analyses.posterior import Priors, bayes
from biasgauge.errors import ParameterError
from biasgauge.stats import Credible, hpdi


@pytest.mark.parametrize("prob", [0.5, 0.89, 0.95, 0.123])
@pytest.mark.parametrize("size", [40, 1_001, 4_000])
def test_hpdi_is_that_of_arviz(prob: float, size: int) -> None:
    statistics = pytest.importorskip("arviz_stats.base").array_stats
    random = np.random.default_rng(size)
    draws = np.stack([random.normal(size=size), random.exponential(size=size), random.beta(0.9, 3, size=size)], axis=1)
    low, high = hpdi(draws, prob)
    for column in range(3):
        expected = statistics.hdi(draws[:, column], prob)
        assert (low[column], high[column]) == tuple(expected)


def test_hpdi_is_the_narrowest_of_all_intervals() -> None:
    draws = np.random.default_rng(0).exponential(size=300)
    low, high = hpdi(draws, 0.8)
    ordered = np.sort(draws)
    assert high - low == min(ordered[start + 240] - ordered[start] for start in range(60))
    assert low == ordered[0]  # an exponential is densest at its start


def test_intervals_of_a_normal() -> None:
    draws = np.random.default_rng(1).normal(3.0, 2.0, 400_000)
    for kind in ("hpdi", "percentile"):
        low, high = Credible(kind, 0.89).ends(draws)
        assert [low, high] == pytest.approx(norm.ppf([0.055, 0.945], 3.0, 2.0), abs=0.06)


def test_intervals_of_something_skewed_differ() -> None:
    draws = np.random.default_rng(1).exponential(size=100_000)
    narrow, equal = Credible("hpdi").ends(draws), Credible("percentile").ends(draws)
    assert narrow[0] == pytest.approx(0, abs=0.01)
    assert equal[0] == pytest.approx(-np.log(0.945), abs=0.01)
    assert narrow[1] - narrow[0] < equal[1] - equal[0]


@pytest.mark.parametrize("prob", [0, 1, -0.5, 1.5, np.nan])
def test_a_share_that_is_none(prob: float) -> None:
    with pytest.raises(ParameterError, match="strictly between 0 and 1"):
        Credible("hpdi", prob)


def test_a_kind_that_is_none() -> None:
    with pytest.raises(ParameterError, match="percentile"):
        Credible("bca")  # type: ignore[arg-type]


@pytest.mark.calibration
@pytest.mark.parametrize("interval", ["hpdi", "percentile"])
def test_intervals_hold_the_truth_as_often_as_they_say(worlds: Any, interval: Any) -> None:  # noqa: ANN401
    """Parameters from the prior, distances from the model: 89 % of intervals hold the truth; a binomial test."""
    held: list[bool] = []
    for number in range(60):
        world = worlds.draw("per-connection", Priors(), [11, number])
        found = bayes(world.table, draws=1_000, interval=interval, random_state=number)
        estimates = zip(found.groups, world.group, strict=True)
        held += [bool(one.low <= truth <= one.high) for one, truth in estimates]
    # 180 intervals, three to a world and independent: 160.2 expected, standard deviation 4.2
    assert abs(sum(held) - 0.89 * len(held)) < 3.3 * (len(held) * 0.89 * 0.11) ** 0.5
