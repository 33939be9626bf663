"""Means with their intervals: Student's t, or normal where there are many units; means over models and random seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtri, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Integers, Places, Vectors
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import Resampling, estimate_from_draws, jackknife_variance
from biasgauge.stats.numerics import SAME

CHI_SQUARE = "chi-square, seeds taken as normal"
UNBOUNDED = (-np.inf, np.inf)
_OVER_WORDS = "Student's t over words"


def mean_estimate(
    values: Floats,
    *,
    level: float = 0.95,
    spread: Literal["student", "normal"] = "student",
    bounds: tuple[float, float] = UNBOUNDED,
    method: str | None = None,
    over: str = "words",
    same: str | None = None,
    **fields: Any,  # noqa: ANN401 - statistic, k
) -> Estimate:
    """Mean of independent values with the interval mean ± quantile · sd / √n, cut at `bounds`.

    Undefined without values; the interval is undefined with fewer than two, or, where `same` says why, when all values
    are the same.
    """
    n = len(values)
    value = float(values.mean()) if n else None
    fields |= {"value": value, "level": level, "method": method or spread, "over": over, "n": n}
    if value is None or n < 2:
        return Estimate(reason=f"no {over} have a value" if n == 0 else f"fewer than two {over} have a value", **fields)
    deviation = float(values.std(ddof=1))
    if same is not None and deviation <= SAME:
        return Estimate(reason=same, **fields)
    quantile = float(stdtrit(n - 1, (1 + level) / 2) if spread == "student" else ndtri((1 + level) / 2))
    margin = quantile * deviation / n**0.5
    return Estimate(low=max(value - margin, bounds[0]), high=min(value + margin, bounds[1]), **fields)


def student_estimate(
    value: float,
    error: float,
    df: float,
    level: float,
    **fields: Any,  # noqa: ANN401 - method, over, n
) -> Estimate:
    """Return a number with Student's interval, value ± t · error, from its standard error and degrees of freedom."""
    margin = float(stdtrit(df, (1 + level) / 2)) * error
    return Estimate(value=value, low=value - margin, high=value + margin, level=level, **fields)


class Means(NamedTuple):
    """Means along one axis of an array with Student's intervals; NaN where there is nothing to average.

    Attributes:
        n: number of values of each mean.
        mean: the means.
        reach: half width of each interval; NaN of fewer than two values.
    """

    n: Places
    mean: Floats
    reach: Floats


def means_along(values: Vectors, axis: int, level: float = 0.95) -> Means:
    """Means of independent values along an axis without NaN, each with half the width of its Student's interval."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):  # undefined stays NaN
        mean = np.where(defined, values, 0).sum(axis=axis, dtype=np.float64) / np.where(count, count, np.nan)
        gaps = np.where(defined, values - np.expand_dims(mean, axis), 0)
        deviation = np.sqrt((gaps**2).sum(axis=axis) / np.where(count > 1, count - 1, np.nan))
        quantile = stdtrit(np.arange(np.shape(values)[axis] + 1) - 1.0, (1 + level) / 2)
        return Means(count, mean, quantile[count] * deviation / np.sqrt(count))


def mean_share(shares: Floats, level: float, statistic: str, k: int) -> Estimate:
    """Mean over words of a number between 0 and 1, with Student's interval cut at 0 and 1."""
    if len(shares) < 2:
        fields: Fields = {"statistic": statistic, "level": level, "n": len(shares), "k": k}
        return Estimate(value=None, method=_OVER_WORDS, reason="fewer than two words have scores", **fields)
    return mean_estimate(shares, level=level, bounds=(0.0, 1.0), method=_OVER_WORDS, over="", statistic=statistic, k=k)


def mean_over_models(
    values: Floats, level: float, left_out: Sequence[Floats] | None, bounds: tuple[float, float], over: str = "seeds"
) -> Estimate:
    """Mean over models with Student's t interval; where there is one model, the jackknife over its seed words.

    Args:
        values: one for each model that takes part, NaN where undefined.
        level: nominal coverage.
        left_out: the number without each unit, an array for each set, where there is one model.
        bounds: between which the number lies; the interval is cut there.
        over: name of the units left out.
    """
    sound = values[np.isfinite(values)]
    if not len(sound):
        return Estimate(value=None, level=level, over=over, reason="it is defined in no model")
    if len(sound) > 1:
        return mean_estimate(
            sound, level=level, bounds=bounds, method="t over models", over="models",
            same="all models give the same value",
        )  # fmt: skip
    return jackknife_t(float(sound.mean()), left_out, level, bounds, over)


def jackknife_t(
    value: float, left_out: Sequence[Floats] | None, level: float, bounds: tuple[float, float], over: str
) -> Estimate:
    """Return a number with Student's interval from the jackknife over the units of each set, cut at `bounds`."""
    fields: Fields = {"value": value, "level": level, "method": f"jackknife over {over}", "over": over}
    if left_out is None:
        return Estimate(reason="there is one model", **fields)
    if any(len(values) < 2 or not np.isfinite(values).all() for values in left_out):
        return Estimate(reason="there is one model, and not every seed can be left out", **fields)
    variance = jackknife_variance(left_out)
    if variance <= SAME**2:
        return Estimate(reason="leaving out any word gives the same value", **fields)
    margin = float(stdtrit(min(map(len, left_out)) - 1, (1 + level) / 2)) * variance**0.5
    return Estimate(low=max(value - margin, bounds[0]), high=min(value + margin, bounds[1]), **fields)


def mean_over_seeds(
    values: Floats, drawn: Floats, picked: Integers, how: Resampling, left_out: Callable[[], Sequence[Floats]] = list
) -> Estimate:
    """Mean over seeds, with its interval over items and, where there are several, over seeds.

    Args:
        values: one for each seed, all defined.
        drawn: resamples × seeds: the number in items drawn again.
        picked: resamples × seeds: which seeds count in each resample.
        how: the method and the level.
        left_out: gives the mean without each item, for BCa.
    """
    over = "items" if len(values) == 1 else "items and seeds"
    means = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)
    return estimate_from_draws(float(values.mean()), means, left_out, how, over)


def sd_over_seeds(values: Floats, level: float) -> Estimate | None:
    """Standard deviation over seeds, with its interval; None with one seed."""
    return None if len(values) == 1 else sd_estimate(float(values.std(ddof=1)), len(values), level)


def sd_estimate(sd: float, n: int, level: float) -> Estimate:
    """Standard deviation of n normal numbers with its interval: (n − 1) sd² / σ² is χ² with n − 1 degrees of freedom.

    At least 0; 0 has no interval, which would suggest false certainty.
    """
    fields: Fields = {"value": sd, "level": level, "method": CHI_SQUARE, "over": "seeds", "n": n}
    if sd == 0:
        return Estimate(reason="every seed gives the same value", **fields)
    low, high = (sd * ((n - 1) / float(chdtri(n - 1, tail))) ** 0.5 for tail in ((1 - level) / 2, (1 + level) / 2))
    return Estimate(low=low, high=high, **fields)


@dataclass(frozen=True)
class PooledEffect:
    """A weighted mean of effects.

    Attributes:
        value: the mean.
        se: its standard error, if the studies are independent.
        between: variance of the true effects between studies; 0 where the effects differ no more than their errors.
        q: Cochran's Q.
        n: number of studies.
    """

    value: float
    se: float
    between: float
    q: float
    n: int


def pooled_effect(effects: ArrayLike, variances: ArrayLike) -> PooledEffect:
    """Random-effects mean Σ w y / Σ w of independent studies, w = 1 / (v + τ²) (DerSimonian & Laird 1986).

    τ² = max(0, (Q − (n − 1)) / (Σ v⁻¹ − Σ v⁻² / Σ v⁻¹)) is the variance between studies, Q Cochran's.

    Args:
        effects: one y per study.
        variances: v, the variance of the error of each.

    Raises:
        ParameterError: there are fewer than two, or a variance is not above 0.
    """
    effect: Floats = np.asarray(effects, np.float64)
    variance: Floats = np.asarray(variances, np.float64)
    if effect.ndim != 1 or len(effect) < 2 or effect.shape != variance.shape:
        raise ParameterError(f"At least two effects are needed, each with a variance. Got shapes {effect.shape}.")
    if not (np.isfinite(effect).all() and np.isfinite(variance).all() and (variance > 0).all()):
        raise ParameterError("Effects must be finite, and their variances above 0.")
    weights = 1 / variance
    total = float(weights.sum())
    fixed_effect = float(weights @ effect) / total
    q = float(weights @ (effect - fixed_effect) ** 2)
    between = max((q - (len(effect) - 1)) / (total - float(weights @ weights) / total), 0.0)
    weights = 1 / (variance + between)
    return PooledEffect(
        float(weights @ effect) / float(weights.sum()), float(weights.sum()) ** -0.5, between, q, len(effect)
    )
