"""Shares of independent units with their intervals, the area under the ROC curve, and statistics of repeated words.

A repetition of a word tells nothing new: means and shares count every occurrence, as published, but their intervals are
those of (Σw)² / Σw² independent words, w being how often each occurs (Kish, *Survey Sampling*, 1965).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaincinv

from biasgauge.core import Estimate, Fields, JsonObject, check_level
from biasgauge.stats.numerics import normal_quantile, student_quantile

NEWCOMBE = "Newcombe 2006, method 5"
WILSON = "wilson, effective size of repeated words"
STUDENT = "student-t, effective size of repeated words"
ORDER = "order statistics, distinct words"
NO_WORDS = "no word has a direction from both"


def wilson(share: float, size: float, level: float, method: str = "Wilson", over: str = "words") -> Estimate:
    """Share of `size` independent units with Wilson's score interval, cut at 0 and 1; `method` and `over` label it."""
    z = normal_quantile(level)
    center = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    margin = z / (1 + z**2 / size) * (share * (1 - share) / size + z**2 / (4 * size**2)) ** 0.5
    low, high = 0.0 if share == 0 else max(center - margin, 0.0), 1.0 if share == 1 else min(center + margin, 1.0)
    return Estimate(value=share, low=low, high=high, level=level, method=method, over=over, n=round(size))


def share_of_words(count: int, n: int, level: float, statistic: str, k: int = 2) -> Estimate:
    """Share of words, with Wilson's interval; undefined without words."""
    if n == 0:
        fields: Fields = {"statistic": statistic, "level": level, "method": "Wilson", "n": n, "k": k}
        return Estimate(value=None, reason=NO_WORDS, **fields)
    return replace(wilson(count / n, n, level, over=""), statistic=statistic, k=k)


def clopper_pearson(
    hits: int, trials: int, least: float = 0.0, *, level: float = 0.95, over: str = "splits"
) -> Estimate:
    """Share of `hits` in `trials` with its exact interval (beta quantiles); `least` is the smallest possible share."""
    tail = (1 - level) / 2
    low = float(betaincinv(hits, trials - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - tail)) if hits < trials else 1.0
    fields: Fields = {"level": level, "method": "clopper-pearson", "over": over, "n": trials, "resamples": trials}
    return Estimate(value=hits / trials, low=max(low, least), high=high, **fields)


def agresti_min(gained: int, lost: int, pairs: int, *, level: float = 0.95, over: str = "words") -> Estimate:
    """Difference of two shares of the same units, (gained − lost) / (pairs + 2), with its interval.

    Agresti & Min, *Statistics in Medicine* 24 (2005): half a unit is added to each of the four cells, for the value
    and for the interval.
    """
    size = pairs + 2.0
    value = (gained - lost) / size
    margin = normal_quantile(level) * ((gained + lost + 1) / size - value**2) ** 0.5 / size**0.5
    return Estimate.symmetric(value, margin, (-1.0, 1.0), level=level, method="agresti-min", over=over, n=pairs)


_EDGE = 1e-12  # at 0 and 1 themselves there is no variance, and so a second root


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
    fields: Fields = {"level": level, "method": NEWCOMBE, "over": over, "n": sum(sizes), "statistic": "AUC"}
    if not all(sizes):
        return Estimate(value=None, reason=f"one of the groups has no {over}", **fields)
    value = greater_share(first, second)
    quantile = normal_quantile(level)

    def beyond(area: float) -> float:
        # Variance of an area (Hanley & McNeil 1982, with both sizes at their mean).
        spread = 1 + (sum(sizes) / 2 - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return (area - value) ** 2 - quantile**2 * area * (1 - area) * spread / (sizes[0] * sizes[1])

    low = 0.0 if value <= 0 else float(brentq(beyond, 0.0, min(value, 1 - _EDGE)))
    high = 1.0 if value >= 1 else float(brentq(beyond, max(value, _EDGE), 1.0))
    return Estimate(value=value, low=low, high=high, **fields)


@dataclass(frozen=True, kw_only=True)
class WordStatistic(Estimate):
    """A number over words; `n` counts repetitions.

    Attributes:
        sd: standard deviation of the words (divisor n) where the number is a mean; else None.
    """

    sd: float | None = None

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; the interval stands under a key of its own."""
        reason = None if self.defined else self.reason
        return {"value": self.value, "n": self.n, "sd": self.sd, "interval": self.interval(), "reason": reason}

    def __str__(self) -> str:
        if self.value is None:
            return f"undefined: {self.reason}"
        ends = ["–" if end is None else f"{end:.3g}" for end in (self.low, self.high)]
        return f"{self.value:.3g} [{', '.join(ends)}]"


def undefined_statistic(level: float, method: str, reason: str = "there is no such word") -> WordStatistic:
    """Return an undefined statistic with its reason."""
    return WordStatistic(value=None, level=level, method=method, over="words", reason=reason)


def share_of_repeated(hits: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Share of words that are hits, in [0, 1], with Wilson's interval."""
    values = np.asarray(hits, float)
    if not len(values):
        return undefined_statistic(level, WILSON)
    estimate = wilson(float(values.mean()), _independent(words), level, WILSON)
    return WordStatistic(**{**vars(estimate), "n": len(values)})


def mean_cosine(values: ArrayLike, words: Sequence[str] | None, level: float, over: str = "words") -> WordStatistic:
    """Mean of cosines over words, with Student's interval cut at −1 and 1; `words` None: all are different."""
    cosines = np.asarray(values, float)
    if not len(cosines):
        return undefined_statistic(level, STUDENT)
    value, sd = float(cosines.mean()), float(cosines.std())
    size = len(cosines) if words is None else _independent(words)
    fields: Fields = {"value": value, "sd": sd, "level": level, "method": STUDENT, "over": over}
    if size <= 1:
        return WordStatistic(n=len(cosines), reason="there are fewer than two words", **fields)
    margin = student_quantile(size - 1, level) * sd / (size - 1) ** 0.5
    return WordStatistic.symmetric(margin=margin, bounds=(-1.0, 1.0), n=len(cosines), **fields)


def median_of_distinct(values: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Median over distinct words; the interval is between two of the ordered values and holds at least its level."""
    ordered = np.sort(np.array(list(dict(zip(words, np.asarray(values, float).tolist(), strict=True)).values())))
    if not len(ordered):
        return undefined_statistic(level, ORDER)
    size = len(ordered)
    below = bdtr(np.arange(size), size, 0.5)
    least = int(np.count_nonzero(below <= (1 - level) / 2)) - 1
    fields: Fields = {"value": float(np.median(ordered)), "level": level, "method": ORDER, "over": "words"}
    if least < 0:
        return WordStatistic(n=size, reason="there are too few words for an interval of this level", **fields)
    return WordStatistic(n=size, low=float(ordered[least]), high=float(ordered[size - 1 - least]), **fields)


def _independent(words: Sequence[str]) -> float:
    """Effective number of independent words, (Σ w)² / Σ w², w being how often each occurs."""
    times = np.unique(np.asarray(words), return_counts=True)[1]
    return float(times.sum() ** 2 / (times**2).sum())
