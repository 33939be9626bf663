"""How well a number tells two groups apart: the area under the ROC curve, with an interval that holds at its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from biasgauge.core import Estimate, Fields, check_level

METHOD = "Newcombe 2006, method 5"
_EDGE = 1e-12
"""At 0 and 1 themselves there is no variance, and so a second root."""


def greater_share(first: NDArray[np.number[Any]], second: NDArray[np.number[Any]]) -> float:
    """Share of pairs (one of each group) in which that of the first is the larger, ties half."""
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, "left") + np.searchsorted(ordered, first, "right")
    return float(below.sum()) / (2 * len(first) * len(second))


def auc_estimate(
    first: NDArray[np.number[Any]], second: NDArray[np.number[Any]], *, level: float = 0.95, over: str = "words"
) -> Estimate:
    """Area under the ROC curve: the chance that a number of the first group is larger than one of the second.

    .5: not told apart; 1: every one of the first is larger. The interval is the set of areas θ whose distance from the
    observed one is within the normal quantile of their own standard error (a score interval), so it is defined at 0
    and 1 too. Source: Newcombe, *Statistics in Medicine* 25 (2006), 559–573. Undefined with an empty group.
    """
    from scipy.optimize import brentq

    check_level(level)
    sizes = len(first), len(second)
    about: Fields = {"level": level, "method": METHOD, "over": over, "n": sum(sizes), "statistic": "AUC"}
    if not all(sizes):
        return Estimate(value=None, reason=f"one of the groups has no {over}", **about)
    value = greater_share(first, second)
    quantile = float(ndtri((1 + level) / 2))

    def beyond(area: float) -> float:
        return (area - value) ** 2 - quantile**2 * _variance(area, *sizes)

    low = 0.0 if value <= 0 else float(brentq(beyond, 0.0, min(value, 1 - _EDGE)))
    high = 1.0 if value >= 1 else float(brentq(beyond, max(value, _EDGE), 1.0))
    return Estimate(value=value, low=low, high=high, **about)


def _variance(area: float, first: int, second: int) -> float:
    """Variance of the area where its true value is `area` (Hanley & McNeil 1982, with both sizes at their mean)."""
    beside = (first + second) / 2 - 1
    spread = 1 + beside * ((1 - area) / (2 - area) + area / (1 + area))
    return area * (1 - area) * spread / (first * second)
