"""Reliability of the extrinsic number over task seeds: without it nothing can correlate with it.

A task model trained again gives another gap. How far the gaps of embeddings differ beyond that is an intraclass
correlation. One seed gives all task models the same first weights and the same order of examples, so that it moves all
gaps together, which no correlation with them notices: where all embeddings were given the same seeds, that part is left
out (two-way, consistency). Where they were not, it is noise (one-way). By the law of attenuation (Spearman 1904) an
error-free number correlates with gaps at the root of their reliability at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from biasgauge.analyses.reliability import band
from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.stats import Form, Icc, icc

RELIABLE = 0.5
"""Below this a reliability is poor (Koo & Li 2016)."""


@dataclass(frozen=True)
class SeedReliability(Record):
    """Reliability of y over task seeds.

    Attributes:
        single: of y from one seed: ICC(3,1) where all points have the same seeds, ICC(1,1) where not.
        mean: of its mean over the k seeds, which is what is correlated: ICC(3,k) or ICC(1,k).
        left_out: points that have fewer seeds and did not count.
        reading: what it comes to, in a sentence.
        crossed: whether all points have the same seeds.
    """

    single: Icc
    mean: Icc
    left_out: int
    reading: str
    crossed: bool = False

    @property
    def form(self) -> str:
        """Form of the intraclass correlation of the mean."""
        return f"ICC({'3' if self.crossed else '1'},k)"

    @property
    def r_max(self) -> Estimate:
        """Largest correlation that an error-free x could show with the mean: the root of its reliability, or 0."""
        return _largest_r(self.single, self.mean)

    def derived(self) -> JsonMapping:
        """The largest correlation, with its interval."""
        return {"r_max": self.r_max.value, "r_max_low": self.r_max.low, "r_max_high": self.r_max.high}


def seed_reliability(
    runs: Sequence[Sequence[float]],
    name: str,
    *,
    seeds: Sequence[Sequence[str]] | None = None,
    level: float = 0.95,
) -> SeedReliability:
    """Reliability of numbers that were measured several times.

    Where points have different numbers of seeds, as many seeds are used as make the most of the runs.

    Args:
        runs: for each point its values, one a seed.
        name: what the values are, for the sentence.
        seeds: for each point which seeds these are, in the same order; None: they have nothing to do with each other.
        level: of the intervals.
    """
    sizes = np.array([len(run) for run in runs])
    # the number of seeds k that uses most runs: k times the points that have at least k
    seeds_used = max(
        range(1, int(sizes.max(initial=1)) + 1), key=lambda k: (k * int((sizes >= k).sum()) if k > 1 else 0, k)
    )
    rows = [row for row, run in enumerate(runs) if len(run) >= seeds_used]
    matrix = np.array([list(runs[row][:seeds_used]) for row in rows], float).reshape(-1, seeds_used)
    crossed = seeds is not None and len({tuple(seeds[row][:seeds_used]) for row in rows}) == 1
    forms: tuple[Form, Form] = ("3,1", "3,k") if crossed else ("1,1", "1,k")
    single, mean = (cast("Icc", icc(matrix, form, level=level)) for form in forms)  # one matrix, one number each
    reading = _reading(single, mean, _largest_r(single, mean).value, name)
    return SeedReliability(single, mean, len(runs) - len(matrix), reading, crossed)


def _largest_r(single: Estimate, mean: Estimate) -> Estimate:
    value, low, high = (None if end is None else max(end, 0.0) ** 0.5 for end in (mean.value, mean.low, mean.high))
    if mean.value is None and single.value is not None:  # subjects do not differ on average: nothing but noise
        value = low = 0.0
    return Estimate(value=value, low=low, high=high, level=mean.level, method="√ICC", n=mean.n, reason=mean.reason)


def _reading(single: Estimate, mean: Estimate, most: float | None, name: str) -> str:
    if most is None or single.value is None:
        return f"The reliability of {name!r} over task seeds is not known: {mean.reason or single.reason}."
    over = f"over {single.k} task seeds"
    if most == 0:
        return (
            f"{name!r} is not reliable: it does not differ between embeddings by more than task seeds make of it "
            f"({single}): no correlation can be seen, whatever is true."
        )
    if mean.value is not None and mean.value < RELIABLE:
        return (
            f"{name!r} is not reliable: as a mean {over} its reliability is {mean.value:.2f} ({band(mean.value)}; one "
            f"seed: {single.value:.2f}), so that hardly any correlation can be seen: even a perfect relation would "
            f"show as r = {most:.2f} at most. Train with more seeds."
        )
    return (
        f"{name!r} has a reliability of {mean.value:.2f} as a mean {over} ({band(mean.value)}; one seed: "
        f"{single.value:.2f}). Even a perfect relation would show as r = {most:.2f} at most."
    )
