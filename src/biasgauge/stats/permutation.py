"""Permutation tests of two groups of numbers: one p, an interval by test inversion, and many analyses at once.

The n₁ + n₂ numbers of both groups are pooled and split again in all C(n₁ + n₂, n₁) ways that keep the sizes, or in
random ones where these are too many. Under the null hypothesis that the labels are exchangeable every split is equally
likely, so that p is the share of splits at least as extreme as the observed one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasgauge.core import Estimate, Flags, Floats, Integers, check_choice, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import blocks
from biasgauge.stats.numerics import SAME
from biasgauge.stats.shares import clopper_pearson

Alternative = Literal["greater", "less", "two-sided"]
Ties = Literal["inclusive", "strict"]

MAX_COUNTED_WORDS = 44
"""Words beyond which splits cannot be counted: half of them have 2 to the power of 22 subsets."""
EXACT = 20_000
"""Splits up to which `shift_between` and `joint_permutation` enumerate all."""
RANDOM = 9_999
"""Random splits otherwise."""
_BITS_OF_BYTE: Floats = np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0).astype(np.float64)
"""Bits of each byte, the highest first, bits × bytes."""


class PermutationP(NamedTuple):
    """Share of splits at least as extreme as the observed one.

    Attributes:
        p_value: in (0, 1] under the inclusive rule; small means that chance splits rarely do as much.
        method: "exact" over all splits, or "monte-carlo" over random ones.
        interval: a point for exact; for monte-carlo the 95 % Clopper–Pearson interval of the share over all splits.
        splits: number of possible splits.
        samples: number of random splits drawn; 0 for exact.
    """

    p_value: float
    method: Literal["exact", "monte-carlo"]
    interval: Estimate
    splits: int
    samples: int


def permutation_p(
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "greater",
    max_exact: int = 2_000_000,
    samples: int = 100_000,
    ties: Ties = "inclusive",
    random_state: int = 0,
    scale: float | None = None,
    block: int = 1 << 20,
) -> PermutationP:
    """Permutation p of the difference between the mean of `first` and the mean of `second`.

    Exact when there are at most `max_exact` splits (and at most 44 words), p = #extreme / #splits; otherwise from
    `samples` random splits, each without replacement of words, p = (1 + #extreme) / (1 + samples). "two-sided" counts
    splits at least as far from an even split as the observed one, on either side, so exchanging the sets leaves p as it
    is; for the one-sided alternatives it exchanges "greater" and "less". The order of words within a set never matters.

    Sums that differ by rounding alone count as equal: `scale` is the size of the numbers that each value was computed
    from (1 for cosines), by default the largest value. Under `ties="inclusive"` equal splits are extreme, the observed
    one among them, so p is never 0. `ties="strict"` counts only splits beyond the observed one and adds nothing to the
    share, as XWEAT's code does; it can give 0 and is there to reproduce published numbers. `block` bounds the random
    numbers held at a time; the result does not depend on it.

    Raises:
        ParameterError: a list is empty or holds a number that is not finite, or a setting has an impossible value.
    """
    x, y = _two_lists(first, second, "A permutation test")
    check_choice(get_args(Alternative), alternative=alternative)
    check_choice(get_args(Ties), ties=ties)
    check_whole(0, max_exact=max_exact, random_state=random_state)
    check_whole(1, samples=samples)
    # "less" is "greater" with the sets exchanged; two-sided p does not change, and the smaller set has fewer subsets.
    if alternative == "less" or (alternative == "two-sided" and len(y) < len(x)):
        x, y = y, x
    pool = np.sort(np.concatenate([x, y]))
    size, center = len(x), pool.mean()
    # With the pool fixed, the sum over the first set is an increasing function of the difference of means (and, for
    # equal sizes, of WEAT's statistic and effect size): centered sums are compared instead.
    tolerance = SAME * len(pool) * max(float(np.abs(pool).max()), 0.0 if scale is None else scale)
    observed = float((x - center).sum())
    if alternative == "two-sided":
        observed = abs(observed)
    threshold = observed + (tolerance if ties == "strict" else -tolerance)
    splits = comb(len(pool), size)
    if splits <= max_exact and len(pool) <= MAX_COUNTED_WORDS:
        p = _count_extreme(pool - center, size, threshold, alternative, ties) / splits
        point = Estimate(value=p, low=p, high=p, level=1.0, method="exact", over="splits", n=splits)
        return PermutationP(p, "exact", point, splits, 0)
    extreme = 0
    for packed in _random_masks(size, len(pool), samples, block, random_state):
        sums = _packed_sums(packed, pool - center)
        sums = np.abs(sums) if alternative == "two-sided" else sums
        extreme += int((sums > threshold if ties == "strict" else sums >= threshold).sum())
    p = extreme / samples if ties == "strict" else (1 + extreme) / (1 + samples)
    smallest_p = 0.0 if ties == "strict" else 1 / splits
    return PermutationP(p, "monte-carlo", clopper_pearson(extreme, samples, smallest_p), splits, samples)


def monte_carlo_p(observed: Floats, drawn: Iterable[Floats]) -> Floats:
    """Two-sided Monte Carlo p, (1 + #{|draw| ≥ |observed|}) / (1 + #draws), of each statistic.

    `drawn` gives blocks of draws × statistics under the null hypothesis. Undefined draws are left out: given that a
    statistic is defined, the observed one is exchangeable with the other defined ones.
    """
    size = np.abs(observed)
    extreme, defined = np.zeros(len(size), np.int64), np.zeros(len(size), np.int64)
    for block in drawn:
        values = np.abs(block)
        defined += np.isfinite(values).sum(axis=0)
        with np.errstate(invalid="ignore"):
            extreme += (values >= size - SAME).sum(axis=0)
    p: Floats = (1 + extreme) / (1 + defined)
    return p


def _two_lists(first: ArrayLike, second: ArrayLike, test: str) -> tuple[Floats, Floats]:
    x, y = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ParameterError(f"{test} needs two non-empty lists of numbers. Got shapes {x.shape} and {y.shape}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ParameterError(f"{test} needs finite numbers. Got nan or infinity.")
    return x, y


def _count_extreme(values: Floats, size: int, threshold: float, alternative: str, ties: str) -> int:
    """Count the extreme splits without visiting each of them (meet in the middle).

    Every split is a subset of one half of the pool joined with a subset of the other half. The subset sums of both
    halves are sorted and matched: about 2 · 2^(n/2) sums instead of C(n, size) splits.
    """
    half = len(values) // 2
    # Every second word goes to each half, so that the sums of both have a similar spread.
    left = _subset_sums(values[::2])
    right = [np.sort(sums) for sums in _subset_sums(values[1::2])]
    above: Literal["left", "right"] = "right" if ties == "strict" else "left"
    below: Literal["left", "right"] = "left" if ties == "strict" else "right"
    if alternative == "two-sided" and threshold <= 0 and (ties == "inclusive" or threshold < 0):
        return comb(len(values), size)
    total = 0
    for from_left in range(max(0, size - half), min(size, len(left) - 1) + 1):
        partners = right[size - from_left]
        # left + right ≥ threshold ⇔ right ≥ threshold − left; sorted needles keep the binary search in cache.
        needed = np.sort(threshold - left[from_left])
        total += len(partners) * len(needed) - int(np.searchsorted(partners, needed, side=above).sum())
        if alternative == "two-sided":
            total += int(np.searchsorted(partners, np.sort(-threshold - left[from_left]), side=below).sum())
    return total


def _subset_sums(values: Floats) -> list[Floats]:
    """Sums of all subsets, by the number of values in the subset."""
    sums = [np.zeros(1)]
    for value in values:
        with_value = [smaller + value for smaller in sums]
        merged = (np.concatenate(pair) for pair in zip(sums[1:], with_value[:-1], strict=True))
        sums = [sums[0], *merged, with_value[-1]]
    return sums


def _random_members(random: np.random.Generator, size: int, pool: int, draws: int) -> Integers:
    """Indexes of `size` of `pool` units, each draw without replacement: the smallest of `pool` random keys."""
    return np.argpartition(random.random((draws, pool)), size - 1, axis=1)[:, :size]


@lru_cache(maxsize=4)
def _random_masks(size: int, pool: int, samples: int, block: int, random_state: int) -> tuple[NDArray[np.uint8], ...]:
    """Return which units are drawn, one bit each, in blocks: those that `_random_members` would draw.

    Tests of one size share them: replicates of one test follow each other.
    """
    random = np.random.default_rng(random_state)
    masks = []
    for draws in blocks(samples, pool, block):
        keys = random.random((draws, pool))
        masks.append(_packed(keys <= np.partition(keys, size - 1, axis=1)[:, size - 1 : size]))
    return tuple(masks)


def _packed(members: Flags) -> NDArray[np.uint8]:
    """Members of each draw, draws × units, as bits: bytes × draws."""
    return np.ascontiguousarray(np.packbits(members, axis=1).T)


def _packed_sums(packed: NDArray[np.uint8], values: Floats) -> Floats:
    """Sum over the members of each draw: of every eight units, one of 256 sums."""
    eights = np.zeros((len(packed), 8))
    eights.ravel()[: len(values)] = values
    sums = np.zeros(packed.shape[1])
    for members, sums_of_byte in zip(packed, eights @ _BITS_OF_BYTE, strict=True):
        sums += sums_of_byte[members]
    return sums


def _splits(first: int, second: int, samples: int, max_exact: int, random_state: int) -> tuple[Integers, bool]:
    """Indexes of the first group in each split, and whether these are all splits (the observed one first)."""
    if comb(first + second, first) <= max_exact:
        return np.array(list(combinations(range(first + second), first)), np.int64), True
    random = np.random.default_rng([random_state, first, second])
    return _random_members(random, first, first + second, samples), False


def _mean_difference_weights(members: Integers, pool: int) -> Floats:
    """Rows w with w · pool = mean of the members − mean of the remaining units."""
    size = members.shape[1]
    weights = np.full((len(members), pool), -1 / (pool - size))
    np.put_along_axis(weights, members, 1 / size, axis=1)
    return weights


class Shift:
    """Difference of two means, with its permutation p and the interval of the same test.

    Let the first group be shifted by δ, w_s be the weights of the difference of means under split s, and o_s the share
    of the shift that remains in it. Split s is as extreme as the observed one from the critical shift
    δ_s = (difference − w_s · pool) / (1 − o_s) on. The ends of the interval are order statistics of the δ_s
    (Garthwaite, *Biometrics* 52, 1996, finds them by search; for differences of means they have this closed form). So p
    and interval never disagree: p ≤ 1 − level exactly where the interval excludes 0.

    Attributes:
        value: mean of the first list less that of the second.
        p: equal-tailed two-sided p of no difference.
        splits: number of splits looked at.
        exact: True where these are all.
    """

    def __init__(self, value: float, critical: Floats, *, exact: bool) -> None:
        self.value = value
        self.splits = len(critical) + exact
        self.exact = exact
        self._critical = np.sort(critical)
        self.p = self.p_at(0.0)

    def p_at(self, shift: float) -> float:
        """Two-sided p of a difference of this size; the observed split counts as one."""
        slack = SAME * max(1.0, abs(shift))
        below = int(np.searchsorted(self._critical, shift + slack, side="right"))
        above = len(self._critical) - int(np.searchsorted(self._critical, shift - slack, side="left"))
        return min(1.0, 2 * (1 + min(below, above)) / (1 + len(self._critical)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the differences that are not rejected; infinite where too few splits exist for such a level."""
        check_level(level)
        rank = int(np.floor((1 - level) / 2 * (1 + len(self._critical)) * (1 + SAME)))
        if rank < 1:
            return -np.inf, np.inf
        return float(self._critical[rank - 1]), float(self._critical[-rank])


def shift_between(first: ArrayLike, second: ArrayLike, *, random_state: int = 0) -> Shift:
    """Difference of the means of two lists, tested against splits of both together.

    All splits where there are at most 20,000, otherwise 9,999 random ones.

    Raises:
        ParameterError: a list is empty or holds a number that is not finite.
    """
    x, y = _two_lists(first, second, "A shift")
    packed, remaining, exact = _shift_splits(len(x), len(y), random_state)
    value = float(x.mean() - y.mean())
    pool = np.concatenate([x, y])
    differences = _packed_sums(packed, pool) * (1 / len(x) + 1 / len(y)) - pool.sum() / len(y)
    return Shift(value, (value - differences) / (1 - remaining), exact=exact)


@lru_cache(maxsize=64)
def _shift_splits(first: int, second: int, random_state: int) -> tuple[NDArray[np.uint8], Floats, bool]:
    """Members of the first list in each split but the observed one, packed, and the share of a shift that remains."""
    members, exact = _splits(first, second, RANDOM, EXACT, random_state)
    members = members[(members >= first).any(axis=1)]  # the observed split says nothing about a shift
    flags = np.zeros((len(members), first + second), np.bool_)
    np.put_along_axis(flags, members, values=True, axis=1)
    stayed = (members < first).sum(axis=1)
    return _packed(flags), stayed / first - (first - stayed) / second, exact


class JointPermutation(NamedTuple):
    """Permutation inference about many analyses of the same words together.

    Attributes:
        effects: difference of the two means in standard deviations of all words, by analysis.
        p: two-sided, of each analysis by itself.
        p_adjusted: of each, adjusted for all: share of splits in which any effect is so large.
        p_median: two-sided, of the median effect.
        clear: analyses with p at most alpha whose effect has the sign of most of these.
        p_clear: share of splits with so many clear effects of one sign.
        low, high: middle 95 % of the k-th smallest effect in chance splits: the null curve.
        splits: number of splits looked at.
        exact: True where these are all.
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
    values: ArrayLike,
    first: int,
    *,
    alpha: float = 0.05,
    samples: int = RANDOM,
    random_state: int = 0,
    max_exact: int = EXACT,
) -> JointPermutation:
    """Compare two groups of words under many analyses: joint inference over a specification curve.

    Each split is applied to all analyses at once, which keeps the dependence between them. P of the whole
    curve: Simonsohn, Simmons & Nelson, *Nature Human Behaviour* 4, 2020. P of each analysis, adjusted for looking at
    all of them, from the largest effect of each split: Westfall & Young 1993. `values` has analyses × words, the
    `first` words being the first group; an analysis by itself counts as clear at `alpha`; there are `samples` random
    splits where there are more than `max_exact` of them.

    Raises:
        ParameterError: a group is empty, a number is not finite, or an analysis has the same number for every word.
    """
    table: Floats = np.asarray(values, np.float64)
    if table.ndim != 2 or not len(table) or not 0 < first < table.shape[1] or not np.isfinite(table).all():
        raise ParameterError("A joint permutation needs finite numbers, analyses × words of two groups.")
    deviation = table.std(axis=1)
    if (deviation <= SAME * np.abs(table).max(axis=1)).any():
        raise ParameterError("Every analysis of a joint permutation must tell words apart.")
    scaled = (table - table.mean(axis=1, keepdims=True)) / deviation[:, None]
    members, exact = _splits(first, table.shape[1] - first, samples, max_exact, random_state)
    drawn = _effects(scaled, members)
    effects = _effects(scaled, np.arange(first)[None])[0]
    if not exact:
        drawn = np.concatenate([effects[None], drawn])  # the observed split is one of them
    size = np.abs(drawn)
    medians = np.median(drawn, axis=1)
    median = float(np.median(effects))
    # An effect has p ≤ alpha from the `rank`-th largest of its own null distribution on.
    rank = max(int(np.floor(alpha * len(size) + SAME)), 1)
    limits = np.sort(size, axis=0)[-rank] - SAME
    counts = np.maximum((drawn >= limits).sum(axis=1), (drawn <= -limits).sum(axis=1))
    clear = int(max((effects >= limits).sum(), (effects <= -limits).sum()))
    low, high = np.quantile(np.sort(drawn, axis=1), [0.025, 0.975], axis=0)
    p = (size >= np.abs(effects) - SAME).mean(axis=0)
    p_adjusted = (size.max(axis=1, keepdims=True) >= np.abs(effects) - SAME).mean(axis=0)
    p_median = float((np.abs(medians) >= abs(median) - SAME).mean())
    p_clear = float((counts >= clear).mean())
    return JointPermutation(effects, p, p_adjusted, p_median, clear, p_clear, low, high, len(drawn), exact)


def _effects(scaled: Floats, members: Integers, block: int = 2**22) -> Floats:
    """Difference of means, splits × analyses; at most `block` weights are held at a time."""
    step = max(block // scaled.shape[1], 1)
    chunks = [members[start : start + step] for start in range(0, len(members), step)]
    return np.concatenate([_mean_difference_weights(chunk, scaled.shape[1]) @ scaled.T for chunk in chunks])
