"""The words that methods need, looked up once: defining sets, equality sets, words to leave alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.core import Flags, LexiconLike, PairsLike, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, Pairs, Stereotypes, lexicon, pairs_of, words_of
from biasgauge.vectors import Coverage, Embedding

GENDER = ("male", "female")
"""Ends of pairs for which Bolukbasi's lists of equality pairs and of gender-specific words are meant."""


class FoundSets(NamedTuple):
    """Rows of the words of each set, and what was lost."""

    rows: list[list[int]]
    coverage: Coverage


def found_sets(model: Embedding, name: str, sets: Sequence[Sequence[str]]) -> FoundSets:
    """Rows of the sets of which at least two words were found."""
    coverage = model.coverage({name: [word for words in sets for word in words]}, directions=True)
    known = dict(zip(coverage.sets[name].words, coverage.sets[name].rows.tolist(), strict=True))
    rows = [list(dict.fromkeys(known[word] for word in words if word in known)) for words in sets]
    return FoundSets([members for members in rows if len(members) > 1], coverage)


def cased(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Each set as written, then in lower case, capitalized and in capitals, as Bolukbasi et al. equalize them."""
    forms = [tuple(form(word) for word in words) for words in sets for form in (str, str.lower, str.title, str.upper)]
    return list(dict.fromkeys(forms))


def equality_pairs(pairs: Pairs, asked: PairsLike | None) -> tuple[tuple[str, str], ...]:
    """Which pairs to equalize: those asked for; "auto": Bolukbasi's for gender, else the pairs themselves."""
    if asked is None:
        return ()
    if asked == "auto":
        asked = "equalize" if pairs.ends == GENDER else pairs
    return pairs_of(asked).pairs


def specific_words(pairs: Pairs, asked: WordsLike | None) -> tuple[str, ...]:
    """Words that carry the bias by meaning: those asked for; "auto": Bolukbasi's for gender, else the pairs'."""
    if asked is None:
        return pairs.words
    if asked == "auto":
        return (*pairs.words, *(words_of("gender_specific").words if pairs.ends == GENDER else ()))
    return (*pairs.words, *words_of(asked).words)


class ClassSets(NamedTuple):
    """Sets with one word a class in each, words that name a class, and words of the stereotypes about them."""

    name: str
    sets: tuple[tuple[str, ...], ...]
    specific: tuple[str, ...]
    attributes: tuple[str, ...]


def class_sets(reference: LexiconLike | Iterable[WordsLike]) -> ClassSets:
    """Defining sets of a lexicon of stereotypes or of pairs, or sets of words themselves.

    Raises:
        ParameterError: the lexicon is of another kind, or a set has fewer than two words.
    """
    if isinstance(reference, (str, os.PathLike, Lexicon)):
        named = lexicon(reference)
        if isinstance(named, Pairs):
            return ClassSets(named.name, named.pairs, named.words, ())
        if not isinstance(named, Stereotypes):
            kind = f"The lexicon {named.name!r} is of kind {named.kind!r}"
            raise ParameterError(f"{kind}; defining sets need 'stereotypes' or 'pairs'.")
        sets = named.defining_sets or tuple(zip(*(group.protected for group in named.groups), strict=False))
        attributes = tuple(word for group in named.groups for word in group.attributes)
        specific = tuple(word for group in named.groups for word in group.protected)
        return ClassSets(named.name, sets, specific, attributes)
    if not isinstance(reference, Iterable):
        raise ParameterError(f"Defining sets must be a lexicon, or sets of words. Got {reference!r}.")
    sets = tuple(words_of(words).words for words in reference)
    if any(len(words) < 2 for words in sets):
        raise ParameterError("Each defining set must have at least two words.")
    return ClassSets("given sets", sets, tuple(word for words in sets for word in words), ())


def defining_sets(model: Embedding, sets: ClassSets | Pairs) -> FoundSets:
    """Pairs of which both ends were found, or defining sets of which at least two words were.

    Raises:
        ParameterError: there is none.
    """
    if isinstance(sets, Pairs):
        found, none = found_sets(model, "pairs", sets.pairs), f"No pair of {sets.name!r} has both ends"
    else:
        found, none = found_sets(model, "defining sets", sets.sets), f"No defining set of {sets.name!r} has two words"
    if not found.rows:
        raise ParameterError(f"{none} in {model.name}.")
    return found


def mask(model: Embedding, words: Iterable[str]) -> Flags:
    """Which rows of a model hold one of the words."""
    marked = np.zeros(len(model), bool)
    marked[model.lookup(words).rows] = True
    return marked


def merged(sets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Sets that share a member become one, for equalizing one after the other would undo the first."""
    groups: list[list[int]] = []
    for members in sets:
        touching = [group for group in groups if set(group) & set(members)]
        groups = [group for group in groups if group not in touching]
        groups.append(list(dict.fromkeys(member for group in (*touching, members) for member in group)))
    return groups


def joined(*coverages: Coverage) -> Coverage:
    """One coverage of the sets of several."""
    return Coverage.of({name: lookup for coverage in coverages for name, lookup in coverage.sets.items()})
