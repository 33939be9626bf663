"""One permutation for many analyses of the same units: joint inference over a whole specification curve.

Every analysis gives one number for each word; two groups of words are compared. The words are split again in all ways
that keep the sizes, and each split is applied to all analyses at once, so that what they have in common stays in
common. P of the whole curve: Simonsohn, Simmons & Nelson, *Nature Human Behaviour* 4, 2020. P of each analysis,
adjusted for looking at all of them, from the largest of all: Westfall & Young 1993.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, Integers
from biasgauge.errors import ParameterError
from biasgauge.stats.rounding import SAME

EXACT = 20_000
"""Splits up to which all are looked at."""
_BLOCK_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class JointPermutation:
    """What chance splits say of many analyses together.

    Attributes:
        effects: difference of the two means in standard deviations of all words, by analysis.
        p: two-sided, of each analysis by itself.
        p_adjusted: of each, adjusted for all: the chance that any would be so large.
        p_median: two-sided, of the median effect.
        clear: analyses with p at most alpha whose effect has the sign of most of these.
        p_clear: chance of so many of one sign.
        low, high: middle 95 % of the k-th smallest effect in chance splits: the curve where nothing is.
        splits: how many were looked at.
        exact: whether these are all there are.
    """

    effects: Floats
    p: Floats
    p_adjusted: Floats
    p_median: float
    clear: int
    p_clear: float
    low: Floats
    high: Floats
    splits: int
    exact: bool


def joint_permutation(
    values: ArrayLike, first: int, *, alpha: float = 0.05, samples: int = 9_999, random_state: int = 0
) -> JointPermutation:
    """Compare two groups of words under many analyses.

    Args:
        values: analyses × words, the words of the first group in front.
        first: how many these are.
        alpha: at which an analysis by itself counts as clear.
        samples: random splits, where there are more than 20,000.
        random_state: seed.

    Raises:
        ParameterError: a group is empty, a number is not finite, or an analysis has the same number for every word.
    """
    table: Floats = np.asarray(values, np.float64)
    if table.ndim != 2 or not len(table) or not 0 < first < table.shape[1] or not np.isfinite(table).all():
        raise ParameterError("A joint permutation needs finite numbers, analyses × words of two groups.")
    spread = table.std(axis=1)
    if (spread <= SAME * np.abs(table).max(axis=1)).any():
        raise ParameterError("Every analysis of a joint permutation must tell words apart.")
    scaled = (table - table.mean(axis=1, keepdims=True)) / spread[:, None]
    members, exact = _splits(first, table.shape[1] - first, samples, random_state)
    drawn = _effects(scaled, members)
    effects = _effects(scaled, np.arange(first)[None])[0]
    if not exact:
        drawn = np.concatenate([effects[None], drawn])  # the split at hand is one of them
    size = np.abs(drawn)
    p = _share(size >= np.abs(effects) - SAME)
    p_adjusted = _share(size.max(axis=1, keepdims=True) >= np.abs(effects) - SAME)
    medians = np.median(drawn, axis=1)
    median = float(np.median(effects))
    rarest = max(int(np.floor(alpha * len(size) + SAME)), 1)
    limits = np.sort(size, axis=0)[-rarest] - SAME  # an effect has p of at most alpha from here on
    counts = np.maximum((drawn >= limits).sum(axis=1), (drawn <= -limits).sum(axis=1))
    clear = int(max((effects >= limits).sum(), (effects <= -limits).sum()))
    ordered = np.sort(drawn, axis=1)
    low, high = np.quantile(ordered, [0.025, 0.975], axis=0)
    return JointPermutation(
        effects=effects,
        p=p,
        p_adjusted=p_adjusted,
        p_median=float((np.abs(medians) >= abs(median) - SAME).mean()),
        clear=clear,
        p_clear=float((counts >= clear).mean()),
        low=low,
        high=high,
        splits=len(drawn),
        exact=exact,
    )


def _share(extreme: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    share: Floats = extreme.mean(axis=0)
    return share


def _splits(first: int, second: int, samples: int, random_state: int) -> tuple[Integers, bool]:
    """Which words stand in the first group, by split."""
    size = first + second
    total = comb(size, first)
    if total <= EXACT:
        return np.array(list(combinations(range(size), first)), np.int64), True
    random = np.random.default_rng([random_state, first, second])
    return np.argpartition(random.random((samples, size)), first - 1, axis=1)[:, :first], False


def _effects(scaled: Floats, members: Integers) -> Floats:
    """Difference of means, splits × analyses."""
    size, first = scaled.shape[1], members.shape[1]
    effects = np.empty((len(members), len(scaled)))
    step = max(_BLOCK_NUMBERS // size, 1)
    for start in range(0, len(members), step):
        chosen = members[start : start + step]
        weights = np.full((len(chosen), size), -1 / (size - first))
        np.put_along_axis(weights, chosen, 1 / first, axis=1)
        effects[start : start + step] = weights @ scaled.T
    return effects
