"""Tokens that two sentences share or in which they differ, and queries with some of a sentence hidden."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel, TokenQuery, Tokens
from biasgauge.core import Floats, Integers


class TokenAlignment(NamedTuple):
    """Positions of scored tokens in each of two sentences: those shared by both, and those of one alone."""

    shared: tuple[Integers, Integers]
    modified: tuple[Integers, Integers]


def align_words(first: Tokens, second: Tokens) -> TokenAlignment:
    """Align word by word: a word is shared with all of its pieces or with none."""
    words = [word_positions(tokens) for tokens in (first, second)]
    keys = [
        [tuple(tokens.ids[positions].tolist()) for positions in listed]
        for tokens, listed in zip((first, second), words, strict=True)
    ]
    return _collect(SequenceMatcher(None, keys[0], keys[1], autojunk=False), *words)


def align_pieces(first: Tokens, second: Tokens) -> TokenAlignment:
    """Align piece by piece, as released codes do: pieces of two different words may count as shared."""
    pieces = [[[position] for position in np.flatnonzero(tokens.scored).tolist()] for tokens in (first, second)]
    keys = [[str(token) for token in tokens.ids[tokens.scored]] for tokens in (first, second)]
    return _collect(SequenceMatcher(None, keys[0], keys[1]), *pieces)


def word_positions(tokens: Tokens) -> list[list[int]]:
    """Positions of the scored tokens, word by word."""
    words: list[list[int]] = []
    for position in np.flatnonzero(tokens.scored).tolist():
        if words and words[-1][-1] == position - 1 and tokens.words[position] == tokens.words[position - 1]:
            words[-1].append(position)
        else:
            words.append([position])
    return words


def _collect(matcher: SequenceMatcher[object], first: list[list[int]], second: list[list[int]]) -> TokenAlignment:
    """Positions of equal units and of all others."""
    positions: dict[bool, tuple[list[int], list[int]]] = {True: ([], []), False: ([], [])}
    for kind, start, end, second_start, second_end in matcher.get_opcodes():
        for listed, units in zip(
            positions[kind == "equal"], (first[start:end], second[second_start:second_end]), strict=True
        ):
            listed += [position for unit in units for position in unit]
    shared, modified = (tuple(np.array(listed, np.int64) for listed in positions[equal]) for equal in (True, False))
    return TokenAlignment(shared, modified)  # type: ignore[arg-type]  # two each


def hidden_one_by_one(
    model: LanguageModel, rows: Sequence[tuple[Tokens, Integers]], *, whole_words: bool
) -> list[Floats]:
    """Log probability of each token at some positions, hidden in turn.

    With `whole_words` the later pieces of the same word are hidden too, and the earlier ones are not: else the rest of
    a word gives the piece away, and a rare word of many pieces looks likely (Kauf & Ivanova 2023).
    """
    queries = []
    for tokens, positions in rows:
        for position in positions.tolist():
            ids = tokens.ids.copy()
            ids[position] = model.mask
            if whole_words:
                later = position + 1
                while later < len(ids) and tokens.words[later] == tokens.words[position] >= 0:
                    ids[later] = model.mask
                    later += 1
            queries.append(TokenQuery(ids, np.array([position]), tokens.ids[[position]]))
    answers = np.array([float(answer[0]) for answer in model.log_probabilities(queries)])
    counts = [len(positions) for _, positions in rows]
    return np.split(answers, np.cumsum(counts)[:-1]) if counts else []


def hidden_together(model: LanguageModel, tokens: Tokens, positions: Integers) -> TokenQuery:
    """Query for all tokens at some positions, hidden at once."""
    ids = tokens.ids.copy()
    ids[positions] = model.mask
    return TokenQuery(ids, positions, tokens.ids[positions])
