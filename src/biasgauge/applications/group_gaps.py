"""`gaps`: differences in a classifier's error rates between groups of people; `compare_gaps`: between two classifiers.

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

from biasgauge.applications.confusion import (
    ConfusionTables,
    Pair,
    Rate,
    group_pairs,
    p_method,
    pair_cells,
    rate_fraction,
    rate_from_fraction,
    rate_values,
    tabulate,
    why_undefined,
)
from biasgauge.applications.gap_result import REST, Gap, GapChange, GapComparison, GapResult, GroupRate, Label
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
    """Differences between groups in precision, recall, false positive rate, F1 and accuracy: first group − second.

    Each rate is given for the positive class (or every class) and as the mean over classes weighted by how many items
    carry the label. The weighted recall equals the accuracy. Every pair of groups is compared; where there are more
    than two, each is also compared with the rest.

    Args:
        labels: true class of each item.
        predictions: predicted class of each item.
        groups: group that each item is about.
        positive: the class that counts as positive; None for each class in turn.
        order: the groups in the order in which they are subtracted, such as ("male", "female"); sorted by default.
            Items of groups that are not named are left out and counted.
        as_published: in weighted means, count a class without a rate as 0, as scikit-learn does; the mean is undefined
            otherwise.
        shuffle: items that the permutation test shuffles between groups. "within": only the denominator of the rate
            (recall: items labeled positive), so that groups may differ in base rates; exact but for weighted means.
            "all": all items, which also tests for equal base rates.
        interval: "percentile" or "bca", over items drawn again within each group.
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and shuffles where p is not exact.
        random_state: seed.

    Raises:
        ParameterError: lengths differ, a value is missing, there are fewer than two groups, or a parameter cannot be
            used.
    """
    check_choice(get_args(Shuffle), shuffle=shuffle)
    resampling = bootstrap_settings(
        "gaps", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    tables = tabulate(labels, [predictions], groups, positive=positive, order=order)
    estimator = _GapEstimator(tables, resampling, shuffle=shuffle, zeros=as_published)
    return GapResult(
        settings={**_settings(tables, positive, resampling, as_published=as_published), "shuffle": shuffle},
        classes=tables.classes,
        counts=tables.counts,
        warnings=tables.warnings,
        gaps=tuple(_adjust_p(list(estimator.gaps()))),
        rates=tuple(estimator.group_rates()),
    )


def _settings(tables: ConfusionTables, positive: Label, resampling: Resampling, *, as_published: bool) -> JsonObject:
    positive_class = None if positive is None else tables.rates[0].positive_class
    groups = {"positive": positive_class, "order": list(tables.groups), "as_published": as_published}
    return {**groups, **resampling.to_settings()}


class _GapEstimator:
    """Every rate of every group, in the data and in bootstrap samples."""

    def __init__(self, tables: ConfusionTables, resampling: Resampling, *, shuffle: Shuffle, zeros: bool) -> None:
        self.tables, self.resampling, self.shuffle = tables, resampling, shuffle
        self.rate_functions: list[Callable[[Integers], Floats]] = [
            partial(rate_values, rate, zeros=zeros) for rate in tables.rates
        ]
        self.drawn = bootstrap_values(tables.cells, self._all_rates, resampling.resamples, resampling.random_state)

    def _all_rates(self, cells: Integers) -> Floats:
        """Array of the shape (resamples, groups, then the rest of each, rates)."""
        parts = [cells, cells.sum(axis=1, keepdims=True) - cells] if cells.shape[1] > 2 else [cells]
        return np.concatenate(
            [np.stack([function(side) for function in self.rate_functions], axis=-1) for side in parts], axis=1
        )

    def group_rates(self) -> Iterator[GroupRate]:
        for rate_index, (rate, function) in enumerate(zip(self.tables.rates, self.rate_functions, strict=True)):
            for group, name in enumerate(self.tables.groups):
                cells = self.tables.cells[group]
                value = float(function(cells))
                labels: dict[str, Any] = {"metric": rate.metric, "positive_class": rate.positive_class}
                labels |= {"group": name, "n": int(cells.sum())}
                if np.isnan(value):
                    reason = why_undefined(rate, cells, self.tables.classes, self.tables.group_name(group))
                    yield GroupRate(value=None, reason=reason, **labels)
                    continue
                left_out = partial(left_out_values, self.tables.cells, partial(_group_rate, function, group), [group])
                drawn = self.drawn[:, group, rate_index]
                yield GroupRate.of_estimate(
                    estimate_from_draws(value, drawn, left_out, self.resampling, "items"), **labels
                )

    def gaps(self) -> Iterator[Gap]:
        for rate_index in range(len(self.tables.rates)):
            for number, pair in enumerate(group_pairs(len(self.tables.groups))):
                yield self._gap(rate_index, pair, number)

    def _gap(self, rate_index: int, pair: Pair, number: int) -> Gap:
        tables, rate, function = self.tables, self.tables.rates[rate_index], self.rate_functions[rate_index]
        sides = pair_cells(tables.cells, pair)
        sizes = [int(side.sum()) for side in sides]
        labels = {**tables.gap_labels(rate, pair), "n": sum(sizes), "n_a": sizes[0], "n_b": sizes[1]}
        values = [float(function(side)) for side in sides]
        for value, side, group in zip(values, sides, pair, strict=True):
            if np.isnan(value):
                reason = why_undefined(rate, side, tables.classes, tables.group_name(group))
                return Gap(value=None, reason=reason, **labels)

        def gap(cells: Integers) -> Floats:
            first, second = pair_cells(cells, pair)
            return function(first) - function(second)

        second = pair[0] + len(tables.groups) if pair[1] is None else pair[1]  # the rests stand behind the groups
        drawn = self.drawn[:, pair[0], rate_index] - self.drawn[:, second, rate_index]
        left_out = partial(left_out_values, tables.cells, gap, tables.involved_groups(pair))
        estimate = estimate_from_draws(values[0] - values[1], drawn, left_out, self.resampling, "items")
        p, method = self._p_value(rate, sides, function, [self.resampling.random_state, rate_index, number])
        return Gap.of_estimate(estimate, p_value=p, p_method=method, **labels)

    def _p_value(
        self, rate: Rate, sides: tuple[Integers, Integers], function: Callable[[Integers], Floats], seed: list[int]
    ) -> tuple[float, str]:
        # accuracy and weighted recall have all items as trials, so shuffling all items is exact for them
        all_items = rate.index is None and rate.metric in {"accuracy", "recall"}
        if all_items or (self.shuffle == "within" and not rate.weighted):
            first, second = (rate_fraction(rate, side) for side in sides)
            return exact_p(first, second, partial(rate_from_fraction, rate.metric)), p_method(rate, exact=True)
        return shuffled_p(*sides, function, self.resampling.resamples, seed), p_method(rate, exact=False)


def _group_rate(function: Callable[[Integers], Floats], group: int, cells: Integers) -> Floats:
    return function(cells[:, group])


def _adjust_p(gaps: list[Gap]) -> list[Gap]:
    """Gaps with Holm-adjusted p over the comparisons of each rate, those with the rest apart."""
    families: dict[tuple[Label, ...], list[int]] = {}
    for index, gap in enumerate(gaps):
        families.setdefault((gap.metric, gap.positive_class, gap.b == REST), []).append(index)
    adjusted = list(gaps)
    for family in families.values():
        for index, p in zip(family, holm([gaps[index].p_value for index in family]), strict=True):
            adjusted[index] = replace(gaps[index], p_holm=p)
    return adjusted


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
    """Differences of gaps between two sets of predictions of the same items: second − first.

    Items are drawn again with both of their predictions, so that difficulty shared by both cancels. p swaps the two
    predictions of each item at random. It is exact up to Monte Carlo if the two classifiers do not differ at all, and
    conservative if they differ alike in all groups.

    Args:
        labels: true class of each item.
        first: predictions with the one embedding.
        second: predictions with the other.
        groups: group that each item is about.
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
    resampling = bootstrap_settings(
        "compare_gaps", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    tables = tabulate(labels, [first, second], groups, positive=positive, order=order)
    rows = [(rate, pair) for rate in tables.rates for pair in group_pairs(len(tables.groups))]

    def all_gaps(cells: Integers) -> Floats:
        """Gaps of one set of predictions, from counts of the shape (…, groups, label, prediction)."""
        sides = [
            [rate_values(rate, side, zeros=as_published) for side in pair_cells(cells, pair)] for rate, pair in rows
        ]
        return np.stack([a - b for a, b in sides], axis=-1)

    def differences(cells: Integers) -> Floats:
        # summing out the last axis leaves the first predictions, summing out the one before leaves the second
        return all_gaps(cells.sum(axis=-2)) - all_gaps(cells.sum(axis=-1))

    values = [all_gaps(tables.cells.sum(axis=axis)) for axis in (-1, -2)]
    drawn = bootstrap_values(tables.cells, differences, resamples, random_state)
    p_values = swapped_p(tables.cells, differences, resamples, random_state)
    changes = []
    for index, (rate, pair) in enumerate(rows):
        before, after = (None if np.isnan(side[index]) else float(side[index]) for side in values)
        involved = tables.involved_groups(pair)
        size = sum(int(tables.cells[group].sum()) for group in involved)
        row = {**tables.gap_labels(rate, pair), "first": before, "second": after, "n": size}
        if before is None or after is None:
            changes.append(GapChange(value=None, reason=_why_no_change(tables, rate, pair), **row))
            continue
        left_out = partial(left_out_values, tables.cells, partial(_column, differences, index), involved)
        estimate = estimate_from_draws(after - before, drawn[:, index], left_out, resampling, "items")
        changes.append(GapChange.of_estimate(estimate, p_value=float(p_values[index]), p_method=SWAPPED, **row))
    settings = _settings(tables, positive, resampling, as_published=as_published)
    return GapComparison(settings, tables.classes, tables.counts, tables.warnings, tuple(changes))


def _column(function: Callable[[Integers], Floats], index: int, cells: Integers) -> Floats:
    return function(cells)[:, index]


def _why_no_change(tables: ConfusionTables, rate: Rate, pair: Pair) -> str:
    """Reason why the gap of the first or the second predictions has no value."""
    for name, axis in (("first", -1), ("second", -2)):
        for group, side in zip(pair, pair_cells(tables.cells.sum(axis=axis), pair), strict=True):
            if np.isnan(rate_values(rate, side, zeros=False)):
                return (
                    f"{why_undefined(rate, side, tables.classes, tables.group_name(group))} by the {name} predictions"
                )
    return "undefined"  # pragma: no cover - a gap without value has a side without value
