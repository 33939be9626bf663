"""The fitness card of a pair of seed sets: can the two tell anything apart in these models, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from biasgauge.embeddings import Coverage
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.seed_words.advice import Advice
from biasgauge.seed_words.balance import Balance
from biasgauge.seed_words.influence import SeedInfluence
from biasgauge.seed_words.pairing import Pairing
from biasgauge.stats.estimate import Estimate

_MOST_INFLUENCES = 3


@dataclass(frozen=True, eq=False, repr=False)
class FitnessCard(Result):
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
    coherence: Estimate
    held_out: Estimate
    coherence_published: Estimate
    similarity: Estimate
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
            **self.coherence.beside("coherence"),
            **self.held_out.beside("coherence_held_out"),
            **self.coherence_published.beside("coherence_published"),
            **self.similarity.beside("similarity"),
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
            row[f"{name}_low"] = one.low
            row[f"{name}_high"] = one.high
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

    def summary(self) -> Summary:
        """The numbers of the two sets, and what to beware of."""
        pairing = self.pairing
        rows: list[tuple[str, Estimate, str]] = [
            ("coherence", *_with_method(self.coherence)),
            ("coherence, held out", *_with_method(self.held_out)),
            ("coherence, as published", *_with_method(self.coherence_published)),
            ("similarity", *_with_method(self.similarity)),
            (f"first component of {pairing.pairs} pairs", *_with_method(pairing.first, pairing.reason)),
        ]
        if pairing.shuffled_first is not None and pairing.random is not None:
            low, high = pairing.shuffled_first
            shuffled = Estimate(value=pairing.shuffled[0], low=low, high=high)
            mean, least, most = pairing.random
            rows += [
                ("  shuffled pairs", shuffled, f"over {pairing.shuffles} shuffles, p = {pairing.p_value:.3f}"),
                ("  random pairs", Estimate(value=mean, low=least, high=most), "over random words"),
            ]
        rows.append(("held-out pairs in order", *_with_method(pairing.accuracy, pairing.reason)))
        moving = [one for one in self.influence if one.change is not None][:_MOST_INFLUENCES]
        named = ", ".join(f"{one.word} {one.change:+.3f}" for one in moving)
        told = [f"Without a seed, coherence changes most for: {named}."] if moving else []
        found = (
            f"{self.coverage.found} of {self.coverage.asked} seeds found, in {self.models} of {self.of_models} models"
        )
        return Summary(
            title=f"{self.a} and {self.b}",
            headline=f"{self.a} and {self.b}: {self.verdict}; {found}",
            sentences=(*(one.sentence for one in self.advice), *told),
            tables=(Table.of("card", "", ["", Column("value [interval]", "estimate", 3), "interval by"], rows),),
        )


def _with_method(number: Estimate, reason: str | None = None) -> tuple[Estimate, str]:
    """A number, and how its interval was found or why it has none."""
    if number.value is None:
        return replace(number, reason=number.reason or reason), ""
    return number, f"{number.level:.0%}, {number.method}" if number.bounded else f"none: {number.reason}"
