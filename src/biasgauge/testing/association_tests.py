"""`check_association_test`: the declared properties of an association test, checked on random word sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from math import inf
from typing import Any, get_args

import numpy as np

from biasgauge import registry
from biasgauge.core import Floats
from biasgauge.metrics import AssociationResult, SetTest, Swap
from biasgauge.testing.checks import SEEDS, Checks, random_rotation

_TOLERANCE = 1e-7  # values that differ by no more than this, or this share of them, are equal
Sets = dict[str, Floats]


def check_association_test(test: SetTest | str, *, seeds: Iterable[int] = SEEDS, **settings: Any) -> None:  # noqa: ANN401 - the test's
    """Check the declared properties of an association test on random word sets.

    Checked are `range`, `rotation_invariant`, `scale_invariant`, `length_invariant`, `swap_xy` and `swap_ab` (and that
    the two-sided p does not change with a swap that negates the value or leaves it as it is), `paired`, that the order
    of words does not matter, that inputs are not modified and the same input gives the same result, that `resampled`
    with how often each word is drawn equals the test on repeated words, that a set that is empty or holds a zero vector
    gives a reason and no value, and that results can be written as JSON.

    Args:
        test: the association test, or its name.
        seeds: of the random sets.
        settings: of the test, such as `ddof=1`.

    Raises:
        PropertyError: a declared property is false, or a requirement is not met.
        ParameterError: there is no such association test.
    """
    test = registry.get("association_test", test)
    checks = _TestChecks(f"association test {test.name!r}", test, settings)
    checks.texts(name=test.name, zero=test.zero, source=test.source)
    checks.declarations()
    low, high = -inf if test.range[0] is None else test.range[0], inf if test.range[1] is None else test.range[1]
    any_defined = False
    for seed in seeds:
        checks.seed = seed
        sets = _draw_sets(test, seed)
        with checks.no_exception("value", "be defined for ordinary vectors"):
            value = checks.call(sets).value
        if value is None:
            continue
        any_defined = True
        if not low - _TOLERANCE <= value <= high + _TOLERANCE:
            checks.fail("range", test.range, f"a value is {value:.4g} (seed {seed})")
        checks.transformed(sets, value)
        checks.swapped(sets, value)
        checks.word_order(sets, value)
        for repeated in (sets, _draw_whole_numbers(test, seed)):
            checks.resampled(repeated)
    if not any_defined:
        checks.fail_requirement("value", "be defined for ordinary vectors", "it is undefined for all random sets")
    for name in (*_SET_CHANGES, "paired", "swap_xy", "swap_ab"):
        declared = getattr(test, name)
        claims_change = declared == "changes" or declared is (name == "paired")
        if claims_change and name not in checks.changed:
            checks.fail(name, declared, _NO_CHANGE.get(name, "it held for all random sets"))
    checks.undefined()


def _draw_sets(test: SetTest, seed: int) -> Sets:
    """Draw sets of random sizes and dimensions; x and y have the same size, since some tests pair them."""
    random = np.random.default_rng(seed)
    dimensions, targets = int(random.integers(3, 9)), int(random.integers(2, 7))
    sizes = {"x": targets, "y": targets, "a": int(random.integers(3, 7)), "b": int(random.integers(3, 7))}
    return {name: random.normal(size=(sizes[name], dimensions)) for name in test.sets}


def _draw_whole_numbers(test: SetTest, seed: int) -> Sets:
    """Draw vectors of −1, 0 and 1, none of them all 0: equal, opposite and collinear vectors abound."""
    random = np.random.default_rng(seed)
    vectors = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) if x or y])
    sizes = {"x": 3, "y": 3, "a": int(random.integers(2, 5)), "b": int(random.integers(2, 5))}
    return {name: vectors[random.integers(0, len(vectors), sizes[name])] for name in test.sets}


def _rotate_sets(sets: Sets, seed: int) -> Sets:
    rotation = random_rotation(next(iter(sets.values())), seed)
    return {name: vectors @ rotation for name, vectors in sets.items()}


def _scale_sets(sets: Sets, seed: int) -> Sets:
    factor = float(np.exp(np.random.default_rng(seed + 2).normal(0, 2)))
    return {name: factor * vectors for name, vectors in sets.items()}


def _lengthen(sets: Sets, seed: int) -> Sets:
    random = np.random.default_rng(seed + 3)
    return {name: np.exp(random.normal(size=(len(vectors), 1))) * vectors for name, vectors in sets.items()}


_SET_CHANGES: dict[str, Callable[[Sets, int], Sets]] = {
    "rotation_invariant": _rotate_sets,
    "scale_invariant": _scale_sets,
    "length_invariant": _lengthen,
}


_NO_CHANGE = {
    "paired": "the order of Y changed no value",
    "swap_xy": "exchanging X and Y kept or negated every value",
    "swap_ab": "exchanging A and B kept or negated every value",
}
"""Observation where a property declares that a value changes, and none did."""


@dataclass
class _TestChecks(Checks):
    test: SetTest
    settings: Mapping[str, Any]

    def declarations(self) -> None:
        """Check the names of sets, and that swaps and pairs are declared of sets that the test has."""
        test, sets = self.test, set(self.test.sets)
        if not sets or not sets <= set("xyab"):
            self.fail("sets", test.sets, "sets are some of x, y, a and b")
        for name, pair in (("swap_xy", "xy"), ("swap_ab", "ab")):
            declared, both = getattr(test, name), set(pair) <= sets
            if (declared in get_args(Swap)) != both:
                rule = f"must be one of {', '.join(get_args(Swap))}" if both else "must be None"
                self.fail(name, declared, f"with the sets {test.sets} it {rule}")
        if test.paired and not {"x", "y"} <= sets:
            self.fail("paired", declared=True, observed=f"the sets are {test.sets}")

    def call(self, sets: Mapping[str, Any], **further: Any) -> AssociationResult:  # noqa: ANN401 - settings
        """Return the result without an interval; the sets cannot be written to, and the result must be repeatable."""
        protected = {name: np.array(vectors, np.float64) for name, vectors in sets.items()}
        for vectors in protected.values():
            vectors.flags.writeable = False
        settings = {**self.settings, **further, "interval": None}
        try:
            results = [self.test.function(**protected, **settings) for _ in range(2)]
        except ValueError as error:
            if "read-only" in str(error):
                self.fail_requirement("inputs", "leave its inputs as they are", "it writes to a set")
            raise
        result = results[0]
        if not isinstance(result, AssociationResult):
            self.fail_requirement("value", "return an AssociationResult", f"it returns {type(result).__name__}")
        if result != results[1]:
            self.fail_requirement("value", "be repeatable", "the same sets give another result the second time")
        if (result.value is None) != bool(result.reason):
            observed = f"value is {result.value!r} and reason {result.reason!r}"
            self.fail_requirement("reason", "give a reason exactly where there is no value", observed)
        try:
            json.dumps(result.to_dict(), allow_nan=False)
        except (TypeError, ValueError) as error:
            self.fail_requirement("to_dict", "give a result that JSON can hold", f"it cannot be written: {error}")
        return result

    def value(self, sets: Sets) -> float:
        value = self.call(sets).value
        return np.nan if value is None else value

    def transformed(self, sets: Sets, value: float) -> None:
        for name, transform in _SET_CHANGES.items():
            after = self.value(transform(sets, self.seed))
            if _differ(after, value):
                self.changed.add(name)
                if getattr(self.test, name):
                    observed = f"the value goes from {value:.4g} to {after:.4g} (seed {self.seed})"
                    self.fail(name, declared=True, observed=observed)

    def swapped(self, sets: Sets, value: float) -> None:
        """Exchange the targets, then the attributes; the two-sided p stays where the value is negated or stays."""
        two_sided = {"alternative": "two-sided"} if "alternative" in signature(self.test.function).parameters else {}
        for name, pair in (("swap_xy", "xy"), ("swap_ab", "ab")):
            declared = getattr(self.test, name)
            if declared is None:
                continue
            swapped = {**sets, pair[0]: sets[pair[1]], pair[1]: sets[pair[0]]}
            after = self.value(swapped)
            if _differ(after, value) and _differ(after, -value):
                self.changed.add(name)
            if _differ(after, {"negates": -value, "unchanged": value, "changes": after}[declared]):
                observed = f"exchanging the sets turns {value:.4g} into {after:.4g} (seed {self.seed})"
                self.fail(name, declared, observed)
            if declared == "changes":
                continue
            p, p_after = (getattr(self.call(both, **two_sided), "p_value", None) for both in (sets, swapped))
            if p is not None and (p_after is None or _differ(p, p_after)):
                observed = f"exchanging the sets turns the two-sided p {p:.4g} into {p_after:.4g} (seed {self.seed})"
                self.fail(name, declared, observed)

    def word_order(self, sets: Sets, value: float) -> None:
        random = np.random.default_rng(self.seed)
        shuffled = dict(sets)
        units = self.test.resampled(sets, **self.settings).units
        for unit, size in units.items():  # words that are drawn together move together
            order = random.permutation(size)
            shuffled.update({name: sets[name][order] for name in unit})
        after = self.value(shuffled)
        if _differ(after, value):
            observed = f"another order of words turns {value:.4g} into {after:.4g} (seed {self.seed})"
            self.fail_requirement("value", "be independent of the order of words", observed)
        if "y" in sets and "x" in sets:
            after = self.value({**sets, "y": np.roll(sets["y"], 1, axis=0)})
            if _differ(after, value):
                self.changed.add("paired")
                if not self.test.paired:
                    observed = f"another order of Y turns {value:.4g} into {after:.4g} (seed {self.seed})"
                    self.fail("paired", declared=False, observed=observed)

    def resampled(self, sets: Sets) -> None:
        """Compare the value by weights with that of sets in which a word that is drawn twice is listed twice."""
        if self.call(sets).value is None:
            return  # there is nothing to resample
        random = np.random.default_rng(self.seed + 4)
        resampled = self.test.resampled(sets, **self.settings)
        counts = {unit: random.multinomial(size, [1 / size] * size, size=4) for unit, size in resampled.units.items()}
        values = resampled.values({unit: rows.astype(np.float64) for unit, rows in counts.items()})
        for draw, by_weights in enumerate(values.tolist()):
            listed = dict(sets)
            for unit, rows in counts.items():
                listed.update({name: np.repeat(sets[name], rows[draw], axis=0) for name in unit})
            expected = self.value(listed)
            if _differ(by_weights, expected):
                numbers = f"by weights the value is {by_weights:.4g}, with repeated words {expected:.4g}"
                rule = "give by `resampled` the value of `function` on the words drawn"
                self.fail_requirement("resampled", rule, f"{numbers} (seed {self.seed})")

    def undefined(self) -> None:
        """Empty each set, and put a zero vector into it."""
        sets = _draw_sets(self.test, 4)
        for name in self.test.sets:
            zero = {**sets, name: np.vstack([sets[name][:1], np.zeros_like(sets[name][1:])])}
            # Sets that may be paired are emptied together.
            emptied = [role for role in self.test.sets if role in "xy"] if name in "xy" else [name]
            empty = {**sets, **{role: sets[role][:0] for role in emptied}}
            for case, wrong in (("holds a zero vector", zero), ("is empty", empty)):
                rule = "give None with a reason where the value is undefined"
                with self.no_exception("value", rule, f" where {name!r} {case}"):
                    value = self.call(wrong).value
                if value is not None:
                    self.fail_requirement("value", rule, f"it gives {value:.4g} where {name!r} {case}")


def _differ(value: float, expected: float) -> bool:
    """True if two values differ beyond rounding; two that are undefined do not."""
    return not np.isclose(value, expected, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
