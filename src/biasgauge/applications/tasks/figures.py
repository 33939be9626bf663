"""Figures of downstream tasks: how well they are done and by how much groups differ; WinoBias and GAP."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.applications.group_gaps.result import REST, what
from biasgauge.results import COLORS, AltairChart, Chart, altair, interval_chart, level_text

if TYPE_CHECKING:
    from biasgauge.applications.coref import GapF1, WinoBiasResult
    from biasgauge.applications.tasks.result import TaskGap, TaskResult
    from biasgauge.core import Estimate

MOST_PAIRS = 6
"""Pairs of groups beyond which only each group against the rest is drawn, and a panel is a metric."""
ALL = "all"
SEED = "one seed"
_BETWEEN = 11


def task_charts(result: TaskResult) -> tuple[Chart, ...]:
    """Gaps with their intervals by metric and pair of groups; metrics of all items and of each group."""
    several = len(result.seeds) > 1
    intervals = f"{level_text(result.settings['level'])} intervals over {'items and seeds' if several else 'items'}"
    of = f"{result.task}, {result.vectors}"
    groups = [ALL, *dict.fromkeys(metric.group for metric in result.metrics if metric.group is not None)]
    remark = f"{intervals}; 1 is best, for false positives 0"
    if len(groups) - 1 > MOST_PAIRS:
        groups, remark = [ALL], f"{remark}; of all items together"
    rows = [
        _row(metric, what=what(metric), who=metric.group or ALL)
        for metric in result.metrics
        if metric.value is not None and (metric.group or ALL) in groups
    ]
    draw = partial(_dots, rows, groups, "share", [0, 1])
    charts = [Chart("task_metrics", f"How well the task is done: {of}", remark, draw)] if rows else []
    known = [gap for gap in result.gaps if gap.value is not None]
    if known:
        many = len({(gap.a, gap.b) for gap in known}) > MOST_PAIRS
        drawn = [gap for gap in known if gap.b == REST] if many else known
        panels = list(dict.fromkeys(what(gap) if many else f"{gap.a} − {gap.b}" for gap in drawn))
        remark = f"{intervals}; 0: both fare alike" + ("\nticks: single seeds" if several else "")
        remark = f"{panels[0]}; {remark}" if len(panels) == 1 else remark
        draw = partial(_gaps, drawn, many=many, several=several)
        charts.append(Chart("task_gaps", f"Gaps between groups: {of}", remark, draw))
    return tuple(charts)


def _gaps(gaps: Iterable[TaskGap], *, many: bool, several: bool) -> AltairChart:
    import pandas as pd

    rows = []
    for gap in gaps:
        pair = f"{gap.a} − {gap.b}"
        about = {"what": pair, "panel": what(gap)} if many else {"what": what(gap), "panel": pair}
        ends = {"low": gap.low, "high": gap.high, "sd": None if gap.sd is None else gap.sd.value, "p": gap.p_value}
        rows.append({**about, "gap": gap.value, **ends, "kind": "mean"})
        if several:
            rows += [{**about, "gap": value, "kind": SEED} for value in gap.values]  # noqa: PD011 - no frame
    x = altair().X("gap:Q", title="gap: first group − second")
    ticks, looks = SEED if several else "", (3, 220) if many else (2, 320)
    return interval_chart(pd.DataFrame(rows), x, ticks=ticks, panel="panel", columns=looks[0], width=looks[1])


def winobias_charts(result: WinoBiasResult) -> tuple[Chart, ...]:
    """Rates where the stereotype holds and where it does not, and their difference, by part and metric."""
    rows, differences = [], []
    for gap in result.gaps:
        split, _, kind = gap.of.rpartition(" ")
        about: dict[str, Any] = {"part": f"type {kind}, {split}", "what": gap.metric}
        for who, rate in (("pro", gap.first), ("anti", gap.second)):
            if rate is not None:
                rows.append({**_row(rate, **about, who=who), "n": gap.n})
        if gap.value is not None:
            differences.append({**_row(gap, **about, who="pro − anti"), "p": gap.p_value})
    remark = (
        f"{level_text(result.settings['level'])} intervals over pairs of sentences; type 1 needs knowledge of the world"
    )
    draw = partial(_dots, rows, ["pro", "anti"], "percent", [0, 100])
    charts = [Chart("winobias", "WinoBias: pro- and anti-stereotypical sentences", remark, draw)]
    if differences:
        draw = partial(_dots, differences, ["pro − anti"], "percentage points", None)
        charts.append(Chart("winobias_gaps", "WinoBias: how much better where the stereotype holds", remark, draw))
    return tuple(charts)


def gap_f1_charts(result: GapF1) -> tuple[Chart, ...]:
    """Precision, recall and F1 by gender of the pronoun; the remark on the ratio says how unlike they are."""
    genders = ["overall", "masculine", "feminine"]
    rates = [score for score in result.scores if score.of in genders and score.value is not None]
    rows = [_row(rate, what=rate.metric, who=rate.of) for rate in rates]
    remark = f"{level_text(result.settings['level'])} intervals over snippets"
    ratio = result.score("feminine / masculine")
    if ratio.value is not None:
        around = "" if ratio.low is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]"
        remark += f"\nF1 of feminine / masculine pronouns: {ratio.value:.2f}{around}; 1: both fare alike"
    draw = partial(_dots, rows, genders, "percent", [0, 100])
    return (Chart("gap_f1", "GAP: pronouns resolved, by gender", remark, draw),)


def _row(number: Estimate, **about: str) -> dict[str, Any]:
    return {**about, "value": number.value, "low": number.low, "high": number.high, "n": number.n}


def _dots(rows: list[dict[str, Any]], order: list[str], axis: str, domain: list[int] | None) -> AltairChart:
    """Numbers with intervals: a row a metric, a color for each of `order`, a panel for each part if there are any."""
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["what", "who", "value", "low", "high", "n"])
    scale = alt.Scale(domain=order, range=[COLORS[at % len(COLORS)] for at in range(len(order))])
    several = len(order) > 1
    channels = {"color": alt.Color("who:N", title=None, scale=scale, legend=alt.Legend() if several else None)}
    if several:
        channels["yOffset"] = alt.YOffset("who:N", sort=order, scale=alt.Scale(paddingOuter=0.4))
    step = alt.Step(_BETWEEN, **{"for": "offset"}) if several else None
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=domain) if domain else alt.Undefined)
    return interval_chart(frame, x, zero=domain is None, panel="part", step=step, **channels)
