"""The options that every command takes."""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Options of every command."""

    json: bool = False
    """Print one JSON object on stdout; everything else goes to stderr."""

    seed: int = 0
    """Seed of everything random; recorded in the settings."""

    quiet: bool = False
    """Print only what was asked for: no progress, no notes."""

    debug: bool = False
    """Show the traceback when something fails."""


DEFAULTS = Options()
