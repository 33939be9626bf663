"""What every registered test declares about itself, held against the test; a new one is checked without being asked."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge import registry
from biasgauge.core.arrays import Floats
from biasgauge.metrics.set_test import SetTest, Swap
from biasgauge.stats.bootstrap import Method, Resampling, estimate_over_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TESTS = registry.everything("association_test")

Sets = dict[str, Floats]

CLOSE = 1e-7
every_test = pytest.mark.parametrize("name", sorted(TESTS))
quick = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def drawn(test: SetTest, seed: int) -> Sets:
    """Random sets of random sizes and dimensions; x and y have the same size, since some tests pair them."""
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(3, 9))
    targets = int(random.integers(2, 7))
    sizes = {"x": targets, "y": targets, "a": int(random.integers(3, 7)), "b": int(random.integers(3, 7))}
    return {name: random.normal(size=(sizes[name], dimensions)) for name in test.sets}


def value(test: SetTest, sets: Sets) -> float:
    result = test.function(**sets, interval=None)
    assert result.value is not None, result.reason
    return result.value


def rotated(sets: Sets, seed: int) -> Sets:
    dimensions = next(iter(sets.values())).shape[1]
    turn = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(dimensions, dimensions)))[0]
    return {name: table @ turn for name, table in sets.items()}


def scaled(sets: Sets, seed: int) -> Sets:
    factor = float(np.exp(np.random.default_rng(seed + 2).normal(0, 2)))
    return {name: factor * table for name, table in sets.items()}


def stretched(sets: Sets, seed: int) -> Sets:
    random = np.random.default_rng(seed + 3)
    return {name: np.exp(random.normal(size=(len(table), 1))) * table for name, table in sets.items()}


def swapped(sets: Sets, one: str, other: str) -> Sets:
    return {**sets, one: sets[other], other: sets[one]}


INVARIANCES: dict[str, Callable[[Sets, int], Sets]] = {
    "rotation_invariant": rotated,
    "scale_invariant": scaled,
    "length_invariant": stretched,
}


def broken_declarations(test: SetTest, seed: int) -> list[str]:
    """Names of the declarations that these sets contradict; those of a change need many sets to be contradicted."""
    sets = drawn(test, seed)
    before = value(test, sets)
    broken = [
        declared
        for declared, changed in INVARIANCES.items()
        if getattr(test, declared) and abs(value(test, changed(sets, seed)) - before) > CLOSE
    ]
    for declared, pair in (("swap_xy", "xy"), ("swap_ab", "ab")):
        if getattr(test, declared) is not None:
            after = value(test, swapped(sets, *pair))
            expected = {"negates": -before, "unchanged": before, "changes": after}[getattr(test, declared)]
            broken += [declared] if abs(after - expected) > CLOSE else []
    low, high = test.range
    if (low is not None and before < low - CLOSE) or (high is not None and before > high + CLOSE):
        broken.append("range")
    return broken


def idle_declarations(test: SetTest) -> list[str]:
    """Names of the declarations of a change that nothing bears out."""
    worlds = [drawn(test, seed) for seed in range(20)]
    idle = [
        declared
        for declared, changed in INVARIANCES.items()
        if not getattr(test, declared)
        and all(abs(value(test, changed(sets, 7)) - value(test, sets)) <= CLOSE for sets in worlds)
    ]
    for declared, pair in (("swap_xy", "xy"), ("swap_ab", "ab")):
        if getattr(test, declared) == "changes":
            before = np.array([value(test, sets) for sets in worlds])
            after = np.array([value(test, swapped(sets, *pair)) for sets in worlds])
            same = min(np.abs(after - before).max(), np.abs(after + before).max()) <= CLOSE
            idle += [declared] if same else []
    return idle


@every_test
@quick
@given(seed=seeds)
def test_declarations_hold(name: str, seed: int) -> None:
    assert broken_declarations(TESTS[name], seed) == []


@every_test
def test_declarations_of_a_change_are_borne_out(name: str) -> None:
    assert idle_declarations(TESTS[name]) == []


@every_test
def test_no_test_is_unclassified(name: str) -> None:
    test = TESTS[name]
    assert test.name == name
    assert set(test.sets) <= set("xyab")
    assert (test.swap_xy is None) == (not {"x", "y"} <= set(test.sets))
    assert (test.swap_ab is None) == (not {"a", "b"} <= set(test.sets))
    for declared in (test.swap_xy, test.swap_ab):
        assert declared is None or declared in get_args(Swap)
    assert test.zero
    assert test.source


@every_test
def test_a_wrong_declaration_is_found(name: str) -> None:
    test = TESTS[name]
    wrong: list[tuple[str, Any]] = [(declared, not getattr(test, declared)) for declared in INVARIANCES]
    for declared in ("swap_xy", "swap_ab"):
        if getattr(test, declared) is not None:
            wrong += [(declared, other) for other in get_args(Swap) if other != getattr(test, declared)]
    wrong.append(("range", (1_000.0, None)))
    for declared, claim in wrong:
        planted = replace(test, **{declared: claim})
        found = {one for seed in range(20) for one in broken_declarations(planted, seed)} | set(
            idle_declarations(planted)
        )
        assert found == {declared}, (declared, claim)


EAST, NORTH, WEST = [[1.0, 0.0]], [[0.0, 1.0]], [[-1.0, 0.0]]
FAN = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 1.0]]
ENDS_OF_RANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ect": ({"x": EAST, "y": WEST, "a": FAN}, {"x": EAST, "y": [[3.0, 1.0]], "a": FAN[1:]}),
    "mac": ({"x": EAST, "y": EAST, "a": EAST, "b": EAST}, {"x": EAST, "y": EAST, "a": WEST, "b": WEST}),
    "rnsb": ({"x": EAST, "y": EAST, "a": NORTH, "b": WEST}, {}),
    "same": ({"x": NORTH, "a": EAST, "b": WEST}, {"x": EAST + WEST, "a": EAST, "b": WEST}),
    "semaxis": ({"x": WEST, "a": EAST, "b": WEST}, {"x": EAST, "a": EAST, "b": WEST}),
}


@every_test
def test_every_end_of_a_range_is_reached(name: str) -> None:
    ends = ENDS_OF_RANGES.get(name, ({}, {}))
    for declared, sets in zip(TESTS[name].range, ends, strict=True):
        if declared is None:
            assert not sets
        else:
            found = value(TESTS[name], {key: np.array(one) for key, one in sets.items()})
            assert found == pytest.approx(declared, abs=1e-12)


@every_test
@quick
@given(seed=seeds)
def test_the_order_of_words_within_a_set_does_not_matter(name: str, seed: int) -> None:
    test = TESTS[name]
    sets = drawn(test, seed)
    random = np.random.default_rng(seed)
    resampled = test.resampled(sets)
    shuffled = dict(sets)
    for unit, size in resampled.units.items():  # words that are drawn together are moved together
        order = random.permutation(size)
        shuffled.update({one: sets[one][order] for one in unit})
    assert value(test, shuffled) == pytest.approx(value(test, sets), abs=CLOSE)


@pytest.mark.parametrize("name", [name for name, test in TESTS.items() if {"x", "y"} <= set(test.sets)])
def test_only_paired_words_have_a_place(name: str) -> None:
    """Another order of Y alone: the value changes where x[i] and y[i] belong together, and nowhere else."""
    test = TESTS[name]
    sets = drawn(test, 9)
    turned = {**sets, "y": np.roll(sets["y"], 1, axis=0)}
    assert test.paired == (abs(value(test, turned) - value(test, sets)) > CLOSE)


def test_without_two_target_sets_nothing_is_paired() -> None:
    assert not any(test.paired for test in TESTS.values() if not {"x", "y"} <= set(test.sets))


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in sorted(TESTS)),
    ("weat", {"ddof": 1}),
    ("nas", {"ddof": 1}),
    ("rnd", {"unit_vectors": False}),
    ("rnd", {"distance": "cosine"}),
    ("rnd", {"distance": "cosine", "unit_vectors": False}),
    ("set_ripa", {"unit_words": True}),
    ("rnsb", {"c": 0.3, "penalize_intercept": True}),
]


def whole_numbers(test: SetTest, seed: int) -> Sets:
    """Small whole numbers, none of them all 0: equal, opposite and collinear vectors abound."""
    random = np.random.default_rng(seed)
    vectors = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) if x or y])
    sizes = {"x": 3, "y": 3, "a": int(random.integers(2, 5)), "b": int(random.integers(2, 5))}
    return {name: vectors[random.integers(0, len(vectors), sizes[name])] for name in test.sets}


def tiny(test: SetTest, seed: int) -> Sets:
    return {name: 1e-30 * table for name, table in drawn(test, seed).items()}


@pytest.mark.parametrize("world", [drawn, whole_numbers, tiny])
@pytest.mark.parametrize(("name", "chosen"), SETTINGS)
@quick
@given(seed=seeds)
def test_drawing_a_word_twice_is_the_same_as_listing_it_twice(
    name: str, chosen: dict[str, Any], world: Callable[[SetTest, int], Sets], seed: int
) -> None:
    """Also where the words drawn leave the number undefined: then a draw has none."""
    test = TESTS[name]
    sets = world(test, seed)
    random = np.random.default_rng(seed + 4)
    if test.function(**sets, **chosen, interval=None).value is None:
        return  # there is nothing to resample
    resampled = test.resampled(sets, **chosen)
    counts = {unit: random.multinomial(size, [1 / size] * size, size=6) for unit, size in resampled.units.items()}
    values = resampled.values({unit: one.astype(np.float64) for unit, one in counts.items()})
    for row, weighted in enumerate(values):
        listed = dict(sets)
        for unit, rows in counts.items():
            listed.update({one: np.repeat(sets[one], rows[row], axis=0) for one in unit})
        result = test.function(**listed, **chosen, interval=None)
        if result.value is None:
            assert np.isnan(weighted), result.reason
        else:
            assert weighted == pytest.approx(result.value, abs=CLOSE)


@every_test
def test_inputs_are_left_as_they_were(name: str) -> None:
    test = TESTS[name]
    sets = drawn(test, 1)
    copies = {one: table.copy() for one, table in sets.items()}
    for table in sets.values():
        table.flags.writeable = False
    first, again = test.function(**sets), test.function(**sets)
    assert first == again
    for one, table in sets.items():
        assert (table == copies[one]).all()


@pytest.mark.parametrize("name", [name for name, test in TESTS.items() if test.length_invariant])
@pytest.mark.parametrize("factor", [1e-170, 1e200])
def test_no_length_is_too_short_or_too_long_for_a_direction(name: str, factor: float) -> None:
    test = TESTS[name]
    sets = drawn(test, 6)
    assert value(test, {one: factor * table for one, table in sets.items()}) == pytest.approx(value(test, sets))


@every_test
def test_settings_that_change_the_value_change_the_interval_with_it(name: str) -> None:
    test = TESTS[name]
    for chosen in (one for other, one in SETTINGS if other == name):
        sets = drawn(test, 8)
        asked = Resampling(method="percentile", resamples=100)
        result = test.function(**sets, **chosen, interval=asked)
        assert result.value is not None
        assert result.interval == estimate_over_words(result.value, test.resampled(sets, **chosen), asked)


@every_test
def test_half_precision_is_computed_in_full(name: str) -> None:
    test = TESTS[name]
    half = {one: table.astype(np.float16) for one, table in drawn(test, 2).items()}
    full = {one: table.astype(np.float64) for one, table in half.items()}
    assert test.function(**half) == test.function(**full)


@every_test
def test_the_result_is_plain_data_with_an_interval(name: str) -> None:
    test = TESTS[name]
    result = test.function(**drawn(test, 3))
    assert result.interval is not None
    assert result.interval.over == "words"
    shape = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert shape["effect_size" if name == "weat" else "value"] == result.value
    assert shape["reason"] is None
    assert shape["interval"]["low"] == result.interval.low


@every_test
def test_no_set_may_be_empty_or_hold_a_zero_vector(name: str) -> None:
    test = TESTS[name]
    for one in test.sets:
        sets = drawn(test, 4)
        zero = {**sets, one: np.vstack([sets[one][:1], np.zeros_like(sets[one][1:])])}
        empty = {**sets, one: []} if one in "ab" else {**sets, **{x: [] for x in "xy" if x in sets}}
        for wrong, reason in ((zero, f"word 1 of the set '{one}' has a zero vector"), (empty, "is empty")):
            result = test.function(**wrong)
            assert result.value is None
            assert reason in (result.reason or "")
            assert result.interval is not None
            assert result.interval.reason == result.reason


@every_test
def test_wrong_input_gets_a_sentence(name: str) -> None:
    test = TESTS[name]
    sets: dict[str, Any] = drawn(test, 5)
    last = test.sets[-1]
    for wrong, sentence in (
        (sets[last][0], "must be a matrix of real numbers"),
        (sets[last] * 1j, "must be a matrix of real numbers"),
        (sets[last][:, 1:], "same number of dimensions"),
        (sets[last] * np.nan, "finite numbers only. Got nan or infinity in row 0"),
        (np.vstack([sets[last][:1], [np.inf, *sets[last][1, 1:]]]), "Got nan or infinity in row 1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            test.function(**{**sets, last: wrong})


@every_test
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_the_vectors_there_is_a_number_or_a_reason(name: str, data: st.DataObject) -> None:
    # Few whole numbers: equal, opposite, collinear and zero vectors abound; and some very long and very short ones.
    test = TESTS[name]
    scale = data.draw(st.sampled_from([1.0, 1.0, 1e-160, 1e150]))
    words = {one: data.draw(st.integers(1, 4)) for one in test.sets}
    if "y" in words:
        words["y"] = words["x"]
    sets = {
        one: scale
        * np.array(data.draw(st.lists(st.lists(st.integers(-1, 1), min_size=2, max_size=2), min_size=n, max_size=n)))
        for one, n in words.items()
    }
    method = data.draw(st.sampled_from(get_args(Method)))
    result = test.function(**sets, interval=Resampling(method=method, resamples=40))
    assert (result.value is None) == (result.reason is not None)
    assert result.interval is not None
    assert (result.interval.low is None) == (result.interval.reason is not None)
    if result.interval.low is not None:
        assert result.interval.high is not None
        assert result.interval.low <= result.interval.high
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_tests_of_the_papers_are_there() -> None:
    assert set(TESTS) >= {"ect", "mac", "nas", "rnd", "rnsb", "same", "semaxis", "set_ripa", "weat"}


def test_a_new_test_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nearness.py").write_text(
        "from dataclasses import replace\n"
        "from biasgauge.metrics.weat import TEST as WEAT\n"
        "TEST = replace(WEAT, name='nearness')\n"
    )
    room = import_module("biasgauge.metrics")
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
    registry._shipped.cache_clear()  # noqa: SLF001 - a package does not grow while it runs
    registry.refresh()
    try:
        assert set(registry.names("association_test")) == {*TESTS, "nearness"}
    finally:
        registry._shipped.cache_clear()  # noqa: SLF001 - as above
        registry.refresh()
