"""Figures of an audit: every test with its interval and its range over replicates; effects by chance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.results import Chart
from biasgauge.results.drawing import altair
from biasgauge.results.plain import to_plain

if TYPE_CHECKING:
    from biasgauge.auditing.nulls import NullEffect
    from biasgauge.auditing.result import AuditResult

VALUES = {"weat": "effect_size", "mac": "value"}
"""Keys of the JSON that hold a test's number."""
NO_BIAS = {"weat": 0.0, "mac": 1.0}
AXES = {"weat": "effect size", "mac": "mean cosine distance"}
TITLES = {
    "weat": "Bias by concept: effect sizes of association tests",
    "mac": "Stereotypes: mean cosine distance of protected words from attributes",
}
REMARKS = {
    "weat": "Point and line: value and 95 % interval over words; 0 is no difference, ±2 the most",
    "mac": "Point and line: value and 95 % interval over words; 1 is no association, less is closer",
}
_ROW = 22
_MODEL_ROW = 7


def bias_charts(result: AuditResult) -> tuple[Chart, ...]:
    """Every defined test of each kind with its interval; behind it, gray, its range over the replicates."""
    charts = []
    for test, title in TITLES.items():
        rows = _rows(result, test)
        if rows:
            spread = any(row["replicate_least"] is not None for row in rows)
            gray = f"\nGray: range and mean over the {len(result.replicates)} replicates" if spread else ""
            charts.append(Chart(test, title, REMARKS[test] + gray, partial(_dots, rows, test)))
    return tuple(charts)


def _rows(result: AuditResult, test: str) -> list[dict[str, Any]]:
    """One row for each defined value of one kind of test: value, interval, p, and mean and range over replicates."""
    spread = {one.name: one for one in result.spread if one.test == test}
    rows = []
    for content in (one for one in map(to_plain, result.bias) if one["test"] == test):
        value, ends = content[VALUES[test]], content["interval"] or {}
        if value is None:
            continue
        over, sets = spread.get(content["name"]), content["sets"]
        rows.append(
            {
                "concept": f"{content['name']}: {sets['x']} / {sets['y']}" if test == "weat" else content["name"],
                "model": content["model"],
                "value": value,
                "low": ends.get("low"),
                "high": ends.get("high"),
                "p": content.get("p_value"),
                "replicate_mean": over.mean if over else None,
                "replicate_least": over.least if over else None,
                "replicate_most": over.most if over else None,
            }
        )
    return rows


def _dots(rows: list[dict[str, Any]], test: str) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(rows)
    order = frame.groupby("concept")["value"].mean().sort_values(ascending=False, kind="stable").index.tolist()
    models = frame["model"].drop_duplicates().tolist()
    shown = frame.dropna(axis="columns", how="all")
    base = alt.Chart(shown).encode(
        y=alt.Y("concept:N", title=None, sort=order, axis=alt.Axis(grid=True)),
        tooltip=[alt.Tooltip(name) for name in shown.columns],
    )
    x = alt.X("value:Q", title=AXES[test], scale=alt.Scale(zero=False, nice=True))
    layers = [alt.Chart().mark_rule(strokeDash=[3, 3], color="#9aa09a").encode(x=alt.datum(NO_BIAS[test]))]
    if "replicate_least" in shown:
        gray = base.transform_filter(alt.FieldEqualPredicate(field="model", equal=models[0]))
        layers += [
            gray.mark_rule(strokeWidth=9, opacity=0.35, color="#9aa09a").encode(
                x=alt.X("replicate_least:Q", title=AXES[test]), x2=alt.X2("replicate_most:Q")
            ),
            gray.mark_tick(thickness=2, height=13, color="#5c6470").encode(x=alt.X("replicate_mean:Q")),
        ]
    several = len(models) > 1
    looks: dict[str, Any] = {} if several else {"color": "#b3402a"}
    own = base
    if several:
        own = base.encode(
            color=alt.Color("model:N", title="model", sort=None, scale=alt.Scale(scheme="dark2")),
            yOffset=alt.YOffset("model:N", sort=None),
        )
    if "low" in shown:
        layers.append(
            own.mark_rule(strokeWidth=2, **looks).encode(x=alt.X("low:Q", title=AXES[test]), x2=alt.X2("high:Q"))
        )
    layers.append(own.mark_point(filled=True, size=46, opacity=1, **looks).encode(x=x))
    height = len(order) * max(_ROW, _MODEL_ROW * len(models) + 8)
    return alt.layer(*layers, data=shown).properties(width=480, height=height)


def null_chart(nulls: Sequence[NullEffect]) -> Chart:
    """A histogram of the effects by chance for each test, with the measured effect marked."""
    remark = "Bars: data sets without bias. Line: what was measured"
    return Chart("nulls", "Effects by chance, and those measured", remark, partial(_histograms, nulls))


def _histograms(nulls: Sequence[NullEffect]) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd

    alt = altair()
    bars = pd.DataFrame(
        [
            {"test": one.name, "from": low, "to": high, "count": count}
            for one in nulls
            for low, high, count in zip(one.edges[:-1], one.edges[1:], one.counts, strict=True)
        ]
    )
    marks = pd.DataFrame([{"test": one.name, "measured": one.observed, "by chance": one.share} for one in nulls])
    base = alt.Chart(bars).mark_bar(color="#7aa6c2", opacity=0.8)
    histogram = base.encode(
        x=alt.X("from:Q", title="effect size", bin="binned"),
        x2="to:Q",
        y=alt.Y("count:Q", title=None, axis=None),
    )
    measured = (
        alt.Chart(marks)
        .mark_rule(color="#b3402a", strokeWidth=3)
        .encode(x="measured:Q", tooltip=["test", "measured", "by chance"])
    )
    rows = [
        alt.layer(
            histogram.transform_filter(alt.datum.test == name), measured.transform_filter(alt.datum.test == name)
        ).properties(width=480, height=46, title=alt.TitleParams(name, anchor="start", fontSize=12))
        for name in marks["test"]
    ]
    return alt.vconcat(*rows, spacing=6).resolve_scale(x="shared")
