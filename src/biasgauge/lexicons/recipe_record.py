"""Record of the recipe by which a list of words was made: the `[made.recipe]` table of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from biasgauge.lexicons.table import TomlTable, describe


@dataclass(frozen=True)
class SourceRecord:
    """A file from which a recipe took words, or by which it judged them.

    Attributes:
        source: name of the word source.
        file: name of the file.
        checksum: SHA-256 of its content.
        license: terms under which it may be used; empty where nobody stated them.
        origin: where it comes from.
    """

    source: str
    file: str
    checksum: str
    license: str = ""
    origin: str = ""


@dataclass(frozen=True)
class ListRecord:
    """Words of one list: candidates that the sources offered, words that are left, and rejected ones by step."""

    name: str
    candidates: int
    words: int
    rejected: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class MatchRecord:
    """Two lists that were matched on word frequency, and the difference that is left.

    Attributes:
        lists: the two lists.
        method: "optimal" or "greedy".
        frequencies: source of the frequencies: a model, or the reference list of the language.
        pairs: words on each side.
        mean_difference: mean log10 frequency of the first list less that of the second.
        largest_difference: largest difference within a pair, without its sign.
    """

    lists: tuple[str, str]
    method: str
    frequencies: str
    pairs: int
    mean_difference: float
    largest_difference: float


@dataclass(frozen=True)
class RecipeRecord:
    """The recipe by which a list was made.

    Attributes:
        name: of the recipe.
        checksum: SHA-256 of its content: the same however the file is laid out.
        random_state: its random seed.
        sources: files that were read.
        vectors: names and checksums of the vectors that had to have the words. Nothing else was looked up in them, so
            that the list is not circular.
        lists: counts by list.
        matches: lists that were matched on frequency.
    """

    name: str
    checksum: str
    random_state: int = 0
    sources: tuple[SourceRecord, ...] = ()
    vectors: tuple[tuple[str, str], ...] = ()
    lists: tuple[ListRecord, ...] = ()
    matches: tuple[MatchRecord, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Give what is stated under the keys of the `[made.recipe]` table."""
        content: dict[str, object] = {"name": self.name, "checksum": self.checksum, "random_state": self.random_state}
        tables: dict[str, list[dict[str, object]]] = {
            "sources": [_stated(source) for source in self.sources],
            "vectors": [{"name": name, "checksum": checksum} for name, checksum in self.vectors],
            "lists": [{**_stated(counts), "rejected": dict(counts.rejected)} for counts in self.lists],
            "matches": [{**_stated(match), "lists": list(match.lists)} for match in self.matches],
        }
        return content | {key: rows for key, rows in tables.items() if rows}

    @classmethod
    def from_table(cls, table: TomlTable) -> Self:
        """Read a `[made.recipe]` table. Raises LexiconError if something in it is wrong."""
        sources = [
            SourceRecord(
                row.text("source"),
                row.text("file"),
                row.text("checksum"),
                row.text("license", default=""),
                row.text("origin", default=""),
            )
            for row in table.table_or_tables("sources", "files that were read")
        ]
        vectors = [(row.text("name"), row.text("checksum")) for row in table.table_or_tables("vectors", "vectors")]
        lists = [
            ListRecord(row.text("name"), row.whole("candidates"), row.whole("words"), _counts(row))
            for row in table.table_or_tables("lists", "counts by list")
        ]
        matches = [
            MatchRecord(
                _two_names(row),
                row.text("method"),
                row.text("frequencies"),
                row.whole("pairs"),
                row.number("mean_difference"),
                row.number("largest_difference"),
            )
            for row in table.table_or_tables("matches", "matched lists")
        ]
        texts = (table.text("name"), table.text("checksum"), table.whole("random_state"))
        return cls(*texts, tuple(sources), tuple(vectors), tuple(lists), tuple(matches))


def _stated(record: SourceRecord | ListRecord | MatchRecord) -> dict[str, object]:
    """Return the fields of a record that are not empty texts."""
    return {field.name: value for field in fields(record) if (value := getattr(record, field.name)) != ""}


def _counts(row: TomlTable) -> tuple[tuple[str, int], ...]:
    """Return numbers of rejected words by step."""
    steps: Mapping[str, object] = row.take("rejected", "a table of numbers by step", dict, {})
    counts = []
    for step, count in steps.items():
        if not isinstance(count, int) or isinstance(count, bool):
            row.fail(f"'{row.key('rejected')}.{step}' must be a whole number, found {describe(count)}")
        counts.append((step, count))
    return tuple(counts)


def _two_names(row: TomlTable) -> tuple[str, str]:
    names = row.words("lists")
    if len(names) != 2:
        row.fail(f"'{row.key('lists')}' must name two lists, found {len(names)}")
    return names[0], names[1]
