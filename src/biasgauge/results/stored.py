"""A result as its JSON has it: what a file gives back where the numbers behind it were not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from biasgauge.core import JsonMapping, JsonObject, check_object
from biasgauge.results.result import Result
from biasgauge.results.summary import Column, Summary, Table

_CHECKSUM = "own_sha256"
"""What `save` ends a file with, which is no part of the result."""
SAID = ("headlines", "sentences", "verdicts", "readings", "warnings", "notices")
"""Keys under which results tell their sentences, in the order in which they are read."""


def sentences_of(content: JsonMapping) -> list[str]:
    """Sentences in the JSON of any result, plain or in objects that have a sentence."""
    lists = (content.get(name) for name in SAID)
    entries = [entry for entries in lists if isinstance(entries, list | tuple) for entry in entries]
    texts = (entry.get("sentence") if isinstance(entry, dict) else entry for entry in entries)
    return [text for text in texts if text and isinstance(text, str)]


def row_lists(content: JsonMapping) -> dict[str, list[JsonObject]]:
    """The lists of objects in the JSON of any result: each is a table."""
    return {
        name: value
        for name, value in content.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Stored(Result):
    """A result read back; it has its JSON, its sentences and its tables, and draws nothing.

    Attributes:
        content: what `to_dict` gave.
    """

    content: JsonMapping

    def to_dict(self) -> JsonObject:
        """The same JSON again."""
        return dict(self.content)

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Stored:
        """From what `to_dict` gave, or from the JSON of a file that `save` wrote."""
        check_object(cls, content)
        return cls({name: value for name, value in content.items() if name != _CHECKSUM})

    def summary(self) -> Summary:
        """Its sentences, and each list of rows as a table."""
        headline, *sentences = sentences_of(self.content) or [self.content.get("reason") or ""]
        tables = []
        for name, rows in row_lists(self.content).items():
            columns = [key for key, value in rows[0].items() if not isinstance(value, dict | list)]
            kinds = [Column(key.replace("_", " "), _kind([row.get(key) for row in rows])) for key in columns]
            cells = [[row.get(key) for key in columns] for row in rows]
            tables.append(Table.of(name, name.replace("_", " "), kinds, cells, folded=True))
        return Summary("Stored result", headline, tuple(sentences), tuple(tables))


def _kind(values: list[Any]) -> Any:  # noqa: ANN401 - a kind of column
    return "number" if any(isinstance(value, float) for value in values) else "text"
