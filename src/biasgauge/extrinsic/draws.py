"""From resampled values to an interval; p-values of several tests together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from scipy.special import ndtri

from biasgauge.association.intervals import acceleration, bca_tails
from biasgauge.errors import ParameterError
from biasgauge.scores import Interval, Resampling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Floats = np.ndarray[Any, np.dtype[np.float64]]
Method = Literal["bca", "percentile"]

SAME = 1e-12
"""Numbers closer than this, as a share of their size, differ by rounding."""
_TOLERATED = 0.05
"""Largest share of resamples without a value; beyond it the rest would be a selection."""
_CELLS = 4_000_000
"""Numbers held at a time: bounds the memory; results do not depend on it."""


def blocks(total: int, size: int) -> Iterator[int]:
    """Numbers of rows, `total` in all, that keep blocks of rows × size small."""
    rows = max(1, _CELLS // max(size, 1))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def monte_carlo_p(observed: Floats, drawn: Iterable[Floats]) -> Floats:
    """P of numbers at least as far from 0 as those observed, which count as one draw more.

    Draws without a value are left out: given that there is one, the one observed is still one of them at random.

    Args:
        observed: one number a statistic.
        drawn: blocks of draws × statistics.
    """
    size = np.abs(observed)
    extreme, defined = np.zeros(len(size), np.int64), np.zeros(len(size), np.int64)
    for block in drawn:
        values = np.abs(block)
        defined += np.isfinite(values).sum(axis=0)
        with np.errstate(invalid="ignore"):
            extreme += (values >= size - SAME).sum(axis=0)
    found: Floats = (1 + extreme) / (1 + defined)
    return found


def bootstrap_settings(where: str, *, method: str, level: float, resamples: int, random_state: int) -> Resampling:
    """How to draw again.

    Raises:
        ParameterError: one of the settings has an impossible value.
    """
    if method not in get_args(Method):
        raise ParameterError(
            f"The 'interval' parameter of {where} must be {' or '.join(get_args(Method))}. Got {method!r}."
        )
    return Resampling(cast("Method", method), level, resamples, random_state)


def interval_from_draws(
    value: float,
    drawn: Floats,
    left_out: Callable[[], Sequence[Floats]],
    how: Resampling,
    over: str,
) -> Interval:
    """Bootstrap interval of `value`.

    Undefined, with a reason, when more than 5 % of the resamples have no value, when all have the same one, or, for
    BCa, when all lie on one side of `value`. Where leaving out some item leaves no value, BCa has no acceleration; the
    bias-corrected interval ("bc") is given and named instead.

    Args:
        value: the number itself.
        drawn: the number in each resample, NaN where undefined.
        left_out: gives the number without each item, one array for each independent sample; asked only for BCa.
        how: the method, "bca" or "percentile", and the level.
        over: what was drawn again.
    """
    sound = drawn[np.isfinite(drawn)]
    lost = len(drawn) - len(sound)
    level = how.level

    def undefined(reason: str) -> Interval:
        return Interval(None, None, level, how.method, len(drawn), over, lost, reason)

    if lost > _TOLERATED * len(drawn):
        return undefined(f"{lost:,} of {len(drawn):,} resamples have no value")
    if np.ptp(sound) <= SAME * max(1.0, abs(value)):
        return undefined("every resample gives the same value")
    tails: Floats = np.array([(1 - level) / 2, (1 + level) / 2])
    name: str = how.method
    if how.method == "bca":
        slack = SAME * max(1.0, abs(value))
        share = float((sound < value - slack).mean() + (sound <= value + slack).mean()) / 2
        if not 0 < share < 1:
            return undefined("every resample lies on the same side of the value")
        without = left_out()
        whole = all(np.isfinite(one).all() for one in without)
        name = "bca" if whole else "bc"
        tails = bca_tails(tails, float(ndtri(share)), acceleration(list(without)) if whole else 0.0)
    low, high = np.quantile(sound, tails).tolist()
    return Interval(low, high, level, name, len(drawn), over, lost)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values corrected for their number (Holm 1979); undefined ones stay undefined and do not count."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        corrected[place] = largest
    return corrected
