"""The fitness card of a pair of seed sets: can the two tell anything apart in these models, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from biasgauge.analyses.seeds.advice import Advice
from biasgauge.analyses.seeds.balance import Balance
from biasgauge.analyses.seeds.coherence import SeedInfluence
from biasgauge.analyses.seeds.pairing import Pairing
from biasgauge.core import Estimate, JsonMapping, JsonObject
from biasgauge.results import Column, Result, Summary, Table, counted, level_text, lists_name, p_phrase, signed_text
from biasgauge.vectors import Coverage


@dataclass(frozen=True, eq=False, repr=False)
class FitnessCard(Result):
    """Quality of one pair of seed sets.

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

    abridged: ClassVar[bool] = True
    hidden: ClassVar[frozenset[str]] = frozenset({"coherence", "held_out", "coherence_published", "similarity"})

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
    def title(self) -> str:
        """Names of the two sets: "math / arts (WEAT 7)"."""
        return lists_name(self.a, self.b)

    @property
    def verdict(self) -> str:
        """Verdict from the advice: "unfit", "doubtful" or "no objection"."""
        if self.reason is not None or any(advice.severe for advice in self.advice):
            return "unfit"
        return "doubtful" if any(advice.serious for advice in self.advice) else "no objection"

    def derived(self) -> JsonMapping:
        """The verdict, numbers with their intervals beside them, and the advice as sentences."""
        return {
            "verdict": self.verdict,
            **self.coherence.beside("coherence"),
            **self.held_out.beside("coherence_held_out"),
            **self.coherence_published.beside("coherence_published"),
            **self.similarity.beside("similarity"),
            "explained_variance": self.explained_variance,
            "explained_variance_shuffled": self.explained_variance_shuffled,
            "advice": [advice.sentence for advice in self.advice],
        }

    def to_row(self) -> dict[str, Any]:
        """One row of a table of pairs."""
        row: JsonObject = {"a": self.a, "b": self.b, "verdict": self.verdict}
        for name, number in (
            ("coherence", self.coherence),
            ("coherence_held_out", self.held_out),
            ("similarity", self.similarity),
            ("first_share", self.pairing.first),
            ("first_share_shuffled", self.pairing.shuffled_first),
        ):
            row |= {name: number.value, f"{name}_low": number.low, f"{name}_high": number.high}
        worst = self.influence[0] if self.influence else None
        return {
            **row,
            "coherence_published": self.coherence_published.value,
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
            "advice": "; ".join(advice.sentence for advice in self.advice),
        }

    def summary(self) -> Summary:
        """The numbers of the two sets, and what to beware of."""
        pairing, coverage = self.pairing, self.coverage
        rows: list[tuple[str, Estimate, str]] = [
            ("coherence", *_with_method(self.coherence)),
            ("coherence, held out", *_with_method(self.held_out)),
            ("coherence, as published", *_with_method(self.coherence_published)),
            ("similarity", *_with_method(self.similarity)),
            (f"first component of {pairing.pairs} pairs", *_with_method(pairing.first, pairing.reason)),
        ]
        if pairing.p_value is not None:
            over = f"over {pairing.shuffles} shuffles, {p_phrase(pairing.p_value)}"
            rows.append(("  shuffled pairs", pairing.shuffled_first, over))
            rows.append(("  random pairs", pairing.random, "over random words"))
        rows.append(("held-out pairs in order", *_with_method(pairing.accuracy, pairing.reason)))
        moving = [f"{seed.word} {signed_text(seed.change, 3)}" for seed in self.influence if seed.change is not None][
            :3
        ]
        most = [f"Without a seed, coherence changes most for: {', '.join(moving)}."] if moving else []
        models = f"{self.models} of {counted(self.of_models, 'model')}"
        coverage_text = f"{coverage.found} of {counted(coverage.asked, 'seed')} found, in {models}"
        return Summary(
            title=self.title,
            headline=f"{self.title}: {self.verdict}; {coverage_text}",
            sentences=(*(advice.sentence for advice in self.advice), *most),
            tables=(Table.of("card", "", ["", Column("value [interval]", "estimate", 3), "interval by"], rows),),
        )


def _with_method(number: Estimate, reason: str | None = None) -> tuple[Estimate, str]:
    """A number, and how its interval was found or why it has none."""
    if number.value is None:
        return replace(number, reason=number.reason or reason), ""
    return number, f"{level_text(number.level)}, {number.method}" if number.bounded else f"none: {number.reason}"
