r"""The seed bank through one of three filters, with a record of all that a filter took away or rewrote.

- "none": the bank as its source has it.
- "published": the cleaning of the Badder Seeds study to the letter. It was meant for category labels but was applied to
  the printed form of each list of seeds too: digits are deleted, "_" and "/" become spaces, capitals are lower-cased.
  Seeds of several words, which by then include every underscore compound, are dropped, then sets with fewer than two
  seeds. Words left with a space at one end ("he " from "HE_") stay so, and match nothing.
- "corrected" (the default): keeps case, digits, "/" and underscore compounds, since embeddings with phrases have them.
  Only what cannot be one token is dropped (white space inside; none in the shipped bank), characters spelled out as
  escapes are put back ("fianc\u00e9" is "fiancé"), and sets with fewer than two seeds are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal, get_args

from biasgauge.core import JsonMapping, Record, check_choice
from biasgauge.errors import InternalError
from biasgauge.lexicons.by_name import lexicon
from biasgauge.lexicons.seed_sets import SeedBank, SeedSet
from biasgauge.lexicons.table import shown
from biasgauge.results import Column, RecordTable, Result

Filter = Literal["corrected", "published", "none"]

FEWEST = 2
"""A set with fewer seeds than this is dropped: one word is no set."""

_LABEL_WORDS = ("seed", "words", "terms", "attributes")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


@dataclass(frozen=True)
class Removal(Record):
    """Removal by a filter: one word of a set, or the whole set when `word` is None."""

    renamed: ClassVar[Mapping[str, str]] = {"set_id": "set"}

    set_id: str
    word: str | None
    reason: str


@dataclass(frozen=True)
class Rewriting(Record):
    """A seed that a filter changed by more than its case, whether or not it was then removed."""

    renamed: ClassVar[Mapping[str, str]] = {"set_id": "set"}

    set_id: str
    before: str
    after: str


@dataclass(frozen=True, repr=False)
class FilteredSeedBank(Result):
    """The bank that is left, and what happened to the rest.

    `seeds_left` counts seeds after words were dropped but before sets were: the number that is published (6,620 of
    7,213). Seeds in the sets that remain are fewer (`bank.total`, 6,614).
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("removed",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("removed", "Removed", (Column("set", source="set_id"), "word", "reason"), most=20),
    )
    hidden: ClassVar[frozenset[str]] = frozenset({"bank"})

    filter: Filter
    bank: SeedBank
    removed: tuple[Removal, ...]
    rewritten: tuple[Rewriting, ...]
    seeds_left: int

    @property
    def rewritten_sets(self) -> tuple[str, ...]:
        """Ids of the sets in which a seed was rewritten, in bank order."""
        return tuple(dict.fromkeys(rewriting.set_id for rewriting in self.rewritten))

    def derived(self) -> JsonMapping:
        """Counts of what is left."""
        bank = self.bank
        return {"sets": len(bank.seeds), "seeds": bank.total, "categories": len(bank.categories)}

    def _title(self) -> str:
        return f"Seed bank, filter {self.filter}"

    def _headline(self) -> str:
        return f"{len(self.bank.seeds)} sets of {self.bank.total:,} seeds; {len(self.removed)} removals"


def seed_bank(filter: Filter = "corrected") -> FilteredSeedBank:  # noqa: A002  # the word that the papers use
    """Give the shipped bank through a filter: "corrected", "published" or "none"."""
    bank = lexicon("seed_bank")
    if not isinstance(bank, SeedBank):
        raise InternalError("the shipped lexicon 'seed_bank' is not of kind 'seeds'")
    check_choice(get_args(Filter), filter=filter)
    return FilteredSeedBank("none", bank, (), (), bank.total) if filter == "none" else _filtered(bank, filter)


def published_label(text: str) -> str:
    """Clean a category, or the printed form of a list of seeds, as the Badder Seeds study did."""
    without_digits = "".join(character for character in text if not character.isdigit())
    tokens = [token for token in without_digits.split() if token not in _LABEL_WORDS]
    return " ".join(tokens).replace("_", " ").replace("/", " ").lower()


def _cleaned(seed: str, filter: Filter) -> str:  # noqa: A002  # as in seed_bank
    if filter == "published":
        # In the printed form of the list a seed stands between quotes, which save a seed "words" from being dropped.
        return published_label(f"'{seed}'")[1:-1]
    return _ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), seed)


@cache
def _filtered(bank: SeedBank, filter: Filter) -> FilteredSeedBank:  # noqa: A002  # as in seed_bank
    removed: list[Removal] = []
    rewritten: list[Rewriting] = []
    remaining: list[SeedSet] = []
    seeds_left = 0
    for seed_set in bank.seeds:
        words = []
        for seed in seed_set.words:
            cleaned = _cleaned(seed, filter)
            if cleaned.lower() != seed.lower():
                rewritten.append(Rewriting(seed_set.id, seed, cleaned))
            if len(cleaned.split()) == 1:
                words.append(cleaned)
            else:
                removed.append(Removal(seed_set.id, seed, f"{shown(cleaned)} is not one word"))
        seeds_left += len(words)
        if len(words) >= FEWEST:
            category = published_label(seed_set.category) if filter == "published" else seed_set.category
            remaining.append(replace(seed_set, category=category, words=tuple(words)))
        else:
            left = f"{len(words)} of its {len(seed_set.words)} words left, fewer than {FEWEST}"
            removed.append(Removal(seed_set.id, None, left if seed_set.words else "its source lists no words"))
    ids = {seed_set.id for seed_set in remaining}
    pairings = tuple((a, b) for a, b in bank.pairings if a in ids and b in ids)
    return FilteredSeedBank(
        filter, replace(bank, seeds=tuple(remaining), pairings=pairings), tuple(removed), tuple(rewritten), seeds_left
    )
