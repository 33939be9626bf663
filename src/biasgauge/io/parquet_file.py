"""Parquet files, read row by row in batches of bounded size; needs pyarrow."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from biasgauge.errors import InputError, file_error
from biasgauge.io.arrow_sizes import parquet_sizes
from biasgauge.io.source import expansion_limit, expansion_sentence

_BATCH_ROWS, _BATCH_BYTES = 1024, 2**24


def parquet_rows(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    content: BinaryIO | None = None,
    error: type[InputError] = InputError,
) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of some columns, row by row; one batch of rows is in memory at a time.

    Args:
        path: the file.
        columns: names of columns; at least one.
        content: what to read in the place of the file, which is decompressed already.
        error: class of the error.

    Raises:
        InputError: pyarrow is not installed, the file is not Parquet or damaged, or it lacks a column; none is named;
            or it unpacks to more than `expansion_limit` allows.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as problem:
        sentence = 'Parquet needs pyarrow; install it with: pip install "biasgauge[tables]"'
        raise file_error(error, sentence, path) from problem
    try:
        with _mapped(path, content) as mapped:
            source = pa.BufferReader(pa.py_buffer(mapped))
            file = parquet.ParquetFile(source)
            names = list(file.schema_arrow.names)
            absent = [name for name in columns if name not in names]
            if absent or not columns:
                listing = ", ".join(repr(name[:40]) for name in names[:10])
                wanted = f"has no column {absent[0]!r}" if absent else "name the column of the text (field=…, --field)"
                raise file_error(error, f"{wanted}; its columns: {listing}", path)
            size = Path(path).stat().st_size
            sizes = parquet_sizes(mapped)
            if sizes.unpacked > expansion_limit(size):
                raise file_error(error, expansion_sentence(size), path)
            rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(sizes.dictionary, 1)))  # each may name the longest text
            for batch in file.iter_batches(rows, columns=list(dict.fromkeys(columns))):
                cells = {name: batch.column(name).to_pylist() for name in batch.schema.names}
                yield from zip(*(cells[name] for name in columns), strict=True)
    except FileNotFoundError as problem:
        raise file_error(error, "there is no such file; check the path", path) from problem
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        MemoryError,
    ) as problem:  # ValueError: a name or a text that is not UTF-8
        if isinstance(problem, InputError):
            raise
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise file_error(error, f"is not a Parquet file that can be read ({reason[:200]})", path) from problem


@contextmanager
def _mapped(path: str | os.PathLike[str], content: BinaryIO | None) -> Iterator[mmap.mmap]:
    """Map the file, or the one that is open in its place."""
    with Path(path).open("rb") if content is None else nullcontext(content) as file:
        yield mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
