"""Intervals by drawing units again: bootstrap (percentile, BCa) and the normal jackknife. One of each.

The interval says how far a number would move with other units (words, items, points) of the same kind, and nothing
about what was not drawn again. Sources: Efron & Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 11, 13
and 14; for several samples, Davison & Hinkley, *Bootstrap Methods and their Application* (1997), section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from biasgauge.arrays import Floats
from biasgauge.checks import check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats.estimate import Estimate, check_level
from biasgauge.stats.jackknife import jackknife_variance
from biasgauge.stats.rounding import slack

Method = Literal["bca", "percentile", "jackknife"]
BootstrapMethod = Literal["bca", "percentile"]
Weighted = Callable[[Mapping[str, Floats]], Floats]

_BLOCK = 500
"""Resamples computed at a time: bounds the memory; results do not depend on it."""
_CELLS = 4_000_000
"""Numbers held at a time: bounds the memory; results do not depend on it."""
TOLERATED = 0.05
"""Largest share of resamples without a value; beyond it the rest would be a selection."""


@dataclass(frozen=True)
class Resampling:
    """How an interval is to be found.

    Attributes:
        method: "bca" corrects for bias and skewness; "percentile" takes the quantiles as they are; "jackknife" leaves
            out one unit at a time and assumes a normal spread.
        level: share of intervals that should hold the number sought.
        resamples: bootstrap samples; the jackknife needs none.
        random_state: seed; the same seed gives the same interval.
    """

    method: Method = "bca"
    level: float = 0.95
    resamples: int = 2_000
    random_state: int = 0

    def __post_init__(self) -> None:
        check_choice(get_args(Method), method=self.method)
        check_level(self.level)
        check_whole(1, resamples=self.resamples)
        check_whole(0, random_state=self.random_state)

    def to_settings(self) -> dict[str, Any]:
        """As the settings of a result record it."""
        numbers = {"level": self.level, "resamples": self.resamples, "random_state": self.random_state}
        return {"interval": self.method, **numbers}


BCA = Resampling()
"""What a test uses when nothing else is asked for."""


class Resampled(NamedTuple):
    """A number as a function of how often each unit is drawn.

    Attributes:
        units: how many there are of each kind that is drawn again on its own, by name.
        values: from rows of counts, one matrix (draws × units) for each name, to one value a draw; NaN where undefined.
    """

    units: Mapping[str, int]
    values: Weighted


def bootstrap_settings(where: str, *, method: str, level: float, resamples: int, random_state: int) -> Resampling:
    """How to draw again, for functions that have no jackknife.

    Raises:
        ParameterError: one of the settings has an impossible value.
    """
    if method not in {"bca", "percentile"}:
        raise ParameterError(f"The 'interval' parameter of {where} must be bca or percentile. Got {method!r}.")
    return Resampling(method, level, resamples, random_state)  # type: ignore[arg-type]  # checked above


def estimate_from_draws(
    value: float,
    drawn: Floats,
    left_out: Callable[[], Sequence[Floats]],
    how: Resampling,
    over: str,
    n: int = 0,
) -> Estimate:
    """A number with its bootstrap interval, from its value in every resample.

    The interval is undefined, with a reason, when more than 5 % of the resamples have no value, when all have the same
    one, or, for BCa, when all lie on one side of `value`. Where leaving out some unit leaves no value, BCa has no
    acceleration; the bias-corrected interval is given and named ("bc") instead.

    Args:
        value: the number itself.
        drawn: the number in each resample, NaN where undefined.
        left_out: gives the number without each unit, one array for each independent sample; asked only for BCa.
        how: the method, "bca" or "percentile", and the level.
        over: what was drawn again.
        n: how many units the number rests on.
    """
    sound = drawn[np.isfinite(drawn)]
    lost = len(drawn) - len(sound)
    about: dict[str, Any] = {
        "value": value, "level": how.level, "over": over, "n": n, "resamples": len(drawn), "undefined_resamples": lost,
    }  # fmt: skip
    if lost > TOLERATED * len(drawn):
        return Estimate(reason=f"{lost:,} of {len(drawn):,} resamples have no value", method=how.method, **about)
    if np.ptp(sound) <= slack(value):
        return Estimate(reason="every resample gives the same value", method=how.method, **about)
    tails: Floats = np.array([(1 - how.level) / 2, (1 + how.level) / 2])
    method: str = how.method
    if how.method == "bca":
        rounding = slack(value)
        share = float((sound < value - rounding).mean() + (sound <= value + rounding).mean()) / 2
        if not 0 < share < 1:
            return Estimate(reason="every resample lies on the same side of the value", method=how.method, **about)
        without = left_out()
        whole = all(np.isfinite(values).all() for values in without)
        method = "bca" if whole else "bc"
        tails = bca_tails(tails, float(ndtri(share)), acceleration(list(without)) if whole else 0.0)
    low, high = np.quantile(sound, tails).tolist()
    return Estimate(low=low, high=high, method=method, **about)


def percentile_estimate(value: float | None, drawn: Floats, level: float, **about: Any) -> Estimate:  # noqa: ANN401 - method, over
    """A number with the interval between the quantiles of draws of it, all of them defined."""
    low, high = percentile_ends(drawn, level) or (None, None)
    return Estimate(value=value, low=low, high=high, level=level, resamples=len(drawn), **about)


def percentile_ends(drawn: Floats, level: float) -> tuple[float, float] | None:
    """Quantiles of draws of a number; None where more than 5 % of the draws have no value."""
    sound = drawn[~np.isnan(drawn)]
    if len(sound) < (1 - TOLERATED) * len(drawn):
        return None
    low, high = np.quantile(sound, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def estimate_over_words(
    value: float, resampled: Resampled, settings: Resampling | None, over: str = "words"
) -> Estimate | None:
    """A number of word sets with its interval: each set's words are drawn with replacement, each set on its own.

    None when no interval was asked for. Undefined as in `estimate_from_draws`, and when a set has fewer than two words.
    """
    if settings is None:
        return None
    about: dict[str, Any] = {"value": value, "level": settings.level, "method": settings.method, "over": over}
    for name, words in resampled.units.items():
        if words < 2:
            few = "there are fewer than two pairs" if name == "xy" else f"the set {name!r} has fewer than two words"
            return Estimate(reason=f"{few} to draw from again", **about)
    n = sum(resampled.units.values())
    if settings.method == "jackknife":
        return _normal_jackknife(value, _left_out(resampled), settings.level, over, n)
    drawn = np.concatenate([resampled.values(counts) for counts in _word_counts(resampled.units, settings)])
    return estimate_from_draws(value, drawn, lambda: _left_out(resampled), settings, over, n)


def not_estimated(settings: Resampling | None, reason: str, over: str = "words") -> Estimate | None:
    """An undefined number with its reason; None when no interval was asked for."""
    if settings is None:
        return None
    return Estimate(value=None, level=settings.level, method=settings.method, over=over, reason=reason)


def bca_tails(tails: Floats, bias: float, skew: float) -> Floats:
    """Move the nominal tail probabilities by the bias (in normal quantiles) and the acceleration of the estimate."""
    shifted = bias + ndtri(tails)
    moved: Floats = ndtr(bias + shifted / (1 - skew * shifted))
    return moved


def acceleration(left_out: list[Floats]) -> float:
    """Acceleration of BCa from the values without each unit, one array for each sample; 0 when none of them differ."""
    influence = [(len(values) - 1) * (values.mean() - values) for values in left_out]
    largest = max(float(np.abs(values).max()) for values in influence)
    if largest == 0:
        return 0.0
    influence = [values / largest for values in influence]  # the ratio is the same, and no power overflows
    cubes = sum(float((values**3).sum()) / len(values) ** 3 for values in influence)
    squares = sum(float((values**2).sum()) / len(values) ** 2 for values in influence)
    return float(cubes / (6 * squares**1.5))


def draw_counts(random: np.random.Generator, units: int, draws: int) -> Floats:
    """How often each of so many units is drawn, with replacement, in each of so many draws."""
    return random.multinomial(units, np.full(units, 1 / units), size=draws).astype(np.float64)


def blocks(total: int, size: int, cells: int = _CELLS) -> Iterator[int]:
    """Numbers of rows, `total` in all, that keep blocks of rows × size within `cells` numbers."""
    rows = max(1, cells // max(size, 1))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def _normal_jackknife(value: float, left_out: Sequence[Floats], level: float, over: str, n: int) -> Estimate:
    about: dict[str, Any] = {"value": value, "level": level, "method": "jackknife", "over": over, "n": n}
    if not all(np.isfinite(values).all() for values in left_out):
        return Estimate(reason="without some word there is no value", **about)
    variance = jackknife_variance(left_out)
    if variance <= slack(value) ** 2:
        return Estimate(reason="leaving out any word gives the same value", **about)
    margin = float(ndtri((1 + level) / 2)) * variance**0.5
    return Estimate(low=value - margin, high=value + margin, resamples=sum(map(len, left_out)), **about)


def _word_counts(units: Mapping[str, int], settings: Resampling) -> Iterator[dict[str, Floats]]:
    """Blocks of rows that say how often each word is drawn; each set has its own stream of random numbers."""
    streams = {name: np.random.default_rng([settings.random_state, *name.encode()]) for name in units}
    for start in range(0, settings.resamples, _BLOCK):
        rows = min(_BLOCK, settings.resamples - start)
        yield {name: draw_counts(streams[name], words, rows) for name, words in units.items()}


def _left_out(resampled: Resampled) -> list[Floats]:
    """For each set, the values without each of its words; NaN where there is none."""
    left_out = []
    for name, words in resampled.units.items():
        parts = []
        for start in range(0, words, _BLOCK):
            rows = min(_BLOCK, words - start)
            counts = {other: np.ones((rows, size)) for other, size in resampled.units.items()}
            counts[name][np.arange(rows), start + np.arange(rows)] = 0
            parts.append(resampled.values(counts))
        left_out.append(np.concatenate(parts))
    return left_out
