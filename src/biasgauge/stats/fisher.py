"""Fisher's z: the interval of a correlation. One rule for all of the package."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from biasgauge.stats.estimate import Estimate

Kind = Literal["pearson", "spearman"]

METHODS: dict[Kind, str] = {"pearson": "fisher-z", "spearman": "fisher-z, bonett-wright"}
LEAST = 4
"""Points below which there is no interval: the variance is 1 / (n − 3)."""
PERFECT = 1 - 1e-12


def fisher_interval(
    value: float | None, n: int, *, level: float = 0.95, kind: Kind = "pearson", over: str = "points"
) -> Estimate:
    """A correlation of `n` independent points with its interval: normal on the scale of atanh r.

    For Spearman's, the variance of Bonett & Wright (*Psychometrika* 65, 2000). The interval is undefined, with a
    reason, for fewer than four points and for a perfect correlation, whose atanh is infinite.

    Args:
        value: the correlation; None when it is undefined.
        n: independent points.
        level: nominal coverage.
        kind: which correlation it is.
        over: what the points are.
    """
    about: dict[str, Any] = {"level": level, "method": METHODS[kind], "over": over, "n": n}
    if value is None:
        return Estimate(value=None, reason="there is no correlation", **about)
    if n < LEAST:
        return Estimate(value=value, reason=f"an interval takes at least {LEAST} {over}", **about)
    if abs(value) >= PERFECT:
        return Estimate(value=value, reason="the correlation is perfect", **about)
    spread = ((1 + value**2 / 2 if kind == "spearman" else 1) / (n - 3)) ** 0.5
    margin = float(ndtri((1 + level) / 2)) * spread
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin])).tolist()
    return Estimate(value=value, low=low, high=high, **about)


def correlations_differ(
    first: float, second: float, between: float, pairs: int, level: float, kind: Kind = "spearman"
) -> Estimate:
    """Interval of the difference of two correlations with the same third thing, on the same pairs.

    `between` is the correlation of the two. Each correlation's own interval, and how far the two hang together, give
    the ends. Source: Zou, "Toward using confidence intervals to compare correlations", *Psychological Methods* 12
    (2007), overlapping correlations; `kind` says which correlations they are.
    """
    own = [fisher_interval(value, pairs, level=level, kind=kind, over="word pairs") for value in (first, second)]
    difference = first - second
    about: dict[str, Any] = {
        "value": difference,
        "level": level,
        "method": "zou-2007",
        "over": "word pairs",
        "n": pairs,
    }
    if not all(estimate.bounded for estimate in own):
        return Estimate(reason=own[0].reason or own[1].reason, **about)
    lows, highs = [estimate.low or 0.0 for estimate in own], [estimate.high or 0.0 for estimate in own]
    joint = (between - first * second / 2) * (1 - first**2 - second**2 - between**2) + between**3
    together = float(np.clip(joint / ((1 - first**2) * (1 - second**2)), -1, 1))
    down, up = (first - lows[0], highs[1] - second), (highs[0] - first, second - lows[1])
    low, high = (
        first - second + sign * max(a**2 + b**2 - 2 * together * a * b, 0.0) ** 0.5
        for sign, (a, b) in ((-1, down), (1, up))
    )
    return Estimate(low=low, high=high, **about)
