r"""A bank of seed sets: who used which words for which concept, and how they justified them; three filters of it.

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
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from biasgauge.core import JsonMapping, Record, check_choice, did_you_mean
from biasgauge.errors import InternalError, ParameterError
from biasgauge.lexicons.model import Lexicon
from biasgauge.lexicons.table import shown
from biasgauge.results import Column, RecordTable, Result

if TYPE_CHECKING:
    import pandas as pd

Filter = Literal["corrected", "published", "none"]
FEWEST = 2
"""A set with fewer seeds than this is dropped: one word is no set."""
SOURCING = {
    "borrowed-from-social-sciences": "borrowed",
    "crowd-sourced": "crowd-sourced",
    "population-derived": "population-derived",
    "lexical-resources": "lexical",
    "corpus-derived": "corpus-derived",
    "curated": "curated",
    "prior-work": "re-used",
    "other": "other",
    "unknown": "unknown",
}
"""Strategies of sourcing seeds by the names that the bank records them under; a set can have several."""
_SHORT = re.compile(r"\(([^()]*)\)\s*$")
_LABEL_WORDS = ("seed", "words", "terms", "attributes")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


@dataclass(frozen=True, kw_only=True)
class SeedSet:
    """One set of seeds as a paper used it. `words` may be empty: some papers name a set without listing it."""

    texts: ClassVar[tuple[str, ...]] = ("category", "justification", "justification_kind", "paper", "link")

    id: str
    category: str
    paper: str
    words: tuple[str, ...]
    justification: str = ""
    justification_kind: str = ""
    link: str = ""

    @property
    def sourcing(self) -> tuple[str, ...]:
        """Sources of the seeds, in the terms of the Bad Seeds paper; ("unknown",) where the bank states none."""
        kinds = [kind.strip() for kind in self.justification_kind.split(",") if kind.strip()]
        return tuple(SOURCING.get(kind, kind) for kind in kinds) or ("unknown",)

    @property
    def short_paper(self) -> str:
        """Authors and year, as in "Caliskan et al., 2017"; the whole entry where it has none in parentheses."""
        short = _SHORT.search(self.paper)
        return short.group(1) if short else self.paper

    def content(self) -> dict[str, object]:
        """Give the keys of one `[[seeds]]` table."""
        stated = {key: value for key in ("id", *self.texts) if (value := getattr(self, key))}
        return {**stated, "words": list(self.words)}


@dataclass(frozen=True, kw_only=True, repr=False)
class SeedBank(Lexicon):
    """Seed sets and the pairs of them (by id) that are compared with each other."""

    kind: ClassVar[str] = "seeds"
    seeds: tuple[SeedSet, ...]
    pairings: tuple[tuple[str, str], ...] = ()

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words by id."""
        return {seed_set.id: seed_set.words for seed_set in self.seeds}

    @property
    def total(self) -> int:
        """Number of seeds over all sets, duplicates and repetitions in other sets counted."""
        return sum(len(seed_set.words) for seed_set in self.seeds)

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category once, in first-seen order."""
        return tuple(dict.fromkeys(seed_set.category for seed_set in self.seeds))

    def browse(
        self,
        *,
        paper: str | None = None,
        category: str | None = None,
        sourcing: str | None = None,
        justification: str | None = None,
        word: str | None = None,
    ) -> tuple[SeedSet, ...]:
        """Find sets that meet everything asked for; letter case does not matter.

        Args:
            paper: text of the paper's title, authors or year.
            category: text of the category or of the set's id; one whole word of it when it is a word ("male" does not
                find "female").
            sourcing: a strategy: one of the values of `SOURCING`.
            justification: text of what the paper says about the choice.
            word: a seed.

        Raises:
            ParameterError: there is no such strategy.
        """
        if sourcing is not None and sourcing not in SOURCING.values():
            raise ParameterError(
                f"sourcing must be one of {', '.join(SOURCING.values())}, found {sourcing!r}"
                f"{did_you_mean(sourcing, SOURCING.values())}"
            )
        # whole words of the category; "_" and digits separate words too
        letter = "[^\\W\\d_]"
        whole = re.compile(f"(?<!{letter}){re.escape(category or '')}(?!{letter})", re.IGNORECASE)
        return tuple(
            seed_set
            for seed_set in self.seeds
            if (paper or "").casefold() in seed_set.paper.casefold()
            and (category is None or whole.search(f"{seed_set.category} {seed_set.id.rpartition('-')[0]}"))
            and (sourcing is None or sourcing in seed_set.sourcing)
            and (justification or "").casefold() in seed_set.justification.casefold()
            and (word is None or word.casefold() in {seed.casefold() for seed in seed_set.words})
        )

    def partners(self, identifier: str) -> tuple[str, ...]:
        """Ids of the sets that a set is paired with, in the order of the pairings."""
        return tuple(b if a == identifier else a for a, b in self.pairings if identifier in (a, b))

    def overview(self, chosen: tuple[SeedSet, ...] | None = None) -> pd.DataFrame:
        """One row per set, of all or of those chosen: where it comes from, how many seeds, what it is paired with."""
        import pandas as pd

        columns = ["set", "category", "paper", "sourcing", "seeds", "partners", "justification"]
        rows = []
        for row in self.seeds if chosen is None else chosen:
            sourcing, partners = ", ".join(row.sourcing), ", ".join(self.partners(row.id))
            rows.append((row.id, row.category, row.short_paper, sourcing, len(row.words), partners, row.justification))
        return pd.DataFrame(rows, columns=columns)

    def content(self) -> dict[str, object]:
        """Give `pairings` and `seeds`."""
        pairings = {"pairings": [list(pair) for pair in self.pairings]} if self.pairings else {}
        return {**pairings, "seeds": [seed_set.content() for seed_set in self.seeds]}

    def _rows(self) -> list[dict[str, object]]:
        labels = ("category", "justification_kind", "paper")
        return [
            {"set": seed_set.id, "word": word} | {label: getattr(seed_set, label) for label in labels}
            for seed_set in self.seeds
            for word in seed_set.words
        ]


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
    json_types: ClassVar[Mapping[str, Any]] = {"sets": int, "seeds": int, "categories": int}
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
    from biasgauge.lexicons.by_name import lexicon

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


@cache
def _filtered(bank: SeedBank, filter: Filter) -> FilteredSeedBank:  # noqa: A002  # as in seed_bank
    removed: list[Removal] = []
    rewritten: list[Rewriting] = []
    remaining: list[SeedSet] = []
    seeds_left = 0
    for seed_set in bank.seeds:
        words = []
        for seed in seed_set.words:
            if filter == "published":
                # in the printed form of the list a seed stands between quotes, which save a seed "words"
                cleaned = published_label(f"'{seed}'")[1:-1]
            else:
                cleaned = _ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), seed)
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
            reason = f"{len(words)} of its {len(seed_set.words)} words left, fewer than {FEWEST}"
            removed.append(Removal(seed_set.id, None, reason if seed_set.words else "its source lists no words"))
    ids = {seed_set.id for seed_set in remaining}
    pairings = tuple((a, b) for a, b in bank.pairings if a in ids and b in ids)
    left = replace(bank, seeds=tuple(remaining), pairings=pairings)
    return FilteredSeedBank(filter, left, tuple(removed), tuple(rewritten), seeds_left)
