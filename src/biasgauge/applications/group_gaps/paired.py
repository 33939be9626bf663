"""`compare_gaps`: is the gap smaller with the other embedding? Two sets of predictions of the same items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from biasgauge.applications.group_gaps.cells import Label, Pair, Rate, comparisons, rate_values, sides, why_undefined
from biasgauge.applications.group_gaps.result import GapChange, GapComparison
from biasgauge.applications.group_gaps.table import Tabulated, tabulate
from biasgauge.arrays import Floats, Integers
from biasgauge.stats.bootstrap import BootstrapMethod, bootstrap_settings, estimate_from_draws
from biasgauge.stats.count_tables import bootstrap_values, left_out_values, swapped_p

SWAPPED = "monte-carlo, predictions of each item swapped"


def compare_gaps(
    labels: Iterable[Label],
    first: Iterable[Label],
    second: Iterable[Label],
    groups: Iterable[Label],
    *,
    positive: Label = 1,
    order: Sequence[Label] | None = None,
    as_published: bool = False,
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> GapComparison:
    """How gaps differ between two sets of predictions of the same items: second − first.

    Items are drawn again with both of their predictions, so that what is hard about an item for both cancels. p swaps
    the two predictions of each item at random. It is exact up to Monte Carlo if the two classifiers do not differ at
    all, and errs on the large side if they differ alike in all groups.

    Args:
        labels: what is true of each item.
        first: predictions with the one embedding.
        second: predictions with the other.
        groups: which group each item is about.
        positive: the class that counts as positive; None for each class in turn.
        order: the groups in the order in which they are subtracted.
        as_published: as in `gaps`.
        interval: "percentile" or "bca".
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and random swaps.
        random_state: seed.

    Raises:
        ParameterError: as in `gaps`.
    """
    how = bootstrap_settings(
        "compare_gaps", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    table = tabulate(labels, [first, second], groups, positive=positive, order=order)
    pairs = comparisons(len(table.groups))
    rows = [(rate, pair) for rate in table.rates for pair in pairs]

    def gaps_of(cells: Integers) -> Floats:
        """Gaps of one set of predictions, from counts of the shape (…, groups, label, prediction)."""
        both = [[rate_values(rate, side, zeros=as_published) for side in sides(cells, pair)] for rate, pair in rows]
        return np.stack([first - second for first, second in both], axis=-1)

    def differences(cells: Integers) -> Floats:
        return gaps_of(cells.sum(axis=-2)) - gaps_of(cells.sum(axis=-1))

    values = [gaps_of(table.cells.sum(axis=axis)) for axis in (-1, -2)]
    drawn = bootstrap_values(table.cells, differences, resamples, random_state)
    chances = swapped_p(table.cells, differences, resamples, random_state)
    changes = []
    for at, (rate, pair) in enumerate(rows):
        one, other = (None if np.isnan(gaps[at]) else float(gaps[at]) for gaps in values)
        size = sum(int(table.cells[place].sum()) for place in table.involved(pair))
        about = {**table.about(rate, pair), "first": one, "second": other, "n": size}
        if one is None or other is None:
            changes.append(GapChange(value=None, reason=_reason(table, rate, pair), **about))
            continue
        left_out = partial(_left_out, table, differences, at, pair)
        estimate = estimate_from_draws(other - one, drawn[:, at], left_out, how, "items")
        changes.append(GapChange.of_estimate(estimate, p_value=float(chances[at]), p_method=SWAPPED, **about))
    settings = {
        "positive": None if positive is None else table.rates[0].of,
        "order": list(table.groups),
        "as_published": as_published,
        **how.to_settings(),
    }
    return GapComparison(settings, table.classes, table.counts, table.warnings, tuple(changes))


def _left_out(table: Tabulated, differences: Callable[[Integers], Floats], at: int, pair: Pair) -> list[Floats]:
    return left_out_values(table.cells, lambda cells: differences(cells)[:, at], table.involved(pair))


def _reason(table: Tabulated, rate: Rate, pair: Pair) -> str:
    """Why the gap of the first or the second predictions has no value."""
    for which, axis in (("first", -1), ("second", -2)):
        for place, side in zip(pair, sides(table.cells.sum(axis=axis), pair), strict=True):
            if np.isnan(rate_values(rate, side, zeros=False)):
                return f"{why_undefined(rate, side, table.classes, table.who(place))} by the {which} predictions"
    return "undefined"  # pragma: no cover - a gap without value has a side without value
