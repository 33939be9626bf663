"""Vector files built byte by byte, and the judge of what `load` makes of a file: a valid table or one clear error."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import struct
import tracemalloc
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np
import pytest

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import Embedding, load
from biasgauge.vectors.formats.vector_format import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

CEILING = 96 * 2**20
"""Bytes that any load may take, besides three times the size of its file: blocks, first allocation, decompression."""

LONGEST_SENTENCE = 300
"""A sentence that repeats a word of megabytes is not clear."""


class Table(TypedDict, total=False):
    """What a file that can be read must give; `rows` are the vectors, exactly."""

    words: list[str]
    rows: list[list[float]]
    codes: set[str]
    dropped: list[str]
    format: str


Outcome = Table | str | None
"""A table; or a pattern that the one error must match; or None where either will do."""


class Build:
    """Writers of each format that can also write what no library would."""

    @staticmethod
    def binary(
        rows: Iterable[tuple[str | bytes, Sequence[float]]], header: str | None = None, *, line_feed: bool = False
    ) -> bytes:
        """Write word2vec binary; the header tells the truth unless given."""
        rows = list(rows)
        start = f"{len(rows)} {len(rows[0][1]) if rows else 3}\n" if header is None else header
        body = b"".join(
            (word if isinstance(word, bytes) else word.encode())
            + b" "
            + struct.pack(f"<{len(numbers)}f", *numbers)
            + (b"\n" if line_feed else b"")
            for word, numbers in rows
        )
        return start.encode() + body

    @staticmethod
    def npy(descr: object, shape: object, data: bytes, *, fortran: bool = False, header: bytes | None = None) -> bytes:
        """Write a `.npy` file, or one with any other bytes as its header."""
        text = (
            f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}".encode()
            if header is None
            else header
        )
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data

    @staticmethod
    def matrix(rows: Sequence[Sequence[float]], code: str = "f", descr: str = "<f4") -> bytes:
        """Write a `.npy` matrix of numbers packed with one `struct` code."""
        flat = [number for row in rows for number in row]
        return Build.npy(descr, (len(rows), len(rows[0])), struct.pack(f"{descr[0]}{len(flat)}{code}", *flat))

    @staticmethod
    def words(words: Sequence[str]) -> bytes:
        """Write a `.npy` array of text, each word padded to the longest."""
        width = max((len(word) for word in words), default=1) or 1
        data = b"".join(word.encode("utf-32-le", "surrogatepass").ljust(4 * width, b"\0") for word in words)
        return Build.npy(f"<U{width}", (len(words),), data)

    @staticmethod
    def archive(members: Mapping[str, bytes], *, deflated: bool = False) -> bytes:
        """Write a zip archive."""
        packed = io.BytesIO()
        method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
        with zipfile.ZipFile(packed, "w", method) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), content, method)
        return packed.getvalue()

    @staticmethod
    def npz(words: Sequence[str], rows: Sequence[Sequence[float]], *, deflated: bool = False) -> bytes:
        """Write an `.npz` archive with `words` and `vectors`."""
        return Build.archive({"words.npy": Build.words(words), "vectors.npy": Build.matrix(rows)}, deflated=deflated)

    @staticmethod
    def tensors(tensors: Mapping[str, tuple[str, Sequence[int], bytes]]) -> bytes:
        """Write a safetensors file of tensors given as (type, shape, bytes)."""
        header: dict[str, object] = {}
        data = b""
        for name, (kind, shape, content) in tensors.items():
            header[name] = {
                "dtype": kind,
                "shape": list(shape),
                "data_offsets": [len(data), len(data) + len(content)],
            }
            data += content
        return Build.raw_tensors(json.dumps(header).encode(), data)

    @staticmethod
    def raw_tensors(header: bytes, data: bytes) -> bytes:
        """Write a safetensors file with any bytes as its header."""
        header += b" " * (-len(header) % 8)
        return struct.pack("<Q", len(header)) + header + data

    @staticmethod
    def safetensors(
        words: Sequence[str | bytes], rows: Sequence[Sequence[float]], ends: Sequence[int] | None = None
    ) -> bytes:
        """Write the safetensors layout of `docs/reference/formats.md`; the ends tell the truth unless given."""
        raw = [word if isinstance(word, bytes) else word.encode() for word in words]
        flat = [number for row in rows for number in row]
        if ends is None:
            ends = np.cumsum([len(word) for word in raw]).tolist()
        return Build.tensors(
            {
                "vectors": ("F32", (len(rows), len(rows[0])), struct.pack(f"<{len(flat)}f", *flat)),
                "words": ("U8", (sum(map(len, raw)),), b"".join(raw)),
                "word_ends": ("I64", (len(ends),), struct.pack(f"<{len(ends)}q", *ends)),
            }
        )


class ValidFile(NamedTuple):
    """A small file in good order, and what is in it."""

    content: bytes
    vocabulary: bytes | None
    words: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


@pytest.fixture(scope="session")
def build() -> Build:
    return Build()


@pytest.fixture(scope="session")
def valid_files() -> dict[str, ValidFile]:
    """One file of each format, with the same four rows; `.gz` after the name means that it is gzipped."""
    words = ("the", "über", "1e5", "日本")
    rows = ((0.5, -1.25, 3.0), (1024.0, 0.0625, -2.5), (-0.75, 12.5, 0.125), (7.0, -8.0, 9.5))
    lines = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows, strict=True))
    paired = list(zip(words, rows, strict=True))
    vocabulary = "".join(f"{word}\n" for word in words).encode()
    plain = {
        "glove-text": (lines.encode(), None),
        "word2vec-text": (f"4 3\n{lines}".encode(), None),
        "word2vec-binary": (Build.binary(paired), None),
        "word2vec-binary-lines": (Build.binary(paired, line_feed=True), None),
        "npz": (Build.npz(words, rows), None),
        "npz-deflated": (Build.npz(words, rows, deflated=True), None),
        "npy": (Build.matrix(rows), vocabulary),
        "safetensors": (Build.safetensors(words, rows), None),
        "npy-pickled-vocabulary": (Build.matrix(rows), pickle.dumps(list(words), 2)),
        "pickle": (pickle.dumps(dict(zip(words, rows, strict=True)), 4), None),
        "pickle-protocol-0": (pickle.dumps((list(words), [list(row) for row in rows]), 0), None),
    }
    files = {name: ValidFile(content, beside, words, rows) for name, (content, beside) in plain.items()}
    return files | {
        f"{name}.gz": file._replace(content=gzip.compress(file.content, mtime=0)) for name, file in files.items()
    }


@dataclass(frozen=True)
class Judge:
    """Loads bytes as a file and holds the outcome against what every load promises."""

    folder: Path

    def attempt(
        self,
        content: bytes | None,
        vocabulary: bytes | None = None,
        *,
        words: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Embedding | str:
        """Load: a table checked for validity, or the error's sentence checked for clarity; both within the ceiling.

        `content` of None leaves the file of the attempt before.
        """
        path = self.folder / "hostile.dat"
        if content is not None:
            path.write_bytes(content)
        beside = self.folder / "hostile.vocab"
        beside.unlink(missing_ok=True)
        if vocabulary is not None:
            beside.write_bytes(vocabulary)
        size = path.stat().st_size + len(vocabulary or b"")
        result: Embedding | str
        tracemalloc.start()
        try:
            result = load(path, words=words, limit=limit, vocabulary=None if vocabulary is None else beside)
        except EmbeddingFormatError as problem:
            result = str(problem)
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak <= CEILING + 3 * size, f"{peak:,} bytes were held for a file of {size:,}"
        if isinstance(result, str):
            assert "hostile." in result, result
            assert_one_sentence(result)
        else:
            assert_valid(result)
        return result

    def __call__(self, content: bytes | None, outcome: Outcome, vocabulary: bytes | None = None) -> None:
        """Load the whole file and hold it against `outcome`, then parts of it against the whole."""
        whole = self.attempt(content, vocabulary)
        if isinstance(outcome, str):
            assert isinstance(whole, str), f"read as {whole!r} with {whole.words[:5]}"
            assert re.search(outcome, whole), whole
        elif outcome is not None:
            assert isinstance(whole, Embedding), whole
            assert_is(whole, outcome)
        asked = [*(outcome["words"] if isinstance(outcome, dict) else ("a",)), "not in any file"]
        if isinstance(whole, Embedding):
            asked = [*whole.words[::2], "not in any file"]
        picked = self.attempt(None, vocabulary, words=asked)
        first = self.attempt(None, vocabulary, limit=1)
        if isinstance(whole, Embedding):
            assert isinstance(picked, Embedding), picked
            assert picked.words == whole.words[::2]
            np.testing.assert_array_equal(picked.vectors, whole.vectors[::2])
            assert isinstance(first, Embedding), first
            assert first.words in {whole.words[:1], ()}
            np.testing.assert_array_equal(first.vectors, whole.vectors[: len(first)])


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(tmp_path_factory.mktemp("hostile"))


def assert_one_sentence(text: str) -> None:
    assert text.strip()
    assert len(text.splitlines()) == 1, text
    assert text.isprintable(), repr(text)
    assert "Traceback" not in text
    assert len(text) <= LONGEST_SENTENCE, f"{len(text):,} characters: {text[:200]}"


def assert_valid(table: Embedding) -> None:
    assert len(set(table.words)) == len(table.words) == len(table.vectors)
    assert all(table.words), "an empty word"
    assert table.vectors.ndim == 2
    assert table.vectors.dtype.kind == "f"
    assert np.isfinite(table.vectors).all()
    assert not set(table.dropped) & set(table.words)
    for word in (*table.words, *table.dropped):
        word.encode("utf-8")
    for notice in table.notices:
        assert notice.code in OUTCOMES
        assert notice.count >= 1
        assert_one_sentence(notice.message)


def assert_is(table: Embedding, expected: Table) -> None:
    assert list(table.words) == expected["words"]
    assert {notice.code for notice in table.notices} == expected.get("codes", set())
    assert sorted(table.dropped) == sorted(expected.get("dropped", []))
    if "rows" in expected:
        np.testing.assert_array_equal(table.vectors, np.array(expected["rows"]))
    if "format" in expected:
        assert table.format == expected["format"]
