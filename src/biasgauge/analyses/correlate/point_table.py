"""Points of a correlation study: a table with a row for each measured embedding, anyone's.

Comma-, tab- or semicolon-separated text with a header, plain or compressed; or a data frame. Cells are kept as text,
and read as numbers where a column is used as one.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.applications.classification import check_names, read_table
from biasgauge.core import Floats, FrameLike, as_pandas, did_you_mean
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    import pandas as pd


MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""Cells, in lower case, that say that a number is missing."""
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Points:
    """Rows of text under named columns.

    Attributes:
        name: where they come from, for sentences.
        columns: names.
        rows: cells.
        lines: of each row, the line of the file, or the number of the row of a frame.
        line_word: name of such a number in sentences: "line" or "row".
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    line_word: str = "line"

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, column: str) -> int:
        """Index of a column.

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
        numbers = np.empty(len(self.rows))
        for row, (cell, line) in enumerate(zip(self.texts(column), self.lines, strict=True)):
            try:
                numbers[row] = math.nan if cell.strip().casefold() in MISSING else float(cell)
            except ValueError:
                numbers[row] = math.inf
            if math.isinf(numbers[row]):
                raise InputError(
                    f"{self.name}, {self.line_word} {line}: {column!r} must be a number or empty; found {cell[:40]!r}"
                )
        return numbers

    def take(self, rows: Sequence[int]) -> Points:
        """Some of the rows."""
        cells, lines = tuple(self.rows[row] for row in rows), tuple(self.lines[row] for row in rows)
        return replace(self, rows=cells, lines=lines)

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
        return self.take([row for row, cells in enumerate(self.rows) if not matches(cells[at])])

    def repeated(self) -> list[tuple[int, int]]:
        """Rows that repeat an earlier one in every cell: (row, first row like it)."""
        first: dict[tuple[str, ...], int] = {}
        firsts = [first.setdefault(cells, row) for row, cells in enumerate(self.rows)]
        return [(row, earlier) for row, earlier in enumerate(firsts) if earlier != row]

    def name_lines(self, rows: Sequence[int]) -> str:
        """Name the lines of some rows, for a sentence."""
        shown = ", ".join(str(self.lines[row]) for row in rows[:_MOST_SHOWN])
        more = f" and {len(rows) - _MOST_SHOWN:,} more" if len(rows) > _MOST_SHOWN else ""
        return f"{self.line_word}{'s' if len(rows) > 1 else ''} {shown}{more}"


def as_points(source: Points | FrameLike | str | os.PathLike[str]) -> Points:
    """Points from a file, a frame, or as they are.

    Raises:
        InputError: the file cannot be read or is no table; names the line.
        ParameterError: it is something else.
    """
    if isinstance(source, Points):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_points(source)
    if (frame := as_pandas(source)) is not None:
        return _from_frame(frame)
    raise ParameterError(
        f"Points must be a file, a data frame or the result of read_points. Got {type(source).__name__}."
    )


def _from_frame(frame: pd.DataFrame) -> Points:
    names = tuple(map(str, frame.columns))
    check_names(names, "the frame")
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
    table = read_table(path)
    return Points(str(path), table.columns, table.rows, table.lines)
