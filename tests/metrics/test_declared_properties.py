"""Declared properties of every registered measure and association test; a new one is checked without being listed."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge import registry
from biasgauge.core import Floats
from biasgauge.metrics import AssociationResult, Linear, Measure, Neighborhood, SetTest, Swap
from biasgauge.metrics.semaxis import semaxis
from biasgauge.stats import Resampled, Resampling, estimate_over_words
from biasgauge.stats.bootstrap import Method
from biasgauge.testing import PropertyError, check_association_test, check_measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TESTS = registry.everything("association_test")

Sets = dict[str, Floats]
MEASURE_FLAGS = ("rotation_invariant", "scale_invariant", "word_scale_invariant", "swap_negates")
TEST_FLAGS = ("rotation_invariant", "scale_invariant", "length_invariant", "paired")
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

CLOSE = 1e-7
every_measure = pytest.mark.parametrize("name", registry.names("measure"))
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


@every_measure
def test_declarations_of_measures_hold(name: str) -> None:
    check_measure(registry.get("measure", name), seeds=range(60))


@pytest.mark.parametrize(("name", "chosen"), [case for case in SETTINGS if case[0] not in {"rnd", "set_ripa"}])
def test_declarations_of_tests_hold(name: str, chosen: dict[str, Any]) -> None:
    check_association_test(TESTS[name], seeds=range(40), **chosen)


@pytest.mark.parametrize("name", ["rnd", "set_ripa"])
def test_declarations_hold_for_the_default_settings(name: str) -> None:
    """Their settings are about the lengths of vectors, so that what is declared of lengths is declared of defaults."""
    check_association_test(TESTS[name], seeds=range(40))


@every_measure
def test_no_measure_is_unclassified(name: str) -> None:
    measure = registry.get("measure", name)
    assert measure.name == name
    assert isinstance(measure, (Linear, Neighborhood))
    for declared in MEASURE_FLAGS:
        assert getattr(measure, declared) is True or getattr(measure, declared) is False, declared
    assert measure.low == -measure.high or not measure.swap_negates
    assert "Undefined" in measure.summary or "As " in measure.summary


def test_every_declared_property_of_a_measure_is_checked() -> None:
    texts = {"name", "display_name", "summary", "source"}
    assert {field.name for field in fields(Measure)} == {*MEASURE_FLAGS, "low", "high"} | texts


def test_every_declared_property_of_a_test_is_checked() -> None:
    functions, texts = {"function", "resampled", "sets"}, {"name", "display_name", "zero", "source"}
    assert {field.name for field in fields(SetTest)} == {*TEST_FLAGS, "swap_xy", "swap_ab", "range"} | functions | texts


@every_measure
def test_a_false_declaration_of_a_measure_is_found(name: str) -> None:
    measure = registry.get("measure", name)
    for declared in MEASURE_FLAGS:
        with pytest.raises(PropertyError) as found:
            check_measure(replace(measure, **{declared: not getattr(measure, declared)}))  # type: ignore[arg-type]
        assert (found.value.property, found.value.declared) == (declared, not getattr(measure, declared))


@pytest.mark.parametrize(("name", "wrong"), [("dbwa", {"high": 0.1}), ("nbm", {"low": -0.1}), ("dbwa", {"high": inf})])
def test_a_false_range_of_a_measure_is_found(name: str, wrong: dict[str, float]) -> None:
    with pytest.raises(PropertyError, match="range"):
        check_measure(replace(registry.get("measure", name), **wrong))  # type: ignore[arg-type]  # floats into floats


@every_test
def test_a_false_declaration_of_a_test_is_found(name: str) -> None:
    test = TESTS[name]
    wrong: list[tuple[str, Any]] = [(declared, not getattr(test, declared)) for declared in TEST_FLAGS]
    for declared in ("swap_xy", "swap_ab"):
        if getattr(test, declared) is None:
            wrong.append((declared, "negates"))
        else:
            wrong += [(declared, other) for other in (*get_args(Swap), None) if other != getattr(test, declared)]
    wrong += [("range", (1_000.0, None)), ("range", (None, -1_000.0)), ("sets", ("x", "z")), ("source", "")]
    for declared, claim in wrong:
        with pytest.raises(PropertyError) as found:
            check_association_test(replace(test, **{declared: claim}))
        assert (found.value.property, found.value.declared) == (declared, claim), declared


def test_the_error_names_test_property_declaration_and_observation() -> None:
    with pytest.raises(PropertyError) as found:
        check_association_test(replace(TESTS["weat"], range=(0.0, 0.1), swap_ab="unchanged"))
    assert str(found.value).startswith("The association test 'weat' declares range = (0.0, 0.1), but a value is -0.8")
    with pytest.raises(PropertyError, match="'weat'"):
        check_association_test(replace(TESTS["weat"], swap_ab="unchanged"))


def scribble(**sets: Any) -> AssociationResult:  # noqa: ANN401 - sets and settings
    sets["x"] *= 2
    return semaxis(**sets)


def forget(**sets: Any) -> AssociationResult:  # noqa: ANN401 - sets and settings
    return replace(semaxis(**sets), value=None)


def wander(**sets: Any) -> AssociationResult:  # noqa: ANN401 - sets and settings
    wander.calls = getattr(wander, "calls", 0) + 1  # type: ignore[attr-defined]
    return replace(semaxis(**sets), value=float(np.sin(wander.calls)))  # type: ignore[attr-defined]


def first_word(**sets: Any) -> AssociationResult:  # noqa: ANN401 - sets and settings
    return semaxis(**{**sets, "x": sets["x"][:1]})


def crash(**sets: Any) -> AssociationResult:  # noqa: ANN401 - sets and settings
    return semaxis(**{**sets, "a": np.stack(list(sets["a"]))})


def of_other_words(sets: Sets) -> Resampled:
    resampled: Resampled = TESTS["semaxis"].resampled({**sets, "x": sets["x"][::-1]})
    return resampled


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"function": scribble}, "leave its inputs"),
        ({"function": forget}, "reason exactly where"),
        ({"function": wander}, "repeatable"),
        ({"function": first_word}, "independent of the order|words drawn"),
        ({"function": crash}, "raises ValueError .*where 'a' is empty"),
        ({"resampled": of_other_words}, "resampled.*words drawn"),
    ],
)
def test_a_faulty_test_is_found(fault: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PropertyError, match=sentence):
        check_association_test(replace(TESTS["semaxis"], **fault))


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (lambda words, first, second: np.cumsum(distances(words, first, second), axis=1), "another order of words"),
        (lambda words, first, second: np.cumsum(distances(words, first, second), axis=0), "another order of pairs"),
        (lambda words, first, second: np.abs(distances(words, first, second)), "swap_negates = True"),
        (lambda words, first, second: distances(words - words.mean(axis=0), first, second), "other words"),
        (lambda words, first, second: distances(words, first, second) * np.nan, "every score is undefined"),
        (lambda words, first, second: distances(words, first, second).T, "pairs × words"),
        (lambda words, first, second: words[len(first) + len(second) + 10**9], "raises IndexError"),
    ],
)
def test_a_faulty_measure_is_found(scores: Callable[[Floats, Floats, Floats], Floats], sentence: str) -> None:
    class Faulty(Measure):
        def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:
            return scores(words, first, second)

    declared: dict[str, Any] = {"scale_invariant": False, "word_scale_invariant": False}
    measure = Faulty(name="faulty", summary="…", low=-inf, high=inf, source="…", **declared)
    with pytest.raises(PropertyError, match=sentence):
        check_measure(measure)


def distances(words: Floats, first: Floats, second: Floats) -> Floats:
    to_first, to_second = (np.linalg.norm(words - ends[:, None], axis=2) for ends in (first, second))
    return np.asarray(to_second - to_first)


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
        "from dataclasses import fields, replace\n"
        "from biasgauge.metrics.weat import TEST as WEAT\n"
        "TEST = replace(WEAT, name='nearness')\n"
    )
    package = import_module("biasgauge.metrics")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    registry._modules.cache_clear()  # noqa: SLF001 - a package does not grow while it runs
    registry._shipped.cache_clear()  # noqa: SLF001
    registry.refresh()
    try:
        assert set(registry.names("association_test")) == {*TESTS, "nearness"}
    finally:
        registry._modules.cache_clear()  # noqa: SLF001 - as above
        registry._shipped.cache_clear()  # noqa: SLF001
        registry.refresh()
