"""Record of how a list of words was made: the `[made]` table of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Literal, Self, get_args

from biasgauge.lexicons.table import TomlTable, describe, shown

MakingMethod = Literal["by hand", "published", "neighbors", "counts", "recipe"]


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


@dataclass(frozen=True)
class Provenance:
    """One step in which words of a list were chosen: the `[made]` table of its file.

    Attributes:
        method: "by hand"; "published": as a paper printed it; "neighbors": near words in vectors; "counts": from
            co-occurrences in a text; "recipe": by a program from other sources.
        vectors: name of the vectors that the words were chosen in; empty where none were looked at.
        checksum: SHA-256 of these vectors, as `Embedding.checksum`.
        text: checksum or name of the text that the words, or those vectors, come from; empty where it is not known.
        seed_words: words that the others were found with, as those vectors spell them.
        cosines: in those vectors, of some pairs of seed words: (word, word, cosine). They tell the vectors again in
            another file, in part, scaled or turned, and whatever is done to the list.
        when: day on which it was made, as 2026-11-19.
        recipe: the recipe that `lexicons build` followed.
    """

    method: MakingMethod
    vectors: str = ""
    checksum: str = ""
    text: str = ""
    seed_words: tuple[str, ...] = ()
    cosines: tuple[tuple[str, str, float], ...] = ()
    when: str = ""
    recipe: RecipeRecord | None = None

    @property
    def traceable(self) -> bool:
        """True where vectors or a text had a part in it, so that a list can be circular."""
        return bool(self.method == "neighbors" or self.vectors or self.checksum or self.cosines or self.text)

    @property
    def sentence(self) -> str:
        """The step in words."""
        seeds = f"of {len(self.seed_words)} seed words" if self.seed_words else ""
        source = f"in {self.vectors}" if self.vectors else ""
        name = self.recipe.name if self.recipe else ""
        start = " ".join(filter(None, [self.method, name, seeds, source]))
        return ", ".join(filter(None, [start, self.text and f"text {self.text}", self.when]))

    def to_dict(self) -> dict[str, object]:
        """Give what is stated under the keys of the `[made]` table."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"seed_words": list(self.seed_words), "cosines": [list(cosine) for cosine in self.cosines]}
        values["recipe"] = self.recipe.to_dict() if self.recipe else None
        return {name: value for name, value in values.items() if value}

    @classmethod
    def from_table(cls, table: TomlTable) -> Self:
        """Read a `[made]` table. Raises LexiconError if something in it is wrong."""
        method = table.text("method")
        if method not in get_args(MakingMethod):
            table.fail(
                f"'{table.key('method')}' must be one of {', '.join(get_args(MakingMethod))}, found {shown(method)}"
            )
        texts = {key: table.text(key, default="") for key in ("vectors", "checksum", "text")}
        seeds = table.words("seed_words", optional=True)
        cosines = _cosines(table)
        day: Any = table.take("when", "a day, as 2026-11-19", (str, date), "")
        recipe = RecipeRecord.from_table(table.table("recipe", "the recipe")) if "recipe" in table else None
        return cls(method, **texts, seed_words=seeds, cosines=cosines, when=str(day), recipe=recipe)  # type: ignore[arg-type]


def made_from_table(table: TomlTable) -> tuple[Provenance, ...]:
    """Read the `[made]` table of a lexicon, or each of its `[[made]]` tables; none where there is none."""
    return tuple(map(Provenance.from_table, table.table_or_tables("made", "how the list was made")))


def _cosines(table: TomlTable) -> tuple[tuple[str, str, float], ...]:
    cosines = []
    for number, value in enumerate(table.array("cosines", "cosines", "cosine", optional=True), 1):
        match value:
            case [str(first), str(second), int() | float() as cosine] if -1 <= cosine <= 1:
                cosines.append((first, second, float(cosine)))
            case _:
                form = 'two words and their cosine, as in ["he", "she", 0.61]'
                table.fail(f"'{table.key('cosines')}, item {number}' must be {form}, found {describe(value)}")
    return tuple(cosines)


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
