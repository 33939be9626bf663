"""Findings of a check as sentences with their severity: spelling, forms, grammatical gender."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from biasgauge.core import Record
from biasgauge.errors import LexiconError
from biasgauge.lexicons.language import Language
from biasgauge.lexicons.model import AssociationTest, Lexicon, Stereotypes, WordSets
from biasgauge.results import share_text

Severity = Literal["error", "warning", "note"]
SHOWN = 8
"""Words named in a sentence; the rest is counted."""
UNEVEN = 0.2
"""Difference in the shares of a grammatical gender from which two sets count as uneven."""
FEWEST = 3
"""Words of known gender in each set without which nothing is said about their balance."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


@dataclass(frozen=True)
class Finding(Record):
    """One thing found, as a sentence."""

    severity: Severity
    sentence: str


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes."""
    order: tuple[Severity, ...] = ("error", "warning", "note")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


def listed_words(words: Iterable[str]) -> str:
    """Words in quotes; past eight, how many more there are."""
    listed = tuple(words)
    named = ", ".join(f"'{word}'" for word in listed[:SHOWN])
    return named if len(listed) <= SHOWN else f"{named} and {len(listed) - SHOWN} more"


def other_spellings(word: str) -> tuple[str, ...]:
    """Other spellings of a word that a vocabulary may have.

    Composed or decomposed accents, no accents, ss for ß, ae for ä, another case, an underscore between parts.
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
    spelled = [unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word), plain]
    spelled += [word.replace("ß", "ss"), word.translate(_UMLAUTS).replace("ß", "ss"), plain.replace("ß", "ss")]
    spelled += ["_".join(word.split()), "-".join(word.split())]
    cased = [change(form) for form in spelled for change in (str, str.lower, str.capitalize)]
    return tuple(form for form in dict.fromkeys(cased) if form != word)


def spelling_findings(checked: Lexicon, lost: Iterable[str], vocabulary: Container[str] | None) -> Iterator[Finding]:
    """Accents written as two characters, and lost words that the vocabulary spells otherwise."""
    decomposed = tuple(word for word in checked.words if unicodedata.normalize("NFC", word) != word)
    if decomposed:
        yield Finding(
            "warning",
            f"{len(decomposed)} of its words write an accent as a sign of its own ({listed_words(decomposed)}): most "
            "vocabularies do not. Save the file in composed form (Unicode NFC).",
        )
    if vocabulary is None:
        return
    spelled = {word: next((form for form in other_spellings(word) if form in vocabulary), None) for word in lost}
    if respelled := {word: form for word, form in spelled.items() if form is not None}:
        named = listed_words(f"{word} → {form}" for word, form in respelled.items())
        yield Finding(
            "note",
            f"The vocabulary has {len(respelled)} of the lost words in another spelling ({named}): spell them as the "
            "vectors do, or look them up with --case-fallback where only the case differs.",
        )


@dataclass(frozen=True)
class GenderShares(Record):
    """Grammatical gender of two sets that are set against each other.

    Attributes:
        list, a, b: the lexicon, and what its two sets are about.
        first, second: how many words of each set have which gender, by the rules of the language.
        unknown: words of the two sets whose gender the rules do not tell.
        apart: half the sum of the differences in shares: 0 the same shares, 1 no gender in common; None where fewer
            than three words of a set have a known gender.
    """

    list: str
    a: str
    b: str
    first: dict[str, int]
    second: dict[str, int]
    unknown: int
    apart: float | None


def compared_sets(checked: Lexicon) -> Iterator[tuple[str, str]]:
    """Names of sets whose difference is the result: the two targets, and the two attributes, of a test; of groups."""
    if isinstance(checked, AssociationTest):
        yield from (("x", "y"), ("a", "b"))
    elif isinstance(checked, Stereotypes) and len(checked.groups) == 2:
        first, second = (f"{group.name}.attributes" for group in checked.groups)
        yield first, second
    elif isinstance(checked, WordSets) and len(checked.members) == 2:
        yield checked.members[0].name, checked.members[1].name


def gender_shares(checked: Lexicon, language: Language) -> tuple[GenderShares, ...]:
    """Differences in gender of compared sets, but for words for men and women; empty for a language without rules."""
    return tuple(_shares_of_pair(checked, a, b, language) for a, b in _gender_neutral_pairs(checked, language))


def _gender_neutral_pairs(checked: Lexicon, language: Language) -> list[tuple[str, str]]:
    """Compared sets that are not the words for men and women themselves, whose genders differ on purpose."""
    from biasgauge.lexicons.by_name import lexicon

    if not language.gender:
        return []
    gendered: set[str] = set()
    for name in language.named("base_pairs"):
        with suppress(LexiconError):  # the language's own check tells
            gendered.update(lexicon(name).words)
    words = {pair: {word for name in pair for word in checked.sets[name]} for pair in compared_sets(checked)}
    return [pair for pair, members in words.items() if 2 * len(members & gendered) < len(members)]


def _shares_of_pair(checked: Lexicon, a: str, b: str, language: Language) -> GenderShares:
    genders = [[language.gender.gender_of(word) for word in dict.fromkeys(checked.sets[name])] for name in (a, b)]
    first, second = (dict(sorted(Counter(filter(None, genders_of_set)).items())) for genders_of_set in genders)
    sizes = sum(first.values()), sum(second.values())
    apart = None
    if min(sizes) >= FEWEST:
        kinds = {*first, *second}
        apart = sum(abs(first.get(kind, 0) / sizes[0] - second.get(kind, 0) / sizes[1]) for kind in kinds) / 2
    unknown = sum(genders_of_set.count(None) for genders_of_set in genders)
    return GenderShares(checked.name, set_label(checked, a), set_label(checked, b), first, second, unknown, apart)


def gender_findings(checked: Lexicon, language: Language, vocabulary: Container[str]) -> Iterator[Finding]:
    """Sets that differ in grammatical gender, and words without the other form that the vocabulary has."""
    for pair in _gender_neutral_pairs(checked, language):
        shares = _shares_of_pair(checked, *pair, language)
        if shares.apart is not None and shares.apart >= UNEVEN:
            yield _uneven(checked, shares)
        for name in pair:
            yield from _forms(checked, name, language, vocabulary)


def _forms(checked: Lexicon, name: str, language: Language, vocabulary: Container[str]) -> Iterator[Finding]:
    """Words of a set without their other form, where the set has both forms of any or could have of half its words."""
    words = tuple(dict.fromkeys(checked.sets[name]))
    members, label = set(words), set_label(checked, name)
    forms = {word: [form for form in language.gender.other_forms(word) if form in vocabulary] for word in words}
    both = [word for word in words if not members.isdisjoint(forms[word])]
    alone = [word for word in words if forms[word] and word not in both]
    if alone and (both or 2 * len(alone) >= len(words)):
        named = listed_words(f"{word} / {forms[word][0]}" for word in alone)
        yield Finding(
            "note",
            f"Set '{label}' lacks what looks like the other form of {len(alone)} of its words ({named}): where they "
            "are about people, add it, so that both genders are there.",
        )
    pairs = {frozenset(pair) for pair in getattr(checked, "counterparts", ())}
    unpaired = [word for word in both if not any(frozenset((word, form)) in pairs for form in forms[word])]
    if isinstance(checked, AssociationTest) and unpaired:
        yield Finding(
            "note",
            f"Set '{label}' has both forms of some words ({listed_words(unpaired)}) that 'counterparts' does not list: "
            "where one form is lost, the other stays, and the balance of genders goes.",
        )


def _uneven(checked: Lexicon, shares: GenderShares) -> Finding:
    sides = []
    for name, counts in ((shares.a, shares.first), (shares.b, shares.second)):
        listed = ", ".join(f"{count} of {sum(counts.values())} {gender}" for gender, count in counts.items())
        sides.append(f"'{name}' {listed}")
    about_gender = checked.family == "gender"
    effect = (
        "part of a contrast with words for men and women is then agreement in grammatical gender"
        if about_gender
        else "the two sets differ in grammatical gender beside their meaning"
    )
    return Finding(
        "warning" if about_gender else "note",
        f"Grammatical gender by endings: {'; '.join(sides)} (shares {share_text(shares.apart or 0)} apart): {effect}. "
        "Balance the genders, or give every word in both forms.",
    )


def set_label(checked: Lexicon, name: str) -> str:
    """Label of a set; of a test, the label of the role."""
    return checked.roles[name].name if isinstance(checked, AssociationTest) else name
