"""Rank correlations over pairs of sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from biasgauge.analyses.seeds.generated import relations


def test_spearman_and_its_interval() -> None:
    random = np.random.default_rng(0)
    similarity = random.uniform(size=40)
    frame = pd.DataFrame({"similarity": similarity, "coherence": -similarity + 0.5 * random.normal(size=40)})
    frame.loc[3, "coherence"] = None
    (found,) = relations(frame, "gathered")
    rho = spearmanr(frame["similarity"], frame["coherence"], nan_policy="omit").statistic
    assert found.n == 39
    assert found.value == pytest.approx(rho)
    # Bonett & Wright 2000: standard error of Fisher's z is the root of (1 + rho²/2) / (n − 3).
    reach = 1.96 * ((1 + rho**2 / 2) / 36) ** 0.5
    assert found.low == pytest.approx(np.tanh(np.arctanh(rho) - reach), abs=1e-4)
    assert found.high == pytest.approx(np.tanh(np.arctanh(rho) + reach), abs=1e-4)


@pytest.mark.calibration
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    truth = 6 / np.pi * np.arcsin(-0.6 / 2)  # Spearman's rho of a normal pair with Pearson's r = −.6
    random = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        x, y = random.multivariate_normal([0, 0], [[1, -0.6], [-0.6, 1]], size=60).T
        (found,) = relations(pd.DataFrame({"similarity": x, "coherence": y}), "gathered")
        assert found.low is not None
        assert found.high is not None
        held += bool(found.low < truth < found.high)
    assert 0.92 < held / 400 < 0.98


def test_undefined_relations_say_why() -> None:
    (few,) = relations(pd.DataFrame({"similarity": [0.1, 0.2, 0.3], "coherence": [1.0, 0.5, 0.2]}), "gathered")
    assert few.reason == "fewer than 4 pairs of sets"
    (same,) = relations(pd.DataFrame({"overlap": [0.0] * 9, "coherence": np.arange(9.0)}), "gathered")
    assert same.reason == "one of the two does not vary"


def test_frequency_counts_by_its_distance_from_balance() -> None:
    frame = pd.DataFrame({"frequency_balance": [0.1, 0.9, 0.5, 0.6, 0.3], "coherence": [0.8, 0.81, 0.1, 0.2, 0.4]})
    (found,) = relations(frame, "gathered")
    assert found.x == "frequency_imbalance"
    assert found.value == pytest.approx(spearmanr([0.4, 0.4, 0, 0.1, 0.2], frame["coherence"]).statistic)
