"""Terms that occur in a summary, so that renderers can explain each at its first mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from biasgauge.results.terms import Term, terms_in
from biasgauge.results.text import cell_text

if TYPE_CHECKING:
    from biasgauge.results.summary import Summary, Table

_ROWS = 60
"""Rows of a table in which terms are looked for."""
_IN_WORDS = ("text", "name", "mark")


def first_met(texts: Iterable[str], explained: set[str]) -> tuple[Term, ...]:
    """The terms of some texts that are not yet known; from then on they are."""
    new = tuple(term for term in terms_in(texts) if term.name not in explained)
    explained.update(term.name for term in new)
    return new


def texts_of(summary: Summary, *, folded: bool = True) -> Iterator[str]:
    """Everything that a summary says by itself, without its parts; `folded`: also what is left to a page."""
    yield from (summary.title, summary.question, summary.headline, *summary.sentences, *summary.warnings)
    if folded:
        yield from (summary.about, summary.caveat, *summary.more)
        for chart in summary.charts:
            yield from (chart.title, chart.remark)
        for drawing in summary.drawings:
            yield from (drawing.title, drawing.remark, drawing.axis)
    if summary.forest is not None:
        yield from (summary.forest.remark, summary.forest.axis)
        for row in summary.forest.rows:
            yield from (row.claim, row.detail)
    for table in summary.tables:
        if folded or not table.folded:
            yield from _texts_of_table(table)


def printed_texts(summary: Summary) -> Iterator[str]:
    """Texts that a terminal prints of a summary and its parts."""
    yield from texts_of(summary, folded=False)
    for section in summary.other_parts:
        yield from printed_texts(section)


def _texts_of_table(table: Table) -> Iterator[str]:
    yield from (table.title, table.note)
    for column in table.columns:
        yield from (column.name, column.about)
    for row in islice(table.rows, _ROWS):
        for value, column in zip(row, table.columns, strict=True):
            if value is not None and column.kind in _IN_WORDS:
                yield cell_text(value, column)
