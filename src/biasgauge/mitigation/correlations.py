"""The difference of two correlations that share a variable, with its interval."""

from __future__ import annotations

import numpy as np

from biasgauge.association import Interval
from biasgauge.embeddings.quality import BONETT_WRIGHT, correlation_interval

ZOU = "zou-2007"


def correlations_differ(
    first: float, second: float, between: float, pairs: int, level: float, method: str = BONETT_WRIGHT
) -> Interval:
    """Interval of the difference of two correlations with the same third thing, on the same pairs.

    `between` is the correlation of the two. Each correlation's own interval, and how far the two hang together, give
    the ends. Source: Zou, "Toward using confidence intervals to compare correlations", *Psychological Methods* 12
    (2007), overlapping correlations; `method` names how own intervals are found.
    """
    own = [correlation_interval(value, pairs, level, method) for value in (first, second)]
    if any(one.low is None for one in own):
        return Interval(None, None, level, ZOU, 0, "word pairs", reason=own[0].reason or own[1].reason)
    lows, highs = [one.low or 0.0 for one in own], [one.high or 0.0 for one in own]
    joint = (between - first * second / 2) * (1 - first**2 - second**2 - between**2) + between**3
    together = float(np.clip(joint / ((1 - first**2) * (1 - second**2)), -1, 1))
    down, up = (first - lows[0], highs[1] - second), (highs[0] - first, second - lows[1])
    low, high = (
        first - second + sign * max(a**2 + b**2 - 2 * together * a * b, 0.0) ** 0.5
        for sign, (a, b) in ((-1, down), (1, up))
    )
    return Interval(low, high, level, ZOU, 0, "word pairs")
