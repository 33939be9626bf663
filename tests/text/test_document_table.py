"""Documents with covariates: every kind of source gives the same corpus and the same table beside it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasgauge.errors import CorpusError, ParameterError
from biasgauge.text import PADDING, DocumentTable, read_corpus, read_documents

if TYPE_CHECKING:
    from pathlib import Path

RECORDS: list[dict[str, Any]] = [
    {"text": "The nurse came.\nThen she left.", "party": "R", "year": 1990},
    {"text": "12 34", "party": "D", "year": 1991},  # no word under the tokenizer
    {"text": "Die Ärztin, ja", "party": "D", "year": 1992.5},
    {"text": "no party here", "party": None, "year": None},
]
TEXTS = [["the nurse came", "then she left"], ["die ärztin ja"], ["no party here"]]


def source_of(kind: str, folder: Path) -> tuple[object, dict[str, Any]]:
    """The records as a source of one kind, with the arguments that it needs."""
    frame = pd.DataFrame(RECORDS)
    if kind == "records":
        return RECORDS, {}
    if kind == "frame":
        return frame, {}
    if kind == "csv.gz":
        path = folder / "table.csv.gz"
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        return path, {}
    if kind == "jsonl":
        path = folder / "table.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), encoding="utf-8")
        return path, {}
    if kind == "parquet":
        path = folder / "table.parquet"
        frame.to_parquet(path)
        return path, {}
    files = folder / "files"
    files.mkdir()
    for number, record in enumerate(RECORDS):
        (files / f"{number}.txt").write_text(record["text"], encoding="utf-8")
    frame["file"] = [f"{number}.txt" for number in range(len(RECORDS))]
    return files, {"metadata": frame.drop(columns="text")}


def texts_of(table: DocumentTable) -> list[list[str]]:
    corpus = table.corpus
    return [[" ".join(line) for line in corpus.document(number)] for number in range(len(corpus.documents) - 1)]


@pytest.mark.parametrize("kind", ["records", "frame", "csv.gz", "jsonl", "parquet", "folder"])
def test_every_source_gives_the_same_documents_and_covariates(kind: str, tmp_path: Path) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    source, arguments = source_of(kind, tmp_path)
    table = read_documents(source, ["year", "party"], **arguments)
    assert texts_of(table) == TEXTS
    assert table.without_words == 1
    assert table.covariates["party"].fillna("").tolist() == ["R", "D", ""]
    np.testing.assert_array_equal(table.covariates["year"], [1990, 1992.5, np.nan])
    assert table.ids == (("0.txt", "2.txt", "3.txt") if kind == "folder" else ("1", "3", "4"))


def test_lists_of_tokens_are_taken_as_they_are_and_an_empty_token_is_padding() -> None:
    table = read_documents([{"tokens": ["A", "", "b c"], "x": 1}, {"tokens": ["b c"], "x": 0}], ["x"], text="tokens")
    assert table.corpus.document(0) == [["A", PADDING, "b c"]]
    assert table.corpus.document(1) == [["b c"]]


@pytest.mark.parametrize("kind", ["csv.gz", "folder", "records"])
def test_a_corpus_that_is_kept_is_opened_again_with_other_covariates(kind: str, tmp_path: Path) -> None:
    source, arguments = source_of(kind, tmp_path)
    first = read_documents(source, ["year"], out=tmp_path / "kept", **arguments)
    stamp = (tmp_path / "kept" / "tokens.npy").stat().st_mtime_ns
    again = read_documents(source, ["party"], out=tmp_path / "kept", **arguments)
    assert (tmp_path / "kept" / "tokens.npy").stat().st_mtime_ns == stamp
    assert again.corpus.checksum == first.corpus.checksum
    assert again.covariates["party"].fillna("").tolist() == ["R", "D", ""]
    assert (again.ids, again.without_words) == (first.ids, first.without_words)


def test_a_corpus_that_is_kept_is_not_taken_for_that_of_another_table(tmp_path: Path) -> None:
    source, _ = source_of("csv.gz", tmp_path)
    read_documents(source, [], out=tmp_path / "kept")
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"text,year\nother words,1\n"))
    with pytest.raises(CorpusError, match="kept: holds a corpus with other files"):
        read_documents(source, [], out=tmp_path / "kept")


def test_rows_of_a_kept_corpus_that_were_altered_are_refused(tmp_path: Path) -> None:
    """Rows that still rose were used: documents got the covariates of others."""
    source, settings = source_of("jsonl", tmp_path)
    read_documents(source, ["year"], out=tmp_path / "kept", **settings)
    np.save(tmp_path / "kept" / "rows.npy", np.array([0, 1, 3], "<i8"))
    with pytest.raises(CorpusError, match=r"rows\.npy: is damaged \(its checksum differs\); remove"):
        read_documents(source, ["year"], out=tmp_path / "kept", **settings)


def test_a_tokenized_corpus_takes_a_table_with_a_row_for_each_document() -> None:
    corpus = read_corpus(iter(["one two", "three"]))
    table = read_documents(corpus, ["x"], metadata=[{"x": "1"}, {"x": "2"}])
    assert table.covariates["x"].tolist() == [1.0, 2.0]
    with pytest.raises(ParameterError, match=r"a row for each of the 2 documents\. Got 1"):
        read_documents(corpus, ["x"], metadata=[{"x": "1"}])
    with pytest.raises(ParameterError, match="needs the 'metadata' parameter"):
        read_documents(corpus, ["x"])


def test_text_that_looks_like_a_number_in_some_cells_stays_text() -> None:
    records = [{"text": "a", "x": "1"}, {"text": "b", "x": "two"}, {"text": "c", "x": "NA"}]
    assert read_documents(records, ["x"]).covariates["x"].fillna("").tolist() == ["1", "two", ""]
    frame = pd.DataFrame({"text": ["a", "b"], "x": pd.array([1, None], dtype="Int64")})
    np.testing.assert_array_equal(read_documents(frame, ["x"]).covariates["x"], [1.0, np.nan])
    assert read_documents([{"text": "a", "x": True}], ["x"]).covariates["x"].tolist() == ["True"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("text,x\na,1,2\n", "table.csv, line 2: has 3 cells, expected 2"),
        ("texts,x\na,1\n", "line 1: has no column 'text'; its columns: 'texts', 'x'; did you mean 'texts'?"),
        ("text,y\na,1\n", "line 1: has no column 'x'"),
        ('text,x\n"a,1\n', "table.csv, line 2: is not separated text"),
        ("text,x\n1,1\n", "there are no words"),
        ("", "table.csv: the file is empty"),
        ("text,x,x\na,1,2\n", "table.csv, line 1: has 2 columns 'x'; give each a name of its own"),
    ],
)
def test_a_bad_table_is_one_sentence_with_its_line(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(CorpusError) as error:
        read_documents(path, ["x"])
    assert problem in str(error.value)


def test_other_bad_sources_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": 3, "x": 1}\n')
    with pytest.raises(CorpusError, match=r"line 1: the text .text. must be text or a list of tokens, not 3"):
        read_documents(tmp_path / "t.jsonl", ["x"])
    with pytest.raises(CorpusError, match="no such file"):
        read_documents(tmp_path / "no.csv", [])
    with pytest.raises(CorpusError, match="must end in one of"):
        read_documents(__file__, [])
    with pytest.raises(ParameterError, match="must be a table"):
        read_documents(3, [])
    with pytest.raises(ParameterError, match="needs the 'metadata' parameter"):
        read_documents(tmp_path, [])
    (tmp_path / "sub").mkdir()
    with pytest.raises(CorpusError, match=r"has no file '\.\./t\.jsonl'"):
        read_documents(tmp_path / "sub", [], metadata=[{"file": "../t.jsonl"}])
    (tmp_path / "sub" / "a.txt").write_text("one two\n")
    with pytest.raises(CorpusError, match=r"'a\.txt' in 2 rows"):
        read_documents(tmp_path / "sub", ["x"], metadata=[{"file": "a.txt", "x": 1}, {"file": "a.txt", "x": 2}])
    with pytest.raises(ParameterError, match="'x' must hold numbers or text"):
        read_documents([{"text": "a", "x": [1]}], ["x"])
    with pytest.raises(CorpusError, match="has no column 'z'"):
        read_documents([{"text": "a", "x": 1}], ["z"])


def test_a_file_that_is_not_parquet_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(CorpusError, match="is not a Parquet file"):
        read_documents(tmp_path / "t.parquet", [])
