"""250,000 ICC(2,1) of 23 × 32 with intervals: against pingouin, and against reading the scores once.

    python bench/reliability.py [--matrices 250000]

All in one run. Scores are 32-bit, as a score tensor holds them, in both layouts: one matrix after the other, and words
within pairs as in the tensor. "Reading once" is one sum over all scores, in double precision as the ICC needs it, and
in single precision, which is as fast as memory allows and errs. Peak memory is beyond the scores, with the results.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pingouin
from timing import best

import biasgauge
from biasgauge.analyses.reliability import reliability
from biasgauge.scores import ScoreTensor
from biasgauge.stats import Iccs, cronbach_alpha, icc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PAIRS, MODELS = 23, 32


def scores(matrices: int) -> NDArray[np.float32]:
    """Pairs × words × models: signal, shifts of models, noise."""
    random = np.random.default_rng(0)
    found = np.empty((PAIRS, matrices, MODELS), np.float32)
    shift = 0.3 * random.standard_normal((matrices, MODELS), np.float32)
    for pair in range(PAIRS):
        found[pair] = 0.5 * random.standard_normal((matrices, MODELS), np.float32) + shift
        found[pair] += random.standard_normal((matrices, 1), np.float32)
    return found


def peak(work: Callable[[], object]) -> float:
    """Megabytes that the work takes at its peak, with what it returns."""
    tracemalloc.start()
    work()
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return megabytes


def theirs(matrix: NDArray[np.float32]) -> object:
    long = pd.DataFrame(matrix).reset_index().melt(id_vars="index")
    return pingouin.intraclass_corr(long, targets="index", raters="variable", ratings="value")


def error(stack: NDArray[np.float32], found: Iccs) -> float:
    """Largest difference of a value from the same formula in extended precision, over some matrices."""
    worst = 0.0
    for place in range(0, len(stack), len(stack) // 50):
        matrix = stack[place].astype(np.longdouble)
        n, k = matrix.shape
        rows, columns = k * matrix.mean(axis=1).var(ddof=1), n * matrix.mean(axis=0).var(ddof=1)
        rest = (matrix.var(ddof=1) * (n * k - 1) - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
        value = (rows - rest) / (rows + (k - 1) * rest + k / n * (columns - rest))
        worst = max(worst, abs(float(value) - float(found.value[place])))
    return worst


def main() -> None:
    warnings.simplefilter("ignore")  # pingouin's
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=250_000)
    size = parser.parse_args().matrices
    tensor = scores(size)
    turned = tensor.transpose(1, 0, 2)
    ours = best(lambda: icc(turned), repeat=5)
    beyond = peak(lambda: icc(turned))
    double, single = best(lambda: tensor.sum(dtype=np.float64), repeat=5), best(tensor.sum, repeat=5)
    stack = np.ascontiguousarray(turned)
    packed = best(lambda: icc(stack), repeat=5)
    alone = best(lambda: icc(turned, n_jobs=1), repeat=5)
    alpha = best(lambda: cronbach_alpha(turned), repeat=5)
    each = best(lambda: theirs(stack[0]), repeat=15)
    found = icc(turned)
    assert isinstance(found, Iccs)  # noqa: S101 - a stack in, a stack out
    print(f"{size:,} ICC(2,1) of {PAIRS} × {MODELS} with intervals, {tensor.nbytes / 1e6:,.0f} MB of scores")
    print(f"  reading once, double precision  {double:7.3f} s")
    print(f"  reading once, single precision  {single:7.3f} s")
    for what, seconds in (
        ("as in the tensor", ours),
        ("one matrix after the other", packed),
        ("as in the tensor, one thread", alone),
    ):
        ratios = f"{seconds / double:5.2f} × double, {seconds / single:5.2f} × single"
        print(f"  {what:<30}  {seconds:7.3f} s   {ratios}")
    print(f"  Cronbach's alpha, as in tensor  {alpha:7.3f} s")
    print(f"  pingouin, one matrix            {each * 1e3:7.2f} ms  {each / (ours / size):9,.0f} × ours")
    print(f"  memory beyond the scores        {beyond:7.0f} MB")
    print(f"  largest error of a value        {error(stack, found):9.1e}")
    whole()


def whole() -> None:
    """All of `reliability` on three measures, 10,000 words and 16 models."""
    values = np.stack([scores(10_000)[..., :16] * scale for scale in (0.1, 0.3, 1)])
    made = ScoreTensor(
        values,
        np.zeros(values.shape, np.uint8),
        ("dbwa", "ripa", "nbm"),
        biasgauge.lexicon("du2021").pairs,  # type: ignore[attr-defined]  # a lexicon of pairs
        biasgauge.lexicon("google10k").words,
        tuple(f"seed{seed}" for seed in range(16)),
        {"pairs": {"name": "du2021"}},
    )
    print(
        f"reliability of 3 measures × 23 pairs × 10,000 words × 16 models  {best(lambda: reliability(made), 2):5.2f} s"
    )


if __name__ == "__main__":
    main()
