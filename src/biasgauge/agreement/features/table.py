"""Senses and parts of speech of English words, from a table that ships with the package.

Senses: how many synsets WordNet 3.0 has for the word, over all parts of speech, inflected forms by their base forms
("dogs" by "dog"). Tag: the most frequent universal part of speech of the lower-cased word in the Brown corpus, the
first seen among equals. Words that Brown lacks are not in it. `scripts/make_word_properties.py` makes it.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

HEADER = ("word", "senses", "tag")
TABLE_PATH = Path(__file__).parents[1] / "data" / "word_properties.tsv.gz"
LICENSE_PATH = TABLE_PATH.with_name("WORD_PROPERTIES_LICENSE.txt")


class WordProperties(NamedTuple):
    """What the table says about a word: its number of synsets, 0 where WordNet lacks it, and its universal tag."""

    senses: int
    tag: str


@cache
def word_properties() -> dict[str, WordProperties]:
    """The whole table, by word."""
    lines = gzip.decompress(TABLE_PATH.read_bytes()).decode().splitlines()
    rows = (line.split("\t") for line in lines[1:])
    return {word: WordProperties(int(senses), tag) for word, senses, tag in rows}
