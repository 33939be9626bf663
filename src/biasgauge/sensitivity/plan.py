"""What is to be scored: words and pairs, their other forms, the measures, and who may be a neighbor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from biasgauge import registry
from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.inputs import WordsLike
from biasgauge.lexicons import words_of
from biasgauge.measures import Measure, Neighborhood
from biasgauge.scores import AS_PUBLISHED
from biasgauge.sensitivity.forms import FormsLike, PairForms, WordForms, find_forms, find_pair_forms, spellers
from biasgauge.sensitivity.vocabularies import FREQUENT, neutral

Pair = tuple[str, str]

MEASURES = ("dbwa", "ripa", "nbm")
NEUTRAL = "neutral"
PAPER = "zhang2020"
NO_WORD = "the word itself is not in the vocabulary"
ANOTHER_LOST = "another of its forms is not in the vocabulary"


@dataclass(frozen=True)
class Plan:
    """Words, pairs and their forms.

    Attributes:
        words, pairs: as asked for, each once, found or not.
        forms, pair_forms: the other forms, with those that are lost.
    """

    words: tuple[str, ...]
    pairs: tuple[Pair, ...]
    forms: tuple[WordForms, ...]
    pair_forms: tuple[PairForms, ...]

    @classmethod
    def of(
        cls,
        model: Embedding,
        pairs: Iterable[Pair],
        words: Iterable[str],
        forms: FormsLike,
        pair_forms: FormsLike,
        *,
        as_published: bool = False,
    ) -> Plan:
        """Look up every form. As published, a word counts only where all its forms are there."""
        asked, bases = tuple(dict.fromkeys(words)), tuple(dict.fromkeys(pairs))
        there = [word for word in asked if word in model]
        missing = {word: NO_WORD for word in asked if word not in model}
        found = [
            find_forms(model, there, name, spell) for name, spell in spellers(forms, as_published=as_published).items()
        ]
        if as_published and found:
            complete = frozenset.intersection(*(frozenset(one.found) for one in found))
            found = [one.only(complete, ANOTHER_LOST) for one in found]
        return cls(
            asked,
            bases,
            tuple(WordForms(one.name, one.found, MappingProxyType({**missing, **one.lost})) for one in found),
            tuple(
                find_pair_forms(model, bases, name, spell)
                for name, spell in spellers(pair_forms, as_published=as_published).items()
            ),
        )

    @property
    def all_words(self) -> list[str]:
        """Every word in every form, each once."""
        return list(dict.fromkeys([*self.words, *(form for one in self.forms for form in one.found.values())]))

    @property
    def all_pairs(self) -> list[Pair]:
        """Every pair in every form, each once."""
        return list(dict.fromkeys([*self.pairs, *(form for one in self.pair_forms for form in one.found.values())]))


def chosen_measures(
    given: str | Measure | Sequence[str | Measure], *, as_published: bool = False
) -> tuple[Measure, ...]:
    """Measures by name; as published, those that the paper's code computes under these names."""
    variants = AS_PUBLISHED[PAPER] if as_published else {}
    names = [given] if isinstance(given, (str, Measure)) else list(given)
    return tuple(registry.get("measure", variants.get(one, one) if isinstance(one, str) else one) for one in names)


def pool_of(
    given: WordsLike | None,
    model: Embedding,
    pairs: Sequence[Pair],
    measures: Sequence[Measure],
    frequent: int = FREQUENT,
    *,
    as_published: bool = False,
) -> tuple[str, ...] | None:
    """Which words may be neighbors; None for all, also where no measure asks for neighbors."""
    if given is None or not any(isinstance(one, Neighborhood) for one in measures):
        return None
    if isinstance(given, str) and given == NEUTRAL:
        found = neutral(model, pairs, frequent, as_published=as_published)
        if not found:
            raise ParameterError(
                f"None of the first {frequent:,} words can be a neutral neighbor; name a 'pool', or None for all."
            )
        return found
    return words_of(given).words
