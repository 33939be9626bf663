"""`Result`: the base class of what every public function returns. Frozen fields in; frames, JSON, pages, figures out.

A class of results declares its fields, the tables of its records and its headline; everything else is written here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from biasgauge.core import JsonMapping, JsonObject, Record, check_json, check_object, to_plain
from biasgauge.errors import ParameterError
from biasgauge.results.read_back import wrap_methods
from biasgauge.results.summary import Chart, Summary
from biasgauge.results.tables import Column, RecordTable, Table
from biasgauge.results.wording import counted

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 160
"""Characters of a headline in a `repr`."""
_CHECKSUM = "own_sha256"
"""What `save` ends a file with, which is no part of the result."""
SAID = ("headlines", "sentences", "verdicts", "readings", "warnings", "notices")
"""Keys under which results tell their sentences, in the order in which they are read."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(Record):
    """The outcome of an analysis.

    A class sets `tables`, the fields whose records are the rows of `to_frame`; with several, a column `part` says
    which. Without any, its own scalar fields make one row.

    Its summary follows from what it declares: `record_tables` (by default one table for each of `tables`), the methods
    `_title`, `_headline`, `_sentences` and `_charts`, and its `warnings`.

    Where `abridged`, the JSON leaves out what the result was made of (draws, simulated values): `from_dict` then gives
    a `Stored` result, with the same JSON, its sentences and its tables.
    """

    tables: ClassVar[tuple[str, ...]] = ()
    abridged: ClassVar[bool] = False
    record_tables: ClassVar[tuple[RecordTable, ...]] = ()
    page_companions: ClassVar[tuple[str, ...]] = (".json", ".csv")
    """Endings of the files that `save` writes beside a page."""

    def __init_subclass__(cls, **settings: Any) -> None:  # noqa: ANN401 - those of other bases
        super().__init_subclass__(**settings)
        wrap_methods(cls)

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The result of which `to_dict` made `content`."""
        if not cls.abridged:
            return super().from_dict(content)
        stored = Stored.from_dict(content)
        check_json(cls, stored.content)
        return cast("Self", stored)

    def summary(self) -> Summary:
        """Headline, sentences, tables and charts as data."""
        tables = self.record_tables or tuple(RecordTable(name, name.replace("_", " ")) for name in self.tables)
        return Summary(
            title=self._title(),
            headline=self._headline(),
            sentences=tuple(self._sentences()),
            tables=tuple(filled for table in tables if (filled := table.fill(self)).rows),
            charts=tuple(self._charts()),
            warnings=tuple(getattr(self, "warnings", ())),
        )

    def _title(self) -> str:
        """Title of the summary; by default the name of the class in words."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(self).__name__).capitalize()

    def _headline(self) -> str:
        """The answer in one sentence; by default how many rows there are."""
        return f"{self._title()}: {', '.join(counted(getattr(self, name), 'row') for name in self.tables) or 'done'}"

    def _sentences(self) -> Sequence[str]:
        """Further findings, most important first."""
        return ()

    def _charts(self) -> Sequence[Chart]:
        """The charts, drawn when a renderer asks for them."""
        return ()

    def to_frame(self) -> pd.DataFrame:
        """The numbers, one row for each thing measured."""
        import pandas as pd

        parts = {name: [_columns(row) for row in getattr(self, name)] for name in self.tables}
        if not parts:
            scalars = {name: value for name, value in self.to_dict().items() if not isinstance(value, dict | list)}
            return pd.DataFrame([scalars])
        if len(parts) == 1:
            return pd.DataFrame(next(iter(parts.values())))
        return pd.DataFrame([{"part": name, **row} for name, rows in parts.items() for row in rows])

    def frames_beside(self) -> Mapping[str, pd.DataFrame]:
        """Further tables that are written beside its page, by the name of their file; none by default."""
        return {}

    def figures(self, **choices: Any) -> dict[str, Any]:  # noqa: ANN401 - each result has choices of its own
        """Its charts by name, as Altair charts that a notebook shows and a file keeps.

        Raises:
            ParameterError: it leaves no such choice.
        """
        if choices:
            raise ParameterError(
                f"Figures of {type(self).__name__} leave nothing to choose. Got {next(iter(choices))!r}."
            )
        return {name: chart.drawn() for name, chart in self.summary().named_charts()}

    def page(self) -> str:
        """Render its page, one HTML file that loads nothing."""
        from biasgauge.results.page import summary_page

        return summary_page(self.summary())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it whole or not at all: .html (a page, with .json and .csv beside it), .json, .csv, .md, .tex, .txt.

        JSON ends with the checksum of what stands before (`own_sha256`), which whatever reads the file again compares.
        Beside the page of an audit lie `verdicts.csv` and `effects.csv`, in the place of one CSV.

        Raises:
            ParameterError: the name says nothing that can be written.
        """
        from biasgauge.results.saving import save_result

        return save_result(self, Path(path))

    def __repr__(self) -> str:
        headline = " ".join(self.summary().headline.split())
        short = headline if len(headline) <= _LONGEST else f"{headline[: _LONGEST - 1]}…"
        return f"<{type(self).__name__}: {short}>"

    def _repr_html_(self) -> str:
        from biasgauge.results.notebook import notebook_html

        return notebook_html(self.summary())

    def _repr_mimebundle_(self, **_choices: Any) -> dict[str, str]:  # noqa: ANN401 - which types a notebook wants
        """Return the summary with its main chart (with the extra `figures`), for Jupyter and VS Code."""
        from biasgauge.results.notebook import notebook_chart, notebook_html

        summary = self.summary()
        return {"text/plain": repr(self), "text/html": notebook_html(summary) + notebook_chart(summary)}


wrap_methods(Result)


def records_frame(rows: Sequence[Any]) -> pd.DataFrame:
    """Records as a frame, one row each."""
    import pandas as pd

    return pd.DataFrame([_columns(row) for row in rows])


def _columns(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a record
    """A record as a row of a frame: intervals are spread over columns, those of `x_interval` as `x_low`, `x_high`."""
    flat: dict[str, Any] = {}
    for name, value in to_plain(row).items():
        if name == "interval":
            interval = value or {}
            flat |= {end: interval.get(end) for end in ("low", "high", "level", "method")}
            flat["interval_reason"] = interval.get("reason")
        elif name.endswith("_interval"):
            flat |= {name.replace("interval", end): (value or {}).get(end) for end in ("low", "high")}
        else:
            flat[name] = value
    return flat


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
