"""What each unit has to do with a correlation, and what is left of it without those at the ends.

A few points far out can make a correlation by themselves. Without them r is smaller in any case, since x spreads less
(Thorndike 1949, case 2, says by how much); a slope is not, where one straight line holds for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biasgauge.arrays import Floats, Places
from biasgauge.results import Record
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.correlations import why_undefined
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.rounding import SAME
from biasgauge.stats.slopes import slope_estimate
from biasgauge.wording import counted, number_text, signed_text

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
    points = [f"point {number}" for number in range(1, len(x) + 1)]
    listed, codes = np.unique(points if units is None else list(units), return_inverse=True)
    if why_undefined(x, y, names) or len(listed) < FEWEST + 2:
        return None
    dx, dy = x - x.mean(), y - y.mean()
    sums = np.array([np.bincount(codes, one) for one in (np.ones_like(dx), dx, dy, dx**2, dy**2, dx * dy)])
    shares = sums[3] / sums[3].sum()
    order = np.argsort(-shares, kind="stable")
    total, ordered = sums.sum(axis=1, keepdims=True), sums[:, order]
    without, left = _rs(total - ordered), _rs(total - ordered.cumsum(axis=1))
    left[len(listed) - FEWEST :] = np.nan
    number = 1 + int(np.searchsorted(shares[order].cumsum(), HALF - SAME))
    kept = ~np.isin(codes, order[:number])
    r, r_left = float(_rs(total)[0]), _known(left[number - 1])
    expected = None if r_left is None else _restricted(r, float(x[kept].var() / x.var()))
    rows = [
        UnitInfluence(str(listed[code]), int(sums[0, code]), float(shares[code]), _known(one), _known(other))
        for code, one, other in zip(order[:MOST_LISTED], without, left, strict=False)
    ]
    found = Influence(
        units=tuple(rows),
        ends=tuple(str(listed[code]) for code in order[:number]),
        r_left=r_left,
        r_expected=expected,
        slope=_slope(x, y, codes, how),
        slope_left=_slope(x[kept], y[kept], codes[kept], how),
    )
    if expected is None:
        return found
    things = counted(len(listed), "point" if units is None else "unit")
    return replace(found, reading=_reading(found, r, names[0], things, len(listed) - number))


def _rs(sums: Floats) -> Floats:
    """Correlations of sums of 1, x, y, x², y², x · y (first axis); NaN where one of them does not vary."""
    n, x, y, xx, yy, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        spreads = [np.where(square - one**2 / n > SAME * square, square - one**2 / n, np.nan)
                   for square, one in ((xx, x), (yy, y))]  # fmt: skip
        found: Floats = (xy - x * y / n) / np.sqrt(spreads[0] * spreads[1])
    return found


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


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
    left, whole = (f"{number_text(one.value, 3)}{_ends(one)}" for one in (found.slope_left, found.slope))
    return (
        f"Half of the spread of {x!r} is that of {whose}. Without {them} r is {r_left} in the place of "
        f"{signed_text(r, 2)}, where the smaller spread alone would leave {expected}; the slope over the other "
        f"{others:,} is {left}, over all {whole}."
    )


def _ends(one: Estimate) -> str:
    return f" [{number_text(one.low, 3)}, {number_text(one.high, 3)}]" if one.bounded else ""
