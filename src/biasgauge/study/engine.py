"""Cells computed: one by `run_cell`, the same function everywhere; all of a study by `run_cells`.

With `workers=0` cells run one after the other in this process, without Dask: a debugger needs that, and no other
process sees a store in memory. Otherwise `cluster.py` hands them to Dask.
"""

from __future__ import annotations

import errno
import io
import os
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge import registry
from biasgauge.core import Record
from biasgauge.errors import BiasgaugeError, InputError, InternalError
from biasgauge.io import path_sha256, path_stamps
from biasgauge.stats import thread_pools
from biasgauge.study.cell import Cell, CellRun, Failure, State
from biasgauge.study.step import Job, Progress
from biasgauge.study.store import CellStore, DamagedCellError

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
"""Instead of the address of a scheduler: a cluster of this machine."""
INSTALL = 'pip install "biasgauge[dask]"'
"""How to get the library that runs cells in several processes."""
TRANSIENT_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EINTR)
"""Errors of the machine, not of the cell."""


class ChangedFileError(InputError):
    """A user's file is not what it was when the study was planned: another plan may do."""


@dataclass(frozen=True)
class CellOutcome(Record):
    """State of a cell after it was run, seconds that it took now, and why it failed."""

    key: str
    state: State
    seconds: float = 0.0
    failure: Failure | None = None


def run_cell(cell: Cell, store: CellStore) -> CellOutcome:
    """Compute a cell unless the store has it; what goes wrong is returned, not raised.

    Its inputs must be in the store. BLAS uses one thread. Since what is printed belongs to the process, a process runs
    one cell at a time.
    """
    started = time.perf_counter()
    if store.manifest(cell.key) is not None:
        return CellOutcome(cell.key, "reused")
    printed = io.StringIO()
    try:
        with store.scratch() as scratch:
            with redirect_stdout(printed), redirect_stderr(printed), thread_pools().limit(limits=1):
                out = _work(cell, store, scratch)
            seconds = time.perf_counter() - started
            store.publish(cell, out, seconds)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever a step raises is its cell's; the rest goes on
        error = str(problem) if isinstance(problem, BiasgaugeError) else f"{type(problem).__name__}: {problem}"
        log = printed.getvalue() + "".join(traceback.format_exception(problem))
        failure = Failure.of_cell(cell, error, log, transient=is_transient(problem))
        return CellOutcome(cell.key, "failed", time.perf_counter() - started, failure)
    return CellOutcome(cell.key, "done", seconds)


def _work(cell: Cell, store: CellStore, scratch: Path) -> Path:
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
    read = [paths[name] for name in cell.files]
    before = path_stamps(read)
    out = scratch / "out"
    out.mkdir()
    inputs = {name: store.folder(key, scratch / "inputs") for name, key in cell.inputs.items()}
    step.run(Job(cell.settings, inputs, paths, out, device=cell.device))
    if path_stamps(read) != before:
        changed = ", ".join(map(str, read))
        raise ChangedFileError(f"{changed}: changed while the study read it; run the study again")
    return out


def is_transient(problem: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, may not occur the next time."""
    if problem is None:
        return False
    if isinstance(problem, (MemoryError, DamagedCellError, ChangedFileError)):
        return True
    return (isinstance(problem, OSError) and problem.errno in TRANSIENT_ERRNOS) or is_transient(problem.__cause__)


@dataclass(frozen=True)
class CellRuns:
    """States of cells after a run, in their order; why some failed; what was odd."""

    cells: tuple[CellRun, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def run_cells(
    cells: Iterable[Cell],
    store: CellStore,
    *,
    workers: int | None = None,
    memory: int | None = None,
    scheduler: str | Client | None = None,
    retry_failed: bool = False,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> CellRuns:
    """Compute all cells that the store does not have; those that fail hold up only what needs them.

    Inputs come before what reads them. Other arguments are those of `run_study`.
    """
    ledger = Ledger(list({cell.key: cell for cell in cells}.values()), store, progress, tell)
    ledger.look_up_stored(retry_failed=retry_failed)
    if pending := ledger.pending():
        try:
            if workers is None and scheduler is None and find_spec("distributed") is None:
                workers = 0
                ledger.warn(f"cells run one at a time, in this process; to use all cores: {INSTALL}")
            if workers == 0 and scheduler in {None, LOCAL}:
                for cell in pending:
                    if ledger.is_ready(cell):
                        ledger.settle(cell, run_cell(cell, store))
            else:
                if find_spec("distributed") is None:
                    raise InputError(f"Several processes need an extra: {INSTALL}; or run with workers=0 (--workers 0)")
                from biasgauge.study.cluster import run_on_dask  # late: Dask takes half a second

                run_on_dask(ledger, workers, memory, scheduler)
        finally:
            store.close()
            store.sweep()
    ledger.block_unsettled()
    return ledger.summary()


@dataclass
class Ledger:
    """State of each cell so far."""

    cells: list[Cell]
    store: CellStore
    progress: Progress | None
    tell: Callable[[str], None] | None
    runs: dict[str, CellRun] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_key = {cell.key: cell for cell in self.cells}
        seen: set[str] = set()
        for cell in self.cells:
            if not seen.issuperset(cell.inputs.values()):
                raise InternalError(f"The cell {cell.label!r} stands before one that it reads.")
            seen.add(cell.key)

    def warn(self, warning: str) -> None:
        """Record a warning, and tell it."""
        self.warnings.append(warning)
        if self.tell is not None:
            self.tell(warning)

    def look_up_stored(self, *, retry_failed: bool) -> None:
        """Settle cells whose outcome is stored undamaged, and those whose earlier failure would repeat."""
        self.store.sweep()
        finished = self.store.finished()
        stored = [cell for cell in self.cells if cell.key in finished]
        with ThreadPoolExecutor(min(32, 4 + (os.cpu_count() or 1))) as pool:
            intact = list(pool.map(lambda cell: self.store.is_intact(cell.key), stored))
        for cell, undamaged in zip(stored, intact, strict=True):
            if undamaged:
                self._settle(cell, "reused", self.store.seconds(cell.key))
            else:
                self.store.discard(cell.key)
                self.warn(f"The outcome of {cell.name} was damaged; it is computed again.")
        for key, failure in self.store.failures().items():
            if key not in self.by_key:
                continue
            if key in self.runs or failure.transient or retry_failed:
                self.store.forget_failure(key)
            else:
                self._fail(failure)

    def pending(self) -> list[Cell]:
        """Cells that can be computed, inputs first: neither settled nor behind one that failed."""
        failed = {key for key, run in self.runs.items() if run.state == "failed"}
        pending = []
        for cell in self.cells:
            if cell.key in self.runs:
                continue
            if failed.isdisjoint(cell.inputs.values()):
                pending.append(cell)
            else:
                failed.add(cell.key)
        return pending

    def is_ready(self, cell: Cell) -> bool:
        """Return whether a cell is not settled and all of its inputs are in the store."""
        return cell.key not in self.runs and all(
            key in self.runs and self.runs[key].is_stored for key in cell.inputs.values()
        )

    def settle(self, cell: Cell, outcome: CellOutcome) -> None:
        """Record the outcome of a cell that was run."""
        if outcome.failure is not None:
            self.store.keep_failure(outcome.failure)
            self._fail(outcome.failure)
        elif outcome.state != "blocked":  # those are settled once it is known by what
            seconds = outcome.seconds if outcome.state == "done" else self.store.seconds(cell.key)
            self._settle(cell, outcome.state, seconds)

    def block_unsettled(self) -> None:
        """Settle all other cells: each needs one that failed."""
        roots = {key: self.by_key[key].name for key in self.failures}
        for cell in self.cells:
            if cell.key not in self.runs:
                roots[cell.key] = next(roots[key] for key in cell.inputs.values() if key in roots)
                self._settle(cell, "blocked", error=f"Needs {roots[cell.key]}, which failed")

    def summary(self) -> CellRuns:
        """Return what became of all cells."""
        runs = tuple(self.runs[cell.key] for cell in self.cells)
        failures = tuple(self.failures[cell.key] for cell in self.cells if cell.key in self.failures)
        return CellRuns(runs, failures, tuple(self.warnings))

    def _fail(self, failure: Failure) -> None:
        self.failures[failure.key] = failure
        self._settle(self.by_key[failure.key], "failed", error=failure.error)

    def _settle(self, cell: Cell, state: State, seconds: float | None = None, error: str | None = None) -> None:
        self.runs[cell.key] = CellRun(cell.label, cell.step, cell.key, state, seconds, error)
        if self.progress is not None:
            self.progress(len(self.runs), len(self.cells))
