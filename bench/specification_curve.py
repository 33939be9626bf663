"""How often the specification curve reports an association that is none: nulls in which words, or groups, lean alone.

    python bench/specification_curve.py [--draws 400] [--size 8] [--views 12]

Vectors of words are shared by all views, to which each view adds noise of its own. Every null has something in it that
a careless rule would report: single words lean (targets, attributes), or the targets are two topics that differ in
everything but the attributes. The last row is no null: X leans to A in half of the views and to B in the others.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np

from biasgauge.analyses.robustness import specification_curve
from biasgauge.core import REPORTED
from biasgauge.vectors import Embedding

DIM = 30
NULLS = ("words lean alone", "two topics of targets", "two topics of attributes", "nothing at all")
ROLES = "xyab"


def vectors(null: str, size: int, views: int, random: np.random.Generator) -> list[np.ndarray]:
    """Vectors of all words, view by view: X, Y, A, B, `size` of each."""
    base = random.standard_normal((4 * size, DIM))
    topic = random.standard_normal((2, DIM)) * 1.5
    if null == "two topics of targets":
        base[:size] += topic[0]
        base[size : 2 * size] += topic[1]
    elif null == "two topics of attributes":
        base[2 * size : 3 * size] += topic[0]
        base[3 * size :] += topic[1]
    elif null == "nothing at all":
        base *= 0.0
    made = [base + 0.7 * random.standard_normal(base.shape) for _ in range(views)]
    if null == "turns with the view":
        pull = random.standard_normal(DIM) * 2
        for number, view in enumerate(made):
            sign = 1 if number % 2 else -1
            view[:size] += sign * pull
            view[2 * size : 3 * size] += pull
    return made


def decided(null: str, size: int, views: int, seed: int) -> str:
    """The decision on one draw."""
    random = np.random.default_rng(seed)
    names = tuple(f"{role}{number}" for role in ROLES for number in range(size))
    models = [
        Embedding(words=names, vectors=matrix.astype(np.float32), name=f"view {number}")
        for number, matrix in enumerate(vectors(null, size, views, random))
    ]
    sets: dict[str, Any] = {role: [f"{role}{number}" for number in range(size)] for role in ROLES}
    return specification_curve(models, **sets, samples=999, random_state=seed).decision


def rates(null: str, draws: int, size: int, views: int) -> dict[str, float]:
    """Share of each decision; frequencies are not known here, so that a finding is reported with care at best."""
    counts = Counter(decided(null, size, views, seed) for seed in range(draws))
    reported = sum(counts[name] for name in REPORTED) / draws
    return {"report": reported, **{name: counts[name] / draws for name in ("do-not-report", "inconclusive")}}


def main() -> None:
    """Print a row for each null."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("draws", 400), ("size", 8), ("views", 12)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    print(f"{'':28}{'report':>10}{'do not report':>16}{'inconclusive':>14}")
    for null in (*NULLS, "turns with the view"):
        found = rates(null, asked.draws, asked.size, asked.views)
        numbers = "".join(f"{found[name]:>{width}.3f}" for name, width in
                          (("report", 10), ("do-not-report", 16), ("inconclusive", 14)))  # fmt: skip
        print(f"{null:28}{numbers}", flush=True)


if __name__ == "__main__":
    main()
