"""`gaps`: differences in a classifier's error rates between groups of people; `compare_gaps`: between two classifiers.

Sources: Hardt, Price & Srebro 2016 (equality of opportunity: recall), Hutchinson & Mitchell 2019 (predictive parity:
precision), Goldfarb-Tarrant et al. 2021 (both, weighted over classes). Precision gaps are what the last paper
measured, though its appendix writes predictive parity as equality of false positives; both are reported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Literal, get_args

import numpy as np

from biasgauge import stats
from biasgauge.applications import confusion
from biasgauge.applications.gap_result import REST, Gap, GapChange, GapComparison, GapResult, GroupRate, Label
from biasgauge.core import Estimate, Floats, Integers, JsonObject, check_choice

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
    interval: stats.BootstrapMethod = "percentile",
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
    resampling = stats.bootstrap_settings(
        "gaps", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    tables = confusion.tabulate(labels, [predictions], groups, positive=positive, order=order)
    estimator = _GapEstimator(tables, resampling, shuffle=shuffle, zeros=as_published)
    return GapResult(
        settings={**_settings(tables, positive, resampling, as_published=as_published), "shuffle": shuffle},
        classes=tables.classes,
        counts=tables.counts,
        warnings=tables.warnings,
        gaps=tuple(_adjust_p(list(estimator.gaps()))),
        rates=tuple(estimator.group_rates()),
    )


def _settings(
    tables: confusion.ConfusionTables, positive: Label, resampling: stats.Resampling, *, as_published: bool
) -> JsonObject:
    positive_class = None if positive is None else tables.rates[0].positive_class
    groups = {"positive": positive_class, "order": list(tables.groups), "as_published": as_published}
    return {**groups, **resampling.to_settings()}


class _GapEstimator:
    """Every rate of every group, in the data and in bootstrap samples."""

    def __init__(
        self, tables: confusion.ConfusionTables, resampling: stats.Resampling, *, shuffle: Shuffle, zeros: bool
    ) -> None:
        self.tables, self.resampling, self.shuffle = tables, resampling, shuffle
        self.rate_functions: list[Callable[[Integers], Floats]] = [
            partial(confusion.rate_values, rate, zeros=zeros) for rate in tables.rates
        ]
        self.drawn = stats.bootstrap_values(
            tables.cells, self._all_rates, resampling.resamples, resampling.random_state
        )

    def _all_rates(self, cells: Integers) -> Floats:
        """Array of the shape (resamples, groups, then the rest of each, rates)."""
        parts = [cells, cells.sum(axis=1, keepdims=True) - cells] if cells.shape[1] > 2 else [cells]
        return np.concatenate(
            [np.stack([function(side) for function in self.rate_functions], axis=-1) for side in parts], axis=1
        )

    def group_rates(self) -> Iterator[GroupRate]:
        for rate_index, rate in enumerate(self.tables.rates):
            for group, (name, size) in enumerate(self.tables.counts.items()):
                yield GroupRate.of_estimate(self._estimate(rate_index, (group,)), **rate.labels, group=name, n=size)

    def gaps(self) -> Iterator[Gap]:
        tables = self.tables
        for rate_index, rate in enumerate(tables.rates):
            for number, pair in enumerate(confusion.group_pairs(len(tables.groups))):
                sides = confusion.pair_cells(tables.cells, pair)
                n_a, n_b = (int(side.sum()) for side in sides)
                labels = {**tables.gap_labels(rate, pair), "n": n_a + n_b, "n_a": n_a, "n_b": n_b}
                estimate = self._estimate(rate_index, pair)
                if estimate.defined:
                    labels["p_value"], labels["p_method"] = self._p_value(rate_index, sides, number)
                yield Gap.of_estimate(estimate, **labels)

    def _estimate(self, rate_index: int, groups: tuple[int | None, ...]) -> Estimate:
        """Rate of one group, or difference between two, the second of which may be None for the rest."""
        tables, function = self.tables, self.rate_functions[rate_index]

        def sides(cells: Integers) -> tuple[Integers, ...]:
            first, *others = groups
            return confusion.pair_cells(cells, (first or 0, others[0])) if others else (cells[..., first, :, :],)

        def statistic(cells: Integers) -> Floats:
            return reduce(np.subtract, map(function, sides(cells)))

        for group, side in zip(groups, sides(tables.cells), strict=True):
            if np.isnan(function(side)):
                name = tables.group_name(group)
                return Estimate(
                    value=None, reason=confusion.why_undefined(tables.rates[rate_index], side, tables.classes, name)
                )
        # in the bootstrap samples the rests stand behind the groups
        columns = [(groups[0] or 0) + len(tables.groups) if group is None else group for group in groups]
        drawn = reduce(np.subtract, (self.drawn[:, column, rate_index] for column in columns))
        involved = [group for group in groups if group is not None]
        involved = list(range(len(tables.groups))) if None in groups else involved
        left_out = partial(stats.left_out_values, tables.cells, statistic, involved)
        return stats.estimate_from_draws(float(statistic(tables.cells)), drawn, left_out, self.resampling, "items")

    def _p_value(self, rate_index: int, sides: tuple[Integers, Integers], number: int) -> tuple[float, str]:
        rate = self.tables.rates[rate_index]
        # accuracy and weighted recall have all items as trials, so shuffling all items is exact for them
        all_items = rate.index is None and rate.metric in {"accuracy", "recall"}
        if all_items or (self.shuffle == "within" and not rate.weighted):
            first, second = (confusion.rate_fraction(rate, side) for side in sides)
            return stats.exact_p(first, second, partial(confusion.rate_from_fraction, rate.metric)), confusion.p_method(
                rate, exact=True
            )
        seed = [self.resampling.random_state, rate_index, number]
        p = stats.shuffled_p(*sides, self.rate_functions[rate_index], self.resampling.resamples, seed)
        return p, confusion.p_method(rate, exact=False)


def _adjust_p(gaps: list[Gap]) -> list[Gap]:
    """Gaps with Holm-adjusted p over the comparisons of each rate, those with the rest apart."""
    families: dict[tuple[Label, ...], list[int]] = {}
    for index, gap in enumerate(gaps):
        families.setdefault((gap.metric, gap.positive_class, gap.b == REST), []).append(index)
    adjusted = list(gaps)
    for family in families.values():
        for index, p in zip(family, stats.holm([gaps[index].p_value for index in family]), strict=True):
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
    interval: stats.BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> GapComparison:
    """Differences of gaps between two sets of predictions of the same items: second − first.

    Items are drawn again with both of their predictions, so that difficulty shared by both cancels. p swaps the two
    predictions of each item at random. It is exact up to Monte Carlo if the two classifiers do not differ at all, and
    conservative if they differ alike in all groups.

    `first` and `second` are the predictions with the one embedding and with the other. Other arguments and errors are
    those of `gaps`; `resamples` is also the number of random swaps.
    """
    resampling = stats.bootstrap_settings(
        "compare_gaps", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    tables = confusion.tabulate(labels, [first, second], groups, positive=positive, order=order)
    rows = [(rate, pair) for rate in tables.rates for pair in confusion.group_pairs(len(tables.groups))]

    def all_gaps(cells: Integers) -> Floats:
        """Gaps of one set of predictions, from counts of the shape (…, groups, label, prediction)."""
        sides = [
            [confusion.rate_values(rate, side, zeros=as_published) for side in confusion.pair_cells(cells, pair)]
            for rate, pair in rows
        ]
        return np.stack([a - b for a, b in sides], axis=-1)

    def differences(cells: Integers) -> Floats:
        # summing out the last axis leaves the first predictions, summing out the one before leaves the second
        return all_gaps(cells.sum(axis=-2)) - all_gaps(cells.sum(axis=-1))

    values = [all_gaps(tables.cells.sum(axis=axis)) for axis in (-1, -2)]
    drawn = stats.bootstrap_values(tables.cells, differences, resamples, random_state)
    p_values = stats.swapped_p(tables.cells, differences, resamples, random_state)
    changes = []
    for index, (rate, pair) in enumerate(rows):
        before, after = (None if np.isnan(side[index]) else float(side[index]) for side in values)
        involved = tables.involved_groups(pair)
        size = sum(int(tables.cells[group].sum()) for group in involved)
        row = {**tables.gap_labels(rate, pair), "first": before, "second": after, "n": size}
        if before is None or after is None:
            changes.append(GapChange(value=None, reason=_why_no_change(tables, rate, pair), **row))
            continue
        column = partial(_column, differences, index)
        left_out = partial(stats.left_out_values, tables.cells, column, involved)
        estimate = stats.estimate_from_draws(after - before, drawn[:, index], left_out, resampling, "items")
        changes.append(GapChange.of_estimate(estimate, p_value=float(p_values[index]), p_method=SWAPPED, **row))
    settings = _settings(tables, positive, resampling, as_published=as_published)
    return GapComparison(settings, tables.classes, tables.counts, tables.warnings, tuple(changes))


def _column(function: Callable[[Integers], Floats], index: int, cells: Integers) -> Floats:
    return function(cells)[:, index]


def _why_no_change(tables: confusion.ConfusionTables, rate: confusion.Rate, pair: confusion.Pair) -> str:
    """Reason why the gap of the first or the second predictions has no value."""
    for name, axis in (("first", -1), ("second", -2)):
        for group, side in zip(pair, confusion.pair_cells(tables.cells.sum(axis=axis), pair), strict=True):
            if np.isnan(confusion.rate_values(rate, side, zeros=False)):
                why = confusion.why_undefined(rate, side, tables.classes, tables.group_name(group))
                return f"{why} by the {name} predictions"
    return "undefined"  # pragma: no cover - a gap without value has a side without value
