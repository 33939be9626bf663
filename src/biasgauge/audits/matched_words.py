"""Random words of about the frequency of some others: what any words would give."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from biasgauge.core import Places
from biasgauge.vectors import Embedding

CANDIDATES = 40
"""Words of like frequency that may stand in the place of each word."""
REFERENCE = 400
"""Random words from which the lean of a list along base pairs is counted, at most."""
FEWEST = 20
"""Random words that are enough for that."""


def matched(places: Places, words: int, random: np.random.Generator) -> Places:
    """Random rows of about the same rank as these, as files list words by frequency; none of these themselves."""
    low = np.minimum((places / 1.5).astype(np.intp), words - 1)
    high = np.clip((places * 1.5).astype(np.intp) + 20 + len(places), low + 1, words)
    drawn: Places = random.integers(low, high)
    known = np.sort(places)
    for _ in range(10):
        own = known[np.minimum(known.searchsorted(drawn), len(known) - 1)] == drawn
        if not own.any():
            break
        drawn[own] = random.integers(low[own], high[own])
    return drawn


def random_words(model: Embedding, places: Places, own: Collection[str], random_state: int) -> tuple[str, ...]:
    """Words of about the frequency of those in some rows, none of them in `own`; at most `REFERENCE`."""
    random = np.random.default_rng([random_state, 23])
    like = np.unique([matched(places, len(model), random) for _ in range(CANDIDATES)])
    drawn = (model.words[row] for row in random.permutation(like))
    return tuple(word for word in drawn if word not in own)[:REFERENCE]
