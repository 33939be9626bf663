"""Figures of downstream tasks: how well they are done and by how much groups differ; WinoBias and GAP."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.applications.correlation.figures import COLORS, ZERO
from biasgauge.results import Chart
from biasgauge.results.drawing import altair

if TYPE_CHECKING:
    from biasgauge.applications.coref import GapF1, WinoBiasResult
    from biasgauge.applications.tasks.result import TaskGap, TaskMetric, TaskResult

MOST_PAIRS = 6
"""Pairs of groups beyond which only each group against the rest is drawn, and a panel is a metric."""
ALL = "all"
SEED = "one seed"
REST = "the rest"
_ROW = 24
_BETWEEN = 11


def task_charts(result: TaskResult) -> tuple[Chart, ...]:
    """Gaps with their intervals by metric and pair of groups; metrics of all items and of each group."""
    over = "items and seeds" if len(result.seeds) > 1 else "items"
    intervals = f"{result.settings['level']:.0%} intervals over {over}"
    groups = [ALL, *dict.fromkeys(one.group for one in result.metrics if one.group is not None)]
    remark = f"{intervals}; 1 is best, for false positives 0"
    if len(groups) - 1 > MOST_PAIRS:
        groups, remark = [ALL], f"{remark}; of all items together"
    rows = [
        {"what": _what(one), "who": one.group or ALL, "value": one.value, "low": one.low, "high": one.high, "n": one.n}
        for one in result.metrics
        if one.value is not None and (one.group or ALL) in groups
    ]
    draw = partial(_dots, rows, groups, "share", [0, 1])
    charts = [Chart("task_metrics", f"How well the task is done: {_of(result)}", remark, draw)] if rows else []
    known = [one for one in result.gaps if one.value is not None]
    if known:
        remark = f"{intervals}; 0: both fare alike"
        remark += "\nticks: single seeds" if len(result.seeds) > 1 else ""
        many, _, kept = _panels(result)
        panels = list(dict.fromkeys(_what(one) if many else _pair(one) for one in kept))
        remark = f"{panels[0]}; {remark}" if len(panels) == 1 else remark
        charts.append(Chart("task_gaps", f"Gaps between groups: {_of(result)}", remark, partial(_gaps, result)))
    return tuple(charts)


def _panels(result: TaskResult) -> tuple[bool, bool, list[TaskGap]]:
    """Whether there are many pairs of groups and several seeds, and the gaps to draw."""
    known = [one for one in result.gaps if one.value is not None]
    many = len({(one.a, one.b) for one in known}) > MOST_PAIRS
    return many, len(result.seeds) > 1, [one for one in known if one.b == REST] if many else known


def _gaps(result: TaskResult) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd

    alt = altair()
    many, several, kept = _panels(result)
    rows = []
    for one in kept:
        about = dict(zip(("panel", "what") if many else ("what", "panel"), (_what(one), _pair(one)), strict=True))
        rows.append(
            {
                **about,
                "gap": one.value,
                "low": one.low,
                "high": one.high,
                "sd": None if one.sd is None else one.sd.value,
                "p": one.p_value,
                "kind": "mean",
            }
        )
        if several:
            rows += [{**about, "gap": value, "kind": SEED} for value in one.values]  # noqa: PD011 - no frame
    frame = pd.DataFrame(rows)
    y = alt.Y("what:N", title=None, sort=list(dict.fromkeys(frame["what"])), axis=alt.Axis(grid=True))
    base = alt.Chart().encode(y=y, tooltip=["what", "panel", "gap", "low", "high", "sd", "p"])
    x = alt.X("gap:Q", title="gap: first group − second")
    layers = [
        alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5, color=COLORS[0]).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=50, opacity=1, color=COLORS[0])
        .encode(x=x)
        .transform_filter("datum.kind === 'mean'"),
    ]
    if several:
        ticks = base.mark_tick(color=COLORS[1], thickness=2, size=12)
        seeds = ticks.encode(x=x, tooltip=["what", "panel", "gap", "kind"])
        layers.insert(2, seeds.transform_filter(f"datum.kind === '{SEED}'"))
    chart = alt.layer(*layers, data=frame).properties(width=220 if many else 320, height=alt.Step(_ROW))
    panels = list(dict.fromkeys(frame["panel"]))
    if len(panels) > 1:
        return chart.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=3 if many else 2)
    return chart


def winobias_charts(result: WinoBiasResult) -> tuple[Chart, ...]:
    """Rates where the stereotype holds and where it does not, and their difference, by part and metric."""
    rows, differences = [], []
    for one in result.gaps:
        about = {"part": _part(one.of), "what": one.metric}
        for who, rate in (("pro", one.first), ("anti", one.second)):
            if rate is not None:
                ends = {"low": rate.low, "high": rate.high}
                rows.append({**about, "who": who, "value": rate.value, **ends, "n": one.n})
        if one.value is not None:
            shown = {"low": one.low, "high": one.high, "n": one.n, "p": one.p_value}
            differences.append({**about, "who": "pro − anti", "value": one.value, **shown})
    remark = f"{result.settings['level']:.0%} intervals over pairs of sentences; type 1 needs knowledge of the world"
    draw = partial(_dots, rows, ["pro", "anti"], "percent", [0, 100])
    charts = [Chart("winobias", "WinoBias: pro- and anti-stereotypical sentences", remark, draw)]
    if differences:
        draw = partial(_dots, differences, ["pro − anti"], "percentage points", None)
        title = "WinoBias: how much better where the stereotype holds"
        charts.append(Chart("winobias_gaps", title, remark, draw))
    return tuple(charts)


def gap_f1_charts(result: GapF1) -> tuple[Chart, ...]:
    """Precision, recall and F1 by gender of the pronoun; the remark on the ratio says how unlike they are."""
    genders = ["overall", "masculine", "feminine"]
    rows = [
        {"what": one.metric, "who": one.of, "value": one.value, "low": one.low, "high": one.high, "n": one.n}
        for one in result.scores
        if one.of in genders and one.value is not None
    ]
    remark = f"{result.settings['level']:.0%} intervals over snippets"
    ratio = result.score("feminine / masculine")
    if ratio.value is not None:
        around = "" if ratio.low is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]"
        remark += f"\nF1 of feminine / masculine pronouns: {ratio.value:.2f}{around}; 1: both fare alike"
    draw = partial(_dots, rows, genders, "percent", [0, 100])
    return (Chart("gap_f1", "GAP: pronouns resolved, by gender", remark, draw),)


def _dots(rows: list[dict[str, Any]], order: list[str], axis: str, domain: list[int] | None) -> Any:  # noqa: ANN401 - a chart
    """Numbers with intervals: a row a metric, a color for each of `order`, a panel for each part if there are any."""
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["what", "who", "value", "low", "high", "n"])
    whats = list(dict.fromkeys(frame["what"]))
    colors = alt.Scale(domain=order, range=[COLORS[at % len(COLORS)] for at in range(len(order))])
    base = alt.Chart().encode(
        y=alt.Y("what:N", title=None, sort=whats, axis=alt.Axis(grid=True)),
        color=alt.Color("who:N", title=None, scale=colors, legend=alt.Legend() if len(order) > 1 else None),
        tooltip=[*frame.columns],
    )
    if len(order) > 1:
        base = base.encode(yOffset=alt.YOffset("who:N", sort=order, scale=alt.Scale(paddingOuter=0.4)))
    scale = alt.Scale(domain=domain) if domain else alt.Undefined
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("value:Q", title=axis, scale=scale)),
    ]
    if domain is None:
        layers.insert(0, alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0)))
    chart = alt.layer(*layers, data=frame)
    step = alt.Step(_BETWEEN, **{"for": "offset"}) if len(order) > 1 else alt.Step(_ROW)
    chart = chart.properties(width=320, height=step)
    parts = list(dict.fromkeys(frame["part"])) if "part" in frame else []
    if len(parts) > 1:
        return chart.facet(facet=alt.Facet("part:N", title=None, sort=parts), columns=2)
    return chart


def _of(result: TaskResult) -> str:
    return f"{result.task}, {result.vectors}"


def _pair(one: TaskGap) -> str:
    return f"{one.a} − {one.b}"


def _part(of: str) -> str:
    """Say "test 1" as a reader wants it."""
    split, _, kind = of.rpartition(" ")
    return f"type {kind}, {split}"


def _what(one: TaskMetric | TaskGap) -> str:
    return one.metric.replace("_", " ") + (f", {one.of}" if one.of else "")
