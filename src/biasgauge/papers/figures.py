"""Figures of a reproduced paper: each number as published, by the paper's own rule, corrected; differences first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10

from biasgauge.core import Record
from biasgauge.papers.row import Row
from biasgauge.results import (
    ACCENT,
    INK,
    SECOND,
    AltairChart,
    Chart,
    Column,
    Shown,
    Table,
    altair,
    top_legend,
    with_right_labels,
    zero_line,
)

MOST = 30
"""Rows of a chart; the table has all."""
STEPS = {"published": ("circle", INK), "its own rule, here": ("circle", SECOND), "corrected": ("diamond", ACCENT)}
READ = (
    "Open circle: what the paper prints. Dot: what the rule of its own code gives on the data at hand. Diamond: what a "
    "corrected rule gives, with its interval"
)
_SMALL = 1.5
"""Shares, correlations, κ and p lie below."""


def difference_charts(rows: Sequence[Row]) -> tuple[Chart, ...]:
    """The values that differ, those farthest off first."""
    shown = _drawn([row for row in rows if row.agrees is False and row.kind == "value"])
    if not shown:
        return ()
    title = f"Published values that the paper's own rule does not give ({len(shown)} of {_differ(rows)} are drawn)"
    title = title if len(shown) < _differ(rows) else "Published values that the paper's own rule does not give"
    return (Chart("differences", title, READ, partial(_steps, shown)),)


def _differ(rows: Sequence[Row]) -> int:
    return sum(row.agrees is False and row.kind == "value" for row in rows)


def part_charts(name: str, rows: Sequence[Row]) -> tuple[Chart, ...]:
    """The values of one part of a paper, those that differ first, then those that a corrected rule moves most."""
    values = [row for row in rows if row.kind == "value" and row.numeric]
    shown = _drawn(values)
    if not shown:
        return ()
    left = len(values) - len(shown)
    more = f". {left} rows that agree best are only in the table" if left else ""
    return (Chart("values", f"{name}: published, its own rule, corrected", f"{READ}{more}", partial(_steps, shown)),)


def _drawn(rows: Sequence[Row]) -> list[Row]:
    numeric = [row for row in rows if row.numeric]
    return sorted(numeric, key=lambda row: (row.agrees is not False, -row.off, -_moved(row)))[:MOST]


def _moved(row: Row) -> float:
    """Relative difference between the corrected and the printed number."""
    if not (isinstance(row.corrected, int | float) and isinstance(row.published, int | float)):
        return 0.0
    return abs(row.corrected - row.published) / max(abs(row.published), abs(row.corrected), 1e-12)


def _size(row: Row) -> int:
    """Numbers of one size share an axis: 0 for those of correlations and shares, else the power of ten."""
    numbers = [
        abs(number) for number in (row.published, row.as_published, row.corrected) if isinstance(number, float | int)
    ]
    largest = max(numbers)
    return 0 if largest <= _SMALL else 1 + floor(log10(largest / _SMALL) / 2)


def _steps(rows: Sequence[Row]) -> AltairChart:
    """A line of dots for each number, a panel for each size of number."""
    alt = altair()
    panels = [_panel([row for row in rows if _size(row) == size]) for size in dict.fromkeys(_size(row) for row in rows)]
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=18).resolve_scale(color="shared")


def _panel(rows: Sequence[Row]) -> AltairChart:
    import pandas as pd

    alt = altair()
    records = [
        {
            "number": row.id,
            "what": row.what,
            "step": step,
            "value": value,
            "low": row.low if step == "corrected" else None,
            "high": row.high if step == "corrected" else None,
        }
        for row in rows
        for step, value in zip(STEPS, (row.published, row.as_published, row.corrected), strict=True)
        if isinstance(value, int | float)
    ]
    frame = pd.DataFrame(records)
    order = [row.id for row in rows]
    low, high = frame["value"].min(), frame["value"].max()
    ends = frame[["low", "high"]].astype(float)
    frame = frame.assign(low=ends["low"], high=ends["high"])
    color = alt.Color(
        "step:N",
        title=None,
        scale=alt.Scale(domain=list(STEPS), range=[hue for _, hue in STEPS.values()]),
        legend=top_legend(),
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("number:N", title=None, sort=order, axis=alt.Axis(grid=True, labelLimit=260)),
        tooltip=["number", "what", "step", "value", "low", "high"],
    )
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=bool(low <= 0 <= high) or bool(low > 0 and low < high / 3)))
    way = base.mark_line(color="#b9bdb6", strokeWidth=1.5).encode(x=x, detail="number:N", order="index:O")
    interval = base.mark_rule(color=ACCENT, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    marks = [
        base.transform_filter(alt.datum.step == step)
        .mark_point(shape=shape, filled=step != "published", size=90 if step == "published" else 42, opacity=1)
        .encode(x=x, color=color)
        for step, (shape, _) in STEPS.items()
        if step in set(frame["step"])
    ]
    layers = [zero_line()] if low <= 0 <= high or 0 < low < high / 3 else []
    layers += [way, *([interval] if frame["low"].notna().any() else []), *marks]
    chart = alt.layer(*layers, data=frame.assign(index=range(len(frame))))
    labels = {row.id: _arrows(row) for row in rows}
    return with_right_labels(chart, frame, "number", order, labels).properties(width=330, height=18 * len(rows))


def _arrows(row: Row) -> str:
    """The three numbers in words; the corrected one only where it is another."""
    published, ours, corrected = (row.texts[name] for name in ("published", "as_published", "corrected"))
    return " → ".join(filter(None, (published, ours, corrected if corrected != ours else "")))


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
        _of_part(paper, name, description, [row for row in rows if row.part == name])
        for name, description in parts.items()
    )


def _of_part(paper: str, name: str, description: str, rows: Sequence[Row]) -> PartCoverage:
    counted = [row for row in rows if row.kind != "identity"]
    open_rows = [row for row in counted if row.state == "not checked"]
    without = [row for row in open_rows if row.as_published is None and row.corrected is None]
    return PartCoverage(
        name,
        description,
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
            Shown(coverage.part, coverage.part, coverage.about),
            *(
                number or None
                for number in (
                    coverage.reached,
                    coverage.differ,
                    coverage.beside,
                    coverage.alone,
                    coverage.unchecked,
                    coverage.identities,
                )
            ),
            ", ".join(coverage.missing) or None,
            Shown(coverage.command, f"--part {coverage.part}"),
        )
        for coverage in parts
    ]
    columns = ("part", *counts, "missing", Column("command", about="after biasgauge reproduce PAPER"))
    return Table.of("coverage", "What is covered, part by part", columns, rows).without_empty()


def coverage_charts(parts: Sequence[PartCoverage]) -> tuple[Chart, ...]:
    """Chart of the share of each part that is reached; none where a paper has nothing but identities."""
    shown = [
        coverage
        for coverage in parts
        if coverage.reached + coverage.differ + coverage.beside + coverage.alone + coverage.unchecked
    ]
    if not shown:
        return ()
    remark = "Numbers of each part; list lengths and sums of printed numbers are left out"
    return (Chart("coverage", "What came of the numbers of each part", remark, partial(_bars, shown)),)


def _bars(parts: Sequence[PartCoverage]) -> AltairChart:
    import pandas as pd

    alt = altair()
    names = ("reached", "differ", "beside", "alone", "unchecked")
    records = [
        {"part": coverage.part, "state": state, "place": order, "numbers": getattr(coverage, name)}
        for coverage in parts
        for order, (state, name) in enumerate(zip(STATES, names, strict=True))
        if getattr(coverage, name)
    ]
    base = alt.Chart(pd.DataFrame(records)).encode(
        y=alt.Y("part:N", title=None, sort=[coverage.part for coverage in parts]),
        x=alt.X("numbers:Q", title="numbers", stack="zero"),
        order="place:O",
        tooltip=["part", "state", "numbers"],
    )
    color = alt.Color(
        "state:N", title=None, scale=alt.Scale(domain=list(STATES), range=list(STATES.values())), legend=top_legend()
    )
    return base.mark_bar(stroke=INK, strokeWidth=0.3).encode(color=color).properties(width=430, height=22 * len(parts))
