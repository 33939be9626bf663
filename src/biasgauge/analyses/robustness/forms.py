"""Other forms of words and pairs: plural, capitalized, upper case, or the user's own; none is lost without a reason.

Plurals of English nouns come from a dictionary; of a compound, by its head; by rule for what is in no dictionary. The
dictionary is that of lemminflect (40,000 words of the SPECIALIST Lexicon). Its table is read as data: importing the
package would import spaCy where that is installed, three seconds, and its model for unknown words is a pickle.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import ClassVar, NamedTuple, TypeAlias

from biasgauge.core import JsonMapping, PairsLike, Record, lemminflect_table
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Language, pairs_of
from biasgauge.vectors import Embedding

SAME = "the form is the word itself"
NOT_GIVEN = "no such form is given for it"
NO_NOUN = "it is no noun, so it has no plural"
ALREADY = "it is a plural already"

_AFTER_THE_HEAD = frozenset({"general", "emeritus", "emerita", "elect", "designate", "laureate", "errant", "martial"})
_RANKS = frozenset({"major", "lieutenant", "brigadier", "colonel", "captain"})
"""In "major general" the general is the head; in "attorney general" he is not."""
_PREPOSITIONS = frozenset({"in", "of", "at", "by", "up", "on", "to", "for"})
_IRREGULAR = (("man", "men"), ("child", "children"), ("wife", "wives"), ("person", "people"))
"""Endings of compounds that are in no dictionary, such as "hitman"."""
_PARTS = re.compile(r"([_\- ])")


class Spellings(NamedTuple):
    """Spellings of a form of a word, the likeliest first; or why there is none."""

    spellings: tuple[str, ...]
    reason: str = ""


class _Nouns(NamedTuple):
    """Plurals by noun, all plurals, and words that are listed but not as nouns."""

    plurals: dict[str, tuple[str, ...]]
    plural_forms: frozenset[str]
    not_nouns: frozenset[str]


def plural(word: str) -> Spellings:
    """Plural of an English noun: irregular ones from the dictionary, compounds by their head, else by rule.

    The case of the word is kept: "Man" gives "Men", "MAN" gives "MEN".
    """
    spellings, reason = _plural(word.lower())
    return Spellings(tuple(_in_case_of(word, spelling) for spelling in spellings), reason)


def _in_case_of(word: str, inflected: str) -> str:
    """Upper case or a capital where the word has them, part by part of a compound."""
    if word.isupper() and len(word) > 1:
        return inflected.upper()
    parts, inflected_parts = _PARTS.split(word), _PARTS.split(inflected)
    if len(parts) != len(inflected_parts):
        parts, inflected_parts = [word], [inflected]
    both = zip(parts, inflected_parts, strict=True)
    return "".join(new[:1].upper() + new[1:] if old[:1].isupper() else new for old, new in both)


def plural_zhang2020(word: str) -> Spellings:
    """The word with "s", else with "es": what the code of Zhang et al. looks for."""
    return Spellings((word + "s", word + "es"))


def _plural(word: str) -> Spellings:
    nouns = _nouns()
    if word in nouns.plurals:
        return Spellings(nouns.plurals[word])
    if word in nouns.plural_forms:
        return Spellings((), ALREADY)
    pieces = _PARTS.split(word)
    if len(pieces) > 1 and all(pieces[::2]):
        return _compound(pieces)
    if word in nouns.not_nouns:
        return Spellings((), NO_NOUN)
    return Spellings(_by_rule(word))


def _compound(pieces: list[str]) -> Spellings:
    """Inflect the head: the last part, or the one before a preposition or an adjective that follows its noun."""
    head, last = _head(pieces[::2]), len(pieces[::2]) - 1
    spellings = []
    for index in dict.fromkeys((head, last)):  # "attorney_generals" is written too
        inflected = _plural(pieces[2 * index]).spellings
        spellings += ["".join([*pieces[: 2 * index], form, *pieces[2 * index + 1 :]]) for form in inflected]
    return Spellings(tuple(spellings), "" if spellings else _plural(pieces[2 * head]).reason)


def _head(parts: list[str]) -> int:
    for index, word in enumerate(parts[1:]):
        if word in _PREPOSITIONS:
            return index
    if parts[-1] in _AFTER_THE_HEAD and parts[-2] not in _RANKS:
        return len(parts) - 2
    return len(parts) - 1


def _by_rule(word: str) -> tuple[str, ...]:
    for ending, inflected in _IRREGULAR:
        if word.endswith(ending) and word != ending:
            return (word[: -len(ending)] + inflected, word + "s")
    if re.search(r"(s|x|z|ch|sh)$", word):
        return (word + "es",)
    if re.search(r"[^aeiou]y$", word):
        return (word[:-1] + "ies",)
    return (word + "s",)


@cache
def _nouns() -> _Nouns:
    plurals: dict[str, tuple[str, ...]] = {}
    not_nouns = set()
    with gzip.open(lemminflect_table("infl_lu.csv.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            word, category, *forms = line.rstrip("\n").split(",")
            if category != "noun":
                not_nouns.add(word)
            elif forms and forms[0]:
                plurals[word] = tuple(forms[0].lower().split("/"))
    return _Nouns(plurals, frozenset(form for forms in plurals.values() for form in forms), frozenset(not_nouns))


Spell = Callable[[str], Spellings]
Pair = tuple[str, str]

FORMS: Mapping[str, Spell] = MappingProxyType(
    {
        "plural": plural,
        "capitalized": lambda word: Spellings((word.capitalize(),)),
        "upper": lambda word: Spellings((word.upper(),)),
        "lower": lambda word: Spellings((word.lower(),)),
    }
)
"""Forms by name: how a word is spelled in each."""


@dataclass(frozen=True)
class WordForms(Record):
    """One form of some words.

    Attributes:
        name: "plural", "capitalized", "upper", "lower", or the user's name for it.
        found: the form of each word that has one in the vocabulary.
        lost: the words that have none, with the reason.
    """

    renamed: ClassVar[Mapping[str, str]] = {"name": "form"}

    name: str
    found: Mapping[str, str]
    lost: Mapping[str, str]

    def derived(self) -> JsonMapping:
        """Number of words requested, and of those that have the form."""
        return {"asked": len(self.found) + len(self.lost), "found": len(self.found)}


@dataclass(frozen=True)
class PairForms:
    """One form of some pairs, both ends alike.

    Attributes:
        name: as of `WordForms`.
        found: the form of each pair both ends of which have one in the vocabulary.
        lost: the pairs that have none, with the reason.
    """

    name: str
    found: Mapping[Pair, Pair]
    lost: Mapping[Pair, str]


FormOf: TypeAlias = "Callable[[str], str | None] | Mapping[str, str] | PairsLike | None"
FormsLike: TypeAlias = "str | Iterable[str] | Mapping[str, FormOf]"
"""Names of forms, or names to forms of one's own."""


def forms_and_cases(language: Language, *cases: str) -> dict[str, FormOf]:
    """Forms that a language has, then forms in another case.

    Those of a language are the ones that can be spelled here, and those of its lists, named after their second ends.
    """
    listed = [pairs_of(name) for name in language.named("forms")]
    listed_forms: dict[str, FormOf] = {pairs.ends[1]: pairs for pairs in listed}
    return {**dict.fromkeys(language.spelled_forms), **listed_forms, **dict.fromkeys(cases)}


def spellers(forms: FormsLike, *, as_published: bool = False) -> dict[str, Spell]:
    """Turn what a user may give as `forms` into one function a form.

    Names of `FORMS`; or a mapping of names to a function from word to form, a mapping of words to forms, or pairs
    (word, form), also a lexicon of pairs.

    Raises:
        ParameterError: a name is not known, or it is something else.
    """
    spelled_forms = {**FORMS, "plural": plural_zhang2020} if as_published else FORMS
    if isinstance(forms, str):
        forms = [forms]
    if not isinstance(forms, Iterable):
        raise ParameterError(f"The 'forms' must be names ({', '.join(FORMS)}) or a mapping. Got {forms!r}.")
    spell = {}
    for name, form in (forms if isinstance(forms, Mapping) else dict.fromkeys(forms)).items():
        if form is not None:
            spell[str(name)] = _speller(name, form)
        elif isinstance(name, str) and name in spelled_forms:
            spell[name] = spelled_forms[name]
        else:
            raise ParameterError(
                f"A form must be one of {', '.join(FORMS)}, or be given as a mapping of its name to the forms of "
                f"words. Got {name!r}."
            )
    return spell


def _speller(name: str, form: Callable[[str], str | None] | Mapping[str, str] | PairsLike) -> Spell:
    form_of: Callable[[str], object] = (
        form if callable(form) else dict(form if isinstance(form, Mapping) else pairs_of(form).pairs).get
    )

    def spell(word: str) -> Spellings:
        spelling = form_of(word)
        if spelling is None or spelling == "":
            return Spellings((), NOT_GIVEN)
        if isinstance(spelling, str):
            return Spellings((spelling,))
        raise ParameterError(
            f"The form {name!r} of {word!r} must be a word, or None where there is none. Got {spelling!r}."
        )

    return spell


def find_forms(model: Embedding, words: Iterable[str], name: str, spell: Spell) -> WordForms:
    """Look up one form of every word: the first of its spellings that the vocabulary has."""
    forms: dict[str, str] = {}
    lost: dict[str, str] = {}
    for word in words:
        spellings, reason = spell(word)
        different = [spelling for spelling in spellings if spelling != word]
        in_vocabulary = [spelling for spelling in different if spelling in model]
        if in_vocabulary:
            forms[word] = in_vocabulary[0]
        elif different:
            lost[word] = f"{' and '.join(different)} {'is' if len(different) == 1 else 'are'} not in the vocabulary"
        else:
            lost[word] = reason or SAME
    return WordForms(name, forms, lost)


def find_pair_forms(model: Embedding, pairs: Iterable[Pair], name: str, spell: Spell) -> PairForms:
    """Look up one form of both ends of every pair."""
    forms: dict[Pair, Pair] = {}
    lost: dict[Pair, str] = {}
    for pair in pairs:
        ends = find_forms(model, pair, name, spell)
        if all(end in ends.found for end in pair):
            forms[pair] = (ends.found[pair[0]], ends.found[pair[1]])
        else:
            lost[pair] = "; ".join(f"{end}: {ends.lost[end]}" for end in pair if end in ends.lost)
    return PairForms(name, forms, lost)
