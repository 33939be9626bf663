"""The local engine: worker processes of this machine, within a budget of cores and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue

from biasgauge.errors import InputError
from biasgauge.io import parse_json, physical_memory, readable_size
from biasgauge.study.cell import CPU, Cell
from biasgauge.study.engine import Lost
from biasgauge.study.execute import Outcome
from biasgauge.study.store import CellStore
from biasgauge.study.worker import BOOT, READY

MEMORY_SHARE = 0.8
"""Of the machine's memory, for cells when nobody says how much."""
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # fmt: skip
"""Read once by the libraries that they are for, when these are imported; hence set before a worker starts."""
_PATIENCE = 10.0
_STARTS = 3
"""How often a worker that dies before it has begun is replaced."""
_TAIL = 8192


class _Worker:
    """One worker process. What it answers goes to `inbox`, and None when it has ended."""

    def __init__(self, url: str, threads: int, inbox: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        self.threads = threads
        self.cell: Cell | None = None
        self.ready = False
        self.starts = 1
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own program
            [sys.executable, "-P", "-c", BOOT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._printed, encoding="ascii",
            env={**os.environ, **dict.fromkeys(_THREADS, str(threads))},
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, args=(inbox,), daemon=True)
        self._reader.start()
        self._say([place for place in sys.path if isinstance(place, str)])
        self._say(url)

    def ask(self, cell: Cell) -> None:
        """Give it a cell."""
        self.cell = cell
        self._say(cell.to_dict())

    def lost(self) -> Lost:
        """How it died under its cell."""
        assert self.cell is not None  # noqa: S101 - only asked of one that had a cell
        code = self._process.wait()
        if code >= 0:
            how = f"ended with the exit status {code}"
        else:
            how = f"died with signal {-code}" + (" (out of memory?)" if -code == getattr(signal, "SIGKILL", 9) else "")
        self._printed.seek(max(0, self._printed.seek(0, os.SEEK_END) - _TAIL))
        return Lost(self.cell.key, f"The worker {how}", self._printed.read().decode("utf-8", "replace"))

    def hang_up(self) -> None:
        """Make it end."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(OSError):  # it was dead already, with something unread
            self._process.stdin.close()

    def end(self) -> None:
        """Make it end, wait for that, and clear away what it leaves."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        self.hang_up()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._printed.close()

    def _say(self, content: object) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        try:
            self._process.stdin.write(json.dumps(content) + "\n")
            self._process.stdin.flush()
        except OSError:  # it is dead; its reader will say so
            return

    def _read(self, inbox: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        for line in self._process.stdout:
            if line.endswith("\n"):  # else it died while it answered
                inbox.put((self, line))
        inbox.put((self, None))


class LocalEngine:
    """Keeps as many worker processes as cells run at a time; each of them runs many cells, one after the other.

    A cell that needs more memory than there is for all of them runs alone; one training at a time uses the GPU.
    """

    def __init__(self, store: CellStore, workers: int | None = None, memory: int | None = None) -> None:
        if not store.shared:
            raise InputError(f"{store.url}: only this process sees it; name a folder, or run with workers=0")
        self._url = store.url
        self._cores = workers or available_cores()
        self._memory = memory or int(MEMORY_SHARE * physical_memory())
        self._inbox: SimpleQueue[tuple[_Worker, str | None]] = SimpleQueue()
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, int] = {}

    def remarks(self, cells: Sequence[Cell]) -> list[str]:
        """Which cells need more memory than there is."""
        large = [cell for cell in cells if cell.memory > self._memory]
        if not large:
            return []
        most = max(large, key=lambda cell: cell.memory)
        sentence = (
            f"{len(large):,} of {len(cells):,} cells may need more than the {readable_size(self._memory)} of memory "
            f"that cells may use, {most.label} {readable_size(most.memory)}; each of them runs alone."
        )
        return [sentence]

    def is_full(self) -> bool:
        """Whether every core is busy."""
        return sum(worker.threads for worker in self._busy) >= self._cores

    def has_room(self, cell: Cell, *, alone: bool) -> bool:
        """Whether cores and memory are left for it."""
        if not self._busy:
            return True
        if cell.device != CPU and any(worker.cell and worker.cell.device != CPU for worker in self._busy):
            return False  # a training plans with all of the GPU's memory
        cores = sum(worker.threads for worker in self._busy) + self._threads(cell)
        memory = sum(self._busy.values()) + self._needs(cell, alone=alone)
        return cores <= self._cores and memory <= self._memory

    def start(self, cell: Cell, *, alone: bool) -> None:
        """Give the cell to an idle worker, or to a new one."""
        threads = self._threads(cell)
        worker = next((idle for idle in self._idle if idle.threads == threads), None)
        if worker is not None:
            self._idle.remove(worker)
        else:
            if len(self._idle) + len(self._busy) >= self._cores and self._idle:
                self._idle.pop().end()
            worker = _Worker(self._url, threads, self._inbox)
        self._busy[worker] = self._needs(cell, alone=alone)
        worker.ask(cell)

    def wait(self) -> Outcome | Lost:
        """The next outcome, or the next worker that has died."""
        while True:
            worker, line = self._inbox.get()
            if line == READY:
                worker.ready = True
                continue
            if worker not in self._busy:
                if worker in self._idle:  # died with nothing to do
                    self._idle.remove(worker)
                    worker.end()
                continue
            if line is None and not worker.ready and worker.starts < _STARTS:
                self._replace(worker)
                continue
            del self._busy[worker]
            if line is not None:
                worker.cell = None
                self._idle.append(worker)
                return Outcome.from_dict(parse_json(line))
            lost = worker.lost()
            worker.end()
            return lost

    def _replace(self, worker: _Worker) -> None:
        """Give the cell of a worker that died while it started, which is not the cell's fault, to a new one."""
        assert worker.cell is not None  # noqa: S101 - it is busy
        fresh = _Worker(self._url, worker.threads, self._inbox)
        fresh.starts = worker.starts + 1
        self._busy[fresh] = self._busy.pop(worker)
        fresh.ask(worker.cell)
        worker.end()

    def close(self) -> None:
        """End all workers, also those in the middle of a cell."""
        workers = [*self._idle, *self._busy]
        for worker in workers:
            worker.hang_up()
        for worker in workers:
            worker.end()
        self._idle.clear()
        self._busy.clear()

    def _threads(self, cell: Cell) -> int:
        return min(cell.threads, self._cores)

    def _needs(self, cell: Cell, *, alone: bool) -> int:
        return self._memory + 1 if alone else min(cell.memory, self._memory)


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
