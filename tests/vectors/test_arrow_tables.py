"""Vectors in Parquet and Arrow tables, as pandas, polars and Arrow write them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import arrow_table, load

WORDS = ["the", "naïve", "日本"]
MATRIX = np.array([[0.5, -1.25], [3, 1024], [-7, 0.25]], np.float32)


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path)


def write_arrow(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def write_stream(table: pa.Table, path: Path) -> None:
    """Write a stream, as the files of Hugging Face's `datasets` are."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": write_parquet,
    "arrow": write_arrow,
    "stream": write_stream,
}
each_file = pytest.mark.parametrize("format_", WRITERS)


def layouts(words: list[str], matrix: np.ndarray[Any, Any]) -> dict[str, pa.Table]:
    """The same vectors in each layout."""
    kind = pa.from_numpy_dtype(matrix.dtype)
    text = pa.array(words)
    rows = matrix.tolist()
    return {
        "list": pa.table({"word": text, "vector": pa.array(rows, pa.list_(kind))}),
        "large list": pa.table({"token": text, "vector": pa.array(rows, pa.large_list(kind))}),
        "fixed list": pa.table({"vector": pa.array(rows, pa.list_(kind, matrix.shape[1])), "word": text}),
        "columns": pa.table(
            {"word": text} | {f"x{number}": pa.array(column) for number, column in enumerate(matrix.T)}
        ),
        "counts beside": pa.table({"word": text, "count": range(len(words)), "v": pa.array(rows, pa.list_(kind))}),
        "two texts": pa.table({"language": text, "word": text, "v": pa.array(rows, pa.list_(kind))}),
        "dictionary": pa.table({"word": text.dictionary_encode(), "v": pa.array(rows, pa.list_(kind))}),
    }


@each_file
@pytest.mark.parametrize("layout", list(layouts(WORDS, MATRIX)))
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
def test_layouts(format_: str, layout: str, dtype: str, tmp_path: Path) -> None:
    matrix = MATRIX.astype(dtype)
    WRITERS[format_](layouts(WORDS, matrix)[layout], tmp_path / "v.table")
    found = load(tmp_path / "v.table")
    assert (found.format, found.words) == ("arrow" if format_ == "stream" else format_, tuple(WORDS))
    assert found.vectors.dtype == dtype
    np.testing.assert_array_equal(found.vectors, matrix)
    assert load(tmp_path / "v.table", words=["日本"]).vectors.tolist() == [[-7, 0.25]]
    assert load(tmp_path / "v.table", limit=2).words == ("the", "naïve")


def test_tables_of_pandas_and_polars(tmp_path: Path) -> None:
    frame = pd.DataFrame(MATRIX, index=pd.Index(WORDS, name="word"))
    frame.columns = frame.columns.astype(str)
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.reset_index().to_feather(tmp_path / "pandas.feather")
    columns = {"word": WORDS, "vector": MATRIX.tolist()}
    pl.DataFrame(columns).write_parquet(tmp_path / "polars.parquet")
    pl.DataFrame(columns).write_ipc(tmp_path / "polars.arrow")
    (tmp_path / "packed.parquet.gz").write_bytes(gzip.compress((tmp_path / "pandas.parquet").read_bytes()))
    for path in tmp_path.iterdir():
        found = load(path)
        assert found.words == tuple(WORDS)
        np.testing.assert_array_equal(found.vectors, MATRIX)


@given(
    words=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=6, unique=True),
    dim=st.integers(1, 4),
    seed=st.integers(0, 99),
    format_=st.sampled_from(list(WRITERS)),
    layout=st.sampled_from(list(layouts(WORDS, MATRIX))),
)
def test_there_and_back(
    words: list[str], dim: int, seed: int, format_: str, layout: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tables") / "v"
    matrix = np.random.default_rng(seed).standard_normal((len(words), dim)).astype(np.float32)
    WRITERS[format_](layouts(words, matrix)[layout], path)
    found = load(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, matrix)


@each_file
def test_several_batches(format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_table, "_BATCH", 7)
    words = [f"w{number}" for number in range(50)]
    matrix = np.arange(100, dtype=np.float32).reshape(50, 2) + 1
    WRITERS[format_](layouts(words, matrix)["list"], tmp_path / "v")
    np.testing.assert_array_equal(load(tmp_path / "v").vectors, matrix)
    assert load(tmp_path / "v", limit=20).words == tuple(words[:20])
    assert load(tmp_path / "v", words=["w3", "w40"]).words == ("w3", "w40")


@each_file
@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"word": ["a"]}, "expected a column of words"),
        ({"x": [1.0]}, "expected a column of words"),
        ({"a": ["a"], "b": ["b"], "v": [[1.0]]}, "expected a column of words"),
        ({"word": ["a"], "v": [[1.0]], "w": [[1.0]]}, "expected a column of words"),
        ({"word": ["a", None], "v": [[1.0], [2.0]]}, "without a word"),
        ({"word": ["a", "b"], "v": [[1.0], None]}, "without its numbers"),
        ({"word": ["a", "b"], "v": [[1.0], [None]]}, "missing number"),
        ({"word": ["a", "b"], "v": [[1.0], [2.0, 3.0]]}, "1 and of 2 numbers"),
        ({"word": ["a"], "v": [pa.scalar([], pa.list_(pa.float32()))]}, "matrix of numbers"),
        ({"word": pa.array([], pa.string()), "v": pa.array([], pa.float32())}, "no rows"),
    ],
)
def test_other_tables_are_refused_in_one_sentence(format_: str, columns: Any, sentence: str, tmp_path: Path) -> None:  # noqa: ANN401
    WRITERS[format_](pa.table(columns), tmp_path / "v")
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(tmp_path / "v")


def test_whole_numbers_are_noted(tmp_path: Path) -> None:
    write_parquet(pa.table({"word": ["a", "b"], "x": [1, 2], "y": [0, 3]}), tmp_path / "v")
    found = load(tmp_path / "v")
    assert found.vectors.tolist() == [[1, 0], [2, 3]]
    assert [notice.code for notice in found.notices] == ["integers"]


@each_file
def test_files_cut_short_or_changed(format_: str, tmp_path: Path) -> None:
    WRITERS[format_](layouts(WORDS, MATRIX)["list"], tmp_path / "sound")
    content = (tmp_path / "sound").read_bytes()
    path = tmp_path / "v"
    for length in range(6, len(content), 3):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load(path)
    for place in range(6, len(content), 2):
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            assert len(load(path)) > 0
        except EmbeddingFormatError as problem:
            assert str(path) in str(problem)  # noqa: PT017 - either outcome is one


def test_feather_of_version_1_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"FEA1\0\0\0\0" + bytes(100) + b"FEA1")  # pyarrow warns when it writes one
    with pytest.raises(EmbeddingFormatError, match=r"Feather of version 1; save it again with pyarrow\.feather"):
        load(tmp_path / "v")
