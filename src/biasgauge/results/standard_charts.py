"""Charts of numbers with their intervals, a row each, which several results share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgauge.results.drawing import (
    AltairChart,
    altair,
    marks_of,
    with_right_labels,
    zero_line,
)
from biasgauge.results.summary import Chart

if TYPE_CHECKING:
    import pandas as pd

COLORS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7d5ba6", "#b58900", "#4b4b4b", "#d16ba5", "#2aa198"]


def interval_chart(
    frame: pd.DataFrame,
    x: Any,  # noqa: ANN401 - a title, or a channel of a library without stubs
    *,
    row: str = "what",
    value: str = "value",
    ends: tuple[str, str] = ("low", "high"),
    order: Sequence[str] | None = None,
    lines: Sequence[float] = (0.0,),
    offset: str = "",
    ticks: str = "",
    panel: str = "",
    columns: int = 2,
    labels: Mapping[str, str] | None = None,
    **channels: Any,  # noqa: ANN401 - as above
) -> AltairChart:
    """Draw a dot and an interval for each row of a frame: a forest plot.

    Args:
        frame: the numbers.
        x: title of the axis, or the whole channel of the number.
        row: column of the names of rows.
        value: column of the number, where `x` is a title.
        ends: columns of the ends of the interval; where they are empty, there are dots alone.
        order: names of rows from top to bottom; by default as in the frame.
        lines: values at which a gray line stands, such as no difference.
        offset: column whose values stand side by side within a row, such as models.
        ticks: rows of this `kind` are ticks, not dots.
        panel: column that makes panels if it has several values.
        columns: panels side by side.
        labels: text at the right end of each row.
        channels: color, shape and others; one color for all by default. `width` and `step` are sizes in pixels.
    """
    alt = altair()
    width, step = channels.pop("width", 320), channels.pop("step", None) or alt.Step(22)
    names = list(dict.fromkeys(frame[row])) if order is None else list(order)
    base = alt.Chart().encode(
        y=alt.Y(f"{row}:N", title=None, sort=names, axis=alt.Axis(grid=True)),
        tooltip=[name for name in frame.columns if name != "kind"],
        **({"yOffset": alt.YOffset(f"{offset}:N", sort=None)} if offset else {}),
    )
    shapes = {name: channels.pop(name) for name in ("shape",) if name in channels}  # of dots; a line has none
    base = base.encode(**{"color": alt.value(COLORS[0]), **channels})
    number = alt.X(f"{value}:Q", title=x) if isinstance(x, str) else x
    layers = [zero_line(line) for line in lines]
    if frame[ends[0]].notna().any():
        layers.append(base.mark_rule(strokeWidth=1.5).encode(x=alt.X(f"{ends[0]}:Q"), x2=f"{ends[1]}:Q"))
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(x=number, **shapes)
    if ticks:
        marks = base.mark_tick(thickness=2, size=12).encode(x=number, color=alt.value(COLORS[1]))
        layers.append(marks.transform_filter(f"datum.kind === '{ticks}'"))
        dots = dots.transform_filter(f"datum.kind !== '{ticks}'")
    chart = alt.layer(*layers, dots, data=frame).properties(width=width, height=step)
    panels = list(dict.fromkeys(frame[panel])) if panel in frame else []
    if len(panels) > 1:
        return chart.facet(facet=alt.Facet(f"{panel}:N", title=None, sort=panels), columns=columns)
    return chart if labels is None else with_right_labels(chart, frame, row, names, labels)


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
    **settings: Any,  # noqa: ANN401 - those of `interval_chart`
) -> Chart:
    """Chart of a summary whose numbers stand in rows: a dot for each, and its interval where it has one.

    Args:
        name: base name of its files.
        title: the claim that it shows.
        remark: advice on reading it.
        axis: title of the axis.
        rows: `what` is measured, the number, and its `low` and `high`, None where it has no interval; drawn in order.
        number: the key of the number.
        color: a key whose values have a color each; empty: one color.
        meanings: shape and color of each of these values, where they mean something.
        settings: further ones of `interval_chart`, such as `panel`, `lines` and `offset`.
    """

    def draw() -> AltairChart:
        import pandas as pd

        frame = pd.DataFrame([{**row, "low": row.get("low"), "high": row.get("high")} for row in rows])
        kinds = list(dict.fromkeys(frame[color].dropna())) if color else []
        looks = meanings or {kind: ("circle", COLORS[index % len(COLORS)]) for index, kind in enumerate(kinds)}
        channels = marks_of(looks, color, kinds) if kinds else {}
        return interval_chart(frame, axis, value=number, **{"width": 420, **settings, **channels})

    return Chart(name, title, remark, draw)
