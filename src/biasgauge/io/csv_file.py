"""Separated text: the one place that parses it, and the one that writes it so that no cell is taken for a formula."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasgauge.errors import InputError, file_error
from biasgauge.io.text_file import decoded, read_whole

if TYPE_CHECKING:
    import pandas as pd

LONGEST_CELL = 2**26
"""Characters; the library's own bound is 128 KiB."""
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class CsvRow(NamedTuple):
    """A row, and the line where it ends, from 1."""

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
        error: which error to raise.
        separator: what stands between cells.
        quotes: whether a cell may stand in quotation marks.

    Raises:
        InputError: a row is no separated text; names the line.
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
    """Rows as dictionaries under the names of the first one, each with its line; blank lines are passed over.

    Raises:
        InputError: a row is no separated text or has another number of cells, or a column that is needed is missing.
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
    """The rows of a small CSV file under the names of its first one.

    Raises:
        InputError: it cannot be read, or lacks a column.
    """
    text = decoded(read_whole(path, error=error), path, error=error)
    return [row for row, _ in csv_records(io.StringIO(text, newline=""), path, error=error, needed=needed)]


def spreadsheet_safe(cell: object) -> object:
    """A cell as it may stand in a CSV file: text that starts a formula and is no number gets a quote before it.

    Spreadsheets show text after such a quote as it is. A carriage return becomes a line feed: Python before 3.13 does
    not quote it, so that what stands behind would begin a row of its own.
    """
    if not isinstance(cell, str):
        return cell
    guarded = f"'{cell}" if cell.startswith(_FORMULA_STARTS) and not _number(cell) else cell
    return guarded.replace("\r\n", "\n").replace("\r", "\n") if "\r" in guarded else guarded


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV with Unix line ends; cells and names of columns are `spreadsheet_safe`."""
    safe = frame.copy()
    for place in range(len(safe.columns)):
        safe.isetitem(place, [spreadsheet_safe(cell) for cell in safe.iloc[:, place]])
    safe.columns = [spreadsheet_safe(name) for name in safe.columns]
    return str(safe.to_csv(index=False, lineterminator="\n"))


def csv_of_records(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> str:
    """Dictionaries as CSV; what one lacks is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(spreadsheet_safe(name) for name in columns)
    for record in records:
        writer.writerow(spreadsheet_safe(record.get(name, "")) for name in columns)
    return text.getvalue()


def _number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
