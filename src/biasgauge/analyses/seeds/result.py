"""Result of `seeds`: a fitness card for each pair of sets, and correlations over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.analyses.seeds.card import FitnessCard
from biasgauge.analyses.seeds.figures import seeds_charts
from biasgauge.analyses.seeds.generated import Cloud
from biasgauge.analyses.seeds.relations import Relation, relations
from biasgauge.core import JsonMapping
from biasgauge.results import Column, Result, Summary, Table, Tone, counted
from biasgauge.stats import LEAST

if TYPE_CHECKING:
    import pandas as pd

_FEW = 3
"""Up to so many pairs are summed up one by one, more as a table."""

TONES: dict[str, Tone] = {"unfit": "bad", "doubtful": "caution", "no objection": "good"}
"""Verdicts on a pair of sets, the worst first."""


@dataclass(frozen=True, eq=False, repr=False)
class SeedsResult(Result):
    """Fitness cards of pairs of seed sets.

    Attributes:
        cards: one for each pair of sets, in the order asked for.
        models: names of the models.
        settings: everything that decides the numbers.
        cloud: generated sets as a reference, where they were asked for.
        warnings: what was odd about the models.
    """

    abridged: ClassVar[bool] = True
    renamed: ClassVar[Mapping[str, str]] = {"cards": "pairs"}
    hidden: ClassVar[frozenset[str]] = frozenset({"cloud"})

    cards: tuple[FitnessCard, ...]
    models: tuple[str, ...]
    settings: JsonMapping
    cloud: Cloud | None = None
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[FitnessCard]:
        return iter(self.cards)

    def __len__(self) -> int:
        return len(self.cards)

    def __getitem__(self, index: int) -> FitnessCard:
        return self.cards[index]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Correlations of similarity and balance with coherence and explained variance, over at least four pairs."""
        gathered = relations(self.to_frame(), "gathered") if len(self.cards) >= LEAST else ()
        return gathered + (() if self.cloud is None else self.cloud.relations)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Conclusions in sentences: how many pairs of sets are fit, and what is wrong with those that are not."""
        counts = Counter(card.verdict for card in self.cards)
        kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("no objection", "doubtful", "unfit") if counts[kind])
        unfit = [f"{card.title}: {card.advice[0].sentence}" for card in self.cards if card.verdict == "unfit"]
        return (f"Of {counted(self.cards, 'pair of word sets', 'pairs of word sets')}: {kinds}", *unfit)

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair of sets."""
        import pandas as pd

        return pd.DataFrame([card.to_row() for card in self.cards])

    def derived(self) -> JsonMapping:
        """Relations over all pairs, and the generated sets where they were asked for."""
        return {"relations": self.relations, **({} if self.cloud is None else {"generated": self.cloud})}

    def summary(self) -> Summary:
        """A card for each of a few pairs of sets, a table of many; what holds over all; generated sets."""
        many = len(self.cards) > _FEW
        tables = [self._table(), self._advice()] if many else []
        rows = [(row.of, row.x, row.y, row, row.n) for row in self.relations if row.defined and row.x == "similarity"]
        if rows:
            columns = ["sets", "of", "with", Column("Spearman [95 %]", "estimate"), Column("pairs", "count")]
            tables.append(Table.of("relations", "What goes with similarity of the sets", columns, rows))
        sentences = list(self.verdicts[1:]) if many else []
        if self.cloud is not None and self.cloud.to_dict()["coherence"] is not None:
            sentences.append(self.cloud.summary().headline)
        return Summary(
            title="Fitness of seed words",
            headline=self.verdicts[0],
            sentences=tuple(sentences),
            tables=tuple(tables),
            charts=seeds_charts(self),
            parts=() if many else tuple(card.summary() for card in self.cards),
            warnings=self.warnings,
        )

    def _table(self) -> Table:
        names = ("coherence", "held out", "similar", "PC1", "shuffled")
        columns = [Column("verdict", "mark", tones=TONES), *(Column(name, "number") for name in names), Column("sets")]
        rows = []
        for card in self._worst_first():
            pairing = card.pairing
            numbers = (card.coherence, card.held_out, card.similarity, pairing.first, pairing.shuffled_first)
            rows.append((card.verdict, *(number.value for number in numbers), card.title))
        return Table.of("pairs", "", columns, rows)

    def _advice(self) -> Table:
        columns = ["sets", Column("held out [95 % interval]", "estimate"), "beware"]
        rows = [
            (card.title, card.held_out, "; ".join(advice.sentence for advice in card.advice))
            for card in self._worst_first()
        ]
        return Table.of("advice", "What to beware of, for each pair of sets", columns, rows, folded=True)

    def _worst_first(self) -> list[FitnessCard]:
        return sorted(self.cards, key=lambda card: list(TONES).index(card.verdict))
