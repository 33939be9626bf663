"""Shares, means and medians over words of which some occur more than once: a repetition tells nothing new.

Means and shares count every occurrence, as published; their intervals are those of (Σw)² / Σw² independent words, w
being how often each occurs (Kish, *Survey Sampling*, 1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings.analogy_accuracy import wilson
from biasgauge.embeddings.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

WILSON = "wilson, effective size of repeated words"
STUDENT = "student-t, effective size of repeated words"
ORDER = "order statistics, distinct words"
NO_WORDS = "there is no such word"
_ONE_WORD = "there are fewer than two words"
_NOT_WIDE_ENOUGH = "there are too few words for an interval of this level"


@dataclass(frozen=True)
class WordStatistic:
    """A number over words.

    Attributes:
        value: None where there is no word.
        n: how many words it rests on, repetitions included.
        interval: where it may lie for other words of the same kind.
        sd: standard deviation of the words (divisor n) where the number is a mean; else None.
        reason: why `value` is undefined; None when it is not.
    """

    value: float | None
    n: int
    interval: Interval
    sd: float | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "value": self.value,
            "n": self.n,
            "sd": self.sd,
            "interval": self.interval.to_dict(),
            "reason": self.reason,
        }

    def __str__(self) -> str:
        if self.value is None:
            return f"undefined: {self.reason}"
        ends = ["–" if end is None else f"{end:.3g}" for end in (self.interval.low, self.interval.high)]
        return f"{self.value:.3g} [{', '.join(ends)}]"


def undefined(level: float, method: str, reason: str = NO_WORDS) -> WordStatistic:
    """A number that is not there."""
    return WordStatistic(None, 0, Interval(None, None, level, method, "words", reason), reason=reason)


def share(hits: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Share of words that are hits, in [0, 1], with Wilson's interval."""
    found = np.asarray(hits, float)
    if not len(found):
        return undefined(level, WILSON)
    value = float(found.mean())
    return WordStatistic(value, len(found), wilson(value, _independent(words), level, WILSON, "words"))


def mean_cosine(values: ArrayLike, words: Sequence[str] | None, level: float, over: str = "words") -> WordStatistic:
    """Mean of cosines over words, with Student's interval cut at −1 and 1; `words` None: all are different."""
    from scipy.special import stdtrit  # noqa: PLC0415 - loading vectors does without it

    found = np.asarray(values, float)
    if not len(found):
        return undefined(level, STUDENT)
    value, sd, size = float(found.mean()), float(found.std()), len(found) if words is None else _independent(words)
    if size <= 1:
        interval = Interval(None, None, level, STUDENT, over, _ONE_WORD)
    else:
        margin = float(stdtrit(size - 1, (1 + level) / 2)) * sd / (size - 1) ** 0.5
        interval = Interval(max(value - margin, -1.0), min(value + margin, 1.0), level, STUDENT, over)
    return WordStatistic(value, len(found), interval, sd)


def median(values: ArrayLike, words: Sequence[str], level: float) -> WordStatistic:
    """Median over distinct words; the interval is between two of the ordered values and holds at least its level."""
    from scipy.special import bdtr  # noqa: PLC0415 - loading vectors does without it

    found = np.sort(np.array(list(dict(zip(words, np.asarray(values, float).tolist(), strict=True)).values())))
    if not len(found):
        return undefined(level, ORDER)
    size = len(found)
    below = bdtr(np.arange(size), size, 0.5)
    least = int(np.count_nonzero(below <= (1 - level) / 2)) - 1
    if least < 0:
        interval = Interval(None, None, level, ORDER, "words", _NOT_WIDE_ENOUGH)
    else:
        interval = Interval(float(found[least]), float(found[size - 1 - least]), level, ORDER, "words")
    return WordStatistic(float(np.median(found)), size, interval)


def _independent(words: Sequence[str]) -> float:
    """How many independent words these are worth."""
    times = np.unique(np.asarray(words), return_counts=True)[1]
    return float(times.sum() ** 2 / (times**2).sum())
