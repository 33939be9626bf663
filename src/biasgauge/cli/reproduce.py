"""`biasgauge reproduce`: every checkable number of a paper, and why it differs."""

from __future__ import annotations

from pathlib import Path

from biasgauge import papers
from biasgauge.cli.command import SAVE, Outcome, ResultOptions, command
from biasgauge.cli.screen import progress
from biasgauge.errors import ParameterError

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
  biasgauge reproduce du2021 --replicates MODELS
"""


@command(examples=EXAMPLES, terms="replicate")
def reproduce(
    name: str | None = None,
    /,
    *,
    data: Path | None = None,
    part: tuple[str, ...] = (),
    replicates: Path | None = None,
    options: ResultOptions = SAVE,
) -> Outcome:
    """Compare a paper's numbers with what its own rule and a corrected one give.

    Args:
        name: name of a paper; without it, the papers are listed
        data: a folder with data of the paper
        part: run only this part; repeat for several
        replicates: for du2021, a folder with a set of replicates of your own or with folders of sets; the set that
            ships is left out
    """
    if name is None:
        if part or data is not None or replicates is not None:
            raise ParameterError("--data, --part and --replicates take a paper; biasgauge reproduce alone lists them.")
        return Outcome(papers.list_papers())
    with progress(options, "numbers") as report:
        result = papers.reproduce(
            name, data, parts=part or None, random_state=options.seed, progress=report, replicates=replicates
        )
    return Outcome(result)
