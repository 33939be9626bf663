"""Other forms of words and pairs: plural, capitalized, upper case, or the user's own; none is lost without a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from biasgauge.analyses.robustness.plurals import Spellings, plural, plural_zhang2020
from biasgauge.core import JsonMapping, PairsLike, Record
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Language, pairs_of
from biasgauge.vectors import Embedding

Spell = Callable[[str], Spellings]
Pair = tuple[str, str]

SAME = "the form is the word itself"
NOT_GIVEN = "no such form is given for it"


def _in_case(change: Callable[[str], str]) -> Spell:
    return lambda word: Spellings((change(word),))


FORMS: Mapping[str, Spell] = MappingProxyType(
    {
        "plural": plural,
        "capitalized": _in_case(str.capitalize),
        "upper": _in_case(str.upper),
        "lower": _in_case(str.lower),
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
    listed = forms if isinstance(forms, Mapping) else dict.fromkeys(forms)
    return {
        str(name): _speller(name, form) if form is not None else _speller_by_name(name, spelled_forms)
        for name, form in listed.items()
    }


def _speller_by_name(name: str, spelled_forms: Mapping[str, Spell]) -> Spell:
    if isinstance(name, str) and name in spelled_forms:
        return spelled_forms[name]
    raise ParameterError(
        f"A form must be one of {', '.join(FORMS)}, or be given as a mapping of its name to the forms of words. "
        f"Got {name!r}."
    )


def _speller(name: str, form: Callable[[str], str | None] | Mapping[str, str] | PairsLike) -> Spell:
    if callable(form):
        form_of: Callable[[str], object] = form
    else:
        form_of = dict(form if isinstance(form, Mapping) else pairs_of(form).pairs).get

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
