"""Figures of reliability: distributions by list and measure, pairs, queries, variance components, designs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from biasgauge.analyses.reliability.components import VarianceComponents
from biasgauge.analyses.reliability.decision import PLURAL, DecisionStudy
from biasgauge.analyses.reliability.reliability_table import ACCEPTABLE, LIMITS, ReliabilityTable
from biasgauge.results import AltairChart, Chart, altair, interval_chart, measure_name, share_text, spelled, zero_line

if TYPE_CHECKING:
    from biasgauge.analyses.reliability.result import ReliabilityResult

TITLES = {
    "test_retest": "Test–retest reliability over training runs",
    "inter_rater": "Inter-rater reliability of measures on raw scores",
    "inter_rater_standardized": "Inter-rater reliability of measures after standardizing",
}
COMPONENTS = (
    "word: differences between words. word × pair: their order varies with the pair. … × model: with the training run. "
    "Lines: intervals"
)
BOXES = (
    "Over words: median (dark), middle half (blue), and 5 % to 95 % (thin line). Gray lines at .5, .75 and .9: "
    "poor, moderate, good, excellent (Koo & Li 2016)"
)


def reliability_charts(result: ReliabilityResult) -> tuple[Chart, ...]:
    """Distributions of the three reliabilities over words, each pair, each query; components and designs."""
    charts = [
        Chart(name, title, BOXES, partial(_boxes, result, name))
        for name, title in TITLES.items()
        if any(row.reliability == name and row.of == "word" and row.count for row in result.summaries)
    ]
    pairs = result.test_retest.where(of="pair").drop_undefined()
    if len(pairs):
        first = str(pairs.list[0])
        title = f"Test–retest reliability of each pair, on {first}"
        remark = "ICC(2,1) of the words' scores over replicates, with its interval. Gray lines at .5, .75 and .9"
        charts.append(Chart("pairs", title, remark, partial(_dots, pairs.where(list=first), LIMITS)))
    queries = result.internal.where(of="query").drop_undefined()
    if len(queries):
        title = "Internal consistency of the words of each query"
        remark = "Cronbach's alpha with its interval; the line is .7 (Nunnally 1978)"
        charts.append(Chart("queries", title, remark, partial(_dots, queries, (ACCEPTABLE,))))
    for study in (*result.components, *result.design):
        if isinstance(study, VarianceComponents | DecisionStudy):
            chart = study_chart(study)
            charts.append(replace(chart, name=f"{chart.name}-{study.measure}" if study.measure else chart.name))
    return tuple(charts)


def study_chart(result: VarianceComponents | DecisionStudy) -> Chart:
    """Chart of variance components, or of designs."""
    under = f", under {measure_name(result.measure)}" if result.measure else ""
    if isinstance(result, VarianceComponents):
        return Chart("components", f"Variance components{under}", COMPONENTS, partial(_components, result))
    remark = f"Reliability of the mean score of a {result.object} by design; target: {result.target:g}"
    return Chart("design", f"Sufficient designs{under}", remark, partial(_design, result))


def _boxes(result: ReliabilityResult, name: str) -> AltairChart:
    """Box plots of one reliability over words, by list and measure."""
    alt = altair()
    frame = result.distributions()
    frame = frame[(frame["reliability"] == name) & (frame["of"] == "word") & (frame["count"] > 0)]
    frame = frame.fillna({"measure": "all measures"})
    x = alt.X("p05:Q", title="reliability", scale=alt.Scale(domain=[min(0.0, float(frame["p05"].min())), 1]))
    tooltip = ["list", "measure", "count", "undefined", "p05", "q1", "median", "q3", "p95"]
    base = alt.Chart(frame).encode(y=alt.Y("list:N", title=None, sort=None), tooltip=tooltip)
    layers = alt.layer(
        alt.layer(*map(zero_line, LIMITS)),
        base.mark_rule(strokeWidth=1.5, color="#5c6470").encode(x=x, x2="p95:Q"),
        base.mark_bar(height=14, color="#7aa6c2").encode(x="q1:Q", x2="q3:Q"),
        base.mark_tick(height=14, thickness=2.5, color="#16324a").encode(x="median:Q"),
        data=frame,
    )
    facet = alt.Column("measure:N", title=None, sort=frame["measure"].drop_duplicates().tolist())
    return layers.properties(width=190, height=alt.Step(26)).facet(column=facet)


def _dots(table: ReliabilityTable, limits: tuple[float, ...]) -> AltairChart:
    """Each reliability with its interval, by measure, the most reliable first."""
    alt = altair()
    frame = table.to_frame().drop(columns=["of", "list", "reason", "statistic"])
    frame = frame.assign(name=frame["name"].map(spelled))
    order = frame.groupby("name")["value"].mean().sort_values(ascending=False).index.tolist()
    x = alt.X("value:Q", title="reliability", scale=alt.Scale(domain=[min(0.0, float(frame["low"].min())), 1]))
    color = alt.Color("measure:N", title="measure", sort=None, scale=alt.Scale(scheme="dark2"))
    height = len(order) * (7 * frame["measure"].nunique() + 5)
    return interval_chart(
        frame, x, row="name", order=order, lines=limits, offset="measure", color=color, width=480, step=height
    )


def _components(result: VarianceComponents) -> AltairChart:
    """Share of the variance of each component, with its interval."""
    alt = altair()
    frame = result.to_frame()
    frame = frame.assign(component=frame["component"].map(spelled))
    labels = dict(zip(frame["component"], map(share_text, frame["share"]), strict=True))
    x = alt.X("share:Q", title="share of the variance", axis=alt.Axis(format="%"))
    ends = ("share_low", "share_high")
    return interval_chart(frame, x, row="component", ends=ends, lines=(), labels=labels, step=24 * len(frame))


def _design(result: DecisionStudy) -> AltairChart:
    """Reliability of a word's mean score by the number of replicates or templates, a line for each number of pairs."""
    alt = altair()
    frame = result.to_frame()
    across = PLURAL[result.solved]
    line = next((name for name in ("pairs", "words") if name in frame and name != across), across)
    stroke = {"symbolType": "stroke", "symbolOpacity": 1, "symbolStrokeWidth": 2}
    legend = alt.Legend(orient="top", direction="horizontal", columns=9, **stroke)
    base = alt.Chart(frame).encode(
        x=alt.X(f"{across}:Q", title=across, scale=alt.Scale(type="log", base=2)),
        color=alt.Color(f"{line}:O", title=line, scale=alt.Scale(scheme="viridis"), legend=legend),
        tooltip=list(frame.columns),
    )
    y = alt.Y("generalizability:Q", title="generalizability", scale=alt.Scale(domain=[0, 1]))
    target = alt.Chart().mark_rule(strokeDash=[4, 3], color="#a3262a").encode(y=alt.datum(result.target))
    chart = alt.layer(
        base.mark_area(opacity=0.12).encode(y=alt.Y("generalizability_low:Q"), y2="generalizability_high:Q"),
        base.mark_line(point=True).encode(y=y),
        target,
        data=frame,
    )
    if "measures" in frame:
        return chart.properties(width=300, height=300).facet(column=alt.Column("measures:O", title="measures"))
    return chart.properties(width=480, height=300)
