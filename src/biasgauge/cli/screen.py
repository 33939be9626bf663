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
BETWEEN_LINES = 30.0
"""Seconds between two lines of progress in a log file."""
FIRST_ESTIMATE = 20
"""Inverse of the share of the work from which on the time left is estimated: compiling and reading come first."""


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


class ProgressLines:
    """Progress in a log file, called as a bar is: a line on stderr every half minute, none for shorter work."""

    def __init__(self, title: str) -> None:
        self._title = self._work = title
        self._started = self._printed = time.monotonic()
        self._done = 0

    def __call__(self, done: int, total: int) -> None:
        """Print the share that is done and the time that is left."""
        now = time.monotonic()
        if done < self._done:  # the next piece of work counts anew
            self._started = now
        self._done = done
        if now - self._printed < BETWEEN_LINES:
            return
        from biasgauge.results import duration_text, share_text

        self._printed = now
        line = f"{self._work}: {share_text(done / total)}" if total > 0 else self._work
        if total <= done * FIRST_ESTIMATE and done < total:
            line += f", about {duration_text((now - self._started) * (total - done) / done)} left"
        print(f"biasgauge: {line}", file=sys.stderr, flush=True)  # noqa: T201 - a log file

    def stage(self, name: str) -> None:
        """Name the work in progress."""
        self._work = f"{self._title}: {name}"
        self(0, 0)

    def stop(self) -> None:
        """Print nothing more."""


@contextmanager
def progress(options: Options, title: str) -> Iterator[ProgressBar | ProgressLines | None]:
    """Yield a progress bar, which appears on stderr once the work takes more than two seconds.

    Where stderr is no terminal there are lines instead, one every half minute. With --quiet, yield None.
    """
    if options.quiet:
        yield None
        return
    bar = ProgressBar(title) if sys.stderr.isatty() else ProgressLines(title)
    try:
        yield bar
    finally:
        bar.stop()
