"""Cells on Dask: each is one task, its inputs are the task's edges, and outcomes go through the store.

On one machine a local cluster lives as long as the run; on many, `scheduler` is the address of theirs. What travels is
a cell's JSON and a short outcome.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from biasgauge._version import __version__
from biasgauge.core import JsonObject
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import parse_json
from biasgauge.study.cell import CPU, Cell, Failure
from biasgauge.study.engine import LOCAL, CellOutcome, Ledger, run_cell
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from distributed import Client

GPU = "GPU"
"""Resource of workers that have a GPU to themselves (`--resources GPU=1`); training on a GPU requires one."""
TIMEOUT = 30.0
"""Seconds that a scheduler has to answer."""
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # fmt: skip
"""Read once by the libraries that they are for, when these are imported; hence set before a worker starts."""
_one_cell_at_a_time = threading.Lock()
distributed: Any = import_module("distributed")
"""Some of its releases have types and some do not."""


def run_on_dask(ledger: Ledger, workers: int | None, memory: int | None, scheduler: str | Client | None) -> None:
    """Compute all pending cells, then once more, one at a time, each that lost its worker.

    When a worker dies, Dask gives up on every task that was waiting there. Alone, a cell has all memory, and only the
    one that takes its worker down is lost again.

    Raises:
        InputError: no scheduler answers, it was lost, or its workers cannot run these cells.
    """
    store, cells = ledger.store, ledger.pending()
    context: AbstractContextManager[Any]
    if scheduler in {None, LOCAL}:
        if not store.shared:
            raise InputError(f"{store.url}: only this process sees it; name a folder, or run with workers=0")
        context = local_client(cells, workers, memory)
    elif isinstance(scheduler, (str, distributed.Client)):
        context = _connect(scheduler) if isinstance(scheduler, str) else nullcontext(scheduler)
    else:
        raise ParameterError(
            f"The 'scheduler' parameter must be an address, {LOCAL!r} or a Client. Got {type(scheduler).__name__}."
        )
    with context as client:
        if scheduler not in {None, LOCAL}:
            _check_workers(client, cells, ledger)
        _run(client, cells, ledger)
        for cell in ledger.pending():
            if ledger.is_ready(cell) and (error := _run(client, [cell], ledger).get(cell.key)):
                failure = Failure.of_cell(cell, *error, transient=True)
                ledger.settle(cell, CellOutcome(cell.key, "failed", failure=failure))


@contextmanager
def local_client(cells: Sequence[Cell], workers: int | None, memory: int | None) -> Iterator[Client]:
    """A cluster of this machine: one thread a worker, TLS on the loopback interface, no pages for browsers.

    A worker that dies is replaced by its nanny. One worker has the GPU, so that one model at a time is trained there.
    """
    import dask
    from dask.system import CPU_COUNT

    count = min(workers or CPU_COUNT, len(cells))
    uses_gpu = any(cell.device != CPU for cell in cells)
    settings = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.worker.profile.enabled": False,
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, 1),
    }
    with _hidden_main(), dask.config.set(settings):
        with _worker_environment():
            cluster = distributed.LocalCluster(
                n_workers=1 if uses_gpu else count, processes=True, threads_per_worker=1, host="127.0.0.1",
                security=distributed.Security.temporary(), silence_logs=logging.CRITICAL,
                dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False, "allowed_failures": 0}, preload=[__name__],
                memory_limit=0 if memory is None else memory // count, resources={GPU: 1} if uses_gpu else {},
            )  # fmt: skip
            if uses_gpu:  # the other workers have none
                cluster.new_spec = {**cluster.new_spec, "options": {**cluster.new_spec["options"], "resources": {}}}
                cluster.scale(count)
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield client


@contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep workers from importing the program that runs the study, which would run it again where it is a script."""
    main = sys.modules["__main__"]
    names: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(names))
    try:
        yield
    finally:
        vars(main).update(names)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Give processes that are started meanwhile one thread, and let them ignore Ctrl-C, which is for this process."""
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    variables = {name: os.environ[name] for name in _THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name in _THREADS:
            del os.environ[name]
        os.environ.update(variables)
        if is_main:
            signal.signal(signal.SIGINT, handler)


def dask_setup(_worker: object) -> None:
    """Send what compiled code of a local worker prints to standard error: standard output is for results."""
    os.dup2(2, 1)


@contextmanager
def _connect(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address.

    Raises:
        InputError: no scheduler answers there.
    """
    import asyncio

    if "://" not in address:
        raise InputError(f"{address}: is not the address of a Dask scheduler; expected one such as tcp://10.0.0.1:8786")

    async def greet() -> None:
        arguments = distributed.Security().get_connection_args("client")
        connection = await distributed.comm.connect(address, timeout=TIMEOUT, **arguments)
        await connection.close()

    try:
        if not address.startswith("inproc:"):  # a client that cannot connect leaves a thread and its loop behind
            with ThreadPoolExecutor(1) as thread:  # in a notebook, this thread has a running loop
                thread.submit(lambda: asyncio.run(greet())).result()
        client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise InputError(f"{address}: no Dask scheduler answers there ({problem})") from problem
    with client:
        yield client


def _check_workers(client: Any, cells: Sequence[Cell], ledger: Ledger) -> None:  # noqa: ANN401 - see `distributed`
    """Refuse workers that cannot run these cells; those that come later are checked with each cell.

    Raises:
        InputError: workers do not see the store, have another version, or no GPU although cells require one.
    """
    store, scheduler = ledger.store, str(client.scheduler.address)
    if not store.shared and not scheduler.startswith("inproc:"):
        raise InputError(f"{store.url}: workers do not see it; name a folder or URL that all of them do")
    workers: dict[str, Any] = client.run(describe_worker, on_error="return")
    for address, description in workers.items():
        if isinstance(description, BaseException):
            raise InputError(f"The Dask worker {address} cannot run biasgauge {__version__}: {description}")
        if description["version"] != __version__:
            raise InputError(f"The Dask worker {address}: {_other_version(description['version'], __version__)}")
    if not workers:
        ledger.warn(f"The Dask scheduler at {scheduler} has no worker yet; cells wait for one.")
    elif any(cell.device != CPU for cell in cells) and not any(worker["gpus"] for worker in workers.values()):
        raise InputError(
            f"No Dask worker at {scheduler} has a GPU; start one for each with --resources {GPU}=1, or train on the CPU"
        )
    elif threaded := sum(worker["threads"] > 1 for worker in workers.values()):
        ledger.warn(
            f"{threaded:,} of {len(workers):,} Dask workers have several threads, but a process runs one cell at "
            "a time; start them with --nthreads 1 --nworkers N."
        )


def _run(client: Any, cells: Sequence[Cell], ledger: Ledger) -> dict[str, tuple[str, str]]:  # noqa: ANN401 - as above
    """Compute cells; return the error and log of each that Dask could not run."""
    token = secrets.token_hex(4)  # the scheduler may remember a cell's earlier task, or have another run's
    futures: dict[str, Any] = {}
    for cell in cells:
        futures[cell.key] = client.submit(
            run_on_worker,
            json.dumps(cell.to_dict()),
            ledger.store.url,
            __version__,
            [futures[key] for key in cell.inputs.values() if key in futures],
            key=f"biasgauge-{cell.step}-{cell.key[:16]}-{token}",
            resources={GPU: 1} if cell.device != CPU else None,
            pure=False,
        )
    names = {future.key: key for key, future in futures.items()}
    errors: dict[str, tuple[str, str]] = {}
    for future, result in distributed.as_completed(
        futures.values(), loop=client.loop, with_results=True, raise_errors=False
    ):
        cell = ledger.by_key[names[future.key]]
        if future.status == "finished":
            ledger.settle(cell, CellOutcome.from_dict(parse_json(result)))
        elif future.status == "error":
            problem = result[1]
            died = isinstance(problem, distributed.KilledWorker)
            error = "The Dask worker died (out of memory?)" if died else f"Dask could not run it: {problem!r}"
            errors[cell.key] = (error, str(problem))
        else:
            scheduler = client.scheduler.address
            raise InputError(
                f"The Dask scheduler at {scheduler} was lost; run the study again, and what is finished is kept"
            )
    return errors


def describe_worker(dask_worker: Any) -> JsonObject:  # noqa: ANN401 - Dask's own, which has no types
    """Version, threads and GPUs of a worker; runs there."""
    state = dask_worker.state
    return {"version": __version__, "threads": state.nthreads, "gpus": state.total_resources.get(GPU, 0)}


def run_on_worker(content: str, url: str, version: str, inputs: Sequence[str] = ()) -> str:
    """Run a cell on a worker unless one of its inputs failed: JSON of a cell and of outcomes in, an outcome out."""
    cell = Cell.from_dict(parse_json(content))
    if any(parse_json(outcome)["state"] in {"failed", "blocked"} for outcome in inputs):
        outcome = CellOutcome(cell.key, "blocked")
    elif version != __version__:
        failure = Failure.of_cell(cell, _other_version(__version__, version), transient=True)
        outcome = CellOutcome(cell.key, "failed", failure=failure)
    else:
        store = _open_store(url)
        with _one_cell_at_a_time:
            outcome = run_cell(cell, store)
        store.close()  # a worker may live long after the study
    return json.dumps(outcome.to_dict())


@lru_cache(maxsize=8)
def _open_store(url: str) -> CellStore:
    return CellStore(url)


def _other_version(worker: str, study: str) -> str:
    return f"has biasgauge {worker}, the study was started with {study}; install the same everywhere"
