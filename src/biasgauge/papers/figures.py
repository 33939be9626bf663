"""Figures of a reproduced paper: each number as published, by the paper's own rule, corrected; coverage by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10

from biasgauge import results
from biasgauge.core import Record
from biasgauge.papers.paper import Row

MOST = 30
"""Rows of a chart; the table has all."""
STEPS = {
    "published": ("published", "circle", results.INK),
    "its own rule, here": ("as_published", "circle", results.SECOND),
    "corrected": ("corrected", "diamond", results.ACCENT),
}
"""Number of a row, shape and color by the name of the step."""
READ = (
    "Open circle: what the paper prints. Dot: what the rule of its own code gives on the data at hand. Diamond: what a "
    "corrected rule gives, with its interval"
)
_SMALL = 1.5
"""Shares, correlations, κ and p lie below."""
_MAX_MISSING = 4
STATES = {
    "reached": ("reached", "#3b7d5d", "the paper's own rule gives the printed number"),
    "differ": ("differ", results.ACCENT, "it does not, on the paper's own data"),
    "other data": ("beside", "#8fa3b5", "computed on other vectors or text, not compared"),
    "derived": ("rearranged", "#b9aa8f", "follows from other printed numbers, without any data"),
    "unpublished": ("alone", "#c9ced6", "the paper prints no number"),
    "not at hand": ("obtainable", "#d8d3c6", "its data or models are public or linked by their authors, but missing"),
    "not checkable": ("unchecked", "#e7e3da", "its data or models are not public, or nothing here computes it"),
    "no number": ("unprinted", "#f3f1ec", "the paper prints none, and none is computed"),
}
"""What can come of a number: the count of `PartCoverage`, its color, and what it means."""
_FURTHER = {
    "identities": ("identities", "list lengths and sums of printed numbers"),
    "reached, off figures": ("from_figures", "of those reached, read off the coordinates of a figure"),
    "reached, in files": ("from_files", "of those reached, looked up in a file of the authors"),
}
"""Further columns of the table of coverage: the count of `PartCoverage`, and what it means."""


def difference_charts(rows: Sequence[Row]) -> tuple[results.Chart, ...]:
    """The values that differ, those farthest off first."""
    differing = [row for row in rows if row.agrees is False and row.kind == "value"]
    drawn = _rows_to_draw(differing)
    title = "Published values that the paper's own rule does not give"
    if len(drawn) < len(differing):
        title += f" ({len(drawn)} of {len(differing)} are drawn)"
    return (results.Chart("differences", title, READ, partial(_draw_steps, drawn)),) if drawn else ()


def part_charts(name: str, rows: Sequence[Row]) -> tuple[results.Chart, ...]:
    """The values of one part of a paper, those that differ first, then those that a corrected rule moves most."""
    values = [row for row in rows if row.kind == "value" and _is_comparable(row)]
    drawn = _rows_to_draw(values)
    omitted = len(values) - len(drawn)
    remark = f"{READ}. {omitted} rows that agree best are only in the table" if omitted else READ
    title = f"{name}: published, its own rule, corrected"
    return (results.Chart("values", title, remark, partial(_draw_steps, drawn)),) if drawn else ()


def _is_comparable(row: Row) -> bool:
    return "published" in row.numbers and len(row.numbers) > 1


def _rows_to_draw(rows: Sequence[Row]) -> list[Row]:
    def rank(row: Row) -> tuple[bool, float, float]:
        """Rows that differ come first, then those farthest off in tolerances, then by what correction moves."""
        published = row.numbers["published"]
        ours, corrected = (row.numbers.get(name, published) for name in ("as_published", "corrected"))
        off = abs(ours - published) / max(row.tolerance or 0.0, 1e-12)
        moved = abs(corrected - published) / max(abs(published), abs(corrected), 1e-12)
        return row.agrees is not False, -off, -moved

    return sorted(filter(_is_comparable, rows), key=rank)[:MOST]


def _draw_steps(rows: Sequence[Row]) -> results.AltairChart:
    """A line of dots for each number, a panel for each size of number."""
    panels: dict[int, list[Row]] = {}
    for row in rows:
        # numbers of one size share an axis: 0 for those of correlations and shares, else the power of ten
        largest = max(map(abs, row.numbers.values()))
        size = 0 if largest <= _SMALL else 1 + floor(log10(largest / _SMALL) / 2)
        panels.setdefault(size, []).append(row)
    charts = [_draw_panel(members) for members in panels.values()]
    return (
        charts[0] if len(charts) == 1 else results.altair().vconcat(*charts, spacing=18).resolve_scale(color="shared")
    )


def _draw_panel(rows: Sequence[Row]) -> results.AltairChart:
    import pandas as pd

    alt = results.altair()
    records = [
        {"number": row.id, "what": row.what, "step": step, "value": row.numbers[name]}
        | {end: getattr(row, end) if step == "corrected" else None for end in ("low", "high")}
        for row in rows
        for step, (name, _, _) in STEPS.items()
        if name in row.numbers
    ]
    frame = pd.DataFrame(records).astype({"low": float, "high": float})
    order = [row.id for row in rows]
    low, high = frame["value"].min(), frame["value"].max()
    near_zero = bool(low <= 0 <= high or 0 < low < high / 3)
    scale = alt.Scale(domain=list(STEPS), range=[hue for _, _, hue in STEPS.values()])
    color = alt.Color("step:N", title=None, scale=scale, legend=results.top_legend())
    base = alt.Chart(frame).encode(
        y=alt.Y("number:N", title=None, sort=order, axis=alt.Axis(grid=True, labelLimit=260)),
        tooltip=["number", "what", "step", "value", "low", "high"],
    )
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=near_zero))
    lines = base.mark_line(color="#b9bdb6", strokeWidth=1.5).encode(x=x, detail="number:N", order="index:O")
    interval = base.mark_rule(color=results.ACCENT, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    marks = [
        base.transform_filter(alt.datum.step == step)
        .mark_point(shape=shape, filled=step != "published", size=90 if step == "published" else 42, opacity=1)
        .encode(x=x, color=color)
        for step, (_, shape, _) in STEPS.items()
        if step in set(frame["step"])
    ]
    layers = [*([results.zero_line()] if near_zero else []), lines]
    layers += [*([interval] if frame["low"].notna().any() else []), *marks]
    chart = alt.layer(*layers, data=frame.assign(index=range(len(frame))))
    labels = {row.id: _arrows(row) for row in rows}
    return results.with_right_labels(chart, frame, "number", order, labels).properties(width=330, height=18 * len(rows))


def _arrows(row: Row) -> str:
    """The three numbers in words; the corrected one only where it is another."""
    published, ours, corrected = (row.texts[name] for name in ("published", "as_published", "corrected"))
    return " → ".join(filter(None, (published, ours, corrected if corrected != ours else "")))


@dataclass(frozen=True)
class PartCoverage(Record):
    """One part of a paper: a table, a figure, an appendix.

    Attributes:
        part: its name.
        about: what it is.
        command: what computes it.
        reached: published numbers that the paper's own rule gives here; not list lengths, not sums of printed numbers.
        from_figures: those of them that are read off the coordinates of a figure.
        from_files: those of them that are looked up in a file of the authors.
        differ: printed numbers that it does not give on the paper's data.
        beside: printed numbers with ours beside them that rest on other data.
        rearranged: printed numbers beside which ours follows from other printed numbers alone.
        alone: numbers of ours where the paper prints none.
        obtainable: printed numbers without ours whose data or models can be fetched, and are not at hand.
        unchecked: printed numbers without ours whose data or models are not public, or that nothing here computes.
        unprinted: rows without a printed number and without ours.
        identities: list lengths and sums of printed numbers, reached or not, which say nothing about a method.
        missing: data that the unchecked ones need, or why they cannot be had; the first few of them.
    """

    part: str
    about: str
    command: str
    reached: int
    from_figures: int
    from_files: int
    differ: int
    beside: int
    rearranged: int
    alone: int
    obtainable: int
    unchecked: int
    unprinted: int
    identities: int
    missing: tuple[str, ...]


def part_coverage(paper: str, parts: Mapping[str, str], rows: Sequence[Row]) -> tuple[PartCoverage, ...]:
    """Every part with what came of it."""
    coverage = []
    for name, about in parts.items():
        members = [row for row in rows if row.part == name]
        counted = [row for row in members if row.kind != "identity"]
        states = [row.state for row in counted]
        reached = [row.source for row in counted if row.state == "agrees"]
        open_rows = [row for row in counted if row.state == "not checked"]
        without = [row for row in open_rows if row.as_published is None and row.corrected is None]
        derived = [row for row in open_rows if row.as_published is None and row.corrected is not None]
        # where no data are named, the first thing that the note says is the reason
        reasons = [row.needs or row.note.partition(";")[0].removeprefix("needs ") for row in without]
        coverage.append(
            PartCoverage(
                name,
                about,
                f"biasgauge reproduce {paper} --part {name}",
                reached=states.count("agrees"),
                from_figures=reached.count("figure"),
                from_files=reached.count("file"),
                differ=states.count("differs"),
                beside=len(open_rows) - len(without) - len(derived),
                rearranged=len(derived),
                alone=states.count("not printed"),
                obtainable=sum(row.obtainable for row in without),
                unchecked=sum(not row.obtainable for row in without),
                unprinted=states.count("no number"),
                identities=len(members) - len(counted),
                missing=tuple(dict.fromkeys(filter(None, reasons)))[:_MAX_MISSING],
            )
        )
    return tuple(coverage)


def coverage_table(parts: Sequence[PartCoverage]) -> results.Table:
    """A line for each part."""
    labels = {**{state: (name, about) for state, (name, _, about) in STATES.items()}, **_FURTHER}
    counts = [results.Column(label, "count", about=about) for label, (_, about) in labels.items()]
    names = [name for name, _ in labels.values()]
    rows = [
        (
            results.Shown(coverage.part, coverage.part, coverage.about),
            *(getattr(coverage, name) or None for name in names),
            ", ".join(coverage.missing) or None,
            results.Shown(coverage.command, f"--part {coverage.part}"),
        )
        for coverage in parts
    ]
    columns = ("part", *counts, "missing", results.Column("command", about="after biasgauge reproduce PAPER"))
    return results.Table.of("coverage", "What is covered, part by part", columns, rows).without_empty()


def coverage_charts(parts: Sequence[PartCoverage]) -> tuple[results.Chart, ...]:
    """Chart of the share of each part that is reached; none where a paper has nothing but identities."""
    records = [
        {"part": coverage.part, "state": state, "place": order, "numbers": getattr(coverage, name)}
        for coverage in parts
        for order, (state, (name, _, _)) in enumerate(STATES.items())
        if getattr(coverage, name)
    ]
    remark = "Numbers of each part; list lengths and sums of printed numbers are left out"
    title = "What came of the numbers of each part"
    return (results.Chart("coverage", title, remark, partial(_draw_coverage, records)),) if records else ()


def _draw_coverage(records: Sequence[Mapping[str, object]]) -> results.AltairChart:
    import pandas as pd

    alt = results.altair()
    order = list(dict.fromkeys(record["part"] for record in records))
    base = alt.Chart(pd.DataFrame(records)).encode(
        y=alt.Y("part:N", title=None, sort=order),
        x=alt.X("numbers:Q", title="numbers", stack="zero"),
        order="place:O",
        tooltip=["part", "state", "numbers"],
    )
    scale = alt.Scale(domain=list(STATES), range=[hue for _, hue, _ in STATES.values()])
    color = alt.Color("state:N", title=None, scale=scale, legend=results.top_legend())
    return (
        base.mark_bar(stroke=results.INK, strokeWidth=0.3)
        .encode(color=color)
        .properties(width=430, height=22 * len(order))
    )
