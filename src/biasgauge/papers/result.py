"""Results of reproducing a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, get_args

from biasgauge._version import __version__
from biasgauge.core import JsonMapping, Record
from biasgauge.papers.figures import (
    PartCoverage,
    coverage_charts,
    coverage_table,
    difference_charts,
    part_charts,
    part_coverage,
)
from biasgauge.papers.paper import Paper
from biasgauge.papers.row import Kind, Row
from biasgauge.results import Column, Result, Shown, Summary, Table, Tone, counted, setting_text

_TONES: Mapping[str, Tone] = {"agrees": "good", "differs": "bad", "not checked": "caution"}
_APART = {
    "identity": "list lengths and sums of printed numbers are as printed, which says that lists are whole and tables "
    "add up, and no more",
    "range": "claims in words hold, each of which allows for a range of numbers",
}
"""Rows that agree by their nature, counted apart from values."""
_HOW_TO_READ = (
    "Published: what the paper prints. Its rule, here: what the rule of the paper's own code gives on the data at "
    "hand; it agrees when it is as near to the printed number as the precision of print allows, or lies in the range "
    "that the printed words stand for. Corrected: what the rule that we hold to be right gives on the same data, with "
    "its interval where one is defined."
)


@dataclass(frozen=True)
class Missing(Record):
    """Data that were not found: as of `Need`, and the parts of the paper that would use them."""

    name: str
    what: str
    fetch: str
    accepts: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Result):
    """Every checkable number of a paper.

    Attributes:
        paper: its name here.
        title: of the paper.
        citation: who, where, when.
        about: what can be checked and what cannot.
        parts: what each part is, by name.
        rows: one for each published number.
        missing: data that were not found, with what to fetch from where.
        settings: everything that decides the result; `files` says which data were used.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    paper: str
    title: str
    citation: str
    about: str
    parts: Mapping[str, str]
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]
    settings: JsonMapping

    @property
    def warnings(self) -> tuple[str, ...]:
        """Numbers that differ, and data that are missing."""
        differ = [row.id for row in self.rows if row.agrees is False]
        checked = sum(row.agrees is not None for row in self.rows)
        unreached = [f"{len(differ)} of {checked} published numbers that were checked differ: {', '.join(differ)}"]
        return (
            *(unreached if differ else ()),
            *(f"not found: {data.name}, for {', '.join(data.parts)}" for data in self.missing),
        )

    def derived(self) -> JsonMapping:
        """Counts of rows by kind and state, coverage and warnings."""
        counts = {
            kind: {state.replace(" ", "_"): self.count(state, kind) for state in Row.counted} for kind in get_args(Kind)
        }
        return {"counts": counts, "coverage": self.coverage, "warnings": self.warnings, "version": __version__}

    def count(self, state: str, kind: Kind | None = None) -> int:
        """Number of rows in a state: "agrees", "differs", "not printed" or "not checked"; of one kind, or of all."""
        return sum(row.state == state and kind in (None, row.kind) for row in self.rows)

    @property
    def coverage(self) -> tuple[PartCoverage, ...]:
        """Every part of the paper, the command that does it, and what came of its numbers."""
        return part_coverage(self.paper, self.parts, self.rows)

    @property
    def conclusion(self) -> str:
        """Sentence on how many published values are reached; identities and ranges are counted apart."""
        reached, missed = (self.count(state, "value") for state in ("agrees", "differs"))
        checked = reached + missed
        if not checked:
            return "None of the paper's values can be checked with the data at hand."
        return f"The paper's own rule gives {reached:,} of {checked:,} published values that can be checked here" + (
            f"; {missed:,} {'differs' if missed == 1 else 'differ'}." if missed else "."
        )

    def _apart(self) -> Iterator[str]:
        """Sentences on identities and ranges."""
        for kind, description in _APART.items():
            agree, differ = (self.count(state, kind) for state in ("agrees", "differs"))  # type: ignore[arg-type]
            if agree + differ:
                yield f"{agree:,} of {agree + differ:,} {description}"

    def row(self, name: str) -> Row:
        """The row of that id."""
        return {row.id: row for row in self.rows}[name]

    def summary(self) -> Summary:
        """Counts of numbers that are reached, reasons for the others, and every number part by part."""
        differ = [row for row in self.rows if row.agrees is False]
        parts = [
            Summary(
                name,
                "",
                charts=part_charts(name, [row for row in self.rows if row.part == name]),
                tables=(_table(name, [row for row in self.rows if row.part == name]),),
                name=f"part-{name}",
                question=description,
            )
            for name, description in self.parts.items()
        ]
        if self.missing:
            missing = tuple(
                f"{data.name} (for {', '.join(data.parts)}): {data.what} {data.fetch} "
                f"Looked for: {', '.join(data.accepts)}"
                for data in self.missing
            )
            parts.append(Summary("Data that were not found", "", missing, name="missing"))
        if differ:
            reasons = tuple(f"{row.id} differs{f' ({row.rule})' if row.rule else ''}: {row.note}" for row in differ)
            parts.insert(0, Summary("Why they differ", "", reasons, name="differences"))
        parts.append(Summary("About this reproduction", "", (self.about, _HOW_TO_READ), name="about"))
        settings = {**self.settings, **self.settings["files"]}
        rows = [(name.replace("_", " "), setting_text(value)) for name, value in settings.items() if name != "files"]
        table = Table.of("settings", "", ("setting", "value"), rows)
        return Summary(
            title=self.title,
            headline=self.conclusion,
            sentences=(
                *self._apart(),
                f"{self.count('not printed'):,} numbers are ours alone, {self.count('not checked'):,} not checked.",
            ),
            charts=(*difference_charts(self.rows), *coverage_charts(self.coverage)),
            tables=(coverage_table(self.coverage),),
            parts=(*parts, Summary("Settings", "", tables=(table,), name="settings")),
            about=f"{self.citation} · reproduced",
        )


def _table(name: str, rows: Sequence[Row]) -> Table:
    start = _shared_start([row.id for row in rows])
    columns = (
        f"{start}…" if start else "number",
        Column("published", "number"),
        Column("its rule, here", "number"),
        Column("corrected", "number"),
        "interval",
        Column("state", "mark", tones=_TONES),
        Column(
            "kind",
            about="value: computed; identity: a list's length or a sum of printed numbers; range: a claim in words",
        ),
        "why",
        "where",
    )
    return Table.of(name, counted(rows, "number"), columns, [_cells(row, start) for row in rows]).without_empty()


def _cells(row: Row, start: str) -> tuple[Any, ...]:
    texts = row.texts
    published, ours, corrected = (
        Shown(getattr(row, name), texts[name]) if texts[name] else None
        for name in ("published", "as_published", "corrected")
    )
    if ours is not None:
        ours = Shown(ours.value, ours.text, row.rule)
    number = Shown(row.id, row.id.removeprefix(start), row.what)
    return number, published, ours, corrected, texts["interval"] or None, row.state, row.kind, row.note, row.where


def _shared_start(names: Sequence[str]) -> str:
    """Common prefix of all names, up to a full stop; it is shown once, above the column."""
    steps = zip(*(name.split(".")[:-1] for name in names), strict=False)
    return "".join(f"{step[0]}." for step in takewhile(lambda step: len(set(step)) == 1, steps))


@dataclass(frozen=True, eq=False, repr=False)
class PaperList(Result):
    """The papers that can be reproduced."""

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("papers",)

    papers: tuple[Paper, ...]

    def summary(self) -> Summary:
        """One row per paper."""
        rows = [(paper.name, paper.to_dict()["numbers"], paper.title) for paper in self.papers]
        table = Table.of("papers", "", ["paper", Column("numbers", "count"), "title"], rows)
        return Summary("Papers", f"{counted(rows, 'paper')} can be reproduced", tables=(table,))
