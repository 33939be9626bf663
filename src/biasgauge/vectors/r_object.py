"""R's files: a numeric matrix with row names, or a data frame with a row for each word, in `.rds` or `.RData`."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from biasgauge.core import Array
from biasgauge.io import RProblem, RValue, column_text, read_r
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.pickles import decode_words
from biasgauge.vectors.rows import check_matrix, refuse_impossible_size, select_rows

_LAYOUTS = "a numeric matrix with row names, or a data frame of numbers with row names or one column of words"


def read_r_vectors(request: Request) -> VectorTable:
    """Read words and vectors from the one object of a file that has them."""
    with request.open() as source, source.seekable() as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        objects = read_r(content)
    except RProblem as problem:
        raise request.error(str(problem), offset=problem.offset) from problem
    tables = {name: table for name, value in objects.items() if (table := _split(request, value)) is not None}
    if len(tables) != 1:
        found = ", ".join(name for name in tables or objects if name) or "another object"
        remedy = "save one of them: saveRDS(M, 'v.rds')" if tables else "rownames(M) <- words; saveRDS(M, 'v.rds')"
        raise request.error(f"expected {_LAYOUTS}; found {found}: {remedy}")
    ((texts, matrix),) = tables.values()
    words = list(texts)
    if None in words:
        raise request.error("has a row whose name is missing (NA)")
    check_matrix(request, "the R object", matrix.shape, matrix.dtype)
    if not len(matrix):
        raise request.error("the R object has no rows")
    return select_rows(request, decode_words(words, request.book), matrix)


def _split(request: Request, value: object) -> tuple[Sequence[Any], Array] | None:
    """Words and numbers of an object; None where it has none."""
    if not isinstance(value, RValue):
        return None
    if isinstance(value.values, np.ndarray):
        return _split_matrix(value)
    return _split_frame(request, value) if "data.frame" in value.strings("class") else None


def _split_matrix(value: RValue) -> tuple[Sequence[Any], Array] | None:
    shape, names = value.attributes.get("dim"), value.attributes.get("dimnames")
    if not isinstance(shape, RValue) or not isinstance(names, RValue) or not isinstance(names.values, list):
        return None
    words = column_text(names.values[0]) if names.values and isinstance(names.values[0], RValue) else None
    lengths = np.asarray(shape.values if isinstance(shape.values, (np.ndarray, range)) else [])
    numeric = value.values.dtype.kind == "f" or value.values.dtype == np.dtype(">i4")
    if words is None or not numeric or lengths.shape != (2,) or lengths.dtype.kind != "i":
        return None
    rows, columns = (int(length) for length in lengths)
    if rows * columns != len(value.values) or min(rows, columns) < 0:
        return None
    return words, value.values.reshape(rows, columns, order="F")


def _split_frame(request: Request, value: RValue) -> tuple[Sequence[Any], Array] | None:
    columns = (
        [column for column in value.values if isinstance(column, RValue)] if isinstance(value.values, list) else []
    )
    texts = [text for column in columns if (text := column_text(column)) is not None]
    numbers = [column.values for column in columns if _is_numeric(column) and column_text(column) is None]
    if len(texts) > 1 or not numbers:
        return None
    words = texts[0] if texts else value.strings("row.names")
    lengths = {len(words), *map(len, numbers)}
    if len(lengths) != 1:
        return None
    refuse_impossible_size(request, 8 * len(words) * len(numbers))
    return words, np.stack(numbers, axis=1).astype(np.float64)


def _is_numeric(column: RValue) -> bool:
    """Tell whether a column holds numbers, of which R writes `1:n` as a range."""
    return isinstance(column.values, range) or (
        isinstance(column.values, np.ndarray) and column.values.dtype.kind in "fi"
    )
