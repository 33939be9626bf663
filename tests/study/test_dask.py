from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING

import fsspec
import pytest

from biasgauge._version import __version__
from biasgauge.errors import InputError, ParameterError
from biasgauge.study.cluster import local_client, run_on_worker
from biasgauge.study.engine import CellRuns, run_cells
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from biasgauge.study.cell import Cell

    Wait = Callable[[Callable[[], object]], None]

distributed = pytest.importorskip("distributed")


class Cluster:
    """A scheduler and workers, each a process of its own, as on several machines."""

    def __init__(self, folder: Path, steps: Path, wait_for: Wait) -> None:
        self._folder = folder
        self._steps = steps
        self._processes: list[subprocess.Popen[bytes]] = []
        self.file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self.file))
        wait_for(lambda: self.file.exists() and self.file.read_text())
        self.address = json.loads(self.file.read_text())["address"]

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", *options)

    def wait_for_workers(self, count: int) -> None:
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count)

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [str(self._steps), os.environ.get("PYTHONPATH", "")]))
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "dask", what, "--no-dashboard", "--host", "127.0.0.1", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._folder,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, installed_step: Path, wait_for: Wait) -> Iterator[Cluster]:
    one = Cluster(tmp_path_factory.mktemp("cluster"), installed_step, wait_for)
    one.worker()
    one.worker()
    one.wait_for_workers(2)
    yield one
    one.close()


@pytest.fixture
def store(tmp_path: Path) -> CellStore:
    return CellStore(tmp_path / "store")


def run_on(scheduler: object, cells: Sequence[Cell], store: CellStore) -> CellRuns:
    return run_cells(cells, store, scheduler=scheduler)  # type: ignore[arg-type]


def states(ran: CellRuns) -> dict[str, str]:
    return {cell.label.removeprefix("text "): cell.state for cell in ran.cells}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


def family(make_cell: Callable[..., Cell], count: int = 4, **more: object) -> list[Cell]:
    first = [make_cell(f"a{place}", **more) for place in range(count)]
    second = [make_cell(f"b{place}", [first[place], first[(place + 1) % count]]) for place in range(count)]
    return [*first, *second, make_cell("c", second)]


def test_a_cluster_gives_the_bytes_of_this_process(
    cluster: Cluster, make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    here, there = CellStore(tmp_path / "here"), CellStore(tmp_path / "there")
    cells = family(make_cell)
    run_cells(cells, here, workers=0)
    ran = run_on(cluster.address, cells, there)
    assert not ran.failures, ran.failures[0].log
    assert set(states(ran).values()) == {"done"}
    assert ran.warnings == ()
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert set(states(run_on(cluster.address, cells, there)).values()) == {"reused"}


def test_a_failure_comes_back_with_its_log_and_the_rest_goes_on(
    cluster: Cluster, make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    a, b = make_cell("a", paths={"broken": tmp_path / "broken"}), make_cell("b")
    ran = run_on(cluster.address, [a, b, make_cell("c", [a]), make_cell("d", [b])], store)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked", "d": "done"}
    assert ran.failures[0].error == "The 'text' parameter is not to be had."
    assert ran.failures[0].log.startswith("about to fail\nTraceback")


@pytest.mark.crash
def test_a_worker_killed_in_mid_cell_changes_nothing_in_the_result(
    cluster: Cluster, make_cell: Callable[..., Cell], wait_for: Wait, tmp_path: Path
) -> None:
    calls, gate = tmp_path / "calls", tmp_path / "gate"
    calls.mkdir()
    cells = family(make_cell, 9, paths={"calls": calls, "gate": gate})  # more than two workers are given at first
    third = cluster.worker()
    killed = []

    def kill_one() -> None:
        wait_for(lambda: any(f"-{third.pid}-" in path.name for path in calls.iterdir()))
        third.send_signal(signal.SIGKILL)
        third.wait()
        killed.append(len(list(calls.iterdir())))
        gate.touch()

    killer = threading.Thread(target=kill_one)
    killer.start()
    cluster.wait_for_workers(3)
    ran = run_on(cluster.address, cells, CellStore(tmp_path / "there"))
    killer.join()
    assert killed[0] <= 3  # nobody comes past the gate
    assert set(states(ran).values()) == {"done"}
    assert len(list(calls.iterdir())) == 9 + 1  # one of them twice
    here = CellStore(tmp_path / "here")
    run_cells(cells, here, workers=0)
    CellStore(tmp_path / "there").sweep()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_client_and_its_in_process_cluster_can_be_given(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    """In one process even a store in memory works; workers of several threads run one cell at a time."""
    cells = family(make_cell)
    store = CellStore(f"memory://{tmp_path}/store")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=3, dashboard_address="127.0.0.1:0", set_as_default=False
    ) as client:
        ran = run_on(client, cells, store)
        assert client.status == "running"  # whoever made it closes it
    assert set(states(ran).values()) == {"done"}
    (warning,) = ran.warnings
    assert warning == (
        "1 of 1 Dask workers have several threads, but a process runs one cell at a time; "
        "start them with --nthreads 1 --nworkers N."
    )
    assert (store.folder(cells[-1].key, tmp_path) / "text.txt").read_text().startswith("c(input0: b0(input0: a0)")
    fsspec.filesystem("memory").store.clear()


def test_a_cluster_of_this_machine_lives_as_long_as_the_run(make_cell: Callable[..., Cell], store: CellStore) -> None:
    ran = run_cells(family(make_cell), store, scheduler="local", workers=1, memory=2**30)
    assert set(states(ran).values()) == {"done"}


@pytest.mark.crash
def test_workers_that_die_over_and_over_are_reported(
    installed_step: Path,
    make_cell: Callable[..., Cell],
    wait_for: Wait,
    store: CellStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    (tmp_path / "dies").touch()
    one = Cluster(tmp_path, installed_step, wait_for)
    a, b = make_cell("a", paths={"dies": tmp_path / "dies"}, settings={"always": True}), make_cell("b")

    def start_workers(_warning: str) -> None:
        """Workers come once the run has seen that there is none."""
        for _ in range(3):
            one.worker()

    try:
        ran = run_cells([a, b, make_cell("c", [a])], store, scheduler=one.address, tell=start_workers)
    finally:
        one.close()
    assert ran.warnings == (f"The Dask scheduler at {one.address} has no worker yet; cells wait for one.",)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked"}
    assert ran.failures[0].error == "The Dask worker died (out of memory?)"
    assert ran.failures[0].transient


@pytest.mark.crash
def test_a_lost_scheduler_gets_one_sentence_and_what_is_finished_is_kept(
    installed_step: Path, make_cell: Callable[..., Cell], wait_for: Wait, store: CellStore, tmp_path: Path
) -> None:
    one = Cluster(tmp_path, installed_step, wait_for)
    one.worker()
    calls, gate = tmp_path / "calls", tmp_path / "gate"
    calls.mkdir()
    a = make_cell("a")
    b = make_cell("b", [a], paths={"calls": calls, "gate": gate})
    one.wait_for_workers(1)

    def lose() -> None:
        wait_for(lambda: list(calls.iterdir()))
        one.scheduler.kill()
        one.scheduler.wait()

    loser = threading.Thread(target=lose)
    loser.start()
    try:
        with pytest.raises(InputError, match=f"The Dask scheduler at {one.address} was lost; run the study again"):
            run_on(one.address, [a, b], store)
    finally:
        loser.join()
        one.close()
    assert store.finished() == {a.key}


def test_a_worker_with_another_version_is_refused(make_cell: Callable[..., Cell], store: CellStore) -> None:
    cell = make_cell("a")
    answer = json.loads(run_on_worker(json.dumps(cell.to_dict()), store.url, "0.0.1"))
    assert answer["state"] == "failed"
    assert answer["failure"]["error"] == (
        f"has biasgauge {__version__}, the study was started with 0.0.1; install the same everywhere"
    )
    assert answer["failure"]["passing"]


def test_workers_of_another_version_are_refused_before_anything_is_run(
    cluster: Cluster, make_cell: Callable[..., Cell], store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("biasgauge.study.cluster"), "__version__", "99.0")
    with pytest.raises(InputError, match=f"has biasgauge {__version__}, the study was started with 99.0; install the"):
        run_on(cluster.address, [make_cell("a")], store)


def test_a_store_that_workers_do_not_see_is_refused(cluster: Cluster, make_cell: Callable[..., Cell]) -> None:
    with pytest.raises(InputError, match="workers"):
        run_on(cluster.address, [make_cell("a")], CellStore("memory://here"))


def test_an_address_where_nobody_answers_is_named(
    make_cell: Callable[..., Cell], store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("biasgauge.study.cluster"), "TIMEOUT", 1.0)
    cells = [make_cell("a")]
    before = set(threading.enumerate())
    with pytest.raises(InputError, match="scheduler"):
        run_on("tcp://127.0.0.1:9", cells, store)
    with pytest.raises(InputError, match="scheduler"):
        run_on("nonsense://x", cells, store)
    with pytest.raises(InputError, match="scheduler"):
        run_on("nonsense", cells, store)
    left = set(threading.enumerate()) - before
    assert "IO loop" not in {thread.name for thread in left}  # a client that gets no answer leaves its thread behind
    with pytest.raises(ParameterError, match="'local'"):
        run_on(8786, cells, store)


def test_a_cluster_of_this_machine_speaks_tls_and_shows_no_pages(make_cell: Callable[..., Cell]) -> None:
    """Whoever can reach its port could otherwise run code here."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    with local_client([make_cell("a")], 1, 2**30) as client:
        info = client.scheduler_info()
        assert info["address"].startswith("tls://127.0.0.1:")
        assert all(address.startswith("tls://127.0.0.1:") for address in info["workers"])
        ports = [
            info["services"]["dashboard"],
            *(worker["services"]["dashboard"] for worker in info["workers"].values()),
        ]
        for port in ports:
            for page in ("", "status", "info/main/workers.html", "json/identity.json", "health", "metrics"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10)
