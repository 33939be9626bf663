"""The table that `make fuzz`, `make kills` and `make faults` end with, and its file in docs/hardening."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "maintainers" / "hardening"


def markdown_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a table in Markdown; numbers have commas."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([_cell(row.get(head, "")) for head in heads] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def show_table(name: str, rows: Sequence[Mapping[str, object]], *, docs: bool, folder: Path = FOLDER) -> None:
    """Print the table and, with `docs`, write it to the file of its name."""
    if not rows:
        return
    sys.stdout.write(markdown_table(rows))
    if docs:
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
