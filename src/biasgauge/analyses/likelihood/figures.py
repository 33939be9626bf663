"""One figure for all results of this room: numbers with their intervals, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from biasgauge.core import Estimate
from biasgauge.results import ACCENT, AltairChart, altair, zero_line


def forest_chart(rows: Sequence[tuple[str, Estimate]], neutral: float, title: str) -> AltairChart:
    """Numbers by name with their intervals, and a line where there is no preference."""
    import pandas as pd

    alt = altair()
    columns = ["row", "value", "low", "high", "n"]
    known = [(name, e.value, e.low, e.high, e.n) for name, e in rows if e.value is not None]
    frame = pd.DataFrame(known, columns=columns)
    order = list(dict.fromkeys(name for name, _ in rows))
    y = alt.Y("row:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=alt.Axis(labelLimit=320))
    base = alt.Chart(frame).encode(y=y, tooltip=[alt.Tooltip(name) for name in columns])
    scale = alt.Scale(zero=False, nice=True)
    lines = base.transform_filter("isValid(datum.low)").mark_rule(color=ACCENT, strokeWidth=2)
    return alt.layer(
        zero_line(neutral),
        lines.encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"),
        base.mark_point(color=ACCENT, filled=True, opacity=1, size=50).encode(
            x=alt.X("value:Q", title=title, scale=scale)
        ),
    ).properties(height={"step": 20})
