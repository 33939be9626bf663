"""The plan of a measurement: power of the lists at hand, and how to raise it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from biasgauge.core import JsonMapping, Record
from biasgauge.results import RecordTable, Result, counted, number_text
from biasgauge.vectors import NOT_THERE

FEWEST = 2
"""Words of a list that have a spread."""


@dataclass(frozen=True)
class ListPower(Record):
    """One list of the test.

    Attributes:
        role: x, y, a or b.
        name: of the concept that it stands for.
        words: found in the vectors.
        effective: effective number of words: fewer than `words` where they are related.
        side: "targets" or "attributes".
        side_variance: share of the squared standard error that is due to words of this side.
    """

    role: str
    name: str
    words: int
    effective: float
    side: str
    side_variance: float


@dataclass(frozen=True)
class DoubtfulWord(Record):
    """A word that adds nothing or disturbs, with the reason."""

    role: str
    word: str
    reason: str


@dataclass(frozen=True)
class FurtherWord(Record):
    """A word that the sources of a recipe offer and that passes its filters, but is not in the list."""

    role: str
    word: str
    source: str
    evidence: str
    log10_frequency: float | None


@dataclass(frozen=True, eq=False, repr=False)
class PowerPlan(Result):
    """Power of the lists at hand for a question, before its answer is looked at.

    Attributes:
        test: name of the lexicon.
        model: name of the vectors.
        power: wanted chance of detection.
        alpha: two-sided error of the test.
        size: smallest contrast that matters.
        detectable: smallest contrast that the words at hand detect with that power; None where it is undefined.
        power_now: chance of detecting `size` with the words at hand.
        targets: words in each target list that detect `size`, with the attributes at hand; None: more words are not
            enough, or undefined.
        attributes: words in each attribute list, with the targets at hand.
        both: words in each of all lists.
        bottleneck: role of the list that more words help most.
        lists: the four lists.
        drop: words to reconsider.
        candidates: words to add.
        reason: why numbers are undefined.
        warnings: what the reader should know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("lists", "drop", "candidates")
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("lists", "Lists"),
        RecordTable("drop", "Words to reconsider"),
        RecordTable("candidates", "Words to add"),
    )

    test: str
    model: str
    power: float
    alpha: float
    size: float
    detectable: float | None
    power_now: float | None
    targets: int | None
    attributes: int | None
    both: int | None
    bottleneck: str
    lists: tuple[ListPower, ...]
    drop: tuple[DoubtfulWord, ...]
    candidates: tuple[FurtherWord, ...]
    reason: str
    warnings: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """True where the lists detect the smallest contrast that matters with the wanted power."""
        return self.detectable is not None and self.detectable <= self.size

    def derived(self) -> JsonMapping:
        """Words needed by side, and whether the lists are long enough."""
        needed = {"targets": self.targets, "attributes": self.attributes, "both": self.both}
        return {"words_needed": needed, "enough": self.enough}

    def _title(self) -> str:
        return f"Power of {self.test} in {self.model}"

    def _headline(self) -> str:
        if self.detectable is None:
            return f"The power of {self.test} is unknown: {self.reason}."
        verdict = "enough for" if self.enough else "too few for"
        detectable, size = number_text(self.detectable, 3), number_text(self.size, 3)
        return (
            f"With power {self.power:g}, the lists of {self.test} detect a contrast of {detectable}: {verdict} {size}, "
            f"the smallest that matters in {self.model}."
        )

    def _remedies(self) -> Iterator[str]:
        """Yield ways to lists of which power is defined."""
        short = [row.role for row in self.lists if row.words < FEWEST]
        if short:
            yield f"Add words to the list {', '.join(short)}: the vectors must have {FEWEST} words of a list at least."
        if any(row.reason == NOT_THERE for row in self.drop):
            yield (
                "Remove words that are not in the vocabulary, or build the lists with these vectors "
                "(biasgauge lexicons build RECIPE --vectors VECTORS)."
            )

    def _sentences(self) -> Sequence[str]:
        if self.detectable is None:
            return tuple(self._remedies())
        lines = [f"A contrast of {number_text(self.size, 3)} is detected with a power of {self.power_now:.2f}."]
        if not self.enough:
            both = f"{self.both:,} words in each list are needed" if self.both else "no number of words is enough"
            lines.append(f"For a power of {self.power:g}, {both}.")
            sides = {"target": self.targets, "attribute": self.attributes}
            lines += [
                f"With {count:,} words in each {side} list alone it would be reached."
                for side, count in sides.items()
                if count is not None
            ]
            lines.append(f"The bottleneck is the list {self.bottleneck}.")
        if self.drop:
            lines.append(f"{counted(self.drop, 'word')} should be reconsidered.")
        return lines
