"""Parquet files, read row by row in batches of bounded size; needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from biasgauge.errors import InputError, file_error
from biasgauge.io.source import expansion_limit, expansion_sentence

_BATCH_ROWS = 1024


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
        with parquet.ParquetFile(Path(path) if content is None else content) as file:
            names = list(file.schema_arrow.names)
            absent = [name for name in columns if name not in names]
            if absent or not columns:
                listing = ", ".join(repr(name[:40]) for name in names[:10])
                wanted = f"has no column {absent[0]!r}" if absent else "name the column of the text (field)"
                raise file_error(error, f"{wanted}; its columns: {listing}", path)
            size = Path(path).stat().st_size
            if _unpacked_size(file.metadata) > expansion_limit(size):
                raise file_error(error, expansion_sentence(size), path)
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
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


def _unpacked_size(metadata: Any) -> int:  # noqa: ANN401 - of pyarrow, which has no types
    """Bytes that all columns say to have in memory.

    Metadata of single columns are not asked: where they are damaged, pyarrow ends the process.
    """
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
