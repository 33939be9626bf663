"""The width grid of all figures: two outer widths, labels included, in pages and in files."""

from __future__ import annotations

import re
from typing import Any, Literal

Width = Literal["column", "full"]
WIDTHS: dict[Width, int] = {"column": 340, "full": 700}
"""Outer widths in pixels: two columns and the gap between them make a full one."""
_TRIES, _NARROWEST, _NEAR = 5, 0.1, 1.0
_PARTS = frozenset({"hconcat", "vconcat", "concat", "layer", "spec"})


def on_grid(chart: Any, width: Width) -> Any:  # noqa: ANN401 - a chart
    """The chart at a width of the grid, labels included, where the library can see to it by itself.

    A chart of panels, or one whose height follows from its rows, keeps its own width: how wide labels are is known when
    they are drawn, so `fitted_to_grid` and the page see to it then.
    """
    import altair as alt

    if _fits_itself(chart):
        fit = alt.AutoSizeParams(type="fit-x", contains="padding")
        return chart.properties(width=WIDTHS[width], autosize=fit)
    return chart.properties(usermeta={"width": width})


def fitted_to_grid(chart: Any) -> Any:  # noqa: ANN401 - a chart
    """The chart with panels so wide that it is as wide as the grid: outer width = factor × panels + labels."""
    import altair as alt
    import vl_convert

    if _fits_itself(chart):
        return chart
    spec = chart.to_dict()
    width = WIDTHS[spec.get("usermeta", {}).get("width", "full")]
    factor, tried = 1.0, list[tuple[float, float]]()
    for _ in range(_TRIES):
        drawn = vl_convert.vegalite_to_svg(scaled_panels(spec, factor))
        tried.append((factor, float(re.findall(r'<svg[^>]*? width="([\d.]+)"', drawn)[0])))
        narrowest = len(tried) > 1 and tried[-1][0] == tried[-2][0]  # labels alone are wider than the grid
        if narrowest or abs(tried[-1][1] - width) <= _NEAR:
            break
        slope = (tried[-1][1] - tried[-2][1]) / (tried[-1][0] - tried[-2][0]) if tried[1:] else tried[-1][1] / factor
        factor = max(_NARROWEST, factor + (width - tried[-1][1]) / (slope or tried[-1][1]))
    return alt.Chart.from_dict(scaled_panels(spec, tried[-1][0]))


def _fits_itself(chart: Any) -> bool:  # noqa: ANN401 - a chart
    import altair as alt

    return isinstance(chart, alt.Chart | alt.LayerChart) and not isinstance(chart.height, alt.Step)


def scaled_panels(spec: Any, factor: float) -> Any:  # noqa: ANN401 - any part of a specification
    """A copy of a specification whose panels are so many times as wide; data and looks stay as they are."""
    if isinstance(spec, list):
        return [scaled_panels(item, factor) for item in spec]
    if not isinstance(spec, dict):
        return spec
    copy = {name: scaled_panels(item, factor) if name in _PARTS else item for name, item in spec.items()}
    if isinstance(copy.get("width"), int | float):
        copy["width"] = copy["width"] * factor
    return copy
