"""The plotting library, imported late; the width grid and the looks that all charts share; marks that several use.

All figures are as wide as one column or as a page, labels included, in pages and in files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from textwrap import wrap
from typing import Any, Literal, cast

from biasgauge.errors import InputError
from biasgauge.results.names import with_display_names

AltairChart = Any
"""An Altair chart: its own types do not follow how charts are put together."""
Width = Literal["column", "full"]
WIDTHS: dict[Width, int] = {"column": 340, "full": 700}
"""Outer widths in pixels: two columns and the gap between them make a full one."""
_TRIES, _NARROWEST, _TOLERANCE = 5, 0.1, 1.0
_PANEL_KEYS = frozenset({"hconcat", "vconcat", "concat", "layer", "spec"})
_CHARACTERS: dict[Width, int] = {"column": 52, "full": 110}
"""Characters of a remark that fit on a line."""
ZERO = "#9aa09a"
"""The line of no difference, and everything that is neither one side nor the other."""
INK, SOFT = "#1c1e21", "#5c6470"
ACCENT, SECOND = "#b3402a", "#2f6f8f"
GOOD, CAUTION, BAD, NEUTRAL = "#1b6e46", "#8a5a00", "#a3262a", "#5c6470"


def altair() -> Any:  # noqa: ANN401 - the library has no stubs
    """The plotting library, or a sentence that says how to get it."""
    try:
        import altair as alt
    except ImportError as problem:  # pragma: no cover - every test environment has it
        raise InputError('Figures need altair. Install it with: pip install "biasgauge[figures]"') from problem
    return alt


def styled(chart: AltairChart, title: str, remark: str, width: Width = "full") -> AltairChart:
    """Give a chart its title, what to read from it, its width, and the looks that all have."""
    alt = altair()
    lines = [piece for line in remark.split("\n") for piece in wrap(line, _CHARACTERS[width])]
    heads = wrap(title, int(_CHARACTERS[width] * 0.75))
    return (
        on_grid(_with_display_names(chart), width)
        .properties(title=alt.TitleParams(heads if heads[1:] else title, subtitle=lines, anchor="start", offset=12))
        .configure_view(strokeOpacity=0)
        .configure_axis(gridColor="#e4e6e2", domainColor="#b9bdb6", tickColor="#b9bdb6", labelLimit=220)
        .configure_title(fontSize=15, subtitleFontSize=12, subtitleColor=SOFT)
    )


def _with_display_names(chart: AltairChart) -> AltairChart:
    spec = chart.to_dict(validate=False)
    named = with_display_names(spec)
    return chart if named == spec else altair().Chart.from_dict(named)


def on_grid(chart: AltairChart, width: Width) -> AltairChart:
    """Set the outer width of a chart where the library can do so by itself.

    A chart of panels, or one whose height follows from its rows, keeps its own width: how wide labels are is known when
    they are drawn, so `fitted_to_grid` and the page see to it then.
    """
    if _fits_itself(chart):
        fit = altair().AutoSizeParams(type="fit-x", contains="padding")
        return chart.properties(width=WIDTHS[width], autosize=fit)
    return chart.properties(usermeta={"width": width})


def fitted_to_grid(chart: AltairChart) -> AltairChart:
    """Scale the panels of a chart until its outer width, factor × panels + labels, is that of the grid."""
    import vl_convert

    if _fits_itself(chart):
        return chart
    spec = chart.to_dict()
    width = WIDTHS[spec.get("usermeta", {}).get("width", "full")]
    factor, tried = 1.0, list[tuple[float, float]]()
    for _ in range(_TRIES):
        svg = vl_convert.vegalite_to_svg(scaled_panels(spec, factor))
        tried.append((factor, float(re.findall(r'<svg[^>]*? width="([\d.]+)"', svg)[0])))
        narrowest = len(tried) > 1 and tried[-1][0] == tried[-2][0]  # labels alone are wider than the grid
        if narrowest or abs(tried[-1][1] - width) <= _TOLERANCE:
            break
        # The width is linear in the factor: step along the secant through the last two tries.
        slope = (tried[-1][1] - tried[-2][1]) / (tried[-1][0] - tried[-2][0]) if tried[1:] else tried[-1][1] / factor
        factor = max(_NARROWEST, factor + (width - tried[-1][1]) / (slope or tried[-1][1]))
    return altair().Chart.from_dict(scaled_panels(spec, tried[-1][0]))


def _fits_itself(chart: AltairChart) -> bool:
    alt = altair()
    return isinstance(chart, alt.Chart | alt.LayerChart) and not isinstance(chart.height, alt.Step)


def scaled_panels(spec: Any, factor: float) -> Any:  # noqa: ANN401 - any part of a specification
    """Copy a specification with the width of its panels multiplied; data and looks stay as they are."""
    if isinstance(spec, list):
        return [scaled_panels(item, factor) for item in spec]
    if not isinstance(spec, dict):
        return spec
    copy = {name: scaled_panels(item, factor) if name in _PANEL_KEYS else item for name, item in spec.items()}
    if isinstance(copy.get("width"), int | float):
        copy["width"] = copy["width"] * factor
    return copy


class Offline:
    """Shown as a drawing, where Altair's own charts load their scripts from a server.

    Once another renderer was chosen (`altair.renderers.enable("html")`), that one shows the chart.
    """

    def _repr_mimebundle_(self, *choices: Any, **more: Any) -> Any:  # noqa: ANN401 - as Altair has it
        from biasgauge.results.notebook import drawing, missing_extra

        if altair().renderers.active != "default":
            return cast("Any", super())._repr_mimebundle_(*choices, **more)
        return {"text/plain": f"<{type(self).__name__}>", "text/html": missing_extra() or drawing(self)}


@cache
def _offline_class(kind: Any) -> Any:  # noqa: ANN401 - a class of charts
    return type(kind.__name__, (Offline, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__})


def offline(chart: AltairChart) -> AltairChart:
    """Return the same chart, shown in notebooks without a network."""
    if isinstance(chart, Offline):
        return chart
    copy = chart.copy(deep=False)
    # what is set in the usual way becomes content of the chart
    kind: Any = type(chart)
    object.__setattr__(copy, "__class__", _offline_class(kind))
    return copy


def top_legend() -> Any:  # noqa: ANN401 - a legend
    """Legend in one line above the chart."""
    return altair().Legend(orient="top", title=None, direction="horizontal", columns=6, symbolOpacity=1)


def zero_line(at: float = 0.0, *, horizontal: bool = False) -> AltairChart:
    """The line of no difference."""
    alt = altair()
    rule = alt.Chart().mark_rule(color=ZERO, strokeWidth=1.5)
    return rule.encode(y=alt.datum(at)) if horizontal else rule.encode(x=alt.datum(at))


def marks_of(meanings: Mapping[str, tuple[str, str]], field: str, values: Sequence[str]) -> dict[str, Any]:
    """Shape and color that say the same, for the values of a field that occur.

    Args:
        meanings: value → shape and color.
        field: which field of the data.
        values: those that occur.
    """
    alt = altair()
    order = [name for name in meanings if name in set(values)]
    shape, color = ([meanings[name][index] for name in order] for index in (0, 1))
    legend = top_legend() if len(order) > 1 else None
    return {
        "shape": alt.Shape(f"{field}:N", scale=alt.Scale(domain=order, range=shape), legend=legend),
        "color": alt.Color(f"{field}:N", scale=alt.Scale(domain=order, range=color), legend=legend),
    }


def spelled(name: str) -> str:
    """A pair or an interaction as a reader writes it: "he–she" for "he~she", "word × pair" for "word:pair"."""
    return name.replace("~", "–").replace(":", " × ")


def with_right_labels(chart: AltairChart, frame: Any, row: str, order: Sequence[str], labels: Mapping[str, str]) -> Any:  # noqa: ANN401 - charts, a frame
    """A chart of rows with words at the right end of each row, as a forest plot has its numbers.

    Args:
        chart: whose rows are the values of a field.
        frame: its data.
        row: the field.
        order: its values from top to bottom.
        labels: what stands at the right of each.
    """
    alt = altair()
    words = f"{json.dumps(dict(labels))}[datum.value]"
    axis = alt.Axis(
        orient="right", labelExpr=words, ticks=False, domain=False, grid=False, labelLimit=260, labelPadding=9
    )
    rows = alt.Chart(frame).mark_point(opacity=0, tooltip=False)
    right = rows.encode(y=alt.Y(f"{row}:N", sort=list(order), title=None, axis=axis))
    return alt.layer(chart, right).resolve_scale(y="independent")
