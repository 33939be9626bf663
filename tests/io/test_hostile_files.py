"""Whatever the bytes are: a value, or one error of ours in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import time
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.errors import CorpusError, InputError, LexiconError, ParameterError
from biasgauge.io.json_file import DEEPEST, JSONProblem, parse_json, read_json, read_json_object, read_manifest
from biasgauge.io.npy_file import array_sha256, header_bytes, map_array, read_npz, write_array
from biasgauge.io.source import FLOOR, VARIABLE, ByteSource
from biasgauge.io.text_file import csv_of_records, csv_records, csv_rows, csv_text, read_toml
from biasgauge.vectors import load

if TYPE_CHECKING:
    from pathlib import Path

DEEP = {
    "lists": b"[" * 200_000,
    "objects": b'{"a":' * 200_000,
    "lists that end": b"[" * 5_000 + b"]" * 5_000,
    "behind a text of brackets": b'["' + b"]" * 300 + b'",' + b"[" * 300 + b"]" * 301,
    "mixed": b'[{"a":' * 500 + b"1" + b"}]" * 500,
}
NO_JSON = {
    "empty": b"",
    "no text": b"\xff\xfe\x00",
    "half": b'{"a": ',
    "digits": b"1" * 5_000,
    "an open text of quotes": b'"' + b'\\"' * 200_000,
    "half of a character": b'["\\ud800"]',
    "half of a character in a key": b'{"\\uDC00": 1}',
    "half of a character in bytes": b'["\xed\xa0\x80"]',
    "two bytes a character": '["a"]'.encode("utf-16"),
}


@pytest.mark.parametrize("content", [*DEEP.values(), *NO_JSON.values()], ids=[*DEEP, *NO_JSON])
def test_json_that_is_none(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"file\.json: is not JSON \(.+\); again") as refusal:
        read_json(path, again="again")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), st.lists, max_leaves=50))
def test_json_is_what_the_library_reads(value: object) -> None:
    text = json.dumps(value)
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("over", [0, 1])
def test_depth_is_counted_exactly(over: int) -> None:
    """Brackets in texts, also behind escaped quotes, are none."""
    depth = DEEPEST + over - 1
    text = '["[[[[\\"[[[",' + "[" * depth + "]" * depth + ',"]]]"]'
    if over:
        with pytest.raises(JSONProblem, match="nested"):
            parse_json(text)
    else:
        assert parse_json(text) == json.loads(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_manifests_hold_finite_numbers(number: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(f'{{"format": "ours", "size": {number}}}')
    with pytest.raises(InputError, match="manifest"):
        read_manifest(path, "ours", absent="{}", again="make it again")


def test_json_that_must_be_an_object(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text("[]")
    with pytest.raises(InputError, match="JSON object"):
        read_json_object(path)


@pytest.mark.parametrize("read", [read_json, read_toml])
def test_names_that_are_no_file(read: object, tmp_path: Path) -> None:
    assert callable(read)
    for path, why in ((tmp_path, "is a folder"), (tmp_path / "no", "no such file"), ("a\0b", "not a usable file name")):
        with pytest.raises(InputError, match=why):
            read(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a." * 40_000 + "b = 1", "line 1: has a key of more than 100 parts"),
        ("x = 1\n[" + "'a' . " * 40_000 + "b]", "line 2: has a key of more than 100 parts"),
        ("a" * 2**20, "is not valid TOML"),
        ('"' * 2**20, "is not valid TOML"),
        ("a " * 2**19, "is not valid TOML"),
    ],
    ids=["key", "table", "one long part", "quotes", "spaces"],
)
def test_keys_of_thousands_of_parts_take_no_minutes(content: str, said: str, tmp_path: Path) -> None:
    """80 KB of such a key took 17 seconds, and twice as many four times as long."""
    path = tmp_path / "deep.toml"
    path.write_text(content)
    started = time.process_time()
    with pytest.raises(LexiconError, match=said):
        read_toml(path, error=LexiconError)
    assert time.process_time() - started < 5
    path.write_text("a." * 90 + "b = 1")
    assert read_toml(path)["a"]["a"]


def test_an_error_never_repeats_a_whole_header(tmp_path: Path) -> None:
    header = b"1" * 5_000
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    with pytest.raises(InputError, match="damaged header") as refusal:
        map_array(tmp_path / "a.npy", np.float32, (2,), again="again")
    assert len(str(refusal.value)) < 500


def test_toml_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(LexiconError, match=r"nested too deeply|not valid TOML"):
        read_toml(path, error=LexiconError)


HEADERS = {
    "an open bracket": b"{'descr': '<f4', 'fortran_order': False, 'shape': (",
    "an open text": b"{'descr': '''",
    "a shape that is huge": b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999,), }",
    "a negative shape": b"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
    "a shape of truths": b"{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }",
    "objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "another type": b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
    "a type that is none": b"{'descr': '<q99', 'fortran_order': False, 'shape': (3,), }",
    "deep": b"{'descr': " + b"[" * 5_000,
    "no keys": b"{}",
    "no text": b"\xff\xfe\xfd",
    "indented": b"  \n   {'descr'\n",
    "digits": b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1" * 5_000 + b",), }",
}


def npy(header: bytes, data: bytes = b"\0" * 12) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n" + data


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_arrays_with_damaged_headers(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    path.write_bytes(npy(header))
    with pytest.raises(InputError, match=r"array\.npy: .*; again"):
        map_array(path, np.float32, (3,), again="again")
    with zipfile.ZipFile(tmp_path / "arrays.npz", "w") as archive:
        archive.writestr("a.npy", npy(header))
    with pytest.raises(InputError, match=r"arrays\.npz"):
        read_npz(tmp_path / "arrays.npz", ["a"])


@pytest.mark.parametrize("more", [b"", b"\0" * 4])
def test_arrays_of_another_length(more: bytes, tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    path.write_bytes(header_bytes("<f4", (3,)) + (b"\0" * 12 + more if more else b"\0" * 8))
    with pytest.raises(InputError, match="numbers"):
        map_array(path, np.float32, (3,), again="again")


@pytest.mark.parametrize(
    "array", [np.arange(6, dtype="<f4").reshape(2, 3), np.zeros((0, 3), np.uint8), np.arange(4)[::-1]]
)
def test_arrays_are_the_bytes_of_the_library(array: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    write_array(path, array)
    whole = io.BytesIO()
    np.save(whole, np.ascontiguousarray(array))
    assert path.read_bytes() == whole.getvalue()
    import hashlib

    assert array_sha256(array) == hashlib.sha256(whole.getvalue()).hexdigest()
    assert np.array_equal(map_array(path, array.dtype, array.shape, again=""), array)


@given(st.binary(max_size=300))
def test_any_bytes_after_the_mark(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("npy") / "array.npy"
    path.write_bytes(b"\x93NUMPY" + content)
    with pytest.raises(InputError):
        map_array(path, np.float64, (7,), again="again")


def test_rows_that_are_none() -> None:
    with pytest.raises(CorpusError, match=r"line 2.*separated"):
        list(csv_rows(["a,b\n", '"x"y,z\n'], "table.csv", error=CorpusError))
    with pytest.raises(InputError, match="has no column 'c'"):
        list(csv_records(["a,b\n"], "table.csv", needed=["c"]))
    with pytest.raises(InputError, match=r"line 2.*fields"):
        list(csv_records(["a,b\n", "1,2,3\n"], "table.csv"))
    assert list(csv_records(["a,b\n", "\n", "1,2\n"], "table.csv")) == [({"a": "1", "b": "2"}, 3)]


def test_no_cell_of_any_csv_is_a_formula() -> None:
    import pandas as pd

    bad = ["=1+1", "+SUM(A1)", "-cmd", "@x", "\tx"]
    fine = ["-1.5", "+2", "word", "a=b", "two\nlines"]
    returns = ["\rx", "a\r=1+1", "a\r\n=1+1"]
    texts = [
        csv_text(pd.DataFrame({"=name": [*bad, *fine, *returns]})),
        csv_of_records(["=name"], [{"=name": cell} for cell in [*bad, *fine, *returns]]),
    ]
    for text in texts:
        cells = [row.cells[0] if row.cells else "" for row in csv_rows(io.StringIO(text, newline=""), "x")]
        assert cells == ["'=name", *(f"'{cell}" for cell in bad), *fine, "'\nx", "a\n=1+1", "a\n=1+1"]


def bomb(path: Path, size: int, start: bytes = b"") -> None:
    opener = lzma.open if path.suffix == ".xz" else gzip.open
    with opener(path, "wb") as file:
        file.write(start)
        block = b"\0" * 2**22
        for _ in range(size // 2**22):
            file.write(block)


def _read_all(source: ByteSource) -> None:
    while source.read(2**20):
        pass


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_bomb_is_refused_before_it_fills_the_disk(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasgauge.io.source.FLOOR", 2**23)
    path = tmp_path / f"vectors.npy{ending}"
    bomb(path, 2**26, header_bytes("<f4", (2**12, 2**12)))
    (tmp_path / "vectors.vocab").write_text("\n".join(f"w{n}" for n in range(2**12)))
    sentence = rf"unpacks to more than .*unpack it first, or set {VARIABLE}=1000"
    with pytest.raises(InputError, match=sentence):
        load(path, vocabulary=tmp_path / "vectors.vocab")
    with ByteSource(path, error=CorpusError) as source, pytest.raises(CorpusError, match=sentence):
        _read_all(source)
    monkeypatch.setenv(VARIABLE, "10000")
    with ByteSource(path, error=CorpusError) as source:
        _read_all(source)
        assert source.offset > 2**26
    monkeypatch.setenv(VARIABLE, "a lot")
    with pytest.raises(ParameterError, match=f"{VARIABLE} must be a whole number"):
        ByteSource(path, error=CorpusError)


def test_a_bomb_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.io.source.FLOOR", 2**20)
    path = tmp_path / "vectors.npz"
    words = np.array([f"w{n}" for n in range(4_096)])
    np.savez_compressed(path, words=words, vectors=np.zeros((4_096, 1_024), np.float32))
    with pytest.raises(InputError, match="vectors"):
        load(path)
    with pytest.raises(InputError, match="vectors"):
        read_npz(path, ["vectors"])


def test_what_the_limits_allow() -> None:
    assert FLOOR == 2**28
