"""Blocks of a summary beside sentences, tables and charts: tiles, a forest plot, small drawings, text to be quoted.

Data alone, as in `summary`: a page draws them without any script, a terminal prints them, and each has a table for
those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from biasgauge.results.summary import Table

Tone = Literal["good", "caution", "bad", "quiet", "plain"]
"""How a word is meant."""

Shape = Literal["", "full", "half", "cross", "ring", "query", "dash"]
"""A mark that says the same as its color: filled circle, half-filled circle, cross, ring, question mark, dash."""


@dataclass(frozen=True)
class Tile:
    """One number of a first screen.

    Attributes:
        value: the number, as it is shown.
        label: what it counts.
        tone: how it is meant.
        shape: the mark beside it.
    """

    value: str
    label: str
    tone: Tone = "plain"
    shape: Shape = ""


@dataclass(frozen=True)
class Quote:
    """Text that a reader may take over as it stands.

    Attributes:
        title: what it is about.
        text: what is copied.
        caveat: what has to be known beside it; not copied.
        mark: one word that says how it ended.
        tone: how that word is meant.
        shape: the mark beside it.
    """

    title: str
    text: str
    caveat: str = ""
    mark: str = ""
    tone: Tone = "plain"
    shape: Shape = ""


@dataclass(frozen=True)
class ForestRow:
    """One line of a forest plot.

    Attributes:
        claim: what the line is about, in plain language.
        detail: test, words, p, and what speaks against it; stands small under the claim.
        mark: the decision in a word.
        tone: how that word is meant.
        group: rows of one group stand together.
        estimate: value with its interval; None where there is none.
        part: name of the part of the summary that opens under the line; may be empty.
        shape: the mark beside it, and on the axis.
        drawn: whether its interval belongs on the common axis.
    """

    claim: str
    detail: str
    mark: str
    tone: Tone = "plain"
    shape: Shape = ""
    group: str = ""
    estimate: Any = None
    part: str = ""
    drawn: bool = True


@dataclass(frozen=True)
class Forest:
    """Values with intervals on one axis, grouped, each with what was decided about it.

    Attributes:
        name: what files of it are called.
        title: what it shows.
        remark: how to read it.
        axis: what the axis measures.
        rows: its lines, in order.
        band: values between − and + this are too small to matter; None where nobody said.
        digits: decimals of the numbers.
    """

    name: str
    title: str
    remark: str
    axis: str
    rows: tuple[ForestRow, ...]
    band: float | None = None
    digits: int = 3

    @property
    def groups(self) -> dict[str, tuple[ForestRow, ...]]:
        """Rows by group, in order."""
        names = dict.fromkeys(row.group for row in self.rows)
        return {name: tuple(row for row in self.rows if row.group == name) for name in names}

    def table(self) -> Table:
        """The same numbers as a table."""
        from biasgauge.results.summary import Column, Table

        tones: dict[str, Tone] = {row.mark: row.tone for row in self.rows}
        number = Column(self.axis, "estimate", self.digits)
        columns = ["group", "question", Column("decision", "mark", tones=tones), number, "evidence"]
        rows = [(row.group, row.claim, row.mark, row.estimate, row.detail) for row in self.rows]
        return Table.of(self.name, self.title, columns, rows)


@dataclass(frozen=True)
class Dot:
    """One value of a strip.

    Attributes:
        label: what it is of.
        value: where it stands.
        apart: whether it is one that the reader should see, such as a dissenter: drawn in another color, with its name.
    """

    label: str
    value: float
    apart: bool = False


@dataclass(frozen=True)
class Drawing:
    """A small drawing that needs no script.

    Attributes:
        kind: how it is drawn.
        name: what links to it and files of it are called.
        title: the claim that it shows.
        remark: how to read it.
        axis: what the axis, or the length of a bar, measures.
    """

    kind: ClassVar[str]
    name: str
    title: str
    remark: str
    axis: str

    def table(self) -> Table:
        """The same numbers as a table."""
        raise NotImplementedError

    def file_table(self) -> Table:
        """The numbers for a file, where a table on a page would be too long."""
        return self.table()

    def _table(self, columns: Sequence[object], rows: Sequence[Sequence[Any]]) -> Table:
        from biasgauge.results.summary import Table

        return Table.of(self.name, self.title, columns, rows, folded=True)


@dataclass(frozen=True)
class Strip(Drawing):
    """Values along one axis, a dot each, 0 drawn.

    Attributes:
        dots: the values.
        at: a value to compare them with, drawn as a line; None for none.
        of: what one dot is, in one word.
    """

    kind: ClassVar[str] = "strip"

    dots: tuple[Dot, ...]
    at: float | None = None
    of: str = "value"

    def table(self) -> Table:
        """The same numbers as a table."""
        from biasgauge.results.summary import Column

        rows = [(dot.label, dot.value) for dot in sorted(self.dots, key=lambda dot: -dot.value)]
        return self._table([self.of, Column(self.axis, "number", 3)], rows)


@dataclass(frozen=True)
class Histogram(Drawing):
    """Counts of values in bins, with one value marked.

    Attributes:
        edges: of the bins.
        counts: in each bin.
        at: the value to be compared with them.
        band: most of them lie between − and + this; None where nobody said.
    """

    kind: ClassVar[str] = "histogram"

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    at: float
    band: float | None = None

    def table(self) -> Table:
        """The same numbers as a table."""
        from biasgauge.results.summary import Column

        columns = [Column("marked", "number", 3), Column("95 % within ±", "number", 3), Column("least", "number", 3),
                Column("most", "number", 3), Column("count", "count")]  # fmt: skip
        row = (self.at, self.band, self.edges[0], self.edges[-1], sum(self.counts))
        return self._table(columns, (row,))

    def file_table(self) -> Table:
        """Every bin, and beside it the value to be compared with them."""
        from biasgauge.results.summary import Column

        numbers = [Column(name, "number", 3) for name in ("from", "to", "marked")]
        bins = zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        return self._table(
            [*numbers[:2], Column("count", "count"), numbers[2]],
            [(low, high, count, self.at) for low, high, count in bins],
        )


@dataclass(frozen=True)
class Bar:
    """One part of a sum.

    Attributes:
        label: what it is of.
        value: how much it adds.
        group: what it belongs to.
        without: what the sum would be without it; None where nobody knows.
    """

    label: str
    value: float
    group: str = ""
    without: float | None = None


@dataclass(frozen=True)
class Bars(Drawing):
    """Terms of a sum, the largest first.

    Attributes:
        bars: the parts.
        most: how many of each group are drawn; the table has all.
        of: what one bar is, in one word.
    """

    kind: ClassVar[str] = "bars"

    bars: tuple[Bar, ...]
    most: int = 6
    of: str = "word"

    def table(self) -> Table:
        """The same numbers as a table."""
        from biasgauge.results.summary import Column

        columns = [self.of, "list", Column(self.axis, "number", 4), Column("contrast without it", "number", 3)]
        rows = [(bar.label, bar.group, bar.value, bar.without) for bar in self.bars]
        return self._table(columns, rows)
