"""What a command prints: one JSON object, or tables for a person; progress for those who wait."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from biasgauge._version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.text import Text

    from biasgauge.cli.options import Options

PATIENCE = 2.0
"""Seconds of work before progress is shown."""


def console(options: Options) -> Console:
    """Where tables and notes go: stdout, or stderr when stdout belongs to JSON; nowhere for --quiet --json."""
    from rich.console import Console  # noqa: PLC0415 - half of the start-up time of a command that needs no table

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command line: whoever reads our output may stop when they like."""
            raise BrokenPipeError

    # Without emoji: words are shown as they are, and "weat7:b:" is no picture.
    return PlainConsole(stderr=options.json, quiet=options.quiet and options.json, highlight=False, emoji=False)


def print_json(
    options: Options, content: Mapping[str, Any], *, settings: Mapping[str, Any], warnings: Sequence[str] = ()
) -> None:
    """Print the one JSON object of a command: its content, and always settings, warnings and version."""
    whole = {
        **content,
        "settings": {**settings, "seed": options.seed},
        "warnings": list(warnings),
        "version": __version__,
    }
    sys.stdout.write(json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n")


def print_title(screen: Console, name: str, question: str) -> None:
    """An empty line, then what follows and the question that it answers."""
    from rich.text import Text  # noqa: PLC0415 - only those who look at tables pay for them

    screen.print()
    screen.print(Text.assemble((name, "bold underline"), f": {question}" if question else ""))


def print_table(screen: Console, columns: Sequence[str], rows: Sequence[Sequence[str | int | Text]]) -> None:
    """Print a table that fits the terminal: every column as wide as it needs, the last one cut where the line ends.

    Numbers are set with thousands separators and to the right.
    """
    from rich.text import Text  # noqa: PLC0415 - as in console()

    numeric = [any(isinstance(row[place], int) for row in rows) for place in range(len(columns))]
    cells = [
        [cell if isinstance(cell, Text) else Text(f"{cell:,}" if isinstance(cell, int) else cell) for cell in row]
        for row in [[Text(name, "bold") for name in columns], *rows]
    ]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    for row in cells:
        line = Text()
        for cell, width, to_the_right in zip(row, widths, numeric, strict=True):
            padding = " " * (width - len(cell))
            line.append_text(Text(padding) + cell if to_the_right else cell + Text(padding)).append("  ")
        line.rstrip()
        line.truncate(screen.width, overflow="ellipsis")
        screen.print(line, no_wrap=True, overflow="ignore")


def shorten(words: Sequence[str], most: int = 8) -> str:
    """A few words of a list, and how many more there are."""
    more = f" … and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


@contextmanager
def progress(options: Options, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with (done, total); a bar appears on stderr once the work takes more than two seconds.

    None when nobody would see it: --quiet, or stderr is not a terminal.
    """
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - as in console()
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - as in console()

    bar = Progress(
        TextColumn(what), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task(what, total=None)
    started = time.monotonic()

    def report(done: int, total: int) -> None:
        if time.monotonic() - started >= PATIENCE and not bar.live.is_started:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        bar.stop()
