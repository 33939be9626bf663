"""From a study's file to its results."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.core import check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.study.cell import CPU, CUDA
from biasgauge.study.engine import LOCAL, run_cells
from biasgauge.study.publish import other_study, publish_results
from biasgauge.study.result import StudyRun
from biasgauge.study.step import Progress
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from distributed import Client

    from biasgauge.study.planning.plan import Plan
    from biasgauge.study.read import Study

TRAINING = "train"
"""The step that a GPU can do."""


def run_study(
    study: str | os.PathLike[str] | Study,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    memory: int | None = None,
    scheduler: str | Client | None = None,
    device: str = CPU,
    retry_failed: bool = False,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
    planned: Callable[[Plan], None] | None = None,
) -> StudyRun:
    """Compute whatever of a study is not there yet, and put its results under their names.

    A cell that fails holds up only what needs it. Interrupted, a run goes on where it was when it is started again, and
    several may work in one folder at a time. The bytes of outcomes do not depend on where or how they were computed.

    Args:
        study: its TOML file, or what `read_study` made of it.
        out: folder, or URL for fsspec, for all outcomes; `NAME-study` beside the file by default.
        workers: processes of a Dask cluster of this machine that lives as long as the run, each with one cell at a
            time; all cores by default, 0 for this very process.
        memory: bytes that these processes may use together; one that exceeds its share is ended. No limit by default.
        scheduler: a Dask cluster that exists: the address of its scheduler, or a Client; "local" is the default.
        device: where models are trained: "cpu", or "cuda" for a GPU, one training at a time; on a cluster of yours, on
            workers that were started with the resource GPU.
        retry_failed: try cells again that failed in an earlier run. Those with a transient failure (a full disk, a
            worker that was lost) are always tried again.
        progress: called with (cells that have come to their end, all cells).
        tell: called with what is odd as soon as it is known; all of it is in the result's `warnings` too.
        planned: called with the plan, which says what is left and what it will take, before anything is computed.

    Raises:
        InputError: something is wrong with the study, with `out` or with the scheduler.
    """
    from biasgauge.study.planning.plan import plan_study
    from biasgauge.study.read import read_study

    check_whole(0, workers=0 if workers is None else workers)
    check_whole(1, memory=1 if memory is None else memory)
    check_choice((CPU, CUDA), device=device)
    if scheduler not in (None, LOCAL) and not (workers is None and memory is None):
        raise ParameterError("A Dask cluster decides itself how many workers and how much memory there are.")
    declared = read_study(study) if isinstance(study, (str, os.PathLike)) else study
    store = CellStore(default_out(declared) if out is None else out)
    plan = plan_study(declared, store)
    if planned is not None:
        planned(plan)
    ran = run_cells(
        [replace(cell, device=device) if cell.step == TRAINING else cell for cell in plan.cells],
        store,
        workers=workers,
        memory=memory,
        scheduler=scheduler,
        retry_failed=retry_failed,
        progress=progress,
        tell=tell,
    )
    replaced = other_study(declared.name, store)
    results = publish_results(declared.name, plan.results, plan.models, ran.cells, store)
    note = (
        f"The results of the study {replaced!r} in {store.url}/results were replaced; its cells are kept, and "
        "running it again brings them back."
    )
    warnings = ran.warnings if replaced is None else (*ran.warnings, note)
    finished = frozenset(cell.key for cell in ran.cells if cell.state in {"done", "reused"})
    plan = replace(plan, finished=finished, failures={failure.key: failure for failure in ran.failures})
    return StudyRun(store.url, ran.cells, ran.failures, results, warnings, plan.preregistration, plan)


def default_out(study: Study) -> Path:
    """`NAME-study` beside the study's file.

    Raises:
        ParameterError: it was not read from a file.
    """
    if study.file is None:
        raise ParameterError("The 'out' parameter of run_study must be a folder or URL for a study without a file.")
    return study.folder / f"{study.file.stem}-study"
