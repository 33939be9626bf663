"""`biasgauge reproduce`: every checkable number of a paper, and why it differs."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.reproduce_tables import show, show_papers
from biasgauge.cli.screen import console, print_json, progress
from biasgauge.errors import ParameterError

EPILOGUE = """\
Three numbers stand side by side: what the paper printed; what the rule of its
own code gives on the data at hand; what a corrected rule gives. --data names a
folder with whatever of the paper's data you hold. What is not there is listed
with what to fetch from where; its published numbers are listed all the same.

Examples:
  biasgauge reproduce
  biasgauge reproduce dobrzeniecka2023
  biasgauge reproduce goldfarbtarrant2021 --data DIR --out goldfarb.html
  biasgauge reproduce zhang2020 --data DIR --json > zhang2020.json
"""

app = App(name="reproduce", help_epilogue=EPILOGUE)


@app.default
def reproduce(
    paper: str | None = None,
    /,
    *,
    data: Path | None = None,
    part: tuple[str, ...] = (),
    out: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Set a paper's numbers beside what its own rule and a corrected one give.

    Args:
        paper: name of a paper; without it, the papers are listed
        data: a folder with data of the paper
        part: run only this part; repeat for several
        out: write a page here, with JSON and CSV beside it
        options: those of every command
    """
    from biasgauge import papers  # noqa: PLC0415 - loaded by those who compute

    if paper is None:
        if part or out is not None or data is not None:
            raise ParameterError("--data, --part and --out take a paper; biasgauge reproduce alone lists them.")
        known = [papers.paper_named(name) for name in papers.paper_names()]
        if options.json:
            print_json(options, {"papers": [one.to_dict() for one in known]}, settings={})
        else:
            show_papers(known, console(options))
        return
    with progress(options, "numbers") as report:
        found = papers.reproduce(paper, data, part or None, options.seed, report)
    screen = console(options)
    if options.json:
        content = found.to_dict()
        print_json(options, content, settings=content.pop("settings"), warnings=content.pop("warnings"))
    else:
        show(found, screen)
    if out is not None:
        page = found.save(out)
        if not options.quiet:
            screen.print(f"page: {page}", markup=False)
