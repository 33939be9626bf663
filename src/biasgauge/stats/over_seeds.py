"""A number measured with several random seeds: its mean over them, and how far it hangs on the seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from biasgauge.arrays import Floats, Integers
from biasgauge.stats.bootstrap import Resampling, estimate_from_draws
from biasgauge.stats.estimate import Estimate

CHI_SQUARE = "chi-square, seeds taken as normal"


def mean_over_seeds(
    values: Floats, drawn: Floats, picked: Integers, how: Resampling, left_out: Callable[[], Sequence[Floats]] = list
) -> Estimate:
    """Mean over seeds, with its interval over items and, where there are several, over seeds.

    Args:
        values: one for each seed, all defined.
        drawn: resamples × seeds: the number in items drawn again.
        picked: resamples × seeds: which seeds count in each resample.
        how: the method and the level.
        left_out: gives the mean without each item, for BCa.
    """
    over = "items" if len(values) == 1 else "items and seeds"
    means = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)
    return estimate_from_draws(float(values.mean()), means, left_out, how, over)


def sd_over_seeds(values: Floats, level: float) -> Estimate | None:
    """Standard deviation over seeds, with its interval; None with one seed."""
    return None if len(values) == 1 else sd_estimate(float(values.std(ddof=1)), len(values), level)


def sd_estimate(sd: float, n: int, level: float) -> Estimate:
    """A standard deviation of n normal numbers with its interval: (n − 1) sd² / σ² is χ² with n − 1 degrees of freedom.

    At least 0; 0 has no interval, which would suggest false certainty.
    """
    from scipy.special import chdtri

    about: dict[str, Any] = {"value": sd, "level": level, "method": CHI_SQUARE, "over": "seeds", "n": n}
    if sd == 0:
        return Estimate(reason="every seed gives the same value", **about)
    low, high = (sd * ((n - 1) / float(chdtri(n - 1, tail))) ** 0.5 for tail in ((1 - level) / 2, (1 + level) / 2))
    return Estimate(low=low, high=high, **about)
