"""The authors' files of cosine distances, as they are: comma-separated, plain or gzipped.

Columns, in any order: protected_word, word_to_compare, word_class, cosine_distance, cosine_similarity, connection
(associated, different, human, none). Other columns, such as the unnamed row number, are ignored. A word that the model
lacked has -100 in both numbers. Source: Dobrzeniecka & Urbaniak, `datasets/macWeatDatasets`.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasgauge.analyses.posterior.table import CONNECTIONS, NEUTRAL, DistanceTable, Duplicates, distance_table
from biasgauge.errors import CorpusError, InputError
from biasgauge.io import ByteSource, CsvRow, csv_rows

if TYPE_CHECKING:
    import pandas as pd

TEXT = ("protected_word", "word_to_compare", "word_class", "connection")
NUMBERS = ("cosine_distance", "cosine_similarity")
NEEDED = (*TEXT, *NUMBERS)

_LABELS = {name: name for name in CONNECTIONS} | {"none": NEUTRAL}
_LONGEST_LINE = 2**16
_MOST_ROWS = 20_000_000
_FARTHEST = 2 + 1e-5
"""A cosine distance in single precision can lie a little beyond 2, or below 0."""


def read_distances(
    path: str | os.PathLike[str], *, duplicates: Duplicates = "drop", name: str | None = None
) -> DistanceTable:
    """Read a file of distances.

    Rows in which both numbers lie below -1 are the authors' mark of a word that the model lacked: they are dropped and
    counted, and words without any other row are listed as lost. Where only one number is given, the other follows.

    Raises:
        InputError: the file cannot be read or does not say what it should; names the file and the line.
    """
    place = Path(path)
    with ByteSource(path, error=CorpusError) as source:
        text = io.TextIOWrapper(io.BufferedReader(source.stream()), encoding="utf-8-sig", newline="")
        own = place.name.removesuffix(".gz").removesuffix(".csv")
        try:
            return _table(name or own, _rows(text, place), duplicates)
        except UnicodeDecodeError as problem:
            raise InputError(f"{place}: is not UTF-8 text ({problem.reason})") from problem


def distances_from_frame(
    frame: pd.DataFrame, *, duplicates: Duplicates = "drop", name: str = "distances"
) -> DistanceTable:
    """Take distances from a data frame with the columns of the authors' files; `cosine_similarity` may be missing.

    Raises:
        InputError: a column is missing, or a row does not say what it should.
    """
    missing = [column for column in (*TEXT, NUMBERS[0]) if column not in frame.columns]
    if missing:
        raise InputError(f"a frame of distances needs the column {missing[0]!r}; found: {', '.join(map(str, frame))}")
    asked = [column for column in NEEDED if column in frame.columns]
    records = enumerate(zip(*(frame[column].tolist() for column in asked), strict=True), 1)
    rows = (_row(dict(zip(asked, values, strict=True)), f"row {number} of the frame") for number, values in records)
    return _table(name, rows, duplicates)


def _rows(text: io.TextIOWrapper, path: Path) -> Iterator[tuple[Any, ...]]:
    rows = csv_rows(_lines(text, path), path)
    header, _ = next(rows, CsvRow([], 1))
    missing = [column for column in NEEDED if column not in header]
    if missing:
        raise InputError(
            f"{path}, line 1: expected the columns {', '.join(NEEDED)}; {missing[0]!r} is not among "
            f"{', '.join(header)[:200] or 'none'}"
        )
    places = [(column, header.index(column)) for column in NEEDED]
    for fields, line in rows:
        where = f"{path}, line {line}"
        if not fields:
            continue
        if len(fields) != len(header):
            raise InputError(f"{where}: expected {len(header)} fields, found {len(fields)}")
        yield _row({column: fields[at] for column, at in places}, where)


def _lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    number = 0
    while line := text.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise InputError(f"{path}, line {number}: is longer than {_LONGEST_LINE:,} characters")
        if number > _MOST_ROWS:
            raise InputError(f"{path}: has more than {_MOST_ROWS:,} rows")
        yield line


def _row(fields: Mapping[str, Any], where: str) -> tuple[Any, ...]:
    """(word, attribute, list, connection, distance); the distance is None where the file marks a lost word."""
    for column in TEXT:
        if not isinstance(fields[column], str) or not fields[column].strip():
            raise InputError(f"{where}: {column} must be text; found {fields[column]!r}")
    texts = [fields[column].strip() for column in TEXT]
    connection = _LABELS.get(texts[3])
    if connection is None:
        raise InputError(f"{where}: the connection must be one of {', '.join(_LABELS)}; found {texts[3]!r}")
    distance, similarity = (_number(fields.get(column), column, where) for column in NUMBERS)
    if distance is None and similarity is None:
        raise InputError(f"{where}: has neither a cosine_distance nor a cosine_similarity")
    if max(-math.inf if one is None else one for one in (distance, similarity)) < -1:
        return (*texts[:3], connection, None)
    if distance is None or distance < -1:
        distance = 1 - cast("float", similarity)
    if not 2 - _FARTHEST <= distance <= _FARTHEST:
        raise InputError(f"{where}: a cosine distance lies between 0 and 2; found {distance!r}")
    return (*texts[:3], connection, distance)


def _number(value: object, column: str, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(cast("str", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}: {column} must be a number; found {value!r}")
    return number


def _table(name: str, rows: Iterable[tuple[Any, ...]], duplicates: Duplicates) -> DistanceTable:
    """The rows that have a distance; words that have rows but no distance at all are lost."""
    listed = list(rows)
    usable = [row for row in listed if row[4] is not None]
    if not usable:
        raise InputError(f"{name}: holds no distance" + (" but those of lost words" if listed else ""))
    protected, attributes = {row[0] for row in usable}, {(row[2], row[1]) for row in usable}
    lost: dict[str, dict[str, None]] = {}
    for word, attribute, source, _, value in listed:
        if value is None and word not in protected:
            lost.setdefault("protected", {})[word] = None
        if value is None and (source, attribute) not in attributes:
            lost.setdefault(source, {})[attribute] = None
    words = {source: tuple(names) for source, names in lost.items()}
    return distance_table(name, usable, duplicates=duplicates, lost=words, without_value=len(listed) - len(usable))
