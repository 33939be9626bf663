"""Vectors and a lexicon to distances: each number by hand, each lost word listed."""

from __future__ import annotations

import json
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.analyses.posterior import CONNECTIONS, Posterior, bayes, compared_words, distances
from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import StereotypeGroup, Stereotypes, lexicon
from biasgauge.vectors import Embedding, load_default

if TYPE_CHECKING:
    from pathlib import Path

TWO = Stereotypes(
    name="two",
    groups=(StereotypeGroup("red", ("a", "b"), ("p", "q")), StereotypeGroup("blue", ("c",), ("r",))),
    group_order=("red", "blue"),
    defining_sets=(("a", "c"), ("b", "c")),
)
VECTORS = {
    "a": [1.0, 0.0],
    "b": [0.0, 2.0],
    "c": [3.0, 3.0],
    "p": [1.0, 1.0],
    "q": [-1.0, 0.0],
    "r": [0.0, -4.0],
    "h": [1.0, 2.0],
    "n": [0.5, 0.0],
    "zero": [0.0, 0.0],
}


def test_every_distance_by_hand() -> None:
    table = distances(VECTORS, TWO, human=["h"], neutral=["n"])
    half = sqrt(0.5)
    expected = {
        ("a", "p"): ("associated", 1 - half), ("a", "q"): ("associated", 2.0), ("a", "r"): ("different", 1.0),
        ("b", "p"): ("associated", 1 - half), ("b", "q"): ("associated", 1.0), ("b", "r"): ("different", 2.0),
        ("c", "r"): ("associated", 1 + half), ("c", "p"): ("different", 0.0), ("c", "q"): ("different", 1 + half),
        ("a", "h"): ("human", 1 - 1 / sqrt(5)), ("b", "h"): ("human", 1 - 2 / sqrt(5)),
        ("c", "h"): ("human", 1 - 3 / sqrt(10)),
        ("a", "n"): ("neutral", 0.0), ("b", "n"): ("neutral", 1.0), ("c", "n"): ("neutral", 1 - half),
    }  # fmt: skip
    frame = table.to_frame()
    assert len(frame) == len(expected)
    for row in frame.itertuples():
        connection, distance = expected[str(row.protected_word), str(row.word_to_compare)]
        assert row.connection == connection
        assert row.cosine_distance == pytest.approx(distance, abs=1e-12)
    assert set(frame["word_class"]) == {"red", "blue", "human", "neutral"}


def test_words_in_several_defining_sets_count_once_or_as_published() -> None:
    once = distances(VECTORS, TWO, human=None, neutral=None)
    often = distances(VECTORS, TWO, human=None, neutral=None, duplicates="keep")
    assert (len(once), len(often), often.repeated) == (9, 12, 3)
    assert (often.to_frame()["protected_word"] == "c").sum() == 6


def test_a_word_is_not_compared_with_itself() -> None:
    same = Stereotypes(
        name="same", groups=(StereotypeGroup("red", ("a",), ("a", "p")), StereotypeGroup("blue", ("c",), ("r",)))
    )
    table = distances(VECTORS, same)
    assert table.to_frame()["word_to_compare"].tolist() == ["p", "r", "r", "a", "p"]


def test_lost_words_are_listed_and_too_many_make_it_undefined() -> None:
    asked = Stereotypes(
        name="lost",
        groups=(
            StereotypeGroup("red", ("a", "b", "ghost"), ("p", "q", "zero")),
            StereotypeGroup("blue", ("c",), ("r",)),
        ),
    )
    found = bayes(VECTORS, asked, human=["h"], neutral=["n", "x", "y"], policy=WordPolicy(0.5), draws=400)
    assert found.table.lost == {"red.protected": ("ghost",), "red.attributes": ("zero",), "neutral": ("x", "y")}
    assert "lost from red.attributes: zero" in found.warnings
    assert found.undefined == {"neutral": "fewer than 50 % of the words found: neutral 1 of 3"}
    assert found.to_dict()["coverage"]["lost"]["neutral"] == ["x", "y"]
    strict = bayes(VECTORS, asked, human=["h"], neutral=None, draws=400)
    assert strict.undefined["human"] == "fewer than 80 % of the words found: red.protected 2 of 3"
    assert "red.attributes 2 of 3" in strict.undefined["associated"]
    assert not strict.draws.connections
    for posterior in (found, strict):  # JSON keeps what was lost, and that nothing could be fitted
        again = Posterior.from_dict(json.loads(json.dumps(posterior.to_dict(), allow_nan=False)))
        assert again.to_dict() == posterior.to_dict()
        assert (again.warnings, again.undefined) == (posterior.warnings, posterior.undefined)
    assert again.predictive is None


def test_case_fallback() -> None:
    shouting = {word.upper() if word == "a" else word: vector for word, vector in VECTORS.items()}
    plain = distances(shouting, TWO, human=None, neutral=None, policy=WordPolicy(0.5, "exact"))
    assert "a" not in plain.words
    capital = {("A" if word == "a" else word): vector for word, vector in VECTORS.items()}
    found = distances(capital, TWO, human=None, neutral=None, policy=WordPolicy(case="fallback"))
    assert found.words == ("a", "b", "c")


def test_vectors_in_half_precision_are_compared_in_double() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(len(VECTORS), 50)).astype(np.float16)
    table = distances(Embedding(tuple(VECTORS), vectors), TWO, human=None, neutral=None)
    exact = vectors.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    words = list(VECTORS)
    for row in table.to_frame().itertuples():
        one, other = words.index(str(row.protected_word)), words.index(str(row.word_to_compare))
        assert row.cosine_distance == pytest.approx(1 - exact[one] @ exact[other], abs=1e-14)


def test_association_tests_pair_x_with_a_and_y_with_b() -> None:
    asked = compared_words("weat7")
    math, arts = asked.groups
    test = lexicon("weat7")
    assert (math.protected, math.attributes) == (test.sets["x"], test.sets["a"])
    assert (arts.protected, arts.attributes) == (test.sets["y"], test.sets["b"])
    assert {name: len(words) for name, words in asked.controls.items()} == {"human": 85, "neutral": 226}
    assert compared_words("weat7", human=None).controls.keys() == {"neutral"}


def test_tests_in_other_languages_have_no_english_controls() -> None:
    assert compared_words("xweat7_es").controls == {}


def test_sizes_are_those_of_the_published_sets() -> None:
    """METHODS 2.1: rows of gender, race (as published, with repetitions), religion and weat 7."""
    words = {word for name in ("gender", "race", "religion", "weat7") for word in compared_words(name).words}
    random = np.random.default_rng(1)
    everything = Embedding(tuple(sorted(words)), random.normal(size=(len(words), 20)))
    sizes = {
        name: len(distances(everything, name, duplicates="keep")) for name in ("gender", "race", "religion", "weat7")
    }
    assert sizes == {"gender": 4_704, "race": 5_868, "religion": 4_830, "weat7": 5_232}
    assert distances(everything, "race", duplicates="keep").repeated == 2_608
    assert len(distances(everything, "race")) == 5_868 - 2_608


def test_every_shipped_lexicon_of_the_right_kind_runs() -> None:
    vectors = load_default()
    fitting = [name for name in registry.names("lexicon") if lexicon(name).kind in {"stereotypes", "test"}]
    assert {"gender", "race", "religion", "weat1", "weat7"} <= set(fitting)
    for name in fitting:
        found = bayes(vectors, name, draws=400)
        assert {one.connection for one in found.groups} <= set(CONNECTIONS)
        assert all(one.mean is not None or one.reason for one in found.groups)


def test_only_the_words_needed_are_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(f"{word} " + " ".join(map(str, vector)) for word, vector in VECTORS.items()) + "\n")
    table = distances(path, TWO, human=None, neutral=None)
    assert table.name == "two, vectors"
    np.testing.assert_allclose(table.distance, distances(VECTORS, TWO, human=None, neutral=None).distance, atol=1e-7)


def test_lexicons_of_other_kinds_are_refused() -> None:
    with pytest.raises(ParameterError, match="'words'"):
        bayes(VECTORS, "occ16")
    with pytest.raises(LexiconError, match="lexicon"):
        bayes(VECTORS, "religio")
    with pytest.raises(ParameterError, match="min_coverage"):
        bayes(VECTORS, TWO, policy=WordPolicy(1.5))
