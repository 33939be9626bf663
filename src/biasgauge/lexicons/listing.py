"""Word lists to read: which there are, what is in one, whether some are fit for use, sets of the seed bank."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from biasgauge import registry
from biasgauge.core import JsonMapping, JsonObject, Record, WordPolicy
from biasgauge.lexicons.by_name import lexicon
from biasgauge.lexicons.checking import AS_WRITTEN, LexiconCheck, check
from biasgauge.lexicons.model import Lexicon
from biasgauge.lexicons.seed_sets import Filter, SeedBank, SeedSet, seed_bank
from biasgauge.results import Column, RecordTable, Result, Summary, counted, words_text

_FEW = 30
"""Words of a set that are shown unless all are asked for."""


@dataclass(frozen=True)
class LexiconRow(Record):
    """One lexicon in a list: `sets` and `words` are counts."""

    name: str
    kind: str
    language: str
    title: str
    sets: int
    words: int
    source: str
    citation: str
    license: str


@dataclass(frozen=True, eq=False, repr=False)
class LexiconList(Result):
    """Lexicons with their sources."""

    tables: ClassVar[tuple[str, ...]] = ("lexicons",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("lexicons", "", ("name", "kind", "words", "title")),
    )

    lexicons: tuple[LexiconRow, ...]
    settings: JsonMapping

    def _title(self) -> str:
        return "Lexicons"

    def _headline(self) -> str:
        return counted(self.lexicons, "word list")


def list_lexicons(*, kind: str | None = None, language: str | None = None) -> LexiconList:
    """List the word lists that ship, and where they come from.

    Args:
        kind: only lexicons of this kind (words, pairs, sets, test, stereotypes, values, translations, seeds).
        language: only lexicons of this language (en, es).
    """
    lexicons = registry.everything("lexicon").values()
    texts = [field.name for field in fields(LexiconRow) if field.name not in {"sets", "words"}]
    rows = tuple(
        LexiconRow(sets=len(entry.sets), words=len(entry.words), **{name: getattr(entry, name) for name in texts})
        for entry in lexicons
        if kind in (None, entry.kind) and language in (None, entry.language)
    )
    return LexiconList(rows, {"kind": kind, "language": language})


@dataclass(frozen=True, eq=False, repr=False)
class LexiconContent(Result):
    """One lexicon, to read: its source, what to beware of, and its words (all of them, or the first of each set)."""

    hidden: ClassVar[frozenset[str]] = frozenset({"words"})

    lexicon: Lexicon
    settings: JsonMapping
    words: bool = False

    def derived(self) -> JsonMapping:
        """The lexicon with its checksum."""
        return {"lexicon": {**self.lexicon.to_dict(), "checksum": self.lexicon.checksum}}

    def summary(self) -> Summary:
        """Its metadata, then its sets."""
        shown = self.lexicon
        stated = [(key, getattr(shown, key)) for key in ("title", "source", "citation", "license", "notes")]
        metadata = [f"{key}: {text}" for key, text in stated if text]
        metadata += [f"made: {step.sentence}" for step in shown.made]
        counts = f"{counted(shown.words, 'word')} in {counted(shown.sets, 'set')}"
        return Summary(
            title=shown.name,
            headline=f"{shown.name} ({shown.kind}, {shown.language}): {counts}",
            sentences=tuple(metadata),
            warnings=tuple(f"beware: {text}" for text in shown.beware),
            parts=tuple(
                Summary(f"{name} ({len(members)})", words_text(members, None if self.words else _FEW))
                for name, members in shown.sets.items()
            ),
        )


def show_lexicon(reference: str | os.PathLike[str] | Lexicon, *, words: bool = False) -> LexiconContent:
    """Show one word list: its source, what to beware of, and its words.

    Args:
        reference: a lexicon's name, or the path of your own TOML file.
        words: show every word, however many there are.
    """
    return LexiconContent(lexicon(reference), {"reference": str(reference)}, words)


@dataclass(frozen=True, eq=False, repr=False)
class LexiconChecks(Result):
    """Checks of lexicons: are they fit for use?"""

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("checks",)

    checks: tuple[LexiconCheck, ...]

    @property
    def ok(self) -> bool:
        """Return whether all of them can be used."""
        return all(checked.ok for checked in self.checks)

    def summary(self) -> Summary:
        """One part per lexicon, with what was found."""
        usable = sum(checked.ok for checked in self.checks)
        return Summary(
            title="Check of lexicons",
            headline=f"{usable} of {counted(self.checks, 'lexicon is', 'lexicons are')} usable.",
            parts=tuple(checked.summary() for checked in self.checks),
        )


def check_lexicons(
    references: Sequence[str | os.PathLike[str] | Lexicon] = (),
    vocabulary: Container[str] | None = None,
    *,
    policy: WordPolicy = AS_WRITTEN,
) -> LexiconChecks:
    """Check word lists, your own or shipped ones; all shipped ones when none is named.

    Args:
        references: names of lexicons, or paths of your own TOML files.
        vocabulary: anything that answers `word in vocabulary`: which words does it lack?
        policy: share of each set's words that must be found, and, for an embedding, the cases that are tried.
    """
    named = references or registry.names("lexicon")
    return LexiconChecks(tuple(check(reference, vocabulary, policy=policy) for reference in named))


@dataclass(frozen=True, eq=False, repr=False)
class SeedSetList(Result):
    """Sets of the seed bank, how they were sourced, and what they are paired with."""

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"sets": tuple[JsonObject, ...], "settings": JsonMapping}

    bank: SeedBank
    sets: tuple[SeedSet, ...]
    words: bool
    settings: JsonMapping

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`."""
        rows = []
        for seed_set in self.sets:
            partners = list(self.bank.partners(seed_set.id))
            rows.append({**seed_set.content(), "sourcing": list(seed_set.sourcing), "partners": partners})
        return {"sets": rows, "settings": self.settings}

    def _title(self) -> str:
        return "Seed bank"

    def _headline(self) -> str:
        ids = {seed_set.id for seed_set in self.sets}
        pairings = sum(ids.issuperset(pair) for pair in self.bank.pairings)
        return f"{counted(self.sets, 'set')}, {counted(pairings, 'pairing')} among them"

    def summary(self) -> Summary:
        """One row per set, with its seeds or its paper."""
        shown = Column("seeds", "words", source="words") if self.words else Column("paper", source="short_paper")
        counts = Column("seeds", "count", source=lambda seed_set: len(seed_set.words))
        sourcing = Column("sourcing", source=lambda seed_set: ", ".join(seed_set.sourcing))
        table = RecordTable("sets", "", (counts, sourcing, Column("set", source="id"), shown))
        return replace(super().summary(), tables=(table.fill(self),))


def browse_seeds(
    *,
    paper: str | None = None,
    category: str | None = None,
    sourcing: str | None = None,
    justification: str | None = None,
    word: str | None = None,
    filter: Filter = "none",  # noqa: A002 - the word that the papers use
    words: bool = False,
) -> SeedSetList:
    """Browse the seed bank: 178 sets of 18 papers, how they were sourced, and what they are paired with.

    Args:
        paper: text of the paper's title, authors or year.
        category: a word of the category or of the set's id.
        sourcing: borrowed, crowd-sourced, population-derived, lexical, corpus-derived, curated, re-used, other or
            unknown.
        justification: text of what the paper says about the choice.
        word: sets that hold this seed.
        filter: which form of the bank.
        words: show the seeds too.
    """
    filters = {"paper": paper, "category": category, "sourcing": sourcing, "justification": justification, "word": word}
    bank = seed_bank(filter).bank
    return SeedSetList(bank, bank.browse(**filters), words, {**filters, "filter": filter})
