"""Tables: comma, tab or semicolon, compressed or not.

Whatever is wrong is said by file and line. Texts are often offensive, so no sentence quotes them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from biasgauge.core import did_you_mean
from biasgauge.errors import CorpusError, InputError
from biasgauge.io import ByteSource, CsvRow, csv_rows
from biasgauge.text import whole_lines

_LONGEST_NAME = 40
_PACKED = ("", ".gz", ".xz", ".zst")


@dataclass(frozen=True)
class TextTable:
    """Rows of text under named columns; `lines` are those of the file where each row starts, from 1."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, column: str) -> tuple[str, ...]:
        """One column; where there is none of that name, the error suggests the nearest."""
        if column not in self.columns:
            names = f"its columns are {', '.join(self.columns)}"
            if max(map(len, self.columns)) > _LONGEST_NAME:
                names = "the first line does not look like a header"
            problem = f"expected a column {column!r}{did_you_mean(column, self.columns) or ';'} {names}"
            raise CorpusError(problem, path=self.path, line=1)
        index = self.columns.index(column)
        return tuple(row[index] for row in self.rows)

    def coded(self, column: str, names: dict[str, str]) -> tuple[str, ...]:
        """One column of labels, each by the name that `names` gives it; nothing else may stand there."""
        cells = [cell.strip() for cell in self.cells(column)]
        for cell, line in zip(cells, self.lines, strict=True):
            if cell not in names:
                raise CorpusError(
                    f"{column!r} must be one of {', '.join(names)}; found something else", path=self.path, line=line
                )
        return tuple(names[cell] for cell in cells)


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> TextTable:
    """Read a table; its first line names the columns unless `columns` does.

    Raises:
        CorpusError: the file cannot be read, is not UTF-8, has no rows, or a row has too few or too many fields.
    """
    with ByteSource(path, error=CorpusError) as source:
        lines = (line.removesuffix("\r") + "\n" for _, line in whole_lines(source))
        first = next(lines, "")
        if not first.strip():
            raise CorpusError("expected a table with a header, found nothing", path=path, line=1)
        rows = csv_rows(chain([first], lines), path, error=CorpusError, separator=max(",\t;", key=first.count))
        return _parse(Path(path), rows, columns)


def _parse(path: Path, csv: Iterator[CsvRow], columns: Sequence[str] | None) -> TextTable:
    names = None if columns is None else tuple(columns)
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    line = 1
    for fields, end in csv:
        if names is None:
            names = tuple(name.strip() for name in fields)
            check_names(names, path, line=1)
        elif fields:
            if len(fields) != len(names):
                raise CorpusError(f"expected {len(names)} fields, found {len(fields)}", path=path, line=line)
            rows.append(tuple(fields))
            starts.append(line)
        line = end + 1
    if not rows or names is None:
        raise CorpusError("expected rows below the header, found none", path=path)
    return TextTable(path, names, tuple(rows), tuple(starts))


def check_names(names: tuple[str, ...], path: str | os.PathLike[str], line: int | None = None) -> None:
    """Columns must have names, no two the same."""
    if not any(names):
        raise CorpusError("expected a header with the names of columns, found nothing", path=path, line=line)
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise CorpusError(f"the column {twice[0]!r} stands there twice; rename one of them", path=path, line=line)


def find_file(data: Path, names: Sequence[str], description: str) -> Path:
    """The first file of those names in a folder, also compressed; a file is taken as it is."""
    if data.is_file():
        return data
    if not data.is_dir():
        raise InputError(f"{data}: there is no such folder; name the folder with {description}")
    for name in names:
        for ending in _PACKED:
            if (path := data / f"{name}{ending}").is_file():
                return path
    raise InputError(f"{data}: has no {description}; expected a file {' or '.join(names)}, plain or compressed")
