"""A bank of seed sets: who used which words for which concept, and how they justified them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import did_you_mean
from biasgauge.errors import ParameterError
from biasgauge.lexicons.model import Lexicon

if TYPE_CHECKING:
    import pandas as pd

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
        return tuple(
            seed_set
            for seed_set in self.seeds
            if _holds(seed_set.paper, paper)
            and (category is None or _has_word(f"{seed_set.category} {seed_set.id.rpartition('-')[0]}", category))
            and (sourcing is None or sourcing in seed_set.sourcing)
            and _holds(seed_set.justification, justification)
            and (word is None or word.casefold() in {seed.casefold() for seed in seed_set.words})
        )

    def partners(self, identifier: str) -> tuple[str, ...]:
        """Ids of the sets that a set is paired with, in the order of the pairings."""
        return tuple(b if a == identifier else a for a, b in self.pairings if identifier in (a, b))

    def overview(self, chosen: tuple[SeedSet, ...] | None = None) -> pd.DataFrame:
        """One row a set, of all or of those chosen: where it comes from, how many seeds, what it is paired with."""
        import pandas as pd  # importing pandas takes longer than all of this room

        rows = [
            {
                "set": seed_set.id,
                "category": seed_set.category,
                "paper": seed_set.short_paper,
                "sourcing": ", ".join(seed_set.sourcing),
                "seeds": len(seed_set.words),
                "partners": ", ".join(self.partners(seed_set.id)),
                "justification": seed_set.justification,
            }
            for seed_set in (self.seeds if chosen is None else chosen)
        ]
        columns = ["set", "category", "paper", "sourcing", "seeds", "partners", "justification"]
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


def _holds(text: str, phrase: str | None) -> bool:
    return phrase is None or phrase.casefold() in text.casefold()


def _has_word(text: str, phrase: str) -> bool:
    """Return whether a text holds a phrase as whole words; "_" and digits separate words too."""
    letter = "[^\\W\\d_]"
    return re.search(f"(?<!{letter}){re.escape(phrase)}(?!{letter})", text, re.IGNORECASE) is not None
