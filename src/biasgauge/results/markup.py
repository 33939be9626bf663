"""Summaries as text for other programs: Markdown, CSV, plain text."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

from biasgauge.io import csv_text
from biasgauge.results.wording import NUMERIC, cell_text, table_texts

if TYPE_CHECKING:
    from biasgauge.results.summary import Summary
    from biasgauge.results.tables import Table


def markdown(summary: Summary, depth: int = 1) -> str:
    """The whole summary as Markdown."""
    lines = [f"{'#' * min(depth, 6)} {summary.title}", ""]
    if summary.headline:
        lines += [f"**{_escaped(summary.headline)}**", ""]
    lines += [f"> {_escaped(warning)}\n" for warning in (*filter(None, [summary.caveat]), *summary.warnings)]
    lines += [f"- {tile.value} {_escaped(tile.label)}" for tile in summary.tiles] + [""] * bool(summary.tiles)
    if summary.forest is not None:
        lines += [markdown_table(summary.forest.table()), ""]
    if summary.sentences:
        lines += [*(f"- {_escaped(sentence)}" for sentence in summary.sentences), ""]
    for table in summary.tables:
        lines += [markdown_table(table), ""]
    for quote in summary.quotes:
        title = "" if quote.text.startswith(quote.title) else f"{quote.title}: "  # some begin with it
        lines += [f"{_escaped(title + quote.text)} *{_escaped(quote.caveat)}*", ""]
    for listing in summary.listings:
        lines += [f"{_escaped(listing.title)}:", "", *(f"    {line}" for line in listing.text.split("\n")), ""]
    lines += [markdown(section, depth + 1) for section in summary.parts]
    return "\n".join(lines)


def markdown_table(table: Table) -> str:
    """One table with its title above and its note below."""
    rules = ["---:" if column.kind in NUMERIC else "---" for column in table.columns]
    rows = [[column.name for column in table.columns], rules]
    rows += [[_escaped(text) for text in row] for row in table_texts(table)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(
        [*([f"*{table.title}*", ""] if table.title else []), *lines, *(["", table.note] if table.note else [])]
    )


def table_csv(table: Table) -> str:
    """One table as CSV: numbers as they are, an estimate as its value, ends and reason in columns of their own."""
    import pandas as pd

    rows = []
    for row in table.rows:
        cells: dict[str, object] = {}
        for value, column in zip(row, table.columns, strict=True):
            if column.kind == "estimate":
                for name in ("value", "low", "high", "reason"):
                    key = column.name if name == "value" else f"{column.name} {name}"
                    cells[key] = None if value is None else getattr(value, name)
            else:
                plain = getattr(value, "value", value)
                cells[column.name] = cell_text(plain, column) if column.kind == "words" and plain is not None else plain
        rows.append(cells)
    return csv_text(pd.DataFrame(rows))


def plain_text(summary: Summary, width: int = 100) -> str:
    """The summary as a terminal shows it, without colors."""
    from rich.console import Console

    from biasgauge.results.terminal import print_summary

    buffer = StringIO()
    print_summary(Console(file=buffer, width=width, highlight=False, emoji=False, color_system=None), summary)
    return buffer.getvalue()


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_|<>])", r"\\\1", text)
