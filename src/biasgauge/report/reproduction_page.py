"""The page of a reproduced paper: one HTML file that needs nothing else, with JSON and CSV beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge._version import __version__
from biasgauge.report.page.document import save_page, template, whole_page
from biasgauge.report.page.section import Cell, Section, Table

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from biasgauge.papers import Reproduction, Row

_COLUMNS = ("What", "Published", "Its rule, here", "Corrected", "State", "Why", "Where")
_NUMBERS = frozenset({"Published", "Its rule, here", "Corrected"})
_MARKS = {"agrees": "good", "differs": "bad", "not checked": "part"}
_NONE = "–"


def reproduction_page(result: Reproduction) -> str:
    """The whole page as HTML: counts, one sortable table for each part, what is missing and where to get it."""
    return whole_page("reproduction.html", result, _sections(result))


def reproduction_table(result: Reproduction) -> str:
    """Every row, for a notebook."""
    return template("reproduction_notebook.html").render(result=result)


def save_reproduction(result: Reproduction, path: str | os.PathLike[str]) -> Path:
    """Write page, JSON and CSV: three files with one stem, each whole or not at all."""
    content = {**result.to_dict(), "version": __version__}
    return save_page(path, reproduction_page(result), content, result.to_frame())


def _sections(result: Reproduction) -> dict[str, Section]:
    sections = {"summary": Section("In short", about=result.about, template="reproduction_summary.html")}
    for name, about in result.parts.items():
        rows = tuple(_cells(row) for row in result.rows if row.part == name)
        table = Table(f"{len(rows):,} numbers", _COLUMNS, rows, _NUMBERS)
        sections[f"part-{name}"] = Section(_title(name), about=about, tables=(table,))
    if result.missing:
        sections["missing"] = Section("Data that were not found", template="reproduction_missing.html")
    sections["settings"] = Section("Settings", template="reproduction_settings.html")
    return sections


def _cells(row: Row) -> tuple[Cell, ...]:
    texts = row.texts
    return (
        Cell(row.what),
        _number(row.published, texts["published"]),
        _number(row.as_published, texts["as_published"], row.rule if texts["as_published"] else ""),
        _number(row.corrected, texts["corrected"], texts["interval"]),
        Cell(row.state, mark=_MARKS.get(row.state, "")),
        Cell(row.note),
        Cell(row.where, row.id),
    )


def _number(value: float | str | None, text: str, small: str = "") -> Cell:
    return Cell(text or _NONE, small, None if value is None or isinstance(value, str) else float(value))


def _title(part: str) -> str:
    return part.replace("_", " ").capitalize()
