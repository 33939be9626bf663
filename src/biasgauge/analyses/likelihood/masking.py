"""Tokens predicted with some of a sentence hidden: one at a time, with later pieces of its word, or all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel, Query, Tokens
from biasgauge.core import Floats, Integers


def hidden_one_by_one(
    model: LanguageModel, rows: Sequence[tuple[Tokens, Integers]], *, whole_words: bool
) -> list[Floats]:
    """Log probability of each token at some places, hidden in turn.

    With `whole_words` the later pieces of the same word are hidden too, and the earlier ones are not: else the rest of
    a word gives the piece away, and a rare word of many pieces looks likely (Kauf & Ivanova 2023).
    """
    queries, counts = [], []
    for tokens, places in rows:
        for place in places.tolist():
            ids = tokens.ids.copy()
            ids[place] = model.mask
            if whole_words:
                later = place + 1
                while later < len(ids) and tokens.words[later] == tokens.words[place] and tokens.words[place] >= 0:
                    ids[later] = model.mask
                    later += 1
            queries.append(Query(ids, np.array([place]), tokens.ids[[place]]))
        counts.append(len(places))
    answers = model.log_probabilities(queries)
    flat = np.array([float(answer[0]) for answer in answers])
    return np.split(flat, np.cumsum(counts)[:-1]) if counts else []


def hidden_together(model: LanguageModel, tokens: Tokens, places: Integers) -> Query:
    """The query for all tokens at some places, hidden at once."""
    ids = tokens.ids.copy()
    ids[places] = model.mask
    return Query(ids, places, tokens.ids[places])
