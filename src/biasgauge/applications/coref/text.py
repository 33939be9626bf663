"""Plain text to words and sentences, for sets that come as running text (GAP, Winogender).

A word is a run of letters and digits, with hyphens, full stops and apostrophes inside it; n't, 's and their like stand
alone, as in the treebank that coreference corpora follow; every other sign stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(
    r"""
      (?-i:Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof|Gen|Col|Lt|Sgt|Rev|Hon|Gov|Sen|Rep)\.
    | (?:[^\W\d_]\.){2,}                          # U.S.
    | [’'](?:s|re|ve|ll|d|m)\b | n[’']t\b
    | \w+?(?=n[’']t\b)                            # do|n't
    | \w+(?:[-./&]\w+|,\d+|[’'](?!(?:s|re|ve|ll|d|m)\b)\w+)*
    | \.{2,} | -{2,} | ''
    | [^\w\s]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STOPS = {".", "?", "!", "...", "…", "?!", "!!"}
_CLOSERS = {'"', "''", "”", "’", "'", ")", "]", "-RRB-", "-RSB-"}


def words_with_places(text: str) -> list[tuple[str, int, int]]:
    """Words of a text, each with the places in the text where it begins and where it has ended."""
    return [(found.group(), found.start(), found.end()) for found in _WORD.finditer(text)]


def sentence_lengths(words: Sequence[str]) -> list[int]:
    """Lengths of sentences that end at . ? or !, with the quotation marks and brackets that close after it."""
    ends = []
    closing = False
    for at, word in enumerate(words):
        if closing and word not in _CLOSERS and word not in _STOPS:
            ends.append(at)
            closing = False
        closing = closing or word in _STOPS
    if words:
        ends.append(len(words))
    return [end - start for start, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []


def in_sentences(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The words by sentence."""
    found, start = [], 0
    for length in sentence_lengths(words):
        found.append(tuple(words[start : start + length]))
        start += length
    return tuple(found)
