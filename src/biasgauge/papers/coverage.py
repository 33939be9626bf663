"""How far a paper is covered: every part of it, the command that does it, and what came of its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from biasgauge.core import Record
from biasgauge.papers.row import Row
from biasgauge.results import ACCENT, INK, AltairChart, Chart, Column, Shown, Table, altair, top_legend

STATES = {
    "reached": "#3b7d5d",
    "differ": ACCENT,
    "on other data": "#8fa3b5",
    "ours alone": "#c9ced6",
    "cannot be": "#e7e3da",
}
"""What can come of a number, and its color. On other data: set beside the printed one, and not held to it."""


_MOST = 4


@dataclass(frozen=True)
class PartCoverage(Record):
    """One part of a paper: a table, a figure, an appendix.

    Attributes:
        part: its name.
        about: what it is.
        command: what computes it.
        reached: printed numbers that the paper's own rule gives here, without list lengths and sums of printed numbers.
        differ: printed numbers that it does not give on the paper's data.
        beside: printed numbers with ours beside them that rest on other data.
        alone: numbers of ours where the paper prints none.
        unchecked: printed numbers without ours.
        identities: list lengths and sums of printed numbers, reached or not, which say nothing about a method.
        missing: data that the unchecked ones need, or why they cannot be had; the first few of them.
    """

    part: str
    about: str
    command: str
    reached: int
    differ: int
    beside: int
    alone: int
    unchecked: int
    identities: int
    missing: tuple[str, ...]


def part_coverage(paper: str, parts: Mapping[str, str], rows: Sequence[Row]) -> tuple[PartCoverage, ...]:
    """Every part with what came of it."""
    return tuple(
        _of_part(paper, name, about, [row for row in rows if row.part == name]) for name, about in parts.items()
    )


def _of_part(paper: str, name: str, about: str, rows: Sequence[Row]) -> PartCoverage:
    counted = [row for row in rows if row.kind != "identity"]
    open_rows = [row for row in counted if row.state == "not checked"]
    without = [row for row in open_rows if row.as_published is None and row.corrected is None]
    return PartCoverage(
        name,
        about,
        f"biasgauge reproduce {paper} --part {name}",
        reached=sum(row.state == "agrees" for row in counted),
        differ=sum(row.state == "differs" for row in counted),
        beside=len(open_rows) - len(without),
        alone=sum(row.state == "not printed" for row in counted),
        unchecked=len(without),
        identities=len(rows) - len(counted),
        missing=tuple(dict.fromkeys(row.needs or _reason(row) for row in without if row.needs or _reason(row)))[:_MOST],
    )


def _reason(row: Row) -> str:
    """The first thing that the note of a number without ours says, where no data are named."""
    return row.note.partition(";")[0].removeprefix("needs ")


def coverage_table(parts: Sequence[PartCoverage]) -> Table:
    """A line for each part."""
    counts = (
        Column("reached", "count", about="the paper's own rule gives the printed number"),
        Column("differ", "count", about="it does not, on the paper's own data"),
        Column("on other data", "count", about="ours stands beside it and is not held to it"),
        Column("ours alone", "count", about="the paper prints no number"),
        Column("cannot be", "count", about="no data, or no model"),
        Column("identities", "count", about="list lengths and sums of printed numbers"),
    )
    rows = [
        (
            Shown(part.part, part.part, part.about),
            *(
                number or None
                for number in (part.reached, part.differ, part.beside, part.alone, part.unchecked, part.identities)
            ),
            ", ".join(part.missing) or None,
            Shown(part.command, f"--part {part.part}"),
        )
        for part in parts
    ]
    columns = ("part", *counts, "missing", Column("command", about="after biasgauge reproduce PAPER"))
    return Table.of("coverage", "What is covered, part by part", columns, rows).without_empty()


def coverage_charts(parts: Sequence[PartCoverage]) -> tuple[Chart, ...]:
    """How much of each part is reached; none where a paper has nothing but identities."""
    shown = [part for part in parts if part.reached + part.differ + part.beside + part.alone + part.unchecked]
    if not shown:
        return ()
    remark = "Numbers of each part; list lengths and sums of printed numbers are left out"
    return (Chart("coverage", "What came of the numbers of each part", remark, partial(_bars, shown)),)


def _bars(parts: Sequence[PartCoverage]) -> AltairChart:
    import pandas as pd

    alt = altair()
    names = ("reached", "differ", "beside", "alone", "unchecked")
    records = [
        {"part": part.part, "state": state, "place": place, "numbers": getattr(part, name)}
        for part in parts
        for place, (state, name) in enumerate(zip(STATES, names, strict=True))
        if getattr(part, name)
    ]
    base = alt.Chart(pd.DataFrame(records)).encode(
        y=alt.Y("part:N", title=None, sort=[part.part for part in parts]),
        x=alt.X("numbers:Q", title="numbers", stack="zero"),
        order="place:O",
        tooltip=["part", "state", "numbers"],
    )
    color = alt.Color(
        "state:N", title=None, scale=alt.Scale(domain=list(STATES), range=list(STATES.values())), legend=top_legend()
    )
    return base.mark_bar(stroke=INK, strokeWidth=0.3).encode(color=color).properties(width=430, height=22 * len(parts))
