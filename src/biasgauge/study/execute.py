"""One cell, run in this process: the same function on every engine."""

from __future__ import annotations

import errno
import io
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from biasgauge import registry
from biasgauge.core import Record
from biasgauge.errors import BiasgaugeError, InputError
from biasgauge.io import path_sha256, path_stamps
from biasgauge.stats import thread_pools
from biasgauge.study.cell import Cell
from biasgauge.study.result import Failure
from biasgauge.study.step import Job, Progress, quiet
from biasgauge.study.store import CellStore, DamagedCellError

TRANSIENT_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EINTR)
"""Errors of the machine, not of the cell."""


class ChangedFileError(InputError):
    """A user's file is not what it was when the study was planned: another plan may do."""


@dataclass(frozen=True)
class Outcome(Record):
    """State of a cell after it was run.

    Attributes:
        key: of the cell.
        state: computed now, found in the store, failed, or blocked by an input that failed.
        seconds: that it took now.
        failure: why it failed.
    """

    key: str
    state: Literal["done", "reused", "failed", "blocked"]
    seconds: float = 0.0
    failure: Failure | None = None


def run_cell(cell: Cell, store: CellStore, progress: Progress | None = None) -> Outcome:
    """Compute a cell unless the store has it; what goes wrong is told, not raised.

    Its inputs must be in the store. BLAS uses one thread. Since what is printed belongs to
    the process, a process runs one cell at a time.
    """
    started = time.perf_counter()
    if store.manifest(cell.key) is not None:
        return Outcome(cell.key, "reused")
    printed = io.StringIO()
    try:
        with store.scratch() as scratch:
            limits = thread_pools().limit(limits=1)
            with redirect_stdout(printed), redirect_stderr(printed), limits:
                out = _work(cell, store, scratch, progress)
            seconds = time.perf_counter() - started
            store.publish(cell, out, seconds)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever a step raises is its cell's; the rest goes on
        return Outcome(cell.key, "failed", time.perf_counter() - started, _failure(cell, problem, printed.getvalue()))
    return Outcome(cell.key, "done", seconds)


def _work(cell: Cell, store: CellStore, scratch: Path, progress: Progress | None) -> Path:
    step = registry.get("study_step", cell.step)
    if step.version != cell.version:
        raise InputError(
            f"This worker has version {step.version} of the step {cell.step!r}, the plan has {cell.version}; "
            "install the same biasgauge everywhere"
        )
    paths = {name: Path(path) for name, path in cell.paths.items()}
    for name, checksum in cell.files.items():
        if not paths[name].exists():
            raise ChangedFileError(
                f"{paths[name]}: is not there on this machine; give a path that every worker can read"
            )
        if path_sha256(paths[name]) != checksum:
            raise ChangedFileError(f"{paths[name]}: has changed since the study was planned; run the study again")
    before = path_stamps([paths[name] for name in cell.files])
    out = scratch / "out"
    out.mkdir()
    step.run(
        Job(
            settings=cell.settings,
            inputs={name: store.folder(key, scratch / "inputs") for name, key in cell.inputs.items()},
            files=paths,
            out=out,
            progress=progress or quiet,
            device=cell.device,
        )
    )
    if path_stamps([paths[name] for name in cell.files]) != before:
        changed = ", ".join(str(paths[name]) for name in cell.files)
        raise ChangedFileError(f"{changed}: changed while the study read it; run the study again")
    return out


def _failure(cell: Cell, problem: BaseException, printed: str) -> Failure:
    is_ours = isinstance(problem, BiasgaugeError)
    error = str(problem) if is_ours else f"{type(problem).__name__}: {problem}"
    log = printed + "".join(traceback.format_exception(problem))
    return Failure(cell.key, cell.label, cell.step, error, log, is_transient(problem))


def is_transient(problem: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, may not occur the next time."""
    while problem is not None:
        if isinstance(problem, (MemoryError, DamagedCellError, ChangedFileError)):
            return True
        if isinstance(problem, OSError) and problem.errno in TRANSIENT_ERRNOS:
            return True
        problem = problem.__cause__
    return False
