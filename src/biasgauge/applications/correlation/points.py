"""Points of a correlation study: a table with a row for each measured embedding, anyone's.

Comma-, tab- or semicolon-separated text with a header, plain or gzipped; or a data frame. Cells are kept as text, and
read as numbers where a column is used as one.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import InputError, ParameterError
from biasgauge.spelling import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""Cells, in lower case, that say that a number is missing."""
_GZIP = b"\x1f\x8b"
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Points:
    """Rows of text under named columns.

    Attributes:
        name: where they come from, for sentences.
        columns: names.
        rows: cells.
        lines: of each row, the line of the file, or the number of the row of a frame.
        place: what such a number is called: "line" or "row".
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    place: str = "line"

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, column: str) -> int:
        """The place of a column.

        Raises:
            ParameterError: there is none of that name; suggests the nearest.
        """
        if column not in self.columns:
            raise ParameterError(
                f"{self.name} has no column {column!r}{did_you_mean(column, self.columns) or ';'} "
                f"its columns are {', '.join(self.columns)}."
            )
        return self.columns.index(column)

    def texts(self, column: str) -> list[str]:
        """Cells of a column."""
        at = self.at(column)
        return [row[at] for row in self.rows]

    def numbers(self, column: str) -> Floats:
        """Cells of a column as numbers, NaN where missing.

        Raises:
            InputError: a cell is no number; names the line.
        """
        found = np.empty(len(self.rows))
        for place, (cell, line) in enumerate(zip(self.texts(column), self.lines, strict=True)):
            try:
                found[place] = math.nan if cell.strip().casefold() in MISSING else float(cell)
            except ValueError:
                found[place] = math.inf
            if math.isinf(found[place]):
                raise InputError(
                    f"{self.name}, {self.place} {line}: {column!r} must be a number or empty; found {cell[:40]!r}"
                )
        return found

    def take(self, places: Sequence[int]) -> Points:
        """Some of the rows."""
        rows, lines = tuple(self.rows[one] for one in places), tuple(self.lines[one] for one in places)
        return replace(self, rows=rows, lines=lines)

    def without(self, condition: str) -> Points:
        """The rows in which a column does not match: `COLUMN=REGEX`, found anywhere in the cell.

        Raises:
            ParameterError: there is no such column, or the pattern is no regular expression.
        """
        column, equals, pattern = condition.partition("=")
        if not equals or not column or not pattern:
            raise ParameterError(f"Rows are dropped by COLUMN=REGEX, such as 'Test=9'. Got {condition!r}.")
        at = self.at(column)
        try:
            matches = re.compile(pattern).search
        except re.error as problem:
            raise ParameterError(
                f"The pattern {pattern!r} for {column!r} is no regular expression: {problem}."
            ) from problem
        return self.take([place for place, row in enumerate(self.rows) if not matches(row[at])])

    def repeated(self) -> list[tuple[int, int]]:
        """Rows that repeat an earlier one in every cell: (place of the row, place of the first like it)."""
        first: dict[tuple[str, ...], int] = {}
        found = []
        for place, row in enumerate(self.rows):
            if first.setdefault(row, place) != place:
                found.append((place, first[row]))
        return found

    def told(self, places: Sequence[int]) -> str:
        """The lines of some rows, for a sentence."""
        shown = ", ".join(str(self.lines[one]) for one in places[:_MOST_SHOWN])
        more = f" and {len(places) - _MOST_SHOWN:,} more" if len(places) > _MOST_SHOWN else ""
        return f"{self.place}{'s' if len(places) > 1 else ''} {shown}{more}"


def as_points(given: Points | pd.DataFrame | str | os.PathLike[str]) -> Points:
    """Points from a file, a frame, or as they are.

    Raises:
        InputError: the file cannot be read or is no table; names the line.
        ParameterError: it is something else.
    """
    if isinstance(given, Points):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_points(given)
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        return _from_frame(given)
    raise ParameterError(f"Points must be a file, a data frame or what read_points gave. Got {type(given).__name__}.")


def _from_frame(frame: pd.DataFrame) -> Points:
    names = tuple(map(str, frame.columns))
    _check_names(names, "the frame")
    columns = [frame.iloc[:, at].tolist() for at in range(len(names))]
    rows = tuple(
        tuple("" if cell is None or cell != cell else str(cell) for cell in row)  # noqa: PLR0124 - NaN
        for row in zip(*columns, strict=True)
    )
    return Points("the frame", names, rows, tuple(range(1, len(rows) + 1)), "row")


def read_points(path: str | os.PathLike[str]) -> Points:
    """Read a table with a header from a file.

    Raises:
        InputError: the file cannot be read, has no header, names a column twice, or a row is too short or too long.
    """
    place = Path(path)
    try:
        with place.open("rb") as raw:
            packed = raw.read(len(_GZIP)) == _GZIP
            raw.seek(0)
            content = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
            with io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
                return _parse(text, place)
    except UnicodeDecodeError as problem:
        raise InputError(f"{place}: is not UTF-8 text ({problem.reason})") from problem
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise InputError(
            f"{place}: the gzip stream is damaged or cut short ({problem}); copy or download the file again"
        ) from problem
    except OSError as problem:
        raise InputError(f"{place}: cannot be read: {problem.strerror or problem}") from problem


def _parse(text: io.TextIOWrapper, path: Path) -> Points:
    head = text.readline()
    separator = max(",\t;", key=head.count)
    names = tuple(name.strip() for name in next(csv.reader([head], delimiter=separator), []))
    _check_names(names, f"{path}, line 1")
    reader = csv.reader(text, delimiter=separator, strict=True)
    rows, lines = [], []
    try:
        for fields in reader:
            line = reader.line_num + 1
            if not fields:
                continue
            if len(fields) != len(names):
                raise InputError(f"{path}, line {line}: expected {len(names)} fields, found {len(fields)}")
            rows.append(tuple(fields))
            lines.append(line)
    except csv.Error as problem:
        raise InputError(f"{path}, line {reader.line_num + 1}: is not separated text ({problem})") from problem
    return Points(str(path), names, tuple(rows), tuple(lines))


def _check_names(names: tuple[str, ...], where: str) -> None:
    if not any(names):
        raise InputError(f"{where}: expected a header with the names of columns, found nothing")
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise InputError(f"{where}: the column {twice[0]!r} stands there twice; rename one of them")
