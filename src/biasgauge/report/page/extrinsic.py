"""Intrinsic against extrinsic: points with their lines, correlations by stratum, and gaps of tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Chart, Section, Table, between, cell, charts_of, number, undefined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.audit import AuditResult
    from biasgauge.extrinsic import CorrelationGroup, CorrelationResult, LevelEstimate, TaskGap, TaskResult

TITLE = "Do the intrinsic numbers track the application?"
ABOUT = (
    "Each point is an embedding: across, an intrinsic number; upwards, a gap between groups of people in an "
    "application that was trained on it. Intrinsic numbers need not say anything about an application "
    "(Goldfarb-Tarrant et al. 2021)."
)
LIMITS = (
    "What this does not say: a correlation over these embeddings is none over others, over another task or another "
    "measure of harm; it does not say that changing the one number changes the other; and no correlation seen is not "
    "none there."
)
TASKS_ABOUT = "What applications that were trained on vectors do: how differently groups of people fare."
LEVELS = {"within_r": "within strata", "between_r": "means of strata"}
GAPS = ("Task", "Metric", "Groups", "Gap", "Interval", "Over seeds", "p", "Items")
_MOST_ROWS = 2_000


def extrinsic_section(result: AuditResult) -> Section:
    """Points and correlations, then the gaps of each task; or how to get points."""
    found = result.extrinsic
    if found is None and not result.tasks:
        return Section(title=TITLE, about=f"Not known: {result.lacks_points}.")
    named = _named(result.tasks)
    sentences = [f"{name}: {one}" for name, task in named for one in (*task.warnings, *_told(task))]
    charts = [
        chart for name, task in named for chart in charts_of("extrinsic", figures(task), name if len(named) > 1 else "")
    ]
    tables = [_gaps(named)] if named else []
    if found is None:
        about = f"{TASKS_ABOUT} Whether intrinsic numbers track them is not known: {result.lacks_points}."
        return Section(title=TITLE, about=about, sentences=tuple(sentences), charts=tuple(charts), tables=tuple(tables))
    return Section(
        title=TITLE,
        about=ABOUT,
        sentences=(*found.warnings, *found.readings, LIMITS, *sentences),
        charts=(*_correlation_charts(found), *charts),
        tables=(_correlations(found), *tables),
    )


def _named(tasks: tuple[TaskResult, ...]) -> list[tuple[str, TaskResult]]:
    """Each task with a name that no other has."""
    names: list[str] = []
    for one in tasks:
        name = f"{one.task}, {one.vectors}"
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    return list(zip(names, tasks, strict=True))


def _told(task: TaskResult) -> tuple[str, ...]:
    return (f"no gaps: {task.no_gaps}",) if task.no_gaps else task.readings


def _correlation_charts(found: CorrelationResult) -> Iterator[Chart]:
    """The charts; the numbers of the first are its points and the ends of its lines, under their own names."""
    for chart in charts_of("extrinsic", figures(found)):
        if chart.key != "extrinsic-points":
            yield chart
            continue
        frame = found.points_frame()
        records: Any = frame.to_dict("records")
        points = Table.of("The points", records) if len(frame) <= _MOST_ROWS else None
        yield replace(chart, tables=tuple(one for one in (points, _lines(chart, found)) if one is not None))


def _lines(chart: Chart, found: CorrelationResult) -> Table:
    """Both ends of each line, with the band of the mean there."""
    named = {
        f"by {at}": name for at, name in enumerate(name for name in found.points if name not in {found.x, found.y})
    }
    drawn = [row for rows in chart.spec["datasets"].values() for row in rows if row["kind"] == "fit"]
    ends: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in drawn:
        ends.setdefault(tuple(str(row[field]) for field in named if row.get(field) is not None), []).append(row)
    records = [
        {
            "line": ", ".join(key) or "all points",
            found.x: end["x"],
            f"{found.y} on the line": end["fit"],
            "low": end["low"],
            "high": end["high"],
        }
        for key, rows in ends.items()
        for end in (rows[0], rows[-1])
    ]
    return Table.of("The lines: their ends, and the band of the mean", records)


def _correlations(found: CorrelationResult) -> Table:
    shared = any(one.units != one.n for one in found.groups)
    seeds = any(one.reliability is not None for one in found.groups)
    ranks = found.settings["method"] == "spearman"
    both = ("Spearman", "Pearson") if ranks else ("Pearson", "Spearman")
    level = f"{found.settings['level']:.0%}".replace("%", " %")
    columns = [
        ", ".join(found.by) or "Points",
        "Number",
        *(["Units"] if shared else []),
        f"{both[0]}'s r",
        f"{level} interval",
        "p",
        "p by Holm",
        f"{both[1]}'s r",
        f"Power, r = {found.power_of:g}",
        "Seen 4 of 5 times",
        *(["Reliability over seeds", "Largest r"] if seeds else []),
    ]
    rows = [_group(one, columns, shared=shared, seeds=seeds, ranks=ranks) for one in found.groups]
    if found.levels is not None:
        rows += [
            _level(title, getattr(found.levels, name), len(columns), shared=shared) for name, title in LEVELS.items()
        ]
    over = "points" if found.settings["unit"] is None else f"units ({found.settings['unit']})"
    caption = (
        f"Correlation of {found.x} with {found.y}: intervals by {found.settings['interval']} bootstrap over {over}; "
        "power: how often such a true r would be seen"
    )
    return Table(caption, tuple(columns), tuple(rows), frozenset(columns[1:]))


def _group(one: CorrelationGroup, columns: list[str], *, shared: bool, seeds: bool, ranks: bool) -> tuple[Cell, ...]:
    why = str(one.to_dict()["reason"] or "") if one.r is not None and one.p is None else ""
    start = (cell(one.name, f"without p: {why}" if why else ""), cell(one.n), *([cell(one.units)] if shared else []))
    if one.r is None:
        return (*start, *undefined(one.reason, len(columns) - len(start)))
    other = one.pearson if ranks else one.spearman
    held = one.reliability
    return (
        *start,
        number(one.r),
        _interval(one),
        _p(one.p),
        _p(one.p_holm),
        number(other.value),
        cell(None) if one.power is None else Cell(f"{100 * one.power:.0f} %", order=one.power),
        number(one.detectable),
        *(
            [number(None if held is None else held.mean.value), number(None if held is None else held.r_max)]
            if seeds
            else []
        ),
    )


def _level(title: str, one: LevelEstimate, width: int, *, shared: bool) -> tuple[Cell, ...]:
    start = (cell(title), cell(one.n), *([cell(None)] if shared else []))
    if one.value is None:
        return (*start, *undefined(one.reason, width - len(start)))
    found = (*start, number(one.value), _interval(one), _p(one.p))
    return (*found, *[cell(None)] * (width - len(found)))


def _interval(one: CorrelationGroup | LevelEstimate | TaskGap, digits: int = 2) -> Cell:
    ends = one.interval
    if ends is None or ends.low is None:
        return cell(None, "" if ends is None else ends.reason or "")
    return between(ends.low, ends.high, digits)


def _p(value: float | None) -> Cell:
    if value is None:
        return cell(None)
    return Cell("< .001" if value < 0.001 else f"{value:.3f}", order=value)  # noqa: PLR2004 - three decimals are shown


def _gaps(named: list[tuple[str, TaskResult]]) -> Table:
    rows = [_gap(name, one) for name, task in named for one in task.gaps]
    caption = "Gaps of tasks: first group − second; over seeds: standard deviation with its interval"
    return Table(caption, GAPS, tuple(rows), frozenset(GAPS[3:]))


def _gap(name: str, one: TaskGap) -> tuple[Cell, ...]:
    metric = one.metric.replace("_", " ") + (f", {one.of}" if one.of else "")
    start = (cell(name), cell(metric), cell(f"{one.a} − {one.b}"))
    if one.value is None:
        return (*start, *undefined(one.reason, len(GAPS) - len(start)))
    spread = one.sd_interval
    ends = "" if spread is None or spread.low is None else between(spread.low, spread.high, 3).text
    items = f"{one.n_a:,}" if one.n_a == one.n_b else f"{one.n_a:,} and {one.n_b:,}"
    return (
        *start,
        number(one.value, 3),
        _interval(one, 3),
        number(one.sd, 3, ends),
        _p(one.p_value),
        Cell(items, order=float(one.n_a)),
    )
