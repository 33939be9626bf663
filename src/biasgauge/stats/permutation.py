"""Is a difference of means larger than chance splits of the same words would give? A permutation test.

The words of both sets are pooled and split again in all ways that keep the sizes; p is the share of splits at least as
extreme as the one observed. Sums of the words chosen stand for the difference of means: with the pool fixed, one is an
increasing function of the other, and so, for equal sizes, are WEAT's statistic and effect size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Estimate, Flags, Floats, check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats.rounding import SAME
from biasgauge.stats.shares import clopper_pearson

Alternative = Literal["greater", "less", "two-sided"]
Ties = Literal["inclusive", "strict"]

_LONGEST = 44
"""Words beyond which splits cannot be counted: half of them have 2 to the power of 22 subsets."""
_BLOCK_NUMBERS = 1 << 20
"""Random numbers drawn at a time: bounds the memory; results do not depend on it."""


@dataclass(frozen=True)
class PermutationP:
    """Share of splits at least as extreme as the observed one.

    Attributes:
        p_value: in (0, 1] under the inclusive rule; small means that chance splits rarely do as much.
        method: "exact" over all splits, or "monte-carlo" over random ones.
        interval: a point for exact; for monte-carlo the 95 % Clopper–Pearson interval of the share over all splits.
        splits: how many splits there are.
        samples: how many were drawn; 0 for exact.
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
) -> PermutationP:
    """Permutation p of the difference between the mean of `first` and the mean of `second`.

    Exact when there are at most `max_exact` splits (and at most 44 words), otherwise from `samples` random splits, each
    without replacement of words, by (1 + extreme) / (1 + samples). "two-sided" counts splits at least as far from an
    even split as the observed one, on either side, so exchanging the sets leaves p as it is; for the one-sided
    alternatives it exchanges "greater" and "less". The order of the words within a set never matters.

    Sums that differ by rounding alone count as equal: `scale` is the size of the numbers that each value was computed
    from (1 for cosines), by default the largest value. Under `ties="inclusive"` equal splits are extreme, the observed
    one among them, so p is never 0. `ties="strict"` counts only splits beyond the observed one and adds nothing to the
    share, as XWEAT's code does; it can give 0 and is there to reproduce published numbers.
    """
    one, two = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    if one.ndim != 1 or two.ndim != 1 or not one.size or not two.size:
        raise ParameterError(
            f"A permutation test needs two non-empty lists of numbers. Got shapes {one.shape} and {two.shape}."
        )
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise ParameterError("A permutation test needs finite numbers. Got nan or infinity.")
    check_choice(get_args(Alternative), alternative=alternative)
    check_choice(get_args(Ties), ties=ties)
    check_whole(0, max_exact=max_exact, random_state=random_state)
    check_whole(1, samples=samples)
    if alternative == "less" or (alternative == "two-sided" and len(two) < len(one)):
        one, two = two, one
    pool = np.sort(np.concatenate([one, two]))
    chosen, center = len(one), pool.mean()
    rounding = SAME * len(pool) * max(float(np.abs(pool).max()), 0.0 if scale is None else scale)
    observed = float((one - center).sum())
    if alternative == "two-sided":
        observed = abs(observed)
    threshold = observed + (rounding if ties == "strict" else -rounding)
    splits = comb(len(pool), chosen)
    if splits <= max_exact and len(pool) <= _LONGEST:
        extreme = _count(pool - center, chosen, threshold, alternative, ties)
        p = extreme / splits
        exactly = Estimate(value=p, low=p, high=p, level=1.0, method="exact", over="splits", n=splits)
        return PermutationP(p, "exact", exactly, splits, 0)
    extreme = sum(
        int(_is_extreme(sums, threshold, alternative, ties).sum())
        for sums in _random_sums(pool - center, chosen, samples, random_state)
    )
    p = extreme / samples if ties == "strict" else (1 + extreme) / (1 + samples)
    least = 0.0 if ties == "strict" else 1 / splits
    return PermutationP(p, "monte-carlo", clopper_pearson(extreme, samples, least), splits, samples)


def monte_carlo_p(observed: Floats, drawn: Iterable[Floats]) -> Floats:
    """P of numbers at least as far from 0 as those observed, which count as one draw more.

    Draws without a value are left out: given that there is one, the one observed is still one of them at random.

    Args:
        observed: one number a statistic.
        drawn: blocks of draws × statistics.
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


def _is_extreme(sums: Floats, threshold: float, alternative: str, ties: str) -> Flags:
    measured = np.abs(sums) if alternative == "two-sided" else sums
    return measured > threshold if ties == "strict" else measured >= threshold


def _count(values: Floats, chosen: int, threshold: float, alternative: str, ties: str) -> int:
    """Count the splits that are extreme without visiting each: every split is a subset of either half of the pool.

    For n words, 2 · 2^(n/2) sums are sorted and matched instead of C(n, chosen) visited; the count is the same.
    """
    half = len(values) // 2
    # Every second word goes to each half, so that the sums of both have a like spread.
    left = _subset_sums(values[::2])
    right = [np.sort(sums) for sums in _subset_sums(values[1::2])]
    above: Literal["left", "right"] = "right" if ties == "strict" else "left"
    below: Literal["left", "right"] = "left" if ties == "strict" else "right"
    if alternative == "two-sided" and threshold <= 0 and (ties == "inclusive" or threshold < 0):
        return comb(len(values), chosen)
    total = 0
    for taken in range(max(0, chosen - half), min(chosen, len(left) - 1) + 1):
        partner = right[chosen - taken]
        needed = np.sort(threshold - left[taken])
        total += len(partner) * len(needed) - int(np.searchsorted(partner, needed, side=above).sum())
        if alternative == "two-sided":
            total += int(np.searchsorted(partner, np.sort(-threshold - left[taken]), side=below).sum())
    return total


def _subset_sums(values: Floats) -> list[Floats]:
    """Sums of all subsets, by the number of values in the subset."""
    sums = [np.zeros(1)]
    for value in values:
        grown = [smaller + value for smaller in sums]
        sums = [sums[0], *(np.concatenate(pair) for pair in zip(sums[1:], grown[:-1], strict=True)), grown[-1]]
    return sums


def _random_sums(values: Floats, chosen: int, samples: int, random_state: int) -> Iterator[Floats]:
    """Blocks of sums of `chosen` values drawn at random without replacement."""
    random = np.random.default_rng(random_state)
    block = max(1, _BLOCK_NUMBERS // len(values))
    for start in range(0, samples, block):
        keys = random.random((min(block, samples - start), len(values)))
        picked = np.argpartition(keys, chosen - 1, axis=1)[:, :chosen]
        yield values[picked].sum(axis=1)
