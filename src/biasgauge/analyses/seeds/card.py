"""`FitnessCard` of a pair of seed sets: can they tell anything apart, and what to beware of; `SeedsResult`: several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from biasgauge.analyses.seeds.coherence import SeedInfluence
from biasgauge.analyses.seeds.figures import seeds_charts
from biasgauge.analyses.seeds.pairing import Balance, Pairing
from biasgauge.analyses.seeds.word_pairs import Located
from biasgauge.core import INTERVAL, Estimate, JsonMapping, JsonObject
from biasgauge.lexicons import SharedWords
from biasgauge.results import (
    Chart,
    Column,
    RecordTable,
    Result,
    Summary,
    Table,
    Tone,
    counted,
    level_text,
    lists_name,
    number_text,
    p_phrase,
    share_text,
    signed_text,
)
from biasgauge.vectors import Coverage

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.seeds.generated import Cloud, Relation

NOT_APART = 0.1
"""Held-out coherence below which the sets are not told apart: a tenth of the vocabulary."""
WEAK = 0.3
"""Held-out coherence below which closeness in meaning makes a pair of sets doubtful."""
ALIKE = 0.8
"""Similarity above which two sets mean nearly the same to the model."""
DRIVES = 0.25
"""Share of the coherence that a single seed may hold or hide."""
UNLIKE_FREQUENCY = 0.8
TONES: dict[str, Tone] = {"unfit": "bad", "doubtful": "caution", "no objection": "good"}
"""Verdicts on a pair of sets, the worst first."""
_FEW = 3
"""Up to so many pairs are summed up one by one, more as a table."""
_TITLE = Column("sets", source="title")
_NUMBERS = (
    Column("verdict", "mark", tones=TONES),
    Column("coherence", "number", source="coherence.value"),
    Column("held out", "number", source="held_out.value"),
    Column("similar", "number", source="similarity.value"),
    Column("PC1", "number", source="pairing.first.value"),
    Column("shuffled", "number", source="pairing.shuffled_first.value"),
    _TITLE,
)
_OBJECTIONS = (
    _TITLE,
    Column("held out [95 % interval]", "estimate", source="held_out"),
    Column("beware", source=lambda card: "; ".join(card.sentences)),
)
_CORRELATIONS = (
    Column("sets", source="of"),
    Column("of", source="x"),
    Column("with", source="y"),
    Column("Spearman [95 %]", "estimate", source="."),
    Column("pairs", "count", source="n"),
)


class Advice(NamedTuple):
    """One objection to a pair of sets, which is doubtful where it is serious, unfit where it is severe."""

    sentence: str
    serious: bool = True
    severe: bool = False


def advise(
    located: Located,
    coherence: Estimate,
    held_out: Estimate,
    similarity: Estimate,
    pairing: Pairing,
    balance: Balance,
    influence: Sequence[SeedInfluence],
) -> tuple[Advice, ...]:
    """Look at everything that was measured about a pair of sets."""
    if located.reason is not None:
        return (Advice(f"nothing can be measured: {located.reason}", severe=True), *_about_words(located, balance))
    return (
        *_about_numbers(coherence, held_out, similarity, influence),
        *_about_words(located, balance),
        *_about_lists(located, balance),
        *_about_pairs(pairing, balance),
    )


def _about_numbers(
    coherence: Estimate, held_out: Estimate, similarity: Estimate, influence: Sequence[SeedInfluence]
) -> Iterator[Advice]:
    if coherence.value is None:
        yield Advice(f"there is no subspace: {coherence.reason}", severe=True)
        return
    if held_out.value is not None and held_out.value < NOT_APART:
        yield Advice(
            f"the subspace does not separate the sets: held-out coherence {number_text(held_out.value)} "
            f"(in-sample {number_text(coherence.value)})",
            severe=True,
        )
    if similarity.value is not None and similarity.value > ALIKE:
        weak = held_out.value is None or held_out.value < WEAK
        yield Advice(
            f"the two sets are close in meaning (cosine {number_text(similarity.value)}), which tends to lower "
            "coherence",
            weak,
        )
    if influence and influence[0].change is not None and abs(influence[0].change) > DRIVES * coherence.value:
        seed = f"without {influence[0].word!r} coherence is {number_text(influence[0].without)}"
        yield Advice(f"one seed drives it: {seed} instead of {number_text(coherence.value)}")


def _about_words(located: Located, balance: Balance) -> Iterator[Advice]:
    if balance.shared:
        shared = SharedWords(balance.shared, (len(located.a), len(located.b)))
        yield Advice(shared.sentence, severe=shared.most_apart < NOT_APART)
    lost = [word for words in located.coverage.lost.values() for word in words]
    if lost:
        yield Advice(f"{len(lost)} of {located.coverage.asked} seeds are lost: {_few(lost)}", serious=False)
    if 0 < len(located.rows) < located.models:
        yield Advice(f"only {len(located.rows)} of {located.models} models have all seeds", serious=False)


def _about_lists(located: Located, balance: Balance) -> Iterator[Advice]:
    labels = {"a": located.pair.a, "b": located.pair.b}
    if balance.names:
        which = "both sets are" if len(balance.names) > 1 else f"{labels[balance.names[0]]} is"
        yield Advice(f"{which} names: expect low coherence, and that another corpus knows other people", serious=False)
    for end, words in located.pair.duplicates.items():
        if words:
            yield Advice(f"{labels[end]} has duplicates, which count once: {_few(words)}", serious=False)
    smallest = min(len(located.a), len(located.b))
    if smallest < 5:
        yield Advice(f"few seeds: a set of {smallest} says little about its category")
    if balance.frequency is not None and not 1 - UNLIKE_FREQUENCY <= balance.frequency <= UNLIKE_FREQUENCY:
        more = "a" if balance.frequency > UNLIKE_FREQUENCY else "b"
        yield Advice(f"{labels[more]} has the more frequent words: the subspace may measure frequency")
    if balance.pos is not None and balance.pos < 0.5:
        yield Advice("the sets differ in part of speech: the subspace may measure grammar")


def _about_pairs(pairing: Pairing, balance: Balance) -> Iterator[Advice]:
    if balance.size < 1:
        yield Advice(
            f"the sets differ in size: explained variance rests on the first {pairing.pairs} pairs", serious=False
        )
    if pairing.p_value is not None and pairing.p_value > 0.05:
        yield Advice(
            f"the pairing says nothing: shuffled pairs have as strong a first component ({p_phrase(pairing.p_value)})",
            serious=False,
        )
    if pairing.accuracy.defined and (pairing.accuracy.low or 0) < 0.5:
        yield Advice(
            f"held-out pairs are not reliably put in order ({share_text(pairing.accuracy.value)} of {pairing.pairs})",
            serious=False,
        )


def _few(words: Sequence[str]) -> str:
    return ", ".join(words[:6]) + (f" and {len(words) - 6} more" if len(words) > 6 else "")


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
    json_types: ClassVar[Mapping[str, Any]] = {
        "advice": tuple[str, ...],
        "coherence": float | None,
        "coherence_interval": INTERVAL,
        "coherence_held_out": float | None,
        "coherence_held_out_interval": INTERVAL,
        "coherence_published": float | None,
        "coherence_published_interval": INTERVAL,
        "similarity": float | None,
        "similarity_interval": INTERVAL,
    }
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

    @property
    def sentences(self) -> list[str]:
        """Objections to the pair in plain words, most important first."""
        return [advice.sentence for advice in self.advice]

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
            "advice": self.sentences,
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
        worst = self.influence[0] if self.influence else SeedInfluence("", "", None, None, None)
        return {
            **row,
            "coherence_published": self.coherence_published.value,
            "held_out_accuracy": self.pairing.accuracy.value,
            "overlap": self.balance.overlap,
            "size_balance": self.balance.size,
            "frequency_balance": self.balance.frequency,
            "pos_balance": self.balance.pos,
            "most_influential": worst.word or None,
            "influence": worst.change,
            "found": self.coverage.found,
            "asked": self.coverage.asked,
            "models": self.models,
            "reason": self.reason,
            "advice": "; ".join(self.sentences),
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
        moving = [f"{seed.word} {signed_text(seed.change, 3)}" for seed in self.influence if seed.change is not None]
        most = [f"Without a seed, coherence changes most for: {', '.join(moving[:3])}."] if moving else []
        models = f"{self.models} of {counted(self.of_models, 'model')}"
        coverage_text = f"{coverage.found} of {counted(coverage.asked, 'seed')} found, in {models}"
        return Summary(
            title=self.title,
            headline=f"{self.title}: {self.verdict}; {coverage_text}",
            sentences=(*self.sentences, *most),
            tables=(Table.of("card", "", ["", Column("value [interval]", "estimate", 3), "interval by"], rows),),
        )


def _with_method(number: Estimate, reason: str | None = None) -> tuple[Estimate, str]:
    """A number, and how its interval was found or why it has none."""
    if number.value is None:
        return replace(number, reason=number.reason or reason), ""
    return number, f"{level_text(number.level)}, {number.method}" if number.bounded else f"none: {number.reason}"


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
    json_types: ClassVar[Mapping[str, Any]] = {"relations": tuple[JsonObject, ...]}
    renamed: ClassVar[Mapping[str, str]] = {"cards": "pairs"}
    hidden: ClassVar[frozenset[str]] = frozenset({"cloud"})
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("worst_first", "", _NUMBERS, name="pairs"),
        RecordTable("worst_first", "What to beware of, for each pair of sets", _OBJECTIONS, folded=True, name="advice"),
        RecordTable("with_similarity", "What goes with similarity of the sets", _CORRELATIONS, name="relations"),
    )

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
        """Correlations of similarity and balance with coherence and explained variance, over more than a few pairs."""
        generated = () if self.cloud is None else self.cloud.relations
        if len(self.cards) <= _FEW:
            return generated
        from biasgauge.analyses.seeds.generated import relations

        return relations(self.to_frame(), "gathered") + generated

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Conclusions in sentences: how many pairs of sets are fit, and what is wrong with those that are not."""
        counts = Counter(card.verdict for card in self.cards)
        texts = {"no objection": "without objection", "doubtful": "doubtful", "unfit": "unfit"}
        kinds = ", ".join(f"{counts[kind]} {text}" for kind, text in texts.items() if counts[kind])
        unfit = [f"{card.title}: {card.advice[0].sentence}" for card in self.cards if card.verdict == "unfit"]
        return (f"Of {counted(self.cards, 'pair of word sets', 'pairs of word sets')}: {kinds}", *unfit)

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair of sets."""
        import pandas as pd

        return pd.DataFrame([card.to_row() for card in self.cards])

    def derived(self) -> JsonMapping:
        """Relations over all pairs, and the generated sets where they were asked for."""
        return {"relations": self.relations, **({} if self.cloud is None else {"generated": self.cloud})}

    @property
    def worst_first(self) -> list[FitnessCard]:
        """Cards of more than a few pairs, by verdict; few have a summary each."""
        return sorted(self.cards, key=lambda card: list(TONES).index(card.verdict)) if len(self.cards) > _FEW else []

    @property
    def with_similarity(self) -> list[Relation]:
        """Correlations of similarity with the other numbers."""
        return [row for row in self.relations if row.defined and row.x == "similarity"]

    def summary(self) -> Summary:
        """A card for each of a few pairs of sets, a table of many; what holds over all; generated sets."""
        cards = self.cards if len(self.cards) <= _FEW else ()
        return replace(super().summary(), parts=tuple(card.summary() for card in cards))

    def _title(self) -> str:
        return "Fitness of seed words"

    def _headline(self) -> str:
        return self.verdicts[0]

    def _sentences(self) -> list[str]:
        sentences = list(self.verdicts[1:]) if len(self.cards) > _FEW else []
        if self.cloud is not None and self.cloud.to_dict()["coherence"] is not None:
            sentences.append(self.cloud.summary().headline)
        return sentences

    def _charts(self) -> tuple[Chart, ...]:
        return seeds_charts(self)
