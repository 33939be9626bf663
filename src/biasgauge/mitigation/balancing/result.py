"""What balancing did, as counts of lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from biasgauge.arrays import Integers
from biasgauge.mitigation.balancing.plan import CLASSES, MIXED, holding
from biasgauge.results import Column, Record, Result, Summary, Table


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

    def derived(self) -> Mapping[str, Any]:
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
    coverage: Mapping[str, Any]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Lines before."""
        return sum(one.before for one in self.classes)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(one.removed for one in self.classes)

    @property
    def reached(self) -> float | None:
        """Share of the lines that the degree asks to remove that were removed; None where it asks for none."""
        return self.removed / self.asked if self.asked else None

    def derived(self) -> Mapping[str, Any]:
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
        rows = [(one.name, one.before, one.removed, one.after, " + ".join(one.holds)) for one in self.classes]
        share = self.removed / self.lines
        return Summary(
            title=f"Balanced corpus {self.path}",
            headline=f"{self.removed:,} of {self.lines:,} lines removed ({share:.2%}): {self.path}",
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
