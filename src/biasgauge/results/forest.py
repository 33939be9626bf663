"""Forest plots as data: questions with intervals on one axis, their decisions, and their certainty with footnotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from biasgauge.results.tables import Column, Table, Tone

if TYPE_CHECKING:
    from biasgauge.core import Estimate

Shape = Literal["", "full", "half", "cross", "ring", "query", "dash"]
"""A mark that says the same as its color: filled circle, half-filled circle, cross, ring, question mark, dash."""


class _InGroup(Protocol):
    @property
    def group(self) -> str: ...


Grouped = TypeVar("Grouped", bound=_InGroup)


@dataclass(frozen=True)
class Grade:
    """Certainty of an answer, as tables of findings show it.

    Attributes:
        level: in a word or two: "very low".
        points: filled circles, of four.
        notes: a footnote for each reason for which it is not the highest.
    """

    level: str
    points: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForestRow:
    """One line of a forest plot.

    Attributes:
        claim: the question or the claim, in plain language.
        detail: test, words, p, and what speaks against it; stands small under the claim.
        mark, tone, shape: the decision in a word, how it is meant, and the mark beside it and on the axis.
        group: rows of one group stand together.
        estimate: value with its interval; None where there is none.
        part: name of the part of the summary that opens under the line; may be empty.
        drawn: whether its interval belongs on the common axis.
        grade: how certain it is; None where nobody rated it.
    """

    claim: str
    detail: str
    mark: str
    tone: Tone = "plain"
    shape: Shape = ""
    group: str = ""
    estimate: Estimate | None = None
    part: str = ""
    drawn: bool = True
    grade: Grade | None = None


@dataclass(frozen=True)
class Forest:
    """Values with intervals on one axis, grouped, each with what was decided about it.

    Attributes:
        name: base name of its files.
        title: what it shows.
        remark: advice on reading it.
        axis: title of the axis.
        rows: its lines, in order.
        band: values between − and + this are too small to matter; None where nobody said.
        digits: decimals of the numbers.
        notes: paragraphs under the lines, on how to read them.
    """

    name: str
    title: str
    remark: str
    axis: str
    rows: tuple[ForestRow, ...]
    band: float | None = None
    digits: int = 3
    notes: tuple[str, ...] = ()

    @property
    def graded(self) -> bool:
        """Return whether any line has a certainty."""
        return any(row.grade is not None for row in self.rows)

    @property
    def footnotes(self) -> dict[str, str]:
        """Letter of each footnote, in the order of the lines: from a to z, then aa."""
        notes = dict.fromkeys(note for row in self.rows if row.grade is not None for note in row.grade.notes)
        return dict(zip(notes, _letters(), strict=False))

    @property
    def groups(self) -> dict[str, list[ForestRow]]:
        """Rows by group, in order."""
        return by_group(self.rows)

    @property
    def drawn(self) -> list[ForestRow]:
        """Rows that have a number to draw."""
        return [row for row in self.rows if row.drawn and row.estimate is not None and row.estimate.defined]

    def table(self) -> Table:
        """Return the same numbers as a table."""
        tones: dict[str, Tone] = {row.mark: row.tone for row in self.rows}
        number = Column(self.axis, "estimate", self.digits)
        columns = ["group", "question", Column("decision", "mark", tones=tones), number, "evidence"]
        rows: list[tuple[Any, ...]] = [(row.group, row.claim, row.mark, row.estimate, row.detail) for row in self.rows]
        if self.graded:
            columns += ["certainty", "lowered for"]
            grades = [
                ("", "") if row.grade is None else (row.grade.level, "; ".join(row.grade.notes)) for row in self.rows
            ]
            rows = [(*row, *grade) for row, grade in zip(rows, grades, strict=True)]
        return Table.of(self.name, self.title, columns, rows)


def _letters() -> Iterator[str]:
    """Yield the letters from a to z, then aa, ab and so on."""
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))


def by_group(rows: Sequence[Grouped]) -> dict[str, list[Grouped]]:
    """Return rows by their group, in order."""
    groups: dict[str, list[Grouped]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return groups
