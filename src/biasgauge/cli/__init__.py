"""The command `biasgauge`: one file per subcommand, none of which decides anything."""

from biasgauge.cli.entry import main

__all__ = ["main"]
