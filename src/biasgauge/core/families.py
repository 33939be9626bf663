"""Word families: which words are forms of one lemma.

English lemmas come from lemminflect's table, read as data: importing the package would import spaCy where that is
installed, and its model for unknown words is a pickle.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from biasgauge.errors import InputError

_LEMMA_TABLES = {"en": "lemma_lu.csv.gz"}
"""Table of word forms and their lemmas, by language."""


def lemminflect_table(name: str) -> Path:
    """Path of a table of lemminflect.

    Raises:
        InputError: lemminflect is not installed.
    """
    package = find_spec("lemminflect")
    for folder in (package.submodule_search_locations or ()) if package else ():
        path = Path(folder) / "resources" / name
        if path.is_file():
            return path
    raise InputError("Word forms need the dictionary of lemminflect 0.2. Install it with: pip install lemminflect")


def word_families(words: Sequence[str], language: str = "en") -> tuple[str, ...]:
    """Return a family for each word; words share one where they are forms of one lemma, by way of other words too.

    A family is named after its first word. A regular plural in lower case that the dictionary lacks (imams) is of the
    family of its singular; names such as Carlo and Carlos are two. In other languages than English, where no dictionary
    ships, only spellings that differ in case are of one family.
    """
    keys = [
        (f"word {word.lower()}", *(f"lemma {lemma}" for lemma in lemma_spellings(word, language))) for word in words
    ]
    return tuple(words[first] for first in first_connected(keys))


def first_connected(keys: Sequence[Iterable[Hashable]]) -> tuple[int, ...]:
    """Return for each item the first one that it is connected with: by a common key, by way of other items too."""
    root: dict[Hashable, Hashable] = {}

    def find(key: Hashable) -> Hashable:
        while root.setdefault(key, key) != key:
            key = root[key]
        return key

    # Keys are nodes of a graph, which items join; its connected parts by union–find without ranks.
    for first_key, *further in keys:
        for key in further:
            root[find(key)] = find(first_key)
    firsts: dict[Hashable, int] = {}
    return tuple(firsts.setdefault(find(next(iter(item))), index) for index, item in enumerate(keys))


@lru_cache(maxsize=2**15)
def lemma_spellings(word: str, language: str = "en") -> tuple[str, ...]:
    """Return the spellings that a word shares with its family: its own in lower case and its lemmas, in American ones.

    Lemmas of a word that the dictionary lacks are the singulars that its ending allows. In other languages than English
    it is the word in lower case alone.
    """
    lower = word.lower()
    if language not in _LEMMA_TABLES:
        return (lower,)
    lines = _word_forms(_LEMMA_TABLES[language]).get(lower)
    lemmas = _singulars(word) if lines is None else _lemmas(lines)
    return tuple(dict.fromkeys(map(american_spelling, (lower, *lemmas))))


_AMERICAN = (
    (re.compile(r"(?<=\w{3})our$"), "or"),
    (re.compile(r"(?<=\w{2})([iy])s(e|ation)$"), r"\1z\2"),
    (re.compile(r"(?<=\w{2})tre$"), "ter"),
    (re.compile(r"(?<=\w{3})ogue$"), "og"),
    (re.compile(r"(?<=\w{3})ence$"), "ense"),
    (re.compile(r"^grey$"), "gray"),
    (re.compile(r"[-'’]"), ""),
)
"""Endings of British spellings and the American ones, and marks that are written or not (e-mail)."""


def american_spelling(lemma: str) -> str:
    """Return a lemma in American spelling, without hyphens: colour and color are one. It need not be a word."""
    for pattern, american in _AMERICAN:
        lemma = pattern.sub(american, lemma)
    return lemma


def _singulars(word: str) -> Iterator[str]:
    """Singulars of which a word in lower case may be the regular plural; not of a name, nor of a pronoun (hers)."""
    if word.islower() and len(word) > 4 and word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
        if word.endswith("ies"):
            yield word[:-3] + "y"
        elif word.endswith("es"):
            yield word[:-2]


def _lemmas(lines: Sequence[str]) -> Iterator[str]:
    """Lemmas in lines of the table such as "noun,axis/axe"."""
    for line in lines:
        yield from line.split(",", 1)[1].lower().replace(",", "/").split("/")


@cache
def _word_forms(table: str) -> dict[str, list[str]]:
    """Lines of each word form, over all parts of speech."""
    forms: dict[str, list[str]] = {}
    with gzip.open(lemminflect_table(table), "rt", encoding="utf-8") as file:
        for line in file.read().splitlines():
            form, _, lemmas = line.partition(",")
            forms.setdefault(form.lower(), []).append(lemmas)
    return forms
