"""Figures of what a mitigation did: bias, side effects and what is left, before and after."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.results import Chart
from biasgauge.results.drawing import altair

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.mitigation.effects.result import MitigationEffect

COLORS = {"before": "#8a919c", "after": "#b3402a"}
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


def effect_charts(result: MitigationEffect) -> tuple[Chart, ...]:
    """A chart for each part that has numbers before and after, one dot a side."""
    parts = {row.part for row in result.rows if row.before and row.before.defined and row.after and row.after.defined}
    return tuple(
        Chart(part, f"{title}: {result.after}", remark, partial(_dumbbells, result, part))
        for part, (title, remark) in TITLES.items()
        if part in parts
    )


def _sides(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a number and side."""
    import pandas as pd

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
        for side in COLORS
    ]
    return pd.concat(parts, ignore_index=True)


def _dumbbells(result: MitigationEffect, part: str) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    frame = result.to_frame()
    sides = _sides(frame[(frame["part"] == part) & frame["before"].notna() & frame["after"].notna()])
    order = list(dict.fromkeys(sides["what"]))
    scale = alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
    base = alt.Chart(sides).encode(
        y=alt.Y("what:N", title=None, sort=order, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("side:N", sort=list(COLORS)),
        color=alt.Color("side:N", title=None, scale=scale, sort=list(COLORS)),
        tooltip=["what", "side", "value", "low", "high"],
    )
    x = alt.Scale(zero=part == "recovery", nice=True)
    chart = alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="value", scale=x), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("value:Q", scale=x)),
    )
    return chart.properties(width=480, height=len(order) * 26)
