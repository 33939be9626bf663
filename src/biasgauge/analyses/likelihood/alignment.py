"""Which tokens two sentences share, and in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.models import Tokens
from biasgauge.core import Integers


class Alignment(NamedTuple):
    """Places of scored tokens in each of two sentences: those of both, and those of one alone."""

    shared: tuple[Integers, Integers]
    modified: tuple[Integers, Integers]


def align_words(first: Tokens, second: Tokens) -> Alignment:
    """Word by word: a word is shared with all of its pieces or with none."""
    words = [_words(tokens) for tokens in (first, second)]
    keys = [[key for key, _ in own] for own in words]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    return _collect(matcher.get_opcodes(), *([places for _, places in own] for own in words))


def align_pieces(first: Tokens, second: Tokens) -> Alignment:
    """Piece by piece, as released codes do: pieces of two different words may count as shared."""
    places = [np.flatnonzero(tokens.scored) for tokens in (first, second)]
    ids = [[str(tokens.ids[place]) for place in own] for tokens, own in zip((first, second), places, strict=True)]
    matcher = SequenceMatcher(None, ids[0], ids[1])
    return _collect(matcher.get_opcodes(), *([[int(place)] for place in own] for own in places))


def word_places(tokens: Tokens) -> list[list[int]]:
    """Places of the scored tokens, word by word."""
    return [places for _, places in _words(tokens)]


def _words(tokens: Tokens) -> list[tuple[tuple[int, ...], list[int]]]:
    """Scored words: the ids of their pieces, and where they stand."""
    groups: list[tuple[int, list[int]]] = []
    for place in np.flatnonzero(tokens.scored).tolist():
        word = int(tokens.words[place])
        if groups and groups[-1][0] == word and groups[-1][1][-1] == place - 1:
            groups[-1][1].append(place)
        else:
            groups.append((word, [place]))
    return [(tuple(int(tokens.ids[place]) for place in places), places) for _, places in groups]


def _collect(
    steps: Sequence[tuple[str, int, int, int, int]], first: list[list[int]], second: list[list[int]]
) -> Alignment:
    kinds: dict[bool, tuple[list[int], list[int]]] = {True: ([], []), False: ([], [])}
    for kind, start, end, other_start, other_end in steps:
        own, other = kinds[kind == "equal"]
        own += [place for places in first[start:end] for place in places]
        other += [place for places in second[other_start:other_end] for place in places]
    shared, modified = (tuple(np.array(part, np.int64) for part in kinds[equal]) for equal in (True, False))
    return Alignment(shared, modified)  # type: ignore[arg-type]  # two each
