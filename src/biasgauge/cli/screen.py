"""Terminal output of commands: consoles, the JSON object, and progress."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from biasgauge._version import __version__
from biasgauge.core import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from biasgauge.cli.command import Options

PATIENCE = 2.0
"""Seconds of work before progress is shown."""


def console(options: Options, *, aside: bool = False) -> Console:
    """Console for tables and notes: on stdout, or on stderr for asides and when stdout belongs to a program.

    With --quiet --json it prints nothing.
    """
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command line: whoever reads our output may stop when they like."""
            raise BrokenPipeError

    # Without emoji: words are shown as they are, and "weat7:b:" is no picture.
    screen = PlainConsole(
        stderr=aside or options.for_programs, quiet=options.quiet and options.for_programs, highlight=False, emoji=False
    )
    return without_control_characters(screen)


def without_control_characters(screen: Console) -> Console:
    """Make a console drop every character that a terminal would obey."""
    from rich.console import ConsoleOptions, RenderableType, RenderHook
    from rich.segment import Segment

    from biasgauge.results import escape_control_characters

    class EscapedText:
        def __init__(self, inner: RenderableType) -> None:
            self.inner = inner

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
            for text, style, control in console.render(self.inner, options):
                yield Segment(text if control else escape_control_characters(text), style, control)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[Any]) -> list[Any]:
            return [EscapedText(renderable) for renderable in renderables]

    screen.push_render_hook(Hook())
    return screen


def print_json(options: Options, content: JsonMapping, *, settings: JsonMapping, warnings: Sequence[str] = ()) -> None:
    """Print the one JSON object of a command: its content, and always settings, warnings and version."""
    document = {
        **content,
        "settings": {**settings, "seed": options.seed},
        "warnings": list(warnings),
        "version": __version__,
    }
    # An encoding that lacks characters gets escapes, which mean the same in JSON, rather than replacements.
    escaped = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    from biasgauge.results import escape_control_characters_in_json

    sys.stdout.write(
        escape_control_characters_in_json(json.dumps(document, ensure_ascii=escaped, allow_nan=False)) + "\n"
    )


class ProgressBar:
    """Progress bar: called with (done, total); `stage` names the work in progress."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(), console=without_control_characters(Console(stderr=True)), transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task(title, total=None)
        self._title = title
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Show the share that is done."""
        self._show()
        self._bar.update(self._task, completed=done, total=total)

    def stage(self, name: str) -> None:
        """Show the name of the work in progress."""
        self._show()
        self._bar.update(self._task, description=f"{self._title}: {name}")

    @property
    def description(self) -> str:
        """Text of the bar."""
        return str(self._bar.tasks[0].description)

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()

    def _show(self) -> None:
        if time.monotonic() - self._started >= PATIENCE and not self._bar.live.is_started:
            self._bar.start()


@contextmanager
def progress(options: Options, title: str) -> Iterator[ProgressBar | None]:
    """Yield a progress bar, which appears on stderr once the work takes more than two seconds.

    Yield None when nobody would see it: --quiet, or stderr is not a terminal.
    """
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    bar = ProgressBar(title)
    try:
        yield bar
    finally:
        bar.stop()
