"""`biasgauge study`: a whole study as one file."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from biasgauge import study as studies
from biasgauge.cli.command import OPTIONS, WRITE, Options, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import HELP_FLAGS
from biasgauge.cli.screen import console, print_json, progress
from biasgauge.core import JsonMapping
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import usable_path
from biasgauge.results import print_summary, print_table

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.study import Plan, Study

EPILOGUE = """\
A study is one TOML file: corpora, training recipes, mitigations, scores,
analyses, tasks. Each piece of its work is a cell, kept under a checksum of all
that it depends on: change one setting, and only what depends on it is computed
again. Run again after an interruption, it continues where it was.

Exit codes of `study run`: 0 all results are there; 1 some cells
failed, the others are there; 2 invalid input. Finished results are kept.

Examples:
  biasgauge study init my-study.toml
  biasgauge study preregister my-study.toml
  biasgauge study plan my-study.toml
  biasgauge study run my-study.toml
  biasgauge study run my-study.toml --workers 8 --memory 64GB
  biasgauge study run my-study.toml --allow ../corpora
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786
  biasgauge study show my-study.toml --page so-far.html
"""

RUN_EXAMPLES = """\
Exit codes: 0 all results are there; 1 some cells failed, the others are
there; 2 invalid input. Finished results are kept.

Examples:
  biasgauge study run my-study.toml
  biasgauge study run my-study.toml --workers 8 --memory 64GB
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786
  biasgauge study run my-study.toml --scheduler tcp://10.0.0.1:8786 --device cuda
"""

SOME_FAILED = 1
Allowed = Annotated[
    tuple[Path, ...],
    Parameter(
        help="a file or folder that the study may read, beside the folder it is in; repeat for several. Only where you "
        "trust its author"
    ),
]
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_MOST = 2**60

study = App(
    name="study",
    help="Plan, run and show a whole study that one file declares.",
    help_flags=HELP_FLAGS,
    help_epilogue=EPILOGUE,
)


@study.command
def init(file: Path = Path("my-study.toml"), /, *, options: Options = OPTIONS) -> None:
    """Write a study to start from: commented, and ready to run on the vectors that ship.

    Args:
        file: the TOML file to write; one that is there is left alone
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


@command(examples=EPILOGUE)
def preregister(file: Path, /, *, out: str | None = None, allow: Allowed = (), options: Options = OPTIONS) -> Outcome:
    """Freeze every choice of a study before its data is looked at; `study run` then says what was done otherwise.

    Args:
        file: the study, a TOML file
        out: the file to write; FILE.preregistration.json beside the study by default, where `study run` finds it
    """
    declared = studies.read_study(file, allow=allow)
    seed = _seed(options, declared)
    path = studies.preregistration_path(declared) if out is None else Path(out)
    frozen = studies.preregister(declared, None if out is None else path)

    def show(screen: Console) -> None:
        if not options.quiet:
            print_summary(screen, frozen.summary())

    written = {} if path is None else {"preregistration": path}
    return Outcome(frozen, settings={"file": file}, seed=seed, show=show, written=written)


@command(examples=EPILOGUE)
def plan(
    file: Path, /, *, out: str | None = None, cells: bool = False, allow: Allowed = (), options: Options = OPTIONS
) -> Outcome:
    """Show what a study would compute, and what exists already; compute nothing.

    Args:
        file: the study, a TOML file
        out: folder or URL of its outcomes; FILE-study beside the file by default
        cells: list every cell, not only how many there are of each kind
    """
    state = studies.study_state(studies.read_study(file, allow=allow), out)

    def show(screen: Console) -> None:
        if cells:
            print_table(screen, state.plan.cell_table())
        else:
            print_summary(screen, state.plan.summary())

    return Outcome(state, settings={"file": file}, seed=_seed(options, state.plan.study), show=show)


@command(examples=EPILOGUE, outputs=(Output("page"),))
def show(
    file: Path,
    /,
    *,
    out: str | None = None,
    page: Path | None = None,
    allow: Allowed = (),
    options: WriteOptions = WRITE,
) -> Outcome:
    """Show which results of a study exist and where, and which cells failed and why.

    Args:
        file: the study, a TOML file
        out: folder or URL of its outcomes; FILE-study beside the file by default
        page: write a page of what is there so far to this file, with what failed and what is missing
    """
    state = studies.study_state(studies.read_study(file, allow=allow), out)
    seed = _seed(options, state.plan.study)
    if page is not None:
        state.save_page(page)
    return Outcome(state, settings={"file": file}, seed=seed)


def _path_beside(typed: JsonMapping) -> Path:
    """Folder for the outcomes of a study when none is named."""
    file: Path = typed["study"]
    if not file.name:
        raise InputError(f"{file}: is a folder; name a TOML file")
    return file.with_name(f"{file.stem}-study")


@command(examples=RUN_EXAMPLES, outputs=(Output("out", "continued", otherwise=_path_beside),))
def run(
    study: Path,
    /,
    *,
    out: str | None = None,
    workers: int | None = None,
    memory: str | None = None,
    scheduler: str | None = None,
    device: Literal["cpu", "cuda"] = "cpu",
    retry_failed: bool = False,
    allow: Allowed = (),
    options: Options = OPTIONS,
) -> Outcome:
    """Compute the results of a study that are missing.

    Args:
        study: the study, a TOML file
        out: folder for all outcomes, or a URL that fsspec knows; FILE-study beside the file by default
        workers: processes of this machine, each with one cell at a time; all cores by default, 0 for this very process
        memory: what these processes may use together, as 16GB; no limit by default
        scheduler: the address of a Dask scheduler; by default a cluster of this machine that lives as long as the run
        device: train on the cpu, or with cuda on GPUs: the same bytes
        retry_failed: try cells again that failed in an earlier run. Those with a transient failure (a full disk,
            a worker that was lost) are always tried again
    """
    size = None if memory is None else memory_bytes(memory)
    printed: list[str] = []

    # Warnings and the plan are printed before the work, which may take hours.
    def tell(warning: str) -> None:
        printed.append(warning)
        if not options.quiet:
            console(options, aside=True).print(f"note: {warning}", markup=False, soft_wrap=True)

    def planned(plan: Plan) -> None:
        _seed(options, plan.study)
        if not options.quiet:
            summary = plan.summary()
            line = " ".join([summary.headline, *summary.sentences])
            console(options, aside=True).print(line, markup=False, soft_wrap=True)

    with progress(options, "cells") as report:
        result = studies.run_study(
            studies.read_study(study, allow=allow),
            out=out,
            workers=workers,
            memory=size,
            scheduler=scheduler,
            device=device,
            retry_failed=retry_failed,
            progress=report,
            tell=tell,
            planned=planned,
        )
    if result.failed:
        console(options, aside=True).print(f"biasgauge: {result.advice}", markup=False, soft_wrap=True)
    summary = result.summary()
    conclusions = result.conclusions()
    warnings = tuple(warning for warning in result.warnings if warning not in printed)
    summary = replace(summary, warnings=warnings, parts=(*conclusions, *summary.parts))
    return Outcome(
        result,
        settings={"file": study, "workers": workers, "memory": size, "scheduler": scheduler, "device": device},
        seed=None if result.plan is None else result.plan.study.about.seed,
        exit_code=SOME_FAILED if result.failed else 0,
        show=lambda screen: print_summary(screen, summary),
    )


for subcommand in (preregister, plan, run, show):
    study.command(subcommand)


def _seed(options: Options, declared: Study) -> int:
    """The study's own random seed, which stands in its file."""
    if options.seed not in (OPTIONS.seed, declared.about.seed):
        raise ParameterError(f"The seed of a study stands in its file: [study] seed = {options.seed}.")
    return declared.about.seed


def memory_bytes(text: str) -> int:
    """Bytes of "16GB", "512 MiB" or "1000000".

    Raises:
        ParameterError: it is no size.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?\s*", text.upper())
    size = 0.0 if match is None else float(match[1]) * _UNITS[match[2]]
    if not 1 <= size < _MOST:
        raise ParameterError(f"--memory must be a size such as 16GB or 512MiB. Got {text!r:.40}.")
    return int(size)
