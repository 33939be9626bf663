"""The embedding-wide reference distribution: against the bare product of all words with all possible neighbors.

    python bench/robustness.py [--words 48000] [--pool 26000] [--dim 300] [--jobs 2]

Three measures, ten pairs, mean and standard deviation of each with intervals, on random clustered vectors, in one run.
The product is what no exact search for neighbors can avoid: every word with every word of the pool, a block at a time,
on as many threads. Also: all words as the pool, where each similarity is needed by both its ends. With one thread it is
processor time that counts, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

import biasgauge as bg
from biasgauge.analyses.robustness import reference_scores
from biasgauge.scores import block_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PAIRS, REPEAT = 10, 3
MEASURES = ("dbwa", "ripa", "nbm")


def vectors(rows: int, dim: int) -> NDArray[np.float32]:
    """Clustered vectors of uneven length: neighborhoods are uneven, as in language."""
    random = np.random.default_rng(0)
    centers = random.standard_normal((200, dim)).astype(np.float32)
    return centers[random.integers(0, 200, rows)] * np.float32(0.7) + random.standard_normal((rows, dim), np.float32)


def best(work: Callable[[], object], jobs: int) -> float:
    clock = time.process_time if jobs == 1 else time.perf_counter
    times = []
    for _ in range(REPEAT):
        started = clock()
        work()
        times.append(clock() - started)
    return min(times)


def bare_product(units: NDArray[np.float32], pool: NDArray[np.float32]) -> None:
    step = block_rows(len(pool))
    out = np.empty((step, len(pool)), np.float32)
    for start in range(0, len(units), step):
        block = units[start : start + step]
        np.matmul(block, pool.T, out=out[: len(block)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=48_000)
    parser.add_argument("--pool", type=int, default=26_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    matrix = vectors(asked.words, asked.dim)
    names = tuple(f"w{number}" for number in range(asked.words))
    model = bg.Embedding(names, matrix)
    model.checksum  # noqa: B018 - computed once a model, whatever is asked of it
    pairs = [(names[2 * place], names[2 * place + 1]) for place in range(PAIRS)]
    units: NDArray[np.float32] = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    print(f"{asked.words:,} words × {asked.dim}, {PAIRS} pairs, {', '.join(MEASURES)}")
    for title, size in (("a pool of its own", asked.pool), ("all words as the pool", asked.words)):
        chosen = np.random.default_rng(1).permutation(asked.words)[:size]
        pool = [names[place] for place in chosen]
        with threadpool_limits(asked.jobs, "blas"):
            product = best(partial(bare_product, units, units[chosen]), asked.jobs)
        work = partial(reference_scores, model, pairs, names, MEASURES, pool=pool, n_jobs=asked.jobs)
        ours = best(work, asked.jobs)
        print(f"  {title}, {size:,}")
        print(f"    bare product {product:7.2f} s")
        print(f"    biasgauge    {ours:7.2f} s   {ours / product:5.2f} × the product")


if __name__ == "__main__":
    main()
