"""Expanding a lexicon: against a loop over cosines; unique, without what was excluded, and with its history."""

from __future__ import annotations

import json
import math
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, WordSets, check, lexicon
from biasgauge.mitigation.expansion import Expansion, Linkage, expand_lexicon, set_similarities
from biasgauge.vectors import Embedding, load_default

if TYPE_CHECKING:
    from pathlib import Path

TEST = AssociationTest(
    name="small",
    notes="By hand.",
    beware=("Too small.",),
    x=WordSet("city", ("w0", "w1")),
    y=WordSet("country", ("w2",)),
    a=WordSet("rich", ("w3", "w4", "absent")),
    b=WordSet("poor", ("w5",)),
)


def random_embedding(seed: int, words: int = 80, dim: int = 5) -> Embedding:
    """Vectors of many lengths, some of them equal, one of them zero."""
    vectors = np.random.default_rng(seed).normal(size=(words, dim)).astype(np.float32)
    vectors *= np.random.default_rng(seed + 1).uniform(0.1, 9, size=(words, 1))
    vectors[20] = 2 * vectors[21]
    vectors[30] = 0
    return Embedding(tuple(f"w{number}" for number in range(words)), vectors, name="random")


def cosine(a: Any, b: Any) -> float:  # noqa: ANN401 - two vectors
    dot, aa, bb = 0.0, 0.0, 0.0
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        dot, aa, bb = dot + one * other, aa + one * one, bb + other * other
    return dot / math.sqrt(aa * bb)


def slow(model: Embedding, sets: dict[str, tuple[str, ...]], n: int, to: str, barred: set[str]) -> dict[str, list[str]]:
    """Each word to its nearest set, then the n nearest of each, one word after the other."""
    mine: dict[str, list[tuple[float, int, str]]] = {name: [] for name in sets}
    taken = {word for words in sets.values() for word in words} | barred
    for row, word in enumerate(model.words):
        if word in taken or not model[word].any():
            continue
        near = {}
        for name, words in sets.items():
            cosines = [cosine(model[word], model[other]) for other in words if other in model]
            near[name] = round(max(cosines) if to == "any" else sum(cosines) / len(cosines), 12)
        home = max(near, key=lambda name: near[name])
        mine[home].append((-near[home], row, word))
    return {name: [word for _, _, word in sorted(words)[:n]] for name, words in mine.items()}


@pytest.mark.parametrize("to", ["mean", "any"])
@pytest.mark.parametrize("block", [7, 80])
def test_blocks_do_not_matter(block: int, to: Linkage) -> None:
    model, sets = random_embedding(1), [np.array([3, 20]), np.array([30, 41, 7])]
    whole, parts = set_similarities(model, sets, to), set_similarities(model, sets, to, block)
    for of_whole, of_parts in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(of_parts, of_whole)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), to=st.sampled_from(["mean", "any"]))
def test_against_a_loop_over_cosines(seed: int, n: int, to: Any) -> None:  # noqa: ANN401 - a literal
    model = random_embedding(seed)
    found = expand_lexicon(TEST, model, n=n, to=to, exclude=["w6", "W7"])
    expected = slow(model, dict(TEST.sets), n, to, {"w6", "w7"})
    assert {name: list(words)[len(TEST.sets[name]) :] for name, words in found.lexicon.sets.items()} == expected
    new = [one.word for one in found.added]
    assert len(set(new)) == len(new)
    assert not {*new} & {*TEST.words, "w6", "w7", "w30"}
    for one in found.added:
        cosines = {word: cosine(model[one.word], model[word]) for word in TEST.sets[one.set_name] if word in model}
        assert one.similarity == pytest.approx(
            max(cosines.values()) if to == "any" else np.mean([*cosines.values()]), abs=1e-9
        )
        assert cosines[one.nearest] == pytest.approx(max(cosines.values()), abs=1e-9)


def test_a_case_variant_is_no_new_word() -> None:
    words = ("he", "she", "He", "HE", "him", "Him", "SHE", "her")
    vectors = np.array([[9, 0], [0, 9], [9, 0.1], [9, 0.2], [8, 1], [9, 0.9], [0.1, 9], [1, 8]], np.float32)
    sets = WordSets(name="pronouns", members=(WordSet("m", ("he",)), WordSet("f", ("she",))))
    found = expand_lexicon(sets, Embedding(words, vectors), n=3)
    assert dict(found.lexicon.sets) == {"m": ("he", "Him"), "f": ("she", "her")}
    assert found.warnings[0] == "The set m got 1 of 3 words: no more are nearest to it."


def test_the_file_loads_checks_and_tells_how_it_was_made(tmp_path: Path) -> None:
    model = random_embedding(3)
    found = expand_lexicon(TEST, model, n=4, exclude=["w9", "w8"], name="large")
    found.save(tmp_path / "large.toml")
    read = lexicon(tmp_path / "large.toml")
    assert read == found.lexicon
    assert (read.name, read.kind, read.language) == ("large", "test", "en")
    assert check(read).ok
    for said in (
        "Made from small", TEST.checksum, "random", model.checksum, "80 words × 5", "its 4 nearest words",
        "the mean cosine with the words of the set", "Excluded by hand: w8, w9.", "Not in the embedding: absent.",
        "By hand.",
    ):  # fmt: skip
        assert said in read.notes
    assert read.beware[1:] == ("Too small.",)
    assert "small" in read.source
    assert all(len(read.sets[role]) == len(TEST.sets[role]) + 4 for role in TEST.sets)
    assert isinstance(found.lexicon, AssociationTest)
    assert [words.name for words in found.lexicon.roles.values()] == ["city", "country", "rich", "poor"]
    shape = found.to_dict()
    assert shape["lexicon"]["checksum"] == read.checksum
    assert shape["coverage"]["lost"] == {"a": ["absent"]}
    assert list(found.to_frame()["set_name"].unique()) == ["x", "y", "a", "b"]
    assert found.warnings == ("Words of the set a that the embedding lacks, so they pull no neighbors: absent.",)


@settings(deadline=None, max_examples=60)
@given(
    word=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(lambda it: it == it.strip())
)
def test_any_word_survives_the_file(word: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lexicon") / "any.toml"
    made = WordSets(name="any", members=(WordSet(word, (word, "a\\b", 'a"b')),), notes=word)
    Expansion(made, (), random_embedding(0).coverage({}), ()).save(path)
    assert lexicon(path) == made
    assert tomllib.loads(path.read_text(encoding="utf-8"))["sets"][word][0] == word


@pytest.mark.parametrize(
    "base", [TEST, WordSets(name="two", members=(WordSet("low", ("w1", "w2")), WordSet("high", ("w3",))))]
)
def test_json_there_and_back(base: AssociationTest | WordSets, tmp_path: Path) -> None:
    found = expand_lexicon(base, random_embedding(3), n=4)
    shape = json.loads(json.dumps(found.to_dict()))
    read = Expansion.from_dict(shape)
    assert read.to_dict() == shape
    assert (read.lexicon, read.added, read.warnings) == (found.lexicon, found.added, found.warnings)
    assert read.summary() == found.summary()
    pd.testing.assert_frame_equal(read.to_frame(), found.to_frame())
    read.save(tmp_path / "read.toml")
    assert lexicon(tmp_path / "read.toml") == found.lexicon


def test_the_shipped_vectors_bring_in_kin() -> None:
    added = expand_lexicon("weat7", load_default(), n=10).to_frame()
    assert {"mathematics", "mathematical", "arithmetic"} <= set(added.loc[added["set_name"] == "x", "word"])
    assert {"herself", "wife", "mother"} <= set(added.loc[added["set_name"] == "b", "word"])


def test_what_cannot_be_expanded() -> None:
    model = random_embedding(0)
    with pytest.raises(LexiconError, match="'occ16' holds words"):
        expand_lexicon("occ16", model)
    with pytest.raises(LexiconError, match="no word of the set 'x' of 'weat7' has a vector"):
        expand_lexicon("weat7", model)
    with pytest.raises(ParameterError, match="'n' parameter must be a whole number"):
        expand_lexicon(TEST, model, n=0)
    with pytest.raises(ParameterError, match="'max'"):
        expand_lexicon(TEST, model, to="max")  # type: ignore[arg-type]
