"""Word families: which words are forms of one lemma.

English lemmas come from lemminflect's table, read as data: importing the package would import spaCy where that is
installed, and its model for unknown words is a pickle.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
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

    A family is named after its first word. In other languages than English, where no dictionary ships, only spellings
    that differ in case are of one family.
    """
    root: dict[str, str] = {}

    def find(key: str) -> str:
        while root.setdefault(key, key) != key:
            key = root[key]
        return key

    lemmas = _lemmas(_LEMMA_TABLES[language]) if language in _LEMMA_TABLES else {}
    # Words and lemmas are nodes of one graph; families are its connected parts (union–find without ranks).
    for word in words:
        lower = word.lower()
        for lemma in (lower, *lemmas.get(lower, ())):
            root[find(f"lemma {lemma}")] = find(f"word {lower}")
    first: dict[str, str] = {}
    return tuple(first.setdefault(find(f"word {word.lower()}"), word) for word in words)


@cache
def _lemmas(table: str) -> dict[str, tuple[str, ...]]:
    """Lemmas of each word form, over all parts of speech."""
    lemmas: dict[str, tuple[str, ...]] = {}
    with gzip.open(lemminflect_table(table), "rt", encoding="utf-8") as lines:
        for line in lines:
            form, _, stems = line.rstrip("\n").split(",", 2)
            lemmas[form.lower()] = (*lemmas.get(form.lower(), ()), *stems.lower().replace(",", "/").split("/"))
    return lemmas
