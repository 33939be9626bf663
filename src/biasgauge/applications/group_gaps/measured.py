"""`gaps`: how differently a classifier treats groups of people; `compare_gaps`: is that less so with other vectors?

Sources: Hardt, Price & Srebro 2016 (equality of opportunity: recall), Hutchinson & Mitchell 2019 (predictive parity:
precision), Goldfarb-Tarrant et al. 2021 (both, weighted over classes). Precision gaps are what the last paper
measured, though its appendix writes predictive parity as equality of false positives; both are reported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from biasgauge.applications.group_gaps.cells import (
    Pair,
    Rate,
    Tabulated,
    comparisons,
    fraction,
    from_fraction,
    p_method,
    rate_values,
    sides,
    tabulate,
    why_undefined,
)
from biasgauge.applications.group_gaps.result import REST, Gap, GapChange, GapComparison, GapResult, GroupRate, Label
from biasgauge.core import Floats, Integers, JsonObject, check_choice
from biasgauge.stats import (
    BootstrapMethod,
    Resampling,
    bootstrap_settings,
    bootstrap_values,
    estimate_from_draws,
    exact_p,
    holm,
    left_out_values,
    shuffled_p,
    swapped_p,
)

Shuffle = Literal["within", "all"]
SWAPPED = "monte-carlo, predictions of each item swapped"


def gaps(
    labels: Iterable[Label],
    predictions: Iterable[Label],
    groups: Iterable[Label],
    *,
    positive: Label = 1,
    order: Sequence[Label] | None = None,
    as_published: bool = False,
    shuffle: Shuffle = "within",
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> GapResult:
    """Differences between groups in precision, recall, false positives, F1 and accuracy: first group − second.

    Each rate is given for the positive class (or every class) and as the mean over classes weighted by how many items
    carry the label. The weighted "recall" is the accuracy, whatever it is called in print. Every pair of groups is
    compared; where there are more than two, each is also compared with the rest.

    Args:
        labels: what is true of each item.
        predictions: what was predicted.
        groups: which group each item is about.
        positive: the class that counts as positive; None for each class in turn.
        order: the groups in the order in which they are subtracted, such as ("male", "female"); sorted by default.
            Items of groups that are not named are left out and counted.
        as_published: in weighted means, count a class without a rate as 0, as scikit-learn does; the mean is undefined
            otherwise.
        shuffle: what p shuffles. "within": only the items that a rate is about (recall: those labeled positive), so
            that groups may differ in how often a label occurs; exact but for weighted means. "all": all items, which
            also tests whether labels are spread alike.
        interval: "percentile" or "bca", by drawing items of each group again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and shuffles where p is not exact.
        random_state: seed.

    Raises:
        ParameterError: lengths differ, a value is missing, there are fewer than two groups, or a parameter cannot be
            used.
    """
    check_choice(get_args(Shuffle), shuffle=shuffle)
    how = bootstrap_settings("gaps", method=interval, level=level, resamples=resamples, random_state=random_state)
    table = tabulate(labels, [predictions], groups, positive=positive, order=order)
    settings = {**_settings(table, positive, how, as_published=as_published), "shuffle": shuffle}
    work = _Work(table, how, shuffle=shuffle, zeros=as_published)
    return GapResult(
        settings=settings,
        classes=table.classes,
        counts=table.counts,
        warnings=table.warnings,
        gaps=tuple(_with_holm(list(work.gaps()))),
        rates=tuple(work.group_rates()),
    )


def _settings(table: Tabulated, positive: Label, how: Resampling, *, as_published: bool) -> JsonObject:
    of = None if positive is None else table.rates[0].of
    return {"positive": of, "order": list(table.groups), "as_published": as_published, **how.to_settings()}


class _Work:
    """Every rate of every group, in the items as they are and drawn again."""

    def __init__(self, table: Tabulated, how: Resampling, *, shuffle: Shuffle, zeros: bool) -> None:
        self.table, self.how, self.shuffle, self.zeros = table, how, shuffle, zeros
        self.values: list[Callable[[Integers], Floats]] = [
            partial(rate_values, rate, zeros=zeros) for rate in table.rates
        ]
        self.drawn = bootstrap_values(table.cells, self._everyone, how.resamples, how.random_state)

    def _everyone(self, cells: Integers) -> Floats:
        """(resamples, groups, then the rest of each, rates)."""
        parts = [cells, cells.sum(axis=1, keepdims=True) - cells] if cells.shape[1] > 2 else [cells]
        return np.concatenate([np.stack([value(part) for value in self.values], axis=-1) for part in parts], axis=1)

    def group_rates(self) -> Iterator[GroupRate]:
        for at, rate in enumerate(self.table.rates):
            for place, name in enumerate(self.table.groups):
                cells = self.table.cells[place]
                value = float(self.values[at](cells))
                about: dict[str, Any] = {"metric": rate.metric, "of": rate.of, "group": name, "n": int(cells.sum())}
                if np.isnan(value):
                    reason = why_undefined(rate, cells, self.table.classes, self.table.who(place))
                    yield GroupRate(value=None, reason=reason, **about)
                else:
                    own = partial(_of_group, self.values[at], place)
                    left_out = partial(left_out_values, self.table.cells, own, [place])
                    estimate = estimate_from_draws(value, self.drawn[:, place, at], left_out, self.how, "items")
                    yield GroupRate.of_estimate(estimate, **about)

    def gaps(self) -> Iterator[Gap]:
        for at, rate in enumerate(self.table.rates):
            for number, pair in enumerate(comparisons(len(self.table.groups))):
                yield self._gap(at, rate, pair, number)

    def _gap(self, at: int, rate: Rate, pair: Pair, number: int) -> Gap:
        table, value_of = self.table, self.values[at]
        both = sides(table.cells, pair)
        sizes = [int(side.sum()) for side in both]
        about = {**table.about(rate, pair), "n": sum(sizes), "n_a": sizes[0], "n_b": sizes[1]}
        values = [float(value_of(side)) for side in both]
        for value, side, place in zip(values, both, pair, strict=True):
            if np.isnan(value):
                return Gap(value=None, reason=why_undefined(rate, side, table.classes, table.who(place)), **about)

        def gap(cells: Integers) -> Floats:
            first, second = sides(cells, pair)
            return value_of(first) - value_of(second)

        other = pair[0] + len(table.groups) if pair[1] is None else pair[1]
        drawn = self.drawn[:, pair[0], at] - self.drawn[:, other, at]
        left_out = partial(left_out_values, table.cells, gap, table.involved(pair))
        estimate = estimate_from_draws(values[0] - values[1], drawn, left_out, self.how, "items")
        p, method = self._p(rate, both, value_of, [self.how.random_state, at, number])
        return Gap.of_estimate(estimate, p_value=p, p_method=method, **about)

    def _p(
        self, rate: Rate, both: tuple[Integers, Integers], value_of: Callable[[Integers], Floats], seed: list[int]
    ) -> tuple[float, str]:
        of_everyone = rate.place is None and rate.metric in {"accuracy", "recall"}
        if of_everyone or (self.shuffle == "within" and not rate.weighted):
            first, second = (fraction(rate, side) for side in both)
            return exact_p(first, second, partial(from_fraction, rate.metric)), p_method(rate, exact=True)
        return shuffled_p(*both, value_of, self.how.resamples, seed), p_method(rate, exact=False)


def _of_group(value_of: Callable[[Integers], Floats], place: int, cells: Integers) -> Floats:
    return value_of(cells[:, place])


def _with_holm(gaps: list[Gap]) -> list[Gap]:
    """The gaps with p corrected over the comparisons of each rate, those with the rest apart."""
    families: dict[tuple[Label, ...], list[int]] = {}
    for place, gap in enumerate(gaps):
        families.setdefault((gap.metric, gap.of, gap.b == REST), []).append(place)
    corrected = list(gaps)
    for places in families.values():
        for place, p in zip(places, holm([gaps[place].p_value for place in places]), strict=True):
            corrected[place] = replace(gaps[place], p_holm=p)
    return corrected


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
        before, after = (None if np.isnan(gaps[at]) else float(gaps[at]) for gaps in values)
        size = sum(int(table.cells[place].sum()) for place in table.involved(pair))
        about = {**table.about(rate, pair), "first": before, "second": after, "n": size}
        if before is None or after is None:
            changes.append(GapChange(value=None, reason=_reason(table, rate, pair), **about))
            continue
        own = partial(_one_of, differences, at)
        left_out = partial(left_out_values, table.cells, own, table.involved(pair))
        estimate = estimate_from_draws(after - before, drawn[:, at], left_out, how, "items")
        changes.append(GapChange.of_estimate(estimate, p_value=float(chances[at]), p_method=SWAPPED, **about))
    settings = _settings(table, positive, how, as_published=as_published)
    return GapComparison(settings, table.classes, table.counts, table.warnings, tuple(changes))


def _one_of(values_of: Callable[[Integers], Floats], at: int, cells: Integers) -> Floats:
    return values_of(cells)[:, at]


def _reason(table: Tabulated, rate: Rate, pair: Pair) -> str:
    """Why the gap of the first or the second predictions has no value."""
    for which, axis in (("first", -1), ("second", -2)):
        for place, side in zip(pair, sides(table.cells.sum(axis=axis), pair), strict=True):
            if np.isnan(rate_values(rate, side, zeros=False)):
                return f"{why_undefined(rate, side, table.classes, table.who(place))} by the {which} predictions"
    return "undefined"  # pragma: no cover - a gap without value has a side without value
