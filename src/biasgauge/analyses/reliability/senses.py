"""Senses and parts of speech of words, from a table that `scripts/make_word_properties.py` makes."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

HEADER = ("word", "senses", "tag")
TABLE_PATH = Path(__file__).parent / "data" / "word_properties.tsv.gz"
LICENSE_PATH = TABLE_PATH.with_name("WORD_PROPERTIES_LICENSE.txt")


class WordProperties(NamedTuple):
    """Senses and part of speech of a lower-cased word that the Brown corpus has.

    Senses: synsets of WordNet 3.0 over all parts of speech, inflected forms by their base forms; 0 where it lacks the
    word. Tag: the most frequent universal part of speech in Brown, the first seen among equals.
    """

    senses: int
    tag: str


@cache
def word_properties() -> dict[str, WordProperties]:
    """Properties of all words in the table, by word."""
    lines = gzip.decompress(TABLE_PATH.read_bytes()).decode().splitlines()
    rows = (line.split("\t") for line in lines[1:])
    return {word: WordProperties(int(senses), tag) for word, senses, tag in rows}
