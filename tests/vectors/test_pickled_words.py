"""HistWords and pickles of plain vectors: read without unpickling, as they would be with it."""

from __future__ import annotations

import gzip
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.vectors import load
from biasgauge.vectors.loading import replicate_path

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
WORDS = ["the", "naïve", "日本"]
MATRIX = np.array([[0.5, -1.25], [3, 1024], [0, 0]], np.float32)


def write_decade(folder: Path, vocabulary: object, protocol: int = 0, year: int = 1990) -> Path:
    """Write a decade as HistWords has them, and return the path of its matrix."""
    np.save(folder / f"{year}-w.npy", MATRIX)
    (folder / f"{year}-vocab.pkl").write_bytes(pickle.dumps(vocabulary, protocol))
    return folder / f"{year}-w.npy"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "vocabulary",
    [
        WORDS,
        tuple(WORDS),
        {word: row for row, word in enumerate(WORDS)},
        {word: row for row, word in reversed(list(enumerate(WORDS)))},
        dict(enumerate(WORDS)),
    ],
    ids=["list", "tuple", "rows", "rows in another order", "words by row"],
)
def test_histwords(vocabulary: object, protocol: int, tmp_path: Path) -> None:
    model = load(write_decade(tmp_path, vocabulary, protocol))
    assert model.words == tuple(WORDS)
    np.testing.assert_array_equal(model.vectors, MATRIX)
    assert (model.name, model.format) == ("1990", "npy")
    assert [notice.code for notice in model.notices] == ["zero"]  # a word that does not occur in this decade


def test_a_vocabulary_of_python_2(tmp_path: Path) -> None:
    path = write_decade(tmp_path, [])
    (tmp_path / "1990-vocab.pkl").write_bytes(b"(lp1\nS'the'\np2\naVna\\u00efve\np3\naS'\\xff'\np4\na.")
    model = load(path)
    assert model.words == ("the", "naïve", "\\xff")
    assert {notice.code for notice in model.notices} == {"zero", "invalid-utf8"}


@pytest.mark.parametrize("words", [["cat", "dog", "pig"], ["c.d", "x", "quite"], ["(lp", "p0", "a"], ["]q", "(", "V"]])
def test_a_vocabulary_of_lines_is_no_pickle(words: list[str], tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", MATRIX)
    (tmp_path / "m.vocab").write_text("\n".join(words) + "\n")
    assert load(tmp_path / "m.npy").words == tuple(words)


def test_vocabulary_may_be_named_and_gzipped(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", MATRIX)
    (tmp_path / "words.pkl.gz").write_bytes(gzip.compress(pickle.dumps(WORDS)))
    assert load(tmp_path / "m.npy", vocabulary=tmp_path / "words.pkl.gz").words == tuple(WORDS)


@pytest.mark.parametrize(
    ("vocabulary", "sentence"),
    [
        (WORDS[:2], "2 words for 3 vectors"),
        ({"the": 0, "b": 0, "c": 1}, "no vocabulary"),
        ({"the": 0.5}, "no vocabulary"),
        ({"the": 10**30, "b": 1, "c": 2}, "no vocabulary"),
        ([1, 2, 3], "no vocabulary"),
        ({"a", "b", "c"}, "no vocabulary"),
        ("abc", "no vocabulary"),
        ([print], "opcode STACK_GLOBAL"),
    ],
)
def test_what_is_no_vocabulary_is_refused_with_its_name(vocabulary: object, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(write_decade(tmp_path, vocabulary, 4))


texts = st.text(min_size=1)
numbers = st.floats(-(2**60), 2**60, width=32)


@given(
    table=st.integers(1, 4).flatmap(
        lambda dim: st.dictionaries(texts, st.lists(numbers, min_size=dim, max_size=dim), min_size=1, max_size=5)
    ),
    protocol=st.sampled_from(PROTOCOLS),
    paired=st.booleans(),
)
def test_there_and_back(
    table: dict[str, list[float]], protocol: int, tmp_path_factory: pytest.TempPathFactory, *, paired: bool
) -> None:
    path = tmp_path_factory.mktemp("pickles") / "v.pkl"
    value: Any = (list(table), list(table.values())) if paired else table
    path.write_bytes(pickle.dumps(value, protocol))
    model = load(path)
    assert (model.format, model.words) == ("pickle", tuple(table))
    np.testing.assert_array_equal(model.vectors, np.array(list(table.values())))


def test_only_some_words(tmp_path: Path) -> None:
    path = tmp_path / "v.pkl"
    path.write_bytes(pickle.dumps({"a": [1, 2], "b": [3.5, 4], "c": [5, 6]}))
    assert load(path, words=["b"]).vectors.tolist() == [[3.5, 4]]
    assert load(path, limit=1).words == ("a",)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "no words"),
        ([], "no vectors"),
        ("text", "no vectors"),
        ({"a": [1.0], "b": [1.0, 2]}, "2 numbers, the first has 1"),
        ({"a": ["1"]}, "not a list of numbers"),
        ({"a": [True]}, "not a list of numbers"),
        ({"a": 1.0}, "not a list of numbers"),
        ({"a": []}, "matrix of numbers"),
        ({1: [1.0]}, "int in the place of a word"),
        ((["a"], [[1.0], [2.0]]), "1 words for 2 vectors"),
        ({"a": [2**200]}, "integer of 26 bytes"),
    ],
)
def test_other_plain_values_are_refused_in_one_sentence(value: object, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "v.pkl"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(path)


def test_a_list_in_many_places_is_no_bomb(tmp_path: Path) -> None:
    """A list of 100,000 numbers that stands for 1,000 words would take 800 MB."""
    row = [1.0] * 100_000
    path = tmp_path / "v.pkl"
    path.write_bytes(pickle.dumps({f"w{number}": row for number in range(1000)}))
    with pytest.raises(EmbeddingFormatError, match="more than a pickle of"):
        load(path)


def write_decades(folder: Path) -> dict[int, int]:
    """Write shipped replicates as the decades of HistWords; the year and the seed of each."""
    years = {1970: 0, 1980: 1, 1990: 2}
    for year, seed in years.items():
        model = load(replicate_path(seed))
        np.save(folder / f"{year}-w.npy", np.asarray(model.vectors))
        (folder / f"{year}-vocab.pkl").write_bytes(pickle.dumps(list(model.words), 0))
    (folder / "README").write_text("no year in this name")
    return years


def test_a_folder_of_decades_has_a_trend_by_year(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    years = write_decades(tmp_path)
    found = bg.compare(tmp_path, "weat7")
    expected = bg.compare(
        {str(year): load(replicate_path(seed)) for year, seed in years.items()}, "weat7", positions=list(years)
    )
    assert [(group.name, group.position) for group in found.groups] == [(str(year), float(year)) for year in years]
    assert found.trends[0].value == expected.trends[0].value
    assert run(["compare", "--group", str(tmp_path), "--test", "weat7", "--json", "--quiet"]) == 0
    assert f'"value": {found.trends[0].value}' in capsys.readouterr().out.replace("slope", "value")


def test_a_folder_without_years_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not a folder"):
        bg.compare(tmp_path / "none", "weat7")
    with pytest.raises(ParameterError, match="holds no vector files"):
        bg.compare(tmp_path, "weat7")
    (tmp_path / "a.bin").write_bytes(b"")
    with pytest.raises(ParameterError, match="has a year in its name"):
        bg.compare(tmp_path, "weat7")
