"""The page of any result: its summary, section by section, as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from biasgauge.core import JsonMapping
from biasgauge.results.markup import table_csv
from biasgauge.results.names import with_display_names
from biasgauge.results.page.colors import themed
from biasgauge.results.page.document import rendered, whole_page
from biasgauge.results.page.drawings import (
    BarsView,
    ForestView,
    HistogramView,
    StripView,
    drawing_view,
    forest_view,
)
from biasgauge.results.terms import first_met, texts_of
from biasgauge.results.wording import MISSING, NUMERIC, cell_text, counted, figures_text, interval_text, number_text

if TYPE_CHECKING:
    from biasgauge.results.blocks import Drawing
    from biasgauge.results.summary import Chart, Column, Summary, Table
    from biasgauge.results.terms import Term

_LEADING, _BRIEF = 12, 5
"""Sentences of a section that are not folded away, and those of a page that should be brief."""
_MOST_ROWS = 2_000
"""A figure of more rows than that has its numbers in the JSON beside the page."""
_FEW_WORDS = 12
"""A list of more words is folded away."""
_SHORT = 14
"""Rows of a table that a brief page does not fold away."""
_DIGITS = 4
_WARNED = 2
"""Where nothing stands on top, after which part warnings stand."""
_MARKS = {"good": "good", "caution": "part", "bad": "bad"}


@dataclass(frozen=True)
class Cell:
    """One cell: what it says, a remark under it, what to sort by, how it is meant, where more is, words by set."""

    text: str
    small: str = ""
    order: float | None = None
    mark: str = ""
    link: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Return whether its text is the number that it is sorted by."""
        if self.small or self.words or self.link:
            return False
        return re.fullmatch(r"−?[\d,]*\.?\d+", self.text) is not None


@dataclass(frozen=True)
class PageTable:
    """A table; columns named in `numbers` stand on the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()
    folded: bool = False


@dataclass(frozen=True)
class PageChart:
    """A Vega-Lite specification without its title, which the page sets in its own type.

    Attributes:
        key: what the page calls it; no two of a page are called the same.
        tables: the numbers of the figure, for those who cannot see it.
    """

    key: str
    title: str
    remarks: tuple[str, ...]
    spec: JsonMapping
    tables: tuple[PageTable, ...]
    group: str = ""
    width: str = "full"

    @property
    def anchor(self) -> str:
        """Its place in the page, which a link can name."""
        return "figure-" + re.sub(r"[^\w-]+", "-", self.key)


@dataclass(frozen=True)
class PageDrawing:
    """A small drawing, and its numbers for those who cannot see it; `key` is what the page calls it."""

    key: str
    view: StripView | HistogramView | BarsView
    table: PageTable


@dataclass(frozen=True)
class Section:
    """A part of the page: the summary that it shows, and what templates cannot make of it themselves.

    `anchor` is what the page calls it; parts that open under the rows of a forest plot are in `rows`, by anchor;
    `terms` are those that a reader meets here first.
    """

    summary: Summary
    anchor: str
    title: str
    warnings: tuple[str, ...]
    sentences: tuple[str, ...]
    more: tuple[str, ...]
    charts: tuple[PageChart, ...]
    tables: tuple[PageTable, ...]
    parts: tuple[Section, ...]
    extra: Markup
    brief: bool = False
    drawings: tuple[PageDrawing, ...] = ()
    forest: ForestView | None = None
    rows: Mapping[str, Section] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of charts to choose from."""
        return tuple(dict.fromkeys(chart.group for chart in self.charts if chart.group))

    def all_pictures(self) -> Iterable[tuple[str, str]]:
        """The numbers of each drawing of this and of all parts, as CSV, by what the page calls it."""
        if self.forest is not None and self.forest.drawn:
            yield f"{self.anchor}-forest", _csv_of(self.forest.forest.table())
        for drawing in self.drawings:
            yield drawing.key, _csv_of(drawing.view.drawing.file_table())
        for section in (*self.rows.values(), *self.parts):
            yield from section.all_pictures()

    def all_terms(self) -> Iterable[Term]:
        """Terms of this and of all parts; some may come more than once."""
        yield from self.terms
        for section in (*self.rows.values(), *self.parts):
            yield from section.all_terms()

    def all_charts(self) -> Iterable[PageChart]:
        """Charts of this and of all parts."""
        yield from self.charts
        for section in (*self.parts, *self.rows.values()):
            yield from section.all_charts()


def summary_page(summary: Summary) -> str:
    """A whole page: the headline on top, then what it rests on.

    Warnings stand with what is on top: with the summary's own sentences, tables and charts, else after the second part.
    """
    sections: dict[str, Section] = {}
    explained = set[str]()
    content = summary.sentences or summary.more or summary.tables or summary.charts or summary.listings or summary.extra
    if content:
        sections["summary"] = _section(summary, "summary", "Summary", explained, parts=False)
    for number, section in enumerate(summary.parts, 1):
        name = section.name or f"part-{number}"
        sections[name] = _section(section, name, section.title, explained, brief=summary.brief)
        if number == min(_WARNED, len(summary.parts)) and not content and summary.warnings:
            sections["warnings"] = _warnings(summary)
    extras = [section.extra for section in (summary, *summary.parts) if section.extra is not None]
    charts = {chart.key: chart.spec for section in sections.values() for chart in section.all_charts()}
    return whole_page(summary, sections, charts, extras)


def _warnings(summary: Summary) -> Section:
    title = "Before you trust a number"
    return Section(summary, "warnings", title, (), summary.warnings, (), (), (), (), Markup())


def _section(
    summary: Summary, name: str, title: str, explained: set[str], *, parts: bool = True, brief: bool = False
) -> Section:
    """A part of the page; `known` are the terms that were explained above it, to which it adds its own."""
    terms = first_met(texts_of(summary), explained)
    sentences, leading = summary.sentences, _BRIEF if brief else _LEADING
    inside = summary.rows_of_parts if parts else {}
    return Section(
        summary=summary,
        anchor=name,
        title=title,
        warnings=summary.warnings,
        sentences=sentences[:leading],
        more=(*sentences[leading:], *summary.more),
        charts=tuple(page_chart(name, chart) for chart in summary.charts),
        tables=tuple(_folded(page_table(table), brief) for table in summary.tables if table.rows),
        parts=tuple(
            _section(section, f"{name}-{section.name or number}", section.title, explained, brief=brief)
            for number, section in enumerate(summary.other_parts if parts else ())
        ),
        extra=Markup() if summary.extra is None else rendered(summary.extra),
        brief=brief,
        drawings=tuple(_drawing(name, drawing) for drawing in summary.drawings),
        forest=None if summary.forest is None else forest_view(summary.forest, name),
        rows={  # each is read by itself
            f"{name}-{key}": _section(section, f"{name}-{key}", section.title, set(explained))
            for key, section in inside.items()
        },
        terms=terms,
    )


def _folded(table: PageTable, brief: bool) -> PageTable:  # noqa: FBT001 - private
    """Fold long tables away where a page should be brief."""
    return replace(table, folded=True) if brief and len(table.rows) > _SHORT else table


def _drawing(section: str, drawing: Drawing) -> PageDrawing:
    return PageDrawing(f"{section}-{drawing.name}", drawing_view(drawing), page_table(drawing.table()))


def _csv_of(table: Table) -> str:
    """The numbers of a drawing, to as many figures as anyone can use."""
    return table_csv(replace(table, rows=tuple(tuple(map(_six_figures, row)) for row in table.rows)))


def _six_figures(value: Any) -> Any:  # noqa: ANN401 - a cell of any kind
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if is_dataclass(value) and hasattr(value, "low"):
        return replace(value, **{name: _six_figures(getattr(value, name)) for name in ("value", "low", "high")})  # type: ignore[type-var]
    return value


def page_chart(section: str, chart: Chart) -> PageChart:
    """A chart of the page: title and remarks apart, colors as the page's own, looks left to the page."""
    spec = with_display_names(chart.draw().to_dict(validate=False))
    for name in ("$schema", "config", "title"):
        spec.pop(name, None)
    spec["description"] = chart.title
    if chart.numbers is not None:
        tables = tuple(page_table(table) for table in chart.numbers())
    else:
        rows = [rows for rows in spec.get("datasets", {}).values() if any(rows) and len(rows) <= _MOST_ROWS]
        tables = tuple(records_table(chart.title, records) for records in rows)
    key = "-".join(filter(None, (section, chart.group, chart.name)))
    remarks = tuple(filter(None, chart.remark.split("\n")))
    return PageChart(key, chart.title, remarks, themed(spec), tables, chart.group, chart.width)


def page_table(table: Table) -> PageTable:
    """A table of the page: intervals and reasons stand small under their numbers."""
    note = f" {table.note}" if table.note else ""
    return PageTable(
        caption=f"{table.title}.{note}" if note and not table.title.endswith(".") else f"{table.title}{note}",
        columns=tuple(column.name for column in table.columns),
        rows=tuple(
            tuple(_cell(value, column) for value, column in zip(row, table.columns, strict=True)) for row in table.rows
        ),
        numbers=frozenset(index for index, column in enumerate(table.columns) if column.kind in NUMERIC),
        folded=table.folded,
    )


def records_table(caption: str, records: Sequence[JsonMapping]) -> PageTable:
    """A table of the rows that a figure draws; columns without any value are left out."""
    names = [name for name in dict.fromkeys(name for row in records for name in row) if not name.startswith("_")]
    columns = [name for name in names if any(row.get(name) not in (None, "") for row in records)]
    return PageTable(
        caption=caption,
        columns=tuple(name.replace("_", " ") for name in columns),
        rows=tuple(tuple(_drawn(row.get(name)) for name in columns) for row in records),
        numbers=frozenset(
            index for index, name in enumerate(columns) if all(_is_number(row.get(name)) for row in records)
        ),
    )


def _cell(value: Any, column: Column) -> Cell:  # noqa: ANN401 - a cell of any kind
    if value is not None and column.kind == "estimate":
        if value.value is None:
            return Cell("undefined", value.reason or "", mark="bad")
        ends = interval_text(value.low, value.high, column.digits)
        return Cell(number_text(value.value, column.digits), ends.replace(" ", "\u00a0"), value.value)
    if value is not None and column.kind == "words":
        return _words(value)
    plain = getattr(value, "value", value)
    order = float(plain) if isinstance(plain, int | float) else None
    tone = column.tones.get(str(plain), "plain") if column.kind == "mark" else "plain"
    remark, link = (getattr(value, name, "") for name in ("remark", "link"))
    return Cell(cell_text(value, column), remark, order, _MARKS.get(tone, ""), link)


def _words(value: Sequence[str] | Mapping[str, Sequence[str]]) -> Cell:
    sets = value if isinstance(value, Mapping) else {"": value}
    count = sum(map(len, sets.values()))
    if not count:
        return Cell(MISSING, order=0.0)
    if count <= _FEW_WORDS and len(sets) == 1:
        return Cell(", ".join(next(iter(sets.values()))), order=float(count))
    members = {name: ", ".join(words) for name, words in sets.items()}
    return Cell(counted(count, "word"), order=float(count), words=members)


def _drawn(value: object) -> Cell:
    """A value of a figure's data: numbers to four significant digits."""
    if value is None:
        return Cell(MISSING)
    if isinstance(value, bool):
        return Cell("yes" if value else "no", order=float(value))
    if not isinstance(value, int | float):
        return Cell(str(value))
    return Cell(figures_text(value, _DIGITS), order=float(value) if isfinite(value) else None)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
