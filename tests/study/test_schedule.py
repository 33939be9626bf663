from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from biasgauge.errors import InternalError
from biasgauge.study.engine import HereEngine, Lost
from biasgauge.study.execute import Outcome
from biasgauge.study.result import Failure
from biasgauge.study.schedule import Ran, run_cells
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from biasgauge.study.cell import Cell
    from biasgauge.study.engine import Engine


class PretendEngine:
    """Says what became of cells without computing them; remembers in which order it was given them."""

    def __init__(self, room: int = 1, says: Callable[[Cell, int], Outcome | Lost] | None = None) -> None:
        self.given: list[tuple[str, bool]] = []
        self.closed = False
        self._room = room
        self._says = says or (lambda cell, _time: Outcome(cell.key, "done", 1.0))
        self._running: list[Cell] = []

    def remarks(self, cells: Sequence[Cell]) -> list[str]:
        return [f"{len(cells)} cells"]

    def is_full(self) -> bool:
        return len(self._running) >= self._room

    def has_room(self, cell: Cell, *, alone: bool) -> bool:
        return not self._running or (not alone and not self.is_full() and cell.memory == 0)

    def start(self, cell: Cell, *, alone: bool) -> None:
        assert self.has_room(cell, alone=alone)
        self.given.append((cell.settings["text"], alone))
        self._running.append(cell)

    def wait(self) -> Outcome | Lost:
        cell = self._running.pop(0)
        return self._says(cell, sum(text == cell.settings["text"] for text, _ in self.given))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def store(tmp_path: Path) -> CellStore:
    return CellStore(tmp_path / "store")


def states(ran: Ran) -> dict[str, str]:
    return {cell.label.removeprefix("text "): cell.state for cell in ran.cells}


def run_here(cells: Sequence[Cell], store: CellStore, **more: object) -> Ran:
    return run_cells(cells, store, lambda: HereEngine(store), **more)  # type: ignore[arg-type]


def no_engine() -> Engine:
    raise AssertionError("there is nothing to run")


def test_the_longest_way_comes_first(make_cell: Callable[..., Cell], store: CellStore) -> None:
    a, b, c = make_cell("a", seconds=1), make_cell("b", seconds=5), make_cell("c", seconds=2)
    after = make_cell("after a", [a], seconds=7)
    engine = PretendEngine()
    run_cells([a, b, c, after], store, lambda: engine)
    assert [text for text, _ in engine.given] == ["a", "after a", "b", "c"]
    assert engine.closed


def test_a_cell_without_room_is_overtaken_and_not_forgotten(make_cell: Callable[..., Cell], store: CellStore) -> None:
    large = make_cell("large", seconds=2, memory=9)
    small = [make_cell(f"small {place}", seconds=3 if place == 0 else 1) for place in range(4)]
    engine = PretendEngine(room=2)
    ran = run_cells([large, *small], store, lambda: engine)
    assert set(states(ran).values()) == {"done"}
    assert [text for text, _ in engine.given][:2] == ["small 0", "small 1"]  # large waits until it is alone


def test_a_cell_that_takes_its_worker_down_is_tried_once_more_alone_and_last(
    make_cell: Callable[..., Cell], store: CellStore
) -> None:
    a, b, c = make_cell("a", seconds=9), make_cell("b"), make_cell("c")

    def says(cell: Cell, time: int) -> Outcome | Lost:
        return Lost(cell.key, "The worker died", "log") if cell is a and time == 1 else Outcome(cell.key, "done", 1.0)

    engine = PretendEngine(says=says)
    ran = run_cells([a, b, c], store, lambda: engine)
    assert engine.given == [("a", False), ("b", False), ("c", False), ("a", True)]
    assert states(ran) == {"a": "done", "b": "done", "c": "done"}
    assert store.failures() == {}


def test_a_cell_that_takes_two_workers_down_has_failed_for_a_passing_reason(
    make_cell: Callable[..., Cell], store: CellStore
) -> None:
    a, b = make_cell("a"), make_cell("b")
    after = make_cell("after", [a, b])

    def says(cell: Cell, _time: int) -> Outcome | Lost:
        return Lost(cell.key, "The worker died", "log") if cell is a else Outcome(cell.key, "done", 1.0)

    engine = PretendEngine(says=says)
    ran = run_cells([a, b, after], store, lambda: engine)
    assert states(ran) == {"a": "failed", "b": "done", "after": "blocked"}
    assert ran.failures == (Failure(a.key, "text a", "join-texts", "The worker died", "log", passing=True),)
    assert ran.cells[2].error == "Needs text a, which failed"
    assert store.failures()[a.key].passing


def test_a_failure_holds_up_only_what_needs_it(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    a, b = make_cell("a", places={"broken": broken}), make_cell("b")
    c, d = make_cell("c", [a, b]), make_cell("d", [b])
    e = make_cell("e", [c])
    ran = run_here([a, b, c, d, e], store)
    assert states(ran) == {"a": "failed", "b": "done", "c": "blocked", "d": "done", "e": "blocked"}
    assert ran.failures[0].error == "The 'text' parameter is not to be had."
    assert "about to fail" in ran.failures[0].log

    broken.unlink()
    again = run_cells([a, b, c, d, e], store, no_engine)  # a failure that would come again is not tried again
    assert states(again) == {"a": "failed", "b": "reused", "c": "blocked", "d": "reused", "e": "blocked"}
    assert again.failures == ran.failures

    retried = run_here([a, b, c, d, e], store, retry_failed=True)
    assert states(retried) == {"a": "done", "b": "reused", "c": "done", "d": "reused", "e": "done"}
    assert store.failures() == {}


def test_a_passing_failure_is_tried_again_unasked(make_cell: Callable[..., Cell], store: CellStore) -> None:
    cell = make_cell("a")
    store.keep_failure(Failure(cell.key, cell.label, cell.step, "The disk was full", "", passing=True))
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
    with pytest.raises(InternalError, match="'text b' stands before one that it reads"):
        run_here([make_cell("b", [a]), a], store)


def test_nothing_to_do_starts_no_engine(make_cell: Callable[..., Cell], store: CellStore) -> None:
    assert run_cells([], store, no_engine).cells == ()
    run_here([make_cell("a")], store)
    ran = run_cells([make_cell("a")], store, no_engine)
    assert states(ran) == {"a": "reused"}
    assert ran.cells[0].seconds == store.seconds(ran.cells[0].key)


def test_an_engine_is_closed_whatever_happens(make_cell: Callable[..., Cell], store: CellStore) -> None:
    def interrupted(_cell: Cell, _time: int) -> Outcome:
        raise KeyboardInterrupt

    engine = PretendEngine(says=interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cells([make_cell("a")], store, lambda: engine)
    assert engine.closed
