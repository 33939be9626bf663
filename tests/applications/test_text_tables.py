"""Tables of texts: what is read, and what is said about those that cannot be; never the text itself."""

from __future__ import annotations

import csv
import gzip
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.applications.classification.data_sets import find_file, read_table
from biasgauge.errors import CorpusError, InputError

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "unspeakable"  # noqa: S105 - stands for an offensive text


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_quotes_line_breaks_and_empty_lines(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", 'id,text\r\n1,"a, ""b"""\r\n\r\n2,"c\r\nd"\r\n3,é\r\n'))
    assert table.cells("text") == ('a, "b"', "c\nd", "é")
    assert table.lines == (2, 4, 6)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_separators_and_compression(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(separator.join(["text", "label"]).encode() + f"\na{separator}b\n".encode()))
    assert read_table(path).rows == (("a", "b"),)


def test_columns_may_be_given(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.tsv", "a\tspam\t3\nb\tnormal\t4\n"), ("text", "label", "votes"))
    assert table.cells("label") == ("spam", "normal")
    assert table.lines == (1, 2)


@given(
    rows=st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)] * 2),
        min_size=1,
        max_size=8,
    )
)
def test_what_python_writes_is_read_back(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    assert list(read_table(written(path, out.getvalue())).rows) == rows


@given(content=st.binary(max_size=60) | st.text(',"\\n\\tab', max_size=60).map(str.encode))
def test_any_bytes_are_a_table_or_one_clear_error(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(content)
    try:
        table = read_table(path)
    except CorpusError as problem:
        assert str(path) in str(problem)  # noqa: PT017 - either outcome is right
    else:
        assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1: expected a table with a header, found nothing"),
        (b"text,label\n", "expected rows below the header, found none"),
        (b"text,label\na,b\nunspeakable\n", "line 3: expected 2 fields, found 1"),
        (b"text,label\na,b\nunspeakable,b,c\n", "line 3: expected 2 fields, found 3"),
        (b'text,label\na,b\n"unspeakable,b\n', "line 3: is not separated text"),
        (b'text,label\n"a"unspeakable,b\n', "line 2: is not separated text"),
        (b"text,label\na,b\nunspeakable\xe9,b\n", "line 3: is not UTF-8 (byte 0xe9)"),
        ("text,label\na,b\n".encode("utf-16"), "is UTF-16 text"),
        (b"text,text\na,b\n", "line 1: the column 'text' stands there twice"),
        (b"text,label\na\0,b\n", "line 2: looks like a binary file"),
    ],
)
def test_a_file_that_is_no_table(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        read_table(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert SECRET not in str(caught.value)


def test_columns_and_codes_that_are_not_there(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", f"text,HS\nx,1\n{SECRET},{SECRET}\n"))
    with pytest.raises(CorpusError, match="'Text'"):
        table.cells("Text")
    bare = read_table(written(tmp_path / "bare.csv", f"1,{SECRET * 5}\n2,x\n"))
    with pytest.raises(CorpusError, match="'text'") as said:
        bare.cells("text")
    assert SECRET not in str(said.value)
    with pytest.raises(CorpusError, match=r"line 3.*something") as caught:
        table.coded("HS", {"0": "no", "1": "yes"})
    assert SECRET not in str(caught.value)


def test_files_are_found_by_name_in_a_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "b.csv.gz", "")
    assert find_file(tmp_path, ("a.csv", "b.csv"), "texts") == path
    assert find_file(path, ("a.csv",), "texts") == path
    with pytest.raises(InputError, match="compressed"):
        find_file(tmp_path, ("a.csv", "c.csv"), "texts")
    with pytest.raises(InputError, match="nowhere: there is no such folder"):
        find_file(tmp_path / "nowhere", ("a.csv",), "texts")
