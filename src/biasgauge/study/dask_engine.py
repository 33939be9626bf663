"""The Dask engine: cells as tasks of a Dask cluster. What travels is a cell's JSON and its short outcome."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from biasgauge._version import __version__
from biasgauge.core import JsonObject
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import parse_json
from biasgauge.study.cell import CPU, Cell
from biasgauge.study.engine import Lost
from biasgauge.study.execute import Outcome, run_cell
from biasgauge.study.local import available_cores
from biasgauge.study.result import Failure
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
"""Instead of an address: a cluster of this machine that lives as long as the run."""
MEMORY = "MEMORY"
"""Resource in bytes that workers may be started with (`--resources MEMORY=8e9`); then cells are placed by it."""
GPU = "GPU"
"""Resource of workers that have a GPU to themselves (`--resources GPU=1`); a training on a GPU asks for one."""
_PATIENCE = 30.0
"""Seconds that a scheduler has to answer."""
_NO_PAGES: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Dask always listens for browsers; it has nothing to show them, on this machine alone."""
_alone = threading.Lock()


class DaskEngine:
    """Runs cells on a Dask cluster.

    Dask itself gives the task of a worker that was lost to another one, up to its setting `allowed-failures`; where it
    gives up, the cell is lost.
    """

    def __init__(
        self, scheduler: str | Client, store: CellStore, workers: int | None = None, memory: int | None = None
    ) -> None:
        distributed = _distributed()
        self._url = store.url
        self._to_close: list[Any] = []
        self._client: Any
        if isinstance(scheduler, distributed.Client):
            self._client = scheduler
        elif isinstance(scheduler, str):
            self._client = self._connect(scheduler, workers, memory)
        else:
            raise ParameterError(
                f"The 'scheduler' parameter must be an address, {LOCAL!r} or a Client. Got {type(scheduler).__name__}."
            )
        self._address = str(self._client.scheduler.address)
        try:
            self._workers = self._check_workers(store)
        except BaseException:
            self.close()
            raise
        self._memory = min((worker["memory"] for worker in self._workers), default=0)
        self._run = secrets.token_hex(4)
        self._keys: dict[str, str] = {}
        self._ended = distributed.as_completed(loop=self._client.loop, with_results=True, raise_errors=False)

    def remarks(self, cells: Sequence[Cell]) -> list[str]:
        """Whether workers are missing, or have threads that will be idle.

        Raises:
            InputError: cells are to be trained on GPUs, and no worker has one: they would wait for ever.
        """
        if (
            self._workers
            and any(cell.device != CPU for cell in cells)
            and not any(worker["gpus"] for worker in self._workers)
        ):
            raise InputError(
                f"No Dask worker at {self._address} has a GPU; start one for each with --resources {GPU}=1, "
                "or train on the CPU"
            )
        if not self._workers:
            return [f"The Dask scheduler at {self._address} has no worker yet; cells wait for one."]
        several = sum(worker["threads"] > 1 for worker in self._workers)
        if not several:
            return []
        sentence = (
            f"{several:,} of {len(self._workers):,} Dask workers have several threads, but a process runs one cell at "
            "a time; start them with --nthreads 1 --nworkers N."
        )
        return [sentence]

    def is_full(self) -> bool:
        """Never: cells queue at the scheduler."""
        return False

    def has_room(self, cell: Cell, *, alone: bool) -> bool:  # noqa: ARG002 - as the protocol says
        """Always: cells queue at the scheduler."""
        return True

    def start(self, cell: Cell, *, alone: bool) -> None:  # noqa: ARG002 - a worker runs one at a time anyway
        """Submit the cell."""
        key = f"biasgauge-{cell.step}-{cell.key[:16]}-{self._run}-{len(self._keys)}"
        self._keys[key] = cell.key
        needs = {MEMORY: min(cell.memory, self._memory)} if self._memory and cell.memory else {}
        needs |= {GPU: 1} if cell.device != CPU else {}
        future = self._client.submit(
            run_on_worker,
            json.dumps(cell.to_dict()),
            self._url,
            __version__,
            key=key,
            resources=needs or None,
            pure=False,
        )
        self._ended.add(future)

    def wait(self) -> Outcome | Lost:
        """The next outcome, or the next cell that no worker survived."""
        future, came = next(self._ended)
        key = self._keys[future.key]
        if future.status == "finished":
            return Outcome.from_dict(parse_json(came))
        if future.status == "error":
            problem = came[1]
            if isinstance(problem, _distributed().KilledWorker):
                return Lost(key, "Every Dask worker that tried died (out of memory?)", str(problem))
            return Lost(key, f"Dask could not run it: {type(problem).__name__}: {problem}", "")
        raise InputError(
            f"The Dask scheduler at {self._address} was lost; run the study again, and what is finished is kept"
        )

    def close(self) -> None:
        """Take back what was not started; what runs on a worker comes to its end there."""
        while self._to_close:
            self._to_close.pop().close()

    def _connect(self, address: str, workers: int | None, memory: int | None) -> Any:  # noqa: ANN401 - a Client
        distributed = _distributed()
        security: Any = None
        if address == LOCAL:
            count = workers or available_cores()
            try:
                security = distributed.Security.temporary()
            except ImportError as problem:
                raise InputError(
                    "A Dask cluster of this machine needs certificates; install what makes them: "
                    'pip install "biasgauge[dask]"'
                ) from problem
            with _deaf_to_ctrl_c(), import_module("dask").config.set(_NO_PAGES):
                cluster = distributed.LocalCluster(
                    n_workers=count, processes=True, threads_per_worker=1, security=security,
                    dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
                    memory_limit="auto" if memory is None else memory // count, silence_logs=logging.CRITICAL,
                )  # fmt: skip
            self._to_close.append(cluster)
            address = cluster.scheduler_address
        if "://" not in address:
            raise InputError(f"{address}: is no address of a Dask scheduler; expected one such as tcp://10.0.0.1:8786")
        try:
            _greet(address, security)
            client = distributed.Client(address, security=security, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as problem:
            self.close()
            raise InputError(f"{address}: no Dask scheduler answers there ({problem})") from problem
        self._to_close.append(client)
        return client

    def _check_workers(self, store: CellStore) -> list[JsonObject]:
        """What workers say about themselves; those that come later are asked again with each cell."""
        if not store.shared and not self._address.startswith("inproc:"):
            raise InputError(f"{store.url}: workers do not see it; name a folder or URL that all of them do")
        answers = self._client.run(about_worker, on_error="return")
        for place, answer in answers.items():
            if isinstance(answer, BaseException):
                raise InputError(f"The Dask worker {place} cannot run biasgauge {__version__}: {answer}")
            if answer["version"] != __version__:
                raise InputError(f"The Dask worker {place}: {_other_version(answer['version'], __version__)}")
        return list(answers.values())


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C, which is for the one that asks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _greet(address: str, security: Any = None) -> None:  # noqa: ANN401 - Dask's own
    """Raise what a client would if nobody answers: one that cannot connect leaves a thread and its loop behind."""
    if address.startswith("inproc:"):  # it is in this process, if anywhere
        return
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    distributed = _distributed()

    async def greet() -> None:
        how = (security or distributed.Security()).get_connection_args("client")
        connection = await distributed.comm.connect(address, timeout=_PATIENCE, **how)
        await connection.close()

    with ThreadPoolExecutor(1) as thread:  # in a notebook, this thread has a loop that runs already
        thread.submit(lambda: asyncio.run(greet())).result()


def _distributed() -> Any:  # noqa: ANN401 - a module; some of its releases have types and some do not
    try:
        return import_module("distributed")  # late: it is optional, and takes a second
    except ImportError as problem:
        raise InputError('A scheduler needs Dask; install it: pip install "biasgauge[dask]"') from problem


def about_worker(dask_worker: Any) -> JsonObject:  # noqa: ANN401 - Dask's own, which has no types
    """What an engine wants to know of a worker; runs there."""
    state = dask_worker.state
    resources = {"memory": state.total_resources.get(MEMORY, 0), "gpus": state.total_resources.get(GPU, 0)}
    return {"version": __version__, "threads": state.nthreads, **resources}


def run_on_worker(content: str, url: str, version: str) -> str:
    """Run a cell on a worker: JSON in, JSON out."""
    cell = Cell.from_dict(parse_json(content))
    if version != __version__:
        error = _other_version(__version__, version)
        outcome = Outcome(cell.key, "failed", 0.0, Failure(cell.key, cell.label, cell.step, error, "", passing=True))
    else:
        store = _store(url)
        with _alone:
            outcome = run_cell(cell, store)
        store.close()  # a worker may live long after the study
    return json.dumps(outcome.to_dict())


@lru_cache(maxsize=8)
def _store(url: str) -> CellStore:
    return CellStore(url)


def _other_version(worker: str, asked: str) -> str:
    return f"has biasgauge {worker}, the study was started with {asked}; install the same everywhere"
