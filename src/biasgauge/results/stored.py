"""A result as its JSON has it: what a file gives back where the numbers behind it were not kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasgauge.results.result import Result
from biasgauge.results.summary import Column, Summary, Table

_SAID = ("headlines", "sentences", "readings", "verdicts")
"""Keys under which results tell their sentences."""


@dataclass(frozen=True, eq=False, repr=False)
class Stored(Result):
    """A result read back; it has its JSON, its sentences and its tables, and draws nothing.

    Attributes:
        content: what `to_dict` gave.
    """

    content: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The same JSON again."""
        return dict(self.content)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Stored:
        """From what `to_dict` gave."""
        return cls(dict(content))

    def summary(self) -> Summary:
        """Its sentences, and each list of rows as a table."""
        told = next((self.content[key] for key in _SAID if self.content.get(key)), [self.content.get("reason") or ""])
        tables = []
        for name, rows in self.content.items():
            if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
                columns = [key for key, value in rows[0].items() if not isinstance(value, dict | list)]
                kinds = [Column(key.replace("_", " "), _kind([row.get(key) for row in rows])) for key in columns]
                cells = [[row.get(key) for key in columns] for row in rows]
                tables.append(Table.of(name, name.replace("_", " "), kinds, cells, folded=True))
        return Summary("Stored result", str(told[0]), tuple(map(str, told[1:])), tuple(tables))


def _kind(values: list[Any]) -> Any:  # noqa: ANN401 - a kind of column
    return "number" if any(isinstance(value, float) for value in values) else "text"
