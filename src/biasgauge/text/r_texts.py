"""Texts in files of R: character vectors, corpora of quanteda with their variables, and data frames."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.errors import CorpusError
from biasgauge.io import R_MISSING, RProblem, RValue, column_text, read_r

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.io import ByteSource

TEXT = "text"
"""Column of the texts of a corpus of quanteda, beside its variables."""


def r_objects(source: ByteSource) -> dict[str, Any]:
    """Objects of a file of R by name; its numbers stay on disk.

    Raises:
        CorpusError: it is not a file of R, or damaged.
    """
    with source.seekable() as file:
        if not file.seek(0, 2):
            raise CorpusError("the file is empty", path=source.path)
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return read_r(content)
    except RProblem as problem:
        raise CorpusError(str(problem), path=source.path, offset=problem.offset) from problem


def r_columns(source: ByteSource) -> dict[str, Sequence[Any]]:
    """Columns of the one data frame, or of the one corpus of quanteda, in a file of R; a missing cell is None.

    Raises:
        CorpusError: as `r_objects`; or the file holds another number of tables, or columns of different lengths.
    """
    tables = [table for value in r_objects(source).values() if (table := _columns(value))]
    if len(tables) != 1:
        sentence = f"holds {len(tables)} data frames or corpora; save one alone, with saveRDS(…)"
        raise CorpusError(sentence, path=source.path)
    (table,) = tables
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) != 1:
        shortest, longest = (choose(lengths, key=lengths.__getitem__) for choose in (min, max))
        sentence = (
            f"has {lengths[shortest]:,} cells in the column {shortest[:40]!r} and {lengths[longest]:,} in "
            f"{longest[:40]!r}; save it again"
        )
        raise CorpusError(sentence, path=source.path)
    return table


def _columns(value: Any) -> dict[str, Sequence[Any]]:  # noqa: ANN401 - any object of R
    """Columns of a data frame, or of a character vector with its variables (`docvars`); none of anything else."""
    if not isinstance(value, RValue):
        return {}
    if "data.frame" in value.strings("class"):
        named = zip(value.strings("names"), value.values, strict=False)
        return {str(name): cells for name, column in named if (cells := _cells(column)) is not None}
    texts = column_text(value)
    if texts is None:
        return {}
    variables = value.attributes.get("docvars")
    return {**(_columns(variables) if isinstance(variables, RValue) else {}), TEXT: texts}


def _cells(column: Any) -> Sequence[Any] | None:  # noqa: ANN401 - any object of R
    """Cells of a column of text, of a factor or of numbers; None for a column of anything else."""
    if not isinstance(column, RValue):
        return None
    if (texts := column_text(column)) is not None:
        return texts
    if isinstance(column.values, range):
        return column.values
    if not isinstance(column.values, np.ndarray) or column.values.dtype.kind not in "if":
        return None
    if column.values.dtype.kind == "f":
        return [None if number != number else number for number in column.values.tolist()]  # noqa: PLR0124 - NaN
    return [None if number == R_MISSING else number for number in column.values.tolist()]
