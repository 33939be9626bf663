"""Where a number about models may lie, and how that was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = np.ndarray[Any, np.dtype[np.float64]]

JACKKNIFE = "jackknife-t"
"""Name of the interval from leaving out one unit at a time, with Student's t on one degree of freedom fewer."""

NO_SPREAD = "leaving out any model gives the same value"
_SAME = 1e-13
"""Variances of means within [−1, 1] that are but the rounding of single precision."""


@dataclass(frozen=True)
class Interval:
    """Where a number may lie.

    Attributes:
        low: lower end; None when the interval is undefined.
        high: upper end; None when the interval is undefined.
        level: its nominal coverage.
        method: how it was found.
        generalises_over: what would vary in the repetitions that the level speaks of.
        reason: why the interval is undefined; None when it is not.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    generalises_over: str
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


def check_level(level: float) -> float:
    """Refuse a level that is no share.

    Raises:
        ParameterError: it does not lie between 0 and 1.
    """
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {level!r}.")
    return level


class LeftOut(NamedTuple):
    """Jackknife of means over pairs of units, such as pairs of models: pairs that share a unit are not independent.

    Attributes:
        variance: of each mean; NaN where it is undefined: fewer than three units, or nothing left without one of them.
        units: how many units each mean rests on.
    """

    variance: Array
    units: NDArray[np.intp]

    def margins(self, level: float) -> Array:
        """Half the width of each interval; NaN where it is undefined, or has no width and would feign certainty."""
        from scipy.special import stdtrit  # noqa: PLC0415 - loading vectors does without it

        found: Array = np.sqrt(self.variance) * stdtrit(np.maximum(self.units - 1, 1), (1 + level) / 2)
        return np.where(self.variance > _SAME, found, np.nan)


def leave_one_out(total: Array, count: Array, unit_total: Array, unit_count: Array) -> LeftOut:
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
        centre = without.sum(axis=0) / units
        variance = (units - 1) / units * np.where(present, (without - centre) ** 2, 0).sum(axis=0)
    undefined = (units < 3) | (present & (remaining <= 0)).any(axis=0)  # noqa: PLR2004 - two units have one pair
    return LeftOut(np.where(undefined, np.nan, variance), units)
