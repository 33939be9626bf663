"""The score tensor: labels and scores go together, and every gap has its reason."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import ParameterError
from biasgauge.metrics import Measure
from biasgauge.scores import REASONS, ScoreTensor, score
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.core.arrays import Floats

MEASURES = ("dbwa", "nbm")
PAIRS = (("he", "she"), ("king", "queen"), ("man", "woman"))
WORDS = ("nurse", "doctor", "smith", "baker", "clerk")
MODELS = ("one", "two")


def number(measure: str, pair: tuple[str, str], word: str, model: str) -> float:
    """A score that tells which cell it belongs to."""
    places = MEASURES.index(measure), PAIRS.index(pair), WORDS.index(word), MODELS.index(model)
    return float(sum(place * 10**power for power, place in enumerate(places)))


def made() -> ScoreTensor:
    cells = list(product(MEASURES, PAIRS, WORDS, MODELS))
    shape = (len(MEASURES), len(PAIRS), len(WORDS), len(MODELS))
    values = np.array([number(*cell) for cell in cells], np.float32).reshape(shape)
    undefined = np.zeros(shape, np.uint8)
    undefined[:, :, 2, 1] = 1
    undefined[1, 2, :, 0] = 8
    values[undefined > 0] = np.nan
    return ScoreTensor(values, undefined, MEASURES, PAIRS, WORDS, MODELS, {"k": 3})


def expected_reason(measure: str, pair: tuple[str, str], word: str, model: str) -> str:
    if (measure, pair, model) == ("nbm", ("man", "woman"), "one"):
        return "fewer than k neighbors exist"
    return "the word is not in the vocabulary" if (word, model) == ("smith", "two") else ""


def assert_labels_fit(tensor: ScoreTensor) -> None:
    for (m, measure), (p, pair), (w, word), (n, model) in product(
        enumerate(tensor.measures), enumerate(tensor.pairs), enumerate(tensor.words), enumerate(tensor.models)
    ):
        reason = expected_reason(measure, pair, word, model)
        assert REASONS[tensor.undefined[m, p, w, n]] == reason == tensor.reason(measure, pair, word, model)
        expected = np.nan if reason else number(measure, pair, word, model)
        np.testing.assert_equal(float(tensor.values[m, p, w, n]), expected)


def choices(labels: tuple[Any, ...]) -> st.SearchStrategy[list[Any] | None]:
    return st.none() | st.permutations(labels).flatmap(
        lambda order: st.integers(0, len(order)).map(lambda n: order[:n])
    )


@settings(max_examples=40, deadline=None)
@given(measure=choices(MEASURES), pair=choices(PAIRS), word=choices(WORDS), model=choices(MODELS))
def test_selection_never_parts_labels_and_scores(
    measure: list[str] | None,
    pair: list[tuple[str, str]] | None,
    word: list[str] | None,
    model: list[str] | None,
) -> None:
    found = made().select(measure=measure, pair=pair, word=word, model=model)
    for labels, asked, whole in (
        (found.measures, measure, MEASURES),
        (found.pairs, pair, PAIRS),
        (found.words, word, WORDS),
        (found.models, model, MODELS),
    ):
        assert labels == (whole if asked is None else tuple(asked))
    assert_labels_fit(found)


def test_words_in_another_order_keep_their_scores() -> None:
    """In one published implementation, selecting words in another order swaps their labels."""
    whole = made()
    turned = whole.select(word=["baker", "nurse"])
    assert turned.words == ("baker", "nurse")
    np.testing.assert_array_equal(turned.values[:, :, 0], whole.values[:, :, WORDS.index("baker")])
    np.testing.assert_array_equal(turned.values[:, :, 1], whole.values[:, :, WORDS.index("nurse")])


def test_selections_of_selections() -> None:
    assert_labels_fit(
        made().select(word=WORDS[::-1]).select(word=["clerk", "doctor"], pair=PAIRS[::-1]).select(pair=PAIRS[1:])
    )


def test_selection_takes_any_iterable_once() -> None:
    found = made().select(word=iter(["clerk", "smith"]), pair=iter([PAIRS[1], PAIRS[0]]))
    assert found.pairs == (PAIRS[1], PAIRS[0])
    assert_labels_fit(found)


def test_selection_is_a_copy() -> None:
    whole = made()
    part = whole.select(word=["clerk"])
    part.values[:] = 99
    assert_labels_fit(whole)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"word": ["nurse", "Nurse"]}, "There is no word 'Nurse'."),
        ({"measure": ["ripa"]}, "There is no measure 'ripa'."),
        ({"pair": [("she", "he")]}, "There is no pair ('she', 'he')."),
        ({"pair": ("he", "she")}, "There is no pair 'he'."),
        ({"model": ["three"]}, "There is no model 'three'."),
        ({"word": "nurse"}, "Labels of the axis 'word' must come in a list. Got the string 'nurse'."),
        ({"word": ["nurse", "nurse"]}, "The labels of the axis 'word' of a ScoreTensor must differ from each other."),
    ],
)
def test_selections_that_cannot_be(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        made().select(**asked)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("field", "labels", "axis"),
    [
        ("measures", ("dbwa", "dbwa"), "measure"),
        ("pairs", (PAIRS[0], PAIRS[0], PAIRS[1]), "pair"),
        ("words", (*WORDS[:4], "nurse"), "word"),
        ("models", ("one", "one"), "model"),
    ],
)
def test_labels_that_recur_are_refused(field: str, labels: tuple[Any, ...], axis: str) -> None:
    with pytest.raises(ParameterError, match=f"labels of the axis '{axis}' of a ScoreTensor must differ"):
        replace(made(), **{field: labels})  # type: ignore[arg-type]  # labels into labels


@pytest.mark.parametrize("field", ["measures", "pairs", "words", "models", "values", "undefined"])
def test_labels_that_do_not_fit_are_refused(field: str) -> None:
    with pytest.raises(ParameterError, match="ScoreTensor"):
        replace(
            made(), **{field: getattr(made(), field)[:1]} if field != "measures" else {"measures": (*MEASURES, "x")}
        )


def test_frame_agrees_with_the_array_cell_by_cell() -> None:
    tensor = made().select(word=WORDS[::-1], model=MODELS[::-1])
    frame = tensor.to_frame()
    assert list(frame.columns) == ["measure", "first", "second", "word", "model", "score", "undefined"]
    assert len(frame) == tensor.to_numpy().size
    seen = set()
    for row in frame.itertuples(index=False):
        cell = str(row.measure), (str(row.first), str(row.second)), str(row.word), str(row.model)
        seen.add(cell)
        assert row.undefined == expected_reason(*cell)
        np.testing.assert_equal(float(str(row.score)), np.nan if row.undefined else number(*cell))
        place = [
            axis.index(label)
            for axis, label in zip((tensor.measures, tensor.pairs, tensor.words, tensor.models), cell, strict=True)
        ]
        np.testing.assert_equal(float(tensor.to_numpy()[tuple(place)]), float(str(row.score)))
    assert len(seen) == len(frame)


def test_counts_of_undefined_scores() -> None:
    # "smith" in the model "two": 2 measures × 3 pairs; nbm of (man, woman) in the model "one": 5 words.
    assert made().count_undefined() == {"the word is not in the vocabulary": 6, "fewer than k neighbors exist": 5}
    assert made().select(model=["two"], word=["nurse"]).count_undefined() == {}


def test_dictionary_goes_through_json() -> None:
    found = made().to_dict()
    assert json.loads(json.dumps(found)) == {
        "shape": {"measure": 2, "pair": 3, "word": 5, "model": 2},
        "measures": ["dbwa", "nbm"],
        "pairs": [["he", "she"], ["king", "queen"], ["man", "woman"]],
        "words": 5,
        "models": ["one", "two"],
        "undefined": {"the word is not in the vocabulary": 6, "fewer than k neighbors exist": 5},
        "provenance": {"k": 3},
    }


def test_dictionary_of_real_scores_goes_through_json(people: Embedding) -> None:
    found = score(people, pairs=[("he", "she")], words="full", pool=["he", "she", "lost"], k=1).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_representation() -> None:
    assert repr(made()) == "<ScoreTensor: 2 measures × 3 pairs × 5 words × 2 models, 11 undefined>"
    one = made().select(measure=["dbwa"], pair=[PAIRS[0]], word=["nurse"], model=["one"])
    assert repr(one) == "<ScoreTensor: 1 measure × 1 pair × 1 word × 1 model, 0 undefined>"
    assert "1 measure × 1 pair × 1 word × 1 model, 0 undefined" in one._repr_html_()


def test_tensor_cannot_be_given_other_labels() -> None:
    with pytest.raises(FrozenInstanceError):
        made().words = WORDS[::-1]  # type: ignore[misc]  # that is the point


def _with_vectors(changed: dict[str, tuple[float, float]]) -> Embedding:
    table = {"he": (1.0, 0.0), "she": (0.0, 1.0), "nurse": (2.0, 3.0), "doctor": (3.0, 2.0), "clerk": (3.0, 1.0)}
    return load({word: np.array(vector, np.float32) for word, vector in (table | changed).items()}, name="model")


class _Silent(Measure):
    def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:
        return np.full((len(first), len(words)), np.inf + second.sum())


SILENT: dict[str, Any] = {
    "name": "silent", "summary": "", "low": 0.0, "high": 0.0, "source": "", "scale_invariant": True,
    "word_scale_invariant": True,
}  # fmt: skip
PAIR = ("he", "she")
CAUSES: dict[str, Callable[[], ScoreTensor]] = {
    "": lambda: score(_with_vectors({}), pairs=[PAIR], words=["nurse"], k=2),
    "the word is not in the vocabulary": lambda: score(_with_vectors({}), pairs=[PAIR], words=["unheard"], k=2),
    "the word's vector is not finite": lambda: score(
        _with_vectors({"nurse": (np.nan, 1)}), pairs=[PAIR], words=["nurse"], k=2
    ),
    "the word's vector is zero": lambda: score(_with_vectors({"nurse": (0, 0)}), pairs=[PAIR], words=["nurse"], k=2),
    "an end of the pair is not in the vocabulary": lambda: score(
        _with_vectors({}), pairs=[("he", "unheard"), ("unheard", "he"), ("lost", "unheard")], words=["nurse"], k=2
    ),
    "an end of the pair has a vector that is not finite": lambda: score(
        _with_vectors({"she": (1, np.inf)}), pairs=[PAIR, PAIR[::-1]], words=["nurse"], k=2
    ),
    "an end of the pair has a zero vector": lambda: score(
        _with_vectors({"he": (0, 0)}), pairs=[PAIR, PAIR[::-1]], words=["nurse"], k=2
    ),
    "the ends of the pair have equal vectors": lambda: score(
        _with_vectors({"she": (1, 0)}), pairs=[PAIR, ("clerk", "clerk")], words=["nurse", "he"], k=2
    ),
    "fewer than k neighbors exist": lambda: score(
        _with_vectors({"clerk": (0, 0)}), pairs=[PAIR], words=["nurse"], measures="nbm", k=4
    ),
    "the measure gives no number for this word and pair": lambda: score(
        _with_vectors({}), pairs=[PAIR], words=["nurse", "clerk"], measures=_Silent(**SILENT)
    ),
}


def test_every_reason_has_a_cause() -> None:
    assert list(CAUSES) == list(REASONS)


@pytest.mark.parametrize("reason", CAUSES)
def test_reasons(reason: str) -> None:
    found = CAUSES[reason]()
    for measure, pair, word, model in product(found.measures, found.pairs, found.words, found.models):
        assert found.reason(measure, pair, word, model) == reason
    np.testing.assert_array_equal(np.isnan(found.values), found.undefined != 0)
    assert found.count_undefined() == ({reason: found.values.size} if reason else {})


@pytest.mark.parametrize("k", [1, 3, 4])
def test_scores_are_nan_exactly_where_they_are_undefined(k: int) -> None:
    model = _with_vectors({"void": (0, 0), "broken": (np.nan, 0), "twin": (1, 0)})
    words = ["nurse", "void", "broken", "unheard", "he", "twin", "clerk"]
    pairs = [PAIR, ("he", "twin"), ("void", "he"), ("he", "broken"), ("unheard", "she"), ("doctor", "clerk")]
    measures = ["dbwa", "ripa", "ripa_unit", "nbm", "nbm_du2021", "nbm_zhang2020"]
    for pool in (None, ["nurse", "void", "clerk", "doctor", "he", "she"], ["nurse", "void", "clerk", "doctor", "he"]):
        found = score(model, pairs=pairs, words=words, measures=measures, k=k, pool=pool)
        np.testing.assert_array_equal(np.isnan(found.values), found.undefined != 0)
        assert 0 < np.isnan(found.values).mean() < 1
