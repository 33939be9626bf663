"""Summary of a result as data: sentences, tables and charts that every renderer shows in its own way.

No analysis prints, and no renderer knows an analysis. Cells are values, not text: a renderer decides how a number
looks, so that a terminal, a page, a spreadsheet and a paper show the same thing. Sentences are made from values at the
end and are never read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, Literal

from biasgauge.errors import InternalError
from biasgauge.results.blocks import Drawing, Forest, Quote, Tile, Tone
from biasgauge.results.wording import level_text

Kind = Literal["text", "name", "number", "count", "share", "p", "estimate", "words", "mark"]
"""How a column's values are meant. "name": a measure or test as its registry calls it, shown by its display name;
"estimate": an `Estimate`, value with interval; "share": 0 to 1, shown in percent; "p": a p-value; "words": a list of
words, or lists by name, shortened where there is little room; "mark": one of a few words that a renderer may color."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: its head.
        kind: what its values are.
        digits: decimals of its numbers.
        tones: for marks, how each word is meant.
        about: what the column holds, where the head alone does not say it.
        source: in a `RecordTable`, the attribute of a record that it shows: "contrast", "result.contrast", "." for the
            record itself, or a function of the record; by default its head in small letters with underscores.
    """

    name: str
    kind: Kind = "text"
    digits: int = 2
    tones: Mapping[str, Tone] = field(default_factory=dict)
    about: str = ""
    source: str | Callable[[Any], Any] = ""

    def value_of(self, record: Any) -> Any:  # noqa: ANN401 - a record of any kind
        """The value that this column shows of a record."""
        if callable(self.source):
            return self.source(record)
        if self.source == ".":
            return record
        return attrgetter(self.source or self.name.lower().replace(" ", "_"))(record)


@dataclass(frozen=True)
class Shown:
    """A cell with a look of its own: a number as a paper printed it, seconds as "2.5 h".

    Attributes:
        value: what files hold and columns are sorted by.
        text: how it looks.
        remark: what stands small under it where there is room.
        link: the part of a page that has more, by its name.
    """

    value: Any
    text: str
    remark: str = ""
    link: str = ""


@dataclass(frozen=True)
class Listing:
    """Text that is shown as it stands, folded away where that can be: a file, a command."""

    title: str
    text: str


@dataclass(frozen=True)
class Table:
    """A table of values.

    Attributes:
        name: what files of it are called.
        title: what it shows.
        columns: its columns.
        rows: values, one for each column; None where there is none.
        note: what the reader should know to read it.
        most: rows that a renderer with little room shows; None for all.
        folded: only for those who ask: a page folds it away, a terminal leaves it to the page.
        one_line: a terminal cuts long text with an ellipsis, so that every row takes one line.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    most: int | None = None
    folded: bool = False
    one_line: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InternalError(f"a row of {self.name!r} has {len(row)} cells for {len(self.columns)} columns")

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        columns: Sequence[object],
        rows: Sequence[Sequence[Any]],
        **more: Any,  # noqa: ANN401 - note, most, folded
    ) -> Table:
        """A table from sequences; a column is a `Column`, or a plain string for a column of text."""
        heads = tuple(column if isinstance(column, Column) else Column(str(column)) for column in columns)
        return cls(name, title, heads, tuple(tuple(row) for row in rows), **more)

    def without_empty(self) -> Table:
        """The same table without columns that have no value in any row."""
        filled = [index for index in range(len(self.columns)) if any(row[index] not in (None, "") for row in self.rows)]
        rows = tuple(tuple(row[index] for index in filled) for row in self.rows)
        return replace(self, columns=tuple(self.columns[index] for index in filled), rows=rows)


@dataclass(frozen=True)
class RecordTable:
    """A table whose rows are records of a result, declared on its class: see `Result.record_tables`.

    Attributes:
        source: the attribute of the result that holds the records.
        title: what it shows.
        columns: a `Column`, or the name of an attribute, whose kind then follows from its values; without any, all
            fields of the records. "{level}" and "{method}" in the head of a column of estimates are those of their
            intervals.
        note, most, folded: as those of a `Table`.
        drop_empty: leave out columns that have no value in any row.
        name: base name of its files; by default `source`.
    """

    source: str
    title: str = ""
    columns: tuple[Column | str, ...] = ()
    note: str = ""
    most: int | None = None
    folded: bool = False
    drop_empty: bool = False
    name: str = ""

    def fill(self, result: object) -> Table:
        """The table of one result."""
        records = tuple(attrgetter(self.source)(result))
        columns = self.columns or (_record_columns(records[0]) if records else ())
        cells, heads = [], []
        for column in columns:
            named = column if isinstance(column, Column) else Column(column.replace("_", " "), source=column)
            values = [named.value_of(record) for record in records]
            cells.append(values)
            heads.append(_complete_head(named, values, infer=isinstance(column, str)))
        rows = tuple(zip(*cells, strict=True))
        table = Table(self.name or self.source, self.title, tuple(heads), rows, self.note, self.most, self.folded)
        return table.without_empty() if self.drop_empty else table


def _record_columns(record: Any) -> tuple[Column | str, ...]:  # noqa: ANN401 - a record of any kind
    """Columns of all fields of a record; of one that is an estimate itself, its labels and then the estimate."""
    from biasgauge.core import Estimate

    names = [field_of_record.name for field_of_record in fields(record)]
    if not isinstance(record, Estimate):
        return tuple(names)
    inherited = {field_of_record.name for field_of_record in fields(Estimate)}
    return *(name for name in names if name not in inherited), Column("value [{level}]", "estimate", source="."), "n"


def _complete_head(column: Column, values: Sequence[Any], *, infer: bool) -> Column:
    """The column with its level written out and, where it has to be inferred, the kind of its values."""
    from biasgauge.core import Estimate

    present = [value for value in values if value is not None]
    kinds: dict[type, Kind] = {
        Estimate: "estimate", bool: "text", int: "count", float: "number", list: "words", tuple: "words", dict: "words"
    }  # fmt: skip
    if infer and present:
        column = replace(column, kind=next((kinds[kind] for kind in kinds if isinstance(present[0], kind)), "text"))
    interval = next((value for value in present if isinstance(value, Estimate)), Estimate(value=None))
    name = column.name.replace("{level}", level_text(interval.level)).replace("{method}", interval.method)
    return replace(column, name=name)


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
