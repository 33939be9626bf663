"""Figures of downstream tasks: performance and gaps by group; WinoBias and GAP."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.applications.gap_result import REST, pair_label, rate_label
from biasgauge.results import COLORS, AltairChart, Chart, altair, interval_chart, level_text

if TYPE_CHECKING:
    from biasgauge.applications.coref import GapF1, WinoBiasResult
    from biasgauge.applications.task import TaskGap, TaskResult
    from biasgauge.core import Estimate

MAX_PAIRS = 6
"""Pairs of groups beyond which only each group against the rest is drawn, and a panel is a metric."""
ALL = "all"
SEED = "one seed"
_OFFSET_STEP = 11


def task_charts(result: TaskResult) -> tuple[Chart, ...]:
    """Gaps with their intervals by metric and pair of groups; metrics of all items and of each group."""
    several_seeds = len(result.seeds) > 1
    over = "items and seeds" if several_seeds else "items"
    intervals = f"{level_text(result.settings['level'])} intervals over {over}"
    subject = f"{result.task}, {result.vectors}"
    groups = [ALL, *dict.fromkeys(metric.group for metric in result.metrics if metric.group is not None)]
    remark = f"{intervals}; 1 is best, for false positives 0"
    if len(groups) - 1 > MAX_PAIRS:
        groups, remark = [ALL], f"{remark}; of all items together"
    rows = [
        _chart_row(metric, what=rate_label(metric), who=metric.group or ALL)
        for metric in result.metrics
        if metric.value is not None and (metric.group or ALL) in groups
    ]
    draw = partial(_draw_estimates, rows, groups, "share", [0, 1])
    charts = [Chart("task_metrics", f"Performance: {subject}", remark, draw)] if rows else []
    gaps = [gap for gap in result.gaps if gap.value is not None]
    if gaps:
        many_pairs = len({(gap.a, gap.b) for gap in gaps}) > MAX_PAIRS
        gaps = [gap for gap in gaps if gap.b == REST] if many_pairs else gaps
        panels = list(dict.fromkeys(map(rate_label if many_pairs else pair_label, gaps)))
        remark = f"{intervals}; 0: no gap" + ("\nticks: single seeds" if several_seeds else "")
        remark = f"{panels[0]}; {remark}" if len(panels) == 1 else remark
        draw = partial(_draw_gaps, gaps, many_pairs=many_pairs, several_seeds=several_seeds)
        charts.append(Chart("task_gaps", f"Gaps between groups: {subject}", remark, draw))
    return tuple(charts)


def _draw_gaps(gaps: Iterable[TaskGap], *, many_pairs: bool, several_seeds: bool) -> AltairChart:
    import pandas as pd

    rows = []
    for gap in gaps:
        pair, rate = pair_label(gap), rate_label(gap)
        labels = {"what": pair, "panel": rate} if many_pairs else {"what": rate, "panel": pair}
        ends = {"low": gap.low, "high": gap.high, "sd": None if gap.sd is None else gap.sd.value, "p": gap.p_value}
        rows.append({**labels, "gap": gap.value, **ends, "kind": "mean"})
        if several_seeds:
            rows += [{**labels, "gap": value, "kind": SEED} for value in gap.values]  # noqa: PD011 - no frame
    x = altair().X("gap:Q", title="gap: first group − second")
    columns, width = (3, 220) if many_pairs else (2, 320)
    ticks = SEED if several_seeds else ""
    return interval_chart(pd.DataFrame(rows), x, ticks=ticks, panel="panel", columns=columns, width=width)


def winobias_charts(result: WinoBiasResult) -> tuple[Chart, ...]:
    """Rates in pro- and anti-stereotypical sentences, and their difference, by part and metric."""
    rates, differences = [], []
    for gap in result.gaps:
        split, _, kind = gap.subset.rpartition(" ")
        labels: dict[str, Any] = {"part": f"type {kind}, {split}", "what": gap.metric}
        for version, rate in (("pro", gap.first), ("anti", gap.second)):
            if rate is not None:
                rates.append({**_chart_row(rate, **labels, who=version), "n": gap.n})
        if gap.value is not None:
            differences.append({**_chart_row(gap, **labels, who="pro − anti"), "p": gap.p_value})
    level = level_text(result.settings["level"])
    remark = f"{level} intervals over pairs of sentences; type 1 needs knowledge of the world"
    draw = partial(_draw_estimates, rates, ["pro", "anti"], "percent", [0, 100])
    charts = [Chart("winobias", "WinoBias: pro- and anti-stereotypical sentences", remark, draw)]
    if differences:
        draw = partial(_draw_estimates, differences, ["pro − anti"], "percentage points", None)
        charts.append(Chart("winobias_gaps", "WinoBias: pro- minus anti-stereotypical performance", remark, draw))
    return tuple(charts)


def gap_f1_charts(result: GapF1) -> tuple[Chart, ...]:
    """Precision, recall and F1 by gender of the pronoun; the remark states the ratio of F1."""
    genders = ["overall", "masculine", "feminine"]
    rates = [score for score in result.scores if score.subset in genders and score.value is not None]
    rows = [_chart_row(rate, what=rate.metric, who=rate.subset) for rate in rates]
    remark = f"{level_text(result.settings['level'])} intervals over snippets"
    ratio = result.score("feminine / masculine")
    if ratio.value is not None:
        ends = "" if ratio.low is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]"
        remark += f"\nF1 of feminine / masculine pronouns: {ratio.value:.2f}{ends}; 1: no difference"
    draw = partial(_draw_estimates, rows, genders, "percent", [0, 100])
    return (Chart("gap_f1", "GAP: pronouns resolved, by gender", remark, draw),)


def _chart_row(estimate: Estimate, **labels: str) -> dict[str, Any]:
    return {**labels, "value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def _draw_estimates(rows: list[dict[str, Any]], order: list[str], axis: str, domain: list[int] | None) -> AltairChart:
    """Estimates with intervals: a row a metric, a color for each of `order`, a panel for each part if there are any."""
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["what", "who", "value", "low", "high", "n"])
    scale = alt.Scale(domain=order, range=[COLORS[index % len(COLORS)] for index in range(len(order))])
    legend = alt.Legend() if len(order) > 1 else None
    channels = {"color": alt.Color("who:N", title=None, scale=scale, legend=legend)}
    step = None
    if len(order) > 1:
        channels["yOffset"] = alt.YOffset("who:N", sort=order, scale=alt.Scale(paddingOuter=0.4))
        step = alt.Step(_OFFSET_STEP, **{"for": "offset"})
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=domain) if domain else alt.Undefined)
    return interval_chart(frame, x, lines=() if domain else (0.0,), panel="part", step=step, **channels)
