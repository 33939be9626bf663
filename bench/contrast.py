"""How often intervals of the contrast hold it: two-way clustering, a pigeonhole bootstrap, and WEAT's d by BCa.

    python bench/contrast.py --draws 400

Words are drawn from pools of 150 neighbors in the shipped GloVe vectors, so that the true contrast is that of the pools
(METHODS 7.5): real contrasts, A and B from one pool, X and Y from one pool, with 8 and 25 words a list. Times are those
of one interval.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from biasgauge.core.arrays import Floats, Places
from biasgauge.core.geometry import unit_rows
from biasgauge.metrics import weat_from_similarities
from biasgauge.stats import Resampling, contrast_estimate
from biasgauge.vectors import load_default

POOL = 150
LEVEL = 0.95
CELLS = {
    "nurse, engineer; he, she": ("nurse", "engineer", "he", "she"),
    "piano, rifle; love, hate": ("piano", "rifle", "love", "hate"),
    "algebra, poetry; man, man (one pool)": ("algebra", "poetry", "man", "man"),
    "algebra, algebra (one pool); man, woman": ("algebra", "algebra", "man", "woman"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400)
    asked = parser.parse_args()
    model = load_default()
    units = unit_rows(np.asarray(model.vectors, np.float64))
    print(f"{'pools':<42}{'words':>6}{'two-way':>9}{'pigeonhole':>12}{'d by BCa':>10}")
    for name, seeds in CELLS.items():
        pools = [np.argsort(-(units @ units[model.index[word]]))[:POOL] for word in seeds]
        for words in (8, 25):
            row = covered(units, pools, words, asked.draws)
            print(f"{name:<42}{words:>6}{row['two-way']:>9.3f}{row['pigeonhole']:>12.3f}{row['d']:>10.3f}")
    print("milliseconds of one interval:", ", ".join(f"{what} {1000 * took:.1f}" for what, took in times.items()))


times: dict[str, float] = {}


def covered(units: Floats, pools: list[Places], words: int, draws: int) -> dict[str, float]:
    """Shares of intervals that hold the contrast (or d) of the whole pools."""
    random = np.random.default_rng(3)
    truth = _split(units, pools)
    whole = _contrast(truth)
    d = weat_from_similarities(*truth, interval=None, samples=1, max_exact=0).value or 0.0
    hits = {"two-way": 0, "pigeonhole": 0, "d": 0}
    groups = np.repeat([0, 1], words)
    for _ in range(draws):
        parts = []
        for first, second in ((0, 1), (2, 3)):  # two lists of one pool have no word in common
            if np.array_equal(pools[first], pools[second]):
                drawn = random.choice(pools[first], 2 * words, replace=False)
                parts += [drawn[:words], drawn[words:]]
            else:
                parts += [random.choice(pools[place], words, replace=False) for place in (first, second)]
        blocks = _split(units, parts)
        table = np.block([[blocks[0], blocks[1]], [blocks[2], blocks[3]]])
        started = time.perf_counter()
        found = contrast_estimate(table, groups, groups, level=LEVEL)
        times["two-way"] = time.perf_counter() - started
        hits["two-way"] += found.low is not None and found.high is not None and found.low <= whole <= found.high
        started = time.perf_counter()
        low, high = _pigeonhole(table, words, random)
        times["pigeonhole"] = time.perf_counter() - started
        hits["pigeonhole"] += low <= whole <= high
        started = time.perf_counter()
        around = weat_from_similarities(*blocks, samples=1, max_exact=0, interval=Resampling(resamples=1_000)).interval
        times["d by BCa"] = time.perf_counter() - started
        if around is not None and around.low is not None and around.high is not None:
            hits["d"] += around.low <= d <= around.high
    return {name: count / draws for name, count in hits.items()}


def _split(units: Floats, pools: list[Places]) -> list[Floats]:
    x, y, a, b = (units[pool] for pool in pools)
    return [x @ a.T, x @ b.T, y @ a.T, y @ b.T]


def _contrast(blocks: list[Floats]) -> float:
    xa, xb, ya, yb = (float(block.mean()) for block in blocks)
    return xa - xb - ya + yb


def _pigeonhole(table: Floats, words: int, random: np.random.Generator, resamples: int = 1_000) -> tuple[float, float]:
    """Rows and columns drawn again, each within its list, at the same time (Owen 2007)."""
    counts = [random.multinomial(words, np.full(words, 1 / words), size=(resamples, 2)) / words for _ in range(2)]
    signs = np.array([1.0, -1.0])[None, :, None]
    rows, columns = ((one * signs).reshape(resamples, -1) for one in counts)
    values = ((rows @ table) * columns).sum(axis=1)
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


if __name__ == "__main__":
    main()
