"""Tables and sentences of `biasgauge study`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.cli.screen import print_table, print_title, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Sized

    from rich.console import Console

    from biasgauge.study.cell import Cell
    from biasgauge.study.result import StudyRun
    from biasgauge.study.state import StudyState
    from biasgauge.study.store import Failure

MOST_RESULTS = 40
"""Results that are listed one by one; the index has them all."""
REPORT = "report"
_MINUTE, _HOUR = 60, 3600


def show_plan(state: StudyState, screen: Console) -> None:
    """How many cells of each kind there are, which are there, and what the rest will cost."""
    plan = state.plan
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.step, _group(cell.label)), []).append(cell)
    rows: list[tuple[str | int, ...]] = []
    for (step, name), cells in groups.items():
        left = [cell for cell in cells if cell.key not in plan.finished]
        what = f"{name} …" if len(cells) > 1 else cells[0].label
        time = duration(core_seconds(left)) if left else "–"
        rows.append((step, len(cells), len(cells) - len(left), time, size(max(cell.memory for cell in cells)), what))
    print_table(screen, ("step", "cells", "there", "core time", "memory", "what"), rows)
    screen.print()
    for sentence in plan_sentences(state):
        screen.print(sentence, markup=False, soft_wrap=True)


def show_cells(state: StudyState, screen: Console) -> None:
    """Every cell on a line of its own."""
    rows = [
        (state.state(cell.key), cell.step, duration(cell.seconds), size(cell.memory), cell.key[:12], cell.label)
        for cell in state.plan.cells
    ]
    print_table(screen, ("state", "step", "time", "memory", "key", "what"), rows)


def plan_sentences(state: StudyState) -> list[str]:
    """What it comes to."""
    plan = state.plan
    left = [cell for cell in plan.cells if cell.key not in plan.finished]
    told = [f"{_count(plan.cells, 'cell')}, {len(plan.cells) - len(left):,} of them there already."]
    if left:
        told.append(
            f"The other {len(left):,} take about {duration(core_seconds(left))} of one core, and "
            f"{duration(longest(plan.cells, plan.finished))} at least however many there are; the largest needs about "
            f"{size(max(cell.memory for cell in left))} of memory. Estimates are rough."
        )
    if state.failures:
        told.append(f"{_count(state.failures, 'cell')} failed in an earlier run; run with --retry-failed tries again.")
    return told


def core_seconds(cells: Iterable[Cell]) -> float:
    """Seconds that cells keep one core busy."""
    return sum(cell.seconds * cell.threads for cell in cells)


def longest(cells: Sequence[Cell], finished: frozenset[str]) -> float:
    """Seconds of the longest chain of cells that wait for each other."""
    ends: dict[str, float] = {}
    for cell in cells:
        own = 0.0 if cell.key in finished else cell.seconds
        ends[cell.key] = own + max((ends[key] for key in cell.inputs.values()), default=0.0)
    return max(ends.values(), default=0.0)


def show_run(run: StudyRun, screen: Console, told: Sequence[str] = ()) -> None:
    """Counts, warnings that were not told before, results with their places, then what failed."""
    counts = f"{_count(run.cells, 'cell')}: {run.done:,} computed now, {run.reused:,} were there, {run.failed:,} failed"
    if not run.cells:
        screen.print("The study asks for nothing: it has no corpora, vectors, analyses or tasks.")
        return
    screen.print(f"{counts}, {run.blocked:,} wait for those that failed." if run.blocked else f"{counts}.")
    for warning in (one for one in run.warnings if one not in told):
        screen.print(f"note: {warning}", markup=False, soft_wrap=True)
    show_results(run.results, screen)
    show_failures(run.failures, run.out, screen)


def failed_sentence(run: StudyRun) -> str:
    """What to do about cells that failed."""
    behind = f", and {run.blocked:,} that need them were not tried" if run.blocked else ""
    return f"{_count(run.failures, 'cell')} failed{behind}; mend what the errors say, then run with --retry-failed"


def show_results(results: Mapping[str, str], screen: Console) -> None:
    """Each result with the folder that holds it."""
    if results:
        print_title(screen, "Results", "")
    for name, place in [(name, place) for name, place in results.items() if name != REPORT][:MOST_RESULTS]:
        screen.print(f"{name}: {place}", markup=False, soft_wrap=True)
    if len(results) > MOST_RESULTS:
        screen.print(f"… and {len(results) - MOST_RESULTS:,} more; results/index.json names them all")
    if REPORT in results:
        screen.print(f"\nThe page: {results[REPORT]}/page.html", markup=False, soft_wrap=True)


def show_failures(failures: Iterable[Failure], out: str, screen: Console) -> None:
    """Each cell that failed: its error, and where its log is."""
    known = list(failures)
    if not known:
        return
    print_title(screen, "Failed", "what does not need them went on")
    for one in known:
        screen.print(f"{one.label}: {one.error}", markup=False, soft_wrap=True)
        screen.print(f"  log: {log_place(out, one.key)}", markup=False, soft_wrap=True)


def show_state(state: StudyState, screen: Console) -> None:
    """What is there, what failed, what is missing."""
    cells = state.plan.cells
    if cells and not state.plan.finished and not state.failures:
        screen.print(f"Nothing of this study has been run in {state.out}.", markup=False, soft_wrap=True)
        return
    screen.print(
        f"{_count(cells, 'cell')}: {len(state.plan.finished):,} there, {len(state.failures):,} failed; "
        f"{len(state.results):,} of {_count(state.plan.results, 'result')} there, in {state.out}",
        markup=False,
        soft_wrap=True,
    )
    show_results(state.results, screen)
    show_failures(state.failures.values(), state.out, screen)
    if state.missing:
        print_title(screen, "Not there yet", "")
        screen.print(shorten(state.missing), markup=False, soft_wrap=True)


def log_place(out: str, key: str) -> str:
    """Where the log of a failed cell lies."""
    return f"{out.rstrip('/')}/failed/{key}.json"


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else "< 1 s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:,.1f} h"


def size(memory: float) -> str:
    """Bytes as people say them."""
    return f"{memory / 1e9:,.1f} GB" if memory >= 1e9 else f"{memory / 1e6:,.0f} MB"  # noqa: PLR2004 - units


def _group(label: str) -> str:
    """What cells of one table of the study have in common: "train sgns" of "train sgns/wiki/seed0"."""
    words = label.split("/", maxsplit=1)[0].split(" ")
    return " ".join(words[:3] if words[1:2] == ["of"] else words[:2])


def _count(things: Sized, name: str) -> str:
    return f"{len(things):,} {name}{'s' * (len(things) != 1)}"
