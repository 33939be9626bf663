"""A number about seeds, with the interval that fits what there is: over replicates, or over the seeds themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasgauge.embeddings.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, np.dtype[np.float64]]

_SAME = 1e-12


class Measured(NamedTuple):
    """A number and where it may lie.

    Attributes:
        value: None when undefined.
        interval: None only when the number is undefined.
        reason: why it is undefined.
    """

    value: float | None
    interval: Interval | None = None
    reason: str | None = None

    def to_dict(self, name: str) -> dict[str, Any]:
        """Under a name: the number, its interval, and the reason where there is none."""
        shape: dict[str, Any] = {name: self.value}
        shape[f"{name}_interval"] = None if self.interval is None else self.interval.to_dict()
        return {**shape, f"{name}_reason": self.reason} if self.value is None else shape


UNDEFINED = Measured(None)


def over_models(
    values: Array, level: float, left_out: Sequence[Array] | None, bounds: tuple[float, float], over: str = "seeds"
) -> Measured:
    """Mean over models with Student's t interval; the jackknife over seeds where there is one model.

    Args:
        values: one for each model that takes part, NaN where undefined.
        level: nominal coverage.
        left_out: the number without each unit, an array for each set, where there is one model.
        bounds: between which the number lies; the interval is cut there.
        over: what the units left out are.
    """
    sound = values[np.isfinite(values)]
    if not len(sound):
        return Measured(None, None, "it is defined in no model")
    mean = float(sound.mean())
    if len(sound) > 1:
        return Measured(mean, _t(sound, mean, level, bounds))
    return Measured(mean, _jackknife(mean, left_out, level, bounds, over))


def _t(values: Array, mean: float, level: float, bounds: tuple[float, float]) -> Interval:
    spread = float(values.std(ddof=1))
    if spread <= _SAME:
        return Interval(None, None, level, "t over models", "models", "all models give the same value")
    reach = _quantile(level, len(values) - 1) * spread / len(values) ** 0.5
    return _cut(mean, reach, level, "t over models", "models", bounds)


def _jackknife(
    mean: float, left_out: Sequence[Array] | None, level: float, bounds: tuple[float, float], over: str
) -> Interval:
    method = f"jackknife over {over}"
    if left_out is None:
        return Interval(None, None, level, method, over, "there is one model")
    if any(len(one) < 2 or not np.isfinite(one).all() for one in left_out):  # noqa: PLR2004 - one has no spread
        return Interval(None, None, level, method, over, "there is one model, and not every seed can be left out")
    variance = sum(float(((one - one.mean()) ** 2).sum()) * (len(one) - 1) / len(one) for one in left_out)
    if variance <= _SAME**2:
        return Interval(None, None, level, method, over, "leaving out any word gives the same value")
    reach = _quantile(level, min(len(one) for one in left_out) - 1) * variance**0.5
    return _cut(mean, reach, level, method, over, bounds)


def _cut(mean: float, reach: float, level: float, method: str, over: str, bounds: tuple[float, float]) -> Interval:
    return Interval(max(mean - reach, bounds[0]), min(mean + reach, bounds[1]), level, method, over)


def _quantile(level: float, freedom: int) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - as in embeddings.interval

    return float(stdtrit(max(freedom, 1), (1 + level) / 2))
