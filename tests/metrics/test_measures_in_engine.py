"""Every registered measure in the scoring engine itself: order of words, inputs, very long and very short vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge import registry
from biasgauge.metrics import Measure
from biasgauge.scores.engine import ScoringTask, compute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

every_measure = pytest.mark.parametrize("name", registry.names("measure"))
quick = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 10_000)


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
        found = compute(ScoringTask(self.vectors, self.rows, self.first, self.second, [one], self.k), n_jobs=1)
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
