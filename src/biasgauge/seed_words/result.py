"""What `seeds` returns: a fitness card for each pair of sets, and what holds over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from biasgauge.results import Column, Result, Summary, Table
from biasgauge.results.summary import Tone
from biasgauge.seed_words.card import FitnessCard
from biasgauge.seed_words.figures import seeds_charts
from biasgauge.seed_words.generated import Cloud
from biasgauge.seed_words.relations import FEWEST, Relation, relations
from biasgauge.stats.estimate import Estimate

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

    cards: tuple[FitnessCard, ...]
    models: tuple[str, ...]
    settings: Mapping[str, Any]
    cloud: Cloud | None = None
    warnings: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[FitnessCard]:
        return iter(self.cards)

    def __len__(self) -> int:
        return len(self.cards)

    def __getitem__(self, place: int) -> FitnessCard:
        return self.cards[place]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """How similarity and balance go with coherence and explained variance, over four pairs of sets or more."""
        gathered = relations(self.to_frame(), "gathered") if len(self.cards) >= FEWEST else ()
        return gathered + (() if self.cloud is None else self.cloud.relations)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What it comes to, in sentences: how many pairs of sets are fit, and what is wrong with those that are not."""
        counts = Counter(card.verdict for card in self.cards)
        kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("no objection", "doubtful", "unfit") if counts[kind])
        unfit = [f"{card.a} and {card.b}: {card.advice[0].sentence}" for card in self.cards if card.verdict == "unfit"]
        return (f"Of {len(self.cards)} pairs of word sets: {kinds}", *unfit)

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair of sets."""
        import pandas as pd

        return pd.DataFrame([card.to_row() for card in self.cards])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        shape: dict[str, Any] = {
            "pairs": [card.to_dict() for card in self.cards],
            "relations": [one.to_dict() for one in self.relations],
            "models": list(self.models),
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
        }
        return shape if self.cloud is None else {**shape, "generated": self.cloud.to_dict()}

    def summary(self) -> Summary:
        """A card for each of a few pairs of sets, a table of many; what holds over all; generated sets."""
        tables = [] if len(self.cards) <= _FEW else [self._table(), self._advice()]
        defined = [one for one in self.relations if one.rho is not None and one.x == "similarity"]
        if defined:
            columns: list[Column | str] = [
                "sets",
                "of",
                "with",
                Column("Spearman [95 %]", "estimate"),
                Column("pairs", "count"),
            ]
            rows = [
                (one.of, one.x, one.y, Estimate(value=one.rho, low=one.low, high=one.high, n=one.n), one.n)
                for one in defined
            ]
            tables.append(Table.of("relations", "What goes with similarity of the sets", columns, rows))
        told = list(self.verdicts[1:]) if len(self.cards) > _FEW else []
        if self.cloud is not None and (spread := self.cloud.to_dict()["coherence"]) is not None:
            told.append(
                f"{len(self.cloud.sets)} generated sets, {len(self.cloud.pairs):,} pairs: coherence "
                f"{spread['p05']:.2f} to {spread['p95']:.2f} (5 to 95 %), median {spread['median']:.2f}."
            )
        return Summary(
            title="Fitness of seed words",
            headline=self.verdicts[0],
            sentences=tuple(told),
            tables=tuple(tables),
            charts=seeds_charts(self),
            parts=tuple(card.summary() for card in self.cards) if len(self.cards) <= _FEW else (),
            warnings=self.warnings,
        )

    def _table(self) -> Table:
        columns: list[Column | str] = [
            Column("verdict", "mark", tones=TONES),
            *(Column(name, "number") for name in ("coherence", "held out", "similar", "PC1", "shuffled")),
            "sets",
        ]
        rows = []
        for card in self._worst_first():
            numbers = (card.coherence, card.held_out, card.similarity, card.pairing.first)
            shuffled = card.pairing.shuffled[0] if card.pairing.shuffled else None
            rows.append((card.verdict, *(number.value for number in numbers), shuffled, _sets(card)))
        return Table.of("pairs", "", columns, rows)

    def _advice(self) -> Table:
        columns: list[Column | str] = ["sets", Column("held out [95 % interval]", "estimate"), "beware"]
        rows = [
            (_sets(card), card.held_out, "; ".join(advice.sentence for advice in card.advice))
            for card in self._worst_first()
        ]
        return Table.of("advice", "What to beware of, for each pair of sets", columns, rows, folded=True)

    def _worst_first(self) -> list[FitnessCard]:
        return sorted(self.cards, key=lambda card: list(TONES).index(card.verdict))


def _sets(card: FitnessCard) -> str:
    a, b, paper = card.short_names
    return f"{a} | {b} ({paper})" if paper else f"{a} | {b}"
