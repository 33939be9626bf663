"""Words and pairs to score, their other forms, the measures; which words are frequent or neutral.

Zhang, Sneyd & Stevenson 2020, section 5, after Bolukbasi et al. 2016 and Gonen & Goldberg 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
from biasgauge.core import WordsLike, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language, language_of, lexicon, words_of
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
class Plan:
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
        case_fallback: bool = False,
    ) -> Plan:
        """Look up every form. As published, a word counts only where all its forms are there."""
        wanted = tuple(dict.fromkeys(as_spelled(model, words, case_fallback=case_fallback)))
        spelled = (as_spelled(model, pair, case_fallback=case_fallback) for pair in pairs)
        bases = tuple(dict.fromkeys((first, second) for first, second in spelled))
        in_vocabulary = [word for word in wanted if word in model]
        missing = {word: NO_WORD for word in wanted if word not in model}
        spell = spellers(forms, as_published=as_published)
        of_words = [find_forms(model, in_vocabulary, name, function) for name, function in spell.items()]
        if as_published:
            missing |= {word: ANOTHER_LOST for word in in_vocabulary if any(word in form.lost for form in of_words)}
        usable_forms = [
            {word: spelling for word, spelling in form.found.items() if word not in missing} for form in of_words
        ]
        spell = spellers(pair_forms, as_published=as_published)
        return cls(
            wanted,
            bases,
            tuple(
                WordForms(form.name, spellings, {**missing, **form.lost})
                for form, spellings in zip(of_words, usable_forms, strict=True)
            ),
            tuple(find_pair_forms(model, bases, name, function) for name, function in spell.items()),
        )

    @property
    def all_words(self) -> list[str]:
        """Every word in every form, each once."""
        return list(
            dict.fromkeys([*self.words, *(spelling for form in self.forms for spelling in form.found.values())])
        )

    @property
    def all_pairs(self) -> list[Pair]:
        """Every pair in every form, each once."""
        return list(
            dict.fromkeys([*self.pairs, *(spelling for form in self.pair_forms for spelling in form.found.values())])
        )


def as_spelled(model: Embedding, words: Iterable[str], *, case_fallback: bool) -> tuple[str, ...]:
    """Words as the vocabulary spells them: in another case where they are lost as written, if that is allowed."""
    wanted = tuple(words)
    respelled = model.lookup(wanted, case_fallback=True).respelled if case_fallback else {}
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
