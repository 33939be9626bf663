"""Which lines go: how many of each class, and which ones; and what that did, as counts of lines.

A line is known by the sets it has a word of: X and Y are the targets, A and B the attributes of a test.

    pro 1   X and A            anti 1  Y and A            mixed    words of three or four sets
    pro 2   Y and B            anti 2  X and B            neutral  anything else

A line of two sets is of one class, so the classes share no line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Flags, Integers, JsonMapping, Record
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, share_text

Direction = Literal["debias", "overbias"]
Degree = float | Literal["max"]
Keep = Literal["random", "earliest"]

X, Y, A, B = 1, 2, 4, 8
CLASSES = {"pro 1": X | A, "pro 2": Y | B, "anti 1": Y | A, "anti 2": X | B}
"""The sets that a line of each class has, and no other."""
MIXED = tuple(sets for sets in range(16) if sets.bit_count() > 2)
REMOVED_FROM = {"debias": ("pro 1", "pro 2"), "overbias": ("anti 1", "anti 2")}
OPPOSITE = {"pro 1": "anti 1", "pro 2": "anti 2"}


@dataclass(frozen=True)
class LineClass(Record):
    """Lines of one class. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        name: "pro 1", "pro 2", "anti 1", "anti 2", "mixed" or "neutral"; every line is in one of them.
        holds: the two sets that a line of it has a word of, by what they stand for; empty for mixed and neutral.
        before: lines before.
        after: lines after.
        mixed_before: mixed lines that hold both of these sets too; None for mixed and neutral.
        mixed_after: the same after.
    """

    name: str
    holds: tuple[str, ...]
    before: int
    after: int
    mixed_before: int | None = None
    mixed_after: int | None = None

    @property
    def removed(self) -> int:
        """Lines removed."""
        return self.before - self.after

    def derived(self) -> JsonMapping:
        """How many went."""
        return {"removed": self.removed}


@dataclass(frozen=True, repr=False)
class BalanceResult(Result):
    """A balanced corpus, and what became of its lines.

    Attributes:
        path: the corpus that was written.
        source: the corpus that was read.
        lexicon: whose words decided.
        classes: lines of each class, before and after.
        asked: how many lines the degree asks to remove.
        limit: how many lines may be removed; None where the published rule knows no limit.
        coverage: how many words of the sets occur in the corpus, and which do not.
        settings: all that the result depends on.
        warnings: what the reader should know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("classes",)

    path: str
    source: str
    lexicon: str
    classes: tuple[LineClass, ...]
    asked: int
    limit: int | None
    coverage: JsonMapping
    settings: JsonMapping
    warnings: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Lines before."""
        return sum(line_class.before for line_class in self.classes)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(line_class.removed for line_class in self.classes)

    @property
    def reached(self) -> float | None:
        """Share of the lines that the degree asks to remove that were removed; None where it asks for none."""
        return self.removed / self.asked if self.asked else None

    def derived(self) -> JsonMapping:
        """How many lines there are and how many went; why there is no share of what was asked for."""
        return {
            "changed": self.removed,
            "lines": {"before": self.lines, "after": self.lines - self.removed},
            "reached": self.reached,
            **({} if self.asked else {"reason": "the degree asks for no line to be removed"}),
        }

    def summary(self) -> Summary:
        """How many lines went, by class."""
        numbers = [Column(name, "count") for name in ("before", "removed", "after")]
        rows = [(row.name, row.before, row.removed, row.after, " + ".join(row.holds)) for row in self.classes]
        share = self.removed / self.lines
        return Summary(
            title=f"Balanced corpus {self.path}",
            headline=f"{self.removed:,} of {self.lines:,} lines removed ({share_text(share, 2)}): {self.path}",
            tables=(Table.of("lines", "", ["lines", *numbers, "hold"], rows),),
            warnings=self.warnings,
        )


def line_classes(before: Integers, after: Integers, labels: Mapping[int, str]) -> tuple[LineClass, ...]:
    """The classes from lines by their sum of sets; `labels` says what each set stands for."""
    mixed = list(MIXED)
    classes = []
    for name, sets in CLASSES.items():
        also = [place for place in mixed if holding(name)[place]]
        # The attribute is what a pro and an anti class share, so the target is named first.
        holds = tuple(label for role, label in labels.items() if sets & role)
        classes.append(
            LineClass(name, holds, int(before[sets]), int(after[sets]), int(before[also].sum()), int(after[also].sum()))
        )
    neutral = [sets for sets in range(16) if sets not in {*mixed, *CLASSES.values()}]
    for name, places in (("mixed", mixed), ("neutral", neutral)):
        classes.append(LineClass(name, (), int(before[places].sum()), int(after[places].sum())))
    return tuple(classes)


@dataclass(frozen=True)
class Plan:
    """For each line that could go whether it does, how many the degree asks to remove, and how many may (None: all)."""

    gone: Flags
    asked: int
    limit: int | None


def holding(name: str) -> Flags:
    """For each sum of sets whether a line with it holds both sets of a class, mixed lines included."""
    both = CLASSES[name]
    return np.array([sets & both == both for sets in range(16)])


def removable(direction: Direction) -> Flags:
    """For each sum of sets whether a line with it could go in this direction, under any rule."""
    first, second = REMOVED_FROM[direction]
    return holding(first) | holding(second)


def plan(
    counts: Integers, sets: NDArray[np.uint8], *, direction: Direction, degree: Degree, keep: Keep, max_removed: float,
    random_state: int,
) -> Plan:  # fmt: skip
    """Choose lines of the classes that stand against the direction; mixed lines stay. Settings are those of `balance`.

    `counts` are lines of the corpus by their sum of sets, `sets` those of the lines that could go, in order. Parts of a
    line are not removed. A smaller degree removes some of those lines that a larger one removes with the same seed.
    Where the degree asks for more than `max_removed` allows, both classes give way in proportion.
    """
    names = REMOVED_FROM[direction]
    allowed = asked = [_asked(counts, name, degree) for name in names]
    limit = _share(max_removed, int(counts.sum()))
    if sum(asked) > limit:
        second = asked[1] * limit // sum(asked)
        allowed = [limit - second, second]
    gone = np.zeros(len(sets), np.bool_)
    for place, (name, number) in enumerate(zip(names, allowed, strict=True)):
        members = np.flatnonzero(sets == CLASSES[name])[::-1]
        if keep == "random":
            members = np.random.default_rng([random_state, place]).permutation(members[::-1])
        gone[members[:number]] = True
    return Plan(gone, sum(asked), limit)


def published_plan(counts: Integers, sets: NDArray[np.uint8], *, direction: Direction, degree: Degree) -> Plan:
    """The rule of the released code of Goldfarb-Tarrant et al. 2021.

    Debias: the earliest lines with X and A stay, as many as there are lines with Y and A; of the others, the earliest
    lines with Y and B stay, as many as there are lines with X and B. A line of all kinds counts for each. Degree "max"
    drops them all. Overbias drops every line with Y and A or with X and B. There is no limit.
    """
    if direction == "overbias":
        gone = removable("overbias")[sets]
        return Plan(gone, int(gone.sum()), None)
    gone = np.zeros(len(sets), np.bool_)
    first = holding("pro 1")[sets]
    for name, members in (("pro 1", first), ("pro 2", holding("pro 2")[sets] & ~first)):
        stay = 0 if degree == "max" else int(counts[holding(OPPOSITE[name])].sum())
        gone[np.flatnonzero(members)[stay:]] = True
    return Plan(gone, int(gone.sum()), None)


def check_degree(degree: object, *, as_published: bool) -> None:
    """Refuse what is no degree."""
    share = isinstance(degree, (int, float)) and not isinstance(degree, bool) and 0 <= degree <= 1
    if degree != "max" and not (share and (degree == 1 or not as_published)):
        wanted = '1 or "max": the released code knows no others' if as_published else 'from 0 to 1, or "max"'
        raise ParameterError(f"The 'degree' parameter must be {wanted}. Got {degree!r}.")


def _asked(counts: Integers, name: str, degree: Degree) -> int:
    here = int(counts[CLASSES[name]])
    if degree == "max":
        return here
    return _share(degree, max(here - int(counts[CLASSES[OPPOSITE[name]]]), 0) if name in OPPOSITE else here)


def _share(share: float, number: int) -> int:
    """That share of a number, as it is written in decimals, rounded down: .29 of 100 is 29."""
    return int(Fraction(str(share)) * number)
