"""Stability of words over replicates: against SciPy's Procrustes in a plain loop, and against the bare products.

    python bench/stability.py [--models 8] [--words 50000] [--dimensions 100]

All on the same vectors (32-bit, one vocabulary), in one run, on all cores. The bare products are what no method can
avoid: for every pair of models AᵀB and A Q, here in single precision and without anything else. The plain loop is what
a user would write: `scipy.linalg.orthogonal_procrustes`, the rotated matrix, its cosines with the other; in the
precision of the vectors, and in double precision. Ours sums AᵀB in double precision. Memory is that of a process of its
own. On a busy machine the threads of the bare products and of SciPy wait for each other: OPENBLAS_NUM_THREADS=1 and one
core (taskset -c 0) then compare fairly.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import orthogonal_procrustes
from timing import best

from biasgauge.vectors import Embedding, mean_embedding, stability

if TYPE_CHECKING:
    from numpy.typing import NDArray


def replicates(models: int, words: int, dimensions: int) -> list[Embedding]:
    """Noisy views of the same vectors, each in axes of its own, with strong and weak directions as in language."""
    random = np.random.default_rng(0)
    truth = random.standard_normal((words, dimensions), np.float32) * np.geomspace(2, 0.2, dimensions, dtype=np.float32)
    vocabulary = tuple(f"w{row}" for row in range(words))
    found = []
    for number in range(models):
        axes = np.linalg.qr(random.standard_normal((dimensions, dimensions)))[0].astype(np.float32)
        noise = random.standard_normal((words, dimensions), np.float32) * np.float32(0.3)
        found.append(Embedding(vocabulary, (truth + noise) @ axes, name=f"m{number}"))
    return found


def bare(matrices: list[NDArray[np.float32]]) -> None:
    turn = np.eye(matrices[0].shape[1], dtype=np.float32)
    for a, b in combinations(matrices, 2):
        a.T @ b
        a @ turn


def plain_loop(matrices: list[NDArray[np.float32]]) -> NDArray[np.float64]:
    total = np.zeros(len(matrices[0]))
    pairs = list(combinations(matrices, 2))
    for a, b in pairs:
        rotation, _ = orthogonal_procrustes(a, b)
        moved = a @ rotation
        total += (moved * b).sum(axis=1) / (np.linalg.norm(moved, axis=1) * np.linalg.norm(b, axis=1))
    return total / len(pairs)


def extra_megabytes(models: int, words: int, dimensions: int) -> float:
    """How far the peak rises above what the models themselves take."""
    program = (
        "import sys; sys.path.insert(0, 'bench')\n"
        "import stability as bench\n"
        "def read(key):\n"
        "    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith(key))\n"
        f"models = bench.replicates({models}, {words}, {dimensions})\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"
        "before = read('VmRSS')\n"
        "bench.stability(models)\n"
        "print(read('VmHWM') - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--dimensions", type=int, default=100)
    asked = parser.parse_args()
    models = replicates(asked.models, asked.words, asked.dimensions)
    matrices = [np.asarray(one.vectors) for one in models]
    wide = [one.astype(np.float64) for one in matrices]
    exact = plain_loop(wide)  # type: ignore[arg-type]  # double precision
    products = best(lambda: bare(matrices))
    ours = best(lambda: stability(models))
    single = best(lambda: plain_loop(matrices))
    double = best(lambda: plain_loop(wide))  # type: ignore[arg-type]  # double precision
    error, theirs = (np.abs(one - exact).max() for one in (stability(models).values, plain_loop(matrices)))
    print(f"stability, {asked.models} models × {asked.words:,} × {asked.dimensions}, all pairs")
    print(f"  bare products       {products:7.2f} s")
    print(f"  biasgauge           {ours:7.2f} s   {ours / products:5.2f} × the products; off by at most {error:.1e}")
    print(f"  SciPy loop, 32-bit  {single:7.2f} s   {single / ours:5.2f} × biasgauge; off by at most {theirs:.1e}")
    print(f"  SciPy loop, 64-bit  {double:7.2f} s   {double / ours:5.2f} × biasgauge")
    print(f"  extra memory        {extra_megabytes(asked.models, asked.words, asked.dimensions):7.0f} MB")
    averaged = best(lambda: mean_embedding(models), repeat=1)
    print(f"  mean of the models  {averaged:7.2f} s   (generalized Procrustes)")


if __name__ == "__main__":
    main()
