"""The options that every command takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

_FLAG = Parameter(show_default=False)


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Options of every command."""

    json: Annotated[bool, _FLAG] = False
    """Print one JSON object on stdout; everything else goes to stderr."""

    latex: Annotated[bool, _FLAG] = False
    """Print the tables as LaTeX (booktabs, longtable) on stdout."""

    markdown: Annotated[bool, _FLAG] = False
    """Print the summary as Markdown on stdout."""

    seed: int = 0
    """Random seed; recorded in the settings."""

    quiet: Annotated[bool, _FLAG] = False
    """Print only what was asked for: no progress, no notes."""

    debug: Annotated[bool, _FLAG] = False
    """Show the traceback when something fails."""

    @property
    def for_programs(self) -> bool:
        """Whether stdout belongs to what another program reads, so that everything else goes to stderr."""
        return self.json or self.latex or self.markdown


DEFAULTS = Options()
