"""A paper as data: what it needs, and its numbers part by part with the functions that fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import JsonMapping, Record
from biasgauge.io import csv_records, parse_toml
from biasgauge.papers.data import Data, Need
from biasgauge.papers.row import Number, Recomputed, Row

if TYPE_CHECKING:
    Progress = Callable[[int, int], None]
    Compute = Callable[[Data, int, Progress | None], Mapping[str, Recomputed]]


@dataclass(frozen=True)
class Part:
    """A table of published numbers and the function that fills it.

    Attributes:
        name: such as "table2".
        about: what it is, in a sentence.
        published: its rows without our numbers; a row that needs more than the part names it in `needs`.
        compute: takes the data, the random seed and a progress function (or None), and gives our numbers by row id. It
            may leave rows out. None: nothing of it can be computed from any data that we read; its rows say why.
        needs: names of the data without which nothing of it can be computed.
    """

    name: str
    about: str
    published: tuple[Row, ...]
    compute: Compute | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper(Record):
    """A paper that can be reproduced.

    Attributes:
        name: as the command takes it, such as "zhang2020".
        title: of the paper.
        citation: who, where, when.
        needs: the data that its parts take.
        parts: in the order of the table.
        about: what can be checked and what cannot, in a few sentences.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"parts"})

    name: str
    title: str
    citation: str
    needs: tuple[Need, ...] = ()
    parts: tuple[Part, ...] = ()
    about: str = ""

    def derived(self) -> JsonMapping:
        """What its parts are about, and how many numbers they have."""
        return {
            "parts": {part.name: part.about for part in self.parts},
            "numbers": sum(len(part.published) for part in self.parts),
        }


def read_paper(package: str) -> Paper:
    """The paper that a package holds as data: `paper.toml` says what it is, `published.csv` what it prints.

    Functions are named "module:function" and imported when they are called, so that listing papers costs nothing. A row
    without a note has the first of `[notes]` whose pattern its id fits.
    """
    content = parse_toml(files(package).joinpath("paper.toml").read_bytes(), f"{package}/paper.toml")
    notes = content.pop("notes", {})
    rows = [
        replace(row, note=row.note or next((notes[pattern] for pattern in notes if fnmatchcase(row.id, pattern)), ""))
        for row in published_rows(package)
    ]
    needs = [
        Need.from_dict(need | {"holds": _late(package, need["holds"])} if "holds" in need else need)
        for need in content.pop("needs")
    ]
    parts = [
        Part(
            part["name"],
            part["about"],
            tuple(row for row in rows if row.part == part["name"]),
            _late(package, part["compute"]) if "compute" in part else None,
            tuple(part.get("needs", ())),
        )
        for part in content.pop("parts")
    ]
    return Paper(**content, needs=tuple(needs), parts=tuple(parts))


@cache
def published_rows(package: str) -> tuple[Row, ...]:
    """The rows of a paper's `published.csv`, without the notes that several share."""
    lines = files(package).joinpath("published.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    return tuple(_row(cells) for cells, _ in csv_records(lines, f"{package}/published.csv"))


def printed_numbers(package: str) -> dict[str, float]:
    """What a paper prints by the id of the row, where that is a number."""
    return {row.id: row.published for row in published_rows(package) if isinstance(row.published, int | float)}


def _row(cells: dict[str, str]) -> Row:
    published, tolerance, least, most = (
        _number(cells.pop(name)) for name in ("published", "tolerance", "least", "most")
    )
    between = None if least is None else (least, most)
    needs = cells.pop("needs") or None
    return Row(**cells, published=published, tolerance=tolerance, between=between, needs=needs)  # type: ignore[arg-type]


def _number(text: str) -> Number:
    """A number as it is written, whole or not; other words as they are; None for nothing."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", text) else text or None


def _late(package: str, name: str) -> Callable[..., Any]:
    """A function of a module of a package that is imported when it is called."""
    module, _, function = name.partition(":")

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - as the function
        return getattr(import_module(f"{package}.{module}"), function)(*arguments)

    return call
