"""Charts of a comparison: trends, differences, and the groups side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from biasgauge import results
from biasgauge.analyses.compare.rows import Compared, Difference
from biasgauge.analyses.compare.verdicts import UNITS

if TYPE_CHECKING:
    from biasgauge.analyses.compare.result import Comparison

_WIDTH = 440


def less(row: Compared) -> str:
    """Name the number of a row: "late less early", or "slope"."""
    return f"{row.second} less {row.first}" if isinstance(row, Difference) else "slope"


def draw_differences(result: Comparison) -> results.AltairChart:
    """Differences with their intervals; a thick line for that of these very words."""
    import pandas as pd

    alt = results.altair()
    pairs = {(row.first, row.second) for row in result.differences}
    rows = [
        {
            "what": result.title_of(row.question) + (f": {less(row)}" if len(pairs) > 1 else ""),
            "value": row.decisive.value, "low": row.decisive.low, "high": row.decisive.high,
            "these_low": row.these_words.low, "these_high": row.these_words.high, "p": row.p_decisive,
        }
        for row in result.differences
        if row.decisive.value is not None
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    of_pair = "" if len(pairs) > 1 else f": {less(result.differences[0])}"
    x = alt.X("value:Q", title=f"difference, {UNITS[result.settings['measure']]}{of_pair}")
    color, y = alt.value(results.ACCENT), _title_rows()
    chart = results.interval_chart(frame, x, width=_WIDTH, step=alt.Step(44), color=color, y=y)
    thick = alt.Chart(frame).mark_rule(strokeWidth=5, opacity=0.45, color=results.ACCENT)
    return chart + thick.encode(y=y, x="these_low:Q", x2="these_high:Q")


def _title_rows() -> Any:  # noqa: ANN401 - the library has no stubs
    """Rows of questions, whose labels break where their titles have a colon."""
    alt = results.altair()
    axis = alt.Axis(grid=True, labelLimit=280, labelExpr="split(datum.label, ': ')")
    return alt.Y("what:N", sort=None, title=None, axis=axis)


def draw_groups(result: Comparison) -> results.AltairChart:
    """Contrasts of all groups with their intervals, by question."""
    import pandas as pd

    alt = results.altair()
    rows = [
        {"what": result.title_of(row.question), "group": row.group}
        | {name: getattr(row.decisive, name) for name in ("value", "low", "high")}
        for row in result.contrasts
        if row.decisive.value is not None
    ]
    names = [group.name for group in result.groups]
    measure = result.settings["measure"]
    x = alt.X("value:Q", title=f"{measure.replace('_', ' ')}, {UNITS[measure]}")
    colors = {"range": [results.SECOND, results.ACCENT]} if len(names) == 2 else {"scheme": "dark2"}
    color = alt.Color("group:N", sort=names, title=None, scale=alt.Scale(domain=names, **colors))
    channels = {"color": color, "yOffset": alt.YOffset("group:N", sort=names), "y": _title_rows()}
    return results.interval_chart(pd.DataFrame(rows), x, width=_WIDTH, step=alt.Step(18), **channels)


def draw_trends(result: Comparison) -> results.AltairChart:
    """Contrasts of groups over their positions, with the line of the trend; a panel for each question."""
    import pandas as pd

    alt = results.altair()
    points = []
    for row in result.contrasts:
        value = row.decisive.value
        mean = (value or 0.0) - (row.from_mean.value or 0.0)
        low, high = (None if end is None else end + mean for end in (row.from_mean.low, row.from_mean.high))
        names = {"question": row.question, "group": row.group, "position": row.position}
        points.append({**names, "value": value, "low": low, "high": high})
    frames = pd.DataFrame(points), pd.DataFrame([point.to_dict() for point in result.lines])
    groups = {row.position: row.group for row in result.contrasts if row.position is not None}
    # A tick for each group, which says its name.
    named = "".join(f"datum.value == {position!r} ? {json.dumps(name)} : " for position, name in groups.items())
    axis = alt.Axis(values=list(groups), labelExpr=f"{named}''", labelOverlap=True)
    x = alt.X("position:Q", title=None, scale=alt.Scale(zero=False, nice=False, padding=14), axis=axis)
    title = f"{result.settings['measure'].replace('_', ' ')}, {UNITS[result.settings['measure']]}"
    y_low, y = alt.Y("low:Q", title=title), alt.Y("value:Q", title=title)
    panels = []
    for question in dict.fromkeys(row.question for row in result.contrasts):
        dots, line = (alt.Chart(frame[frame["question"] == question]).encode(x=x) for frame in frames)
        layers = [
            results.zero_line(horizontal=True),
            line.mark_area(color=results.ACCENT, opacity=0.16).encode(y=y_low, y2="high:Q"),
            line.mark_line(color=results.ACCENT).encode(y=y),
            dots.mark_rule(color=results.SECOND).encode(y=y_low, y2="high:Q"),
            dots.mark_point(filled=True, size=60, color=results.SECOND, opacity=1).encode(
                y=y, tooltip=list(frames[0].columns)
            ),
        ]
        heading = alt.TitleParams(result.title_of(question), anchor="start", fontSize=12)
        panels.append(alt.layer(*layers).properties(width=_WIDTH, height=170, title=heading))
    return alt.vconcat(*panels, spacing=14).resolve_scale(x="shared")
