"""Where a command prints, its one JSON object, and progress for those who wait."""

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

    from biasgauge.cli.options import Options

PATIENCE = 2.0
"""Seconds of work before progress is shown."""


def console(options: Options, *, aside: bool = False) -> Console:
    """Where tables and notes go: stdout, or stderr for asides and when stdout belongs to JSON.

    Nowhere for --quiet --json.
    """
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command line: whoever reads our output may stop when they like."""
            raise BrokenPipeError

    # Without emoji: words are shown as they are, and "weat7:b:" is no picture.
    return PlainConsole(
        stderr=aside or options.json, quiet=options.quiet and options.json, highlight=False, emoji=False
    )


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


@contextmanager
def progress(options: Options, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with (done, total); a bar appears on stderr once the work takes more than two seconds.

    None when nobody would see it: --quiet, or stderr is not a terminal.
    """
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

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
