"""One permutation for many analyses: against a slow loop, and under nulls."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.stats import joint_permutation, permutation_p


def test_every_number_is_that_of_a_loop_over_splits() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(4, 7)) + np.array([1.5, 1.5, 1.5, 0, 0, 0, 0])
    found = joint_permutation(values, 3)
    scaled = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    drawn = []
    for members in combinations(range(7), 3):
        others = [place for place in range(7) if place not in members]
        drawn.append(scaled[:, list(members)].mean(axis=1) - scaled[:, others].mean(axis=1))
    table, own = np.array(drawn), drawn[0]
    assert (found.splits, found.exact) == (35, True)
    np.testing.assert_allclose(found.effects, own)
    np.testing.assert_allclose(found.p, [(abs(table[:, k]) >= abs(own[k]) - 1e-9).mean() for k in range(4)])
    biggest = abs(table).max(axis=1)
    np.testing.assert_allclose(found.p_adjusted, [(biggest >= abs(own[k]) - 1e-9).mean() for k in range(4)])
    medians = abs(np.median(table, axis=1))
    assert found.p_median == pytest.approx((medians >= abs(np.median(own)) - 1e-9).mean())
    p_of = np.array([[(abs(table[:, k]) >= abs(row[k]) - 1e-9).mean() for k in range(4)] for row in table])
    counts = np.array([max(((p <= 0.05) & (row > 0)).sum(), ((p <= 0.05) & (row < 0)).sum())
                       for p, row in zip(p_of, table, strict=True)])  # fmt: skip
    assert found.clear == counts[0]
    assert found.p_clear == pytest.approx((counts >= counts[0]).mean())
    np.testing.assert_allclose([found.low, found.high], np.quantile(np.sort(table, axis=1), [0.025, 0.975], axis=0))


def test_one_analysis_is_the_plain_permutation_test() -> None:
    values = np.random.default_rng(1).normal(size=16)
    found = joint_permutation(values[None], 8)
    plain = permutation_p(values[:8], values[8:], alternative="two-sided")
    assert found.p[0] == found.p_adjusted[0] == pytest.approx(plain.p_value)
    assert found.p_median == pytest.approx(plain.p_value)


def test_random_splits_agree_with_all_of_them() -> None:
    values = np.random.default_rng(2).normal(size=(5, 14))
    exact = joint_permutation(values, 7)
    drawn = joint_permutation(values, 7, samples=9_999, max_exact=10)
    assert not drawn.exact
    np.testing.assert_allclose(drawn.p, exact.p, atol=0.02)
    np.testing.assert_allclose(drawn.p_adjusted, exact.p_adjusted, atol=0.02)
    assert drawn.p_median == pytest.approx(exact.p_median, abs=0.02)


def test_what_it_refuses() -> None:
    with pytest.raises(ParameterError, match="finite numbers"):
        joint_permutation([[1.0, np.nan, 2.0]], 1)
    with pytest.raises(ParameterError, match="must tell words apart"):
        joint_permutation([[1.0, 1.0, 1.0]], 1)


@pytest.mark.calibration
@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_joint_p_are_uniform_where_nothing_is(shared: float) -> None:
    """Analyses of the same words hang together; their joint p still rejects in 5 % (600 runs: ± 0.9 %)."""
    random, runs = np.random.default_rng(3), 600
    rejected = np.zeros(3)
    for _ in range(runs):
        common = random.normal(size=12)
        values = np.sqrt(shared) * common + np.sqrt(1 - shared) * random.normal(size=(20, 12))
        found = joint_permutation(values, 6)
        rejected += [found.p_median <= 0.05, found.p_adjusted.min() <= 0.05, found.p_clear <= 0.05]
    rates = rejected / runs
    assert rates[:2] == pytest.approx([0.05, 0.05], abs=0.025)
    assert rates[2] <= 0.075  # counts have ties, so that it may reject less often
