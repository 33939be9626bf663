"""Running a study: what a cell costs beside its work, and what a second worker brings.

    python bench/study.py [--part cells|flush|scaling] [--cells 1000] [--models 8]

Cells of the first part do nothing but write one short file, with a step of our own that is installed for the occasion.
What running a cell costs is the wall time from the hundredth of 1,000 to the last; what came before is the start of its
workers. The processor time of all processes is printed beside it, and what the bare file operations of a cell take in
the same run, since on a busy machine or a slow disk the wall time is mostly theirs. Limit: 20 ms a cell.
Scaling is the wall time of real cells, trained and scored by one worker and by
two, against what two processes of nothing but arithmetic gain in the same run.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgauge import registry
from biasgauge.study import plan_study
from biasgauge.study.cell import Cell
from biasgauge.study.engine import run_cells
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.study.step import Progress

LETTERS = str.maketrans("0123456789", "ghijklmnop")
"""Words of letters alone, whatever the tokenizer."""
STEP = """
from biasgauge.study.step import Step
STEP = Step("nothing", 1, lambda job: job.write_json("nothing.json", job.settings), "does nothing")
"""
SUMS = "import time; s = time.perf_counter(); sum(range(120_000_000)); print(time.perf_counter() - s)"
STUDY = """
[study]
name = "scaling"
[corpora.text]
path = "text.txt"
[models.sgns]
seeds = {models}
algorithm = "sgns"
[scores.all]
of = ["sgns"]
pairs = [["a", "b"], ["c", "d"], ["e", "f"]]
words = "full"
measures = ["dbwa", "ripa", "nbm"]
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["cells", "flush", "scaling"])
    options.add_argument("--cells", type=int, default=1000)
    options.add_argument("--models", type=int, default=8)
    options.add_argument("--tokens", type=int, default=1_500_000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if chosen.part in (None, "cells"):
            install_step(folder / "installed")
            overhead(folder, chosen.cells)
        if chosen.part in (None, "flush"):
            flushing(folder)
        if chosen.part in (None, "scaling"):
            scaling(folder, chosen.models, chosen.tokens)


def install_step(folder: Path) -> None:
    """As any package could: a module, and an entry point that names it."""
    about = folder / "nothing_step-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "nothing_step.py").write_text(STEP)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nothing-step\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[biasgauge.study_step]\nnothing = nothing_step:STEP\n")
    sys.path.insert(0, str(folder))
    registry.refresh()


def processor() -> float:
    """Seconds of all processes that have ended, and of this one."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in times)


def timed(
    cells: Sequence[Cell], store: CellStore, workers: int, progress: Progress | None = None
) -> tuple[float, float]:
    """Wall and processor time of some cells."""
    before, started = processor(), time.perf_counter()
    ran = run_cells(cells, store, workers=workers, progress=progress)
    assert not ran.failures, ran.failures[0].log  # noqa: S101 - a failed cell would be a fast one
    return time.perf_counter() - started, processor() - before


def nothings(count: int, chains: int) -> list[Cell]:
    """Cells that do nothing, each after the one before it in its chain."""
    cells: list[Cell] = []
    for number in range(count):
        inputs = {"before": cells[number - chains].key} if number >= chains else {}
        cells.append(Cell("nothing", 1, {"number": number}, inputs=inputs))
    return cells


def overhead(folder: Path, count: int) -> None:
    engines = {"this process": 0, "a local cluster, 2 workers": 2}
    print(f"bare file operations of a cell: {1000 * bare_files(folder / 'bare', count):.2f} ms")
    print(f"{count:,} cells that do nothing       ms a cell   start, s   processor ms a cell   found again, ms a cell")
    for name, workers in engines.items():
        for shape, chains in (("side by side", count), ("in 10 chains", 10)):
            cells = nothings(count, chains)
            store = CellStore(folder / f"{name} {shape}")
            few_cpu = timed(cells[:2], store, workers)[1]
            ends: list[float] = []
            wall, cpu = timed(cells, store, workers, lambda _done, _all: ends.append(time.perf_counter()))  # noqa: B023
            again, _ = timed(cells, store, workers)
            each = 1000 * (ends[-1] - ends[count // 10]) / (count - count // 10 - 1)
            start, each_cpu = wall - each * count / 1000, 1000 * (cpu - few_cpu) / (count - 2)
            what = f"{name}, {shape}"
            print(f"{what:38} {each:6.2f} {start:10.2f} {each_cpu:21.2f} {1000 * again / count:24.2f}", flush=True)
    print()


def bare_files(folder: Path, count: int) -> float:
    """Seconds that a cell's folders, files and moves take without anything around them."""
    (folder / "cells").mkdir(parents=True)
    started = time.perf_counter()
    for number in range(count):
        out, whole = folder / "out", folder / "whole"
        out.mkdir()
        whole.mkdir()
        (out / "nothing.json").write_text("{}")
        (whole / "manifest.json").write_text("{}" * 200)
        (whole / "run.json").write_text("{}")
        out.replace(whole / "files")
        (folder / "cells" / str(number)).mkdir()
        whole.replace(folder / "cells" / str(number) / "cell")
    return (time.perf_counter() - started) / count


def flushing(folder: Path) -> None:
    """What it would cost to flush a file; a cell has at least three, and as many folders."""
    place = folder / "flush"
    place.mkdir()

    def write(number: int, *, flush: bool) -> None:
        with (place / str(number)).open("wb") as file:
            file.write(b"x" * 1000)
            if flush:
                file.flush()
                os.fsync(file.fileno())

    seconds = {}
    for flush in (False, True):
        started = time.perf_counter()
        for number in range(200):
            write(number, flush=flush)
        seconds[flush] = (time.perf_counter() - started) / 200
    ratio = seconds[True] / seconds[False]
    print(
        f"one small file: {1000 * seconds[False]:.2f} ms, flushed {1000 * seconds[True]:.2f} ms ({ratio:.0f} times)\n"
    )


def bare(count: int) -> float:
    """Mean seconds of processes that only add numbers, so many at a time."""
    command = [sys.executable, "-c", SUMS]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return float(np.mean([float(one.communicate()[0]) for one in running]))


def scaling(folder: Path, models: int, tokens: int) -> None:
    random = np.random.default_rng(0)
    shares = 1 / np.arange(1, 60_001)
    ranks = random.choice(len(shares), tokens, p=shares / shares.sum())
    words = np.array([f"{rank:x}".translate(LETTERS) for rank in range(len(shares))])
    (folder / "text.txt").write_text("\n".join(" ".join(words[part]) for part in np.array_split(ranks, 10_000)) + "\n")
    (folder / "study.toml").write_text(STUDY.format(models=models))
    limit = 2 * bare(1) / bare(2)
    print(f"two processes that only add numbers do {limit:.2f} times the work of one: the limit here and now")
    print(f"{models} cells               one worker, s   two, s   gain   of the limit   processor, s: one   two")
    stores = {count: CellStore(folder / f"{count} workers") for count in (1, 2)}
    cells = plan_study(folder / "study.toml", stores[1]).cells
    for steps in (("corpus",), ("train",), ("vocabulary",), ("score",)):
        wanted = [cell for cell in cells if cell.step in steps]
        needed = [cell for cell in cells[: cells.index(wanted[-1]) + 1] if cell.step not in steps]
        walls, works = {}, {}
        for count, store in stores.items():
            present = [cell for cell in needed if store.manifest(cell.key) is not None]
            walls[count], works[count] = timed([*present, *wanted], store, count)
        if len(wanted) > 1:
            gain = walls[1] / walls[2]
            shown = f"{steps[0]:20} {walls[1]:14.1f} {walls[2]:8.1f} {gain:6.2f} {gain / limit:14.2f}"
            print(f"{shown} {works[1]:19.1f} {works[2]:5.1f}", flush=True)
    print()


if __name__ == "__main__":
    main()
