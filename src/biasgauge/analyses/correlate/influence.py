"""Influence of each unit on a correlation, and the correlation without the units at the ends.

A few points far out can make a correlation by themselves. Without them r is smaller in any case, since x spreads less
(Thorndike 1949, case 2, says by how much); a slope is not, where one straight line holds for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biasgauge.core import Estimate, Flags, Floats, Places, Record
from biasgauge.results import counted, estimate_text, signed_text
from biasgauge.stats import SAME, Resampling, correlation, slope_estimate, why_undefined

HALF = 0.5
FEWEST = 5
"""Units at least that must be left for a correlation without others."""
MOST_LISTED = 200


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
class Influence(Record):
    """Units that drive a correlation (Pearson's).

    Attributes:
        units: those that spread x most first; at most two hundred.
        ends: the fewest of them that hold half of the spread of x.
        r_left: r without these; None where fewer than five units are left.
        r_expected: what a smaller spread alone would leave of r, if one straight line holds for all.
        slope, slope_left: of y on x, over all points and without these, with intervals over units.
        reading: what it comes to, in a sentence; empty where it cannot be said.
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
) -> Influence | None:
    """Units that drive the correlation of x and y; None where it is undefined, or there are fewer than seven units.

    Args:
        x: of each point.
        y: of each point.
        units: the name of each point's unit; None: each is one.
        names: of x and y, for the sentence.
        resampling: of slopes, in whole units.
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
    result = Influence(
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


def _reading(result: Influence, r: float, x: str, unit_count: str, remaining: int) -> str:
    ends = len(result.ends)
    holders, pronoun = (f"{result.ends[0]!r} alone", "it") if ends == 1 else (f"{ends:,} of {unit_count}", "them")
    r_left, expected = (signed_text(value, 2) for value in (result.r_left, result.r_expected))
    slope_left, slope = (estimate_text(slope, 3) for slope in (result.slope_left, result.slope))
    return (
        f"Half of the spread of {x!r} is that of {holders}. Without {pronoun} r is {r_left} in the place of "
        f"{signed_text(r, 2)}, where the smaller spread alone would leave {expected}; the slope over the other "
        f"{remaining:,} is {slope_left}, over all {slope}."
    )
