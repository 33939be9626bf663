"""Text of the cells of a table, by the kind of their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.results.names import registered_name
from biasgauge.results.wording import MISSING, estimate_text, number_text, p_text, share_text, words_text

if TYPE_CHECKING:
    from biasgauge.results.summary import Column, Table

NUMERIC = frozenset({"number", "count", "share", "p", "estimate"})
"""Kinds of columns that stand on the right."""


def cell_text(value: Any, column: Column, most_words: int | None = None) -> str:  # noqa: ANN401, PLR0911 - a line a kind
    """A cell in words; an interval stands behind its number, a reason in the place of one that is undefined."""
    if value is None:
        return MISSING
    if hasattr(value, "text"):  # a look of its own
        return str(value.text)
    if column.kind == "estimate":
        return estimate_text(value, column.digits)
    if column.kind == "p":
        return p_text(value)
    if column.kind == "share":
        return share_text(value, max(column.digits - 2, 0))
    if column.kind == "name":
        return registered_name(str(value))
    if column.kind == "words":
        return words_text(value, most_words)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number_text(value, column.digits) if isinstance(value, float) else str(value)


def table_texts(table: Table) -> list[list[str]]:
    """Every cell of a table in words."""
    return [[cell_text(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
