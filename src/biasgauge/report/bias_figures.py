"""Figures of an audit's bias: every test with its interval over words and its range over replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import altair, styled

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.audit import AuditResult
    from biasgauge.scores import Association

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


def draw_bias(result: AuditResult) -> dict[str, Any]:
    """Every defined test of each kind with its interval; behind it, grey, its range over the replicates."""
    charts = {}
    for test in TITLES:
        frame = bias_frame(result, test)
        if len(frame):
            charts[test] = _dots(frame, test, replicates=len(result.replicates) if result.spread else 0)
    return charts


def bias_frame(result: AuditResult, test: str) -> pd.DataFrame:
    """One row for each defined value of one kind of test: value, interval, p, and mean and range over replicates."""
    import pandas as pd  # noqa: PLC0415 - charts need it

    spread = {one.name: one for one in result.spread if one.test == test}
    rows = []
    for one in result.bias:
        if one.test != test or one.value is None:
            continue
        over = spread.get(one.name)
        rows.append(
            {
                "concept": _label(one),
                "model": one.model,
                "value": one.value,
                "low": one.interval.low if one.interval else None,
                "high": one.interval.high if one.interval else None,
                "p": getattr(one, "p_value", None),
                "replicate_mean": over.mean if over else None,
                "replicate_least": over.least if over else None,
                "replicate_most": over.most if over else None,
            }
        )
    return pd.DataFrame(rows)


def _label(one: Association) -> str:
    return f"{one.name}: {one.sets['x']} / {one.sets['y']}" if one.test == "weat" else one.name


def _dots(frame: pd.DataFrame, test: str, *, replicates: int) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    order = frame.groupby("concept")["value"].mean().sort_values(ascending=False, kind="stable").index.tolist()
    models = frame["model"].drop_duplicates().tolist()
    shown = frame.dropna(axis="columns", how="all")
    base = alt.Chart(shown).encode(
        y=alt.Y("concept:N", title=None, sort=order, axis=alt.Axis(grid=True)),
        tooltip=[alt.Tooltip(name) for name in shown.columns],
    )
    x = alt.X("value:Q", title=AXES[test], scale=alt.Scale(zero=False, nice=True))
    layers = [alt.Chart().mark_rule(strokeDash=[3, 3], color="#9aa09a").encode(x=alt.datum(NO_BIAS[test]))]
    remark = REMARKS[test]
    if "replicate_least" in shown:
        grey = base.transform_filter(alt.FieldEqualPredicate(field="model", equal=models[0]))
        layers += [
            grey.mark_rule(strokeWidth=9, opacity=0.35, color="#9aa09a").encode(
                x=alt.X("replicate_least:Q", title=AXES[test]), x2=alt.X2("replicate_most:Q")
            ),
            grey.mark_tick(thickness=2, height=13, color="#5c6470").encode(x=alt.X("replicate_mean:Q")),
        ]
        remark += f"\nGrey: range and mean over the {replicates} replicates"
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
    return styled(alt.layer(*layers, data=shown).properties(width=480, height=height), TITLES[test], remark)


DRAW = {"AuditResult": draw_bias}
