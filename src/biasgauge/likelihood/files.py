"""JSON and CSV of benchmarks from a file, compressed or not; what is wrong with one is said in a sentence.

Sentences of benchmarks are offensive by design: no message ever quotes one, only its id, line or column.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from typing import Any

from biasgauge._io.source import ByteSource
from biasgauge.errors import CorpusError

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
        return json.loads(read_text(path))
    except json.JSONDecodeError as problem:
        raise CorpusError(f"is not JSON: {problem.msg}", path=path, line=problem.lineno) from problem


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
    rows = csv.DictReader(io.StringIO(text), delimiter=separator, strict=True)
    found = list(rows.fieldnames or ())
    for names in needed:
        if not any(name in found for name in names):
            wanted = " or ".join(repr(name) for name in names)
            raise CorpusError(f"has no column {wanted}; its header has {len(found)} columns", path=path, line=1)
    content = []
    try:
        for row in rows:
            if None in row or None in row.values():
                raise CorpusError(f"has another number of columns than the header ({len(found)})", path=path,
                                  line=rows.line_num)  # fmt: skip
            content.append(row)
    except csv.Error as problem:
        raise CorpusError(f"is not a CSV file: {problem}", path=path, line=rows.line_num) from problem
    if not content:
        raise CorpusError("has no rows below its header", path=path)
    return content
