"""From a study's file to its results, which are copied under their names.

    results/index.json       every result: its state (there, failed or blocked), its cell, where it lies
    results/models.json      every model of the study: where it lies
    results/NAME/…           copies of an analysis, a task, the page

What is large (models, corpora, scores) stays where it is, and the index says where. Copies are made anew by every run,
each file whole or not at all and the index last: `results/` is what the last run had, of whichever study. What an
earlier run put there and this one has not is removed; its cells are kept, so that running that study again brings it
back at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from biasgauge.core import check_choice, check_whole
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import parse_json, utf8
from biasgauge.study.cell import CPU, CUDA, CellRun
from biasgauge.study.engine import LOCAL, run_cells
from biasgauge.study.planning.plan import Plan, plan_study
from biasgauge.study.read import Study, open_study
from biasgauge.study.result import StudyRun, StudyState
from biasgauge.study.step import MODEL, RESULT, Progress
from biasgauge.study.store import CellStore, cell_file

if TYPE_CHECKING:
    from distributed import Client

TRAINING = "train"
"""The step that a GPU can do."""
INDEX, MODELS = "results/index.json", "results/models.json"
_COPIED = frozenset({RESULT, "page.html"})
"""An outcome with one of these files is small, and for people."""


class IndexEntry(BaseModel):
    """One result of the index: its state (there, failed or blocked), its cell, where it lies."""

    state: str = ""
    step: str = ""
    key: str = ""
    folder: str | None = None
    files: list[str] = []


class ResultIndex(BaseModel):
    """`results/index.json`."""

    study: str = ""
    results: dict[str, IndexEntry] = {}

    def copies(self) -> dict[str, tuple[str, str]]:
        """Copies that the index names, each with the cell and the file that it is a copy of."""
        return {
            f"results/{result}/{file}": (entry.key, file)
            for result, entry in self.results.items()
            if entry.folder == f"results/{result}"
            for file in entry.files
        }


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
    """Compute the results of a study that are missing, and put them under their names.

    A cell that fails holds up only what needs it. Interrupted, a run goes on where it was when it is started again, and
    several may work in one folder at a time. The bytes of outcomes do not depend on where or how they were computed.

    Args:
        study: its TOML file, or what `read_study` returned.
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
    check_whole(0, workers=0 if workers is None else workers)
    check_whole(1, memory=1 if memory is None else memory)
    check_choice((CPU, CUDA), device=device)
    if scheduler not in (None, LOCAL) and not (workers is None and memory is None):
        raise ParameterError("A Dask cluster decides itself how many workers and how much memory there are.")
    declared = open_study(study)
    store = CellStore(default_out(declared) if out is None else out, make=False)
    plan = plan_study(declared, store)
    if planned is not None:
        planned(plan)
    store.make()
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
    warnings = ran.warnings
    if (replaced := read_index(store).study) not in {"", declared.name}:
        note = (
            f"The results of the study {replaced!r} in {store.url}/results were replaced; its cells are kept, and "
            "running it again brings them back."
        )
        warnings = (*warnings, note)
    results = publish_results(declared.name, plan.results, plan.models, ran.cells, store)
    finished = frozenset(cell.key for cell in ran.cells if cell.is_stored)
    plan = replace(plan, finished=finished, failures={failure.key: failure for failure in ran.failures})
    return StudyRun(store.url, ran.cells, ran.failures, results, warnings, plan.preregistration, plan)


def study_state(study: Study | str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> StudyState:
    """State of a study; nothing is computed.

    Args:
        study: what `read_study` returned, or the path of a TOML file.
        out: folder or URL of its outcomes; `NAME-study` beside the file by default.

    Raises:
        InputError: something is wrong with the study or with `out`.
    """
    declared = open_study(study)
    store = CellStore(default_out(declared) if out is None else out, make=False)
    plan = plan_study(declared, store)
    copies = {(name, entry.key): entry.folder for name, entry in read_index(store).results.items() if entry.folder}
    results = {
        name: f"{store.url}/{copies[name, key]}" if (name, key) in copies else store.location(key)
        for name, key in plan.results.items()
        if key in plan.finished
    }
    return StudyState(store.url, plan, results, tuple(name for name in plan.results if name not in results))


def default_out(study: Study) -> Path:
    """`NAME-study` beside the study's file.

    Raises:
        ParameterError: it was not read from a file.
    """
    if study.file is None:
        raise ParameterError("The 'out' parameter of run_study must be a folder or URL for a study without a file.")
    return study.folder / f"{study.file.stem}-study"


def publish_results(
    name: str, results: Mapping[str, str], models: Mapping[str, str], cells: Sequence[CellRun], store: CellStore
) -> dict[str, str]:
    """Copy results that people read to `results/`; return where each result that is there lies, as a path or URL.

    Args:
        name: of the study.
        results: names of results, and the keys of their cells.
        models: the same of models.
        cells: the state of all cells.
        store: where outcomes are kept.

    Raises:
        InputError: the copies cannot be written.
    """
    try:
        runs = {cell.key: cell for cell in cells}
        index, locations = _copy_results(name, {result: runs[key] for result, key in results.items()}, store)
        copies = index.copies()
        for copy, (key, file) in sorted(read_index(store).copies().items()):
            if copy not in copies and store.is_copy(copy, key, file):
                store.remove(copy)
        stored = {model: key for model, key in models.items() if runs[key].is_stored}
        listed = {model: {"key": key, "folder": cell_file(key), "file": MODEL} for model, key in stored.items()}
        store.write(MODELS, _json({"study": name, "models": listed}))
        store.write(INDEX, _json(index.model_dump()))
    except OSError as problem:
        raise InputError(
            f"{store.url}: results cannot be copied there: {problem.strerror or problem}; cells are kept, so run the "
            "study again when that is mended"
        ) from problem
    return locations


def _copy_results(name: str, results: Mapping[str, CellRun], store: CellStore) -> tuple[ResultIndex, dict[str, str]]:
    """Copy small outcomes; return the index of all results, and the locations of those that are there."""
    locations: dict[str, str] = {}
    index = ResultIndex(study=name)
    for result, cell in results.items():
        # The same state whether the cell was computed now or before.
        entry = IndexEntry(state="there" if cell.is_stored else cell.state, step=cell.step, key=cell.key)
        index.results[result] = entry
        if not cell.is_stored:
            continue
        manifest = store.manifest(cell.key)
        entry.files = [] if manifest is None else sorted(manifest["files"])
        entry.folder, locations[result] = cell_file(cell.key), store.location(cell.key)
        if not _COPIED.isdisjoint(entry.files):
            entry.folder, locations[result] = f"results/{result}", f"{store.url}/results/{result}"
            for file in entry.files:
                store.write(f"results/{result}/{file}", store.read(cell_file(cell.key, file)) or b"")
    return index, locations


def read_index(store: CellStore) -> ResultIndex:
    """Index of the last run, of whichever study; empty where there is none, or somebody changed the file."""
    try:
        return ResultIndex.model_validate(parse_json(store.read(INDEX) or b""))
    except ValueError:  # not JSON, or another
        return ResultIndex()


def _json(content: object) -> bytes:
    return utf8(json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n")
