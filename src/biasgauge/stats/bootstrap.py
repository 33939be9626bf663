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
from scipy.special import ndtr, ndtri, stdtrit

from biasgauge.core import Estimate, Fields, Floats, JsonObject, Places, check_choice, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import slack

Method = Literal["bca", "percentile", "jackknife"]
BootstrapMethod = Literal["bca", "percentile"]
Weighted = Callable[[Mapping[str, Floats]], Floats]

_BLOCK = 500
MOST_LEFT_OUT = 1_000
"""Words of a set that are left out one by one; those of longer ones in so many groups."""
"""Resamples computed at a time: bounds the memory; results do not depend on it."""
_CELLS = 4_000_000
"""Numbers held at a time: bounds the memory; results do not depend on it."""
JACKKNIFE = "jackknife-t"
"""Name of the interval from leaving out one unit at a time, with Student's t on one degree of freedom fewer."""
NO_SPREAD = "leaving out any model gives the same value"
_SAME = 1e-13
"""Variances of means within [−1, 1] that are but the rounding of single precision."""
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

    def to_settings(self) -> JsonObject:
        """As the settings of a result record it."""
        numbers = {"level": self.level, "resamples": self.resamples, "random_state": self.random_state}
        return {"interval": self.method, **numbers}


BCA = Resampling()
"""What a test uses when nothing else is asked for."""


class Resampled(NamedTuple):
    """A number as a function of how often each of some units is drawn, each kind of them on its own, by name.

    `values` takes rows of counts, one matrix (draws × units) for each name, and gives one value a draw, or NaN.
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
    value: float, drawn: Floats, left_out: Callable[[], Sequence[Floats]], how: Resampling, over: str, n: int = 0
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
    fields: Fields = {
        "value": value, "level": how.level, "over": over, "n": n, "resamples": len(drawn), "undefined_resamples": lost,
    }  # fmt: skip
    if lost > TOLERATED * len(drawn):
        return Estimate(reason=f"{lost:,} of {len(drawn):,} resamples have no value", method=how.method, **fields)
    if np.ptp(sound) <= slack(value):
        return Estimate(reason="every resample gives the same value", method=how.method, **fields)
    tails: Floats = np.array([(1 - how.level) / 2, (1 + how.level) / 2])
    method: str = how.method
    if how.method == "bca":
        rounding = slack(value)
        share = float((sound < value - rounding).mean() + (sound <= value + rounding).mean()) / 2
        if not 0 < share < 1:
            return Estimate(reason="every resample lies on the same side of the value", method=how.method, **fields)
        without = left_out()
        all_defined = all(np.isfinite(values).all() for values in without)
        method = "bca" if all_defined else "bc"
        tails = bca_tails(tails, float(ndtri(share)), acceleration(list(without)) if all_defined else 0.0)
    low, high = np.quantile(sound, tails).tolist()
    return Estimate(low=low, high=high, method=method, **fields)


def percentile_estimate(value: float | None, drawn: Floats, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - method, over
    """A number with the interval between the quantiles of draws of it, all of them defined."""
    low, high = percentile_ends(drawn, level) or (None, None)
    return Estimate(value=value, low=low, high=high, level=level, resamples=len(drawn), **fields)


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
    fields: Fields = {"value": value, "level": settings.level, "method": settings.method, "over": over}
    for name, words in resampled.units.items():
        if words < 2:
            few = "there are fewer than two pairs" if name == "xy" else f"the set {name!r} has fewer than two words"
            return Estimate(reason=f"{few} to draw from again", **fields)
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


def left_out_counts(units: int, rows: int) -> Iterator[Floats]:
    """Every unit once but for one, for each of them in turn, so many rows at a time."""
    for start in range(0, units, rows):
        counts = np.ones((min(rows, units - start), units))
        np.fill_diagonal(counts[:, start:], 0)
        yield counts


def blocks(total: int, size: int, cells: int = _CELLS) -> Iterator[int]:
    """Numbers of rows, `total` in all, that keep blocks of rows × size within `cells` numbers."""
    rows = max(1, cells // max(size, 1))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def _normal_jackknife(value: float, left_out: Sequence[Floats], level: float, over: str, n: int) -> Estimate:
    fields: Fields = {"value": value, "level": level, "method": "jackknife", "over": over, "n": n}
    if not all(np.isfinite(values).all() for values in left_out):
        return Estimate(reason="without some word there is no value", **fields)
    variance = jackknife_variance(left_out)
    if variance <= slack(value) ** 2:
        return Estimate(reason="leaving out any word gives the same value", **fields)
    margin = float(ndtri((1 + level) / 2)) * variance**0.5
    return Estimate(low=value - margin, high=value + margin, resamples=sum(map(len, left_out)), **fields)


def _word_counts(units: Mapping[str, int], settings: Resampling) -> Iterator[dict[str, Floats]]:
    """Blocks of rows that say how often each word is drawn; each set has its own stream of random numbers."""
    streams = {name: np.random.default_rng([settings.random_state, *name.encode()]) for name in units}
    for rows in blocks(settings.resamples, 1, _BLOCK):
        yield {name: draw_counts(streams[name], words, rows) for name, words in units.items()}


def _left_out(resampled: Resampled) -> list[Floats]:
    """For each set, the values without each of its words; NaN where there is none.

    A long list is left out in groups, each of every so-manieth word: skewness and variance are those of words one by
    one, but for chance, and the cost grows with the length of the list as that of the number itself does.
    """
    left_out = []
    for name, words in resampled.units.items():
        parts = []
        alone = left_out_counts(words, _BLOCK)
        for counts in alone if words <= MOST_LEFT_OUT else _groups_left_out(words, MOST_LEFT_OUT, _BLOCK):
            all_once = {set_name: np.ones((len(counts), size)) for set_name, size in resampled.units.items()}
            parts.append(resampled.values({**all_once, name: counts}))
        left_out.append(np.concatenate(parts))
    return left_out


def _groups_left_out(units: int, groups: int, rows: int) -> Iterator[Floats]:
    """Every unit once but for those of one group, for each group in turn, so many rows at a time."""
    member = np.arange(units) % groups
    for start in range(0, groups, rows):
        yield (member != np.arange(start, min(start + rows, groups))[:, None]).astype(np.float64)


def jackknife_variance(left_out: Sequence[Floats]) -> float:
    """Variance of a number from its values without each unit, one array for each independent sample."""
    return sum(float(((values - values.mean()) ** 2).sum()) * (len(values) - 1) / len(values) for values in left_out)


class LeftOut(NamedTuple):
    """Jackknife of means over pairs of units, such as pairs of models: pairs that share a unit are not independent.

    The variance of a mean is NaN with fewer than three units, or where nothing is left without one of them.
    """

    variance: Floats
    units: Places

    def margins(self, level: float) -> Floats:
        """Half the width of each interval; NaN where undefined, or where no width would suggest false certainty."""
        margins: Floats = np.sqrt(self.variance) * stdtrit(np.maximum(self.units - 1, 1), (1 + level) / 2)
        return np.where(self.variance > _SAME, margins, np.nan)


def leave_one_out(total: Floats, count: Floats, unit_total: Floats, unit_count: Floats) -> LeftOut:
    """Variance of `total / count` from leaving out each unit with all pairs that it is part of.

    Source: Arvesen, *Annals of Mathematical Statistics* 40 (1969), for functions of pairs (U-statistics). It errs on
    the large side.

    Args:
        total: sum over the pairs, for each of several means.
        count: number of those pairs.
        unit_total: units × means: sum over the pairs that the unit is part of.
        unit_count: units × means: their number; 0 where the unit takes no part in that mean.
    """
    present = unit_count > 0
    units = present.sum(axis=0)
    remaining = count - unit_count
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(present, (total - unit_total) / remaining, 0)
        center = without.sum(axis=0) / units
        variance = (units - 1) / units * np.where(present, (without - center) ** 2, 0).sum(axis=0)
    undefined = (units < 3) | (present & (remaining <= 0)).any(axis=0)
    return LeftOut(np.where(undefined, np.nan, variance), units)


def jackknife_mean(
    value: float | None, margin: float, level: float, bounds: tuple[float, float], *, n: int, reason: str = NO_SPREAD
) -> Estimate:
    """A mean over pairs of models with its interval, cut at `bounds`; `reason` is why there may be no margin."""
    fields: Fields = {"value": value, "level": level, "method": JACKKNIFE, "over": "models", "n": n}
    if value is None:
        return Estimate(reason="no words have a value", **fields)
    if np.isnan(margin):
        return Estimate(reason=reason, **fields)
    return Estimate(low=max(value - margin, bounds[0]), high=min(value + margin, bounds[1]), **fields)
