"""Cells in this process and on a local cluster: order, failures, lost workers, ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.errors import InputError, InternalError
from biasgauge.study.cell import Failure
from biasgauge.study.engine import CellRuns, run_cells
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from biasgauge.study.cell import Cell

    Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def store(tmp_path: Path) -> CellStore:
    return CellStore(tmp_path / "store")


def states(ran: CellRuns) -> dict[str, str]:
    return {cell.label.removeprefix("text "): cell.state for cell in ran.cells}


def run_here(cells: Sequence[Cell], store: CellStore, **more: Any) -> CellRuns:  # noqa: ANN401 - passed on
    return run_cells(cells, store, workers=0, **more)


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("there is nothing to run")

    monkeypatch.setattr(import_module("biasgauge.study.cluster"), "run_on_dask", refuse)


def test_a_failure_holds_up_only_what_needs_it(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    a, b = make_cell("a", paths={"broken": broken}), make_cell("b")
    c, d = make_cell("c", [a, b]), make_cell("d", [b])
    e = make_cell("e", [c])
    ran = run_here([a, b, c, d, e], store)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked", "d": "done", "e": "blocked"}
    assert ran.failures[0].error == "The 'text' parameter is not to be had."
    assert "about to fail" in ran.failures[0].log

    broken.unlink()
    again = run_here([a, b, c, d, e], store)  # a failure that would come again is not tried again
    assert states(again) == {"a": "failed", "b": "reused", "c": "blocked", "d": "reused", "e": "blocked"}
    assert again.failures == ran.failures

    retried = run_here([a, b, c, d, e], store, retry_failed=True)
    assert states(retried) == {"a": "done", "b": "reused", "c": "done", "d": "reused", "e": "done"}
    assert store.failures() == {}


def test_a_passing_failure_is_tried_again_unasked(make_cell: Callable[..., Cell], store: CellStore) -> None:
    cell = make_cell("a")
    store.keep_failure(Failure(cell.key, cell.label, cell.step, "The disk was full", "", transient=True))
    assert states(run_here([cell], store)) == {"a": "done"}
    assert store.failures() == {}


def test_only_a_damaged_outcome_is_computed_again(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    a = make_cell("a")
    b = make_cell("b", [a])
    c = make_cell("c", [b])
    run_here([a, b, c], store)
    text = store.folder(b.key, tmp_path) / "text.txt"
    before = text.read_bytes()
    text.write_bytes(b"nonsense")
    ran = run_here([a, b, c], store)
    assert states(ran) == {"a": "reused", "b": "done", "c": "reused"}
    assert ran.warnings == ("The outcome of text b was damaged; it is computed again.",)
    assert text.read_bytes() == before


def test_a_changed_setting_recomputes_only_what_hangs_on_it(make_cell: Callable[..., Cell], store: CellStore) -> None:
    def plan(middle: str) -> list[Cell]:
        a = make_cell("a")
        b, other = make_cell(middle, [a]), make_cell("other", [a])
        return [a, b, other, make_cell("c", [b]), make_cell("d", [other])]

    run_here(plan("b"), store)
    ran = run_here(plan("B"), store)
    assert states(ran) == {"a": "reused", "B": "done", "other": "reused", "c": "done", "d": "reused"}


def test_without_dask_cells_run_here_and_more_processes_are_refused(
    make_cell: Callable[..., Cell], store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("biasgauge.study.engine"), "find_spec", lambda _name: None)
    told: list[str] = []
    ran = run_cells([make_cell("a")], store, tell=told.append)
    assert states(ran) == {"a": "done"}
    assert ran.warnings == tuple(told)
    assert ["in this process" in told[0], "biasgauge[dask]" in told[0], len(told)] == [True, True, 1]
    for wanted in ({"workers": 2}, {"scheduler": "local"}):
        with pytest.raises(InputError, match=r'pip install "biasgauge\[dask\]"; or run with workers=0'):
            run_cells([make_cell("b")], store, **wanted)


def test_progress_counts_every_cell_once(make_cell: Callable[..., Cell], store: CellStore) -> None:
    a = make_cell("a")
    cells = [a, make_cell("b", [a]), make_cell("c")]
    told: list[tuple[int, int]] = []
    run_here(cells[:1], store)
    run_here(cells, store, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_cell_that_stands_twice_runs_once(make_cell: Callable[..., Cell], store: CellStore) -> None:
    a = make_cell("a")
    ran = run_here([a, replace(a, label="text again")], store)
    assert [cell.state for cell in ran.cells] == ["done"]


def test_a_plan_in_the_wrong_order_is_a_defect_of_ours(make_cell: Callable[..., Cell], store: CellStore) -> None:
    a = make_cell("a")
    with pytest.raises(InternalError, match="stands"):
        run_here([make_cell("b", [a]), a], store)


@pytest.mark.usefixtures("no_cluster")
def test_nothing_to_do_starts_no_cluster(make_cell: Callable[..., Cell], store: CellStore) -> None:
    assert run_cells([], store).cells == ()
    run_here([make_cell("a")], store)
    ran = run_cells([make_cell("a")], store)
    assert states(ran) == {"a": "reused"}
    assert ran.cells[0].seconds == store.seconds(ran.cells[0].key)


def test_a_stored_cell_behind_one_that_failed_can_be_read(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    a = make_cell("a", paths={"broken": broken})
    b = make_cell("b", [a])
    run_here([a, b], store)
    store.discard(a.key)
    broken.touch()
    ran = run_here([a, b, make_cell("c", [b]), make_cell("d", [a])], store)
    assert states(ran) == {"a": "failed", "b": "reused", "c": "done", "d": "blocked"}


def run_locally(cells: Sequence[Cell], store: CellStore, workers: int = 2) -> CellRuns:
    return run_cells(cells, store, workers=workers)


def contents(folder: Path) -> dict[str, bytes]:
    """All that two stores must have in common: not how long cells took."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


def family(make_cell: Callable[..., Cell]) -> list[Cell]:
    first = [make_cell(f"a{place}") for place in range(4)]
    second = [make_cell(f"b{place}", [first[place], first[(place + 1) % 4]]) for place in range(4)]
    return [*first, *second, make_cell("c", second)]


def test_worker_processes_give_the_bytes_of_this_process(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    here, there = CellStore(tmp_path / "here"), CellStore(tmp_path / "there")
    cells = family(make_cell)
    run_here(cells, here)
    ran = run_locally(cells, there)
    assert set(states(ran).values()) == {"done"}
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert len(contents(tmp_path / "here")) == 9 * 4


def test_a_store_that_only_this_process_sees_is_refused(make_cell: Callable[..., Cell]) -> None:
    with pytest.raises(InputError, match="process"):
        run_cells([make_cell("a")], CellStore("memory://only-here"))


def test_two_cells_run_at_a_time(
    make_cell: Callable[..., Cell], wait_for: Wait, store: CellStore, tmp_path: Path
) -> None:
    """The gates open when both cells are there."""
    gates = [tmp_path / "gate0", tmp_path / "gate1"]
    calls = tmp_path / "calls"
    calls.mkdir()
    cells = [make_cell(f"a{place}", paths={"gate": gates[place], "calls": calls}) for place in range(2)]

    def open_gates() -> None:
        wait_for(lambda: len(list(calls.iterdir())) == 2)
        for gate in gates:
            gate.touch()

    opener = threading.Thread(target=open_gates)
    opener.start()
    assert set(states(run_locally(cells, store)).values()) == {"done"}
    opener.join()


@pytest.mark.crash
def test_a_killed_worker_is_replaced_and_its_cell_tried_again(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    dies, calls = tmp_path / "dies", tmp_path / "calls"
    dies.touch()
    calls.mkdir()
    cells = [make_cell("a", paths={"dies": dies, "calls": calls}), make_cell("b")]
    cells.append(make_cell("c", cells))
    assert states(run_locally(cells, store)) == {"a": "done", "b": "done", "c": "done"}
    assert len(list(calls.iterdir())) == 2
    assert list((tmp_path / "store" / "scratch").iterdir()) == []


@pytest.mark.crash
def test_a_cell_that_kills_every_worker_is_reported_and_the_rest_goes_on(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    dies = tmp_path / "dies"
    dies.touch()
    a, b = make_cell("a", paths={"dies": dies}, settings={"always": True}), make_cell("b")
    cells = [a, b, make_cell("c", [a]), make_cell("d", [b])]
    ran = run_locally(cells, store)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked", "d": "done"}
    assert ran.failures[0].error == "The Dask worker died (out of memory?)"
    assert ran.failures[0].transient
    dies.unlink()
    assert states(run_locally(cells, store)) == {"a": "done", "b": "reused", "c": "done", "d": "reused"}


def test_libraries_of_a_worker_have_one_thread(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    cell = make_cell("a", settings={"environment": ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"]})
    run_locally([cell], store, 1)
    environment = json.loads((store.folder(cell.key, tmp_path) / "environment.json").read_text())
    assert set(environment.values()) == {"1"}


UNGUARDED = """
import sys
from pathlib import Path
from biasgauge.study.cell import Cell
from biasgauge.study.engine import run_cells
from biasgauge.study.store import CellStore

with Path(sys.argv[1], "runs").open("a") as file:
    file.write("x")
ran = run_cells([Cell("join-texts", 3, {"text": "a"})], CellStore(sys.argv[1] + "/store"), workers=1)
print("unmixed", ran.cells[0].state)
"""


@pytest.mark.usefixtures("own_step")
def test_a_script_without_a_guard_is_run_once(tmp_path: Path) -> None:
    """Processes of multiprocessing import the script that starts them, which would run the study again in each."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout) == (0, "unmixed done\n"), done.stderr
    assert (tmp_path / "runs").read_text() == "x"


SCRIPT = """
import json, signal, sys
from pathlib import Path
from biasgauge.study.cell import Cell
from biasgauge.study.engine import run_cells
from biasgauge.study.store import CellStore

if sys.argv[3] == "terminal":
    signal.signal(signal.SIGINT, signal.default_int_handler)
store = CellStore(sys.argv[1])
cells = [Cell.from_dict(one) for one in json.loads(Path(sys.argv[2]).read_text())]
run_cells(cells, store, workers=2)
"""


def alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.fixture
def started(make_cell: Callable[..., Cell], wait_for: Wait, tmp_path: Path) -> Iterator[Any]:
    """Start a run whose two workers wait at a gate, from a terminal or in the background; give it and its workers."""
    calls = tmp_path / "calls"
    calls.mkdir()
    cells = [make_cell(f"a{place}", paths={"calls": calls, "gate": tmp_path / "gate"}) for place in range(2)]
    (tmp_path / "cells.json").write_text(json.dumps([cell.to_dict() for cell in cells]))
    processes: list[subprocess.Popen[bytes]] = []

    def start(where: str) -> tuple[subprocess.Popen[bytes], list[int]]:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "store"), str(tmp_path / "cells.json"), where]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        processes.append(process)
        wait_for(lambda: len(list(calls.iterdir())) == 2)
        workers = [int(path.name.split("-")[1]) for path in calls.iterdir()]
        assert all(alive(worker) for worker in workers)
        return process, workers

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def ignored_interrupts() -> Iterator[None]:
    """What `nohup make test &` passes on: interrupts are ignored, and so by every process started meanwhile."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes in /proc")


def check_that_workers_end(started: Any, wait_for: Wait, store: CellStore, sent: signal.Signals, where: str) -> None:  # noqa: ANN401 - see there
    process, workers = started(where)
    if sent == signal.SIGINT:  # as a terminal does: the whole group
        os.killpg(process.pid, sent)
    else:
        process.send_signal(sent)
    process.wait(600)
    wait_for(lambda: not any(alive(worker) for worker in workers))
    assert store.finished() == frozenset()

    def is_swept() -> bool:
        """A process may be gone a moment before its locks are."""
        store.sweep()
        return not any((Path(store.url) / "scratch").iterdir())

    wait_for(is_swept)
    assert store.failures() == {}


@pytest.mark.crash
@needs_proc
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_when_a_run_ends_its_workers_end_and_nothing_is_half_written(
    started: Any,  # noqa: ANN401 - see there
    wait_for: Wait,
    store: CellStore,
    sent: signal.Signals,
) -> None:
    check_that_workers_end(started, wait_for, store, sent, "terminal")


@pytest.mark.crash
@needs_proc
@pytest.mark.usefixtures("ignored_interrupts")
@pytest.mark.parametrize(
    ("sent", "where"),
    [(signal.SIGINT, "terminal"), (signal.SIGKILL, "background"), (signal.SIGTERM, "background")],
)
def test_workers_end_with_a_run_where_interrupts_are_ignored(
    started: Any,  # noqa: ANN401 - see there
    wait_for: Wait,
    store: CellStore,
    sent: signal.Signals,
    where: str,
) -> None:
    check_that_workers_end(started, wait_for, store, sent, where)


@pytest.mark.crash
@needs_proc
@pytest.mark.usefixtures("ignored_interrupts")
def test_a_run_in_the_background_goes_on_when_the_terminal_is_interrupted(
    started: Any,  # noqa: ANN401 - see there
    store: CellStore,
    tmp_path: Path,
) -> None:
    process, _ = started("background")
    os.killpg(process.pid, signal.SIGINT)
    (tmp_path / "gate").touch()
    assert process.wait(600) == 0
    assert len(store.finished()) == 2
    assert store.failures() == {}
