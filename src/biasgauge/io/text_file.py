"""Text files read whole, TOML and separated text, parsed here and nowhere else.

Any problem with a file's name, kind or bytes is one sentence. No written cell is taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasgauge.core import JsonObject
from biasgauge.errors import InputError, file_error

if TYPE_CHECKING:
    import pandas as pd

LARGEST_TOML = 16 * 2**20
"""Bytes. Such a file is read whole; ten thousand words take about 0.1 MiB."""
_DEEPEST = 100
"""Parts of a key with dots (a.b.c); no file of ours has more than five."""
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_KEY_PART}){{{_DEEPEST},}}", re.ASCII)
"""The library takes a time with the square of their number: a key of 80 KB takes a quarter of a minute."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_POSITION = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


def read_whole(
    path: str | os.PathLike[str],
    *,
    error: type[InputError] = InputError,
    most: int | None = None,
    wanted: str = "a file",
    again: str = "",
) -> bytes:
    """Read a regular file; with `most`, no more than one byte above that.

    Args:
        path: the file.
        error: class of the error.
        most: bytes.
        wanted: kind of file to name, where this is a folder or a device.
        again: what to do where it is a file of ours.

    Raises:
        InputError: it cannot be read.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - Path(...) of a name with a null byte fails too, but later
        if stat.S_ISDIR(mode):
            raise file_error(error, f"is a folder; name {wanted}", path)
        if not stat.S_ISREG(mode):
            raise file_error(error, f"is not a regular file; name {wanted}", path)
        with Path(path).open("rb") as stream:
            return stream.read() if most is None else stream.read(most + 1)
    except FileNotFoundError as problem:
        if again:
            raise file_error(error, f"cannot be read ({problem.strerror}); {again}", path) from problem
        raise file_error(error, "there is no such file; check the path", path) from None
    except OSError as problem:
        raise file_error(error, f"cannot be read: {problem.strerror or problem}", path) from problem
    except ValueError as problem:
        raise file_error(error, f"is not a usable file name: {problem}", os.fspath(path)[:200]) from None


def utf8(text: str) -> bytes:
    r"""Encode text; bytes of a file's name that are not text become numbers (\udce9), which JSON reads back."""
    return text.encode("utf-8", "backslashreplace")


def decode_utf8(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> str:
    """Decode the bytes of a file.

    Raises:
        InputError: they are not UTF-8; names the line and the byte.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        sentence = f"is not UTF-8 text: found the byte 0x{content[problem.start]:02x}; save it as UTF-8"
        raise file_error(error, sentence, path, line=line, offset=problem.start) from None


def read_toml(path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Read a TOML file as a dictionary. Raises `error`, and nothing else, for any problem with it."""
    return parse_toml(read_whole(path, error=error, most=LARGEST_TOML, wanted="a TOML file"), path, error=error)


def parse_toml(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    if content.startswith(_BYTE_ORDER_MARK):
        raise file_error(error, "starts with a byte order mark; save it as plain UTF-8 without one", path)
    if len(content) > LARGEST_TOML:
        raise file_error(error, f"holds more than {LARGEST_TOML // 2**20} MiB; such a file must be smaller", path)
    text = decode_utf8(content, path, error=error)
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise file_error(error, f"has a key of more than {_DEEPEST} parts, nested too deeply to read", path, line=line)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise file_error(error, "has tables or arrays nested too deeply to read", path) from None
    except ValueError as problem:  # tomllib's own error is one; numbers too long to convert raise a bare one
        position = _POSITION.search(str(problem))
        number = int(position.group(1) or len(text.splitlines())) if position else None
        raise file_error(error, f"is not valid TOML: {_POSITION.sub('', str(problem))}", path, line=number) from None


LONGEST_CELL = 2**26
"""Characters; the library's own bound is 128 KiB."""
DIGITS = 9
"""Significant digits of the numbers in CSV files."""
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


def round_cell(cell: object) -> object:
    """Return a floating-point number with `DIGITS` significant digits, and anything else as it is.

    Libraries of linear algebra add in another order on another processor, so that the last three or four of sixteen
    digits differ; they mean nothing, and the text of a table is then the same everywhere.
    """
    return float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell


def csv_text(frame: pd.DataFrame) -> str:
    """Format a frame as CSV with Unix line ends; cells are `round_cell`, they and names `spreadsheet_safe`."""
    safe = frame.copy()
    for column in range(len(safe.columns)):
        values = safe.iloc[:, column]
        numbers = values.dtype.kind == "f"  # of single precision too, whose numbers are no floats of Python
        cells = [float(cell) for cell in values] if numbers else values
        safe.isetitem(column, [spreadsheet_safe(round_cell(cell)) for cell in cells])
    safe.columns = [spreadsheet_safe(name) for name in safe.columns]
    return str(safe.to_csv(index=False, lineterminator="\n"))


def csv_of_records(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> str:
    """Format dictionaries as CSV; missing values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(spreadsheet_safe(name) for name in columns)
    for record in records:
        writer.writerow(spreadsheet_safe(round_cell(record.get(name, ""))) for name in columns)
    return text.getvalue()


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
