"""Which spans are kept as mentions, which pairs of them are compared, and which clusters follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.core import Integers, Vectors

_BUCKETS = np.array([2, 3, 4, 5, 8, 16, 32, 64])
BUCKETS = len(_BUCKETS) + 1
"""Distances 1, 2, 3, 4, 5–7, 8–15, 16–31, 32–63, 64 and more."""


def candidates(room: Integers, widest: int) -> tuple[Integers, Integers]:
    """First and last words of all spans of at most `widest` words within a sentence, in the order of the text.

    `room` says for each word how many words of its sentence begin with it.
    """
    first, wider = np.nonzero(np.arange(widest) < room[:, None])
    return first, first + wider


def keep_best(first: Integers, last: Integers, scores: Vectors, most: int) -> Integers:
    """Places of the best spans of a document, at most `most`, none crossing a better one, in the order of the text.

    Spans are taken by falling score, the earlier of equals first; one that crosses a span already taken is passed over
    (Lee et al. 2017). Spans cross when they overlap and neither contains the other.
    """
    if most <= 0 or not len(first):
        return np.zeros(0, np.int64)
    words = int(last.max()) + 1
    furthest, nearest = [-1] * words, [words] * words  # of spans taken: last word by first, first word by last
    order = np.argsort(-scores, kind="stable")
    taken = []
    for place, a, b in zip(order.tolist(), first[order].tolist(), last[order].tolist(), strict=True):
        if a != b and (max(furthest[a + 1 : b + 1]) > b or min(nearest[a:b]) < a):
            continue
        taken.append(place)
        if len(taken) == most:
            break
        furthest[a], nearest[b] = max(furthest[a], b), min(nearest[b], a)
    return np.sort(np.array(taken, np.int64))


def how_many(words: int, spans_per_word: float) -> int:
    """Mentions kept in a document of so many words."""
    return int(spans_per_word * words + 1e-9)


def pairs(kept: Sequence[int], most: int) -> tuple[Integers, Integers]:
    """Mentions and how far back their possible antecedents are, 1 for the mention just before and `most` at most.

    `kept` is the number of mentions of each document; pairs stay within a document.
    """
    sizes = np.array(kept, np.int64)
    before = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mention, back = np.nonzero(np.arange(1, min(most, max([*sizes.tolist(), 1]) - 1) + 1) <= before[:, None])
    return mention, back + 1


def buckets(distances: Integers) -> Integers:
    """Which class of distances each belongs to, from 0."""
    return np.searchsorted(_BUCKETS, distances, side="right")


def clusters_of(back: Integers) -> list[list[int]]:
    """Clusters of mentions from how far back each refers, 0 for not at all; those of one mention are left out."""
    roots = np.arange(len(back)) - back
    while True:
        further = roots[roots]
        if np.array_equal(further, roots):
            break
        roots = further
    order = np.argsort(roots, kind="stable")
    starts = np.flatnonzero(np.diff(roots[order], prepend=-1))
    return [part.tolist() for part in np.split(order, starts[1:]) if len(part) > 1]
