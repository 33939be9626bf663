"""The table that `make fuzz`, `make kills` and `make faults` end with, and its place in docs/hardening.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "hardening.md"


def markdown_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a table in Markdown; numbers have commas."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([_cell(row.get(head, "")) for head in heads] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def show_table(name: str, rows: Sequence[Mapping[str, object]], *, docs: bool) -> None:
    """Print the table and, with `docs`, put it where docs/hardening.md has the marks of its name."""
    if not rows:
        return
    text = markdown_table(rows)
    sys.stdout.write(text)
    if docs:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def with_table(page: str, name: str, table: str) -> str:
    """The page with the table between its marks."""
    start, end = f"<!-- table of {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"({re.escape(start)}\n).*?({re.escape(end)})", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"the page has no {start} … {end}")
    return pattern.sub(lambda marks: f"{marks[1]}{table}{marks[2]}", page)
