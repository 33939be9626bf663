"""Means with their intervals: of independent units, over models and random seeds, and over clusters of items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Integers, Places, Vectors
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import Resampling, estimate_from_draws, jackknife_variance
from biasgauge.stats.numerics import SAME, normal_quantile, student_quantile

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
    fields |= {"level": level, "method": method or spread, "over": over, "n": n}
    if n == 0:
        return Estimate(value=None, reason=f"no {over} have a value", **fields)
    value = float(values.mean())
    if n < 2:
        return Estimate(value=value, reason=f"fewer than two {over} have a value", **fields)
    deviation = float(values.std(ddof=1))
    if same is not None and deviation <= SAME:
        return Estimate(value=value, reason=same, **fields)
    quantile = student_quantile(n - 1, level) if spread == "student" else normal_quantile(level)
    return Estimate.symmetric(value, quantile * deviation / n**0.5, bounds, **fields)


def student_estimate(value: float, error: float, df: float, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - method, over, n
    """Return a number with Student's interval, value ± t · error, from its standard error and degrees of freedom."""
    return Estimate.symmetric(value, student_quantile(df, level) * error, level=level, **fields)


class Means(NamedTuple):
    """Means along one axis of an array; `reach` is half the width of each Student's interval.

    The mean is NaN of no values, the reach NaN of fewer than two.
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
        # One quantile per possible count, looked up by each mean's own.
        quantile = stdtrit(np.arange(np.shape(values)[axis] + 1) - 1.0, (1 + level) / 2)
        return Means(count, mean, quantile[count] * deviation / np.sqrt(count))


def mean_share(shares: Floats, level: float, statistic: str, k: int) -> Estimate:
    """Mean over words of a number between 0 and 1, with Student's interval cut at 0 and 1."""
    fields: Fields = {"level": level, "method": _OVER_WORDS, "statistic": statistic, "k": k}
    if len(shares) < 2:
        return Estimate(value=None, n=len(shares), reason="fewer than two words have scores", **fields)
    return mean_estimate(shares, bounds=(0.0, 1.0), over="", **fields)


def mean_over_models(
    values: Floats, level: float, left_out: Sequence[Floats] | None, bounds: tuple[float, float], over: str = "seeds"
) -> Estimate:
    """Mean over models (NaN where undefined) with Student's t interval, cut at `bounds`.

    Where there is one model, the interval is the jackknife over its seed words: `left_out` has the number without each
    unit, an array for each set, and `over` names the units.
    """
    sound = values[np.isfinite(values)]
    if not len(sound):
        return Estimate(value=None, level=level, over=over, reason="it is defined in no model")
    if len(sound) == 1:
        return jackknife_t(float(sound.mean()), left_out, level, bounds, over)
    fields: Fields = {"method": "t over models", "over": "models", "same": "all models give the same value"}
    return mean_estimate(sound, level=level, bounds=bounds, **fields)


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
    margin = student_quantile(min(map(len, left_out)) - 1, level) * variance**0.5
    return Estimate.symmetric(margin=margin, bounds=bounds, **fields)


def mean_over_seeds(
    values: Floats, drawn: Floats, picked: Integers, how: Resampling, left_out: Callable[[], Sequence[Floats]] = list
) -> Estimate:
    """Mean over random seeds, with its interval over items and, where there are several, over seeds.

    `values` has one number per seed; `drawn` (resamples × seeds) the number in items drawn again; `picked` (resamples ×
    seeds) the seeds that count in each resample; `left_out` gives the mean without each item, for BCa.
    """
    over = "items" if len(values) == 1 else "items and seeds"
    means = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)  # each resample over the seeds drawn for it
    return estimate_from_draws(float(values.mean()), means, left_out, how, over)


def sd_over_seeds(values: Floats, level: float) -> Estimate | None:
    """Standard deviation over random seeds, with its interval; None with one seed."""
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


class PooledEffect(NamedTuple):
    """A weighted mean of effects: its standard error if the `n` studies are independent, and Cochran's Q.

    `between` is the variance of the true effects between studies; 0 where they differ no more than their errors.
    """

    value: float
    se: float
    between: float
    q: float
    n: int


def pooled_effect(effects: ArrayLike, variances: ArrayLike) -> PooledEffect:
    """Random-effects mean Σ w y / Σ w of independent studies, w = 1 / (v + τ²) (DerSimonian & Laird 1986).

    y are the effects and v the variances of their errors; τ² = max(0, (Q − (n − 1)) / (Σ v⁻¹ − Σ v⁻² / Σ v⁻¹)) is the
    variance between studies, Q Cochran's.

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
    total = float(weights.sum())
    return PooledEffect(float(weights @ effect) / total, total**-0.5, between, q, len(effect))


def normal_moments(values: Vectors, level: float) -> tuple[Estimate, Estimate]:
    """Mean and standard deviation (ddof 0) of all values, items × clusters; NaN is left out.

    Intervals are normal, from the influence of each cluster on the mean and on the variance, and need many clusters.
    Both are undefined, without a reason, where fewer than two clusters have a value.
    """
    table = values.astype(np.float64)
    defined = ~np.isnan(table)
    counts = defined.sum(axis=0)
    clusters, items, total = int(np.count_nonzero(counts)), int(defined.any(axis=1).sum()), int(counts.sum())
    fields: Fields = {"level": level, "method": "normal, clusters as units", "n": clusters, "k": items}
    if clusters < 2:
        return Estimate(statistic="mean", value=None, **fields), Estimate(statistic="sd", value=None, **fields)
    center = float(table[defined].mean())
    deviations = np.where(defined, table - center, 0)
    variance = float((deviations**2).sum() / total)
    sd = variance**0.5
    # Influence of a cluster on the mean, and on the variance: the sum of its values' contributions.
    mean_influence = deviations.sum(axis=0) / total
    variance_influence = ((deviations**2).sum(axis=0) - counts * variance) / total
    margin, sd_margin = (
        normal_quantile(level) * float(np.sqrt((influence**2).sum()))
        for influence in (mean_influence, variance_influence)
    )
    # Delta method: d sd = d variance / (2 sd).
    sd_margin = sd_margin / (2 * sd) if sd else 0.0
    return (
        Estimate.symmetric(center, margin, statistic="mean", **fields),
        Estimate.symmetric(sd, sd_margin, (0.0, np.inf), statistic="sd", **fields),
    )
