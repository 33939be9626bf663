"""Figures of an audit: every test with its interval, in every model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.results import Chart
from biasgauge.results.drawing import altair
from biasgauge.results.plain import to_plain

if TYPE_CHECKING:
    from biasgauge.auditing.result import AuditResult

NO_BIAS = {"weat": 0.0, "mac": 1.0}
AXES = {"weat": "contrast, in cosine units", "mac": "mean cosine distance"}
TITLES = {
    "weat": "Bias by concept: contrasts of association tests",
    "mac": "Stereotypes: mean cosine distance of protected words from attributes",
}
REMARKS = {
    "weat": "Point and line: contrast and 95 % interval over targets and attributes; 0 is no difference",
    "mac": "Point and line: value and 95 % interval over words; 1 is no association, less is closer",
}
_ROW = 22
_MODEL_ROW = 7


def bias_charts(result: AuditResult) -> tuple[Chart, ...]:
    """Every defined test of each kind with its interval, in every model."""
    charts = []
    for test, title in TITLES.items():
        rows = _rows(result, test)
        if rows:
            charts.append(Chart(test, title, REMARKS[test], partial(_dots, rows, test)))
    return tuple(charts)


def _rows(result: AuditResult, test: str) -> list[dict[str, Any]]:
    """One row for each defined value of one kind of test: value, interval and p."""
    rows = []
    for content in (one for one in map(to_plain, result.bias) if one["test"] == test):
        number = content["contrast"] if test == "weat" else {**(content["interval"] or {}), "value": content["value"]}
        if not number or number["value"] is None:
            continue
        sets = content["sets"]
        rows.append(
            {
                "concept": f"{content['name']}: {sets['x']} / {sets['y']}" if test == "weat" else content["name"],
                "model": content["model"],
                "value": number["value"],
                "low": number.get("low"),
                "high": number.get("high"),
                "p": content.get("p_value"),
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
