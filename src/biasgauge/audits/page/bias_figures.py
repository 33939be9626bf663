"""Figures of an audit: every test with its interval, in every model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.core import to_plain
from biasgauge.results import ACCENT, BAD, CAUTION, GOOD, NEUTRAL, AltairChart, Chart, altair, marks_of, zero_line

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult

NO_BIAS = {"weat": 0.0, "mac": 1.0}
AXES = {"weat": "contrast, in cosine units", "mac": "mean cosine distance"}
TITLES = {
    "weat": "Bias by concept: contrasts of association tests",
    "mac": "Stereotypes: mean cosine distance of protected words from attributes",
}
REMARKS = {
    "weat": "Point and line: contrast and 95 % interval over targets and attributes; gray line at 0: no difference",
    "mac": "Point and line: value and 95 % interval over words; gray line at 1: no association, less is closer",
}
SEVERAL = "One line a model, in the order of the table"
DECIDED = "Shape and color say whether the finding may be reported"
MARKS = {
    "report": ("circle", GOOD),
    "report-with-care": ("triangle-up", CAUTION),
    "do-not-report": ("cross", BAD),
    "no-association-shown": ("square", NEUTRAL),
    "inconclusive": ("diamond", NEUTRAL),
    "not-measurable": ("triangle-down", NEUTRAL),
}
"""Shape and color of each decision."""
_ROW = 22
_MODEL_ROW = 7


def bias_charts(result: AuditResult) -> tuple[Chart, ...]:
    """Every defined test of each kind with its interval, in every model."""
    charts = []
    for test, title in TITLES.items():
        rows = _rows(result, test)
        if rows:
            decided = any(row["decision"] for row in rows)
            many_models = len({row["model"] for row in rows}) > 1
            remarks = [REMARKS[test], *([DECIDED] if decided else []), *([SEVERAL] if many_models else [])]
            charts.append(Chart(test, title, ". ".join(remarks), partial(_dots, rows, test)))
    return tuple(charts)


def _rows(result: AuditResult, test: str) -> list[dict[str, Any]]:
    """One row for each defined value of one kind of test: value, interval and p."""
    rows = []
    decisions = {
        (verdict.question, model): verdict.decision
        for verdict in result.verdicts
        for subject in result.subjects
        if subject.name == verdict.model
        for model in subject.models
    }
    for content in (row for row in map(to_plain, result.bias) if row["test"] == test):
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
                "decision": decisions.get((content["name"], content["model"])),
            }
        )
    return rows


def _dots(rows: list[dict[str, Any]], test: str) -> AltairChart:
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
    layers = [zero_line(NO_BIAS[test])]
    by_model = base.encode(yOffset=alt.YOffset("model:N", sort=None)) if len(models) > 1 else base
    decided = marks_of(MARKS, "decision", shown["decision"].dropna().tolist()) if "decision" in shown else {}
    looks = {} if decided else {"color": ACCENT}
    hue = {"color": decided["color"]} if decided else {}
    if "low" in shown:
        lines = by_model.mark_rule(strokeWidth=2, **looks)
        layers.append(lines.encode(x=alt.X("low:Q", title=AXES[test]), x2=alt.X2("high:Q"), **hue))
    layers.append(by_model.mark_point(filled=True, size=52, opacity=1, **looks).encode(x=x, **decided))
    height = len(order) * max(_ROW, _MODEL_ROW * len(models) + 8)
    return alt.layer(*layers, data=shown).properties(width=480, height=height)
