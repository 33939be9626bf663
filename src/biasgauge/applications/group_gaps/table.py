"""Items as counts by group, label and prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.applications.group_gaps.cells import Label, Pair, Rate, coded, plain, rates_of
from biasgauge.applications.group_gaps.result import REST
from biasgauge.arrays import Integers
from biasgauge.errors import ParameterError

FEW = 30
"""Items below which a group is pointed out."""


@dataclass(frozen=True)
class Tabulated:
    """Counts of items.

    Attributes:
        classes: labels and predictions that occur.
        groups: in the order in which they are subtracted.
        rates: what to report.
        cells: (groups, label, prediction), or (groups, label, first prediction, second prediction).
        warnings: groups left out, small groups.
    """

    classes: tuple[Label, ...]
    groups: tuple[Label, ...]
    rates: tuple[Rate, ...]
    cells: Integers
    warnings: tuple[str, ...]

    @property
    def counts(self) -> dict[Label, int]:
        """Items by group."""
        sizes = self.cells.reshape(len(self.groups), -1).sum(axis=1)
        return dict(zip(self.groups, sizes.tolist(), strict=True))

    def name(self, place: int | None) -> Label:
        """A group by its place; None is the rest."""
        return REST if place is None else self.groups[place]

    def involved(self, pair: Pair) -> list[int]:
        """Places of the groups whose items a comparison rests on."""
        return list(range(len(self.groups))) if pair[1] is None else [pair[0], pair[1]]

    def about(self, rate: Rate, pair: Pair) -> dict[str, Any]:
        """What a gap is of, as `Gap` has it."""
        return {"metric": rate.metric, "of": rate.of, "a": self.name(pair[0]), "b": self.name(pair[1])}

    def who(self, place: int | None) -> str:
        """The same for sentences."""
        return REST if place is None else f"group {self.groups[place]!r}"


def tabulate(
    labels: Iterable[Label],
    predictions: Sequence[Iterable[Label]],
    groups: Iterable[Label],
    *,
    positive: Label,
    order: Sequence[Label] | None,
) -> Tabulated:
    """Count items by group, label and each set of predictions.

    Raises:
        ParameterError: lengths differ, a value is missing, there are fewer than two groups, or `positive` or `order`
            names something that does not occur.
    """
    given = [plain(labels, "labels"), *(plain(marks, "predictions") for marks in predictions)]
    names, places = coded(plain(groups, "groups"), "groups")
    lengths = [*map(len, given), len(places)]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ParameterError(
            "Gaps need a label, a prediction and a group for each of one or more items. "
            f"Got lists of {', '.join(map(str, lengths))}."
        )
    classes, codes = coded([mark for marks in given for mark in marks], "labels and predictions")
    wanted = _ordered(names, order)
    kept = np.isin(places, wanted)
    new = np.full(len(names), -1)
    new[wanted] = np.arange(len(wanted))
    shape = (len(wanted), *[len(classes)] * len(given))
    at = np.ravel_multi_index((new[places[kept]], *codes.reshape(len(given), -1)[:, kept]), shape)
    cells = np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)
    left_out = int((~kept).sum())
    notes = [f"{left_out:,} items of groups that 'order' does not name were left out"] if left_out else []
    kept_names = [names[place] for place in wanted]
    sizes = cells.reshape(len(wanted), -1).sum(axis=1).tolist()
    for name, size in zip(kept_names, sizes, strict=True):
        if size < FEW:
            notes.append(f"group {name!r} has only {size} items")
    rates = rates_of(classes, _positive(classes, positive))
    return Tabulated(tuple(classes), tuple(kept_names), rates, cells, tuple(notes))


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
