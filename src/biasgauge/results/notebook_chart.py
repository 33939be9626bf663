"""The first chart of a summary as a drawing for a notebook: no script, no network, on white."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonObject
from biasgauge.results.grid import WIDTHS, fitted_to_grid

if TYPE_CHECKING:
    from biasgauge.results.blocks import Forest
    from biasgauge.results.summary import Summary

_NAMED = 4
"""Charts that are named below the one that is drawn."""
_COLORS = {"good": "#1b6e46", "caution": "#8a5a00", "bad": "#a3262a", "quiet": "#5c6470", "plain": "#1c1e21"}
_ROW, _LABEL = 26, 360
_LOOK = "background:#fff;display:inline-block;max-width:100%;overflow-x:auto;padding:8px;border-radius:4px"
_MISSING = '<p><i>Its charts are drawn here with the extra figures: pip install "biasgauge[figures]".</i></p>'


def notebook_chart(summary: Summary) -> str:
    """The forest plot of a summary, or its first chart, and how to get the others; empty where it has none.

    A notebook does not say whether it is dark, so a chart stands on white.
    """
    charts = dict(summary.named_charts())
    forest = next(_forests(summary), None)
    if not charts and forest is None:
        return ""
    if missing := missing_extra():
        return missing
    names = list(charts)
    figure = _figure(forest_spec(forest), forest.title) if forest is not None else drawing(charts[names.pop(0)].drawn())
    shown = ", ".join(f"figures()[{name!r}]" for name in names[:_NAMED])
    remainder = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    more = f"<p>Further charts: {escape(shown)}{remainder}.</p>" if names else ""
    return figure + more


def missing_extra() -> str:
    """Sentence that says how to install the extra `figures`; empty where it is installed."""
    return _MISSING if find_spec("vl_convert") is None else ""


def drawing(chart: Any) -> str:  # noqa: ANN401 - a chart
    """An Altair chart as a drawing: no script, no network, on white."""
    spec = fitted_to_grid(chart).to_dict()
    title = spec.get("title", {}).get("text", "")
    return _figure(spec, " ".join(title) if isinstance(title, list) else title)


def _figure(spec: JsonObject, title: str) -> str:
    label = escape(title, quote=True)
    return (
        f'<figure role="img" aria-label="{label}" style="margin:8px 0"><div style="{_LOOK}">{_svg(spec)}</div></figure>'
    )


def _forests(summary: Summary) -> Iterator[Forest]:
    """Forest plots of the summary and its parts that have something to draw."""
    if summary.forest is not None and any(row.drawn and row.estimate is not None for row in summary.forest.rows):
        yield summary.forest
    for section in summary.parts:
        yield from _forests(section)


def _svg(spec: JsonObject) -> str:
    from vl_convert import vegalite_to_svg

    return re.sub(r"<\?xml[^>]*>|<!DOCTYPE[^>]*>", "", vegalite_to_svg(spec))


def forest_spec(forest: Forest) -> dict[str, Any]:
    """A forest plot as Vega-Lite: a line for each question with its interval, and what was decided."""
    rows = [
        {
            "claim": row.claim,
            "mark": row.mark.replace("-", " "),
            "color": _COLORS[row.tone],
            **{end: getattr(row.estimate, end) for end in ("value", "low", "high")},
        }
        for row in forest.rows
        if row.drawn and row.estimate is not None
    ]
    band = [{"from": -forest.band, "to": forest.band}] if forest.band else []
    across: dict[str, Any] = {"type": "quantitative", "title": forest.axis}
    down = {"field": "claim", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": _LABEL}}
    color = {"field": "color", "type": "nominal", "scale": None}
    marked = {"field": "mark", "type": "nominal", "sort": None, "title": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": forest.title, "anchor": "start", "offset": 10},
        "width": WIDTHS["full"] - _LABEL - 30,
        "height": {"step": _ROW},
        "data": {"values": rows},
        "layer": [
            {
                "data": {"values": band},
                "mark": {"type": "rect", "color": "#e6e9ec"},
                "encoding": {"x": {"field": "from", **across}, "x2": {"field": "to"}},
            },
            {"mark": {"type": "rule", "color": "#9aa09a"}, "encoding": {"x": {"datum": 0, **across}}},
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": down, "x": {"field": "low", **across}, "x2": {"field": "high"}, "color": color}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
             "encoding": {"y": down, "x": {"field": "value", **across}, "color": color}},
            {"mark": {"type": "text", "align": "left", "baseline": "bottom", "dy": -4, "fontSize": 10},
             "encoding": {"y": down, "x": {"field": "value", **across}, "text": marked, "color": color}},
        ],
        "config": {"view": {"stroke": None}, "axis": {"grid": False}},
    }  # fmt: skip
