"""Small files that unpack to much more than they are worth: refused, or read within the same bound on memory."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import parquet_rows
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.fuzz.conftest import Build, Judge

pytestmark = pytest.mark.fuzz

LARGE = 128 * 2**20
"""Bytes of filling: more than the judge's ceiling."""


def _gzipped(start: bytes, filling: bytes, end: bytes = b"") -> bytes:
    """Compress `start`, then much of the same, then `end`, without holding it."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = filling * (2**20 // len(filling))
    pieces = [packer.compress(start)]
    pieces += [packer.compress(block) for _ in range(LARGE // len(block))]
    pieces += [packer.compress(end), packer.flush()]
    return b"".join(pieces)


def _archive(build: Build, **members: tuple[bytes, int]) -> bytes:
    """Write a deflated archive of arrays given as (first bytes, how many noughts follow), beside two good ones."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in {"words": build.words(["a", "b"]), "vectors": build.matrix([[1.0], [2.0]])}.items():
            if name not in members:
                archive.writestr(f"{name}.npy", content)
        for name, (start, size) in members.items():
            with archive.open(f"{name}.npy", "w") as member:
                member.write(start)
                for _ in range(size // 2**20):
                    member.write(bytes(2**20))
    return packed.getvalue()


GZIPPED = {
    "noughts": (b"", b"\0", b""),
    "spaces": (b"", b" ", b""),
    "a word without end": (b"", b"a", b""),
    "a row without end": (b"a", b" 1", b"\n"),
    "a header, then noughts": (b"2 3\n", b"\0", b""),
    "a header, then a word without end": (b"2 3\n", b"a", b""),
    "a header, then spaces": (b"2 3\n", b" ", b""),
    "a safetensors header of spaces": (struct.pack("<Q", 15_000_000) + b"{", b" ", b"}"),
    "a NumPy header of spaces": (b"\x93NUMPY\x02\x00" + struct.pack("<I", LARGE) + b"{", b" ", b"}"),
}


@pytest.mark.parametrize("name", GZIPPED)
def test_gzip_bomb_is_refused(name: str, judge: Judge) -> None:
    content = _gzipped(*GZIPPED[name])
    assert len(content) < LARGE // 20
    assert isinstance(judge.attempt(content), str)
    assert isinstance(judge.attempt(None, words=["a"]), str)


def test_rows_before_much_filling_are_read(judge: Judge) -> None:
    table = judge.attempt(
        _gzipped(b"2 3\na " + struct.pack("<3f", 1, 2, 3) + b"b " + struct.pack("<3f", 4, 5, 6), b"\0")
    )
    assert isinstance(table, Embedding), table
    assert table.words == ("a", "b")
    np.testing.assert_array_equal(table.vectors, [[1, 2, 3], [4, 5, 6]])
    assert [notice.code for notice in table.notices] == ["trailing-bytes"]


def test_wanted_row_after_many_others_is_read(judge: Judge) -> None:
    content = _gzipped(b"", b"other" + b" 1" * 500 + b"\n", b"a" + b" 2" * 500 + b"\n")
    table = judge.attempt(content, words=["a"])
    assert isinstance(table, Embedding), table
    assert table.words == ("a",)
    np.testing.assert_array_equal(table.vectors, [[2] * 500])


def test_further_array_of_an_archive_is_never_unpacked(build: Build, judge: Judge) -> None:
    start = build.npy("<f4", (LARGE // 4,), b"")
    table = judge.attempt(_archive(build, junk=(start, LARGE)))
    assert isinstance(table, Embedding), table
    assert table.words == ("a", "b")
    np.testing.assert_array_equal(table.vectors, [[1], [2]])


@pytest.mark.parametrize(
    ("member", "descr", "shape"),
    [
        ("words", f"<U{LARGE // 4}", (1,)),
        ("words", f"<U{LARGE // 8}", (2,)),
        ("words", "<U1", (LARGE // 4,)),
        ("words", f"|S{LARGE // 2}", (2,)),
        ("vectors", "<f4", (LARGE // 4, 1)),
        ("vectors", "<f4", (1, LARGE // 4)),
    ],
)
def test_zip_bomb_is_refused(member: str, descr: str, shape: tuple[int, ...], build: Build, judge: Judge) -> None:
    content = _archive(build, **{member: (build.npy(descr, shape, b""), LARGE)})
    assert len(content) < LARGE // 100
    assert isinstance(judge.attempt(content), str)
    assert isinstance(judge.attempt(None, words=["a"]), str)


@pytest.mark.parametrize("fortran", [False, True], ids=["row by row", "column by column"])
def test_few_words_of_a_large_archive_take_little(build: Build, judge: Judge, *, fortran: bool) -> None:
    rows = 2**15
    width = LARGE // 4 // rows
    words = build.words([f"w{row:05}" for row in range(rows)])
    vectors = build.npy("<f4", (rows, width), b"", fortran=fortran)
    table = judge.attempt(_archive(build, words=(words, 0), vectors=(vectors, LARGE)), words=["w00007", "w32767"])
    assert isinstance(table, Embedding), table
    assert table.words == ("w00007", "w32767")
    np.testing.assert_array_equal(table.vectors, np.zeros((2, width)))


def test_long_rows_among_short_ones_set_no_memory_aside(judge: Judge) -> None:
    """Two rows are as long as no other two, so theirs is the length of most; the mean row is far shorter."""
    widths = (450_000, 450_000, *range(1, 62))
    refusal = judge.attempt(b"".join(b"w" + b" 1" * width + b"\n" for width in widths))
    assert isinstance(refusal, str)
    assert "line 3: " in refusal


def _tables() -> dict[str, bytes]:
    """Some hundred bytes each, of which pyarrow makes a gigabyte."""
    zeros = pa.array([np.zeros(80_000_000, np.float32)], pa.list_(pa.float32()))
    lists = pa.table({"word": ["a"], "vector": zeros})
    repeated = pa.array(["x" * 1_000_000]).dictionary_encode()
    words = pa.table(
        {
            "word": pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), repeated.dictionary),
            "x": [1.0] * 1000,
        }
    )
    view = struct.pack("<i4sii", 1_000_000, b"xxxx", 0, 0)  # length, beginning, buffer and place
    buffers = [None, pa.py_buffer(view * 1000), pa.py_buffer(b"x" * 1_000_000)]
    views = pa.table({"word": pa.Array.from_buffers(pa.string_view(), 1000, buffers), "x": [1.0] * 1000})
    return {
        "Parquet, one list": _stored(pq.write_table, lists),
        "Parquet, one word": _stored(pq.write_table, words, store_schema=False),
        "Arrow, one list": _stored(_write_ipc, lists, new=pa.ipc.new_file),
        "Arrow stream, one list": _stored(_write_ipc, lists, new=pa.ipc.new_stream),
        "Arrow, one word": _stored(_write_ipc, words, new=pa.ipc.new_file),
        "Arrow, views of one word": _stored(_write_ipc, views, new=pa.ipc.new_file),
    }


def _stored(write: Callable[..., object], table: object, **settings: Any) -> bytes:  # noqa: ANN401 - those of `write`
    sink = pa.BufferOutputStream()
    write(table, sink, **settings)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _write_ipc(table: Any, sink: object, new: Callable[..., Any]) -> None:  # noqa: ANN401 - of pyarrow
    with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)


_POOLS: list[pa.MemoryPool] = []
"""Pools live as long as what was taken from them may."""


@contextmanager
def arrow_memory() -> Iterator[pa.MemoryPool]:
    """Count what Arrow takes, from 0."""
    usual = pa.default_memory_pool()
    _POOLS.append(pa.proxy_memory_pool(usual))
    pa.set_memory_pool(_POOLS[-1])
    try:
        yield _POOLS[-1]
    finally:
        pa.set_memory_pool(usual)


def test_tables_that_unpack_to_gigabytes_are_refused_before_they_do(tmp_path: Path) -> None:
    """912 bytes of Parquet took 2.3 GB, 13 KB of Arrow 1.3 GB; one word, named again and again, 4 GB."""
    outcomes = {}
    for name, content in _tables().items():
        assert len(content) < 200_000
        path = tmp_path / "table"
        path.write_bytes(content)
        tracemalloc.start()
        with arrow_memory() as pool:
            try:
                outcomes[name] = load(path).words[0][:1]
            except EmbeddingFormatError as problem:
                outcomes[name] = "refused"
                assert "unpacks to more than" in str(problem)  # noqa: PT017 - some are read
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert max(peak, pool.max_memory()) < 100 * 2**20, name
    assert outcomes == {
        "Parquet, one list": "refused",
        "Parquet, one word": "x",
        "Arrow, one list": "refused",
        "Arrow stream, one list": "refused",
        "Arrow, one word": "x",
        "Arrow, views of one word": "refused",
    }


def test_batches_of_texts_are_small_where_each_row_may_name_the_longest(tmp_path: Path) -> None:
    """A batch of 1024 rows, each a text of one megabyte from the dictionary, took a gigabyte."""
    path = tmp_path / "texts.parquet"
    path.write_bytes(_tables()["Parquet, one word"])
    with arrow_memory() as pool:
        rows = parquet_rows(path, ["word"])
        assert sum(len(text) for (text,) in islice(rows, 200)) == 200 * 1_000_000
    assert pool.max_memory() < 150 * 2**20
