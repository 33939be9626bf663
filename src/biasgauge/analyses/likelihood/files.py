"""JSON and CSV of benchmarks from a file, compressed or not; what is wrong with one is said in a sentence.

Sentences of benchmarks are offensive by design: no message ever quotes one, only its id, line or column.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from biasgauge.errors import CorpusError
from biasgauge.io import ByteSource, CsvRow, JSONProblem, csv_rows, parse_json

_BLOCK = 2**22


def read_text(path: str | os.PathLike[str]) -> str:
    """A text file in UTF-8, whole.

    Raises:
        CorpusError: it cannot be read, or is in another encoding.
    """
    pieces = []
    with ByteSource(path, error=CorpusError) as source:
        while block := source.read(_BLOCK):
            pieces.append(block)
    try:
        return b"".join(pieces).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CorpusError("is not UTF-8; convert it first", path=path, offset=problem.start) from problem


def read_json(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - whatever the file holds
    """The content of a JSON file.

    Raises:
        CorpusError: it is something else.
    """
    try:
        return parse_json(read_text(path))
    except JSONProblem as problem:
        raise CorpusError(f"is not JSON: {problem}", path=path) from problem


def read_rows(path: str | os.PathLike[str], needed: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Rows of a CSV file with a header, by column; comma, semicolon or tab.

    Args:
        path: the file.
        needed: columns that must be there, each as the names that it may have.

    Raises:
        CorpusError: it has no header with these columns, or a row is too short or too long.
    """
    text = read_text(path)
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = (row for row in csv_rows(io.StringIO(text), path, error=CorpusError, separator=separator) if row.cells)
    header, _ = next(rows, CsvRow([], 1))
    for names in needed:
        if not any(name in header for name in names):
            wanted = " or ".join(repr(name) for name in names)
            raise CorpusError(f"has no column {wanted}; its header has {len(header)} columns", path=path, line=1)
    content = []
    for cells, line in rows:
        if len(cells) != len(header):
            problem = f"has another number of columns than the header ({len(header)})"
            raise CorpusError(problem, path=path, line=line)
        content.append(dict(zip(header, cells, strict=True)))
    if not content:
        raise CorpusError("has no rows below its header", path=path)
    return content
