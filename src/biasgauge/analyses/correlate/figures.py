"""Figures of correlation studies: points with fitted lines, correlations with their intervals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.results import COLORS, AltairChart, Chart, Column, Table, altair, interval_chart, level_text
from biasgauge.stats import SAME

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.correlate.result import CorrelationResult

MOST_PANELS = 8
"""Values of a column beyond which it makes no panels or colors of itself."""
MOST_LISTED = 2_000
"""Points beyond which they are left to the files."""
_FEWEST = 3


def correlation_charts(
    result: CorrelationResult, rows: str | None = None, columns: str | None = None, color: str | None = None
) -> tuple[Chart, ...]:
    """The points, a panel for each pair of strata columns; and the correlation of each stratum.

    By default the first column of `by` with at most 8 values makes rows of panels, the second columns, and the third
    (or the only one) colors points, each color with its own line. A result that was read back has no points, and only
    the correlations.
    """
    if unknown := [name for name in (rows, columns, color) if name is not None and name not in result.by]:
        raise ParameterError(
            f"Panels and colors are made of {', '.join(result.by) or 'no columns'}. Got {unknown[0]!r}."
        )
    level = result.settings["level"]
    method = {"pearson": "Pearson's r", "spearman": "Spearman's rho"}[result.settings["method"]]
    unit = "points" if result.settings["unit"] is None else f"{result.settings['unit']} as the unit"
    forest = Chart(
        "correlations",
        f"Correlation of {result.x} with {result.y}",
        f"{method} with {level_text(level)} interval ({result.settings['interval']} over {unit})",
        partial(_draw_forest, result),
    )
    forests = (forest,) if any(group.r is not None for group in result.groups) else ()
    if not result.points:
        return forests
    free = [name for name in result.by if name not in {rows, columns, color}]
    many = [name for name in free if len(set(result.points[name])) > MOST_PANELS]
    free = [name for name in free if name not in many]
    if color is None and len(free) == 1 and rows is None and columns is None:
        color = free.pop()
    rows = rows or (free.pop(0) if free else None)
    columns = columns or (free.pop(0) if free else None)
    color = color or (free.pop(0) if free else None)
    pooled_columns = [*free, *many]
    over = f"; {', '.join(pooled_columns)} together" if pooled_columns else ""
    points = Chart(
        "points",
        f"Does {result.x} track {result.y}?",
        f"Lines: least squares with {level_text(level)} band of the mean, points taken as independent{over}\n"
        f"A line needs {_FEWEST} points that differ in {result.x}",
        partial(_draw_points, result, rows, columns, color),
        numbers=partial(_numbers, result, [name for name in (rows, columns, color) if name is not None]),
    )
    return (points, *forests)


def _numbers(result: CorrelationResult, named: list[str]) -> tuple[Table, ...]:
    """The points under their own names, and both ends of each line with the band of the mean there."""
    frame = result.points_frame()
    tables = []
    if len(frame) <= MOST_LISTED:
        columns = [
            Column(str(name), "number" if values.dtype.kind == "f" else "text", 3) for name, values in frame.items()
        ]
        tables.append(Table.of("points", "The points", columns, list(frame.itertuples(index=False))))
    fields = frame.rename(columns={result.x: "x", result.y: "y"})
    rows = []
    lines = _fit_lines(fields, named, float(result.settings["level"]))
    for key, line in lines.groupby(named, sort=False) if named and len(lines) else [((), lines)] if len(lines) else []:
        label = ", ".join(map(str, key if isinstance(key, tuple) else (key,))) or "all points"
        rows += [(label, *line.iloc[end][["x", "fit", "low", "high"]]) for end in (0, -1)]
    heads = [Column(name, "number", 3) for name in (result.x, f"{result.y} on the line", "low", "high")]
    title = "The lines: their ends, and the band of the mean"
    return (*tables, Table.of("lines", title, ["line", *heads], rows))


def _draw_points(result: CorrelationResult, rows: str | None, columns: str | None, color: str | None) -> AltairChart:
    import pandas as pd

    alt = altair()
    columns_shown = [name for name in result.points if name not in {result.x, result.y}]
    # a name may hold what the library reads as code
    fields = {name: f"by {index}" for index, name in enumerate(columns_shown)}
    orders = {name: list(dict.fromkeys(group.by[name] for group in result.groups if group.by)) for name in result.by}
    frame = result.points_frame().rename(columns={result.x: "x", result.y: "y", **fields})
    named = [fields[name] for name in (rows, columns, color) if name is not None]
    lines = _fit_lines(frame, named, float(result.settings["level"]))
    points = frame.assign(kind="point")
    hue = {}
    if color is not None:
        values = orders[color]
        scale = alt.Scale(domain=values, range=[COLORS[index % len(COLORS)] for index in range(len(values))])
        legend = alt.Legend(symbolOpacity=1)
        hue = {"color": alt.Color(f"{fields[color]}:N", title=color, scale=scale, legend=legend)}
    x = alt.X("x:Q", title=result.x, scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("y:Q", title=result.y, scale=alt.Scale(zero=False, nice=True))
    flat = {} if hue else {"color": COLORS[0]}
    tips = [alt.Tooltip(f"{field}:N", title=name) for name, field in list(fields.items())[:MOST_PANELS]]
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
        data=pd.concat([points, lines], ignore_index=True) if len(lines) else points,
    )
    small = rows is not None or columns is not None
    chart = chart.properties(width=170 if small else 420, height=130 if small else 300)
    facets: dict[str, Any] = {}
    for side, make, name in (("row", alt.Row, rows), ("column", alt.Column, columns)):
        if name is not None:
            header = alt.Header(labelFontSize=11)
            facets[side] = make(f"{fields[name]}:N", title=name, sort=orders[name], header=header)
    return chart.facet(**facets) if facets else chart


def _fit_lines(frame: pd.DataFrame, named: list[str], level: float) -> pd.DataFrame:
    """Least squares in each panel and color: the line ŷ(x) and the confidence band of the mean along x.

    ŷ(x) ± t · s · √(1/n + (x − x̄)² / Σ(xᵢ − x̄)²), s² the residual variance and t the quantile with n − 2 degrees of
    freedom.
    """
    import numpy as np
    import pandas as pd
    from scipy.special import stdtrit

    fits = []
    panels = frame.groupby(named, sort=False) if named else [((), frame)]
    for key, panel in panels:
        x, y = panel["x"].to_numpy(float), panel["y"].to_numpy(float)
        spread = float(((x - x.mean()) ** 2).sum())
        if len(x) < _FEWEST or spread <= SAME * max(1.0, float(np.abs(x).max())) ** 2:
            continue
        slope = float((x - x.mean()) @ (y - y.mean())) / spread
        grid = np.linspace(x.min(), x.max(), 40)
        fit = y.mean() + slope * (grid - x.mean())
        residuals = y - y.mean() - slope * (x - x.mean())
        variance = float(residuals @ residuals) / (len(x) - 2)
        quantile = float(stdtrit(len(x) - 2, (1 + level) / 2))
        half_width = quantile * np.sqrt(variance * (1 / len(x) + (grid - x.mean()) ** 2 / spread))
        labels = dict(zip(named, key if isinstance(key, tuple) else (key,), strict=True))
        rows = {"x": grid, "fit": fit, "low": fit - half_width, "high": fit + half_width, "kind": "fit"}
        fits.append(pd.DataFrame({**rows, **labels}))
    return pd.concat(fits, ignore_index=True) if fits else pd.DataFrame()


def _draw_forest(result: CorrelationResult) -> AltairChart:
    import pandas as pd

    alt = altair()
    estimates: list[tuple[str, Any, str]] = [
        (group.name, group.estimate, "stratum" if group.by else "pooled") for group in result.groups
    ]
    if result.levels is not None:
        estimates.append(("within strata", result.levels.within_r, "level"))
        estimates.append(("means of strata", result.levels.between_r, "level"))
    estimates.sort(key=lambda row: row[2] != "stratum")
    rows = [(name, r.value, r.low, r.high, r.n, r.p, kind) for name, r, kind in estimates if r.value is not None]
    frame = pd.DataFrame(rows, columns=["what", "r", "low", "high", "n", "p", "kind"])
    scale = alt.Scale(domain=["stratum", "pooled", "level"], range=[COLORS[0], "#16324a", COLORS[1]])
    color = alt.Color("kind:N", scale=scale, legend=None)
    x = alt.X("r:Q", title="correlation", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(tickCount=8))
    return interval_chart(frame, x, width=420, color=color)
