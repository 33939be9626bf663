"""Numbers with their intervals, a row each: the chart that words, tests, gaps, tasks and correlations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgauge.results.drawing import altair, marks_of, zero_line
from biasgauge.results.summary import Chart

if TYPE_CHECKING:
    import pandas as pd

COLORS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7d5ba6", "#b58900", "#4b4b4b", "#d16ba5", "#2aa198"]


def interval_chart(
    frame: pd.DataFrame,
    x: Any,  # noqa: ANN401 - the library has no stubs
    *,
    zero: bool = True,
    ticks: str = "",
    panel: str = "",
    columns: int = 2,
    width: int = 320,
    step: Any = None,  # noqa: ANN401 - as above
    **channels: Any,  # noqa: ANN401 - as above
) -> Any:  # noqa: ANN401 - as above
    """A dot and an interval (columns low and high) for each row of a frame, at the height of its `what`.

    Rows of the `kind` that `ticks` names are ticks, not dots; the column `panel` makes panels if it has several values,
    `columns` of them side by side. `channels` are color and others; one color for all by default.
    """
    alt = altair()
    rows = alt.Y("what:N", title=None, sort=list(dict.fromkeys(frame["what"])), axis=alt.Axis(grid=True))
    tooltip = [name for name in frame.columns if name != "kind"]
    shapes = {name: channels.pop(name) for name in ("shape",) if name in channels}  # of dots; a line has none
    base = alt.Chart().encode(y=rows, tooltip=tooltip, **{"color": alt.value(COLORS[0]), **channels})
    layers = [zero_line()] if zero else []
    layers.append(base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q"))
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(x=x, **shapes)
    if ticks:
        marks = base.mark_tick(thickness=2, size=12).encode(x=x, color=alt.value(COLORS[1]))
        layers.append(marks.transform_filter(f"datum.kind === '{ticks}'"))
        dots = dots.transform_filter(f"datum.kind !== '{ticks}'")
    chart = alt.layer(*layers, dots, data=frame).properties(width=width, height=step or alt.Step(22))
    panels = list(dict.fromkeys(frame[panel])) if panel in frame else []
    if len(panels) > 1:
        return chart.facet(facet=alt.Facet(f"{panel}:N", title=None, sort=panels), columns=columns)
    return chart


def chart_of_rows(
    name: str,
    title: str,
    remark: str,
    axis: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    number: str = "value",
    color: str = "",
    meanings: Mapping[str, tuple[str, str]] | None = None,
    panel: str = "",
) -> Chart:
    """The chart of a summary whose numbers stand in rows: a dot for each, and its interval where it has one.

    Args:
        name: what files of it are called.
        title: the claim that it shows.
        remark: how to read it.
        axis: what the axis measures.
        rows: `what` is measured, the number, and its `low` and `high`, None where it has no interval; drawn in order.
        number: the key of the number.
        color: a key whose values have a color each; empty: one color.
        meanings: shape and color of each of these values, where they mean something.
        panel: a key whose values have a panel each; empty: one panel.
    """

    def draw() -> Any:  # noqa: ANN401 - the library has no stubs
        import pandas as pd

        alt = altair()
        frame = pd.DataFrame([{"low": None, "high": None, **row} for row in rows])
        kinds = list(dict.fromkeys(frame[color])) if color else []
        looks = meanings or {kind: ("circle", COLORS[index % len(COLORS)]) for index, kind in enumerate(kinds)}
        channels = marks_of(looks, color, kinds) if color else {}
        return interval_chart(frame, alt.X(f"{number}:Q", title=axis), panel=panel, width=420, **channels)

    return Chart(name, title, remark, draw)
