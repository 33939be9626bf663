"""Other forms of words and pairs: plural, capitalized, upper case, or the user's own; none is lost without a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.inputs import PairsLike
from biasgauge.lexicons import Pairs, pairs_of
from biasgauge.sensitivity.plurals import Spellings, plural, plural_zhang2020

Spell = Callable[[str], Spellings]
Pair = tuple[str, str]

SAME = "the form is the word itself"
NOT_GIVEN = "no such form is given for it"


def _capitalized(word: str) -> Spellings:
    return Spellings((word.capitalize(),))


def _upper(word: str) -> Spellings:
    return Spellings((word.upper(),))


def _lower(word: str) -> Spellings:
    return Spellings((word.lower(),))


FORMS: Mapping[str, Spell] = MappingProxyType(
    {"plural": plural, "capitalized": _capitalized, "upper": _upper, "lower": _lower}
)
"""Forms by name: how a word is spelled in each."""

PUBLISHED: Mapping[str, Spell] = MappingProxyType({**FORMS, "plural": plural_zhang2020})


@dataclass(frozen=True)
class WordForms:
    """One form of some words.

    Attributes:
        name: "plural", "capitalized", "upper", "lower", or the user's name for it.
        found: the form of each word that has one in the vocabulary.
        lost: the words that have none, with the reason.
    """

    name: str
    found: Mapping[str, str]
    lost: Mapping[str, str]

    def only(self, words: Iterable[str], reason: str) -> WordForms:
        """Keep the forms of some words; those of the others are lost for the reason given."""
        kept = frozenset(words)
        dropped = {word: reason for word in self.found if word not in kept}
        found = {word: form for word, form in self.found.items() if word in kept}
        return WordForms(self.name, MappingProxyType(found), MappingProxyType({**self.lost, **dropped}))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "form": self.name,
            "asked": len(self.found) + len(self.lost),
            "found": len(self.found),
            "lost": dict(self.lost),
        }


FormOf: TypeAlias = "Callable[[str], str | None] | Mapping[str, str] | PairsLike | None"
FormsLike: TypeAlias = "str | Iterable[str] | Mapping[str, FormOf]"
"""Names of forms, or names to forms of one's own."""


def spellers(forms: FormsLike, *, as_published: bool = False) -> dict[str, Spell]:
    """Turn what a user may give as `forms` into one function a form.

    Names of `FORMS`; or a mapping of names to a function from word to form, a mapping of words to forms, or pairs
    (word, form), also a lexicon of pairs.

    Raises:
        ParameterError: a name is not known, or it is something else.
    """
    known = PUBLISHED if as_published else FORMS
    if isinstance(forms, Mapping):
        return {str(name): _own(name, given, known) for name, given in forms.items()}
    names = [forms] if isinstance(forms, str) else forms
    if not isinstance(names, Iterable):
        raise ParameterError(f"The 'forms' must be names ({', '.join(FORMS)}) or a mapping. Got {forms!r}.")
    return {str(name): _named(name, known) for name in names}


def _named(name: str, known: Mapping[str, Spell]) -> Spell:
    if isinstance(name, str) and name in known:
        return known[name]
    raise ParameterError(
        f"A form must be one of {', '.join(FORMS)}, or be given as a mapping of its name to the forms of words. "
        f"Got {name!r}."
    )


def _own(name: str, given: FormOf, known: Mapping[str, Spell]) -> Spell:
    if given is None:
        return _named(name, known)
    if callable(given):
        spelled: Callable[[str], object] = given
        return lambda word: _given(name, word, spelled(word))
    if isinstance(given, Mapping):
        listed = dict(given)
    else:
        pairs: Pairs = pairs_of(given)
        listed = dict(pairs.pairs)
    return lambda word: _given(name, word, listed.get(word))


def _given(name: str, word: str, form: object) -> Spellings:
    if form is None or form == "":
        return Spellings((), NOT_GIVEN)
    if not isinstance(form, str):
        raise ParameterError(
            f"The form {name!r} of {word!r} must be a word, or None where there is none. Got {form!r}."
        )
    return Spellings((form,))


def find_forms(model: Embedding, words: Iterable[str], name: str, spell: Spell) -> WordForms:
    """Look up one form of every word: the first of its spellings that the vocabulary has."""
    found: dict[str, str] = {}
    lost: dict[str, str] = {}
    for word in words:
        given = spell(word)
        others = [one for one in given.spellings if one != word]
        there = next((one for one in others if one in model), None)
        if there is not None:
            found[word] = there
        elif others:
            lost[word] = f"{' and '.join(others)} {'is' if len(others) == 1 else 'are'} not in the vocabulary"
        else:
            lost[word] = given.reason or SAME
    return WordForms(name, MappingProxyType(found), MappingProxyType(lost))


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


def find_pair_forms(model: Embedding, pairs: Iterable[Pair], name: str, spell: Spell) -> PairForms:
    """Look up one form of both ends of every pair."""
    found: dict[Pair, Pair] = {}
    lost: dict[Pair, str] = {}
    for pair in pairs:
        ends = find_forms(model, pair, name, spell)
        if all(end in ends.found for end in pair):
            found[pair] = (ends.found[pair[0]], ends.found[pair[1]])
        else:
            lost[pair] = "; ".join(f"{end}: {ends.lost[end]}" for end in pair if end in ends.lost)
    return PairForms(name, MappingProxyType(found), MappingProxyType(lost))
