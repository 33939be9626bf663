"""Predictions as counts of (label, prediction), the rates that follow from such counts, and groups to compare.

Everything about a gap is a function of these few counts, so that drawing ten thousand test sets again means drawing
ten thousand small tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgauge.applications.group_gaps.result import REST, Label
from biasgauge.core import Floats, Integers, Places
from biasgauge.errors import ParameterError

FEW = 30
"""Items below which a group is pointed out."""
PER_CLASS = ("precision", "recall", "false_positive_rate", "f1")
WEIGHTED = "weighted"
AMONG = {
    "precision": "items predicted {of}",
    "recall": "items labeled {of}",
    "false_positive_rate": "items not labeled {of}",
    "f1": "items labeled or predicted {of}",
    "accuracy": "all items",
}
"""What items each rate of a class is about."""
_UNDEFINED = {
    "precision": "nothing in {group} is predicted {of}",
    "recall": "nothing in {group} is labeled {of}",
    "f1": "nothing in {group} is labeled or predicted {of}",
    "false_positive_rate": "everything in {group} is labeled {of}",
}
Pair = tuple[int, int | None]
"""Places of two groups that are compared; None for the rest."""


@dataclass(frozen=True)
class Rate:
    """One rate of a classifier: of the class at `place`, or, where that is None, accuracy or a mean over classes.

    The mean weights each class by how many items carry its label, as scikit-learn's average="weighted".
    """

    metric: str
    of: Label
    place: int | None

    @property
    def weighted(self) -> bool:
        """Whether it is a mean over classes."""
        return self.place is None and self.metric != "accuracy"


def rates_of(classes: Sequence[Label], positive: Sequence[int]) -> tuple[Rate, ...]:
    """Rates to report: of each class in `positive`, weighted over all classes, and accuracy."""
    single = [Rate(metric, classes[place], place) for place in positive for metric in PER_CLASS]
    return (*single, *(Rate(metric, WEIGHTED, None) for metric in PER_CLASS), Rate("accuracy", None, None))


def fraction(rate: Rate, cells: Integers) -> tuple[Integers, Integers]:
    """Successes and trials of which a rate of one class is a function, from counts of the shape (…, label, prediction).

    Precision, recall and false positives are successes / trials. F1 = 2J / (1 + J) with J = successes / trials: of the
    items that carry the label or are predicted to (all but true negatives), those of which both are true.
    """
    if rate.place is None:
        return np.trace(cells, axis1=-2, axis2=-1), cells.sum(axis=(-2, -1))
    both = cells[..., rate.place, rate.place]
    labeled, predicted = cells[..., rate.place, :].sum(-1), cells[..., :, rate.place].sum(-1)
    if rate.metric == "precision":
        return both, predicted
    if rate.metric == "recall":
        return both, labeled
    if rate.metric == "f1":
        return both, labeled + predicted - both
    return predicted - both, cells.sum(axis=(-2, -1)) - labeled


def from_fraction(metric: str, successes: Integers, trials: Integers) -> Floats:
    """The rate; NaN where there are no trials."""
    share: Floats = np.divide(successes, trials, out=np.full(np.shape(trials), np.nan), where=np.asarray(trials) > 0)
    return 2 * share / (1 + share) if metric == "f1" else share


def rate_values(rate: Rate, cells: Integers, *, zeros: bool) -> Floats:
    """A rate for every table of counts (…, label, prediction); NaN where undefined.

    A weighted mean is undefined where the rate of some class that has items is; `zeros` counts such a class as 0
    instead, as scikit-learn does.
    """
    if not rate.weighted:
        return from_fraction(rate.metric, *fraction(rate, cells))
    total = np.zeros(cells.shape[:-2])
    everyone = cells.sum(axis=(-2, -1))
    for place in range(cells.shape[-1]):
        labeled = cells[..., place, :].sum(-1)
        value = from_fraction(rate.metric, *fraction(Rate(rate.metric, None, place), cells))
        if zeros:
            value = np.nan_to_num(value, nan=0.0)
        total += np.where(labeled > 0, labeled * value, 0.0)
    mean: Floats = np.divide(total, everyone, out=np.full(total.shape, np.nan), where=everyone > 0)
    return mean


def why_undefined(rate: Rate, cells: Integers, classes: Sequence[Label], group: str) -> str:
    """Why the rate of one table has no value; `group` says whose table it is."""
    if rate.place is None:
        for place, name in enumerate(classes):
            single = Rate(rate.metric, name, place)
            if cells[place].sum() and fraction(single, cells)[1] == 0:
                return f"{why_undefined(single, cells, classes, group)}, and the mean counts that class"
        return f"{group} has no items"
    return _UNDEFINED[rate.metric].format(group=group, of=repr(rate.of))


def p_method(rate: Rate, *, exact: bool) -> str:
    """How a p was found, and among which items groups were shuffled."""
    where = AMONG[rate.metric].format(of=repr(rate.of)) if exact and rate.place is not None else AMONG["accuracy"]
    return f"{'exact' if exact else 'monte-carlo'}, groups shuffled among {where}"


def comparisons(groups: int) -> list[Pair]:
    """Pairs of groups, then each against the rest where there are more than two."""
    pairs: list[Pair] = [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [*pairs, *((a, None) for a in range(groups))] if groups > 2 else pairs


def sides(cells: Integers, pair: Pair) -> tuple[Integers, Integers]:
    """Counts of both sides of a comparison, from counts of the shape (…, groups, label, prediction)."""
    a = cells[..., pair[0], :, :]
    return a, cells.sum(axis=-3) - a if pair[1] is None else cells[..., pair[1], :, :]


def _plain(values: Iterable[Any], what: str) -> list[Any]:
    """Values of a list, an array or a column of a frame, as Python's own text and numbers; none may be missing."""
    tolist = getattr(values, "tolist", None)
    items = list(tolist()) if tolist else [item.item() if isinstance(item, np.generic) else item for item in values]
    missing = next((at for at, item in enumerate(items) if item is None or item != item), None)  # noqa: PLR0124 - NaN
    if missing is not None:
        raise ParameterError(f"The {what} of gaps must not be missing. Item {missing + 1:,} has {items[missing]!r}.")
    return items


def _coded(values: list[Any], what: str) -> tuple[list[Label], Places]:
    """Distinct values in order, and the place of each value among them; text and numbers must not be mixed."""
    if len({isinstance(value, str) for value in values}) > 1:
        raise ParameterError(f"The {what} of gaps must be all text or all numbers. Got both.")
    try:
        distinct = sorted(set(values))
    except TypeError as problem:
        raise ParameterError(f"The {what} of gaps must be text or numbers. Got {values[0]!r}.") from problem
    places = {value: place for place, value in enumerate(distinct)}
    return distinct, np.fromiter((places[value] for value in values), np.intp, len(values))


@dataclass(frozen=True)
class Tabulated:
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

    def involved(self, pair: Pair) -> list[int]:
        """Places of the groups whose items a comparison rests on."""
        return list(range(len(self.groups))) if pair[1] is None else [pair[0], pair[1]]

    def about(self, rate: Rate, pair: Pair) -> dict[str, Any]:
        """What a gap is of, as `Gap` has it."""
        a, b = self.groups[pair[0]], REST if pair[1] is None else self.groups[pair[1]]
        return {"metric": rate.metric, "of": rate.of, "a": a, "b": b}

    def who(self, place: int | None) -> str:
        """A group by its place, for sentences; None is the rest."""
        return REST if place is None else f"group {self.groups[place]!r}"


def tabulate(
    labels: Iterable[Label],
    predictions: Sequence[Iterable[Label]],
    groups: Iterable[Label],
    *,
    positive: Label,
    order: Sequence[Label] | None,
) -> Tabulated:
    """Count items by group, label and each set of predictions; errors as in `gaps`."""
    marks = [_plain(labels, "labels"), *(_plain(column, "predictions") for column in predictions)]
    names, places = _coded(_plain(groups, "groups"), "groups")
    lengths = [*map(len, marks), len(places)]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ParameterError(
            "Gaps need a label, a prediction and a group for each of one or more items. "
            f"Got lists of {', '.join(map(str, lengths))}."
        )
    classes, codes = _coded([mark for column in marks for mark in column], "labels and predictions")
    wanted = _ordered(names, order)
    kept = np.isin(places, wanted)
    new = np.full(len(names), -1)
    new[wanted] = np.arange(len(wanted))
    shape = (len(wanted), *[len(classes)] * len(marks))
    at = np.ravel_multi_index((new[places[kept]], *codes.reshape(len(marks), -1)[:, kept]), shape)
    cells = np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)
    left_out = int((~kept).sum())
    notes = [f"{left_out:,} items of groups that 'order' does not name were left out"] if left_out else []
    rates = rates_of(classes, _positive(classes, positive))
    table = Tabulated(tuple(classes), tuple(names[place] for place in wanted), rates, cells)
    small = [f"group {name!r} has only {size} items" for name, size in table.counts.items() if size < FEW]
    return replace(table, warnings=(*notes, *small))


def _positive(classes: list[Label], positive: Label) -> list[int]:
    if positive is None:
        return list(range(len(classes)))
    if positive not in classes:
        raise ParameterError(
            "The 'positive' parameter of gaps must be one of the labels or predictions "
            f"({', '.join(map(repr, classes[:20]))}), or None for each of them. Got {positive!r}."
        )
    return [classes.index(positive)]


def _ordered(names: list[Label], order: Sequence[Label] | None) -> list[int]:
    if order is not None and (set(order) - set(names) or len(set(order)) != len(order)):
        raise ParameterError(
            f"The 'order' of gaps must name groups among {', '.join(map(repr, names[:20]))}, each once. "
            f"Got {list(order)!r}."
        )
    wanted = list(range(len(names))) if order is None else [names.index(name) for name in order]
    if len(wanted) < 2:
        raise ParameterError(
            f"A gap is between two groups at least. Got {', '.join(repr(names[place]) for place in wanted) or 'none'}."
        )
    return wanted
