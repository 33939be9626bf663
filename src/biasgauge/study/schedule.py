"""Which cell is run when, on any engine: inputs first, then what the most work waits for."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from biasgauge.errors import InternalError
from biasgauge.study.cell import Cell
from biasgauge.study.engine import Engine, Lost
from biasgauge.study.execute import Outcome
from biasgauge.study.result import CellRun, Failure, State
from biasgauge.study.step import Progress
from biasgauge.study.store import CellStore

_LEAST = 0.01
"""Seconds that a cell counts for at least when the longest way to the end is looked for."""


@dataclass(frozen=True)
class Ran:
    """What became of some cells.

    Attributes:
        cells: all of them, in the order given.
        failures: why cells failed.
        warnings: what was odd.
    """

    cells: tuple[CellRun, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def run_cells(
    cells: Iterable[Cell],
    store: CellStore,
    start_engine: Callable[[], Engine],
    *,
    retry_failed: bool = False,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Ran:
    """Compute all cells that the store does not have; those that fail hold up only what needs them.

    Args:
        cells: inputs before what reads them.
        store: where outcomes are kept.
        start_engine: makes what runs cells; not called where nothing is left to run.
        retry_failed: try cells again that failed in an earlier run. Those that failed for a passing reason (a full
            disk, a worker that was lost) are always tried again.
        progress: called with (cells that have come to their end, all cells).
        tell: called with each warning as soon as it is known.
    """
    by_key = {cell.key: cell for cell in cells}
    schedule = _Schedule(list(by_key.values()), store, progress)
    schedule.look_at_store(retry_failed=retry_failed)
    if schedule.pending:
        engine = start_engine()
        try:
            schedule.warnings += engine.remarks([by_key[key] for key in schedule.pending])
            if tell is not None:
                for warning in schedule.warnings:
                    tell(warning)
            schedule.run(engine)
        finally:
            engine.close()
            store.close()
            store.sweep()
    return schedule.outcome()


@dataclass
class _Schedule:
    cells: list[Cell]
    store: CellStore
    progress: Progress | None
    ends: dict[str, CellRun] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    pending: dict[str, int] = field(default_factory=dict)
    """Cells that have not come to their end: how many of their inputs have not, either."""
    running: int = 0
    lost_once: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.by_key = {cell.key: cell for cell in self.cells}
        self.readers: dict[str, list[str]] = {}
        for cell in self.cells:
            for source in set(cell.inputs.values()):
                if source not in self.readers:
                    raise InternalError(f"The cell {cell.label!r} stands before one that it reads: {source}")
                self.readers[source].append(cell.key)
            self.readers[cell.key] = []
        self.urgency = _longest_ways(self.cells, self.readers)
        self.pending = {cell.key: len(set(cell.inputs.values())) for cell in self.cells}

    def look_at_store(self, *, retry_failed: bool) -> None:
        """Take what is there and whole, and what failed before for a reason that stays."""
        self.store.sweep()
        finished = self.store.finished()
        stored = [key for key in self.by_key if key in finished]
        failed = self.store.failures()
        with ThreadPoolExecutor(min(32, 4 + (os.cpu_count() or 1))) as pool:
            outcomes = list(pool.map(lambda key: (self.store.whole(key), self.store.seconds(key)), stored))
        for key, (whole, seconds) in zip(stored, outcomes, strict=True):
            if whole:
                self._end(key, "reused", seconds)
                continue
            self.store.discard(key)
            self.warnings.append(f"The outcome of {self._label(key)} was damaged; it is computed again.")
        for key in [key for key in failed if key in self.by_key]:
            if key in self.pending and not failed[key].passing and not retry_failed:
                self._fail(failed[key])
            else:
                self.store.forget_failure(key)

    def run(self, engine: Engine) -> None:
        """Give cells to the engine until none is left."""
        ready = [self._rank(key) for key, inputs in self.pending.items() if not inputs]
        heapq.heapify(ready)
        while ready or self.running:
            self._start(engine, ready)
            came = engine.wait()
            self.running -= 1
            for key in self._settle(came):
                heapq.heappush(ready, self._rank(key))

    def outcome(self) -> Ran:
        """What became of all."""
        return Ran(
            tuple(self.ends[cell.key] for cell in self.cells),
            tuple(self.failures[cell.key] for cell in self.cells if cell.key in self.failures),
            tuple(self.warnings),
        )

    def _start(self, engine: Engine, ready: list[tuple[bool, float, int, str]]) -> None:
        """Start the most urgent cells that there is room for; smaller ones may overtake those that must wait."""
        too_large = []
        while ready:
            rank = heapq.heappop(ready)
            key, alone = rank[-1], rank[-1] in self.lost_once
            if engine.has_room(self.by_key[key], alone=alone):
                engine.start(self.by_key[key], alone=alone)
                self.running += 1
            else:
                too_large.append(rank)
                if engine.is_full():
                    break
        for rank in too_large:
            heapq.heappush(ready, rank)

    def _settle(self, came: Outcome | Lost) -> list[str]:
        """Write down what became of a cell; keys of those that can run now."""
        if isinstance(came, Lost):
            if came.key not in self.lost_once:
                self.lost_once.add(came.key)
                return [came.key]
            cell = self.by_key[came.key]
            failure = Failure(cell.key, cell.label, cell.step, came.error, came.log, passing=True)
            self.store.keep_failure(failure)
            self._fail(failure)
            return []
        if came.failure is not None:
            self.store.keep_failure(came.failure)
            self._fail(came.failure)
            return []
        return self._end(came.key, came.state, came.seconds if came.state == "done" else self.store.seconds(came.key))

    def _end(self, key: str, state: State, seconds: float | None = None, error: str | None = None) -> list[str]:
        """A cell has come to its end; keys of those that can run because of it."""
        cell = self.by_key[key]
        self.ends[key] = CellRun(cell.label, cell.step, key, state, seconds, error)
        del self.pending[key]
        if self.progress is not None:
            self.progress(len(self.ends), len(self.cells))
        freed = []
        if state in {"done", "reused"}:
            for reader in self.readers[key]:
                if reader in self.pending:
                    self.pending[reader] -= 1
                    if not self.pending[reader]:
                        freed.append(reader)
        return freed

    def _fail(self, failure: Failure) -> None:
        """A cell failed, and whatever needs it is blocked."""
        self.failures[failure.key] = failure
        self._end(failure.key, "failed", error=failure.error)
        behind = [failure.key]
        while behind:
            for reader in self.readers[behind.pop()]:
                if reader in self.pending:
                    self._end(reader, "blocked", error=f"Needs {self._label(failure.key)}, which failed")
                    behind.append(reader)

    def _label(self, key: str) -> str:
        return self.by_key[key].label or key[:12]

    def _rank(self, key: str) -> tuple[bool, float, int, str]:
        """Urgent ones first; one that took its worker down comes last, when it can run alone."""
        return key in self.lost_once, -self.urgency[key][0], self.urgency[key][1], key


def _longest_ways(cells: Sequence[Cell], readers: dict[str, list[str]]) -> dict[str, tuple[float, int]]:
    """For each cell: seconds from its start to the end of all that needs it, at least; and its place in the plan."""
    ways: dict[str, tuple[float, int]] = {}
    for place, cell in reversed(list(enumerate(cells))):
        after = max((ways[reader][0] for reader in readers[cell.key]), default=0.0)
        ways[cell.key] = (max(cell.seconds, _LEAST) + after, place)
    return ways
