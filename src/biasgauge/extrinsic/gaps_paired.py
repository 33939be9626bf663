"""`compare_gaps`: is the gap smaller with the other embedding? Two sets of predictions of the same items."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.extrinsic.draws import Method, bootstrap_settings, interval_from_draws
from biasgauge.extrinsic.gaps_cells import Counts, Floats, Label, rate_values, why_undefined
from biasgauge.extrinsic.gaps_resampling import bootstrap_values, comparisons, left_out_values, sides, swapped_p
from biasgauge.extrinsic.gaps_result import REST, GapChange, GapComparison
from biasgauge.extrinsic.gaps_table import Tabulated, tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    interval: Method = "percentile",
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

    def gaps_of(cells: Counts) -> Floats:
        """Gaps of one set of predictions, from counts of the shape (…, groups, label, prediction)."""
        found = []
        for rate, pair in rows:
            a, b = sides(cells, pair)
            found.append(rate_values(rate, a, zeros=as_published) - rate_values(rate, b, zeros=as_published))
        return np.stack(found, axis=-1)

    def differences(cells: Counts) -> Floats:
        return gaps_of(cells.sum(axis=-2)) - gaps_of(cells.sum(axis=-1))

    values = [gaps_of(table.cells.sum(axis=axis)) for axis in (-1, -2)]
    drawn = bootstrap_values(table.cells, differences, resamples, random_state)
    chances = swapped_p(table.cells, differences, resamples, random_state)
    changes = []
    for at, (rate, pair) in enumerate(rows):
        about: dict[str, Any] = {
            "metric": rate.metric,
            "of": rate.of,
            "a": table.name(pair[0]),
            "b": table.name(pair[1]),
            "first": _number(values[0][at]),
            "second": _number(values[1][at]),
        }
        if about["first"] is None or about["second"] is None:
            reason = _reason(table, rate, pair)
            changes.append(
                GapChange(difference=None, interval=None, p_value=None, p_method=None, reason=reason, **about)
            )
            continue
        value = float(values[1][at] - values[0][at])
        around = interval_from_draws(
            value, drawn[:, at], partial(_left_out, table, differences, at, pair), how, "items"
        )
        changes.append(
            GapChange(difference=value, interval=around, p_value=float(chances[at]), p_method=SWAPPED, **about)
        )
    settings = {
        "positive": None if positive is None else table.rates[0].of,
        "order": list(table.groups),
        "as_published": as_published,
        "interval": interval,
        "level": level,
        "resamples": resamples,
        "random_state": random_state,
    }
    return GapComparison(settings, table.classes, table.counts, table.warnings, tuple(changes))


def _left_out(
    table: Tabulated, differences: Callable[[Counts], Floats], at: int, pair: tuple[int, int | None]
) -> list[Floats]:
    involved = range(len(table.groups)) if pair[1] is None else (pair[0], pair[1])
    return left_out_values(table.cells, lambda cells: differences(cells)[:, at], list(involved))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _reason(table: Tabulated, rate: Any, pair: tuple[int, int | None]) -> str:  # noqa: ANN401 - a rate
    """Why the gap of the first or the second predictions has no value."""
    for which, axis in (("first", -1), ("second", -2)):
        for place, side in zip(pair, sides(table.cells.sum(axis=axis), pair), strict=True):
            if np.isnan(rate_values(rate, side, zeros=False)):
                who = REST if place is None else f"group {table.name(place)!r}"
                return f"{why_undefined(rate, side, table.classes, who)} by the {which} predictions"
    return "undefined"  # pragma: no cover - a gap without value has a side without value
