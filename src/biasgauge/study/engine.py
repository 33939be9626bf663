"""What runs cells: an engine is given one cell after the other and says what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from biasgauge.study.cell import Cell
from biasgauge.study.execute import Outcome, run_cell
from biasgauge.study.store import CellStore


@dataclass(frozen=True)
class Lost:
    """A cell whose worker died under it.

    Attributes:
        key: of the cell.
        error: how the worker died, one sentence.
        log: the last that it printed.
    """

    key: str
    error: str
    log: str


class Engine(Protocol):
    """Runs cells whose inputs are in the store. Each has a key of its own, and is given again only after a loss."""

    def remarks(self, cells: Sequence[Cell]) -> list[str]:
        """What is odd about running these cells here, as sentences."""

    def is_full(self) -> bool:
        """Whether there is room for no cell at all."""

    def has_room(self, cell: Cell, *, alone: bool) -> bool:
        """Whether the cell can be started now; an engine that runs nothing has room for any."""

    def start(self, cell: Cell, *, alone: bool) -> None:
        """Start a cell; `alone`: nothing else should run beside it."""

    def wait(self) -> Outcome | Lost:
        """The next cell that comes to its end; at least one must be running."""

    def close(self) -> None:
        """End all workers, whatever they are doing."""


class HereEngine:
    """Runs cells in this very process, one at a time: for debuggers, and for stores that no other process sees."""

    def __init__(self, store: CellStore) -> None:
        self._store = store
        self._cell: Cell | None = None

    def remarks(self, cells: Sequence[Cell]) -> list[str]:  # noqa: ARG002 - as the protocol says
        """Nothing is odd."""
        return []

    def is_full(self) -> bool:
        """Whether a cell is running."""
        return self._cell is not None

    def has_room(self, cell: Cell, *, alone: bool) -> bool:  # noqa: ARG002 - one at a time, whatever it is
        """Whether nothing is running."""
        return self._cell is None

    def start(self, cell: Cell, *, alone: bool) -> None:  # noqa: ARG002 - as above
        """Remember the cell until somebody waits for it."""
        self._cell = cell

    def wait(self) -> Outcome:
        """Run the cell."""
        assert self._cell is not None  # noqa: S101 - the protocol says so
        cell, self._cell = self._cell, None
        return run_cell(cell, self._store)

    def close(self) -> None:
        """Nothing is running."""
