"""Papers as data: `paper.toml` says what a paper is, `published.csv` what it prints."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from biasgauge.core import JsonMapping
from biasgauge.io import csv_records, parse_toml
from biasgauge.papers.paper import Need, Number, Paper, Part, Row


@cache
def read_paper(package: str) -> Paper:
    """Read the paper that a package holds as data: `paper.toml` says what it is, `published.csv` what it prints.

    Functions are named "module:function" (":function" in the package itself) and imported when they are called, so that
    listing papers costs nothing. A row without a note has the first of `[notes]` whose pattern its id fits.
    """
    content = parse_toml(data_file(package, "paper.toml").read_bytes(), f"{package}/paper.toml")
    notes = content.pop("notes", {})
    rows = [
        replace(row, note=row.note or next((notes[pattern] for pattern in notes if fnmatchcase(row.id, pattern)), ""))
        for row in published_rows(package)
    ]
    needs = [
        Need(**{**need, "accepts": tuple(need["accepts"])} | _named_function(package, need, "holds"))
        for need in content.pop("needs")
    ]
    parts = [
        Part(
            table["name"],
            table["about"],
            tuple(row for row in rows if row.part == table["name"]),
            needs=tuple(table.get("needs", ())),
            **_named_function(package, table, "compute"),
        )
        for table in content.pop("parts")
    ]
    return Paper(**content, needs=tuple(needs), parts=tuple(parts))


def data_file(package: str, name: str) -> Path:
    """Path of a data file of a paper's package, which is not imported for that."""
    return Path(__file__).parent / package.rpartition(".")[2] / name


@cache
def published_rows(package: str) -> tuple[Row, ...]:
    """The rows of a paper's `published.csv`, without the notes that several share."""
    lines = data_file(package, "published.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    return tuple(_row(cells) for cells, _ in csv_records(lines, f"{package}/published.csv"))


def row_ids(package: str, start: str) -> list[str]:
    """Ids of the rows of a paper that begin so."""
    return [row.id for row in published_rows(package) if row.id.startswith(start)]


def printed_numbers(package: str) -> dict[str, float]:
    """Printed numbers of a paper by the id of the row."""
    return {row.id: row.published for row in published_rows(package) if isinstance(row.published, int | float)}


def _row(cells: dict[str, str]) -> Row:
    published, tolerance, least, most = (
        _number(cells.pop(name)) for name in ("published", "tolerance", "least", "most")
    )
    between = None if least is None else (least, most)
    optional = {name: text for name in ("needs", "source") if (text := cells.pop(name, ""))}
    return Row(**cells, **optional, published=published, tolerance=tolerance, between=between)  # type: ignore[arg-type]


def _number(text: str) -> Number:
    """A number as it is written, whole or not; other words as they are; None for nothing."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", text) else text or None


def _named_function(package: str, table: JsonMapping, key: str) -> dict[str, Any]:
    """The function that a table names under a key, imported from the package when it is called."""
    if key not in table:
        return {}
    module, _, function = table[key].partition(":")

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - as the function
        return getattr(import_module(f"{package}.{module}".rstrip(".")), function)(*arguments)

    return {key: call}
