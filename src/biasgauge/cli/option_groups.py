"""Groups of options in a help: those of a command, rare ones, which --help-all shows, and those of every command."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

HELP_ALL = "--help-all"
"""Flag for the help with rare options."""
HELP_FLAGS = ("--help", "-h", HELP_ALL)
"""Flags for the help of a command."""
shows_rare_options: ContextVar[bool] = ContextVar("shows_rare_options", default=False)
"""Whether the help was asked for with rare options."""


def print_rare_options(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print rare options as any others with --help-all; otherwise only how many there are."""
    if shows_rare_options.get():
        from cyclopts.help.formatters import DefaultFormatter

        DefaultFormatter()(console, options, panel)
    else:
        count = len(panel.entries)
        console.print(f"{count} rare option{'' if count == 1 else 's'}: see {HELP_ALL}")


RARE = Group("Rare options", sort_key=1, help_formatter=print_rare_options)
COMMON = Group("Options of every command", sort_key=2)

Value = TypeVar("Value")
Rare = Annotated[Value, Parameter(group=RARE)]
"""Type of an option that only --help-all shows."""
Common = Annotated[Value, Parameter(group=COMMON)]
"""Type of an option that every command has."""
