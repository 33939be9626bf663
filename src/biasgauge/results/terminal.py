"""Summaries for a terminal: the answer first, tables that fit its width, marks in color."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from biasgauge.results.encodings import shown_as
from biasgauge.results.glossary import printed_texts
from biasgauge.results.terms import Term, terms_in
from biasgauge.results.text import NUMERIC, cell_text
from biasgauge.results.wording import estimate_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from biasgauge.results.blocks import Forest
    from biasgauge.results.summary import Column, Summary, Table

_STYLES = {"good": "green", "caution": "yellow", "bad": "red", "quiet": "dim", "plain": ""}
_WORDS = 4
"""Words of a list that a cell shows."""
_NARROWEST = 12
"""Characters that a column of text keeps where there is little room."""
_RIGHT = NUMERIC - {"estimate"}


def print_summary(screen: Console, summary: Summary, *, terms: bool = True) -> None:
    """Headline, warnings, sentences, tables, then each part under its title; last, what the terms mean."""
    _say(screen, summary.headline, "bold")
    for warning in summary.warnings:
        _say(screen, f"note: {warning}", "yellow")
    _print_body(screen, summary, brief=False)
    if terms:
        _print_terms(screen, terms_in(printed_texts(summary)))


def _print_terms(screen: Console, terms: Sequence[Term]) -> None:
    """A line for each term that was met."""
    if terms:
        screen.print()
    for term in terms:
        _say(screen, f"{term.name}: {term.line}", "dim")


def _print_body(screen: Console, summary: Summary, *, brief: bool) -> None:
    """Sentences, tables and parts; briefly: sentences, and parts that ended in something."""
    if summary.forest is not None:
        print_forest(screen, summary.forest)
    for sentence in summary.sentences:
        _say(screen, f"- {sentence}")
    for table in summary.tables:
        if table.rows and not table.folded and not brief:
            screen.print()
            print_table(screen, table)
    for part in summary.other_parts:
        if part.mark:
            _print_marked(screen, part)
        elif not brief and not (summary.brief and _says_nothing(part)):
            screen.print()
            print_title(screen, part.title, part.question)
            if part.headline:
                _say(screen, part.headline)
            for warning in () if summary.brief else part.warnings:
                _say(screen, f"note: {warning}", "yellow")
            _print_body(screen, part, brief=summary.brief)


def _says_nothing(part: Summary) -> bool:
    """Whether a part has nothing but tables and charts."""
    return not (part.headline or part.sentences or part.parts)


def print_forest(screen: Console, forest: Forest) -> None:
    """Each line of a forest plot under the name of its group: the decision, the claim, and small what decided."""
    from rich.text import Text

    for group, rows in forest.groups.items():
        screen.print(Text(group, "bold"))
        for row in rows:
            screen.print(Text.assemble((row.mark, _STYLES[row.tone]), f"  {row.claim}"), overflow="fold")
            number = "" if row.estimate is None else f"{estimate_text(row.estimate, forest.digits, signed=True)} · "
            _say(screen, f"  {number}{row.detail}", "dim")


def _print_marked(screen: Console, part: Summary) -> None:
    """What a part ended in, what it is about, and why: two lines."""
    from rich.text import Text

    title, about = (shown_as(told, screen.encoding) for told in (part.title, part.about))
    screen.print(Text.assemble((part.mark, _STYLES[part.tone]), f"  {title}", (f" ({about})", "dim")))
    _say(screen, f"  {part.headline}")


def print_title(screen: Console, title: str, question: str = "") -> None:
    """A part's title and the question that it answers."""
    from rich.text import Text

    screen.print(Text.assemble((title, "bold underline"), f": {question}" if question else ""))


def print_table(screen: Console, table: Table) -> None:
    """A table: every column as wide as it needs, names of columns broken where a line is too short, the last one cut.

    Why numbers are undefined stands below it, each reason once.
    """
    from rich.text import Text

    if table.title:
        _say(screen, table.title)
    shown = table.rows if table.most is None else table.rows[: table.most]
    cells = [[_cell(screen, value, column) for value, column in zip(row, table.columns, strict=True)] for row in shown]
    needed = [max((len(row[place]) for row in cells), default=0) for place in range(len(table.columns))]
    names = _headings(needed, table, screen)
    cells = [[Text(name, "bold") for name in row] for row in names] + cells
    widths = _fitting([max(len(row[place]) for row in cells) for place in range(len(table.columns))], table, screen)
    for row in cells:
        line = Text()
        for cell, width, column in zip(row, widths, table.columns, strict=True):
            cell = _shortened(cell, width, screen)  # noqa: PLW2901 - the same cell, in less room
            padding = Text(" " * (width - len(cell)))
            line.append_text(padding + cell if column.kind in _RIGHT else cell + padding).append("  ")
        line.rstrip()
        _cut(line, screen)
        screen.print(line, no_wrap=True, overflow="ignore")
    if len(shown) < len(table.rows):
        _say(screen, f"… and {len(table.rows) - len(shown):,} more; --json has all of them.", "dim")
    undefined = [
        value.reason
        for row in shown
        for value, column in zip(row, table.columns, strict=True)
        if column.kind == "estimate" and value is not None and value.value is None and value.reason
    ]
    for reason in dict.fromkeys(undefined):
        _say(screen, f"undefined: {reason}", "dim")
    if table.note:
        _say(screen, table.note, "dim")


def _headings(needed: list[int], table: Table, screen: Console) -> list[tuple[str, ...]]:
    """Names of columns: in one line where there is room, else broken to what columns need, their last lines level."""
    names = [shown_as(column.name, screen.encoding) for column in table.columns]
    widths = [max(len(name), width) for name, width in zip(names, needed, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= screen.width:
        return [tuple(names)]
    longest = [max((len(word) for word in name.split()), default=1) for name in names]
    lines = [wrap(name, max(width, word)) for name, width, word in zip(names, needed, longest, strict=True)]
    height = max(map(len, lines))
    return list(zip(*([""] * (height - len(part)) + part for part in lines), strict=True))


def _fitting(widths: list[int], table: Table, screen: Console) -> list[int]:
    """Widths of columns where numbers at the end of a line would be cut: the widest column of text gives way."""
    over = sum(widths) + 2 * (len(widths) - 1) - screen.width
    texts = [place for place, column in enumerate(table.columns) if column.kind == "text"]
    if over <= 0 or not texts or table.columns[-1].kind not in NUMERIC:
        return widths
    widest = max(texts, key=lambda place: widths[place])
    widths[widest] = max(widths[widest] - over, min(widths[widest], _NARROWEST))
    return widths


def _shortened(cell: Text, width: int, screen: Console) -> Text:
    """A cell with its middle left out where it is too long: names of files differ at either end."""
    if len(cell) <= width:
        return cell
    gap = shown_as("…", screen.encoding)
    kept = width - len(gap)
    return cell[: kept - kept // 2] + gap + cell[len(cell) - kept // 2 :]


def _cut(line: Text, screen: Console) -> None:
    """Cut a line where the screen ends, and say so."""
    if len(line) > screen.width:
        more = shown_as("…", screen.encoding)
        line.truncate(screen.width - len(more))
        line.rstrip()
        line.append(more)


def _cell(screen: Console, value: Any, column: Column) -> Text:  # noqa: ANN401 - a cell of any kind
    from rich.text import Text

    if column.kind == "estimate" and value is not None and value.value is None:
        return Text("undefined", "dim")
    tone = column.tones.get(str(value), "plain") if column.kind == "mark" else "plain"
    told = shown_as(cell_text(value, column, _WORDS), screen.encoding)
    return Text(told, "dim" if value is None else _STYLES[tone])


def _say(screen: Console, text: str, style: str = "") -> None:
    """Text as it stands: words are never markup, nor pictures, nor broken, so that a path can be copied."""
    from rich.text import Text

    for line in wrap(shown_as(text, screen.encoding), screen.width, break_long_words=False, break_on_hyphens=False) or [
        ""
    ]:
        screen.print(Text(line, style), no_wrap=True, overflow="ignore", crop=False)
