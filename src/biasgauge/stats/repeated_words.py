"""Shares, means and medians over words that may occur repeatedly.

A repetition tells nothing new: means and shares count every occurrence, as published, but their intervals are those of
(Σw)² / Σw² independent words, w being how often each occurs (Kish, *Survey Sampling*, 1965).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtrit

from biasgauge.core import Estimate, Fields, JsonObject
from biasgauge.stats.shares import wilson

WILSON = "wilson, effective size of repeated words"
STUDENT = "student-t, effective size of repeated words"
ORDER = "order statistics, distinct words"


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
    """A number that is not there."""
    return WordStatistic(value=None, level=level, method=method, over="words", reason=reason)


def share_of_repeated(hits: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Share of words that are hits, in [0, 1], with Wilson's interval."""
    values = np.asarray(hits, float)
    if not len(values):
        return undefined_statistic(level, WILSON)
    around = wilson(float(values.mean()), _independent(words), level, WILSON)
    return WordStatistic(**{**vars(around), "n": len(values)})


def mean_cosine(values: ArrayLike, words: Sequence[str] | None, level: float, over: str = "words") -> WordStatistic:
    """Mean of cosines over words, with Student's interval cut at −1 and 1; `words` None: all are different."""
    cosines = np.asarray(values, float)
    if not len(cosines):
        return undefined_statistic(level, STUDENT)
    value, sd = float(cosines.mean()), float(cosines.std())
    size = len(cosines) if words is None else _independent(words)
    about: Fields = {"value": value, "sd": sd, "level": level, "method": STUDENT, "over": over}
    if size <= 1:
        return WordStatistic(n=len(cosines), reason="there are fewer than two words", **about)
    margin = float(stdtrit(size - 1, (1 + level) / 2)) * sd / (size - 1) ** 0.5
    return WordStatistic(n=len(cosines), low=max(value - margin, -1.0), high=min(value + margin, 1.0), **about)


def median_of_distinct(values: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Median over distinct words; the interval is between two of the ordered values and holds at least its level."""
    ordered = np.sort(np.array(list(dict(zip(words, np.asarray(values, float).tolist(), strict=True)).values())))
    if not len(ordered):
        return undefined_statistic(level, ORDER)
    size = len(ordered)
    below = bdtr(np.arange(size), size, 0.5)
    least = int(np.count_nonzero(below <= (1 - level) / 2)) - 1
    about: Fields = {"value": float(np.median(ordered)), "level": level, "method": ORDER, "over": "words"}
    if least < 0:
        return WordStatistic(n=size, reason="there are too few words for an interval of this level", **about)
    return WordStatistic(n=size, low=float(ordered[least]), high=float(ordered[size - 1 - least]), **about)


def _independent(words: Sequence[str]) -> float:
    """How many independent words these are worth."""
    times = np.unique(np.asarray(words), return_counts=True)[1]
    return float(times.sum() ** 2 / (times**2).sum())
