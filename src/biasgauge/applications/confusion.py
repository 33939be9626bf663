"""Confusion tables by group: counts of (label, prediction), the rates that follow from them, and groups to compare.

Every gap is a function of these few counts, so that ten thousand bootstrap samples of a test set are ten thousand
small tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgauge.applications.gap_result import REST, Label
from biasgauge.core import Floats, Integers, Places
from biasgauge.errors import ParameterError

FEW_ITEMS = 30
"""Groups with fewer items get a warning."""
PER_CLASS = ("precision", "recall", "false_positive_rate", "f1")
WEIGHTED = "weighted"
_TRIALS = {
    "precision": "items predicted {label}",
    "recall": "items labeled {label}",
    "false_positive_rate": "items not labeled {label}",
    "f1": "items labeled or predicted {label}",
    "accuracy": "all items",
}
"""Denominator of each rate."""
_UNDEFINED = {
    "precision": "nothing in {group} is predicted {label}",
    "recall": "nothing in {group} is labeled {label}",
    "f1": "nothing in {group} is labeled or predicted {label}",
    "false_positive_rate": "everything in {group} is labeled {label}",
}
Pair = tuple[int, int | None]
"""Indices of two groups that are compared; None for the rest."""


@dataclass(frozen=True)
class Rate:
    """A rate of a classifier: for the class at `index`, or, where that is None, accuracy or a mean over classes.

    The mean weights each class by its number of labeled items, as scikit-learn's average="weighted".
    """

    metric: str
    positive_class: Label
    index: int | None

    @property
    def weighted(self) -> bool:
        """True for a mean over classes."""
        return self.index is None and self.metric != "accuracy"

    @property
    def labels(self) -> dict[str, Any]:
        """Fields of an estimate that say which rate it is."""
        return {"metric": self.metric, "positive_class": self.positive_class}


def reported_rates(classes: Sequence[Label], positive: Sequence[int]) -> tuple[Rate, ...]:
    """Rates to report: of each class in `positive`, weighted over all classes, and accuracy."""
    single = [Rate(metric, classes[index], index) for index in positive for metric in PER_CLASS]
    return (*single, *(Rate(metric, WEIGHTED, None) for metric in PER_CLASS), Rate("accuracy", None, None))


def rate_fraction(rate: Rate, cells: Integers) -> tuple[Integers, Integers]:
    """Successes and trials of an unweighted rate, from counts of the shape (…, label, prediction).

    With TP, FP, FN, TN of the class: precision TP / (TP + FP), recall TP / (TP + FN), false positive rate FP / (FP +
    TN). F1 = 2J / (1 + J) with the Jaccard index J = TP / (TP + FP + FN).
    """
    if rate.index is None:
        return np.trace(cells, axis1=-2, axis2=-1), cells.sum(axis=(-2, -1))
    hits = cells[..., rate.index, rate.index]
    labeled, predicted = cells[..., rate.index, :].sum(-1), cells[..., :, rate.index].sum(-1)
    if rate.metric == "false_positive_rate":
        return predicted - hits, cells.sum(axis=(-2, -1)) - labeled
    return hits, {"precision": predicted, "recall": labeled, "f1": labeled + predicted - hits}[rate.metric]


def rate_from_fraction(metric: str, successes: Integers, trials: Integers) -> Floats:
    """Value of a rate; NaN where there are no trials."""
    share: Floats = np.divide(successes, trials, out=np.full(np.shape(trials), np.nan), where=np.asarray(trials) > 0)
    return 2 * share / (1 + share) if metric == "f1" else share


def rate_values(rate: Rate, cells: Integers, *, zeros: bool) -> Floats:
    """Value of a rate for every table of counts (…, label, prediction); NaN where undefined.

    A weighted mean is undefined where the rate of some class that has items is; `zeros` counts such a class as 0
    instead, as scikit-learn does.
    """
    if not rate.weighted:
        return rate_from_fraction(rate.metric, *rate_fraction(rate, cells))
    weighted_sum = np.zeros(cells.shape[:-2])
    items = cells.sum(axis=(-2, -1))
    for index in range(cells.shape[-1]):
        labeled = cells[..., index, :].sum(-1)
        value = rate_from_fraction(rate.metric, *rate_fraction(Rate(rate.metric, None, index), cells))
        value = np.nan_to_num(value, nan=0.0) if zeros else value
        # a class without items has weight 0 whatever its rate, also where that is NaN
        weighted_sum += np.where(labeled > 0, labeled * value, 0.0)
    mean: Floats = np.divide(weighted_sum, items, out=np.full(weighted_sum.shape, np.nan), where=items > 0)
    return mean


def why_undefined(rate: Rate, cells: Integers, classes: Sequence[Label], group: str) -> str:
    """Reason why the rate of one table has no value; `group` names the table's group."""
    if rate.index is None:
        for index, name in enumerate(classes):
            single = Rate(rate.metric, name, index)
            if cells[index].sum() and rate_fraction(single, cells)[1] == 0:
                return f"{why_undefined(single, cells, classes, group)}, and the mean counts that class"
        return f"{group} has no items"
    return _UNDEFINED[rate.metric].format(group=group, label=repr(rate.positive_class))


def p_method(rate: Rate, *, exact: bool) -> str:
    """Method of a p-value, and the items among which groups were shuffled."""
    metric = rate.metric if exact and rate.index is not None else "accuracy"
    among = _TRIALS[metric].format(label=repr(rate.positive_class))
    return f"{'exact' if exact else 'monte-carlo'}, groups shuffled among {among}"


def group_pairs(groups: int) -> list[Pair]:
    """Pairs of groups, then each against the rest where there are more than two."""
    pairs: list[Pair] = [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [*pairs, *((a, None) for a in range(groups))] if groups > 2 else pairs


def pair_cells(cells: Integers, pair: Pair) -> tuple[Integers, Integers]:
    """Counts of the two groups of a pair, from counts of the shape (…, groups, label, prediction)."""
    first = cells[..., pair[0], :, :]
    return first, cells.sum(axis=-3) - first if pair[1] is None else cells[..., pair[1], :, :]


@dataclass(frozen=True)
class ConfusionTables:
    """Counts of items: (groups, label, prediction), or (groups, label, first prediction, second prediction).

    Groups are in the order in which they are subtracted; warnings are about groups left out and small groups.
    """

    classes: tuple[Label, ...]
    groups: tuple[Label, ...]
    rates: tuple[Rate, ...]
    cells: Integers
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[Label, int]:
        """Items by group."""
        sizes = self.cells.reshape(len(self.groups), -1).sum(axis=1)
        return dict(zip(self.groups, sizes.tolist(), strict=True))

    def involved_groups(self, pair: Pair) -> list[int]:
        """Indices of the groups whose items a comparison rests on."""
        return list(range(len(self.groups))) if pair[1] is None else [pair[0], pair[1]]

    def gap_labels(self, rate: Rate, pair: Pair) -> dict[str, Any]:
        """Fields of `Gap` that say which rate of which groups it is."""
        a, b = self.groups[pair[0]], REST if pair[1] is None else self.groups[pair[1]]
        return {**rate.labels, "a": a, "b": b}

    def group_name(self, index: int | None) -> str:
        """Name of a group for sentences; None is the rest."""
        return REST if index is None else f"group {self.groups[index]!r}"


def tabulate(
    labels: Iterable[Label],
    predictions: Sequence[Iterable[Label]],
    groups: Iterable[Label],
    *,
    positive: Label,
    order: Sequence[Label] | None,
) -> ConfusionTables:
    """Count items by group, label and each set of predictions; errors as in `gaps`."""
    marks = [_as_list(labels, "labels"), *(_as_list(column, "predictions") for column in predictions)]
    names, group_codes = _encode(_as_list(groups, "groups"), "groups")
    lengths = [*map(len, marks), len(group_codes)]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ParameterError(
            "Gaps need a label, a prediction and a group for each of one or more items. "
            f"Got lists of {', '.join(map(str, lengths))}."
        )
    classes, codes = _encode([mark for column in marks for mark in column], "labels and predictions")
    selected = _ordered_groups(names, order)
    is_selected = np.isin(group_codes, selected)
    new_code = np.full(len(names), -1)
    new_code[selected] = np.arange(len(selected))
    # one number for each combination of group, label and predictions, then their frequencies
    shape = (len(selected), *[len(classes)] * len(marks))
    columns = (new_code[group_codes[is_selected]], *codes.reshape(len(marks), -1)[:, is_selected])
    cells = np.bincount(np.ravel_multi_index(columns, shape), minlength=int(np.prod(shape))).reshape(shape)
    left_out = int((~is_selected).sum())
    notes = [f"{left_out:,} items of groups that 'order' does not name were left out"] if left_out else []
    if positive is not None and positive not in classes:
        raise ParameterError(
            "The 'positive' parameter of gaps must be one of the labels or predictions "
            f"({', '.join(map(repr, classes[:20]))}), or None for each of them. Got {positive!r}."
        )
    rates = reported_rates(classes, range(len(classes)) if positive is None else [classes.index(positive)])
    tables = ConfusionTables(tuple(classes), tuple(names[index] for index in selected), rates, cells)
    small = [f"group {name!r} has only {size} items" for name, size in tables.counts.items() if size < FEW_ITEMS]
    return replace(tables, warnings=(*notes, *small))


def _as_list(values: Iterable[Any], role: str) -> list[Any]:
    """Values of a list, an array or a column of a frame, as Python's own text and numbers; none may be missing."""
    tolist = getattr(values, "tolist", None)
    items = list(tolist()) if tolist else [item.item() if isinstance(item, np.generic) else item for item in values]
    missing = next((row for row, item in enumerate(items) if item is None or item != item), None)  # noqa: PLR0124 - NaN
    if missing is not None:
        raise ParameterError(f"The {role} of gaps must not be missing. Item {missing + 1:,} has {items[missing]!r}.")
    return items


def _encode(values: list[Any], role: str) -> tuple[list[Label], Places]:
    """Distinct values in order, and the index of each value among them; text and numbers must not be mixed."""
    if len({isinstance(value, str) for value in values}) > 1:
        raise ParameterError(f"The {role} of gaps must be all text or all numbers. Got both.")
    try:
        distinct = sorted(set(values))
    except TypeError as problem:
        raise ParameterError(f"The {role} of gaps must be text or numbers. Got {values[0]!r}.") from problem
    codes = {value: code for code, value in enumerate(distinct)}
    return distinct, np.fromiter((codes[value] for value in values), np.intp, len(values))


def _ordered_groups(names: list[Label], order: Sequence[Label] | None) -> list[int]:
    if order is not None and (set(order) - set(names) or len(set(order)) != len(order)):
        raise ParameterError(
            f"The 'order' of gaps must name groups among {', '.join(map(repr, names[:20]))}, each once. "
            f"Got {list(order)!r}."
        )
    selected = list(range(len(names))) if order is None else [names.index(name) for name in order]
    if len(selected) < 2:
        listed = ", ".join(repr(names[index]) for index in selected) or "none"
        raise ParameterError(f"A gap is between two groups at least. Got {listed}.")
    return selected
