"""`biasgauge study`: a whole study as one file."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_there
from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output, try_outputs
from biasgauge.cli.screen import console, print_json, progress
from biasgauge.core import JsonMapping, JsonObject
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import usable_path

if TYPE_CHECKING:
    from biasgauge.study import Study
    from biasgauge.study.planning import Plan

EPILOGUE = """\
A study is one TOML file: corpora, training recipes, mitigations, scores,
analyses, tasks. Each piece of its work is a cell, kept under a checksum of all
that it depends on: change one setting, and only what depends on it is computed
again. Run again after an interruption, it continues where it was.

Exit codes of `study run`: 0 all is there; 1 some cells failed, the rest is
there; 2 invalid input; what was finished is kept.

Examples:
  biasgauge study init my-study.toml
  biasgauge study preregister my-study.toml
  biasgauge study plan my-study.toml
  biasgauge study run my-study.toml
  biasgauge study run my-study.toml --workers 8 --memory 64GB
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786
  biasgauge study show my-study.toml --page so-far.html
"""

SOME_FAILED = 1
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_MOST = 2**60

app = App(name="study", help="Plan, run and show a whole study that one file declares.", help_epilogue=EPILOGUE)


@app.command
def init(file: Path = Path("my-study.toml"), /, *, options: Options = DEFAULTS) -> None:
    """Write a study to start from: commented, and ready to run on the vectors that ship.

    Args:
        file: the TOML file to write; one that is there is left alone
        options: those of every command
    """
    text = (files("biasgauge.cli") / "study_start.toml").read_text(encoding="utf-8")
    try:
        with usable_path(file).open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except FileExistsError as problem:
        raise InputError(f"{file}: is there already; name another file") from problem
    if options.json:
        print_json(options, {"path": str(file)}, settings={})
    if not options.quiet:
        screen = console(options)
        screen.print(f"Wrote {file}. Next: biasgauge study plan {file}", markup=False, soft_wrap=True)


@app.command
def preregister(file: Path, /, *, out: Path | None = None, options: Options = DEFAULTS) -> None:
    """Freeze every choice of a study before its data is looked at; `study run` then says what was done otherwise.

    Args:
        file: the study, a TOML file
        out: the file to write; FILE.preregistration.json beside the study by default, where `study run` finds it
        options: those of every command
    """
    from biasgauge.results import print_summary
    from biasgauge.study import preregister as freeze
    from biasgauge.study import preregistration_path, read_study

    study = read_study(file)
    options = _with_seed(options, study)
    frozen = freeze(study, out)
    if options.json:
        print_json(options, frozen.to_dict(), settings={"file": str(file)})
    elif not options.quiet:
        screen = console(options)
        print_summary(screen, frozen.summary())
        written = preregistration_path(study) if out is None else out
        if written is not None:
            screen.print(f"preregistration: {written.resolve()}", markup=False, soft_wrap=True)


@app.command
def plan(file: Path, /, *, out: str | None = None, cells: bool = False, options: Options = DEFAULTS) -> None:
    """Show what a study would compute, what exists already, and what the rest will cost; compute nothing.

    Args:
        file: the study, a TOML file
        out: folder or URL of its outcomes; FILE-study beside the file by default
        cells: list every cell, not only how many there are of each kind
        options: those of every command
    """
    from biasgauge.results import print_summary, print_table
    from biasgauge.study import study_state

    state = study_state(file, out)
    options = _with_seed(options, state.plan.study)
    if options.json:
        print_json(options, state.to_dict(), settings={"file": str(file)})
    else:
        screen = console(options)
        if cells:
            print_table(screen, state.plan.cell_table())
        else:
            print_summary(screen, state.plan.summary())


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Compute what is missing; say what it will take and what is odd before the work, which may take hours."""
    from biasgauge.results import print_summary
    from biasgauge.study import read_study, run_study, study_state

    study = read_study(arguments.pop("study"))
    options = _with_seed(options, study)
    told: list[str] = []

    def tell(warning: str) -> None:
        told.append(warning)
        if not options.quiet:
            console(options, aside=True).print(f"note: {warning}", markup=False, soft_wrap=True)

    def planned(plan: Plan) -> None:
        if not options.quiet:
            said = plan.summary()
            line = " ".join([said.headline, *said.sentences])
            console(options, aside=True).print(line, markup=False, soft_wrap=True)

    with progress(options, "cells") as report:
        result = run_study(study, progress=report, tell=tell, planned=planned, **arguments)
    if result.failed:
        console(options, aside=True).print(f"biasgauge: {result.advice}", markup=False, soft_wrap=True)
    untold = tuple(warning for warning in result.warnings if warning not in told)
    known = result.summary()
    found = study_state(study, result.out).conclusions()
    summary = replace(known, warnings=untold, parts=(*found, *known.parts))
    return Outcome(
        result,
        seed=options.seed,
        exit_code=SOME_FAILED if result.failed else 0,
        show=lambda screen: print_summary(screen, summary),
    )


@app.command
def show(
    file: Path,
    /,
    *,
    out: str | None = None,
    page: Path | None = None,
    force: Annotated[bool, Parameter(show_default=False)] = False,
    options: Options = DEFAULTS,
) -> None:
    """Show which results of a study exist and where, and which cells failed and why.

    Args:
        file: the study, a TOML file
        out: folder or URL of its outcomes; FILE-study beside the file by default
        page: write a page of what is there so far to this file, with what failed and what is missing
        force: replace a page that is there already
        options: those of every command
    """
    from biasgauge.results import print_summary
    from biasgauge.study import study_state

    check_there(file)
    try_outputs((Output("page"),), {"file": file, "page": page}, force=force)
    state = study_state(file, out)
    options = _with_seed(options, state.plan.study)
    if page is not None:
        state.save_page(page)
    if options.json:
        print_json(options, state.to_dict(), settings={"file": str(file)})
    else:
        print_summary(console(options), state.summary())


def _with_seed(options: Options, study: Study) -> Options:
    """The options with the study's own seed, which stands in its file."""
    if options.seed not in (DEFAULTS.seed, study.about.seed):
        raise ParameterError(f"The seed of a study stands in its file: [study] seed = {options.seed}.")
    return replace(options, seed=study.about.seed)


def _beside(typed: JsonMapping) -> Path:
    """Where the outcomes of a study go when no folder is named."""
    file: Path = typed["study"]
    if not file.name:
        raise InputError(f"{file}: is a folder; name a TOML file")
    return file.with_name(f"{file.stem}-study")


def memory_bytes(text: str) -> int:
    """Bytes of "16GB", "512 MiB" or "1000000".

    Raises:
        ParameterError: it is no size.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?\s*", text.upper())
    size = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not 1 <= size < _MOST:
        raise ParameterError(f"--memory must be a size such as 16GB or 512MiB. Got {text!r:.40}.")
    return int(size)


app.command(
    command(
        "study:run_study",
        name="run",
        about="Compute whatever of a study is not there yet.",
        arguments="study",
        options="out workers memory scheduler device retry_failed",
        examples="""\
Exit codes: 0 all is there; 1 some cells failed, the rest is there; 2 invalid
input; what was finished is kept.

Examples:
  biasgauge study run my-study.toml
  biasgauge study run my-study.toml --workers 8 --memory 64GB
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786 --device cuda
""",
        changes={
            "study": Option("the study, a TOML file", type=Path),
            "out": Option(
                "folder for all outcomes, or a URL that fsspec knows; FILE-study beside the file by default",
                type=str | None,
                default=None,
            ),
            "memory": Option(
                "what cells may use together, as 16GB; four fifths of the machine by default",
                type=str | None,
                default=None,
                read=memory_bytes,
            ),
            "scheduler": Option(
                'run on Dask: the address of a scheduler, or "local" for a cluster that lives as long as the run',
                type=str | None,
                default=None,
            ),
            "device": Option("train on the cpu, or with cuda on GPUs: the same bytes", type=Literal["cpu", "cuda"]),
        },
        call=run,
        recorded="file=study workers memory scheduler device",
        saves=False,
        outputs=(Output("out", "continued", otherwise=_beside),),
    )
)
