"""The numbers of many pairs of seed sets in every model that has them: one pass over a model's vocabulary for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.embeddings import Embedding
from biasgauge.seed_words.coherence import (
    LeftOut,
    directions_of,
    leave_one_out,
    published_coherences,
    rank_gaps,
)
from biasgauge.seed_words.located import Located, Rows
from biasgauge.seed_words.subspaces import Method


class PairNumbers(NamedTuple):
    """One pair of sets in the models that have its seeds, in their order.

    Attributes:
        coherence: in each model that has all seeds in use; NaN without a subspace.
        published: as published, in each model that has every word of both lists; NaN without a subspace.
        left_out: without each seed, in the first models, as many as were asked for.
    """

    coherence: Floats
    published: Floats
    left_out: list[LeftOut]


def in_every_model(
    located: Sequence[Located],
    models: Sequence[Embedding],
    method: Method,
    *,
    scaled: bool,
    published: bool = True,
    left_out: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[PairNumbers]:
    """Measure every pair of sets in every model; the published normalization is over all pairs of a model.

    `left_out` says in how many models, the first that have a pair, seeds are left out one at a time.
    """
    found = [PairNumbers(np.full(len(one.places), np.nan), np.full(len(one.whole), np.nan), []) for one in located]
    for place, model in enumerate(models):
        here = list(_here(located, place))
        rows = [one for _, _, one in here]
        directions = directions_of(model.vectors, rows, method, scaled=scaled)
        gaps = rank_gaps(model.vectors, directions, [one.a for one in rows], [one.b for one in rows])
        if published:
            whole = [pair for pair, one in enumerate(located) if place in one.whole]
            values = published_coherences(model.vectors, [located[pair].whole[place] for pair in whole], method)
            for pair, value in zip(whole, values, strict=True):
                found[pair].published[list(located[pair].whole).index(place)] = value
        chosen = [number for number, (_, slot, _) in enumerate(here) if slot < left_out]
        left = leave_one_out(model.vectors, [rows[number] for number in chosen], method, scaled=scaled)
        for number, (pair, slot, _) in enumerate(here):
            found[pair].coherence[slot] = abs(gaps[number])
        for number, one in zip(chosen, left, strict=True):
            found[here[number][0]].left_out.append(one)
        if progress is not None:
            progress(place + 1, len(models))
    return found


def _here(located: Sequence[Located], place: int) -> Iterator[tuple[int, int, Rows]]:
    """Pairs that a model has: which pair, which of its models this is, and the rows."""
    for pair, one in enumerate(located):
        if one.reason is None and place in one.places:
            slot = one.places.index(place)
            yield pair, slot, one.rows[slot]
