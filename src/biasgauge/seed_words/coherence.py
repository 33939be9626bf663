"""Coherence on arrays: how far apart two sets of seeds stand when a vocabulary is ranked along their subspace.

Sources: Antoniak & Mimno, "Bad Seeds" (2021); "Badder Seeds" (2022), section 3.5. Each set's mean rank is over its
distinct words, and the difference is divided by the number of words ranked. The published code divided the sum of ranks
by the length of the list with its duplicates, and the difference by the largest one of the pairs at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.seed_words.located import Listed, Rows
from biasgauge.seed_words.ranks import Ties, ranks_along
from biasgauge.seed_words.subspaces import NOTHING, Method, mean_direction, pair_components, seed_vectors

MOST_LEFT_OUT = 500
"""With more seeds in a set, none is left out: no single one could matter, and the work grows with their square."""


def direction_of(vectors: NDArray[np.floating[Any]], rows: Rows, method: Method, *, scaled: bool) -> Floats | None:
    """The subspace of one pair of sets in one model: a direction of length 1 that points to A; None without one."""
    if method == "mean-difference":
        return mean_direction(*(seed_vectors(vectors, one, scaled=scaled) for one in (rows.a, rows.b)))
    found = pair_components(*(seed_vectors(vectors, one, scaled=scaled) for one in (rows.first, rows.second)))
    return None if found is None else found.axes[0]


def directions_of(vectors: NDArray[np.floating[Any]], rows: Sequence[Rows], method: Method, *, scaled: bool) -> Floats:
    """The subspaces of many pairs of sets in one model: pairs × dimensions; NaN where there is none."""
    if method == "mean-difference" and rows:
        sets = [one for pair in rows for one in (pair.a, pair.b)]
        sizes = np.array([len(one) for one in sets])
        members = seed_vectors(vectors, np.concatenate(sets), scaled=scaled)
        means = np.add.reduceat(members, np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
        return _directions(means[::2], means[1::2])
    found = np.full((len(rows), vectors.shape[1]), np.nan)
    for place, one in enumerate(rows):
        direction = direction_of(vectors, one, method, scaled=scaled)
        if direction is not None:
            found[place] = direction
    return found


def rank_gaps(
    vectors: NDArray[np.floating[Any]],
    directions: Floats,
    a: Sequence[NDArray[np.intp]],
    b: Sequence[NDArray[np.intp]],
) -> Floats:
    """Rank the vocabulary along each direction, and compare the mean ranks of two sets of distinct rows.

    Mean rank of B less that of A, as a share of the words ranked: positive when A is on top; NaN without a direction.
    """
    found = np.full(len(directions), np.nan)
    sound = np.flatnonzero(np.isfinite(directions).all(axis=1)).tolist()
    if sound:
        sets = [rows for place in sound for rows in (a[place], b[place])]
        sums, words = _rank_sums(vectors, directions[sound], sets, "half")
        means = sums / np.array([len(one) for one in sets]).reshape(-1, 2)
        found[sound] = (means[:, 1] - means[:, 0]) / words
    return found


def _rank_sums(
    vectors: NDArray[np.floating[Any]], directions: Floats, sets: Sequence[NDArray[np.intp]], ties: Ties
) -> tuple[Floats, int]:
    """Sum of the ranks of each set, two for each direction, and how many words were ranked."""
    set_of = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    ranks = ranks_along(vectors, directions, np.concatenate(sets), set_of // 2, ties=ties)
    sums: Floats = np.bincount(set_of, weights=ranks.values).astype(np.float64)
    return sums.reshape(-1, 2), ranks.words


def published_coherences(vectors: NDArray[np.floating[Any]], lists: Sequence[Listed], method: Method) -> Floats:
    """Coherence in one model as it was published: 1 for the pair with the largest; NaN without a direction.

    Vectors as stored, duplicates weigh double in the mean vector and deflate their set's mean rank, ties by reversed
    sort, and the largest of these pairs is 1 by construction: values of different models or tables do not compare.

    Args:
        vectors: the model.
        lists: rows of the two lists of each pair, duplicates kept.
        method: the subspace.
    """
    found = np.full(len(lists), np.nan)
    rows = [Rows(a, b, a[: len(b)], b[: len(a)]) for a, b in lists]
    directions = directions_of(vectors, rows, method, scaled=False)
    sound = np.flatnonzero(np.isfinite(directions).all(axis=1)).tolist()
    if sound:
        chosen = [one for place in sound for one in lists[place]]
        sums, _ = _rank_sums(vectors, directions[sound], [np.unique(one) for one in chosen], "later-first")
        means = sums / np.array([len(one) for one in chosen]).reshape(-1, 2)
        gaps = np.abs(means[:, 0] - means[:, 1])
        found[sound] = gaps / (gaps.max() or 1)
    return found


class LeftOut(NamedTuple):
    """One pair of sets in one model, without each of its seeds in turn: those of A, then those of B.

    Attributes:
        coherence: of the sets without the seed; NaN when it was the only one of its set.
        rank: where the seed itself stands along the subspace of the others, as a share of the vocabulary; 0 is A's end.
    """

    coherence: Floats
    rank: Floats


def leave_one_out(
    vectors: NDArray[np.floating[Any]], rows: Sequence[Rows], method: Method, *, scaled: bool
) -> list[LeftOut]:
    """Find every pair's coherence without each seed, and where the seed then stands; all of one model at once."""
    without = [_without_each(vectors, one, method, scaled=scaled) for one in rows]
    sound = [np.flatnonzero(np.isfinite(one[:, 0])) for one in without]
    found = [LeftOut(*np.full((2, len(one)), np.nan)) for one in without]
    seeds = [np.tile(np.concatenate([one.a, one.b]), len(left)) for one, left in zip(rows, sound, strict=True)]
    directions = np.concatenate([one[left] for one, left in zip(without, sound, strict=True)]) if rows else np.empty(0)
    if not len(directions):
        return found
    of = np.repeat(np.arange(len(directions)), np.repeat([len(one) for one in without], [len(one) for one in sound]))
    ranks = ranks_along(vectors, directions, np.concatenate(seeds), of)
    start = 0
    for one, left, mine in zip(rows, sound, found, strict=True):
        size = len(one.a) + len(one.b)
        own = ranks.values[start : start + len(left) * size].reshape(len(left), size) / ranks.words
        start += own.size
        mine.rank[left] = own[np.arange(len(left)), left]
        seed = np.concatenate([one.a, one.b])
        kept = seed[left][:, None] != seed
        means = [(own * kept)[:, part].sum(axis=1) / kept[:, part].sum(axis=1) for part in _halves(one)]
        mine.coherence[left] = np.abs(means[0] - means[1])
    return found


def _halves(rows: Rows) -> tuple[slice, slice]:
    """Where A's seeds and B's stand in the two after each other."""
    return slice(0, len(rows.a)), slice(len(rows.a), None)


def _without_each(vectors: NDArray[np.floating[Any]], rows: Rows, method: Method, *, scaled: bool) -> Floats:
    """Direction without each seed of A, then of B; NaN where there is none, or where nothing is left of a set.

    A word that stands in both sets is left out of both.
    """
    seeds = np.concatenate([rows.a, rows.b])
    found = np.full((len(seeds), vectors.shape[1]), np.nan)
    if max(len(rows.a), len(rows.b)) > MOST_LEFT_OUT:
        return found
    if method == "mean-difference":
        return _directions(*(_means_without(vectors, own, seeds, scaled=scaled) for own in (rows.a, rows.b)))
    for left, seed in enumerate(seeds):
        kept = (rows.first != seed) & (rows.second != seed)
        fewer = rows._replace(first=rows.first[kept], second=rows.second[kept])
        direction = direction_of(vectors, fewer, method, scaled=scaled)
        if direction is not None and (rows.a != seed).any() and (rows.b != seed).any():
            found[left] = direction
    return found


def _means_without(
    vectors: NDArray[np.floating[Any]], own: NDArray[np.intp], seeds: NDArray[np.intp], *, scaled: bool
) -> Floats:
    """Mean vector of a set without each of some seeds, which it may or may not hold; NaN where nothing is left."""
    members = seed_vectors(vectors, own, scaled=scaled)
    holds = seeds[:, None] == own
    left = len(own) - holds.sum(axis=1)
    found: Floats = (members.sum(axis=0) - holds @ members) / np.where(left, left, np.nan)[:, None]
    return found


def _directions(a: Floats, b: Floats) -> Floats:
    """`mean_direction` for many means; NaN where there is none."""
    differences = a - b
    lengths = np.linalg.norm(differences, axis=1)
    scales = np.linalg.norm(a, axis=1) + np.linalg.norm(b, axis=1)
    lengths[lengths <= NOTHING * scales] = np.nan
    found: Floats = differences / lengths[:, None]
    return found
