"""`reproduce`: every checkable number of a paper: published, by its own rule on the data at hand, corrected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar, get_args

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.core import JsonMapping, Record, did_you_mean
from biasgauge.errors import InputError, InternalError, ParameterError
from biasgauge.papers import figures
from biasgauge.papers.paper import Data, Kind, Paper, Part, Progress, Row
from biasgauge.results import Column, Result, Shown, Summary, Table, Tone, counted, setting_text

_STEPS = 1000
"""Steps of progress for each part."""
_TONES: Mapping[str, Tone] = {"agrees": "good", "differs": "bad", "not checked": "caution"}
_APART: dict[Kind, str] = {
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
_COLUMNS = (
    Column("published", "number"),
    Column("its rule, here", "number"),
    Column("corrected", "number"),
    "interval",
    Column("state", "mark", tones=_TONES),
    Column(
        "kind", about="value: computed; identity: a list's length or a sum of printed numbers; range: a claim in words"
    ),
    "why",
    "where",
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
        absent = (f"not found: {data.name}, for {', '.join(data.parts)}" for data in self.missing)
        return (*(unreached if differ else ()), *absent)

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
    def coverage(self) -> tuple[figures.PartCoverage, ...]:
        """Every part of the paper, the command that does it, and what came of its numbers."""
        return figures.part_coverage(self.paper, self.parts, self.rows)

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

    def row(self, name: str) -> Row:
        """The row of that id."""
        return {row.id: row for row in self.rows}[name]

    def summary(self) -> Summary:
        """Counts of numbers that are reached, reasons for the others, and every number part by part."""
        settings = {**self.settings, **self.settings["files"]}
        rows = [(name.replace("_", " "), setting_text(value)) for name, value in settings.items() if name != "files"]
        table = Table.of("settings", "", ("setting", "value"), rows)
        counts = {kind: [self.count(state, kind) for state in ("agrees", "differs")] for kind in _APART}
        return Summary(
            title=self.title,
            headline=self.conclusion,
            sentences=(
                *(
                    f"{counts[kind][0]:,} of {sum(counts[kind]):,} {_APART[kind]}"
                    for kind in _APART
                    if any(counts[kind])
                ),
                ", ".join(
                    (
                        f"{self.count('not printed'):,} numbers are not published",
                        f"{self.count('not checked'):,} not checked",
                        f"{self.count('no number'):,} have no number in print.",
                    )
                ),
                *self._source_sentence(),
            ),
            charts=(*figures.difference_charts(self.rows), *figures.coverage_charts(self.coverage)),
            tables=(figures.coverage_table(self.coverage),),
            parts=(*self._sections(), Summary("Settings", "", tables=(table,), name="settings")),
            about=f"{self.citation} · reproduced",
        )

    def _source_sentence(self) -> Iterator[str]:
        """Number of reached values that are read off figures or looked up in files of the authors."""
        reached = [row.source for row in self.rows if row.kind == "value" and row.state == "agrees"]
        figure, file = reached.count("figure"), reached.count("file")
        if figure or file:
            yield (
                f"Of {len(reached):,} values reached, {figure:,} are read off the coordinates of figures and {file:,} "
                "are looked up in the authors' files."
            )

    def _sections(self) -> Iterator[Summary]:
        """Reasons for differences, every part, data that are missing, and how to read the tables."""
        reasons = tuple(
            f"{row.id} differs{f' ({row.rule})' if row.rule else ''}: {row.note}"
            for row in self.rows
            if row.agrees is False
        )
        if reasons:
            yield Summary("Why they differ", "", reasons, name="differences")
        for name, about in self.parts.items():
            rows = [row for row in self.rows if row.part == name]
            charts, table = figures.part_charts(name, rows), _part_table(name, rows)
            yield Summary(name, "", charts=charts, tables=(table,), name=f"part-{name}", question=about)
        if self.missing:
            missing = tuple(
                f"{data.name} (for {', '.join(data.parts)}): {data.what} {data.fetch} "
                f"Looked for: {', '.join(data.accepts)}"
                for data in self.missing
            )
            yield Summary("Data that were not found", "", missing, name="missing")
        yield Summary("About this reproduction", "", (self.about, _HOW_TO_READ), name="about")


def _part_table(name: str, rows: Sequence[Row]) -> Table:
    # the common start of all ids, up to a full stop, stands once above the column
    steps = zip(*(row.id.split(".")[:-1] for row in rows), strict=False)
    start = "".join(f"{step[0]}." for step in takewhile(lambda step: len(set(step)) == 1, steps))
    columns = (f"{start}…" if start else "number", *_COLUMNS)
    return Table.of(name, counted(rows, "number"), columns, [_cells(row, start) for row in rows]).without_empty()


def _cells(row: Row, start: str) -> tuple[Any, ...]:
    texts = row.texts
    rules = {"published": "", "as_published": row.rule, "corrected": ""}
    numbers = (Shown(getattr(row, name), texts[name], rule) if texts[name] else None for name, rule in rules.items())
    name = Shown(row.id, row.id.removeprefix(start), row.what)
    return name, *numbers, texts["interval"] or None, row.state, row.kind, row.note, row.where


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


def list_papers() -> PaperList:
    """The papers that can be reproduced, with how many numbers each has."""
    return PaperList(tuple(registry.everything("paper").values()))


def reproduce(
    name: str,
    data: str | os.PathLike[str] | None = None,
    parts: Iterable[str] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    replicates: str | os.PathLike[str] | None = None,
) -> Reproduction:
    """Set a paper's numbers beside what its own rule and a corrected one give on the data at hand.

    Args:
        name: one of `registry.names("paper")`.
        data: a folder with whatever of the paper's data you hold, in its published layout; without it, only what needs
            no data or ships with the package is computed. The result says what is missing and where to get it.
        parts: names of the parts to run; all of them by default.
        random_state: seed of simulations, resampling and samplers.
        progress: called with (done, total).
        replicates: of a paper about replicates (du2021), a folder with a set of your own or with folders of sets, in
            the place of `data`/replicates; the set that ships is left out.

    Raises:
        ParameterError: there is no such paper or part, or `replicates` was given for a paper that takes none.
        InputError: there is no such folder, or a file in it does not say what it should.
    """
    paper = registry.get("paper", name)
    chosen = _select_parts(paper, parts)
    files = Data(data, paper.needs, _named_places(paper, replicates))
    rows: list[Row] = []
    for index, table in enumerate(chosen):

        def report(done: int, total: int, index: int = index) -> None:
            """Progress of one part as progress of all; every part counts the same."""
            if progress is not None:
                progress(index * _STEPS + _STEPS * done // max(total, 1), len(chosen) * _STEPS)

        rows += _fill(table, files, random_state, None if progress is None else report)
    return Reproduction(
        paper=paper.name,
        title=paper.title,
        citation=paper.citation,
        about=paper.about,
        parts={table.name: table.about for table in chosen},
        rows=tuple(rows),
        missing=_missing_data(paper, chosen, files),
        settings={
            "paper": paper.name,
            "data": None if data is None else str(data),
            "replicates": None if replicates is None else str(replicates),
            "parts": [table.name for table in chosen],
            "random_state": random_state,
            "files": files.used(),
        },
    )


def _named_places(paper: Paper, replicates: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Place that the user names for the need "replicates", if any."""
    if replicates is None:
        return {}
    if all(need.name != "replicates" for need in paper.needs):
        raise ParameterError(f"{paper.name} takes no replicates; du2021 does. Leave out replicates.")
    folder = Path(replicates)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; name the folder that holds the replicates")
    return {"replicates": folder}


def _select_parts(paper: Paper, parts: Iterable[str] | None) -> tuple[Part, ...]:
    if parts is None:
        return paper.parts
    names = [table.name for table in paper.parts]
    wanted = [parts] if isinstance(parts, str) else list(parts)
    for name in wanted:
        if name not in names:
            hint = did_you_mean(name, names) if isinstance(name, str) else ""
            raise ParameterError(f"A part of {paper.name} must be one of {', '.join(names)}. Got {name!r}{hint or '.'}")
    return tuple(table for table in paper.parts if table.name in wanted)


def _fill(part: Part, data: Data, random_state: int, progress: Progress | None) -> list[Row]:
    """Rows of a part with our numbers, or with the data that are missing."""
    rows = [replace(row, part=part.name) for row in part.published]
    absent = [name for name in part.needs if data.find(name) is None]
    if absent:
        return [_without_data(row, absent, data) for row in rows]
    ours = part.compute(data, random_state, progress) if part.compute else {}
    strange = ours.keys() - {row.id for row in rows}
    if strange:
        raise InternalError(f"Part {part.name!r} filled rows that it has not published: {', '.join(sorted(strange))}.")
    filled = [row.filled(ours[row.id]) if row.id in ours else row for row in rows]
    return [
        _without_data(row, [row.needs], data)
        if row.needs and row.as_published is None and data.find(row.needs) is None
        else _part_of_data(row, part, data)
        for row in filled
    ]


def _without_data(row: Row, needs: Sequence[str], data: Data) -> Row:
    """The row of a number that cannot be computed for want of data."""
    names = ", ".join(needs)
    obtainable = all(data.needs[name].public for name in needs)
    return replace(row, needs=names, obtainable=obtainable, note="; ".join(filter(None, (f"needs {names}", row.note))))


def _part_of_data(row: Row, part: Part, data: Data) -> Row:
    """A row that stays empty although data were found: what is missing of public data can be fetched."""
    needs = [row.needs] if row.needs else list(part.needs)
    empty = row.as_published is None and row.corrected is None
    return replace(row, obtainable=empty and bool(needs) and all(data.needs[name].public for name in needs))


def _missing_data(paper: Paper, chosen: Iterable[Part], data: Data) -> tuple[Missing, ...]:
    users: dict[str, list[str]] = {need.name: [] for need in paper.needs}
    for table in chosen:
        for name in dict.fromkeys([*table.needs, *(row.needs for row in table.published if row.needs)]):
            users[name].append(table.name)
    return tuple(
        Missing(need.name, need.what, need.fetch, need.accepts, tuple(users[need.name]))
        for need in paper.needs
        if users[need.name] and data.find(need.name) is None
    )
