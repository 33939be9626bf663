"""Checks of what measures, association tests and audit parts declare, for those who register their own.

    from biasgauge.testing import check_association_test, check_audit_part, check_measure

    check_measure(MEASURE)
    check_association_test(TEST)
    check_audit_part(PART)

Each draws random vectors for several seeds, holds every declared property against the numbers that come out, and raises
a `PropertyError` for the first one that is false. A declaration that something stays the same must hold in every draw;
one that something changes must be borne out by at least one draw. All that ships passes (tests/metrics).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from math import inf, isinf
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import numpy as np

from biasgauge import registry
from biasgauge.core import Floats, Places
from biasgauge.io import parse_json
from biasgauge.lexicons import parse_lexicon
from biasgauge.metrics import AssociationResult, Linear, Measure, SetTest, Swap
from biasgauge.results import Result, Summary
from biasgauge.scores import score
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from biasgauge.audits import AuditPart

SEEDS = range(20)
_TOLERANCE = 1e-7  # values of association tests that differ by no more than this, or this share of them, are equal
_SINGLE = 3e-6  # scores of measures are kept in single precision
Sets = dict[str, Floats]


class PropertyError(AssertionError):
    """A declared property is false, in one sentence.

    Attributes:
        property: name of the property.
        declared: its declared value.
        observed: description of what was observed instead.
    """

    def __init__(self, subject: str, name: str, declared: object, observed: str) -> None:
        super().__init__(f"The {subject} declares {name} = {declared!r}, but {observed}.")
        self.property, self.declared, self.observed = name, declared, observed


def check_measure(measure: Measure, *, seeds: Iterable[int] = SEEDS) -> None:
    """Check the declared properties of a measure on random vectors.

    Checked are `low` and `high`, `rotation_invariant`, `scale_invariant`, `word_scale_invariant`, `swap_negates`, that
    permuting words or pairs permutes scores, that inputs are not modified, that a `Linear` measure has no direction
    (NaN) where an end of a pair is a zero vector, and that name, summary and source are there.

    Args:
        measure: a `Linear`, a `Neighborhood` or an instance of another subclass of `Measure`.
        seeds: of the random vectors; every third has ties.

    Raises:
        PropertyError: a declared property is false.
    """
    checks = _MeasureChecks(f"measure {measure.name!r}", measure)
    checks.texts(name=measure.name, summary=measure.summary, source=measure.source)
    for seed in seeds:
        checks.seed = seed
        checks.world(_draw_world(seed))
    for name in (*_WORLD_CHANGES, "swap_negates"):
        if not getattr(measure, name) and name not in checks.changed:
            checks.fail(name, declared=False, observed="no random vectors bear that out")
    if isinf(measure.high) and checks.largest < 1e3:
        observed = f"no score was beyond {checks.largest:.4g}, whatever the length of the vectors"
        checks.fail("range", (measure.low, measure.high), observed)
    if isinstance(measure, Linear):
        end = np.array([[1.0, 2.0, 3.0]])
        for first, second in ((0 * end, end), (end, 0 * end)):
            with np.errstate(all="ignore"):
                if not np.isnan(measure.direction(first.copy(), second.copy())).all():
                    checks.fail("direction", "NaN where there is none", "a pair with a zero vector has one")


def check_association_test(test: SetTest, *, seeds: Iterable[int] = SEEDS, **settings: Any) -> None:  # noqa: ANN401 - the test's
    """Check the declared properties of an association test on random word sets.

    Checked are `range`, `rotation_invariant`, `scale_invariant`, `length_invariant`, `swap_xy` and `swap_ab` (and that
    the two-sided p does not change with a swap that negates the value or leaves it as it is), `paired`, that the order
    of words does not matter, that inputs are not modified and the same input gives the same result, that `resampled`
    with how often each word is drawn equals the test on repeated words, that a set that is empty or holds a zero vector
    gives a reason and no value, and that results can be written as JSON.

    Args:
        test: the association test.
        seeds: of the random sets.
        settings: of the test, such as `ddof=1`.

    Raises:
        PropertyError: a declared property is false.
    """
    checks = _TestChecks(f"association test {test.name!r}", test, settings)
    checks.texts(name=test.name, zero=test.zero, source=test.source)
    checks.declarations()
    low, high = -inf if test.range[0] is None else test.range[0], inf if test.range[1] is None else test.range[1]
    any_defined = False
    for seed in seeds:
        checks.seed = seed
        sets = _draw_sets(test, seed)
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
        checks.fail("value", "a number", "it is undefined on all random sets")
    for name in (*_SET_CHANGES, "paired", "swap_xy", "swap_ab"):
        declared = getattr(test, name)
        claims_change = declared == "changes" or declared is (name == "paired")
        if claims_change and name not in checks.changed:
            checks.fail(name, declared, "no random sets bear that out")
    checks.undefined()


def check_audit_part(part: AuditPart, *, seed: int = 0) -> None:
    """Check a part of the audit on random vectors with one association test.

    Checked are that `name` is a plain key and `title` is there; that `measure` gives a `Result` or None, and the same
    when it is called again; that the result can be written as JSON and read back to the same JSON; and that `summarize`
    gives a `Summary` or None for the result as measured and as read back.

    Raises:
        PropertyError: one of these is not so.
    """
    from biasgauge.audits import AuditPart, audit_from_context, build_context, read_part, summarize_part, write_part

    checks = _Checks(f"audit part {getattr(part, 'name', part)!r}")
    if not isinstance(part, AuditPart):
        checks.fail("type", type(part).__name__, "it lacks name, title, measure or summarize")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", part.name):
        checks.fail("name", part.name, "a key needs small letters, digits and underscores")
    checks.texts(title=part.title)
    random = np.random.default_rng(seed)
    sets = {role: [f"{role}{number}" for number in range(8)] for role in "xyab"}
    words = tuple(word for members in sets.values() for word in members)
    model = Embedding(words, random.normal(size=(len(words), 16)), name="random")
    roles = {role: {"name": role, "words": sets[role]} for role in sets}
    test = parse_lexicon({"kind": "test", "name": "random", **roles})
    parts = {"bias": registry.get("audit_part", "bias"), part.name: part}  # on which other parts of ours rest
    results = [part.measure(build_context([model], lexicons=[test], parts=parts)) for _ in range(2)]
    for result in results:
        if not isinstance(result, Result | None):
            checks.fail("measure", "Result | None", f"it gave {type(result).__name__}")
    if results[0] is None or results[1] is None:
        return
    audit = audit_from_context(build_context([model], lexicons=[test], parts=parts))
    contents = [parse_json(json.dumps(write_part(part, result, audit))) for result in results if result is not None]
    if contents[0] != contents[1]:
        checks.fail("measure", "deterministic", "two calls gave different results")
    back = read_part(part, contents[0])
    if parse_json(json.dumps(write_part(part, back, audit))) != contents[0]:
        checks.fail("read", "JSON and back", "the JSON differs after reading it back")
    for result in (results[0], back):
        summary = summarize_part(part, result, audit)
        if not isinstance(summary, Summary | None):
            checks.fail("summarize", "Summary | None", f"it gave {type(summary).__name__}")


@dataclass
class _Checks:
    """Checks of one subject; `changed` collects the properties under which some number has changed."""

    subject: str
    seed: int = field(default=0, kw_only=True)
    changed: set[str] = field(default_factory=set, kw_only=True)

    def fail(self, name: str, declared: object, observed: str) -> NoReturn:
        raise PropertyError(self.subject, name, declared, observed)

    def texts(self, **texts: object) -> None:
        for name, text in texts.items():
            if not isinstance(text, str) or not text.strip():
                self.fail(name, text, "it must be a text")


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


def _random_rotation(vectors: Floats, seed: int) -> Floats:
    dimensions = vectors.shape[1]
    rotation: Floats = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(dimensions, dimensions)))[0]
    return rotation


_WORLD_CHANGES: dict[str, Callable[[_World, int], Floats]] = {
    "rotation_invariant": lambda world, seed: world.vectors @ _random_rotation(world.vectors, seed),
    # Powers of two change no digit, so that ties stay ties.
    "scale_invariant": lambda world, seed: world.vectors * 2.0 ** np.random.default_rng(seed + 2).integers(1, 9),
    "word_scale_invariant": _lengthen_words,
}
"""Vectors after a change that leaves scores as they are where the property is declared."""


@dataclass
class _MeasureChecks(_Checks):
    measure: Measure
    largest: float = 0.0

    def scores(self, world: _World) -> Floats:
        """Scores, pairs × words."""
        names = [f"w{row}" for row in range(len(world.vectors))]
        pairs = [(names[first], names[second]) for first, second in zip(world.first, world.second, strict=True)]
        vectors = world.vectors.copy()
        words = [names[row] for row in world.words]
        tensor = score((names, vectors), pairs=pairs, words=words, measures=[self.measure], k=world.k, n_jobs=1)
        if not np.array_equal(vectors, world.vectors):
            self.fail("inputs", "unmodified", "it changed the vectors")
        scores: Floats = tensor.to_numpy()[0, :, :, 0].astype(np.float64)
        return scores

    def world(self, world: _World) -> None:
        """Compare the scores of a world with those of the same world changed."""
        measure, scores = self.measure, self.scores(world)
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
        permuted = {
            "words": (replace(world, words=world.words[words]), scores[:, words]),
            "pairs": (replace(world, first=world.first[pairs], second=world.second[pairs]), scores[pairs]),
        }
        for units, (order, expected) in permuted.items():
            if _first_difference(expected, self.scores(order)) is not None:
                observed = f"another order of {units} changes a score (seed {self.seed})"
                self.fail("scores", "independent of order", observed)

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
    rotation = _random_rotation(next(iter(sets.values())), seed)
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


@dataclass
class _TestChecks(_Checks):
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
                raise PropertyError(self.subject, "inputs", "unmodified", "it writes to a set") from error
            raise
        result = results[0]
        if result != results[1]:
            self.fail("value", "repeatable", "the same sets give another result the second time")
        if (result.value is None) != bool(result.reason):
            observed = f"value is {result.value!r} and reason {result.reason!r}"
            self.fail("reason", "given exactly where there is no value", observed)
        try:
            json.dumps(result.to_dict(), allow_nan=False)
        except (TypeError, ValueError) as error:
            observed = f"the result cannot be written: {error}"
            raise PropertyError(self.subject, "to_dict", "JSON", observed) from error
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
            self.fail("value", "independent of the order of words", observed)
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
                self.fail("resampled", "the test on the words drawn", f"{numbers} (seed {self.seed})")

    def undefined(self) -> None:
        """Empty each set, and put a zero vector into it."""
        sets = _draw_sets(self.test, 4)
        for name in self.test.sets:
            zero = {**sets, name: np.vstack([sets[name][:1], np.zeros_like(sets[name][1:])])}
            # Sets that may be paired are emptied together.
            emptied = [role for role in self.test.sets if role in "xy"] if name in "xy" else [name]
            empty = {**sets, **{role: sets[role][:0] for role in emptied}}
            for case, wrong in (("holds a zero vector", zero), ("is empty", empty)):
                try:
                    value = self.call(wrong).value
                except PropertyError:
                    raise
                except Exception as error:
                    observed = f"it raises {type(error).__name__} where {name!r} {case}"
                    raise PropertyError(
                        self.subject, "value", "None with a reason where undefined", observed
                    ) from error
                if value is not None:
                    observed = f"it is {value:.4g} where {name!r} {case}"
                    self.fail("value", "None with a reason where undefined", observed)


def _differ(value: float, expected: float) -> bool:
    """True if two values differ beyond rounding; two that are undefined do not."""
    return not np.isclose(value, expected, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
