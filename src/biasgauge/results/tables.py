"""Tables of a summary as data: cells are values, and a renderer decides how a number looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, Literal

from biasgauge.errors import InternalError
from biasgauge.results.wording import level_text

Tone = Literal["good", "caution", "bad", "quiet", "plain"]
"""How a word is meant."""
Kind = Literal["text", "name", "lexicon", "number", "count", "share", "p", "estimate", "words", "mark"]
"""How a column's values are meant. "name": a measure or test as its registry calls it, shown by its display name;
"lexicon": the same of a lexicon; "estimate": an `Estimate`, value with interval; "share": 0 to 1, shown in percent;
"p": a p-value; "words": a list of words, or lists by name, shortened where there is little room; "mark": one of a few
words that a renderer may color."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: its head.
        kind: what its values are.
        digits: decimals of its numbers.
        tones: for marks, how each word is meant.
        about: what the column holds, where the head alone does not say it.
        source: in a `RecordTable`, the attribute of a record that it shows: "contrast", "result.contrast", a key where
            records are mappings, "." for the record itself, or a function of the record; by default its head in small
            letters with underscores.
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
        name = self.source or self.name.lower().replace(" ", "_")
        return record.get(name) if isinstance(record, Mapping) else attrgetter(name)(record)


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
        drop_constant: names of columns to leave out where all rows have one value, such as the model.
        name: base name of its files; by default `source`.
    """

    source: str
    title: str = ""
    columns: tuple[Column | str, ...] = ()
    note: str = ""
    most: int | None = None
    folded: bool = False
    drop_empty: bool = False
    drop_constant: tuple[str, ...] = ()
    name: str = ""

    def fill(self, result: object) -> Table:
        """The table of one result."""
        records = tuple(attrgetter(self.source)(result))
        columns = self.columns or (_record_columns(records[0]) if records else ())
        cells, heads = [], []
        for column in columns:
            named = column if isinstance(column, Column) else Column(column.replace("_", " "), source=column)
            values = [named.value_of(record) for record in records]
            if named.name in self.drop_constant and all(value == values[0] for value in values):
                continue
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
