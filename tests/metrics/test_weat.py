"""WEAT: its arithmetic by hand, its rules, and what it does when there is nothing to say."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.metrics import WeatResult, effect_size, weat_from_similarities
from biasgauge.metrics.weat import associations, weat
from biasgauge.stats import BCA, Resampling

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.core.arrays import Floats


def turned(*degrees: float) -> Floats:
    """Unit vectors of the plane at these angles."""
    radians = np.radians(degrees)
    return np.column_stack([np.cos(radians), np.sin(radians)])


def separated() -> dict[str, Any]:
    """Four words near A, four near B."""
    return {"x": turned(0, 1, 2, 3), "y": turned(90, 91, 92, 93), "a": turned(0, 4), "b": turned(90, 94)}


def made_up(seed: int, **sizes: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {name: random.normal(size=(sizes.get(name, 6), 9)) for name in "xyab"}


def test_associations_by_hand() -> None:
    # cos with A: 1 and 1/2; with B: 1/2 and 0.
    found = associations(turned(0, 60), turned(0), turned(60, 90))
    assert found == pytest.approx([1 - (0.5 + 0) / 2, 0.5 - (1 + np.sqrt(3) / 2) / 2])


def test_statistic_and_effect_by_hand() -> None:
    result = weat(turned(0), turned(90), turned(0), turned(90), interval=None)
    assert result.x_associations == pytest.approx((1.0,))
    assert result.y_associations == pytest.approx((-1.0,))
    assert result.statistic == pytest.approx(2)
    assert result.effect_size == pytest.approx(2)  # a gap of 2 over a standard deviation of 1
    assert result.p_value == 0.5  # no p of two splits can be less


def test_separated_sets() -> None:
    result = weat(**separated())
    assert result.p_value == 1 / 70
    assert result.p_method == "exact"
    assert (result.splits, result.samples) == (70, 0)
    assert result.p_interval is not None
    assert (result.p_interval.low, result.p_interval.high) == (1 / 70, 1 / 70)


@pytest.mark.parametrize("seed", range(5))
def test_exchanging_sets(seed: int) -> None:
    sets = made_up(seed, x=5, y=7)
    there = weat(**sets, alternative="two-sided")
    for exchanged in ({"x": sets["y"], "y": sets["x"]}, {"a": sets["b"], "b": sets["a"]}):
        back = weat(**{**sets, **exchanged}, alternative="two-sided")
        assert there.effect_size is not None
        assert back.effect_size == pytest.approx(-there.effect_size)
        assert there.statistic is not None
        assert back.statistic == pytest.approx(-there.statistic)
        assert back.p_value == there.p_value
    less = weat(sets["y"], sets["x"], sets["a"], sets["b"], alternative="less")
    assert less.p_value == weat(**sets, alternative="greater").p_value


def test_p_of_the_effect_size_is_the_same_question_for_equal_sizes() -> None:
    sets = made_up(9, x=4, y=4)
    observed = weat(**sets, interval=None)
    pool = np.concatenate([sets["x"], sets["y"]])
    s = associations(pool, sets["a"], sets["b"])
    effects = []
    for chosen in combinations(range(8), 4):
        rest = [row for row in range(8) if row not in chosen]
        effects.append(effect_size(s[list(chosen)], s[rest]))
    assert observed.effect_size is not None
    extreme = [effect is not None and effect >= observed.effect_size - 1e-12 for effect in effects]
    assert observed.p_value == np.mean(extreme)


def test_the_standard_deviation_keeps_its_formula_when_sizes_differ() -> None:
    sets = made_up(2, x=3, y=9)
    for ddof in (0, 1):
        result = weat(**sets, ddof=ddof, interval=None)
        s = [np.array(one) for one in (result.x_associations, result.y_associations)]
        pooled = np.concatenate(s).std(ddof=ddof)
        assert result.effect_size == pytest.approx((s[0].mean() - s[1].mean()) / pooled)
        assert result.ddof == ddof


def test_similarities_give_what_vectors_give() -> None:
    sets = made_up(3)
    unit = {name: table / np.linalg.norm(table, axis=1, keepdims=True) for name, table in sets.items()}
    blocks = (unit[target] @ unit[attribute].T for target in "xy" for attribute in "ab")
    assert weat_from_similarities(*blocks).effect_size == pytest.approx(weat(**sets).effect_size, abs=1e-12)


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_any_scale_of_similarity_will_do(factor: float) -> None:
    blocks = np.random.default_rng(5).normal(size=(4, 6, 6))
    there, here = weat_from_similarities(*blocks), weat_from_similarities(*(factor * blocks))
    assert here.effect_size == pytest.approx(there.effect_size)
    assert here.p_value == there.p_value


def test_settings_are_recorded() -> None:
    sets = made_up(4)
    result = weat(
        **sets,
        alternative="less",
        ties="strict",
        ddof=1,
        max_exact=0,
        samples=50,
        interval=Resampling("percentile", 0.8),
    )
    shape = result.to_dict()
    assert "value" not in shape
    assert shape["effect_size"] == result.value
    assert (shape["alternative"], shape["ties"], shape["ddof"]) == ("less", "strict", 1)
    assert (shape["p_method"], shape["samples"], shape["splits"]) == ("monte-carlo", 50, 924)
    assert shape["p_interval"]["method"] == "clopper-pearson"
    assert (shape["interval"]["method"], shape["interval"]["level"]) == ("percentile", 0.8)


def test_words_that_all_lean_alike_have_no_effect_size_but_a_p() -> None:
    same = np.tile(turned(30), (3, 1))
    result = weat(same, same, turned(0), turned(90))
    assert result.effect_size is None
    assert result.reason == "all target words have the same association, so there is no spread"
    assert result.p_value == 1.0
    assert result.statistic == pytest.approx(0)
    assert result.to_dict()["effect_size"] is None
    assert effect_size([], [1.0]) is None
    assert effect_size([1.0], [1.0], ddof=1) is None


def test_words_that_lean_alike_but_for_rounding_have_no_effect_size_and_a_p_of_one() -> None:
    # Each word has the same angle to a as to b; turned at random, rounding makes all of them differ.
    random = np.random.default_rng(7)
    turn = np.linalg.qr(random.normal(size=(6, 6)))[0]
    words = np.hstack([np.ones((8, 2)), random.normal(size=(8, 4))]) @ turn
    result = weat(words[:4], words[4:], turn[:1], turn[1:2])
    assert len(set(result.x_associations + result.y_associations)) > 1
    assert result.effect_size is None
    assert result.p_value == 1.0


def test_an_empty_set_leaves_nothing() -> None:
    result = weat([], turned(0), turned(1), turned(2))
    assert (result.effect_size, result.statistic, result.p_value, result.x_associations) == (None, None, None, ())
    assert result.reason == "the set 'x' is empty"
    from_similarities = weat_from_similarities([[0.1]], np.empty((1, 0)), [[0.2]], np.empty((1, 0)))
    assert from_similarities.reason == "there are no similarities in 'xb'"
    with pytest.raises(ParameterError, match="the set 'a' is empty"):
        associations(turned(0), [], turned(0))


def test_matrices_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="the same throughout"):
        weat_from_similarities(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 3)))
    with pytest.raises(ParameterError, match="'ddof'"):
        weat(**made_up(0), ddof=2)


def test_a_memory_map_is_read_and_not_written(tmp_path: Path) -> None:
    sets = made_up(6)
    mapped: dict[str, Any] = {}
    for name, table in sets.items():
        np.save(tmp_path / f"{name}.npy", table)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    assert weat(**mapped) == weat(**sets)


def test_json_there_and_back() -> None:
    random = np.random.default_rng(4)
    sets: dict[str, Any] = {name: random.normal(size=(6, 5)) for name in "xyab"}
    for interval in (None, BCA):
        found = weat(**sets, interval=interval)
        again = WeatResult.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again.to_dict() == found.to_dict()
        assert (again.effect_size, again.x_associations) == (found.effect_size, found.x_associations)
    undefined = weat(np.empty((0, 5)), sets["y"], sets["a"], sets["b"])
    assert WeatResult.from_dict(undefined.to_dict()).to_dict() == undefined.to_dict()
