"""Summary of a result as data: sentences, tables, drawings and charts that every renderer shows in its own way.

No analysis prints, and no renderer knows an analysis: a terminal, a page, a spreadsheet and a paper show the same
values. Sentences are made from values at the end and are never read back. Drawings need no script, and each block has
a table for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from biasgauge.results.forest import Forest, Shape, by_group
from biasgauge.results.tables import Column, Table, Tone


@dataclass(frozen=True)
class Listing:
    """Text that is shown as it stands, folded away where that can be: a file, a command."""

    title: str
    text: str


@dataclass(frozen=True)
class Tab:
    """A whole page inside this one, which a link of its header opens.

    Attributes:
        title: of the link.
        name: target of the link.
        render: renders the page, which loads nothing, and whose scripts stand in it.
    """

    title: str
    name: str
    render: Callable[[], str]


@dataclass(frozen=True)
class Tile:
    """One number of a first screen: as it is shown, what it counts, how it is meant, and the mark beside it."""

    value: str
    label: str
    tone: Tone = "plain"
    shape: Shape = ""


@dataclass(frozen=True)
class Quote:
    """Text that a reader may copy as it stands.

    Attributes:
        title: its subject.
        text: the text to be copied.
        caveat: what has to be known beside it; not copied.
        mark, tone, shape: the decision in a word, how it is meant, and the mark beside it.
    """

    title: str
    text: str
    caveat: str = ""
    mark: str = ""
    tone: Tone = "plain"
    shape: Shape = ""


@dataclass(frozen=True)
class Drawing:
    """A small drawing that needs no script.

    Attributes:
        kind: how it is drawn.
        name: base name of its files and of links to it.
        title: the claim that it shows.
        remark: advice on reading it.
        axis: what the axis, or the length of a bar, measures.
    """

    kind: ClassVar[str]
    name: str
    title: str
    remark: str
    axis: str

    def table(self) -> Table:
        """Return the same numbers as a table."""
        raise NotImplementedError

    def file_table(self) -> Table:
        """Return the numbers for a file, where a table on a page would be too long."""
        return self.table()

    def _table(self, columns: Sequence[object], rows: Sequence[Sequence[Any]]) -> Table:
        return Table.of(self.name, self.title, columns, rows, folded=True)


@dataclass(frozen=True)
class Dot:
    """One value of a strip; `apart`: to be seen, such as a dissenter: drawn in another color, with its label."""

    label: str
    value: float
    apart: bool = False


@dataclass(frozen=True)
class Strip(Drawing):
    """Values along one axis, a dot each, 0 drawn.

    Attributes:
        dots: the values.
        of: what one dot is, in one word.
    """

    kind: ClassVar[str] = "strip"

    dots: tuple[Dot, ...]
    of: str = "value"

    def table(self) -> Table:
        """Return the same numbers as a table."""
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
        """Return the same numbers as a table."""
        numbers = [Column(name, "number", 3) for name in ("marked", "95 % within ±", "least", "most")]
        row = (self.at, self.band, self.edges[0], self.edges[-1], sum(self.counts))
        return self._table([*numbers, Column("count", "count")], (row,))

    def file_table(self) -> Table:
        """Return every bin, and beside it the value to be compared with them."""
        low, high, marked = (Column(name, "number", 3) for name in ("from", "to", "marked"))
        bins = zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        return self._table([low, high, Column("count", "count"), marked], [(*cells, self.at) for cells in bins])


@dataclass(frozen=True)
class Bar:
    """One term of a sum: its label and value, the list that it belongs to, and the sum `without` it where known."""

    label: str
    value: float
    group: str = ""
    without: float | None = None


@dataclass(frozen=True)
class Bars(Drawing):
    """Terms of a sum, the largest first.

    Attributes:
        bars: the terms.
        most: how many of each group are drawn; the table has all.
        of: what one bar is, in one word.
    """

    kind: ClassVar[str] = "bars"

    bars: tuple[Bar, ...]
    most: int = 6
    of: str = "word"

    @property
    def groups(self) -> dict[str, list[Bar]]:
        """Bars by group, in order."""
        return by_group(self.bars)

    def table(self) -> Table:
        """Return the same numbers as a table."""
        columns = [self.of, "list", Column(self.axis, "number", 4), Column("contrast without it", "number", 3)]
        return self._table(columns, [(bar.label, bar.group, bar.value, bar.without) for bar in self.bars])


@dataclass(frozen=True)
class Chart:
    """A chart, drawn when a renderer asks for it.

    Attributes:
        name: what files of it are called.
        title: the claim that it shows.
        remark: how to read it; each line stands on its own.
        draw: gives the Altair chart, without title and looks.
        group: charts of one group are shown together, one group at a time; empty: always shown.
        width: of the grid that all charts stand on: one column of a paper, or the full page.
        numbers: gives tables for those who cannot see it, where those of its own data would not be clear.
    """

    name: str
    title: str
    remark: str
    draw: Callable[[], Any]
    group: str = ""
    numbers: Callable[[], tuple[Table, ...]] | None = None
    width: Literal["column", "full"] = "full"

    def drawn(self) -> Any:  # noqa: ANN401 - the library has no stubs
        """The Altair chart with its title, its remark and the looks that all charts have."""
        from biasgauge.results.drawing import offline, styled

        return offline(styled(self.draw(), self.title, self.remark, self.width))

    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification."""
        spec: dict[str, Any] = self.drawn().to_dict()
        return spec


@dataclass(frozen=True)
class Extra:
    """Content of a page beyond sentences, tables and charts: markup with its own data and scripts.

    Attributes:
        package: where the files are, such as "biasgauge.audits".
        template: a Jinja template that sees the names of `context`; everything that it inserts is escaped.
        context: what the template tells.
        data: JSON for the scripts, by the id of its element.
        scripts: files that run on the page; each sets `extras[id]` to a function of its data that draws, and gives a
            function that draws again.
    """

    package: str
    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """Summary of a result.

    Attributes:
        title: what was analyzed.
        headline: the answer, in one sentence.
        sentences: what else to know, most important first.
        tables: the numbers.
        charts: the pictures.
        parts: what it is made of, each summed up in the same way.
        warnings: what the reader should know before trusting any number.
        name: the part's place in a page, in small letters and hyphens.
        question: what the part answers, where it is one of several.
        about: what it is of and how to read it, under the title; a terminal leaves it to the page.
        listings: text to be shown as it stands.
        more: sentences for those who ask: a page folds them away, a terminal leaves them to the page.
        mark: one word that says how it ended, such as a decision.
        tone: how that word is meant.
        brief: a terminal shows titles, headlines and sentences of its parts, and leaves their tables to the page.
        extra: what only a page can show.
        date: the day on which it was made, as 2026-11-16; empty where it does not matter.
        caveat: what no reader should miss, under the headline.
        tiles: the few numbers of a first screen.
        forest: a forest plot; the parts that its rows name open under them, and are shown nowhere else.
        drawings: small drawings that need no script.
        quotes: text to be taken over.
        appendix: a page folds it away with the others, and lists it with its headline.
        tabs: whole pages inside this one.
    """

    title: str
    headline: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    parts: tuple[Summary, ...] = ()
    warnings: tuple[str, ...] = ()
    name: str = ""
    question: str = ""
    about: str = ""
    listings: tuple[Listing, ...] = ()
    more: tuple[str, ...] = ()
    mark: str = ""
    tone: Tone = "plain"
    brief: bool = False
    extra: Extra | None = None
    date: str = ""
    caveat: str = ""
    tiles: tuple[Tile, ...] = ()
    forest: Forest | None = None
    drawings: tuple[Drawing, ...] = ()
    quotes: tuple[Quote, ...] = ()
    appendix: bool = False
    tabs: tuple[Tab, ...] = ()

    def __str__(self) -> str:
        """Its text, as `save` writes it to a .txt file."""
        from biasgauge.results.markup import plain_text

        return plain_text(self)

    @property
    def rows_of_parts(self) -> dict[str, Summary]:
        """The parts that rows of the forest plot name, by name."""
        named = {row.part for row in self.forest.rows if row.part} if self.forest else set()
        return {section.name: section for section in self.parts if section.name in named}

    @property
    def other_parts(self) -> tuple[Summary, ...]:
        """The parts that stand by themselves."""
        inside = self.rows_of_parts
        return tuple(section for section in self.parts if section.name not in inside)

    def named_charts(self, start: str = "") -> Iterator[tuple[str, Chart]]:
        """Charts of this and of all parts, each with a name that no other has: part, group, its own."""
        for chart in self.charts:
            yield f"{start}{f'{chart.group}-' if chart.group else ''}{chart.name}", chart
        for section in self.parts:
            yield from section.named_charts(f"{section.name}-" if section.name else start)

    def all_tables(self) -> Iterator[Table]:
        """Tables of this and of all parts, in order; a forest plot is one."""
        if self.forest is not None:
            yield self.forest.table()
        yield from self.tables
        for section in self.parts:
            yield from section.all_tables()
