"""Figures of correlation studies and of gaps: points with fitted lines, correlations and gaps with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.report.figures import altair, styled

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.extrinsic import CorrelationResult, GapComparison, GapResult

COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7d5ba6", "#b58900", "#4b4b4b", "#d16ba5", "#2aa198"]
ZERO = "#9aa09a"
MOST_PANELS = 8
"""Values of a column beyond which it makes no panels or colours of itself."""
_MOST_TOLD = 8
_STEPS = 40
_FEWEST = 3
_SAME = 1e-12


def draw_correlation(
    result: CorrelationResult, rows: str | None = None, columns: str | None = None, colour: str | None = None
) -> dict[str, Any]:
    """The points, a panel for each pair of strata columns; and the correlation of each stratum.

    Args:
        result: what `correlate` gave.
        rows: the column of `by` whose values make rows of panels; by default the first with at most 8 values.
        columns: the one that makes columns of panels; the second by default.
        colour: the one that colours points, each with its own line; the third by default, the only one if there is one.
    """
    unknown = [one for one in (rows, columns, colour) if one is not None and one not in result.by]
    if unknown:
        raise ParameterError(
            f"Panels and colours are made of {', '.join(result.by) or 'no columns'}. Got {unknown[0]!r}."
        )
    free = [name for name in result.by if name not in {rows, columns, colour}]
    many = [name for name in free if len(set(result.points[name])) > MOST_PANELS]
    free = [name for name in free if name not in many]
    if colour is None and len(free) == 1 and rows is None and columns is None:
        colour = free.pop()
    rows = rows or (free.pop(0) if free else None)
    columns = columns or (free.pop(0) if free else None)
    colour = colour or (free.pop(0) if free else None)
    return {"points": _grid(result, rows, columns, colour, [*free, *many]), "correlations": _forest(result)}


def _grid(result: CorrelationResult, rows: str | None, columns: str | None, colour: str | None, rest: list[str]) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    others = [name for name in result.points if name not in {result.x, result.y}]
    fields = {name: f"by {at}" for at, name in enumerate(others)}  # a name may hold what the library reads as code
    orders = {name: list(dict.fromkeys(one.by[name] for one in result.groups if one.by)) for name in result.by}
    frame = result.points_frame().rename(columns={result.x: "x", result.y: "y", **fields})
    named = [fields[one] for one in (rows, columns, colour) if one is not None]
    lines = _lines(frame, named, float(result.settings["level"]))
    hue = {}
    if colour is not None:
        values = orders[colour]
        scale = alt.Scale(domain=values, range=[COLOURS[at % len(COLOURS)] for at in range(len(values))])
        legend = alt.Legend(symbolOpacity=1)
        hue = {"color": alt.Color(f"{fields[colour]}:N", title=colour, scale=scale, legend=legend)}
    x = alt.X("x:Q", title=result.x, scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("y:Q", title=result.y, scale=alt.Scale(zero=False, nice=True))
    flat = {} if hue else {"color": COLOURS[0]}
    tips = [alt.Tooltip(f"{field}:N", title=name) for name, field in list(fields.items())[:_MOST_TOLD]]
    base = alt.Chart().encode(**hue)
    chart = alt.layer(
        base.mark_area(opacity=0.15, **flat)
        .encode(x=x, y=alt.Y("low:Q", title=result.y), y2="high:Q")
        .transform_filter("datum.kind === 'fit'"),
        base.mark_point(filled=True, size=26, opacity=0.65, **flat)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("x:Q", title=result.x), alt.Tooltip("y:Q", title=result.y), *tips])
        .transform_filter("datum.kind === 'point'"),
        base.mark_line(strokeWidth=2, **flat)
        .encode(x=x, y=alt.Y("fit:Q", title=result.y))
        .transform_filter("datum.kind === 'fit'"),
        data=_together(frame, lines),
    )
    small = rows is not None or columns is not None
    chart = chart.properties(width=170 if small else 420, height=130 if small else 300)
    facets: dict[str, Any] = {}
    for side, make, name in (("row", alt.Row, rows), ("column", alt.Column, columns)):
        if name is not None:
            header = alt.Header(labelFontSize=11)
            facets[side] = make(f"{fields[name]}:N", title=name, sort=orders[name], header=header)
    if facets:
        chart = chart.facet(**facets)
    over = f"; {', '.join(rest)} together" if rest else ""
    remark = (
        f"Lines: least squares with {result.settings['level']:.0%} band of the mean, points taken as independent{over}"
    )
    return styled(
        chart,
        f"Does {result.x} track {result.y}?",
        f"{remark}\nA line needs {_FEWEST} points that differ in {result.x}",
    )


def _together(frame: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - charts need it

    points = frame.assign(kind="point")
    return pd.concat([points, lines], ignore_index=True) if len(lines) else points


def _lines(frame: pd.DataFrame, named: list[str], level: float) -> pd.DataFrame:
    """Least squares in each panel and colour: the line and the band of its mean along x."""
    import numpy as np  # noqa: PLC0415 - charts need it
    import pandas as pd  # noqa: PLC0415 - charts need it
    from scipy.special import stdtrit  # noqa: PLC0415 - charts need it

    found = []
    parts = frame.groupby(named, sort=False) if named else [((), frame)]
    for key, part in parts:
        x, y = part["x"].to_numpy(float), part["y"].to_numpy(float)
        spread = float(((x - x.mean()) ** 2).sum())
        if len(x) < _FEWEST or spread <= _SAME * max(1.0, float(np.abs(x).max())) ** 2:
            continue
        slope = float((x - x.mean()) @ (y - y.mean())) / spread
        at = np.linspace(x.min(), x.max(), _STEPS)
        fit = y.mean() + slope * (at - x.mean())
        rest = y - y.mean() - slope * (x - x.mean())
        variance = float(rest @ rest) / (len(x) - 2)
        reach = float(stdtrit(len(x) - 2, (1 + level) / 2)) * np.sqrt(
            variance * (1 / len(x) + (at - x.mean()) ** 2 / spread)
        )
        labels = dict(zip(named, key if isinstance(key, tuple) else (key,), strict=True))
        rows = {"x": at, "fit": fit, "low": fit - reach, "high": fit + reach, "kind": "fit"}
        found.append(pd.DataFrame({**rows, **labels}))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _forest(result: CorrelationResult) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd  # noqa: PLC0415 - charts need it

    alt = altair()
    rows = [
        {
            "what": one.name,
            "r": one.r,
            "low": None if one.interval is None else one.interval.low,
            "high": None if one.interval is None else one.interval.high,
            "n": one.n,
            "p": one.p,
            "kind": "pooled" if not one.by else "stratum",
        }
        for one in result.groups
        if one.r is not None
    ]
    if result.levels is not None:
        for name, one in (("within strata", result.levels.within_r), ("means of strata", result.levels.between_r)):
            if one.value is not None:
                ends = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
                rows.append(
                    {
                        "what": name,
                        "r": one.value,
                        "low": ends[0],
                        "high": ends[1],
                        "n": one.n,
                        "p": one.p,
                        "kind": "level",
                    }
                )
    frame = pd.DataFrame(rows, columns=["what", "r", "low", "high", "n", "p", "kind"])
    strata = [row["what"] for row in rows if row["kind"] == "stratum"]
    order = [*strata, *(row["what"] for row in rows if row["kind"] != "stratum")]
    scale = alt.Scale(domain=["stratum", "pooled", "level"], range=[COLOURS[0], "#16324a", COLOURS[1]])
    base = alt.Chart(frame).encode(
        y=alt.Y("what:N", title=None, sort=order, axis=alt.Axis(grid=True)),
        color=alt.Color("kind:N", scale=scale, legend=None),
        tooltip=["what", "r", "low", "high", "n", "p"],
    )
    x = alt.X("r:Q", title="correlation", scale=alt.Scale(domain=[-1, 1]))
    chart = alt.layer(
        alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=x),
        data=frame,
    ).properties(width=420, height=alt.Step(22))
    method = {"pearson": "Pearson's r", "spearman": "Spearman's rho"}[result.settings["method"]]
    over = "points" if result.settings["unit"] is None else f"{result.settings['unit']} as the unit"
    remark = f"{method} with {result.settings['level']:.0%} interval ({result.settings['interval']} over {over})"
    return styled(chart, f"Correlation of {result.x} with {result.y}", remark)


def draw_gaps(result: GapResult) -> dict[str, Any]:
    """Every gap with its interval, a row for each metric and class, a panel for each comparison."""
    frame = result.to_frame()
    return {"gaps": _gap_chart(frame, "value", "Gap between groups: rate of the first − rate of the second", result)}


def draw_gap_changes(result: GapComparison) -> dict[str, Any]:
    """Every difference of gaps with its interval."""
    frame = result.to_frame()
    return {"gap_changes": _gap_chart(frame, "difference", "How gaps differ: second predictions − first", result)}


def _gap_chart(frame: pd.DataFrame, value: str, title: str, result: Any) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    axis = "gap" if value == "value" else "difference of gaps"
    frame = frame[frame[value].notna()]
    names = frame[["metric", "of", "a", "b"]].to_dict("records")
    what = [one["metric"].replace("_", " ") + ("" if one["of"] is None else f", {one['of']}") for one in names]
    frame = frame.assign(what=what, pair=[f"{one['a']} − {one['b']}" for one in names])
    kept = frame[["what", "pair", value, "low", "high", "p_value"]]
    base = alt.Chart(kept).encode(
        y=alt.Y("what:N", title=None, sort=None, axis=alt.Axis(grid=True)), tooltip=list(kept.columns)
    )
    chart = alt.layer(
        alt.Chart().mark_rule(color=ZERO).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5, color=COLOURS[0]).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1, color=COLOURS[0]).encode(x=alt.X(f"{value}:Q", title=axis)),
        data=kept,
    ).properties(width=300, height=alt.Step(22))
    order = list(dict.fromkeys(kept["pair"]))
    if len(order) > 1:
        chart = chart.facet(facet=alt.Facet("pair:N", title=None, sort=order), columns=3)
        remark = ""
    else:
        remark = f"{order[0]}; " if order else ""
    settings = result.settings
    return styled(
        chart,
        title,
        f"{remark}{settings['level']:.0%} interval ({settings['interval']} bootstrap over items); 0 is no difference",
    )


DRAW = {"CorrelationResult": draw_correlation, "GapResult": draw_gaps, "GapComparison": draw_gap_changes}
