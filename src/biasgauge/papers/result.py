"""What came of reproducing a paper, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from biasgauge.papers.data import Need
    from biasgauge.papers.row import Row

STATES = ("agrees", "differs", "not printed", "not checked")


@dataclass(frozen=True)
class Missing:
    """Data that were not found, and the parts that would use them."""

    need: Need
    parts: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**self.need.to_dict(), "parts": list(self.parts)}


@dataclass(frozen=True)
class Reproduction:
    """Every checkable number of a paper. `save` writes the page; `to_dict` is what `--json` prints.

    Attributes:
        paper: its name here.
        title: of the paper.
        citation: who, where, when.
        about: what can be checked and what cannot.
        parts: what each part is, by name.
        rows: one for each published number.
        missing: data that were not found, with what to fetch from where.
        settings: everything that decides the result; `files` says which data were used.
    """

    paper: str
    title: str
    citation: str
    about: str
    parts: Mapping[str, str]
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]
    settings: Mapping[str, Any]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know first: numbers that differ, data that are missing."""
        differ = [row.id for row in self.rows if row.agrees is False]
        told = [f"{len(differ)} of {len(self.rows)} published numbers are not reached: {', '.join(differ)}"]
        return (
            *(told if differ else ()),
            *(f"not found: {one.need.name}, for {', '.join(one.parts)}" for one in self.missing),
        )

    def count(self, state: str) -> int:
        """How many rows are in a state: "agrees", "differs", "not printed" or "not checked"."""
        return sum(row.state == state for row in self.rows)

    def row(self, name: str) -> Row:
        """The row of that id."""
        return {row.id: row for row in self.rows}[name]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; its keys are a contract."""
        return {
            "paper": self.paper,
            "title": self.title,
            "citation": self.citation,
            "about": self.about,
            "parts": dict(self.parts),
            "counts": {state.replace(" ", "_"): self.count(state) for state in STATES},
            "rows": [row.to_dict() for row in self.rows],
            "missing": [one.to_dict() for one in self.missing],
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each published number."""
        import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

        return pd.DataFrame([row.to_dict() for row in self.rows])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, and the same content as `.json` and `.csv` beside it; return the page's path."""
        from biasgauge.report.reproduction_page import save_reproduction  # noqa: PLC0415 - only for a page

        return save_reproduction(self, path)

    def _repr_html_(self) -> str:
        from biasgauge.report.reproduction_page import reproduction_table  # noqa: PLC0415 - only for a notebook

        return reproduction_table(self)
