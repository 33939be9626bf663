"""Figures of a comparison: differences with their intervals, contrasts of groups side by side, lines of trends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.results import AltairChart, Chart, altair, share_text

if TYPE_CHECKING:
    from biasgauge.analyses.compare.result import Comparison

OWN, OTHERS, ZERO = "#b3402a", "#2f6f8f", "#9aa09a"
_WIDTH = 440
_UNITS = {"contrast": "cosine units", "effect_size": "standard deviations (d)"}


def charts_of(result: Comparison) -> tuple[Chart, ...]:
    """Trends where there are any; differences; the groups side by side."""
    charts = []
    percent = share_text(result.level)
    if result.trends:
        remark = (
            f"Points: groups; line: least squares; band: {percent} interval of its slope.\n"
            "Intervals are of the distance from the mean of the groups, in which what all groups share cancels"
        )
        charts.append(Chart("trends", _claim(result), remark, partial(_trends, result)))
    if result.differences:
        title = "Differences between groups" if result.trends else _claim(result)
        remark = f"Thin: {percent} interval for other words and models; thick: for these very words. 0: no difference"
        charts.append(Chart("differences", title, remark, partial(_differences, result)))
    if result.contrasts and not result.trends:
        remark = (
            f"Points and lines: each group and its {percent} interval. 0: no association either way.\n"
            "These may overlap where a difference is shown: the words are the same, and what they share cancels"
        )
        charts.append(Chart("groups", "Each group by itself", remark, partial(_groups, result)))
    return tuple(charts)


def _claim(result: Comparison) -> str:
    rows = result.answers
    shown = sum(1 for row in rows if row.excludes())
    answer_name = "trend" if result.trends else "difference"
    if len(rows) == 1:
        title = result.title_of(rows[0].question)
        return f"{title}: {'a' if shown else 'no'} {answer_name} is shown"
    return f"{shown} of {len(rows)} {answer_name}s have intervals that exclude 0"


def _differences(result: Comparison) -> AltairChart:
    import pandas as pd

    alt = altair()
    many_pairs = len({(row.first, row.second) for row in result.differences}) > 1
    rows = [
        {
            "row": result.title_of(row.question) + (f": {row.second} − {row.first}" if many_pairs else ""),
            "value": row.value, "low": row.low, "high": row.high, "these_low": row.these_words.low,
            "these_high": row.these_words.high, "p": row.p,
        }
        for row in result.differences
        if row.value is not None
    ]  # fmt: skip
    frame = pd.DataFrame(rows).dropna(axis="columns", how="all")
    ends = result.differences[0]
    less = "" if many_pairs else f": {ends.second} less {ends.first}"
    title = f"difference, {_UNITS[result.settings['measure']]}{less}"
    x = {"title": title, "scale": alt.Scale(zero=True, nice=True)}
    base = alt.Chart(frame).encode(
        y=alt.Y("row:N", sort=None, title=None, axis=_two_lines()),
        tooltip=[alt.Tooltip(name) for name in frame.columns],
    )
    layers = [alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0.0))]
    if "low" in frame:
        layers.append(base.mark_rule(color=OWN, strokeWidth=1.5).encode(x=alt.X("low:Q", **x), x2="high:Q"))
    if "these_low" in frame:
        layers.append(
            base.mark_rule(color=OWN, strokeWidth=5, opacity=0.45).encode(
                x=alt.X("these_low:Q", **x), x2="these_high:Q"
            )
        )
    layers.append(base.mark_point(filled=True, size=70, color=OWN, opacity=1).encode(x=alt.X("value:Q", **x)))
    return alt.layer(*layers, data=frame).properties(width=_WIDTH, height=alt.Step(44 if many_pairs else 34))


def _groups(result: Comparison) -> AltairChart:
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(
        [
            {"question": result.title_of(row.question), "group": row.group, "value": row.value, "low": row.low,
             "high": row.high}
            for row in result.contrasts
            if row.value is not None
        ]
    ).dropna(axis="columns", how="all")  # fmt: skip
    names = [group.name for group in result.groups]
    colors = {"range": [OTHERS, OWN]} if len(names) == 2 else {"scheme": "dark2"}
    title = f"{result.settings['measure'].replace('_', ' ')}, {_UNITS[result.settings['measure']]}"
    x = {"title": title, "scale": alt.Scale(zero=True, nice=True)}
    base = alt.Chart(frame).encode(
        y=alt.Y("question:N", sort=None, title=None, axis=_two_lines()),
        yOffset=alt.YOffset("group:N", sort=names),
        color=alt.Color("group:N", sort=names, title=None, scale=alt.Scale(domain=names, **colors)),
        tooltip=[alt.Tooltip(name) for name in frame.columns],
    )
    layers = [alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0.0))]
    if "low" in frame:
        layers.append(base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", **x), x2="high:Q"))
    layers.append(base.mark_point(filled=True, size=70, opacity=1).encode(x=alt.X("value:Q", **x)))
    return alt.layer(*layers, data=frame).properties(width=_WIDTH, height=alt.Step(14 if len(names) > 2 else 18))


def _trends(result: Comparison) -> AltairChart:
    import pandas as pd

    alt = altair()
    means: dict[str, float] = {}
    for row in result.contrasts:
        means[row.question] = (row.value or 0.0) - (row.from_mean.value or 0.0)
    points = pd.DataFrame(
        [
            {
                "question": result.title_of(row.question), "group": row.group, "position": row.position,
                "value": row.value, "low": _raised(row.from_mean.low, means[row.question]),
                "high": _raised(row.from_mean.high, means[row.question]),
            }
            for row in result.contrasts
        ]
    )  # fmt: skip
    lines = pd.DataFrame([{**point.to_dict(), "question": result.title_of(point.question)} for point in result.lines])
    groups = {row.position: row.group for row in result.contrasts if row.position is not None}
    x = alt.X("position:Q", title=None, scale=alt.Scale(zero=False, nice=False, padding=14), axis=_named_places(groups))
    title = f"{result.settings['measure'].replace('_', ' ')}, {_UNITS[result.settings['measure']]}"
    rows = []
    for name in dict.fromkeys(points["question"]):
        question_points, line = points[points["question"] == name], lines[lines["question"] == name]
        band = (
            alt.Chart(line).mark_area(color=OWN, opacity=0.16).encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q")
        )
        middle = alt.Chart(line).mark_line(color=OWN).encode(x=x, y=alt.Y("value:Q", title=title))
        zero = alt.Chart().mark_rule(color=ZERO).encode(y=alt.datum(0.0))
        spread = (
            alt.Chart(question_points).mark_rule(color=OTHERS).encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q")
        )
        dots = (
            alt.Chart(question_points)
            .mark_point(filled=True, size=60, color=OTHERS, opacity=1)
            .encode(
                x=x,
                y=alt.Y("value:Q", title=title),
                tooltip=[alt.Tooltip(column) for column in question_points.columns],
            )
        )
        heading = alt.TitleParams(name, anchor="start", fontSize=12)
        rows.append(alt.layer(zero, band, middle, spread, dots).properties(width=_WIDTH, height=170, title=heading))
    return alt.vconcat(*rows, spacing=14).resolve_scale(x="shared")


def _named_places(groups: Mapping[float, str]) -> Any:  # noqa: ANN401 - an axis
    """A tick for each group, which says its name."""
    named = "".join(f"datum.value == {position!r} ? {json.dumps(name)} : " for position, name in groups.items())
    return altair().Axis(values=list(groups), labelExpr=f"{named}''", labelOverlap=True)


def _raised(end: float | None, by: float) -> float | None:
    return None if end is None else end + by


def _two_lines() -> Any:  # noqa: ANN401 - an axis
    """Rows whose labels break where their titles have a colon."""
    return altair().Axis(grid=True, labelLimit=280, labelExpr="split(datum.label, ': ')")
