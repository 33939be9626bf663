"""What every registered measure declares about itself, held against the engine; a new one is checked unasked.

A declaration that something does not change must hold in every world drawn; a declaration that something does change
must be borne out by at least one world.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf, isinf
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge import registry
from biasgauge.metrics import Linear, Measure, Neighborhood
from biasgauge.scores.engine import Task, compute

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

every_measure = pytest.mark.parametrize("name", registry.names("measure"))
quick = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 10_000)
SEEDS_OF_CHANGE = range(8)


@dataclass(frozen=True)
class World:
    """Vectors, which of them are words and ends, and how many neighbors vote."""

    vectors: Vectors
    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    k: int

    def scores(self, one: Measure) -> NDArray[np.float32]:
        """Pairs × words."""
        found = compute(Task(self.vectors, self.rows, self.first, self.second, [one], self.k), n_jobs=1)
        values: NDArray[np.float32] = found[0]
        return values


def drawn(seed: int) -> World:
    """A random world; every third one has vectors exactly between the ends of its first pair, or other ties."""
    random = np.random.default_rng(seed)
    size, dimensions = int(random.integers(12, 30)), int(random.integers(2, 8))
    vectors = random.normal(size=(size, dimensions)) * np.exp(random.normal(size=(size, 1)))
    if seed % 3 == 0:
        # Symmetric under the exchange of the first two coordinates: no bias between the two axes.
        vectors[0], vectors[1] = np.eye(dimensions)[0], np.eye(dimensions)[1]
        vectors[6:, 1] = np.where(random.random(size - 6) < 0.5, vectors[6:, 0], vectors[6:, 1])
    ends = np.arange(6)
    return World(vectors, random.permutation(size)[: size // 2], ends[::2], ends[1::2], int(random.integers(1, 6)))


def rotated(world: World, seed: int) -> World:
    dimensions = world.vectors.shape[1]
    turn = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(dimensions, dimensions)))[0]
    return replace(world, vectors=world.vectors @ turn)


def scaled(world: World, seed: int) -> World:
    return replace(world, vectors=world.vectors * 2.0 ** np.random.default_rng(seed + 2).integers(1, 9))


def with_longer_words(world: World, seed: int) -> World:
    """Every vector that is no end gets another length."""
    factors = np.exp2(np.random.default_rng(seed + 3).integers(1, 9, size=(len(world.vectors), 1)).astype(float))
    factors[np.concatenate([world.first, world.second])] = 1
    return replace(world, vectors=world.vectors * factors)


def swapped(world: World) -> World:
    return replace(world, first=world.second, second=world.first)


INVARIANCES: dict[str, Callable[[World, int], World]] = {
    "rotation_invariant": rotated,
    "scale_invariant": scaled,
    "word_scale_invariant": with_longer_words,
}


def settled(world: World, one: Measure) -> bool:
    """Whether no neighbor is so near a tie that rounding after a rotation may decide its vote or its place."""
    if isinstance(one, Linear):
        return True
    unit = world.vectors / np.linalg.norm(world.vectors, axis=1)[:, None]
    biases = unit @ (unit[world.first] - unit[world.second]).T
    similarities = np.sort(unit @ unit.T, axis=1)
    return bool(np.abs(biases).min() > 1e-5 and np.diff(similarities, axis=1).min() > 1e-5)


def differ(some: NDArray[np.float32], others: NDArray[np.float32]) -> bool:
    scale = np.maximum(np.abs(others), 1)
    return not np.allclose(some / scale, others / scale, rtol=0, atol=3e-6, equal_nan=True)


def broken_declarations(one: Measure, seed: int) -> list[str]:
    """Names of the declarations that the world of this seed contradicts."""
    world = drawn(seed)
    before = world.scores(one)
    broken = [
        declared
        for declared, changed in INVARIANCES.items()
        if getattr(one, declared)
        and (declared != "rotation_invariant" or settled(world, one))
        and differ(changed(world, seed).scores(one), before)
    ]
    if one.swap_negates and not np.array_equal(swapped(world).scores(one), -before, equal_nan=True):
        broken.append("swap_negates")
    if before.min() < one.low - 1e-6 or before.max() > one.high + 1e-6:
        broken.append("range")
    return broken


def idle_declarations(one: Measure) -> list[str]:
    """Names of the declarations of a change that no world bears out."""
    worlds = {seed: drawn(seed) for seed in SEEDS_OF_CHANGE}
    idle = [
        declared
        for declared, changed in INVARIANCES.items()
        if not getattr(one, declared)
        and not any(differ(changed(world, seed).scores(one), world.scores(one)) for seed, world in worlds.items())
    ]
    if not one.swap_negates and all(
        np.array_equal(swapped(world).scores(one), -world.scores(one)) for world in worlds.values()
    ):
        idle.append("swap_negates")
    if (
        isinf(one.high)
        and max(np.abs(replace(w, vectors=w.vectors * 1e6).scores(one)).max() for w in worlds.values()) < 1e3
    ):
        idle.append("range")
    return idle


@every_measure
@quick
@given(seed=seeds)
def test_declarations_hold(name: str, seed: int) -> None:
    assert broken_declarations(registry.get("measure", name), seed) == []


@every_measure
def test_declarations_of_a_change_are_borne_out(name: str) -> None:
    assert idle_declarations(registry.get("measure", name)) == []


@every_measure
def test_no_measure_is_unclassified(name: str) -> None:
    one = registry.get("measure", name)
    assert one.name == name
    assert isinstance(one, (Linear, Neighborhood))
    for declared in (*INVARIANCES, "swap_negates"):
        assert getattr(one, declared) is True or getattr(one, declared) is False, declared
    assert one.low == -one.high or not one.swap_negates
    assert "Undefined" in one.summary or "As " in one.summary
    assert one.source


def test_every_declared_property_is_put_to_the_test() -> None:
    checked = {*INVARIANCES, "swap_negates", "low", "high"}
    told = {"name", "summary", "source"}
    assert {field.name for field in fields(Measure)} == checked | told


@every_measure
def test_a_wrong_declaration_is_found(name: str) -> None:
    one = registry.get("measure", name)
    planted: list[dict[str, Any]] = [
        {declared: not getattr(one, declared)} for declared in (*INVARIANCES, "swap_negates")
    ]
    for wrong in planted:
        lie = replace(one, **wrong)
        found = {problem for seed in SEEDS_OF_CHANGE for problem in broken_declarations(lie, seed)}
        assert set(wrong) == found | set(idle_declarations(lie)), wrong


@pytest.mark.parametrize(("name", "wrong"), [("dbwa", {"high": 0.1}), ("nbm", {"low": -0.1}), ("dbwa", {"high": inf})])
def test_a_wrong_range_is_found(name: str, wrong: dict[str, float]) -> None:
    lie = replace(registry.get("measure", name), **wrong)  # type: ignore[arg-type]  # floats into floats
    found = {problem for seed in SEEDS_OF_CHANGE for problem in broken_declarations(lie, seed)}
    assert "range" in found | set(idle_declarations(lie))


@every_measure
@quick
@given(seed=seeds)
def test_permuting_words_permutes_scores(name: str, seed: int) -> None:
    world = drawn(seed)
    order = np.random.default_rng(seed + 4).permutation(len(world.rows))
    permuted = replace(world, rows=world.rows[order]).scores(registry.get("measure", name))
    np.testing.assert_array_equal(permuted, world.scores(registry.get("measure", name))[:, order])


@every_measure
@quick
@given(seed=seeds)
def test_permuting_pairs_permutes_scores(name: str, seed: int) -> None:
    world = drawn(seed)
    order = np.array([2, 0, 1])
    permuted = replace(world, first=world.first[order], second=world.second[order]).scores(
        registry.get("measure", name)
    )
    assert not differ(permuted, world.scores(registry.get("measure", name))[order])


@every_measure
@quick
@given(seed=seeds)
def test_inputs_are_left_as_they_are(name: str, seed: int) -> None:
    world = drawn(seed)
    world.vectors.flags.writeable = False
    before = [array.copy() for array in (world.vectors, world.rows, world.first, world.second)]
    world.scores(registry.get("measure", name))
    for was, array in zip(before, (world.vectors, world.rows, world.first, world.second), strict=True):
        np.testing.assert_array_equal(array, was)


@every_measure
@pytest.mark.parametrize("exponent", [-140, -40, -30, -20, 20, 30, 40, 140])
def test_scale_invariance_reaches_the_ends_of_the_number_range(name: str, exponent: int) -> None:
    world = drawn(4)
    changed = replace(world, vectors=world.vectors * 10.0**exponent)
    if registry.get("measure", name).scale_invariant:
        np.testing.assert_allclose(
            changed.scores(registry.get("measure", name)),
            world.scores(registry.get("measure", name)),
            rtol=0,
            atol=2e-6,
        )
    elif abs(exponent) <= 30:  # beyond, the score itself is no number of single precision
        expected = world.scores(registry.get("measure", name)).astype(float) * 10.0**exponent
        np.testing.assert_allclose(
            changed.scores(registry.get("measure", name)), expected, rtol=2e-5, atol=10.0 ** (exponent - 6)
        )
