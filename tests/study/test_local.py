from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.errors import InputError
from biasgauge.study.engine import HereEngine
from biasgauge.study.execute import Outcome
from biasgauge.study.local import LocalEngine, available_cores
from biasgauge.study.schedule import Ran, run_cells
from biasgauge.study.store import CellStore
from biasgauge.study.worker import BOOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from queue import SimpleQueue

    from biasgauge.study.cell import Cell

    Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def store(tmp_path: Path) -> CellStore:
    return CellStore(tmp_path / "store")


def run_locally(cells: Sequence[Cell], store: CellStore, workers: int = 2, **more: Any) -> Ran:  # noqa: ANN401 - passed on
    return run_cells(cells, store, lambda: LocalEngine(store, workers, **more))


def states(ran: Ran) -> dict[str, str]:
    return {cell.label.removeprefix("text "): cell.state for cell in ran.cells}


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
    run_cells(cells, here, lambda: HereEngine(here))
    ran = run_locally(cells, there)
    assert set(states(ran).values()) == {"done"}
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert len(contents(tmp_path / "here")) == 9 * 4


def test_a_store_that_only_this_process_sees_is_refused() -> None:
    with pytest.raises(InputError, match="only this process sees it; name a folder, or run with workers=0"):
        LocalEngine(CellStore("memory://only-here"))


def test_two_cells_run_at_a_time(
    make_cell: Callable[..., Cell], wait_for: Wait, store: CellStore, tmp_path: Path
) -> None:
    """The gates open when both cells are there."""
    gates = [tmp_path / "gate0", tmp_path / "gate1"]
    calls = tmp_path / "calls"
    calls.mkdir()
    cells = [make_cell(f"a{place}", places={"gate": gates[place], "calls": calls}) for place in range(2)]

    def open_gates() -> None:
        wait_for(lambda: len(list(calls.iterdir())) == 2)
        for gate in gates:
            gate.touch()

    opener = threading.Thread(target=open_gates)
    opener.start()
    assert set(states(run_locally(cells, store)).values()) == {"done"}
    opener.join()


class PretendWorker:
    """Answers at once, without a process."""

    def __init__(self, _url: str, threads: int, inbox: SimpleQueue[tuple[PretendWorker, str]]) -> None:
        self.threads = threads
        self._inbox = inbox

    def ask(self, cell: Cell) -> None:
        self._inbox.put((self, json.dumps(Outcome(cell.key, "done").to_dict())))

    def hang_up(self) -> None:
        """There is nobody."""

    def end(self) -> None:
        """There is nobody."""


@pytest.fixture
def pretend_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["biasgauge.study.local"], "_Worker", PretendWorker)


@pytest.mark.usefixtures("pretend_workers")
@pytest.mark.parametrize(("memory", "together"), [([60, 60], 1), ([40, 40], 2), ([400, 1], 1), ([0, 0], 2)])
def test_cells_run_together_only_within_the_memory(
    make_cell: Callable[..., Cell], store: CellStore, memory: list[int], together: int
) -> None:
    engine = LocalEngine(store, workers=2, memory=100)
    first, second = (make_cell(f"a{place}", memory=size) for place, size in enumerate(memory))
    assert engine.has_room(first, alone=False)
    engine.start(first, alone=False)
    assert engine.has_room(second, alone=False) == (together == 2)
    assert not engine.has_room(second, alone=True)
    engine.wait()
    assert engine.has_room(second, alone=True)
    engine.start(second, alone=True)
    assert not engine.has_room(make_cell("any"), alone=False)


@pytest.mark.usefixtures("pretend_workers")
def test_cells_larger_than_the_memory_are_told(make_cell: Callable[..., Cell], store: CellStore) -> None:
    cells = [make_cell("a", memory=3 * 2**30), make_cell("b", memory=2**20)]
    ran = run_locally(cells, store, memory=2**30)
    assert set(states(ran).values()) == {"done"}
    (warning,) = ran.warnings
    assert warning == (
        "1 of 2 cells may need more than the 1.0 GB of memory that cells may use, text a 3.0 GB; "
        "each of them runs alone."
    )


@pytest.mark.usefixtures("pretend_workers")
def test_a_cell_of_two_threads_takes_two_cores(make_cell: Callable[..., Cell], store: CellStore) -> None:
    engine = LocalEngine(store, workers=2)
    engine.start(make_cell("a"), alone=False)
    assert not engine.has_room(make_cell("b", threads=2), alone=False)
    assert not engine.is_full()
    engine.wait()
    engine.start(make_cell("b", threads=64), alone=False)  # never more than there are
    assert engine.is_full()


@pytest.mark.crash
def test_a_killed_worker_is_replaced_and_its_cell_tried_again(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    dies, calls = tmp_path / "dies", tmp_path / "calls"
    dies.touch()
    calls.mkdir()
    cells = [make_cell("a", places={"dies": dies, "calls": calls}), make_cell("b")]
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
    a, b = make_cell("a", places={"dies": dies}, settings={"always": True}), make_cell("b")
    cells = [a, b, make_cell("c", [a]), make_cell("d", [b])]
    ran = run_locally(cells, store)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked", "d": "done"}
    assert ran.failures[0].error == "The worker died with signal 9 (out of memory?)"
    assert ran.failures[0].passing
    dies.unlink()
    assert states(run_locally(cells, store)) == {"a": "done", "b": "reused", "c": "done", "d": "reused"}


def test_workers_that_cannot_start_say_why(
    make_cell: Callable[..., Cell], store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["biasgauge.study.local"], "BOOT", "raise ImportError('no such module')")
    ran = run_locally([make_cell("a")], store)
    assert ran.failures[0].error == "The worker ended with the exit status 1"
    assert "ImportError: no such module" in ran.failures[0].log


SCRIPT = """
import json, signal, sys
from pathlib import Path
from biasgauge.study.cell import Cell
from biasgauge.study.local import LocalEngine
from biasgauge.study.schedule import run_cells
from biasgauge.study.store import CellStore

if sys.argv[3] == "terminal":
    signal.signal(signal.SIGINT, signal.default_int_handler)
store = CellStore(sys.argv[1])
cells = [Cell.from_dict(one) for one in json.loads(Path(sys.argv[2]).read_text())]
run_cells(cells, store, lambda: LocalEngine(store, 2))
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
    cells = [make_cell(f"a{place}", places={"calls": calls, "gate": tmp_path / "gate"}) for place in range(2)]
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
    store.sweep()
    assert list((Path(store.url) / "scratch").iterdir()) == []
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


def test_libraries_are_told_how_many_threads_they_have_before_they_are_imported(
    make_cell: Callable[..., Cell], store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    told = {}
    real = subprocess.Popen

    def popen(*args: Any, **more: Any) -> Any:  # noqa: ANN401 - passed on
        told.update(more["env"])
        return real(*args, **more)

    monkeypatch.setattr(sys.modules["biasgauge.study.local"].subprocess, "Popen", popen)
    run_locally([make_cell("a")], store)
    assert {told[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")} == {"1"}


def test_available_cores_are_those_that_this_process_may_use() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


DIES = """
import os, sys
from pathlib import Path
count = Path({count!r})
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
if number < {deaths}:
    os._exit(9)
"""


@pytest.mark.parametrize(("deaths", "state"), [(2, "done"), (99, "failed")])
def test_a_worker_that_dies_while_it_starts_is_replaced(
    deaths: int, state: str, make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It is not the cell's fault; but nobody tries for ever."""
    count = tmp_path / "count"
    monkeypatch.setattr("biasgauge.study.local.BOOT", DIES.format(count=str(count), deaths=deaths) + BOOT)
    ran = run_locally([make_cell("a")], store, workers=1)
    assert states(ran) == {"a": state}
    assert deaths < len(count.read_text()) <= 3 if state == "done" else len(count.read_text()) >= 3
