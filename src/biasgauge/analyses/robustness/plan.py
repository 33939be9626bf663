"""Words and pairs to score, their other forms, the measures, and truths; which words are frequent or neutral.

Zhang, Sneyd & Stevenson 2020, section 5, after Bolukbasi et al. 2016 and Gonen & Goldberg 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

import numpy as np

from biasgauge import registry
from biasgauge.analyses.robustness.forms import (
    FormsLike,
    Pair,
    PairForms,
    WordForms,
    find_forms,
    find_pair_forms,
    spellers,
)
from biasgauge.core import EXACT_POLICY, Floats, LexiconLike, WordPolicy, WordsLike, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language, Lexicon, Pairs, language_of, lexicon, words_of
from biasgauge.metrics import Measure, Neighborhood
from biasgauge.scores import AS_PUBLISHED
from biasgauge.vectors import Embedding

MEASURES = ("dbwa", "ripa", "nbm")
NEUTRAL = "neutral"
FREQUENT = 50_000
NO_WORD = "the word itself is not in the vocabulary"
ANOTHER_LOST = "another of its forms is not in the vocabulary"
_LETTERS, _ENGLISH_LETTERS = re.compile(r"(?:[^\W\d]|_)+"), re.compile(r"[A-Za-z_]+")


@dataclass(frozen=True)
class RobustnessPlan:
    """Words and pairs as asked for, each once, found or not; their other forms, with those that are lost."""

    words: tuple[str, ...]
    pairs: tuple[Pair, ...]
    forms: tuple[WordForms, ...]
    pair_forms: tuple[PairForms, ...]

    @classmethod
    def build(
        cls,
        model: Embedding,
        pairs: Iterable[Pair],
        words: Iterable[str],
        forms: FormsLike,
        pair_forms: FormsLike,
        *,
        as_published: bool = False,
        policy: WordPolicy = EXACT_POLICY,
    ) -> RobustnessPlan:
        """Look up every form. As published, a word counts only where all its forms are there."""
        wanted = tuple(dict.fromkeys(as_spelled(model, words, policy)))
        bases = tuple(dict.fromkeys((first, second) for first, second in (as_spelled(model, p, policy) for p in pairs)))
        present = [word for word in wanted if word in model]
        missing = {word: NO_WORD for word in wanted if word not in model}
        spell = spellers(forms, as_published=as_published)
        looked_up = [find_forms(model, present, name, function) for name, function in spell.items()]
        if as_published:
            missing |= {word: ANOTHER_LOST for word in present if any(word in form.lost for form in looked_up)}
        word_forms = []
        for form in looked_up:
            usable = {word: spelling for word, spelling in form.found.items() if word not in missing}
            word_forms.append(WordForms(form.name, usable, {**missing, **form.lost}))
        spell = spellers(pair_forms, as_published=as_published)
        formed_pairs = (find_pair_forms(model, bases, name, function) for name, function in spell.items())
        return cls(wanted, bases, tuple(word_forms), tuple(formed_pairs))

    @property
    def all_words(self) -> list[str]:
        """Every word in every form, each once."""
        return list(dict.fromkeys([*self.words, *(word for form in self.forms for word in form.found.values())]))

    @property
    def all_pairs(self) -> list[Pair]:
        """Every pair in every form, each once."""
        return list(dict.fromkeys([*self.pairs, *(pair for form in self.pair_forms for pair in form.found.values())]))


def as_spelled(model: Embedding, words: Iterable[str], policy: WordPolicy) -> tuple[str, ...]:
    """Words as the vocabulary spells them: in another case where they are lost as written, if the policy allows it."""
    wanted = tuple(words)
    respelled = model.lookup(wanted, case_fallback=policy.uses_fallback([model])).respelled
    return tuple(respelled.get(word, word) for word in wanted)


def chosen_measures(
    measures: str | Measure | Sequence[str | Measure], *, as_published: bool = False
) -> tuple[Measure, ...]:
    """Measures by name; as published, those that the paper's code computes under these names."""
    variants = AS_PUBLISHED["zhang2020"] if as_published else {}
    names = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    return tuple(registry.get("measure", variants.get(name, name) if isinstance(name, str) else name) for name in names)


def pool_of(
    pool: WordsLike | None,
    model: Embedding,
    pairs: Sequence[Pair],
    measures: Sequence[Measure],
    frequent: int = FREQUENT,
    *,
    as_published: bool = False,
    language: str | Language = DEFAULT_LANGUAGE,
) -> tuple[str, ...] | None:
    """Words that may be neighbors; None for all, also where no measure uses neighbors."""
    if pool is None or not any(isinstance(measure, Neighborhood) for measure in measures):
        return None
    if not isinstance(pool, str) or pool != NEUTRAL:
        return words_of(pool).words
    words = neutral(model, pairs, frequent, as_published=as_published, language=language)
    if not words:
        raise ParameterError(
            f"None of the first {frequent:,} words can be a neutral neighbor; name a 'pool', or None for all."
        )
    return words


def limited(vectors: Embedding, frequent: int = FREQUENT, *, as_published: bool = False) -> tuple[str, ...]:
    """Frequent words of letters: among the first `frequent` of the file, no digit, no punctuation, 20 letters at most.

    Underscores join phrases and are allowed. As published: letters of English alone, 19 at most, as the code has it.
    """
    check_whole(1, frequent=frequent)
    pattern, most = (_ENGLISH_LETTERS, 19) if as_published else (_LETTERS, 20)
    return tuple(
        word for word in vectors.words[:frequent] if len(word) <= most and pattern.fullmatch(word) and word.strip("_")
    )


def neutral(
    vectors: Embedding,
    pairs: Iterable[Pair],
    frequent: int = FREQUENT,
    *,
    as_published: bool = False,
    language: str | Language = DEFAULT_LANGUAGE,
) -> tuple[str, ...]:
    """The limited words that are in lower case and do not name what the pairs are about.

    Left out are the words of the pairs and, where one of them is in the first list of gendered words of the language
    (`gender_specific` in English), all words of all its gendered lists.
    """
    left_out = {end for pair in pairs for end in pair}
    gendered = language_of(language).named("gendered")
    if gendered and (as_published or not left_out.isdisjoint(lexicon(gendered[0]).words)):
        left_out.update(word for name in gendered for word in lexicon(name).words)
    words = limited(vectors, frequent, as_published=as_published)
    return tuple(word for word in words if word not in left_out and word == word.lower())


@dataclass(frozen=True)
class Truth:
    """Words that should lean to the first end of the pairs, and words that should lean to the second."""

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]

    def __post_init__(self) -> None:
        if both := [word for word in self.first if word in set(self.second)]:
            raise ParameterError(
                f"A word of the truth {self.name!r} can lean to one end only. Got {both[0]!r} on both."
            )

    @property
    def words(self) -> tuple[str, ...]:
        """All of its words, those of the first end before those of the second."""
        return (*self.first, *self.second)

    @property
    def directions(self) -> Floats:
        """1 for words of the first end, −1 for those of the second."""
        return np.repeat([1.0, -1.0], [len(self.first), len(self.second)])


TruthsLike: TypeAlias = (
    "LexiconLike | Iterable[LexiconLike] | Mapping[str, Mapping[str, WordsLike] | Sequence[WordsLike]]"
)
"""Words whose direction is known: lexicons, or names to (words of the first end, words of the second)."""


def truths_of(truths: TruthsLike | None, pairs: Pairs) -> tuple[tuple[Truth, ...], str]:
    """Turn what a user may give as `truths` into truths about these pairs; and what to know about it, if anything.

    A lexicon's sets are matched with the ends of the pairs by name, such as "male" and "female". A mapping of a name to
    two collections of words has those of the first end first, or names the ends.

    Raises:
        ParameterError: sets and ends cannot be matched, or a word is on both sides.
        LexiconError: a lexicon is unknown.
    """
    if truths is None:
        if set(pairs.ends) != {"male", "female"}:
            return (), (
                f"no truths: the ends of the pairs are called {' and '.join(pairs.ends)}, the shipped truths are about "
                "male and female; name your own"
            )
        language_record = language_of(pairs.language)
        if reason := language_record.lacks("truths"):
            return (), f"no truths: {reason}"
        truths = language_record.named("truths")
    if isinstance(truths, Mapping):
        return tuple(_truth(str(name), sides, pairs.ends) for name, sides in truths.items()), ""
    sources = [truths] if isinstance(truths, (str, PathLike, Lexicon)) else truths
    if not isinstance(sources, Iterable):
        raise ParameterError(
            f"The 'truths' must be lexicons, or a mapping of names to two sets of words. Got {truths!r}."
        )
    return tuple(_truth(source.name, source.sets, pairs.ends) for source in map(lexicon, sources)), ""


def _truth(name: str, sides: Mapping[str, WordsLike] | Iterable[WordsLike], ends: tuple[str, str]) -> Truth:
    if isinstance(sides, Mapping):
        if set(sides) != set(ends):
            raise ParameterError(
                f"The truth {name!r} must have a set of words for each end of the pairs, {' and '.join(ends)}. "
                f"Got {', '.join(map(str, sides))}; give {{{name!r}: (words of the first end, words of the second)}}."
            )
        sides = [sides[end] for end in ends]
    both = list(sides) if isinstance(sides, Iterable) and not isinstance(sides, str) else []
    if len(both) != len(ends):
        raise ParameterError(
            f"The truth {name!r} must be two sets of words, that of the pairs' first end first. Got {sides!r}."
        )
    first, second = (tuple(dict.fromkeys(words_of(side).words)) for side in both)
    return Truth(name, first, second)
