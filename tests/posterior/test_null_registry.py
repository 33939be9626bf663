"""Null simulation of every registered test: its value, its permutations, its p."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasgauge import registry
from biasgauge.analyses.posterior import NullModel, simulate_null
from biasgauge.analyses.posterior.null_tests import exchanged_values, permutation_share, sets_to_exchange, word_sets

TESTS = registry.everything("association_test")

ON_VECTORS = sorted(set(TESTS) - {"weat", "mac"})
QUICK = sorted(set(ON_VECTORS) - {"rnsb"})


@pytest.mark.parametrize("name", ON_VECTORS)
def test_values_are_those_of_the_test(name: str) -> None:
    model = NullModel(n_x=4, n_y=4, n_a=5, n_b=3, dimensions=12)
    found = simulate_null(name, n_x=4, n_y=4, n_a=5, n_b=3, dimensions=12, simulations=6, permutations=19)
    vectors = next(model.vectors(6, 0))
    expected = [TESTS[name].function(**word_sets(one, model, TESTS[name].sets), interval=None).value for one in vectors]
    np.testing.assert_allclose(found.statistic.values, np.array(expected, float), rtol=1e-12)
    assert found.settings["dimensions"] == 12
    assert found.p_values is not None
    assert ((found.p_values.values >= 1 / 20) & (found.p_values.values <= 1)).all()


@pytest.mark.parametrize("name", sorted(TESTS))
def test_exchanged_words_are_the_test_on_exchanged_sets(name: str) -> None:
    """Drawn once or not at all from the pool of both sets: the same as sets put together word by word."""
    test, model = TESTS[name], NullModel(n_x=4, n_y=4, n_a=3, n_b=5, dimensions=9)
    sets = word_sets(next(model.vectors(1, 4))[0], model, test.sets)
    for exchanged in [pair for pair in ("xy", "ab") if set(pair) <= set(test.sets)]:
        values = exchanged_values(test, sets, exchanged, 12, np.random.default_rng(3))
        random = np.random.default_rng(3)
        one, two = (sets[part] for part in exchanged)
        if test.paired:
            turned = random.random((12, len(one))) < 0.5
            choices = [(np.where(t[:, None], two, one), np.where(t[:, None], one, two)) for t in turned]
        else:
            pool = np.concatenate([one, two])
            picked = np.argsort(random.random((12, len(pool))), axis=1)[:, : len(one)]
            choices = [(pool[p], pool[np.setdiff1d(np.arange(len(pool)), p)]) for p in picked]
        by_hand: list[Any] = [test.function(**sets, interval=None).value]
        for first, second in choices:
            both = dict(zip(exchanged, (first, second), strict=True))
            by_hand.append(test.function(**{**sets, **both}, interval=None).value)
        np.testing.assert_allclose(values, np.array(by_hand, float), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"), [("weat", "xy"), ("rnd", "xy"), ("ect", "xy"), ("nas", "ab"), ("rnsb", "ab"), ("mac", None)]
)
def test_what_makes_a_difference_is_exchanged(name: str, expected: str | None) -> None:
    model = NullModel(n_x=4, n_y=4, n_a=3, n_b=3, dimensions=9)
    assert sets_to_exchange(TESTS[name], word_sets(next(model.vectors(1, 4))[0], model, TESTS[name].sets)) == expected


@pytest.mark.calibration
@pytest.mark.parametrize("name", QUICK)
def test_p_is_uniform_for_every_test(name: str) -> None:
    found = simulate_null(name, simulations=600, permutations=99, alternative="greater", dimensions=30, random_state=6)
    assert found.p_values is not None
    steps = np.random.default_rng(0).uniform(0, 0.01, 600)  # p comes in steps of .01
    assert stats.kstest(found.p_values.values - steps, "uniform").pvalue > 0.001


def test_p_of_one_value_among_others() -> None:
    values = np.array([3.0, 1, 2, 3, 4, 5, 0, 0, 0, np.nan])
    assert permutation_share(values, "greater") == 4 / 9
    assert permutation_share(values, "less") == 7 / 9
    assert permutation_share(values, "two-sided") == 8 / 9
    assert np.isnan(permutation_share(np.array([np.nan, 1.0]), "greater"))


def test_a_test_without_sign_has_no_two_sided_share() -> None:
    found = simulate_null("same", simulations=40, permutations=0, observed=0.06)
    (compared,) = found.comparisons
    assert compared.two_sided is None
    assert compared.question == "statistic ≥ 0.06"
    assert compared.greater.hits + compared.less.hits == 40
    assert found.p_reason == "permutations were not asked for"
    assert found.reading.startswith("SAME reports no p")
