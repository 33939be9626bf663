"""Intervals by drawing words again: bootstrap (percentile, BCa) and jackknife.

The interval says how far a number would move with other words of the same kind. It says nothing about another corpus or
another training run: those need replicates of the model. Sources: Efron & Tibshirani, *An Introduction to the
Bootstrap* (1993), chapters 11, 13 and 14; for several samples, Davison & Hinkley, *Bootstrap Methods and their
Application* (1997), section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.association.set_test import Resampled

Array = np.ndarray[Any, np.dtype[np.float64]]
Weighted = Callable[[Mapping[str, Array]], Array]
Method = Literal["bca", "percentile", "jackknife"]

_BLOCK = 500
"""Resamples computed at a time: bounds the memory; results do not depend on it."""
_TOLERATED = 0.05
"""Largest share of resamples without a value; beyond it the rest would be a selection."""


@dataclass(frozen=True)
class Resampling:
    """How an interval is to be found.

    Attributes:
        method: "bca" corrects for bias and skewness; "percentile" takes the quantiles as they are; "jackknife" leaves
            out one word at a time and assumes a normal spread.
        level: share of intervals that should hold the number sought.
        resamples: bootstrap samples; the jackknife needs none.
        random_state: seed; the same seed gives the same interval.
    """

    method: Method = "bca"
    level: float = 0.95
    resamples: int = 2_000
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ParameterError(f"The 'method' of an interval must be one of {get_args(Method)}. Got {self.method!r}.")
        if not 0 < self.level < 1:
            raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {self.level!r}.")
        if self.resamples < 1 or self.random_state < 0:
            raise ParameterError(
                "The 'resamples' of an interval must be at least 1 and its 'random_state' at least 0. "
                f"Got {self.resamples!r} and {self.random_state!r}."
            )


BCA = Resampling()
"""What a test uses when nothing else is asked for."""


@dataclass(frozen=True)
class Interval:
    """Where a number may lie.

    Attributes:
        low: lower end; None when the interval is undefined.
        high: upper end; None when the interval is undefined.
        level: its nominal coverage.
        method: how it was found.
        resamples: how many samples it rests on; 0 where none were drawn.
        generalises_over: what would vary in the repetitions that the level speaks of.
        undefined_resamples: samples in which the number could not be computed; they are left out.
        reason: why the interval is undefined; None when it is not.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    resamples: int
    generalises_over: str = "words"
    undefined_resamples: int = 0
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


def undefined_interval(settings: Resampling | None, reason: str, over: str = "words") -> Interval | None:
    """Give an interval without ends, with its reason; None when no interval was asked for."""
    if settings is None:
        return None
    return Interval(None, None, settings.level, settings.method, 0, over, reason=reason)


class _NoIntervalError(Exception):
    """Why there is no interval."""


def interval_over_words(
    value: float, resampled: Resampled, settings: Resampling | None, over: str = "words"
) -> Interval | None:
    """Find the interval of `value` by drawing each unit's words with replacement, each unit on its own.

    Undefined when a unit has fewer than two words, when more than 5 % of the resamples have no value, when all of them
    have the same one, or, for BCa, when all lie on one side of `value` or leaving out some word leaves no value.
    """
    if settings is None:
        return None
    find = _jackknife if settings.method == "jackknife" else _bootstrap
    try:
        _check_sizes(resampled.units)
        return find(value, resampled, settings, over)
    except _NoIntervalError as problem:
        return undefined_interval(settings, str(problem), over)


def _check_sizes(units: Mapping[str, int]) -> None:
    for name, words in units.items():
        if words < 2:  # noqa: PLR2004 - one word has no spread
            few = "there are fewer than two pairs" if name == "xy" else f"the set {name!r} has fewer than two words"
            raise _NoIntervalError(f"{few} to draw from again")


def _bootstrap(value: float, resampled: Resampled, settings: Resampling, over: str) -> Interval:
    drawn = np.concatenate([resampled.values(counts) for counts in _bootstrap_counts(resampled.units, settings)])
    sound = drawn[np.isfinite(drawn)]
    lost = len(drawn) - len(sound)
    if lost > _TOLERATED * len(drawn):
        raise _NoIntervalError(f"{lost:,} of {len(drawn):,} resamples have no value")
    if np.ptp(sound) <= _same_as(value):
        raise _NoIntervalError("every resample gives the same value")
    tails = np.array([(1 - settings.level) / 2, (1 + settings.level) / 2])
    if settings.method == "bca":
        share = float((sound < value).mean() + (sound <= value).mean()) / 2
        if not 0 < share < 1:
            raise _NoIntervalError("every resample lies on the same side of the value")
        tails = bca_tails(tails, float(ndtri(share)), acceleration(list(_left_out(resampled))))
    low, high = np.quantile(sound, tails).tolist()
    return Interval(low, high, settings.level, settings.method, len(drawn), over, lost)


def _same_as(value: float) -> float:
    return 1e-12 * max(1.0, abs(value))


def bca_tails(tails: Array, bias: float, skew: float) -> Array:
    """Move the nominal tail probabilities by the bias (in normal quantiles) and the acceleration of the estimate."""
    shifted = bias + ndtri(tails)
    moved: Array = ndtr(bias + shifted / (1 - skew * shifted))
    return moved


def acceleration(left_out: list[Array]) -> float:
    """Acceleration of BCa from the values without each word, one array for each unit; 0 when none of them differ."""
    influence = [(len(one) - 1) * (one.mean() - one) for one in left_out]
    largest = max(float(np.abs(one).max()) for one in influence)
    if largest == 0:
        return 0.0
    influence = [one / largest for one in influence]  # the ratio is the same, and no power overflows
    cubes = sum(float((one**3).sum()) / len(one) ** 3 for one in influence)
    squares = sum(float((one**2).sum()) / len(one) ** 2 for one in influence)
    return float(cubes / (6 * squares**1.5))


def _jackknife(value: float, resampled: Resampled, settings: Resampling, over: str) -> Interval:
    left_out = list(_left_out(resampled))
    variance = sum(float(((one - one.mean()) ** 2).sum()) * (len(one) - 1) / len(one) for one in left_out)
    if variance <= _same_as(value) ** 2:
        raise _NoIntervalError("leaving out any word gives the same value")
    margin = float(ndtri((1 + settings.level) / 2)) * variance**0.5
    return Interval(value - margin, value + margin, settings.level, "jackknife", sum(map(len, left_out)), over)


def _bootstrap_counts(units: Mapping[str, int], settings: Resampling) -> Iterator[dict[str, Array]]:
    """Blocks of rows that say how often each word is drawn; each unit has its own stream of random numbers."""
    streams = {name: np.random.default_rng([settings.random_state, *name.encode()]) for name in units}
    for start in range(0, settings.resamples, _BLOCK):
        rows = min(_BLOCK, settings.resamples - start)
        yield {
            name: streams[name].multinomial(words, np.full(words, 1 / words), size=rows).astype(np.float64)
            for name, words in units.items()
        }


def _left_out(resampled: Resampled) -> Iterator[Array]:
    """For each unit, the values without each of its words."""
    for name, words in resampled.units.items():
        parts = []
        for start in range(0, words, _BLOCK):
            rows = min(_BLOCK, words - start)
            counts = {other: np.ones((rows, size)) for other, size in resampled.units.items()}
            counts[name][np.arange(rows), start + np.arange(rows)] = 0
            parts.append(resampled.values(counts))
        without = np.concatenate(parts)
        if not np.isfinite(without).all():
            word = int(np.flatnonzero(~np.isfinite(without))[0])
            raise _NoIntervalError(f"without word {word} of {name!r} there is no value")
        yield without
