"""Plurals of English nouns: from a dictionary; of a compound, by its head; by rule for what is in no dictionary.

The dictionary is that of lemminflect (40,000 words of the SPECIALIST Lexicon). Its table is read as data: importing the
package would import spaCy where that is installed, three seconds, and its model for unknown words is a pickle.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from typing import NamedTuple

from biasgauge.core import lemminflect_table

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
