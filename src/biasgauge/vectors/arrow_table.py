"""Parquet and Arrow tables: a column of words, and their vectors in one list column or in columns of numbers.

Tables are read a batch of rows at a time. Arrow's own types of Python objects, which are pickles, are never built.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.core import Array, Vectors
from biasgauge.io import (
    ARROW_MARK,
    arrow_unpacked_size,
    column_texts,
    expansion_limit,
    expansion_sentence,
    parquet_sizes,
)
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.pickles import decode_words
from biasgauge.vectors.rows import RowTable, check_matrix

if TYPE_CHECKING:
    import pyarrow as pa

_INSTALL = 'is a table of Parquet or Arrow; to read it: pip install "biasgauge[tables]"'
_BATCH = 4096
_DAMAGE = (OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)
_LAYOUTS = "a column of words, and either one column of lists of numbers or columns of numbers"
_TEXTS = frozenset(["string", "large_string", "string_view"])
_TYPES = {"halffloat": "<f2", "float": "<f4", "double": "<f8"}


def _read_table(
    request: Request,
    unpacked_size: Callable[[mmap.mmap], int],
    open_table: Callable[[mmap.mmap], tuple[Any, Iterator[Any]]],
) -> VectorTable:
    """Read words and vectors of a table, in one pass."""
    with request.open() as source, source.seekable() as file, _explained_damage(request):
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = len(content)
        if unpacked_size(content) > expansion_limit(size):
            raise request.error(expansion_sentence(size))
        schema, batches = open_table(content)
        words, numbers, dtype = _find_columns(request, schema)
        return _read_batches(request, batches, words, numbers, dtype, size)


def _read_batches(
    request: Request, batches: Iterator[pa.RecordBatch], words: str, numbers: list[str], dtype: str, size: int
) -> VectorTable:
    """Take the rows that are wanted from each batch, until there are enough."""
    table: RowTable | None = None
    dim = seen = 0
    for batch in batches:
        batch.validate(full=True)
        part = batch if request.limit is None else batch.slice(0, request.limit - seen)
        if not len(part):
            continue
        seen += len(part)
        texts = part.column(words)
        if str(texts.type) == "string_view" and _length_of_views(texts) > expansion_limit(size):
            raise request.error(expansion_sentence(size))
        present = [word for word in column_texts(texts) if word is not None]
        if len(present) != len(part):
            raise request.error("has a row without a word")
        names = decode_words(present, request.book)
        block = _matrix(request, part, numbers, dtype)
        if table is None:
            check_matrix(request, "the table", block.shape, block.dtype)
            dim = block.shape[1]
            expected = size // (dim * block.itemsize) + 1
            most = [request.limit, None if request.wanted is None else len(request.wanted)]
            table = RowTable(request, dim, block.dtype, expected=min([expected, *(n for n in most if n is not None)]))
        if block.shape[1] != dim:
            raise request.error(f"has vectors of {dim:,} and of {block.shape[1]:,} numbers")
        if request.wanted is not None:
            chosen = [row for row, name in enumerate(names) if name in request.wanted]
            names, block = [names[row] for row in chosen], block[chosen]
        table.add(names, block)
        if seen == request.limit or table.is_complete():
            break
    if table is None:
        raise request.error("the table has no rows")
    return table.finish()


def _open_parquet(content: mmap.mmap) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = pa.BufferReader(pa.py_buffer(content))
    schema = pq.read_schema(source)
    texts = [name for name in schema.names if str(schema.field(name).type) in _TEXTS]
    source.seek(0)
    table = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=texts)
    return table.schema_arrow, table.iter_batches(_BATCH)


def _open_arrow(content: mmap.mmap) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Open a file, which ends with the list of its batches, or a stream of them."""
    import pyarrow as pa

    buffer = pa.py_buffer(content)
    if content[: len(ARROW_MARK)] == ARROW_MARK:
        reader = pa.ipc.open_file(pa.BufferReader(buffer))
        batches = map(reader.get_batch, range(reader.num_record_batches))
    else:
        batches = reader = pa.ipc.open_stream(buffer)
    return reader.schema, (batch.slice(start, _BATCH) for batch in batches for start in range(0, len(batch), _BATCH))


def _find_columns(request: Request, schema: pa.Schema) -> tuple[str, list[str], str]:
    """Name of the column of words, those of the columns of numbers, and the type of the numbers."""
    names = [str(name) for name in schema.names]
    if len(set(names)) != len(names):
        raise request.error("has two columns of one name")
    kinds = {name: _plain(schema.field(name).type) for name in names}
    texts = [name for name, kind in kinds.items() if str(kind) in _TEXTS]
    lists = {name: kind for name, kind in kinds.items() if _is_list(kind) and _is_number(kind.value_type)}
    numbers = {name: kind for name, kind in kinds.items() if _is_number(kind)}
    shown = ", ".join(f"{name} ({kind})" for name, kind in list(kinds.items())[:5]) + (", …" if len(kinds) > 5 else "")
    words = "word" if "word" in texts else texts[0] if len(texts) == 1 else None
    if words is None or len(lists) > 1 or not (lists or numbers):
        raise request.error(f"expected {_LAYOUTS}; found {shown or 'no columns'}")
    chosen = {name: kind.value_type for name, kind in lists.items()} or numbers
    whole = sorted({str(kind) for kind in chosen.values()} - _TYPES.keys())
    if whole:
        request.book.add("integers", ", ".join(whole))
    dtypes = {_TYPES.get(str(kind), "<f4") for kind in chosen.values()}
    return words, list(chosen), max(dtypes)


def _plain(kind: Any) -> Any:  # noqa: ANN401 - a type of Arrow
    """Type of the values behind a dictionary of them."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - a type of Arrow
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_number(kind: Any) -> bool:  # noqa: ANN401 - a type of Arrow
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def _length_of_views(texts: Any) -> int:  # noqa: ANN401 - of pyarrow
    """Bytes of texts that may all be views of the same bytes."""
    views = np.frombuffer(texts.buffers()[1], "<i4").reshape(-1, 4)  # length, beginning, buffer and place
    return int(views[texts.offset : texts.offset + len(texts), 0].sum(dtype=np.int64))


def _to_numpy(array: Any) -> Array:  # noqa: ANN401 - of pyarrow, without a missing number
    """View of the numbers; pyarrow's own conversion imports pandas, which takes longer than most files."""
    if not len(array) or not _is_number(array.type):
        numbers: Array = array.to_numpy(zero_copy_only=False)
        return numbers
    dtype = np.dtype(_TYPES.get(str(array.type), str(array.type)))
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def _matrix(request: Request, batch: pa.RecordBatch, names: list[str], dtype: str) -> Vectors:
    """Numbers of a batch, rows × dimensions."""
    columns = [batch.column(name) for name in names]
    if any(column.null_count for column in columns):
        raise request.error("has a row without its numbers (null)")
    if _is_list(columns[0].type):
        lengths = set(np.unique(_to_numpy(columns[0].value_lengths())).tolist())
        if len(lengths) != 1:
            raise request.error(f"has vectors of {min(lengths):,} and of {max(lengths):,} numbers")
        flat = columns[0].flatten()
        if flat.null_count:
            raise request.error("has a vector with a missing number (null)")
        rows: Vectors = _to_numpy(flat).astype(dtype, copy=False).reshape(len(batch), -1)
        return rows
    matrix = np.empty((len(batch), len(columns)), dtype)
    for number, column in enumerate(columns):
        matrix[:, number] = _to_numpy(column)
    return matrix


@contextmanager
def _explained_damage(request: Request) -> Iterator[None]:
    """Turn what Arrow says about a damaged table into one sentence."""
    try:
        import pyarrow as pa
    except ImportError as problem:
        raise request.error(_INSTALL) from problem
    try:
        yield
    except (pa.ArrowException, MemoryError, *_DAMAGE) as problem:
        first = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise request.error(f"the table is damaged or cut short ({first[:200]}); copy or save it again") from problem


def read_parquet(request: Request) -> VectorTable:
    """Read words and vectors of a Parquet file."""
    return _read_table(request, lambda content: parquet_sizes(content).unpacked, _open_parquet)


def read_arrow(request: Request) -> VectorTable:
    """Read words and vectors of an Arrow or Feather file, or of a stored stream of Arrow."""
    return _read_table(request, arrow_unpacked_size, _open_arrow)
