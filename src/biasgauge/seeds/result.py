"""What `seeds` returns: a fitness card for each pair of sets, and what holds over all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from biasgauge.seeds.relations import FEWEST, Relation, relations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from biasgauge.seeds.card import FitnessCard
    from biasgauge.seeds.generated import Cloud


@dataclass(frozen=True, eq=False)
class SeedsResult:
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
        import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

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

    def __repr__(self) -> str:
        return f"<SeedsResult: {len(self.cards)} pairs of sets on {len(self.models)} models>"

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))
