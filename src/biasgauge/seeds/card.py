"""The fitness card of a pair of seed sets: can the two tell anything apart in these models, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasgauge.embeddings import Coverage
    from biasgauge.seeds.advice import Advice
    from biasgauge.seeds.balance import Balance
    from biasgauge.seeds.influence import SeedInfluence
    from biasgauge.seeds.intervals import Measured
    from biasgauge.seeds.pairing import Pairing


@dataclass(frozen=True, eq=False)
class FitnessCard:
    """What one pair of seed sets is worth.

    Attributes:
        a, b: the sets.
        coherence: distance of their mean ranks along their subspace, as a share of the vocabulary: 0 they stand in the
            same place, 1 at opposite ends. It is high for any few words, because the subspace is made from them.
        held_out: the same with every seed ranked along the subspace of the others: 0 not told apart, may be negative.
        coherence_published: as the reproduction study computed it: 1 for the largest of the pairs in each model.
        similarity: cosine of the two mean vectors.
        pairing: explained variance of the pairs as they stand, shuffled and at random; held-out pairs.
        balance: shared words, sizes, frequencies, parts of speech, names.
        influence: what the coherence would be without each seed, the most influential first.
        coverage: which seeds were found and which were lost.
        models: how many models have all seeds in use, and so take part.
        of_models: how many there are.
        reason: why nothing could be measured.
        advice: what to beware of, in plain words, most important first.
    """

    a: str
    b: str
    coherence: Measured
    held_out: Measured
    coherence_published: Measured
    similarity: Measured
    pairing: Pairing
    balance: Balance
    influence: tuple[SeedInfluence, ...]
    coverage: Coverage
    models: int
    of_models: int
    reason: str | None
    advice: tuple[Advice, ...]

    @property
    def explained_variance(self) -> tuple[float, ...]:
        """Share of the variance along each principal component of the pairs as they stand."""
        return self.pairing.explained

    @property
    def explained_variance_shuffled(self) -> tuple[float, ...]:
        """The same for shuffled pairs."""
        return self.pairing.shuffled

    @property
    def short_names(self) -> tuple[str, str, str]:
        """The two sets and the paper, where both are of one paper of the seed bank; else the sets and nothing."""
        a, _, paper = self.a.rpartition("-")
        b, _, other = self.b.rpartition("-")
        return (a, b, paper) if a and b and paper == other else (self.a, self.b, "")

    @property
    def verdict(self) -> str:
        """What the advice comes to: "unfit", "doubtful" or "no objection"."""
        if self.reason is not None or any(one.severe for one in self.advice):
            return "unfit"
        return "doubtful" if any(one.serious for one in self.advice) else "no objection"

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`, under `pairs`."""
        return {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            **self.coherence.to_dict("coherence"),
            **self.held_out.to_dict("coherence_held_out"),
            **self.coherence_published.to_dict("coherence_published"),
            **self.similarity.to_dict("similarity"),
            "explained_variance": list(self.explained_variance),
            "explained_variance_shuffled": list(self.explained_variance_shuffled),
            "pairing": self.pairing.to_dict(),
            "balance": self.balance.to_dict(),
            "influence": [one.to_dict() for one in self.influence],
            "coverage": self.coverage.to_dict(),
            "models": self.models,
            "of_models": self.of_models,
            "reason": self.reason,
            "advice": [one.sentence for one in self.advice],
        }

    def to_row(self) -> dict[str, Any]:
        """One row of a table of pairs."""
        worst = self.influence[0] if self.influence else None
        row: dict[str, Any] = {"a": self.a, "b": self.b, "verdict": self.verdict}
        for name, one in (
            ("coherence", self.coherence),
            ("coherence_held_out", self.held_out),
            ("similarity", self.similarity),
            ("first_share", self.pairing.first),
        ):
            row[name] = one.value
            row[f"{name}_low"] = None if one.interval is None else one.interval.low
            row[f"{name}_high"] = None if one.interval is None else one.interval.high
        tails = self.pairing.shuffled_first or (None, None)
        return {
            **row,
            "coherence_published": self.coherence_published.value,
            "first_share_shuffled": self.pairing.shuffled[0] if self.pairing.shuffled else None,
            "first_share_shuffled_low": tails[0],
            "first_share_shuffled_high": tails[1],
            "held_out_accuracy": self.pairing.accuracy.value,
            "overlap": self.balance.overlap,
            "size_balance": self.balance.size,
            "frequency_balance": self.balance.frequency,
            "pos_balance": self.balance.pos,
            "most_influential": None if worst is None else worst.word,
            "influence": None if worst is None else worst.change,
            "found": self.coverage.found,
            "asked": self.coverage.asked,
            "models": self.models,
            "reason": self.reason,
            "advice": "; ".join(one.sentence for one in self.advice),
        }

    def _repr_html_(self) -> str:
        shown = [f"{escape(self.a)} and {escape(self.b)}: <b>{self.verdict}</b>"]
        shown += [escape(one.sentence) for one in self.advice]
        return f"<p>{'<br>'.join(shown)}</p>"
