"""Advice on a pair of seed sets, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from biasgauge.analyses.seeds.balance import Balance
from biasgauge.analyses.seeds.coherence import SeedInfluence
from biasgauge.analyses.seeds.located import Located
from biasgauge.analyses.seeds.pairing import Pairing
from biasgauge.core import Estimate
from biasgauge.lexicons import SharedWords
from biasgauge.results import number_text, p_phrase, share_text

NOT_APART = 0.1
"""Held-out coherence below which the sets are not told apart: a tenth of the vocabulary."""
WEAK = 0.3
"""Held-out coherence below which closeness in meaning makes a pair of sets doubtful."""
ALIKE = 0.8
"""Similarity above which two sets mean nearly the same to the model."""
DRIVES = 0.25
"""Share of the coherence that a single seed may hold or hide."""
UNLIKE_FREQUENCY = 0.8


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
            f"the sets are not told apart: seeds that have no say in the subspace stand "
            f"{number_text(held_out.value)} of the vocabulary apart (with a say: {number_text(coherence.value)})",
            severe=True,
        )
    if similarity.value is not None and similarity.value > ALIKE:
        weak = held_out.value is None or held_out.value < WEAK
        yield Advice(
            f"the two sets are close in meaning (cosine {number_text(similarity.value)}): such sets tend to "
            "low coherence",
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
    if len(located.model_indexes) < located.models and located.model_indexes:
        yield Advice(f"only {len(located.model_indexes)} of {located.models} models have all seeds", serious=False)


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
