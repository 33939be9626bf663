"""Figures of gaps between groups: every gap with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.applications.correlation.figures import COLORS, ZERO
from biasgauge.results import Chart
from biasgauge.results.drawing import altair

if TYPE_CHECKING:
    from biasgauge.applications.group_gaps.result import Gap, GapChange, GapComparison, GapResult


def gap_charts(result: GapResult | GapComparison) -> tuple[Chart, ...]:
    """Every gap, or difference of gaps, with its interval: a row for each metric and class, a panel a comparison."""
    every: Sequence[Gap | GapChange] = result.gaps if hasattr(result, "gaps") else result.changes
    name, value, axis, title = (
        ("gaps", "value", "gap", "Gap between groups: rate of the first − rate of the second")
        if hasattr(result, "gaps")
        else ("gap_changes", "difference", "difference of gaps", "How gaps differ: second predictions − first")
    )
    rows = [
        {
            "what": row.metric.replace("_", " ") + ("" if row.of is None else f", {row.of}"),
            "pair": f"{row.a} − {row.b}",
            value: row.value,
            "low": row.low,
            "high": row.high,
            "p_value": row.p_value,
        }
        for row in every
        if row.value is not None
    ]
    if not rows:
        return ()
    pairs = list(dict.fromkeys(str(row["pair"]) for row in rows))
    settings = result.settings
    start = f"{pairs[0]}; " if len(pairs) == 1 else ""
    how = f"{settings['level']:.0%} interval ({settings['interval']} bootstrap over items)"
    return (Chart(name, title, f"{start}{how}; 0 is no difference", partial(_gaps, rows, value, axis, pairs)),)


def _gaps(rows: list[dict[str, Any]], value: str, axis: str, pairs: list[str]) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(rows)
    base = alt.Chart(frame).encode(
        y=alt.Y("what:N", title=None, sort=None, axis=alt.Axis(grid=True)), tooltip=list(frame.columns)
    )
    chart = alt.layer(
        alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5, color=COLORS[0]).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1, color=COLORS[0]).encode(x=alt.X(f"{value}:Q", title=axis)),
        data=frame,
    ).properties(width=300, height=alt.Step(22))
    return chart.facet(facet=alt.Facet("pair:N", title=None, sort=pairs), columns=3) if len(pairs) > 1 else chart
