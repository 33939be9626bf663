"""Summaries for a terminal: the answer first, tables that fit its width, marks in color."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.results.encodings import shown_as
from biasgauge.results.terms import Term, printed_texts, terms_in
from biasgauge.results.wording import NUMERIC, cell_text, estimate_text, words_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from biasgauge.results.forest import Forest
    from biasgauge.results.summary import Summary
    from biasgauge.results.tables import Column, Table

_STYLES = {"good": "green", "caution": "yellow", "bad": "red", "quiet": "dim", "plain": ""}
_WORDS = 4
"""Words of a list that a cell shows."""
_NARROWEST = 8
"""Characters that a column of text keeps where space is short."""
_RIGHT = NUMERIC - {"estimate"}


def print_summary(screen: Console, summary: Summary, *, terms: bool = True) -> None:
    """Headline, warnings, sentences, tables, then each part under its title; last, what the terms mean."""
    _print_text(screen, summary.headline, "bold")
    for warning in summary.warnings:
        _print_text(screen, f"note: {warning}", "yellow")
    _print_body(screen, summary, brief=False)
    if terms:
        _print_terms(screen, terms_in(printed_texts(summary)))


def _print_terms(screen: Console, terms: Sequence[Term]) -> None:
    """A line for each term that was met."""
    if terms:
        screen.print()
    for term in terms:
        _print_text(screen, f"{term.name}: {term.line}", "dim")


def _print_body(screen: Console, summary: Summary, *, brief: bool) -> None:
    """Sentences, tables and parts; briefly: sentences, and parts that ended in something."""
    if summary.forest is not None:
        print_forest(screen, summary.forest)
    for sentence in summary.sentences:
        _print_text(screen, f"- {sentence}")
    for table in summary.tables:
        if table.rows and not table.folded and not brief:
            screen.print()
            print_table(screen, table)
    for section in summary.other_parts:
        if section.mark:
            _print_marked(screen, section)
        elif not brief and not (summary.brief and _is_silent(section)):
            screen.print()
            print_title(screen, section.title, section.question)
            if section.headline:
                _print_text(screen, section.headline)
            for warning in () if summary.brief else section.warnings:
                _print_text(screen, f"note: {warning}", "yellow")
            _print_body(screen, section, brief=summary.brief)


def _is_silent(section: Summary) -> bool:
    """Return whether a part has nothing but tables and charts."""
    return not (section.headline or section.sentences or section.parts)


def print_forest(screen: Console, forest: Forest) -> None:
    """Each line of a forest plot under the name of its group: the decision, the claim, and small what decided."""
    from rich.text import Text

    for group, rows in forest.groups.items():
        screen.print(Text(group, "bold"))
        for row in rows:
            screen.print(Text.assemble((row.mark, _STYLES[row.tone]), f"  {row.claim}"), overflow="fold")
            number = "" if row.estimate is None else f"{estimate_text(row.estimate, forest.digits, signed=True)} · "
            _print_text(screen, f"  {number}{row.detail}", "dim")
            if row.grade is not None:
                notes = " ".join(row.grade.notes)
                _print_text(screen, f"  certainty: {row.grade.level}{f'. {notes}' if notes else ''}", "dim")


def _print_marked(screen: Console, section: Summary) -> None:
    """Print the decision, the subject and the reason of a part in two lines."""
    from rich.text import Text

    title, subject = (shown_as(text, screen.encoding) for text in (section.title, section.about))
    screen.print(Text.assemble((section.mark, _STYLES[section.tone]), f"  {title}", (f" ({subject})", "dim")))
    _print_text(screen, f"  {section.headline}")


def print_title(screen: Console, title: str, question: str = "") -> None:
    """A part's title and the question that it answers."""
    from rich.text import Text

    screen.print(Text.assemble((title, "bold underline"), f": {question}" if question else ""))


def print_table(screen: Console, table: Table) -> None:
    """Print a table: numbers are never broken; text and names of columns go on in the next line where space is short.

    Why numbers are undefined stands below it, each reason once; of several reasons, with the rows that they are of.
    """
    if table.title:
        _print_text(screen, table.title)
    rows = table.rows if table.most is None else table.rows[: table.most]
    _print_cells(screen, table, rows)
    if len(rows) < len(table.rows):
        _print_text(screen, f"… and {len(table.rows) - len(rows):,} more; --json has all of them.", "dim")
    labels: dict[str, list[str]] = {}
    for row in rows:
        for value, column in zip(row, table.columns, strict=True):
            if column.kind == "estimate" and value is not None and value.value is None and value.reason:
                labels.setdefault(value.reason, []).append(str(row[0]))
    for reason, names in labels.items():
        subjects = f" ({words_text([*dict.fromkeys(names)], _WORDS)})" if len(labels) > 1 else ""
        _print_text(screen, f"undefined: {reason}{subjects}", "dim")
    if table.note:
        _print_text(screen, table.note, "dim")


def _print_cells(screen: Console, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Print names of columns, their last lines level, and rows; without trailing spaces, for log files."""
    from rich.align import Align
    from rich.segment import Segment, Segments
    from rich.table import Table as Grid
    from rich.text import Text

    cells = [[_cell(screen, value, column) for value, column in zip(row, table.columns, strict=True)] for row in rows]
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    names = [shown_as(column.name, screen.encoding) for column in table.columns]
    widths = _column_widths(names, cells, table, screen.width)
    for name, width, column in zip(names, widths, table.columns, strict=True):
        side: Literal["left", "right"] = "right" if column.kind in _RIGHT else "left"
        head = Align(Text(name, "bold", justify=side), side, vertical="bottom")
        overflow: Literal["ellipsis", "fold"] = "ellipsis" if table.one_line else "fold"
        grid.add_column(head, justify=side, width=width, overflow=overflow, no_wrap=table.one_line)
    for row in cells:
        grid.add_row(
            *(_interval_below(text) if len(text) > width else text for text, width in zip(row, widths, strict=True))
        )
    for line in screen.render_lines(grid, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        end = [Segment(segment.text.rstrip(), segment.style) for segment in line[-1:]]
        screen.print(Segments([*line[:-1], *end, Segment.line()]), end="")


def _column_widths(names: list[str], cells: list[list[Text]], table: Table, space: int) -> list[int]:
    """Widths that fit into the space: the widest column gives way, first down to its longest word, then further.

    Numbers are never broken, but an interval goes below its estimate before a word is broken. (The widths that rich
    finds by itself know no such limits.)
    """
    widths, by_word, by_part, by_letter = [], [], [], []
    for name, values, column in zip(names, zip(*cells, strict=True), table.columns, strict=True):
        numeric, longest = column.kind in NUMERIC, max(map(len, values))
        words = [*name.split(), *([] if numeric else (word for value in values for word in value.plain.split()))]
        widths.append(max(len(name), longest))
        by_word.append(max([longest if numeric else 0, *map(len, words)]))
        parts = [part for value in values for part in value.plain.split(" [")] if column.kind == "estimate" else []
        by_part.append(max(len(part) + 1 for part in parts) if parts else by_word[-1])
        by_letter.append(by_part[-1] if numeric else min(widths[-1], _NARROWEST))
    for limits in (by_word, by_part, by_letter):
        while sum(widths) + 2 * (len(widths) - 1) > space and any(map(int.__gt__, widths, limits)):
            widest = max((index for index, limit in enumerate(limits) if widths[index] > limit), key=widths.__getitem__)
            widths[widest] -= 1
    return widths


def _interval_below(text: Text) -> Text:
    """Set the interval of an estimate on a line of its own; other text stays as it is."""
    before, bracket, interval = text.plain.partition(" [")
    return type(text)(f"{before}\n[{interval}", text.style) if bracket else text


def _cell(screen: Console, value: Any, column: Column) -> Text:  # noqa: ANN401 - a cell of any kind
    from rich.text import Text

    if column.kind == "estimate" and value is not None and value.value is None:
        return Text("undefined", "dim")
    tone = column.tones.get(str(value), "plain") if column.kind == "mark" else "plain"
    text = shown_as(cell_text(value, column, _WORDS), screen.encoding)
    return Text(text, "dim" if value is None else _STYLES[tone])


def _print_text(screen: Console, text: str, style: str = "") -> None:
    """Text as it stands: words are never markup, nor pictures, nor broken, so that a path can be copied."""
    from rich.text import Text

    for line in wrap(shown_as(text, screen.encoding), screen.width, break_long_words=False, break_on_hyphens=False) or [
        ""
    ]:
        screen.print(Text(line, style), no_wrap=True, overflow="ignore", crop=False)
