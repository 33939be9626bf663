"""Influence of each unit on a correlation, and the reliability of the extrinsic number over task seeds.

A few points far out can make a correlation by themselves. Without them r is smaller in any case, since x spreads less
(Thorndike 1949, case 2, says by how much); a slope is not changed if one straight line holds for all.

A task model trained again gives another gap. How far the gaps of embeddings differ beyond that is an intraclass
correlation. One seed gives all task models the same first weights and the same order of examples, so that it moves all
gaps together, which no correlation with them notices: where all embeddings were given the same seeds, that part is left
out (two-way, consistency). Where they were not, it is noise (one-way). By the law of attenuation (Spearman 1904) an
error-free number correlates with gaps at the root of their reliability at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from biasgauge.analyses.reliability import band
from biasgauge.core import Estimate, Flags, Floats, JsonMapping, Places, Record
from biasgauge.results import counted, estimate_text, signed_text
from biasgauge.stats import SAME, Form, Icc, Resampling, correlation, icc, slope_estimate, why_undefined

HALF = 0.5
FEWEST = 5
"""Units at least that must be left for a correlation without others."""
MOST_LISTED = 200
RELIABLE = 0.5
"""Below this a reliability is poor (Koo & Li 2016)."""


@dataclass(frozen=True)
class UnitInfluence(Record):
    """Influence of one unit on the correlation of all points.

    Attributes:
        unit: its name.
        points: how many it has.
        share: of the sum of squares of x that is its own; shares add up to 1.
        r_without: r without it.
        r_left: r without it and all with larger shares; None where fewer than five units are left.
    """

    unit: str
    points: int
    share: float
    r_without: float | None
    r_left: float | None


@dataclass(frozen=True)
class UnitInfluences(Record):
    """Units that drive a correlation (Pearson's).

    Attributes:
        units: in falling order of their share of the sum of squares of x; at most two hundred.
        ends: the fewest of them that hold half of the sum of squares of x.
        r_left: r without these; None where fewer than five units are left.
        r_expected: r expected from the smaller range of x alone, if one straight line holds for all.
        slope, slope_left: of y on x, over all points and without these, with intervals over units.
        reading: conclusion in a sentence; empty where it is undefined.
    """

    units: tuple[UnitInfluence, ...]
    ends: tuple[str, ...]
    r_left: float | None
    r_expected: float | None
    slope: Estimate
    slope_left: Estimate
    reading: str = ""


def influence(
    x: Floats, y: Floats, units: Sequence[str] | None, names: tuple[str, str], resampling: Resampling
) -> UnitInfluences | None:
    """Units that drive the correlation of x and y; None where it is undefined, or there are fewer than seven units.

    `units` names the unit of each point; None: each is one. Intervals of slopes draw whole units again.
    """
    points = (f"point {number}" for number in range(1, len(x) + 1))
    listed, codes = np.unique(list(points if units is None else units), return_inverse=True)
    if why_undefined(x, y, names) or len(listed) < FEWEST + 2:
        return None
    squares = np.bincount(codes, (x - x.mean()) ** 2)
    shares = squares / squares.sum()
    order = np.argsort(-shares, kind="stable")
    unit_rank = np.argsort(order)[codes]  # of each point's unit among all, the largest share first
    rows = [
        UnitInfluence(
            unit=str(listed[code]),
            points=int((codes == code).sum()),
            share=float(shares[code]),
            r_without=_pearson(x, y, unit_rank != rank),
            r_left=_pearson(x, y, unit_rank > rank) if len(listed) - rank > FEWEST else None,
        )
        for rank, code in enumerate(order[:MOST_LISTED])
    ]
    number = 1 + int(np.searchsorted(shares[order].cumsum(), HALF - SAME))
    is_inner = unit_rank >= number
    r, r_left = _pearson(x, y, unit_rank >= 0), _pearson(x, y, is_inner) if len(listed) - number >= FEWEST else None
    expected = None if r is None or r_left is None else _range_restricted(r, float(x[is_inner].var() / x.var()))
    result = UnitInfluences(
        units=tuple(rows),
        ends=tuple(str(listed[code]) for code in order[:number]),
        r_left=r_left,
        r_expected=expected,
        slope=_slope(x, y, codes, resampling),
        slope_left=_slope(x[is_inner], y[is_inner], codes[is_inner], resampling),
    )
    if r is None or expected is None:
        return result
    unit_count = counted(len(listed), "point" if units is None else "unit")
    return replace(result, reading=_reading(result, r, names[0], unit_count, len(listed) - number))


def _pearson(x: Floats, y: Floats, selected: Flags) -> float | None:
    """Pearson's r of some points; None where one of the two does not vary."""
    value = float(correlation("pearson", x[selected], y[selected])[0])
    return value if np.isfinite(value) else None


def _range_restricted(r: float, ratio: float) -> float:
    """Pearson's r where x has `ratio` times its variance: r√ratio / √(r²·ratio + 1 − r²) (Thorndike 1949, case 2)."""
    return float(np.sign(r) * np.sqrt(r**2 * ratio / (r**2 * ratio + 1 - r**2)))


def _slope(x: Floats, y: Floats, codes: Places, resampling: Resampling) -> Estimate:
    _, units = np.unique(codes, return_inverse=True)
    return slope_estimate(x, y, np.zeros(len(x)), resampling, "units", units=units)


def _reading(result: UnitInfluences, r: float, x: str, unit_count: str, remaining: int) -> str:
    ends = len(result.ends)
    holders, pronoun = (f"{result.ends[0]!r} alone", "it") if ends == 1 else (f"{ends:,} of {unit_count}", "them")
    r_left, expected = (signed_text(value, 2) for value in (result.r_left, result.r_expected))
    slope_left, slope = (estimate_text(slope, 3) for slope in (result.slope_left, result.slope))
    return (
        f"Half of the sum of squares of {x!r} comes from {holders}. Without {pronoun} r is {r_left} instead of "
        f"{signed_text(r, 2)} ({expected} expected from the smaller range alone); the slope over the other "
        f"{remaining:,} is {slope_left}, over all {slope}."
    )


@dataclass(frozen=True)
class SeedReliability(Record):
    """Reliability of y over task seeds.

    Attributes:
        single: of y from one seed: ICC(3,1) where all points have the same seeds, ICC(1,1) where not.
        mean: of its mean over the k seeds, which enters the correlation: ICC(3,k) or ICC(1,k).
        left_out: points with fewer seeds, which are not used.
        reading: conclusion in a sentence.
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

    Where points have different numbers of seeds, the number of seeds is the one that uses most runs.

    Args:
        runs: for each point its values, one per seed.
        name: of the values, for the sentence.
        seeds: for each point the seeds of its values, in the same order; None: seeds of points are unrelated.
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
    reading = _reliability_reading(single, mean, _largest_r(single, mean).value, name)
    return SeedReliability(single, mean, len(runs) - len(matrix), reading, crossed)


def _largest_r(single: Estimate, mean: Estimate) -> Estimate:
    value, low, high = (None if end is None else max(end, 0.0) ** 0.5 for end in (mean.value, mean.low, mean.high))
    if mean.value is None and single.value is not None:  # no variance between subjects: measurement error alone
        value = low = 0.0
    return Estimate(value=value, low=low, high=high, level=mean.level, method="√ICC", n=mean.n, reason=mean.reason)


def _reliability_reading(single: Estimate, mean: Estimate, most: float | None, name: str) -> str:
    if most is None or single.value is None:
        return f"The reliability of {name!r} over task seeds is not known: {mean.reason or single.reason}."
    if most == 0:
        return (
            f"{name!r} is not reliable: embeddings do not differ by more than task seeds do ({single}), so that no "
            "correlation can show."
        )
    over, limit = f"over {single.k} task seeds", f"ven a perfect relation would show as r = {most:.2f} at most."
    judged = f"({band(mean.value)}; one seed: {single.value:.2f})"
    if mean.value is not None and mean.value < RELIABLE:
        return (
            f"{name!r} is not reliable: as a mean {over} its reliability is {mean.value:.2f} {judged}, so that hardly "
            f"any correlation can be seen: e{limit} Train with more seeds."
        )
    return f"{name!r} has a reliability of {mean.value:.2f} as a mean {over} {judged}. E{limit}"
