"""A paper as data: the files that it needs, and its numbers part by part with the functions that compute them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from biasgauge.core import JsonMapping, Record
from biasgauge.errors import InputError, InternalError
from biasgauge.io import csv_records, parse_toml
from biasgauge.papers.row import Number, Recomputed, Row

T = TypeVar("T")


@dataclass(frozen=True)
class Need(Record):
    """Data that a part of a paper takes.

    Attributes:
        name: in a word, as `--json` and the table call it.
        what: what it is.
        fetch: what to fetch from where: the project, the file, its license, and where to put it.
        accepts: files or folders that will do, relative to the user's folder, best first; `*` and `**` as in `glob`.
        holds: whether such a file or folder has in it what is needed; an empty folder is as good as none.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"holds"})

    name: str
    what: str
    fetch: str
    accepts: tuple[str, ...]
    holds: Callable[[Path], bool] = Path.exists


class Data:
    """A folder of the user's, or none, and what of a paper's needs is in it.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, needs: Iterable[Need] = ()) -> None:
        self.folder = None if folder is None else Path(folder)
        self.needs = {need.name: need for need in needs}
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is not a folder; name the folder that holds the data")
        self._paths: dict[str, tuple[Path, ...]] = {}
        self._made: dict[Hashable, Any] = {}

    def find(self, name: str) -> Path | None:
        """The file or folder for a need, the best one where there are several; None when there is none."""
        return next(iter(self.find_all(name)), None)

    def find_all(self, name: str) -> tuple[Path, ...]:
        """Every file or folder for a need, in the order of what it accepts, then by name."""
        if name not in self.needs:
            raise InternalError(f"The paper has no need {name!r}; it has {', '.join(self.needs) or 'none'}.")
        if self.folder is None:
            return ()
        if name not in self._paths:
            need = self.needs[name]
            paths = (path for accepted in need.accepts for path in sorted(self.folder.glob(accepted)))
            self._paths[name] = tuple(dict.fromkeys(path for path in paths if need.holds(path)))
        return self._paths[name]

    def path(self, name: str) -> Path:
        """As `find`, for a part that runs only where its needs are met."""
        path = self.find(name)
        if path is None:
            raise InternalError(f"A part ran although its need {name!r} is not met.")
        return path

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, computed at the first call: parts of a paper share long computations."""
        if key not in self._made:
            self._made[key] = make()
        value: T = self._made[key]
        return value

    def used(self) -> dict[str, str]:
        """For each need that is met, where; relative to the folder."""
        paths = {name: self.find(name) for name in self.needs}
        return {
            name: path.relative_to(self.folder).as_posix()
            for name, path in paths.items()
            if path is not None and self.folder is not None
        }


Progress = Callable[[int, int], None]
"""Called with the number of steps that are done and their total."""
Compute = Callable[[Data, int, Progress | None], Mapping[str, Recomputed]]
"""Computes numbers of a part by row id, from the data, the random seed and a progress function."""


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
        """Descriptions of its parts, and how many numbers they have."""
        return {
            "parts": {table.name: table.about for table in self.parts},
            "numbers": sum(len(table.published) for table in self.parts),
        }


@cache
def read_paper(package: str) -> Paper:
    """Read the paper that a package holds as data: `paper.toml` says what it is, `published.csv` what it prints.

    Functions are named "module:function" (":function" in the package itself) and imported when they are called, so that
    listing papers costs nothing. A row without a note has the first of `[notes]` whose pattern its id fits.
    """
    content = parse_toml(files(package).joinpath("paper.toml").read_bytes(), f"{package}/paper.toml")
    notes = content.pop("notes", {})
    rows = [
        replace(row, note=row.note or next((notes[pattern] for pattern in notes if fnmatchcase(row.id, pattern)), ""))
        for row in published_rows(package)
    ]
    needs = [
        Need(**{**need, "accepts": tuple(need["accepts"])} | _named_functions(package, need, "holds"))
        for need in content.pop("needs")
    ]
    parts = [
        Part(
            table["name"],
            table["about"],
            tuple(row for row in rows if row.part == table["name"]),
            needs=tuple(table.get("needs", ())),
            **_named_functions(package, table, "compute"),
        )
        for table in content.pop("parts")
    ]
    return Paper(**content, needs=tuple(needs), parts=tuple(parts))


@cache
def published_rows(package: str) -> tuple[Row, ...]:
    """The rows of a paper's `published.csv`, without the notes that several share."""
    lines = files(package).joinpath("published.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    return tuple(_row(cells) for cells, _ in csv_records(lines, f"{package}/published.csv"))


def printed_numbers(package: str) -> dict[str, float]:
    """Printed numbers of a paper by the id of the row."""
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


def _named_functions(package: str, table: JsonMapping, key: str) -> dict[str, Any]:
    """The function that a table names under a key, imported from the package when it is called."""
    if key not in table:
        return {}
    module, _, function = table[key].partition(":")

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - as the function
        return getattr(import_module(f"{package}.{module}".rstrip(".")), function)(*arguments)

    return {key: call}
