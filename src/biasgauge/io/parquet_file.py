"""Parquet files, read row by row in batches of bounded size; needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from biasgauge.errors import InputError, file_error

_BATCH_ROWS = 1024


def parquet_rows(
    path: str | os.PathLike[str], columns: Sequence[str], *, error: type[InputError] = InputError
) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of some columns, row by row; one batch of rows is in memory at a time.

    Args:
        path: the file.
        columns: names of columns.
        error: class of the error.

    Raises:
        InputError: pyarrow is not installed, the file is not Parquet or damaged, or it lacks a column.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as problem:
        sentence = 'Parquet needs pyarrow; install it with: pip install "biasgauge[regress]"'
        raise file_error(error, sentence, path) from problem
    try:
        with parquet.ParquetFile(Path(path)) as file:
            names = list(file.schema_arrow.names)
            absent = [name for name in columns if name not in names]
            if absent:
                listing = ", ".join(repr(name) for name in names[:10])
                raise file_error(error, f"has no column {absent[0]!r}; its columns: {listing}", path)
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
                cells = {name: batch.column(name).to_pylist() for name in batch.schema.names}
                yield from zip(*(cells[name] for name in columns), strict=True)
    except FileNotFoundError as problem:
        raise file_error(error, "there is no such file; check the path", path) from problem
    except (pa.ArrowException, OSError) as problem:
        if isinstance(problem, InputError):
            raise
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise file_error(error, f"is not a Parquet file that can be read ({reason[:200]})", path) from problem
