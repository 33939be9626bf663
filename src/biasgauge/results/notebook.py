"""Summaries for a notebook: sentences and tables as HTML that needs no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from biasgauge.results.text import NUMERIC, cell_text
from biasgauge.results.wording import counted

if TYPE_CHECKING:
    from biasgauge.results.blocks import Quote
    from biasgauge.results.summary import Summary, Table

_MOST = 12
"""Rows of a table that a notebook shows."""
_ALIGNED = ' style="text-align:right"'


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
