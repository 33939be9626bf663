"""Separated text, parsed and written here and nowhere else; no written cell is taken for a formula by a spreadsheet."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasgauge.errors import InputError, file_error
from biasgauge.io.text_file import decode_utf8, read_whole

if TYPE_CHECKING:
    import pandas as pd

LONGEST_CELL = 2**26
"""Characters; the library's own bound is 128 KiB."""
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class CsvRow(NamedTuple):
    """Cells of a row, and the line where it ends, from 1."""

    cells: list[str]
    line: int


def csv_rows(
    lines: Iterable[str],
    path: str | os.PathLike[str],
    *,
    error: type[InputError] = InputError,
    separator: str = ",",
    quotes: bool = True,
) -> Iterator[CsvRow]:
    """Parse rows of separated text; a blank line gives a row without cells.

    Args:
        lines: the lines, with their ends.
        path: only named in errors.
        error: class of the error.
        separator: character between cells.
        quotes: whether a cell may be in quotation marks.

    Raises:
        InputError: a row is not separated text; names the line.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            raise file_error(error, f"is not separated text ({problem})", path, line=reader.line_num) from problem
        if cells is None:
            return
        yield CsvRow(cells, reader.line_num)


def csv_records(
    lines: Iterable[str],
    path: str | os.PathLike[str],
    *,
    error: type[InputError] = InputError,
    separator: str = ",",
    needed: Sequence[str] = (),
) -> Iterator[tuple[dict[str, str], int]]:
    """Yield rows as dictionaries under the names of the first one, each with its line; blank lines are skipped.

    Raises:
        InputError: a row is not separated text or has another number of cells, or a column that is needed is missing.
    """
    rows = csv_rows(lines, path, error=error, separator=separator)
    header, line = next((row for row in rows if row.cells), CsvRow([], 1))
    missing = [name for name in needed if name not in header]
    if missing:
        raise file_error(
            error, f"has no column {missing[0]!r}; it has {', '.join(header)[:200] or 'none'}", path, line=1
        )
    for cells, line in rows:
        if not cells:
            continue
        if len(cells) != len(header):
            raise file_error(error, f"expected {len(header)} fields, found {len(cells)}", path, line=line)
        yield dict(zip(header, cells, strict=True)), line


def read_records(
    path: str | os.PathLike[str], *, needed: Sequence[str], error: type[InputError] = InputError
) -> list[dict[str, str]]:
    """Read the rows of a small CSV file under the names of its first one.

    Raises:
        InputError: it cannot be read, or lacks a column.
    """
    text = decode_utf8(read_whole(path, error=error), path, error=error)
    return [row for row, _ in csv_records(io.StringIO(text, newline=""), path, error=error, needed=needed)]


def spreadsheet_safe(cell: object) -> object:
    """Return a cell that is safe in a CSV file: text that starts a formula and is not a number gets a quote before it.

    Spreadsheets show text after such a quote as it is. A carriage return becomes a line feed: Python before 3.13 does
    not quote it, so that the text behind it would begin another row.
    """
    if not isinstance(cell, str):
        return cell
    escaped = f"'{cell}" if cell.startswith(_FORMULA_STARTS) and not _is_number(cell) else cell
    return escaped.replace("\r\n", "\n").replace("\r", "\n") if "\r" in escaped else escaped


def csv_text(frame: pd.DataFrame) -> str:
    """Format a frame as CSV with Unix line ends; cells and names of columns are `spreadsheet_safe`."""
    safe = frame.copy()
    for column in range(len(safe.columns)):
        safe.isetitem(column, [spreadsheet_safe(cell) for cell in safe.iloc[:, column]])
    safe.columns = [spreadsheet_safe(name) for name in safe.columns]
    return str(safe.to_csv(index=False, lineterminator="\n"))


def csv_of_records(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> str:
    """Format dictionaries as CSV; missing values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(spreadsheet_safe(name) for name in columns)
    for record in records:
        writer.writerow(spreadsheet_safe(record.get(name, "")) for name in columns)
    return text.getvalue()


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
