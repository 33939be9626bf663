"""By how much do two lists of numbers differ? A permutation test and its interval, from the same splits.

The numbers of both lists are pooled and split again. If the first list is shifted by delta, each split says from which
delta on it would be as extreme as the lists themselves: those critical shifts, in order, are the interval (Garthwaite,
*Biometrics* 52, 1996, finds it by search; for differences of means it has a closed form). p and interval therefore
never disagree: p is at most 1 − level exactly where the interval excludes 0.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.rounding import SAME

EXACT = 20_000
"""Splits up to which all are looked at."""
RANDOM = 9_999
"""Random splits otherwise."""


class Shift:
    """A difference of two means, and what chance splits of the same numbers say of it.

    Attributes:
        value: mean of the first list less that of the second.
        p: equal-tailed two-sided p of no difference.
        splits: how many splits were looked at.
        exact: whether these are all.
    """

    def __init__(self, value: float, critical: Floats, *, exact: bool) -> None:
        self.value = value
        self.splits = len(critical) + exact
        self.exact = exact
        self._critical = np.sort(critical)
        self.p = self.p_at(0.0)

    def p_at(self, shift: float) -> float:
        """Two-sided p of a difference of this size; the lists themselves count as one split."""
        slack = SAME * max(1.0, abs(shift))
        below = int(np.searchsorted(self._critical, shift + slack, side="right"))
        above = len(self._critical) - int(np.searchsorted(self._critical, shift - slack, side="left"))
        return min(1.0, 2 * (1 + min(below, above)) / (1 + len(self._critical)))

    def interval(self, level: float) -> tuple[float, float]:
        """Differences that are not rejected; infinite where too few splits exist for such a level."""
        check_level(level)
        needed = int(np.floor((1 - level) / 2 * (1 + len(self._critical)) * (1 + SAME)))
        if needed < 1:
            return -np.inf, np.inf
        return float(self._critical[needed - 1]), float(self._critical[-needed])


def shift_between(first: ArrayLike, second: ArrayLike, *, random_state: int = 0) -> Shift:
    """The difference of the means of two lists, against splits of both together.

    All splits where there are at most 20,000, otherwise 9,999 random ones.

    Raises:
        ParameterError: a list is empty or holds a number that is not finite.
    """
    one, two = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.ndim != 1 or two.ndim != 1 or not one.size or not two.size or not np.isfinite([*one, *two]).all():
        raise ParameterError("A shift needs two lists of finite numbers, neither of them empty.")
    pool = np.concatenate([one, two])
    weights, overlaps, exact = _splits(len(one), len(two), random_state)
    value = float(one.mean() - two.mean())
    return Shift(value, (value - weights @ pool) / (1 - overlaps), exact=exact)


@lru_cache(maxsize=64)
def _splits(first: int, second: int, random_state: int) -> tuple[Floats, Floats, bool]:
    """Weights that give the difference of means in each split other than the own one, and what it keeps of a shift."""
    size = first + second
    total = comb(size, first)
    exact = total <= EXACT
    if exact:
        members = np.array(list(combinations(range(size), first))[1:], np.int64).reshape(total - 1, first)
    else:
        random = np.random.default_rng([random_state, first, second])
        members = np.argpartition(random.random((RANDOM, size)), first - 1, axis=1)[:, :first]
        members = members[(members >= first).any(axis=1)]  # one that is the own split says nothing
    weights = np.full((len(members), size), -1 / second)
    np.put_along_axis(weights, members, 1 / first, axis=1)
    overlaps = weights[:, :first].sum(axis=1)
    return weights, overlaps, exact
