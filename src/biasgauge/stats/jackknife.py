"""Variances from leaving out one unit at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.stats.estimate import Estimate

JACKKNIFE = "jackknife-t"
"""Name of the interval from leaving out one unit at a time, with Student's t on one degree of freedom fewer."""

NO_SPREAD = "leaving out any model gives the same value"
_SAME = 1e-13
"""Variances of means within [−1, 1] that are but the rounding of single precision."""


def jackknife_variance(left_out: Sequence[Floats]) -> float:
    """Variance of a number from its values without each unit, one array for each independent sample."""
    return sum(float(((values - values.mean()) ** 2).sum()) * (len(values) - 1) / len(values) for values in left_out)


class LeftOut(NamedTuple):
    """Jackknife of means over pairs of units, such as pairs of models: pairs that share a unit are not independent.

    Attributes:
        variance: of each mean; NaN where it is undefined: fewer than three units, or nothing left without one of them.
        units: how many units each mean rests on.
    """

    variance: Floats
    units: NDArray[np.intp]

    def margins(self, level: float) -> Floats:
        """Half the width of each interval; NaN where undefined, or where no width would suggest false certainty."""
        from scipy.special import stdtrit

        found: Floats = np.sqrt(self.variance) * stdtrit(np.maximum(self.units - 1, 1), (1 + level) / 2)
        return np.where(self.variance > _SAME, found, np.nan)


def leave_one_out(total: Floats, count: Floats, unit_total: Floats, unit_count: Floats) -> LeftOut:
    """Variance of `total / count` from leaving out each unit with all pairs that it is part of.

    Source: Arvesen, *Annals of Mathematical Statistics* 40 (1969), for functions of pairs (U-statistics). It errs on
    the large side.

    Args:
        total: sum over the pairs, for each of several means.
        count: number of those pairs.
        unit_total: units × means: sum over the pairs that the unit is part of.
        unit_count: units × means: their number; 0 where the unit takes no part in that mean.
    """
    present = unit_count > 0
    units = present.sum(axis=0)
    remaining = count - unit_count
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(present, (total - unit_total) / remaining, 0)
        center = without.sum(axis=0) / units
        variance = (units - 1) / units * np.where(present, (without - center) ** 2, 0).sum(axis=0)
    undefined = (units < 3) | (present & (remaining <= 0)).any(axis=0)
    return LeftOut(np.where(undefined, np.nan, variance), units)


def jackknife_mean(
    value: float | None, margin: float, level: float, bounds: tuple[float, float], *, n: int, reason: str = NO_SPREAD
) -> Estimate:
    """A mean over pairs of models with its interval, cut at `bounds`; `reason` is why there may be no margin."""
    about: dict[str, Any] = {"value": value, "level": level, "method": JACKKNIFE, "over": "models", "n": n}
    if value is None:
        return Estimate(reason="no words have a value", **about)
    if np.isnan(margin):
        return Estimate(reason=reason, **about)
    return Estimate(low=max(value - margin, bounds[0]), high=min(value + margin, bounds[1]), **about)
