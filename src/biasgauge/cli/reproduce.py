"""`biasgauge reproduce`: every checkable number of a paper, and why it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Three numbers stand side by side: what the paper printed; what the rule of its
own code gives on the data at hand; what a corrected rule gives. --data names a
folder with whatever of the paper's data you hold. What is missing is listed
with where to get it; its published numbers are listed all the same.

Examples:
  biasgauge reproduce
  biasgauge reproduce dobrzeniecka2023
  biasgauge reproduce goldfarbtarrant2021 --data DIR --out goldfarb.html
  biasgauge reproduce zhang2020 --data DIR --json > zhang2020.json
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """One paper, or the list of papers where none is named."""
    from biasgauge.papers import list_papers, reproduce

    parts = arguments.pop("part") or None
    if arguments["name"] is None:
        if parts or arguments["data"] is not None:
            raise ParameterError("--data and --part take a paper; biasgauge reproduce alone lists them.")
        return Outcome(list_papers())
    with progress(options, "numbers") as report:
        return Outcome(reproduce(parts=parts, random_state=options.seed, progress=report, **arguments))


app = command(
    "papers:reproduce",
    arguments="name",
    options="data part",
    examples=EXAMPLES,
    changes={
        "name": Option("name of a paper; without it, the papers are listed", type=str | None, default=None),
        "data": Option("a folder with data of the paper"),
        "part": Option("run only this part; repeat for several", type=tuple[str, ...], default=()),
    },
    call=run,
    fixed="parts",
)
