"""A bank of seed sets: who used which words for which concept, and how they justified them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.lexicons.model import Lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class SeedSet:
    """One set of seeds as a paper used it. `words` may be empty: some papers name a set without listing it."""

    id: str
    category: str
    paper: str
    words: tuple[str, ...]
    justification: str = ""
    justification_kind: str = ""
    link: str = ""

    def content(self) -> dict[str, object]:
        """Give the keys of one `[[seeds]]` table."""
        stated = {"id": self.id, "category": self.category, "justification": self.justification}
        stated |= {"justification_kind": self.justification_kind, "paper": self.paper, "link": self.link}
        return {key: value for key, value in stated.items() if value} | {"words": list(self.words)}


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

    def content(self) -> dict[str, object]:
        """Give `pairings` and `seeds`."""
        pairings = {"pairings": [list(pair) for pair in self.pairings]} if self.pairings else {}
        return {**pairings, "seeds": [seed_set.content() for seed_set in self.seeds]}

    def _rows(self) -> list[dict[str, object]]:
        return [
            {
                "set": seed_set.id,
                "word": word,
                "category": seed_set.category,
                "justification_kind": seed_set.justification_kind,
                "paper": seed_set.paper,
            }
            for seed_set in self.seeds
            for word in seed_set.words
        ]
