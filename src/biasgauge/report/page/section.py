"""What a section of the page is made of: sentences, charts and tables, all of it plain data."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from biasgauge.report.page.colours import themed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MOST_ROWS = 2_000
"""A figure of more rows than that has its numbers in the JSON beside the page."""
_DIGITS = 4
_NONE = "–"


@dataclass(frozen=True)
class Cell:
    """One cell: what it says, a remark under it, the number to sort by, and whether that is good, part or bad."""

    text: str
    small: str = ""
    order: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table; columns named in `numbers` stand on the right and are sorted by number."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, caption: str, records: Sequence[Mapping[str, Any]]) -> Table:
        """From rows of a frame or of a figure; columns without any value are left out."""
        names = [name for name in dict.fromkeys(name for row in records for name in row) if not name.startswith("_")]
        kept = [name for name in names if any(row.get(name) not in (None, "") for row in records)]
        numbers = [name for name in kept if all(_is_number(row.get(name)) for row in records)]
        return cls(
            caption=caption,
            columns=tuple(name.replace("_", " ") for name in kept),
            rows=tuple(tuple(cell(row.get(name)) for name in kept) for row in records),
            numbers=frozenset(name.replace("_", " ") for name in numbers),
        )


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification without its title, which the page sets in its own type.

    Attributes:
        key: what the page calls it; no two of a page are called the same.
        group: charts of one group are shown together, one group at a time; empty: always shown.
        tables: the numbers of the figure, for those who cannot see it.
    """

    key: str
    title: str
    remarks: tuple[str, ...]
    spec: Mapping[str, Any]
    tables: tuple[Table, ...]
    group: str = ""

    @classmethod
    def of(cls, key: str, chart: Any, group: str = "") -> Chart:  # noqa: ANN401 - an Altair chart
        """From an Altair chart: title and remarks apart, colours as the page's own, looks left to the page."""
        spec = chart.to_dict(validate=False)
        for name in ("$schema", "config"):
            spec.pop(name, None)
        title = spec.pop("title", {})
        title = title if isinstance(title, dict) else {"text": title}
        remarks = title.get("subtitle", [])
        text = str(title.get("text", key))
        tables = tuple(Table.of(text, rows) for rows in spec.get("datasets", {}).values() if len(rows) <= _MOST_ROWS)
        remarks = tuple([remarks] if isinstance(remarks, str) else remarks)
        spec["description"] = text
        return cls(key=key, title=text, remarks=remarks, spec=themed(spec), tables=tables, group=group)


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Attributes:
        title: its heading, also in the table of contents.
        about: what it is, in a paragraph.
        sentences: what was found, the most important first.
        more: what else was found, folded away.
        charts: by group, where there are groups: the reader chooses one.
        tables: every number, readable without any script.
        template: a template of its own for what cannot be said so; it sees `result`, `section` and what is in `extra`.
        extra: what only that template needs.
    """

    title: str
    about: str = ""
    sentences: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    template: str = ""
    extra: Mapping[str, Any] | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of charts to choose from."""
        return tuple(dict.fromkeys(one.group for one in self.charts if one.group))


def cell(value: object, small: str = "", mark: str = "") -> Cell:
    """A cell of text or of a number, to four significant digits; a dash for None."""
    if value is None:
        return Cell(_NONE, small, mark=mark)
    if isinstance(value, bool):
        return Cell("yes" if value else "no", small, float(value), mark)
    if isinstance(value, int):
        return Cell(f"{value:,}", small, float(value), mark)
    if isinstance(value, float):
        return Cell(shown(value), small, value if isfinite(value) else None, mark)
    return Cell(str(value), small, mark=mark)


def shown(value: float | None, digits: int | None = None) -> str:
    """A number as a reader wants it: so many decimals, or four significant digits; a proper minus."""
    if value is None or not isfinite(value):
        return _NONE
    if digits is not None:
        text = f"{value:.{digits}f}"
    else:
        text = f"{value:,.0f}" if value.is_integer() and abs(value) < 10**9 else f"{value:.{_DIGITS}g}"
    return text.replace("-", "−")


def number(value: float | None, digits: int = 2, small: str = "") -> Cell:
    """A cell of a number with so many decimals."""
    return Cell(shown(value, digits), small, value)


def between(low: float | None, high: float | None, digits: int = 2) -> Cell:
    """A cell of an interval, sorted by its lower end."""
    return Cell(f"{shown(low, digits)} to {shown(high, digits)}", order=low)


def undefined(reason: str | None, columns: int) -> tuple[Cell, ...]:
    """Cells of a row that cannot be computed, with the reason."""
    return (Cell("undefined", reason or "", mark="bad"), *[Cell(_NONE)] * (columns - 1))


def charts_of(section: str, drawn: Mapping[str, Any], group: str = "", only: Iterable[str] = ()) -> tuple[Chart, ...]:
    """Charts by name, as `figures` gives them; of those in `only`, if any are named. One without data is left out."""
    place = f"{section}-{group}" if group else section
    chosen = {name: drawn[name] for name in (list(only) or drawn) if name in drawn}
    return tuple(
        Chart.of(f"{place}-{name}", chart, group) for name, chart in chosen.items() if not _is_empty(chart.data)
    )


def _is_empty(data: object) -> bool:
    return hasattr(data, "columns") and len(data) == 0  # type: ignore[arg-type]  # a frame has a length


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
