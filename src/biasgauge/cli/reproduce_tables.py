"""Tables and sentences of `biasgauge reproduce`."""

from __future__ import annotations

from itertools import takewhile
from textwrap import wrap
from typing import TYPE_CHECKING

from biasgauge.cli.screen import print_table, print_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.papers import Paper, Reproduction, Row

WIDEST = 100
"""Characters of a sentence in a line, on wide screens."""
_MARKS = {"agrees": "yes", "differs": "no", "not printed": "–", "not checked": "?"}

_COUNTED = {
    "agrees": "agree",
    "differs": "differ",
    "not printed": "have no printed number",
    "not checked": "not checked",
}


def show_papers(papers: Sequence[Paper], screen: Console) -> None:
    """One line for each paper."""
    rows = [(one.name, sum(len(part.published) for part in one.parts), one.title) for one in papers]
    print_table(screen, ("paper", "numbers", "title"), rows)


def show(found: Reproduction, screen: Console) -> None:
    """The table of each part, the counts, the reasons, and what is missing."""
    _say(screen, f"{found.title}. {found.citation}")
    for name, about in found.parts.items():
        print_title(screen, name, about)
        rows = [row for row in found.rows if row.part == name]
        start = _shared_start([row.id for row in rows])
        columns = ("ok", f"{start}…" if start else "number", "published", "its rule", "corrected", "interval", "why")
        lines = [_line(row, start) for row in rows]
        kept = [
            place for place, column in enumerate(columns) if column != "interval" or any(one[place] for one in lines)
        ]
        print_table(screen, [columns[place] for place in kept], [[one[place] for place in kept] for one in lines])
    screen.print()
    _say(screen, "; ".join(f"{found.count(state):,} {said}" for state, said in _COUNTED.items()) + ".")
    for row in found.rows:
        if row.agrees is False:
            _say(screen, f"- {row.id} differs{f' ({row.rule})' if row.rule else ''}: {row.note}")
    for one in found.missing:
        screen.print()
        _say(screen, f"Not found: {one.need.name} (for {', '.join(one.parts)}): {one.need.what}")
        _say(screen, one.need.fetch)
        _say(screen, f"Looked for: {', '.join(one.need.accepts)}")


def _shared_start(names: Sequence[str]) -> str:
    """What all names begin with, up to a full stop; it stands once above the column."""
    steps = zip(*(name.split(".")[:-1] for name in names), strict=False)
    return "".join(f"{step[0]}." for step in takewhile(lambda step: len(set(step)) == 1, steps))


def _line(row: Row, start: str) -> tuple[str, ...]:
    texts = row.texts
    ours = (texts[name] or "–" for name in ("published", "as_published", "corrected"))
    return _MARKS[row.state], row.id.removeprefix(start), *ours, texts["interval"], row.note


def _say(screen: Console, line: str) -> None:
    screen.print("\n".join(wrap(line, min(screen.width, WIDEST))), markup=False)
