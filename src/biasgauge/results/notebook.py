"""Summaries for a notebook: sentences, tables and the first chart as HTML that needs no script and no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonObject
from biasgauge.results.drawing import WIDTHS, fitted_to_grid
from biasgauge.results.wording import NUMERIC, cell_text, counted

if TYPE_CHECKING:
    from biasgauge.results.forest import Forest
    from biasgauge.results.summary import Quote, Summary
    from biasgauge.results.tables import Table

_MOST = 12
"""Rows of a table that a notebook shows."""
_ALIGNED = ' style="text-align:right"'
_NAMED = 4
"""Charts that are named below the one that is drawn."""
_COLORS = {"good": "#1b6e46", "caution": "#8a5a00", "bad": "#a3262a", "quiet": "#5c6470", "plain": "#1c1e21"}
_ROW, _LABEL = 26, 360
_LOOK = "background:#fff;display:inline-block;max-width:100%;overflow-x:auto;padding:8px;border-radius:4px"
_MISSING = '<p><i>Its charts are drawn here with the extra figures: pip install "biasgauge[figures]".</i></p>'


def notebook_html(summary: Summary, depth: int = 0) -> str:
    """Headline, warnings, sentences, tables and quotes; parts are folded."""
    pieces = [f"<p><b>{escape(summary.headline)}</b></p>"] if summary.headline else []
    pieces += [f"<p><i>note: {escape(warning)}</i></p>" for warning in summary.warnings]
    if summary.sentences:
        pieces.append("<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in summary.sentences) + "</ul>")
    pieces += [_table(table) for table in summary.tables if table.rows]
    pieces += [_quote(quote) for quote in summary.quotes]
    for listing in summary.listings:
        pieces.append(f"<details><summary>{escape(listing.title)}</summary><pre>{escape(listing.text)}</pre></details>")
    pieces += [_section_html(section, depth + 1) for section in summary.parts]
    return "".join(pieces)


def _section_html(section: Summary, depth: int) -> str:
    """A part, folded away; what ended in something is one line, and what holds such lines stays open."""
    if section.mark:
        subject = f" ({escape(section.about)})" if section.about else ""
        return f"<p><b>{escape(section.mark)}</b> {escape(section.title)}{subject}: {escape(section.headline)}</p>"
    if any(subsection.mark for subsection in section.parts):
        return f"<h4>{escape(section.title)}</h4>{notebook_html(section, depth)}"
    return f"<details><summary>{escape(section.title)}</summary>{notebook_html(section, depth)}</details>"


def _quote(quote: Quote) -> str:
    """Text that may be taken over, and what belongs beside it."""
    caveat = f"<p><i>{escape(quote.caveat)}</i></p>" if quote.caveat else ""
    return f"<p><b>{escape(quote.title)}</b></p><blockquote><p>{escape(quote.text)}</p>{caveat}</blockquote>"


def _table(table: Table) -> str:
    shown = table.rows[: table.most or _MOST]
    head = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_ALIGNED if column.kind in NUMERIC else ''}>{escape(cell_text(value, column, 6))}</td>"
            for value, column in zip(row, table.columns, strict=True)
        )
        + "</tr>"
        for row in shown
    )
    more = len(table.rows) - len(shown)
    notes = [table.note] if table.note else []
    notes += [f"… and {counted(more, 'more row')}; to_frame() has all of them."] if more else []
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<tr>{head}</tr>{body}</table>" + "".join(f"<p>{escape(note)}</p>" for note in notes)


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
