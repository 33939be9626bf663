"""Gaps between two versions of the same documents, such as pro- and anti-stereotypical sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.extrinsic.coref.metrics import METRICS, RATES, conll_rates, rates
from biasgauge.extrinsic.coref.resampling import SWAPPED, bootstrap_sums, interval_of, swapped_p

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.extrinsic.coref.metrics import Floats
    from biasgauge.scores import Interval, Resampling

PERCENT = 100
LINKED = "linked"
PAIRED = (*RATES, LINKED)
_UNDEFINED = {
    "precision": "nothing was found in the {side} sentences",
    "f1": "there is nothing in the {side} sentences",
}


@dataclass(frozen=True)
class PairedGap:
    """A rate of two versions of the same sentences, in percent, and their difference.

    Attributes:
        of: which sentences.
        metric: "precision", "recall" and "f1" are means of MUC, B³ and CEAFφ4; "linked" is the share of gold links that
            were found, which, with one pair of mentions a sentence, is the share of sentences that were resolved.
        first, second: the rate in each version, from 0 to 100; None when undefined.
        first_interval, second_interval: how far they would move with other pairs of sentences of the same kind.
        gap: first − second, in percentage points; 0 where both fare alike. None when undefined.
        interval: how far the gap would move with other pairs of sentences of the same kind.
        p_value: chance of a gap at least as large, in either direction, if it did not matter which version is which.
        p_method: how it was found.
        n: pairs of sentences.
        reason: why it is undefined.
    """

    of: str
    metric: str
    first: float | None
    first_interval: Interval | None
    second: float | None
    second_interval: Interval | None
    gap: float | None
    interval: Interval | None
    p_value: float | None
    p_method: str | None
    n: int
    reason: str | None = None


def paired_values(sums: Floats) -> Floats:
    """PAIRED (last axis), in percent, from sums of the shape (…, METRICS, SUMS)."""
    links = rates(sums[..., METRICS.index("muc"), :])[..., RATES.index("recall")]
    found: Floats = PERCENT * np.concatenate([conll_rates(sums), links[..., None]], axis=-1)
    return found


def paired_gaps(
    sums: Floats,
    of: str,
    names: tuple[str, str],
    how: Resampling,
    values: Callable[[Floats], Floats] = paired_values,
    metrics: tuple[str, ...] = PAIRED,
) -> list[PairedGap]:
    """Gaps in every metric.

    Args:
        sums: pairs × 2 versions × what each adds.
        of: which sentences they are.
        names: of the two versions.
        how: level, resamples, seed and method of the interval.
        values: from sums of the shape (…, …) to metrics (last axis), in percent, NaN where undefined.
        metrics: their names.
    """

    def gaps(both: Floats) -> Floats:
        return values(both[:, 0]) - values(both[:, 1])

    totals = sums.sum(axis=0)
    rows, without, drawn = (values(one) for one in (totals, totals - sums, bootstrap_sums(sums, how)))
    chances = swapped_p(sums, gaps, how)

    def interval(value: float, of_drawn: Floats, of_without: Floats) -> Interval:
        return interval_of(value, of_drawn, of_without, how, "pairs of sentences")

    found = []
    for at, metric in enumerate(metrics):
        first, second = (None if np.isnan(one) else float(one) for one in rows[:, at])
        about: dict[str, Any] = {"of": of, "metric": metric, "first": first, "second": second, "n": len(sums)}
        for side, (name, value) in enumerate((("first_interval", first), ("second_interval", second))):
            own = drawn[:, side, at], without[:, side, at]
            about[name] = None if value is None else interval(value, *own)
        if first is None or second is None:
            lacking = names[0] if first is None else names[1]
            reason = _UNDEFINED.get(metric, "there is nothing to find in the {side} sentences").format(side=lacking)
            found.append(PairedGap(**about, gap=None, interval=None, p_value=None, p_method=None, reason=reason))
            continue
        gap = first - second
        around = interval(gap, *(one[:, 0, at] - one[:, 1, at] for one in (drawn, without)))
        found.append(PairedGap(**about, gap=gap, interval=around, p_value=float(chances[at]), p_method=SWAPPED))
    return found
