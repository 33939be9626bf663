"""Coverage of the intervals of ICC(2,1) and Cronbach's alpha, as docs/reliability/reliability_intervals.md prints it.

    python bench/reliability_intervals.py [--runs 1000] [--resamples 1000] [--level 0.95]

Scores are subject + rater + error, with variances 1, .3 and 1. Subjects and errors are normal, Student's t with 3
degrees of freedom, or exponential; raters are normal. Each row has as many matrices as --runs; the Monte Carlo error of
a coverage is sqrt(.95 · .05 / runs), .007 for 1,000.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.stats import cronbach_alpha, icc

EFFECTS = ("normal", "t(3)", "skewed")
RATERS = (3, 8, 20)
SUBJECTS = (20, 60, 300)
INTERVALS = ("f", "bootstrap", "auto")
OF_RATERS = 0.3


def effects(kind: str, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[np.float64]:
    """Independent effects with mean 0 and variance 1."""
    if kind == "normal":
        return random.standard_normal(shape)
    return random.standard_t(3, shape) / 3**0.5 if kind == "t(3)" else random.exponential(1, shape) - 1


def matrix(kind: str, n: int, k: int, random: np.random.Generator) -> NDArray[np.float64]:
    """One matrix of n subjects by k raters."""
    raters = random.standard_normal((1, k)) * OF_RATERS**0.5
    return np.asarray(effects(kind, (n, 1), random) + raters + effects(kind, (n, k), random))


def coverage(kind: str, n: int, k: int, *, runs: int, resamples: int = 1_000, level: float = 0.95) -> Iterator[float]:
    """Share of the intervals that hold the truth: those of ICC(2,1), one for each form, then those of alpha."""
    how: dict[str, Any] = {"level": level, "resamples": resamples}
    for statistic, truth in (("ICC(2,1)", 1 / (2 + OF_RATERS)), ("alpha", k / (k + 1))):
        random = np.random.default_rng([n, k, EFFECTS.index(kind)])
        held = dict.fromkeys(INTERVALS, 0)
        for _ in range(runs):
            scores = matrix(kind, n, k, random)
            for interval in INTERVALS:
                form = {"interval": interval, **how}
                fit: Any = cronbach_alpha(scores, **form) if statistic == "alpha" else icc(scores, "2,1", **form)
                held[interval] += int(fit.low <= truth <= fit.high)
        yield from (count / runs for count in held.values())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=1_000)
    arguments.add_argument("--resamples", type=int, default=1_000)
    arguments.add_argument("--level", type=float, default=0.95)
    given = arguments.parse_args()
    heads = [f"{statistic}, {interval}" for statistic, interval in product(("ICC(2,1)", "alpha"), INTERVALS)]
    print("|", " | ".join(["effects", "subjects", "raters", *heads]), "|")
    print("|---" * (3 + len(heads)) + "|")
    for n, kind, k in product(SUBJECTS, EFFECTS, RATERS):
        shares = [f"{share:.3f}".removeprefix("0") for share in coverage(kind, n, k, **vars(given))]
        print("|", " | ".join([kind, str(n), str(k), *shares]), "|", flush=True)


if __name__ == "__main__":
    main()
