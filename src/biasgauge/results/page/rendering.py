"""The page of any result: its summary, section by section, as one HTML file that needs nothing else.

Everything that comes from files is escaped, and the page's policy lets only its own scripts run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from calendar import month_name
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import date
from functools import partial
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from biasgauge._version import __version__
from biasgauge.core import JsonMapping
from biasgauge.io import utf8
from biasgauge.results.markup import table_csv
from biasgauge.results.names import with_display_names
from biasgauge.results.page.colors import style_sheet, themed
from biasgauge.results.page.drawings import Axis, DrawingView, drawing_view, forest_axis
from biasgauge.results.summary import Extra, Summary
from biasgauge.results.tables import Column, Shown, Table
from biasgauge.results.terms import first_met, texts_of
from biasgauge.results.wording import (
    MISSING,
    NUMERIC,
    cell_text,
    counted,
    figures_text,
    interval_text,
    number_text,
    signed_text,
    unbroken,
)

if TYPE_CHECKING:
    from biasgauge.results.summary import Chart
    from biasgauge.results.terms import Term

CHARTS, PLOTS, PICTURES, TABS = "charts-data", "plots-code", "pictures-data", "tab-"
_PACKAGE = "biasgauge.results.page"
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
class PageChart:
    """A Vega-Lite specification without its title, which the page sets in its own type.

    Attributes:
        key: unique name in the page.
        chart: its title, remark, group and width.
        spec: the specification.
        tables: the numbers of the figure, for those who cannot see it.
    """

    key: str
    chart: Chart
    spec: JsonMapping
    tables: tuple[Table, ...]

    @property
    def anchor(self) -> str:
        """Target of links to it."""
        return "figure-" + re.sub(r"[^\w-]+", "-", self.key)

    @property
    def remarks(self) -> list[str]:
        """Paragraphs of its remark."""
        return [line for line in self.chart.remark.split("\n") if line]


@dataclass(frozen=True)
class Section:
    """A part of the page: the summary that it shows, and what templates cannot make of it themselves.

    Attributes:
        summary: its content.
        anchor: unique name in the page.
        title: its heading.
        brief: long tables and lists of sentences are folded away.
        charts: its charts as specifications.
        drawings: its small drawings on their axes.
        axis: axis of its forest plot.
        parts: sections inside.
        rows: sections that open under the rows of its forest plot, by anchor.
        terms: those that a reader meets here first.
        appendix: whether it is folded away with others, or in such a section.
    """

    summary: Summary
    anchor: str
    title: str
    brief: bool = False
    charts: tuple[PageChart, ...] = ()
    drawings: tuple[DrawingView, ...] = ()
    axis: Axis | None = None
    parts: tuple[Section, ...] = ()
    rows: Mapping[str, Section] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()
    appendix: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences that are not folded away; none in an appendix beside a table or chart of the same numbers."""
        return () if self._only_figures else self.summary.sentences[: _BRIEF if self.brief else _LEADING]

    @property
    def more(self) -> tuple[str, ...]:
        """Sentences that are folded away."""
        return () if self._only_figures else (*self.summary.sentences[len(self.sentences) :], *self.summary.more)

    @property
    def _only_figures(self) -> bool:
        return self.appendix and any((self.summary.tables, self.summary.charts, self.summary.parts))

    @property
    def tables(self) -> list[Table]:
        """Tables that have rows; long ones are folded away where a page should be brief."""
        tables = [table for table in self.summary.tables if table.rows]
        return [replace(table, folded=True) if self.brief and len(table.rows) > _SHORT else table for table in tables]

    @property
    def extra(self) -> Markup:
        """Markup of its extra block."""
        return Markup() if self.summary.extra is None else _render_extra(self.summary.extra)

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of charts to choose from."""
        return tuple(dict.fromkeys(chart.chart.group for chart in self.charts if chart.chart.group))

    def walk(self) -> Iterator[Section]:
        """Yield this section and all sections inside."""
        yield self
        for section in (*self.rows.values(), *self.parts):
            yield from section.walk()

    def pictures(self) -> Iterator[tuple[str, str]]:
        """Yield the numbers of each drawing as CSV, by its name in the page."""
        if self.summary.forest is not None and self.summary.forest.drawn:
            yield f"{self.anchor}-forest", _csv_of(self.summary.forest.table())
        for view in self.drawings:
            yield f"{self.anchor}-{view.drawing.name}", _csv_of(view.drawing.file_table())


def summary_page(summary: Summary) -> str:
    """Render a whole page: the headline on top, then what it rests on.

    Warnings stand with what is on top: with the summary's own sentences, tables and charts, else after the second part.
    """
    sections: dict[str, Section] = {}
    explained = set[str]()
    front = [section for section in summary.parts if not section.appendix]
    last = min(_WARNED, len(front)) if len(front) == len(summary.parts) else max(1, len(front))
    content = summary.sentences or summary.more or summary.tables or summary.charts or summary.listings or summary.extra
    if content:
        sections["summary"] = _section(replace(summary, parts=()), "summary", "Summary", explained)
    for number, section in enumerate(summary.parts, 1):
        name = section.name or f"part-{number}"
        sections[name] = _section(section, name, section.title, explained, brief=summary.brief)
        if number == last and not content and summary.warnings:
            title = "Notes on the data"
            warnings = Summary(title, "", sentences=(*summary.warnings,))
            sections["warnings"] = Section(warnings, "warnings", title)
    extras = [section.extra for section in (summary, *summary.parts) if section.extra is not None]
    return _whole_page(summary, sections, extras)


def _section(
    summary: Summary, anchor: str, title: str, explained: set[str], *, brief: bool = False, appendix: bool = False
) -> Section:
    """Lay out a part of the page; `explained` are the terms that were explained above it, to which it adds its own."""
    terms = first_met(texts_of(summary), explained)
    appendix = appendix or summary.appendix
    return Section(
        summary,
        anchor,
        title,
        brief,
        charts=tuple(page_chart(anchor, chart) for chart in summary.charts),
        drawings=tuple(map(drawing_view, summary.drawings)),
        axis=None if summary.forest is None else forest_axis(summary.forest),
        parts=tuple(
            _section(part, f"{anchor}-{part.name or number}", part.title, explained, brief=brief, appendix=appendix)
            for number, part in enumerate(summary.other_parts)
        ),
        rows={  # each is read by itself
            f"{anchor}-{key}": _section(section, f"{anchor}-{key}", section.title, set(explained))
            for key, section in summary.rows_of_parts.items()
        },
        terms=terms,
        appendix=appendix,
    )


def _whole_page(summary: Summary, sections: Mapping[str, Section], extras: Sequence[Extra]) -> str:
    """Render sections with the data and the scripts that they need."""
    every = [inner for section in sections.values() for inner in section.walk()]
    charts = {chart.key: chart.spec for section in every for chart in section.charts}
    data = {CHARTS: charts} if charts else {}
    data |= {key: item for extra in extras for key, item in extra.data.items()}
    texts = {key: json.dumps(item, allow_nan=False, separators=(",", ":")) for key, item in data.items()}
    plots = {PLOTS: _package_file("vega.js")} if data else {}
    pictures = {name: text for section in every for name, text in section.pictures()}
    shown = {**texts, **({PICTURES: json.dumps(pictures)} if pictures else {})}
    scripts = [
        _package_file(name)
        for name in (
            *(("pictures.js", "figures.js") if shown else ()),
            *(("tabs.js",) if summary.tabs else ()),
            "page.js",
        )
    ]
    scripts += [_package_file(name, extra.package) for extra in extras for name in extra.scripts]
    tabs = {f"{TABS}{tab.name}": tab.render() for tab in summary.tabs}
    framed = [script for page in tabs.values() for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)]
    # sections above the contents: up to the forest plot, where there is one
    names = list(sections)
    last = next((index for index, name in enumerate(names) if sections[name].axis is not None), -1)
    terms = {term for section in every for term in section.terms}
    return (
        template_environment()
        .get_template("page.html")
        .render(
            summary=summary,
            sections=sections,
            first={name: sections[name] for name in names[: last + 1]},
            appendix={name: section for name, section in sections.items() if section.appendix},
            terms=sorted(terms, key=lambda term: term.name.lower()),
            version=__version__,
            policy=content_policy([*plots.values(), *scripts, *framed]),
            style=Markup(style_sheet("".join(texts.values())) + _package_file("page.css")),  # noqa: S704 - ours
            data={key: packed(text) for key, text in (shown | plots | tabs).items()},
            scripts=[Markup(item) for item in scripts],  # noqa: S704 - the package's own
        )
    )


def _render_extra(extra: Extra) -> Markup:
    """Render the markup of an extra block; what it inserts is escaped."""
    source = _package_file(extra.template, extra.package)
    return Markup(template_environment().from_string(source).render(**extra.context))  # noqa: S704 - escaped by the template


def _package_file(name: str, package: str = _PACKAGE) -> str:
    """Read a style sheet, script or template that ships with a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def template_environment() -> Environment:
    """Templates that escape everything and refuse names that they were not given."""
    environment = Environment(
        loader=PackageLoader("biasgauge.results", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: unbroken(value) if type(value) is str else value,  # scripts and data are Markup
    )
    environment.filters |= {
        "day": _day,
        "caption": _caption,
        "first_capital": lambda text: f"{text[:1].upper() if text[:1].isascii() else text[:1]}{text[1:]}",
        "closed": lambda text: text if not text or text.endswith((".", "?", "!", ")")) else f"{text}.",
        "signed": signed_text,
        "interval": partial(interval_text, signed=True),
    }
    environment.globals |= {"cell": page_cell, "NUMERIC": NUMERIC}
    return environment


def _day(iso: str) -> str:
    """Write 2026-11-16 as 16 November 2026."""
    day = date.fromisoformat(iso)
    return f"{day.day} {month_name[day.month]} {day.year}"


def content_policy(scripts: Iterable[str]) -> str:
    """Content security policy: the page may show itself and run exactly these scripts; load nothing, send nothing."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{script}'" for script in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def packed(text: str) -> str:
    """Text in zlib's format, in base64: letters, digits, + and / alone, so that nothing in it can end its element."""
    return base64.b64encode(zlib.compress(utf8(text), 9)).decode("ascii")


def _csv_of(table: Table) -> str:
    """Write the numbers of a drawing, to as many figures as anyone can use."""
    return table_csv(replace(table, rows=tuple(tuple(map(_six_figures, row)) for row in table.rows)))


def _six_figures(value: Any) -> Any:  # noqa: ANN401 - a cell of any kind
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if is_dataclass(value) and hasattr(value, "low"):
        return replace(value, **{name: _six_figures(getattr(value, name)) for name in ("value", "low", "high")})  # type: ignore[type-var]
    return value


def page_chart(section: str, chart: Chart) -> PageChart:
    """Draw a chart for the page: title and remarks apart, colors as the page's own, looks left to the page."""
    spec = with_display_names(chart.draw().to_dict(validate=False))
    for name in ("$schema", "config", "title"):
        spec.pop(name, None)
    spec["description"] = chart.title
    if chart.numbers is not None:
        tables = chart.numbers()
    else:
        rows = [rows for rows in spec.get("datasets", {}).values() if any(rows) and len(rows) <= _MOST_ROWS]
        tables = tuple(records_table(chart.title, records) for records in rows)
    return PageChart("-".join(filter(None, (section, chart.group, chart.name))), chart, themed(spec), tables)


def records_table(caption: str, records: Sequence[JsonMapping]) -> Table:
    """Table of the rows that a figure draws, to four significant digits; columns without any value are left out."""
    names = [name for name in dict.fromkeys(name for row in records for name in row) if not name.startswith("_")]
    columns = [name for name in names if any(row.get(name) not in (None, "") for row in records)]
    numeric = [all(row.get(name) is None or _is_number(row[name]) for row in records) for name in columns]
    heads = [
        Column(name.replace("_", " "), "number" if right else "text")
        for name, right in zip(columns, numeric, strict=True)
    ]
    return Table.of("numbers", caption, heads, [[_drawn_value(row.get(name)) for name in columns] for row in records])


def _drawn_value(value: object) -> object:
    return Shown(value, figures_text(value, _DIGITS)) if _is_number(value) else value  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class PageCell:
    """One cell: its text, a remark under it, what to sort by, how it is meant, where more is, words by set."""

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


def page_cell(value: Any, column: Column) -> PageCell:  # noqa: ANN401 - a cell of any kind
    """Lay out a cell: intervals and reasons stand small under their numbers."""
    if value is not None and column.kind == "estimate":
        if value.value is None:
            return PageCell("undefined", value.reason or "", mark="bad")
        ends = interval_text(value.low, value.high, column.digits)
        return PageCell(number_text(value.value, column.digits), ends.replace(" ", "\u00a0"), value.value)
    if value is not None and column.kind == "words":
        return _words_cell(value)
    plain = getattr(value, "value", value)
    order = float(plain) if isinstance(plain, int | float) and isfinite(plain) else None
    tone = column.tones.get(str(plain), "plain") if column.kind == "mark" else "plain"
    remark, link = (getattr(value, name, "") for name in ("remark", "link"))
    return PageCell(cell_text(value, column), remark, order, _MARKS.get(tone, ""), link)


def _words_cell(value: Sequence[str] | Mapping[str, Sequence[str]]) -> PageCell:
    sets = value if isinstance(value, Mapping) else {"": value}
    count = sum(map(len, sets.values()))
    if not count:
        return PageCell(MISSING, order=0.0)
    if count <= _FEW_WORDS and len(sets) == 1:
        return PageCell(", ".join(next(iter(sets.values()))), order=float(count))
    members = {name: ", ".join(words) for name, words in sets.items()}
    return PageCell(counted(count, "word"), order=float(count), words=members)


def _caption(table: Table) -> str:
    """Title and note of a table, as sentences."""
    if not table.note:
        return table.title
    return f"{table.title}{'' if table.title.endswith('.') else '.'} {table.note}"
