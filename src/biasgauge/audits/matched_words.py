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


def matched(rows: Places, words: int, random: np.random.Generator) -> Places:
    """Random rows of about the same rank as these, as files list words by frequency; none of these themselves."""
    low = np.minimum((rows / 1.5).astype(np.intp), words - 1)
    high = np.clip((rows * 1.5).astype(np.intp) + 20 + len(rows), low + 1, words)
    drawn: Places = random.integers(low, high)
    sorted_rows = np.sort(rows)
    for _ in range(10):
        repeated = sorted_rows[np.minimum(sorted_rows.searchsorted(drawn), len(sorted_rows) - 1)] == drawn
        if not repeated.any():
            break
        drawn[repeated] = random.integers(low[repeated], high[repeated])
    return drawn


def random_words(model: Embedding, rows: Places, excluded: Collection[str], random_state: int) -> tuple[str, ...]:
    """Words of about the frequency of those in some rows, none of them in `excluded`; at most `REFERENCE`."""
    random = np.random.default_rng([random_state, 23])
    like = np.unique([matched(rows, len(model), random) for _ in range(CANDIDATES)])
    drawn = (model.words[row] for row in random.permutation(like))
    return tuple(word for word in drawn if word not in excluded)[:REFERENCE]
