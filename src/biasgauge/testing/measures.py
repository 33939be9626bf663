"""`check_measure`: the declared properties of a measure, checked on random vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isinf

import numpy as np

from biasgauge import registry
from biasgauge.core import Floats, Places
from biasgauge.metrics import Linear, Measure
from biasgauge.scores import score
from biasgauge.testing.checks import SEEDS, Checks, random_rotation

_SINGLE = 3e-6  # scores of measures are kept in single precision


def check_measure(measure: Measure | str, *, seeds: Iterable[int] = SEEDS) -> None:
    """Check the declared properties of a measure on random vectors.

    Checked are `low` and `high`, `rotation_invariant`, `scale_invariant`, `word_scale_invariant`, `swap_negates`, that
    some score is defined, that a score depends on neither the order of words and pairs nor the words beside it, that
    inputs are not modified, that a `Linear` measure has no direction (NaN) where an end of a pair is a zero vector, and
    that name, summary and source are there.

    Args:
        measure: a `Linear`, a `Neighborhood`, an instance of another subclass of `Measure`, or the name of a measure.
        seeds: of the random vectors; every third has ties.

    Raises:
        PropertyError: a declared property is false, or a requirement is not met.
        ParameterError: there is no such measure.
    """
    measure = registry.get("measure", measure)
    checks = _MeasureChecks(f"measure {measure.name!r}", measure)
    checks.texts(name=measure.name, summary=measure.summary, source=measure.source)
    for seed in seeds:
        checks.seed = seed
        checks.world(_draw_world(seed))
    for name in (*_WORLD_CHANGES, "swap_negates"):
        if not getattr(measure, name) and name not in checks.changed:
            checks.fail(name, declared=False, observed="it held for all random vectors")
    if isinf(measure.high) and checks.largest < 1e3:
        observed = f"no score was beyond {checks.largest:.4g}, whatever the length of the vectors"
        checks.fail("range", (measure.low, measure.high), observed)
    if isinstance(measure, Linear):
        end = np.array([[1.0, 2.0, 3.0]])
        for first, second in ((0 * end, end), (end, 0 * end)):
            with np.errstate(all="ignore"):
                if not np.isnan(measure.direction(first.copy(), second.copy())).all():
                    rule = "give the direction NaN to a pair with a zero vector"
                    checks.fail_requirement("direction", rule, "it gives a finite one")


@dataclass(frozen=True)
class _World:
    """Vectors, which of them are words and ends of pairs, and how many neighbors vote."""

    vectors: Floats
    words: Places
    first: Places
    second: Places
    k: int

    def has_near_ties(self) -> bool:
        """True where a neighbor is nearly between the ends of a pair, or two are nearly as similar to a word."""
        units = self.vectors / np.linalg.norm(self.vectors, axis=1)[:, None]
        biases = units @ (units[self.first] - units[self.second]).T
        gaps = np.diff(np.sort(units @ units.T, axis=1), axis=1)
        return bool(np.abs(biases).min() <= 1e-5 or gaps.min() <= 1e-5)


def _draw_world(seed: int) -> _World:
    """Draw random vectors; every third world has vectors exactly between the ends of its first pair."""
    random = np.random.default_rng(seed)
    size, dimensions = int(random.integers(12, 30)), int(random.integers(2, 8))
    vectors = random.normal(size=(size, dimensions)) * np.exp(random.normal(size=(size, 1)))
    if seed % 3 == 0:
        # The ends are the first two axes: a vector with equal first coordinates is as near to the one as to the other.
        vectors[0], vectors[1] = np.eye(dimensions)[0], np.eye(dimensions)[1]
        vectors[6:, 1] = np.where(random.random(size - 6) < 0.5, vectors[6:, 0], vectors[6:, 1])
    ends = np.arange(6)
    return _World(vectors, random.permutation(size)[: size // 2], ends[::2], ends[1::2], int(random.integers(1, 6)))


def _lengthen_words(world: _World, seed: int) -> Floats:
    """Give every vector that is not an end of a pair another length."""
    factors = np.exp2(np.random.default_rng(seed + 3).integers(1, 9, size=(len(world.vectors), 1)).astype(float))
    factors[np.concatenate([world.first, world.second])] = 1
    lengthened: Floats = world.vectors * factors
    return lengthened


_WORLD_CHANGES: dict[str, Callable[[_World, int], Floats]] = {
    "rotation_invariant": lambda world, seed: world.vectors @ random_rotation(world.vectors, seed),
    # Powers of two change no digit, so that ties stay ties.
    "scale_invariant": lambda world, seed: world.vectors * 2.0 ** np.random.default_rng(seed + 2).integers(1, 9),
    "word_scale_invariant": _lengthen_words,
}
"""Vectors after a change that leaves scores as they are where the property is declared."""


@dataclass
class _MeasureChecks(Checks):
    measure: Measure
    largest: float = 0.0

    def scores(self, world: _World) -> Floats:
        """Scores, pairs × words."""
        names = [f"w{row}" for row in range(len(world.vectors))]
        pairs = [(names[first], names[second]) for first, second in zip(world.first, world.second, strict=True)]
        vectors = world.vectors.copy()
        words = [names[row] for row in world.words]
        with self.no_exception("scores", "score random vectors"):
            tensor = score((names, vectors), pairs=pairs, words=words, measures=[self.measure], k=world.k, n_jobs=1)
        if not np.array_equal(vectors, world.vectors):
            self.fail_requirement("inputs", "leave its inputs as they are", "it changed the vectors")
        scores: Floats = tensor.to_numpy()[0, :, :, 0].astype(np.float64)
        return scores

    def world(self, world: _World) -> None:
        """Compare the scores of a world with those of the same world changed."""
        measure, scores = self.measure, self.scores(world)
        if np.isnan(scores).all():
            self.fail_requirement(
                "scores", "be defined for ordinary vectors", f"every score is undefined (seed {self.seed})"
            )
        for name, transform in _WORLD_CHANGES.items():
            if name == "rotation_invariant" and not isinstance(measure, Linear) and world.has_near_ties():
                continue  # rounding after a rotation may change who the neighbors are
            self.compare(name, scores, replace(world, vectors=transform(world, self.seed)))
        self.compare("swap_negates", -scores, replace(world, first=world.second, second=world.first))
        low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
        if low < measure.low - _SINGLE or high > measure.high + _SINGLE:
            observed = f"scores lie between {low:.4g} and {high:.4g} (seed {self.seed})"
            self.fail("range", (measure.low, measure.high), observed)
        long_vectors = replace(world, vectors=world.vectors * 1e6)
        self.largest = max(self.largest, float(np.nanmax(np.abs(self.scores(long_vectors)))))
        words = np.random.default_rng(self.seed + 4).permutation(len(world.words))
        pairs = np.roll(np.arange(len(world.first)), 1)
        half = slice(len(world.words) // 2)
        variants = {
            "another order of words": (replace(world, words=world.words[words]), scores[:, words]),
            "another order of pairs": (
                replace(world, first=world.first[pairs], second=world.second[pairs]),
                scores[pairs],
            ),
            "leaving out other words": (replace(world, words=world.words[half]), scores[:, half]),
        }
        for change, (variant, expected) in variants.items():
            if _first_difference(expected, self.scores(variant)) is not None:
                rule = "score each word and pair by itself"
                self.fail_requirement("scores", rule, f"{change} changes a score (seed {self.seed})")

    def compare(self, name: str, expected: Floats, world: _World) -> None:
        scores = self.scores(world)
        different = _first_difference(expected, scores)
        if different is None:
            return
        self.changed.add(name)
        if getattr(self.measure, name):
            observed = f"a score is {scores[different]:.4g} instead of {expected[different]:.4g} (seed {self.seed})"
            self.fail(name, declared=True, observed=observed)


def _first_difference(expected: Floats, values: Floats) -> tuple[int, ...] | None:
    scale = np.maximum(np.abs(expected), 1)
    equal = np.isclose(values / scale, expected / scale, rtol=0, atol=_SINGLE, equal_nan=True)
    return None if equal.all() else tuple(int(index) for index in np.argwhere(~equal)[0])
