"""Predictions as counts of (label, prediction), the rates that follow from such counts, and groups to compare.

Everything about a gap is a function of these few counts, so that drawing ten thousand test sets again means drawing
ten thousand small tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.arrays import Floats, Integers, Places
from biasgauge.errors import ParameterError

Label = str | int | float | bool | None
"""What a user names a class or a group; None for none."""

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
Pair = tuple[int, int | None]
"""Places of two groups that are compared; None for the rest."""


@dataclass(frozen=True)
class Rate:
    """One rate of a classifier.

    Attributes:
        metric: "precision", "recall", "false_positive_rate", "f1" or "accuracy".
        of: the class that counts as positive; "weighted" for the mean over classes, each weighted by how many items
            carry its label, as scikit-learn's average="weighted"; None for accuracy.
        place: the place of that class; None where there is none.
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
    name = repr(rate.of)
    if rate.metric == "precision":
        return f"nothing in {group} is predicted {name}"
    if rate.metric == "recall":
        return f"nothing in {group} is labeled {name}"
    if rate.metric == "f1":
        return f"nothing in {group} is labeled or predicted {name}"
    return f"everything in {group} is labeled {name}"


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


def plain(values: Iterable[Any], what: str) -> list[Any]:
    """Values of a list, an array or a column of a frame, as Python's own text and numbers.

    Raises:
        ParameterError: a value is missing, or text and numbers are mixed.
    """
    tolist = getattr(values, "tolist", None)
    items = list(tolist()) if tolist else [item.item() if isinstance(item, np.generic) else item for item in values]
    missing = next((at for at, item in enumerate(items) if item is None or item != item), None)  # noqa: PLR0124 - NaN
    if missing is not None:
        raise ParameterError(f"The {what} of gaps must not be missing. Item {missing + 1:,} has {items[missing]!r}.")
    return items


def coded(values: list[Any], what: str) -> tuple[list[Label], Places]:
    """Distinct values in order, and the place of each value among them.

    Raises:
        ParameterError: text and numbers are mixed, or it is something else.
    """
    if len({isinstance(value, str) for value in values}) > 1:
        raise ParameterError(f"The {what} of gaps must be all text or all numbers. Got both.")
    try:
        distinct = sorted(set(values))
    except TypeError as problem:
        raise ParameterError(f"The {what} of gaps must be text or numbers. Got {values[0]!r}.") from problem
    places = {value: place for place, value in enumerate(distinct)}
    return distinct, np.fromiter((places[value] for value in values), np.intp, len(values))
