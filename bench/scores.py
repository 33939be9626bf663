"""Scoring: against the bare matrix product, and against the way of the published code (faiss: index, search, gather).

    python bench/scores.py [--part nbm|linear|growth]

All on the same random clustered vectors, in one run, on all cores. The product is what no exact method can avoid: every
word with every word for NBM, every word with every pair for the linear measures. Peak memory is that of a process of
its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from timing import best

from biasgauge import registry
from biasgauge.scores import block_rows
from biasgauge.scores.engine import ScoringTask, compute

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIRS, K = 23, 100


def vectors(rows: int, dim: int) -> NDArray[np.float32]:
    """Clustered vectors of uneven length: neighborhoods are uneven, as in language."""
    random = np.random.default_rng(0)
    centers = random.standard_normal((200, dim)).astype(np.float32)
    return centers[random.integers(0, 200, rows)] * np.float32(0.7) + random.standard_normal((rows, dim), np.float32)


def task(matrix: NDArray[np.float32], *names: str) -> ScoringTask:
    ends = np.arange(2 * PAIRS)
    return ScoringTask(
        matrix, np.arange(len(matrix)), ends[::2], ends[1::2], [registry.get("measure", name) for name in names], K
    )


def unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    units: NDArray[np.float32] = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return units


def bare_square(units: NDArray[np.float32]) -> None:
    """The product of all words with all words, a block at a time into one buffer."""
    step = block_rows(len(units))
    out = np.empty((step, len(units)), np.float32)
    for start in range(0, len(units), step):
        block = units[start : start + step]
        np.matmul(block, units.T, out=out[: len(block)])


def faiss_way(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Du et al.: an exact index, k + 1 hits, then the neighbors' vectors gathered and scored."""
    import faiss

    units = unit(matrix)
    index = faiss.IndexFlatL2(units.shape[1])
    index.add(units)
    _, hits = index.search(units, K + 1)
    directions = units[: 2 * PAIRS : 2] - units[1 : 2 * PAIRS : 2]
    gathered = units[hits[:, 1:]]
    votes = np.where(gathered @ directions.T >= 0, 1, -1)
    scores: NDArray[np.float32] = votes.mean(axis=1).astype(np.float32)
    return scores


def peak_megabytes(rows: int, dim: int) -> float:
    program = (
        "import sys; sys.path.insert(0, 'bench')\n"
        "import scores\n"
        f"work = scores.task(scores.vectors({rows}, {dim}), 'nbm')\n"
        "scores.compute(work)\n"
        "print(next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def nbm() -> None:
    matrix = vectors(50_000, 100)
    units = unit(matrix)
    product = best(lambda: bare_square(units))
    ours = best(lambda: compute(task(matrix, "nbm")))
    print("NBM, 50,000 × 100, 23 pairs, k = 100")
    print(f"  bare product       {product:7.2f} s")
    print(f"  biasgauge          {ours:7.2f} s   {ours / product:5.2f} × the product")
    theirs = best(lambda: faiss_way(matrix), repeat=1)
    print(f"  faiss and gather   {theirs:7.2f} s   {theirs / ours:5.2f} × biasgauge")
    print(f"  peak memory        {peak_megabytes(50_000, 100):7.0f} MB")


def linear() -> None:
    matrix = vectors(200_000, 300)
    work = task(matrix, "dbwa", "ripa")
    directions = np.concatenate([work.directions(one) for one in work.measures]).astype(np.float32)  # type: ignore[arg-type]
    product = best(lambda: directions @ matrix.T, repeat=7)
    ours = best(lambda: compute(work), repeat=7)
    print("DB/WA and RIPA, 200,000 × 300, 23 pairs")
    print(f"  bare product       {product:7.3f} s")
    print(f"  biasgauge          {ours:7.3f} s   {ours / product:5.2f} × the product")


def several(work: ScoringTask, models: int) -> None:
    for _ in range(models):
        compute(work)


def growth() -> None:
    """Exponent e of time ~ size^e, by least squares on the logarithms."""
    print("how time grows (exponent of a fitted power; NBM over a whole vocabulary is words × vocabulary: at most 2)")
    for names, sizes in ((("dbwa", "ripa"), (100_000, 200_000, 400_000)), (("nbm",), (25_000, 50_000, 100_000))):
        works = [task(vectors(size, 100), *names) for size in sizes]
        times = [best(partial(compute, work), repeat=2) for work in works]
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        shown = ", ".join(f"{size:,}: {seconds:.2f} s" for size, seconds in zip(sizes, times, strict=True))
        print(f"  {'+'.join(names):<10} words: {slope:5.2f}   ({shown})")
    matrix = vectors(10_000, 100)
    counts = (1, 2, 4)
    times = [best(partial(several, task(matrix, "nbm"), count)) for count in counts]
    print(f"  nbm        models: {np.polyfit(np.log(counts), np.log(times), 1)[0]:5.2f}")


def main() -> None:
    parts = {"nbm": nbm, "linear": linear, "growth": growth}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=parts)
    chosen = parser.parse_args().part
    for name, part in parts.items():
        if chosen in (None, name):
            part()


if __name__ == "__main__":
    main()
