from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from threadpoolctl import threadpool_info

from biasgauge import registry
from biasgauge.errors import InputError, ParameterError
from biasgauge.io.checksums import path_sha256
from biasgauge.study.cell import Cell
from biasgauge.study.engine import CellOutcome, run_cell
from biasgauge.study.step import Job, Step
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def run_once(tmp_path: Path) -> Callable[..., CellOutcome]:
    """Run a function as the step of one cell."""

    def run(work: Callable[[Job], None], **about: object) -> CellOutcome:
        registry.register(Step("work", 1, work, ""))
        cell = Cell(**{"step": "work", "version": 1, "settings": {}, "label": "the cell", **about})  # type: ignore[arg-type]
        store = CellStore(tmp_path / "store")
        try:
            return run_cell(cell, store)
        finally:
            store.close()
            registry.unregister("study_step", "work")

    return run


def raising(problem: BaseException) -> Callable[[Job], None]:
    def work(_job: Job) -> None:
        print("said before")  # noqa: T201 - what a step prints belongs to its log
        sys.stderr.write("and complained\n")
        raise problem

    return work


def test_a_cell_is_computed_once(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    store = CellStore(tmp_path / "store")
    first = make_cell("a", paths={"calls": calls})
    second = make_cell("b", [first])
    assert run_cell(first, store).state == "done"
    assert run_cell(first, store) == CellOutcome(first.key, "reused")
    assert len(list(calls.iterdir())) == 1
    assert run_cell(second, store).state == "done"
    assert (store.folder(second.key, tmp_path) / "text.txt").read_text() == "b(input0: a)"


@pytest.mark.parametrize(
    ("problem", "error", "transient"),
    [
        (InputError("The text is empty"), "The text is empty", False),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero", False),
        (SystemExit(3), "SystemExit: 3", False),
        (MemoryError(), "MemoryError: ", True),
        (OSError(errno.ENOSPC, "No space left on device"), "OSError: [Errno 28] No space left on device", True),
        (OSError(errno.EACCES, "Permission denied"), "PermissionError: [Errno 13] Permission denied", False),
    ],
)
def test_what_a_step_raises_is_told_and_not_raised(
    run_once: Callable[..., CellOutcome], tmp_path: Path, problem: BaseException, error: str, *, transient: bool
) -> None:
    outcome = run_once(raising(problem))
    assert outcome.state == "failed"
    assert outcome.failure is not None
    assert (outcome.failure.error, outcome.failure.transient) == (error, transient)
    assert outcome.failure.log.startswith("said before\nand complained\nTraceback")
    assert CellStore(tmp_path / "store").finished() == frozenset()
    assert list((tmp_path / "store" / "scratch").iterdir()) == []


def test_ctrl_c_is_no_failure_of_the_cell(run_once: Callable[..., CellOutcome], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_once(raising(KeyboardInterrupt()))
    assert list((tmp_path / "store" / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("cause", "transient"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (MemoryError(), True),
        (ValueError("no number"), False),
    ],
)
def test_what_a_sentence_of_ours_was_raised_from_counts(
    run_once: Callable[..., CellOutcome], cause: Exception, *, transient: bool
) -> None:
    """Told in a sentence, a full disk stayed a failure when there was room again."""
    problem = InputError("It cannot be written")
    problem.__cause__ = cause
    failure = run_once(raising(problem)).failure
    assert failure is not None
    assert (failure.error, failure.transient) == ("It cannot be written", transient)


def test_outcomes_survive_json(run_once: Callable[..., CellOutcome]) -> None:
    for outcome in (run_once(raising(InputError("No"))), CellOutcome("k", "done", 2.5)):
        assert CellOutcome.from_dict(outcome.to_dict()) == outcome


def test_a_file_that_changed_or_is_gone_is_named(run_once: Callable[..., CellOutcome], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one")
    files = {"files": {"text": path_sha256(text)}, "paths": {"text": str(text)}}
    text.write_text("two")
    changed = run_once(lambda _job: None, **files).failure
    assert changed is not None
    assert changed.error == f"{text}: has changed since the study was planned; run the study again"
    assert changed.transient  # so that running it again helps
    text.unlink()
    gone = run_once(lambda _job: None, **files).failure
    assert gone is not None
    assert gone.error == f"{text}: is not there on this machine; give a path that every worker can read"


def test_another_version_of_a_step_is_refused(run_once: Callable[..., CellOutcome]) -> None:
    failure = run_once(lambda _job: None, version=2).failure
    assert failure is not None
    assert failure.error.startswith("This worker has version 1 of the step 'work', the plan has 2")


def test_a_missing_input_is_a_passing_failure(run_once: Callable[..., CellOutcome]) -> None:
    failure = run_once(lambda _job: None, inputs={"of": "0" * 64}).failure
    assert failure is not None
    assert failure.transient
    assert "the outcome 000000000000 is not there" in failure.error


def test_blas_gets_the_threads_of_the_cell(run_once: Callable[..., CellOutcome]) -> None:
    seen = []
    run_once(lambda _job: seen.append({one["num_threads"] for one in threadpool_info()}))
    assert seen == [{1}]


def test_a_step_of_ones_own_is_found_by_its_entry_point(own_step: None) -> None:  # noqa: ARG001 - installs it
    assert "join-texts" in registry.names("study_step")
    assert registry.get("study_step", "join-texts").version == 3
    with pytest.raises(ParameterError, match="join-texts"):
        registry.get("study_step", "join-text")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("their_steps:Job", "must be a study step .* Got the class Job"),
        ("their_steps:STEP", "must have the name of the entry point. Got 'join-texts'"),
    ],
)
def test_an_entry_point_that_is_no_step_of_its_name_is_refused(
    own_step: None,  # noqa: ARG001 - installs one
    tmp_path: Path,
    value: str,
    why: str,
) -> None:
    about = tmp_path / "more-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[biasgauge.study_step]\nmore = {value}\n")
    sys.path.insert(0, str(tmp_path))
    try:
        registry.refresh()
        with pytest.raises(ParameterError, match=rf"'more' of 'biasgauge.study_step' \({value}\) {why}"):
            registry.get("study_step", "more")
        with pytest.warns(UserWarning, match="It is left out"):
            assert "join-texts" in registry.everything("study_step")
    finally:
        sys.path.remove(str(tmp_path))


def test_cells_survive_json(make_cell: Callable[..., Cell]) -> None:
    cell = make_cell("a", paths={"calls": Path(os.sep)}, device="cuda")
    again = Cell.from_dict(cell.to_dict())
    assert again == cell
    assert again.key == cell.key
