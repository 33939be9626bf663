"""Features of words: the shipped table against its sources, geometry against brute force, reasons for every gap."""

from __future__ import annotations

import gzip
import json
import runpy
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.analyses.reliability.features import REASONS, nearest_similarity, word_features
from biasgauge.analyses.reliability.senses import HEADER, LICENSE_PATH, TABLE_PATH, word_properties
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, stability

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table_says_what_wordnet_and_brown_say() -> None:
    """Counts of WordNet's index files: dog n 7, v 1; tall n 1, a 4; running n 5, a 6, and v 41 as a form of run."""
    table = word_properties()
    assert table["dog"] == table["dogs"] == (8, "NOUN")
    assert table["tall"] == (5, "ADJ")
    assert table["running"].senses == 5 + 6 + 41
    assert table["the"] == (0, "DET")
    assert table["nurse"].senses == 7
    assert table["he"].tag == "PRON"
    assert table["quickly"].tag == "ADV"
    assert table["two"].tag == "NUM"
    assert "zyzzyva" not in table


def test_the_table_has_the_counts_that_the_docs_print(repository: Path) -> None:
    table = word_properties()
    with_senses = Counter(one.tag for one in table.values() if one.senses)
    assert len(table) == 49_796
    assert sum(with_senses.values()) == 34_696
    assert set(with_senses) == {"ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", "VERB", "X"}
    page = (repository / "docs" / "reliability" / "factors.md").read_text()
    assert "49,796" in page
    assert "34,696" in page


def test_the_table_is_plain_and_carries_its_license() -> None:
    lines = gzip.decompress(TABLE_PATH.read_bytes()).decode().splitlines()
    assert tuple(lines[0].split("\t")) == HEADER
    words = [line.split("\t")[0] for line in lines[1:]]
    assert words == sorted(set(words))
    assert all(word == word.lower() for word in words)
    text = LICENSE_PATH.read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
    assert "Francis and H. Kucera" in text


@pytest.mark.slow
@pytest.mark.shared
def test_the_script_makes_the_shipped_table_again(shared_data: Path, repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("nltk")
    make = runpy.run_path(str(repository / "scripts" / "make_word_properties.py"))["make"]
    made = tmp_path / "table.tsv.gz"
    assert make(shared_data, made, tmp_path / "license.txt") == len(word_properties())
    assert gzip.decompress(made.read_bytes()) == gzip.decompress(TABLE_PATH.read_bytes())
    assert (tmp_path / "license.txt").read_text() == LICENSE_PATH.read_text()


def embedding(rows: int, dim: int, seed: int = 0, name: str = "one") -> Embedding:
    vectors = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return Embedding(tuple(f"w{place}" for place in range(rows)), vectors, name=name)


def test_the_nearest_word_is_that_of_brute_force() -> None:
    model = embedding(700, 12)
    unit = model.vectors / np.linalg.norm(model.vectors, axis=1, keepdims=True)
    similarities = (unit.astype(np.float64)) @ unit.T.astype(np.float64)
    np.fill_diagonal(similarities, -np.inf)
    rows = np.array([5, 699, 0, 321, 5])
    found = nearest_similarity(model, rows)
    assert found == pytest.approx(similarities.max(axis=1)[rows], abs=1e-6)
    assert nearest_similarity(model, rows, step=2).tolist() == found.tolist()


def test_zero_vectors_and_doubles() -> None:
    vectors = np.array([[1, 0, 0], [2, 0, 0], [0, 0, 0], [0, 3, 4]], np.float32)
    model = Embedding(("a", "b", "nothing", "c"), vectors)
    found = nearest_similarity(model, np.arange(4))
    assert found[:2].tolist() == [1, 1]
    assert np.isnan(found[2])
    assert found[3] == pytest.approx(0)
    alone = Embedding(("a", "nothing"), vectors[[0, 2]])
    assert np.isnan(nearest_similarity(alone, np.arange(2))).all()


@pytest.fixture
def replicates() -> list[Embedding]:
    """Three models of real words; one lacks a word, one has a zero vector."""
    words = ("nurse", "dog", "running", "the", "zyzzyva", "Paris", "table", "chair", "red", "blue", "green", "tall")
    random = np.random.default_rng(3)
    base = random.standard_normal((len(words), 4))
    models = [
        Embedding(words, (base + random.normal(0, 0.1, base.shape)).astype(np.float32), name=f"seed{seed}")
        for seed in range(3)
    ]
    vectors = models[1].vectors.copy()
    vectors[words.index("table")] = 0
    models[1] = Embedding(words, vectors, name="seed1")
    models[2] = Embedding(words[:-1], models[2].vectors[:-1], name="seed2")
    return models


COUNTS = {"nurse": 20, "dog": 100, "running": 7, "the": 10_000, "Paris": 50, "table": 3, "tall": 1}


def test_features_are_means_over_the_models_that_have_the_word(replicates: list[Embedding]) -> None:
    found = word_features(replicates, words=["dog", "tall", "table"], counts=COUNTS)
    assert found.log_frequency == pytest.approx(np.log([100, 1, 3]))
    assert found.log_senses == pytest.approx(np.log([8, 5, 8]))
    assert found.pos == ("NOUN", "ADJ", "NOUN")
    norms = [[float(np.linalg.norm(model["dog"])) for model in replicates],
             [float(np.linalg.norm(model["tall"])) for model in replicates[:2]],
             [float(np.linalg.norm(model["table"])) for model in replicates]]  # fmt: skip
    assert found.norm == pytest.approx([np.mean(one) for one in norms], rel=1e-6)
    stable = stability(replicates, words=["dog", "tall", "table"])
    assert found.stability.tolist() == stable.values.tolist()
    both = [nearest_similarity(model, np.array([model.index["table"]]))[0] for model in (replicates[0], replicates[2])]
    assert found.nn_similarity[2] == pytest.approx(np.mean(both))  # the model with the zero vector does not count
    assert found.models == 3
    assert not any(codes.any() for codes in found.undefined.values())


def test_whatever_is_undefined_has_a_reason_and_nothing_else_is(replicates: list[Embedding]) -> None:
    words = ["the", "zyzzyva", "chair", "qwertyish", "Paris", "tall"]
    found = word_features(replicates[1:], words=words, counts=COUNTS)
    why = {name: [REASONS[code] for code in codes] for name, codes in found.undefined.items()}
    assert why["log_senses"][0] == "WordNet has no sense of the word"
    assert why["log_senses"][1].startswith("the word is not in the Brown corpus")
    assert why["pos"] == ["", why["log_senses"][1], "", why["log_senses"][1], "", ""]
    assert why["log_frequency"] == ["", REASONS[1], REASONS[1], REASONS[1], "", ""]
    assert why["norm"][3] == why["nn_similarity"][3] == why["stability"][3] == "the word is in no model"
    assert why["stability"][5] == "stability needs two models that have the word"
    for name, codes in found.undefined.items():
        if name != "pos":
            assert np.isnan(getattr(found, name)).tolist() == (codes > 0).tolist()
    frame = found.to_frame()
    assert frame["pos"].isna().tolist() == [False, True, False, True, False, False]
    assert frame["undefined"].iloc[0] == "WordNet has no sense of the word"
    assert found.pos[4] == "NOUN"  # looked up in lower case, as the paper does
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.count_undefined()["log_frequency"] == {REASONS[1]: 3}


def test_a_zero_vector_in_every_model_is_told_from_a_lonely_word() -> None:
    zero = Embedding(("dog", "cat", "red"), np.array([[0, 0], [1, 0], [0, 1]], np.float32))
    found = word_features(zero, words=["dog"])
    assert REASONS[found.undefined["nn_similarity"][0]] == "the word's vector is zero in every model"
    assert found.norm.tolist() == [0]
    alone = word_features(Embedding(("dog",), np.ones((1, 2), np.float32)), words=["dog"])
    assert REASONS[alone.undefined["nn_similarity"][0]] == "no other word has a direction"
    assert REASONS[alone.undefined["stability"][0]] == "stability needs two models that have the word"


def test_all_words_of_all_models_by_default(replicates: list[Embedding]) -> None:
    found = word_features([replicates[2], replicates[0]])
    assert found.words == (*replicates[2].words, "tall")


def test_progress_counts_models(replicates: list[Embedding]) -> None:
    told: list[tuple[int, int]] = []
    word_features(replicates, words=["dog"], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"words": "dog"}, "collection of words"),
        ({"counts": {"dog": 0}}, "at least 1. Got 0 for 'dog'"),
        ({"counts": ["dog"]}, "map words to counts"),
    ],
)
def test_bad_input_gets_one_sentence(replicates: list[Embedding], settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        word_features(replicates, **settings)  # type: ignore[arg-type]  # that is the test
