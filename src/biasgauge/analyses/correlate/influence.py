"""What each unit has to do with a correlation, and what is left of it without those at the ends.

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
    """What one unit has to do with the correlation of all points.

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
    """Which units make a correlation (Pearson's).

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
    x: Floats, y: Floats, units: Sequence[str] | None, names: tuple[str, str], how: Resampling
) -> Influence | None:
    """Which units make the correlation of x and y; None where that is undefined, or fewer than seven units are there.

    Args:
        x: of each point.
        y: of each point.
        units: the name of each point's unit; None: each is one.
        names: of x and y, for the sentence.
        how: how slopes are drawn again, in whole units.
    """
    points = (f"point {number}" for number in range(1, len(x) + 1))
    listed, codes = np.unique(list(points if units is None else units), return_inverse=True)
    if why_undefined(x, y, names) or len(listed) < FEWEST + 2:
        return None
    squares = np.bincount(codes, (x - x.mean()) ** 2)
    shares = squares / squares.sum()
    order = np.argsort(-shares, kind="stable")
    place = np.argsort(order)[codes]  # of each point's unit among all, the largest share first
    rows = [
        UnitInfluence(
            unit=str(listed[code]),
            points=int((codes == code).sum()),
            share=float(shares[code]),
            r_without=_r(x, y, place != at),
            r_left=_r(x, y, place > at) if len(listed) - at > FEWEST else None,
        )
        for at, code in enumerate(order[:MOST_LISTED])
    ]
    number = 1 + int(np.searchsorted(shares[order].cumsum(), HALF - SAME))
    kept = place >= number
    r, r_left = _r(x, y, place >= 0), _r(x, y, kept) if len(listed) - number >= FEWEST else None
    expected = None if r is None or r_left is None else _restricted(r, float(x[kept].var() / x.var()))
    found = Influence(
        units=tuple(rows),
        ends=tuple(str(listed[code]) for code in order[:number]),
        r_left=r_left,
        r_expected=expected,
        slope=_slope(x, y, codes, how),
        slope_left=_slope(x[kept], y[kept], codes[kept], how),
    )
    if r is None or expected is None:
        return found
    things = counted(len(listed), "point" if units is None else "unit")
    return replace(found, reading=_reading(found, r, names[0], things, len(listed) - number))


def _r(x: Floats, y: Floats, kept: Flags) -> float | None:
    """R of some points; None where one of the two does not vary."""
    value = float(correlation("pearson", x[kept], y[kept])[0])
    return value if np.isfinite(value) else None


def _restricted(r: float, ratio: float) -> float:
    """R where x has so many times its variance, and the line and what lies about it stay as they are."""
    return float(np.sign(r) * np.sqrt(r**2 * ratio / (r**2 * ratio + 1 - r**2)))


def _slope(x: Floats, y: Floats, codes: Places, how: Resampling) -> Estimate:
    _, units = np.unique(codes, return_inverse=True)
    return slope_estimate(x, y, np.zeros(len(x)), how, "units", units=units)


def _reading(found: Influence, r: float, x: str, things: str, others: int) -> str:
    ends = len(found.ends)
    whose, them = (f"{found.ends[0]!r} alone", "it") if ends == 1 else (f"{ends:,} of {things}", "them")
    r_left, expected = (signed_text(value, 2) for value in (found.r_left, found.r_expected))
    left, whole = (estimate_text(slope, 3) for slope in (found.slope_left, found.slope))
    return (
        f"Half of the spread of {x!r} is that of {whose}. Without {them} r is {r_left} in the place of "
        f"{signed_text(r, 2)}, where the smaller spread alone would leave {expected}; the slope over the other "
        f"{others:,} is {left}, over all {whole}."
    )
