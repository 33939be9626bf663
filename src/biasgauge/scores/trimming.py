"""Which words of a test count when some are lost: both forms of a word or none, or as XWEAT's code has it.

In a language with grammatical gender a masculine form lies near male words for that reason alone. A set with both forms
of each word cancels that, until one form has no vector: its counterpart then has to go too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from biasgauge.embeddings import Coverage, Lookup
from biasgauge.errors import ParameterError

Trimming = Literal["balanced", "none", "as_published"]
CUT = "cut from the end of the longer set, as published"
_COMPARED = (("x", "y"), ("a", "b"))


def check_trimming(given: object, kind: str) -> None:
    """Refuse what is no rule, and the published one for other tests than WEAT."""
    if given not in get_args(Trimming):
        raise ParameterError(
            f"The 'trimming' of an association test must be one of {', '.join(get_args(Trimming))}. Got {given!r}."
        )
    if given == "as_published" and kind != "weat":
        raise ParameterError(f"The 'trimming' as published is that of WEAT; the test is {kind!r}.")


def balanced(coverage: Coverage, counterparts: Sequence[tuple[str, str]]) -> Coverage:
    """Leave out the words whose counterpart was lost from the same set, with that reason."""
    sets = {}
    for role, lookup in coverage.sets.items():
        lost = {word: other for pair in counterparts for word, other in (pair, pair[::-1]) if other in lookup.lost}
        usable = np.array([word not in lost for word in lookup.words], bool)
        reasons = {word: f"its counterpart {lost[word]!r} was lost" for word in lookup.words if word in lost}
        kept = lookup.only(usable, "")
        sets[role] = Lookup(kept.words, kept.rows, MappingProxyType({**lookup.lost, **reasons}), lookup.respelled)
    return Coverage.of(sets)


def as_published(coverage: Coverage, words: Mapping[str, Sequence[str]]) -> Coverage:
    """X and Y, then A and B, cut to the same length by dropping the last words; a word listed twice counts twice."""
    rows = {role: dict(zip(lookup.words, lookup.rows.tolist(), strict=True)) for role, lookup in coverage.sets.items()}
    listed = {role: [word for word in words[role] if word in rows[role]] for role in coverage.sets}
    sets = {}
    for pair in _COMPARED:
        least = min(len(listed[role]) for role in pair)
        for role in pair:
            kept, gone, one = listed[role][:least], listed[role][least:], coverage.sets[role]
            lost = {**one.lost, **{word: CUT for word in gone if word not in kept}}
            chosen = np.array([rows[role][word] for word in kept], np.intp)
            sets[role] = Lookup(tuple(kept), chosen, MappingProxyType(lost), one.respelled)
    return Coverage.of(sets)
