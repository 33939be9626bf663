"""Figures of what a mitigation did: bias, side effects and what is left, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import altair, styled

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.mitigation import MitigationEffect

COLOURS = {"before": "#8a919c", "after": "#b3402a"}
TITLES = {
    "association": ("Association tests", "Value of each test, with its interval over words; the scales differ by test"),
    "distances": (
        "Mean cosine distances",
        "Posterior means with 89 % intervals; 1: unrelated, less: closer. Human and neutral should stay",
    ),
    "benchmark": ("Similarity benchmarks", "Rank correlation with human similarity, with intervals over word pairs"),
    "recovery": (
        "What is left of the bias",
        "Accuracies (chance: ½) and a correlation (chance: 0) of the most biased words' old bias with their vectors",
    ),
}


def draw_effect(result: MitigationEffect) -> dict[str, Any]:
    """A chart for each part that has numbers before and after, one dot a side."""
    frame = result.to_frame()
    charts = {}
    for part, (title, remark) in TITLES.items():
        rows = frame[(frame["part"] == part) & frame["before"].notna() & frame["after"].notna()]
        if len(rows):
            charts[part] = _dumbbells(_sides(rows), f"{title}: {result.after}", remark, zero=part == "recovery")
    return charts


def _sides(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a number and side."""
    import pandas as pd  # noqa: PLC0415 - altair brings it along

    label = rows["of"] + ": " + rows["name"]
    parts = [
        pd.DataFrame(
            {
                "what": label,
                "side": side,
                "value": rows[side].astype(float),
                "low": rows[f"{side}_low"].astype(float),
                "high": rows[f"{side}_high"].astype(float),
            }
        )
        for side in COLOURS
    ]
    return pd.concat(parts, ignore_index=True)


def _dumbbells(sides: pd.DataFrame, title: str, remark: str, *, zero: bool) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    order = list(dict.fromkeys(sides["what"]))
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    base = alt.Chart(sides).encode(
        y=alt.Y("what:N", title=None, sort=order, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("side:N", sort=list(COLOURS)),
        color=alt.Color("side:N", title=None, scale=scale, sort=list(COLOURS)),
        tooltip=["what", "side", "value", "low", "high"],
    )
    x = alt.Scale(zero=zero, nice=True)
    chart = alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="value", scale=x), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("value:Q", scale=x)),
    )
    return styled(chart.properties(width=480, height=len(order) * 26), title, remark)


DRAW = {"MitigationEffect": draw_effect}
