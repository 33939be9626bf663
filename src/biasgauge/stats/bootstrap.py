"""Intervals by resampling units: bootstrap (percentile, BCa) and jackknife.

An interval generalizes over the units that are drawn again (words, items, points), and over nothing else. Sources:
Efron & Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 11, 13 and 14; for several samples, Davison &
Hinkley, *Bootstrap Methods and their Application* (1997), section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from biasgauge.core import Estimate, Fields, Floats, JsonObject, Places, check_choice, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats.numerics import normal_quantile, slack

Method = Literal["bca", "percentile", "jackknife"]
BootstrapMethod = Literal["bca", "percentile"]
Weighted = Callable[[Mapping[str, Floats]], Floats]

_BLOCK = 500  # resamples computed at a time: bounds the memory; results do not depend on it
MOST_LEFT_OUT = 1_000
"""Words of a set up to which each is left out alone; longer sets are left out in this many groups."""
_CELLS = 4_000_000  # numbers held at a time: bounds the memory; results do not depend on it
JACKKNIFE = "jackknife-t"
"""Name of the interval from leaving out one unit at a time, with Student's t on one degree of freedom fewer."""
NO_SPREAD = "leaving out any model gives the same value"
_SAME = 1e-13  # variances of means within [−1, 1] below this are rounding of single precision
TOLERATED = 0.05
"""Largest share of resamples without a value; beyond it those with a value would be a selection."""


@dataclass(frozen=True)
class Resampling:
    """Settings of an interval by resampling.

    Attributes:
        method: "bca" corrects for bias and skewness; "percentile" takes the quantiles as they are; "jackknife" leaves
            out one unit at a time and assumes a normal distribution.
        level: nominal coverage.
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
        """Return the entries of a result's settings."""
        return {"interval": self.method, **{name: value for name, value in vars(self).items() if name != "method"}}


BCA = Resampling()
"""Default of association tests."""


class Resampled(NamedTuple):
    """A statistic as a function of how often each unit is drawn, for several independent samples by name.

    Attributes:
        units: number of units of each sample.
        values: from counts, one matrix (draws × units) for each sample, to one value per draw; NaN where undefined.
    """

    units: Mapping[str, int]
    values: Weighted


def bootstrap_settings(where: str, *, method: str, level: float, resamples: int, random_state: int) -> Resampling:
    """Return the settings of a bootstrap, for functions that have no jackknife; `where` is named by the error."""
    if method not in {"bca", "percentile"}:
        raise ParameterError(f"The 'interval' parameter of {where} must be bca or percentile. Got {method!r}.")
    return Resampling(method, level, resamples, random_state)  # type: ignore[arg-type]  # checked above


def estimate_from_draws(
    value: float, drawn: Floats, left_out: Callable[[], Sequence[Floats]], how: Resampling, over: str, n: int = 0
) -> Estimate:
    """Bootstrap interval of a number, from its value in every resample.

    "percentile": quantiles of the resamples at (1 ± level)/2. "bca": quantiles at Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z)))
    for the normal quantiles z of these, with z₀ = Φ⁻¹(share of resamples below the value) and the acceleration a of
    `acceleration` (Efron & Tibshirani 1993, chapter 14).

    The interval is undefined, with a reason, when more than 5 % of the resamples have no value, when all have the same
    one, or, for BCa, when all lie on one side of `value`. Where leaving out some unit leaves no value, BCa has no
    acceleration; the bias-corrected interval is given and named ("bc") instead. `drawn` has NaN where the number is
    undefined; `left_out` gives the number without each unit, one array for each independent sample, and is called only
    for BCa; `over` names the units drawn, `n` of them.
    """
    defined = drawn[np.isfinite(drawn)]
    lost = len(drawn) - len(defined)
    fields: Fields = {"value": value, "level": how.level, "method": how.method, "over": over, "n": n}
    fields |= {"resamples": len(drawn), "undefined_resamples": lost}
    if lost > TOLERATED * len(drawn):
        return Estimate(reason=f"{lost:,} of {len(drawn):,} resamples have no value", **fields)
    if np.ptp(defined) <= slack(value):
        return Estimate(reason="every resample gives the same value", **fields)
    tails: Floats = np.array([(1 - how.level) / 2, (1 + how.level) / 2])
    if how.method == "bca":
        rounding = slack(value)
        # Resamples equal to the value count half on either side.
        share = float((defined < value - rounding).mean() + (defined <= value + rounding).mean()) / 2
        if not 0 < share < 1:
            return Estimate(reason="every resample lies on the same side of the value", **fields)
        without = left_out()
        all_defined = all(np.isfinite(values).all() for values in without)
        fields["method"] = "bca" if all_defined else "bc"
        tails = bca_tails(tails, float(ndtri(share)), acceleration(list(without)) if all_defined else 0.0)
    low, high = np.quantile(defined, tails).tolist()
    return Estimate(low=low, high=high, **fields)


def percentile_estimate(value: float | None, drawn: Floats, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - method, over
    """Return a number with its percentile interval, from draws of it that are all defined."""
    low, high = percentile_ends(drawn, level) or (None, None)
    return Estimate(value=value, low=low, high=high, level=level, resamples=len(drawn), **fields)


def percentile_ends(drawn: Floats, level: float) -> tuple[float, float] | None:
    """Quantiles of draws of a number at (1 ± level)/2; None where more than 5 % of the draws have no value."""
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - TOLERATED) * len(drawn):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def estimate_over_words(
    value: float, resampled: Resampled, settings: Resampling | None, over: str = "words", *, block: int = _BLOCK
) -> Estimate | None:
    """Interval of a number of word sets: the words of each set are drawn with replacement, independently of the others.

    None without settings. `block` resamples are computed at a time. Undefined as in `estimate_from_draws`, and when a
    set has fewer than two words.
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
        return _normal_jackknife(value, left_out_words(resampled), settings.level, over, n)
    drawn = np.concatenate([resampled.values(counts) for counts in word_counts(resampled.units, settings, block)])
    return estimate_from_draws(value, drawn, lambda: left_out_words(resampled, block=block), settings, over, n)


def not_estimated(settings: Resampling | None, reason: str, over: str = "words") -> Estimate | None:
    """Return an undefined number with its reason; None without settings."""
    if settings is None:
        return None
    return Estimate(value=None, level=settings.level, method=settings.method, over=over, reason=reason)


def bca_tails(tails: Floats, bias: float, skew: float) -> Floats:
    """Tail probabilities Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))) of BCa, z₀ being the bias and a the acceleration."""
    shifted = bias + ndtri(tails)
    corrected: Floats = ndtr(bias + shifted / (1 - skew * shifted))
    return corrected


def acceleration(left_out: list[Floats]) -> float:
    """Acceleration of BCa, a = Σ Σ Lᵢ³ / n³ / (6 (Σ Σ Lᵢ² / n²)^1.5), summed over samples of n units each.

    Lᵢ = (n − 1)(mean − value without unit i) is the influence of unit i (Davison & Hinkley 1997, section 5.3); 0 when
    no two values differ. `left_out` has the values without each unit, one array for each sample.
    """
    influence = [(len(values) - 1) * (values.mean() - values) for values in left_out]
    largest = max(float(np.abs(values).max()) for values in influence)
    if largest == 0:
        return 0.0
    influence = [values / largest for values in influence]  # the ratio is the same, and no power overflows
    cubes = sum(float((values**3).sum()) / len(values) ** 3 for values in influence)
    squares = sum(float((values**2).sum()) / len(values) ** 2 for values in influence)
    return float(cubes / (6 * squares**1.5))


def draw_counts(random: np.random.Generator, units: int, draws: int) -> Floats:
    """Draw units with replacement; counts of each unit, draws × units."""
    return random.multinomial(units, np.full(units, 1 / units), size=draws).astype(np.float64)


def left_out_counts(units: int, rows: int, groups: int | None = None) -> Iterator[Floats]:
    """Yield counts of 1 but for one unit (or those of one of `groups` groups), each in turn, `rows` at a time."""
    groups = groups or units
    member = np.arange(units) % groups
    for start in range(0, groups, rows):
        yield (member != np.arange(start, min(start + rows, groups))[:, None]).astype(np.float64)


def blocks(total: int, size: int, cells: int = _CELLS) -> Iterator[int]:
    """Yield numbers of rows, `total` in all, that keep blocks of rows × size within `cells` numbers."""
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
    margin = normal_quantile(level) * variance**0.5
    return Estimate.symmetric(margin=margin, resamples=sum(map(len, left_out)), **fields)


def word_counts(units: Mapping[str, int], settings: Resampling, block: int = _BLOCK) -> Iterator[dict[str, Floats]]:
    """Yield blocks of counts of the words drawn; each set has its own stream of random numbers."""
    streams = {name: np.random.default_rng([settings.random_state, *name.encode()]) for name in units}
    for rows in blocks(settings.resamples, 1, block):
        yield {name: draw_counts(streams[name], words, rows) for name, words in units.items()}


def left_out_words(resampled: Resampled, max_groups: int = MOST_LEFT_OUT, block: int = _BLOCK) -> list[Floats]:
    """Return, for each set, the values without each of its words; NaN where undefined.

    Words of a long list are left out in `max_groups` groups, which estimates the same variance and skewness at a cost
    that is linear in the length of the list.
    """
    left_out = []
    for name, words in resampled.units.items():
        values = []
        for counts in left_out_counts(words, block, min(words, max_groups)):
            all_once = {set_name: np.ones((len(counts), size)) for set_name, size in resampled.units.items()}
            values.append(resampled.values({**all_once, name: counts}))
        left_out.append(np.concatenate(values))
    return left_out


def jackknife_variance(left_out: Sequence[Floats]) -> float:
    """Jackknife variance, Σ over samples of (n − 1)/n Σ (valueᵢ − mean)², of a number with valueᵢ without unit i."""
    return sum(float(((values - values.mean()) ** 2).sum()) * (len(values) - 1) / len(values) for values in left_out)


class PairJackknife(NamedTuple):
    """Jackknife of means over pairs of units, such as pairs of models: pairs that share a unit are not independent.

    The variance of a mean is NaN with fewer than three units, or where nothing is left without one of them.
    """

    variance: Floats
    units: Places

    def margins(self, level: float) -> Floats:
        """Half widths of the intervals; NaN where undefined, or where a width of 0 would suggest false certainty."""
        margins: Floats = np.sqrt(self.variance) * stdtrit(np.maximum(self.units - 1, 1), (1 + level) / 2)
        return np.where(self.variance > _SAME, margins, np.nan)


def leave_one_out(total: Floats, count: Floats, unit_total: Floats, unit_count: Floats) -> PairJackknife:
    """Variance of `total / count` from leaving out each unit with all pairs that it is part of.

    `total` and `count` are sum and number of pairs of each of several means; `unit_total` and `unit_count`
    (units × means) those of the pairs that the unit is part of, 0 where it takes no part in that mean. Source: Arvesen,
    *Annals of Mathematical Statistics* 40 (1969), for functions of pairs (U-statistics). It is conservative.
    """
    present = unit_count > 0
    units = present.sum(axis=0)
    remaining = count - unit_count
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(present, (total - unit_total) / remaining, 0)
        center = without.sum(axis=0) / units
        variance = (units - 1) / units * np.where(present, (without - center) ** 2, 0).sum(axis=0)
    undefined = (units < 3) | (present & (remaining <= 0)).any(axis=0)
    return PairJackknife(np.where(undefined, np.nan, variance), units)


def jackknife_mean(
    value: float | None, margin: float, level: float, bounds: tuple[float, float], *, n: int, reason: str = NO_SPREAD
) -> Estimate:
    """Return a mean over pairs of models with its interval, cut at `bounds`; `reason` explains a missing margin."""
    fields: Fields = {"value": value, "level": level, "method": JACKKNIFE, "over": "models", "n": n}
    if value is None:
        return Estimate(reason="no words have a value", **fields)
    if np.isnan(margin):
        return Estimate(reason=reason, **fields)
    return Estimate.symmetric(margin=margin, bounds=bounds, **fields)
