"""The audit: verdicts by hand, from a small model whose words are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.core.geometry import all_lengths
from biasgauge.lexicons import Lexicon, parse_lexicon

pytestmark = pytest.mark.usefixtures("quick_audits")


def model(*words: str, name: str = "toy", scale: float = 1.0) -> bg.Embedding:
    matrix = np.random.default_rng(len(words)).standard_normal((len(words), 5)) * scale
    return bg.Embedding(words, matrix, name=name)


def lexicon(**content: object) -> Lexicon:
    return parse_lexicon({"name": "own", **content}, path="own.toml")


@pytest.mark.parametrize(
    ("found", "verdict"),
    [(5, "measurable"), (4, "measurable"), (3, "undefined"), (0, "undefined")],
)
def test_a_list_needs_four_in_five_of_its_words(found: int, verdict: str) -> None:
    asked = ["one", "two", "three", "four", "five"]
    result = bg.audit(model("other", *asked[:found]), lexicons=[lexicon(kind="words", words=asked)])
    assert result.lexicons[0].verdict == verdict
    assert result.lexicons[0].coverage.lost == ({"words": tuple(asked[found:])} if found < 5 else {})


def test_the_share_needed_can_be_set() -> None:
    own = lexicon(kind="words", words=["one", "two"])
    assert (
        bg.audit(model("one"), lexicons=[own], policy=bg.core.WordPolicy(min_coverage=0.5)).lexicons[0].verdict
        == "measurable"
    )
    assert (
        bg.audit(model("one"), lexicons=[own], policy=bg.core.WordPolicy(min_coverage=0.51)).lexicons[0].verdict
        == "undefined"
    )


def test_a_set_without_any_word_is_never_measurable() -> None:
    own = lexicon(kind="words", words=["one"])
    assert (
        bg.audit(model("other"), lexicons=[own], policy=bg.core.WordPolicy(min_coverage=0)).lexicons[0].verdict
        == "undefined"
    )


def test_sets_that_stand_alone_are_measured_in_part() -> None:
    own = lexicon(kind="sets", sets={"full": ["one", "two"], "empty": ["three"]})
    one = bg.audit(model("one", "two"), lexicons=[own]).lexicons[0]
    assert (one.verdict, one.short, one.reason) == ("partly", ("empty",), "1 of 2 sets lost too many words")


def test_one_short_set_makes_a_test_undefined() -> None:
    words = {role: {"name": role, "words": [f"{role}1", f"{role}2"]} for role in "xyab"}
    one = bg.audit(model("x1", "x2", "y1", "a1", "a2", "b1", "b2"), lexicons=[lexicon(kind="test", **words)]).lexicons[
        0
    ]
    assert (one.verdict, one.short) == ("undefined", ("y",))
    assert one.reason == "fewer than 80 % of the words found: y 1 of 2"


def test_case_is_blamed_only_where_it_would_help() -> None:
    own = lexicon(kind="words", words=["John", "Mary"])
    blamed = bg.audit(model("john", "mary", "Paris"), lexicons=[own]).lexicons[0]
    assert blamed.case_to_blame
    assert blamed.reason.endswith("try again with case fallback")
    assert not bg.audit(model("paul"), lexicons=[own]).lexicons[0].case_to_blame
    lower = bg.audit(model("john", "mary"), lexicons=[own]).lexicons[0]  # no capital anywhere: names have none either
    assert (lower.verdict, lower.case_to_blame) == ("measurable", False)
    helped = bg.audit(
        model("john", "mary", "Paris"), lexicons=[own], policy=bg.core.WordPolicy(case="fallback")
    ).lexicons[0]
    assert helped.verdict == "measurable"
    assert helped.coverage.respelled == {"John": "john", "Mary": "mary"}


def test_vectors_of_length_one_are_noted() -> None:
    raw = model("one", "two", "three")
    unit = bg.Embedding(raw.words, raw.vectors / all_lengths(raw.vectors)[:, None], name="unit")
    own = [lexicon(kind="words", words=["one"])]
    assert [bg.audit(one, lexicons=own).models[0].unit_length for one in (raw, unit)] == [False, True]
    assert "every vector has length 1" in bg.audit(unit, lexicons=own).warnings[0]


def test_lengths_are_exact_also_in_half_precision() -> None:
    half = bg.Embedding(("a", "b"), np.array([[3, 4], [300, 400]], dtype=np.float16))
    assert all_lengths(half.vectors).tolist() == [5.0, 500.0]  # 300² overflows half precision


def test_models_each_get_a_verdict_and_lost_words_are_joined() -> None:
    own = lexicon(kind="words", words=["one", "two", "three", "four"])
    result = bg.audit([model("one", "two", name="a"), model("three", "four", name="b")], lexicons=[own])
    assert [(one.model, one.coverage.found) for one in result.lexicons] == [("a", 2), ("b", 2)]
    assert result.to_dict()["coverage"] == {
        "asked": 8,
        "found": 4,
        "lost": {"own.words": ["three", "four", "one", "two"]},
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"vectors": []}, "must hold at least one model"),
        ({"vectors": [model("a"), model("b")]}, "Every model needs a name of its own"),
        ({"vectors": 3}, "Vectors must be a path, an Embedding"),
        ({"vectors": model("a"), "language": "tlh"}, "must be a language of the shipped lexicons"),
    ],
)
def test_impossible_arguments_get_a_sentence(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(bg.ParameterError, match=sentence):
        bg.audit(**arguments)  # type: ignore[arg-type]  # wrong on purpose


def test_an_impossible_share_of_words_gets_a_sentence() -> None:
    with pytest.raises(bg.ParameterError, match="'min_coverage' parameter must be a number from 0 to 1"):
        bg.audit(model("a"), policy=bg.core.WordPolicy(min_coverage=-0.1))


def test_the_default_covers_what_it_promises() -> None:
    """The shipped vectors have the words of the shipped English lists that their source has, and frequent words."""
    vectors = bg.vectors.load_default()
    assert len(vectors) >= 10_000
    assert vectors.vectors.dtype == np.float16
    verdicts = {
        one.lexicon: one.verdict for one in bg.audit(vectors, policy=bg.core.WordPolicy(case="fallback")).lexicons
    }
    undefined = {name for name, verdict in verdicts.items() if verdict == "undefined"}
    # GoogleNews phrases, capitals and misspellings: 1,441, two thirds lost; a list that is younger than the vectors
    # rare names by group: of 44,753 words of GloVe, from which the shipped ones were taken, a third has them
    rare_names = {"race_valence", "race_status"}
    assert undefined <= {"gender_specific", "bls2015"} | rare_names
    for name in ("du2021", "occ18", "adj", "human", "weat7", "race", "religion", "gender"):
        assert verdicts[name] == "measurable"


def test_the_result_survives_json_and_frames() -> None:
    result = bg.audit(model("he", "she"), lexicons=["bolukbasi2016", "du2021_queries"])
    again = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [one["lexicon"] for one in again["lexicons"]] == ["bolukbasi2016", "du2021_queries"]
    frame = result.to_frame()
    sets = bg.lexicon("du2021_queries").sets
    assert list(frame["question"]) == [f"du2021_queries:{name}" for name in sets]
    assert set(frame["decision"]) == {"not-measurable"}
    assert result.lexicons[0].coverage.found == 2
    lost = result.lexicons[0].coverage.lost["male"]
    assert "he" not in lost
    assert "John" in lost
