"""Coherence: how far apart two sets of seeds stand when a vocabulary is ranked along their subspace.

And without each seed: which one moves it, and do seeds stand where they should when they have no say in it?

Sources: Antoniak & Mimno, "Bad Seeds" (2021); "Badder Seeds" (2022), section 3.5. Each set's mean rank is over its
distinct words, and the difference is divided by the number of words ranked. The published code divided the sum of ranks
by the length of the list with its duplicates, and the difference by the largest one of the pairs at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.seeds.ranks import Ties, ranks_along
from biasgauge.analyses.seeds.subspaces import Method, mean_direction, pair_components, seed_vectors, unit_differences
from biasgauge.analyses.seeds.word_pairs import Located, PairRows
from biasgauge.core import Estimate, Flags, Floats, Places, Record, Vectors
from biasgauge.stats import mean_over_models
from biasgauge.vectors import Embedding

NO_SUBSPACE = "the two sets have one mean, so that nothing lies between them"
MOST_LEFT_OUT = 500
"""Seeds in a set up to which each is left out by itself."""
PARTS = 10
"""Parts of a larger set that are left out in turn: no single seed could matter, and work grows with their square."""


def direction_of(vectors: Vectors, rows: PairRows, method: Method, *, scaled: bool) -> Floats | None:
    """The subspace of one pair of sets in one model: a direction of length 1 that points to A; None without one."""
    if method == "mean-difference":
        return mean_direction(*(seed_vectors(vectors, seeds, scaled=scaled) for seeds in (rows.a, rows.b)))
    components = pair_components(*(seed_vectors(vectors, end, scaled=scaled) for end in (rows.first, rows.second)))
    return None if components is None else components.axes[0]


def directions_of(vectors: Vectors, rows: Sequence[PairRows], method: Method, *, scaled: bool) -> Floats:
    """The subspaces of many pairs of sets in one model: pairs × dimensions; NaN where there is none."""
    if method == "mean-difference" and rows:
        sets = [seeds for pair in rows for seeds in (pair.a, pair.b)]
        sizes = np.array([len(seeds) for seeds in sets])
        members = seed_vectors(vectors, np.concatenate(sets), scaled=scaled)
        means = np.add.reduceat(members, np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
        return unit_differences(means[::2], means[1::2])
    directions = np.full((len(rows), vectors.shape[1]), np.nan)
    for index, pair in enumerate(rows):
        direction = direction_of(vectors, pair, method, scaled=scaled)
        if direction is not None:
            directions[index] = direction
    return directions


def rank_gaps(vectors: Vectors, directions: Floats, a: Sequence[Places], b: Sequence[Places]) -> Floats:
    """Rank the vocabulary along each direction, and compare the mean ranks of two sets of distinct rows.

    Mean rank of B less that of A, as a share of the words ranked: positive when A is on top; NaN without a direction.
    """
    gaps = np.full(len(directions), np.nan)
    sound = np.flatnonzero(np.isfinite(directions).all(axis=1)).tolist()
    if sound:
        sets = [rows for index in sound for rows in (a[index], b[index])]
        sums, words = _rank_sums(vectors, directions[sound], sets, "half")
        means = sums / np.array([len(seeds) for seeds in sets]).reshape(-1, 2)
        gaps[sound] = (means[:, 1] - means[:, 0]) / words
    return gaps


def _rank_sums(vectors: Vectors, directions: Floats, sets: Sequence[Places], ties: Ties) -> tuple[Floats, int]:
    """Sum of the ranks of each set, two for each direction, and how many words were ranked."""
    set_of = np.repeat(np.arange(len(sets)), [len(seeds) for seeds in sets])
    ranks = ranks_along(vectors, directions, np.concatenate(sets), set_of // 2, ties=ties)
    sums: Floats = np.bincount(set_of, weights=ranks.values).astype(np.float64)
    return sums.reshape(-1, 2), ranks.words


def published_coherences(vectors: Vectors, lists: Sequence[tuple[Places, Places]], method: Method) -> Floats:
    """Coherence in one model as it was published: 1 for the pair with the largest; NaN without a direction.

    `lists` are the rows of the two lists of each pair, duplicates kept. Vectors as stored, duplicates weigh double in
    the mean vector and deflate their set's mean rank, ties by reversed sort, and the largest of these pairs is 1 by
    construction: values of different models or tables do not compare.
    """
    coherences = np.full(len(lists), np.nan)
    rows = [PairRows(a, b, a[: len(b)], b[: len(a)]) for a, b in lists]
    directions = directions_of(vectors, rows, method, scaled=False)
    sound = np.flatnonzero(np.isfinite(directions).all(axis=1)).tolist()
    if sound:
        chosen = [words for index in sound for words in lists[index]]
        sums, _ = _rank_sums(vectors, directions[sound], [np.unique(words) for words in chosen], "later-first")
        means = sums / np.array([len(words) for words in chosen]).reshape(-1, 2)
        gaps = np.abs(means[:, 0] - means[:, 1])
        coherences[sound] = gaps / (gaps.max() or 1)
    return coherences


class LeftOut(NamedTuple):
    """One pair of sets in one model without each part of its seeds in turn, those of A, then those of B.

    A part is one seed, or a tenth of a large set. `coherence` has a number for each part (NaN where nothing is left of
    a set); `rank` has the place of each seed along the subspace without its part, as a share of the vocabulary from A's
    end; `sizes` the number of parts of A and of B.
    """

    coherence: Floats
    rank: Floats
    sizes: tuple[int, int]


def leave_one_out(
    vectors: Vectors, rows: Sequence[PairRows], method: Method, *, scaled: bool, most: int = MOST_LEFT_OUT
) -> list[LeftOut]:
    """Find every pair's coherence without each part, and where its seeds then stand; all of one model at once.

    In sets of more than `most` seeds a part is a tenth of them, else one seed.
    """
    parts = [(_parts(len(pair.a), most), _parts(len(pair.b), most)) for pair in rows]
    without = [
        _without_each(vectors, pair, sides, method, scaled=scaled) for pair, sides in zip(rows, parts, strict=True)
    ]
    sound = [np.flatnonzero(np.isfinite(directions[:, 0])) for directions in without]
    seeds = [np.concatenate([pair.a, pair.b]) for pair in rows]
    sizes = [(_count(a), _count(b)) for a, b in parts]
    results = [
        LeftOut(np.full(len(directions), np.nan), np.full(len(members), np.nan), size)
        for directions, members, size in zip(without, seeds, sizes, strict=True)
    ]
    if not sum(map(len, sound)):
        return results
    every = np.concatenate([directions[left] for directions, left in zip(without, sound, strict=True)])
    direction_indexes = np.repeat(np.arange(len(every)), np.repeat(list(map(len, seeds)), list(map(len, sound))))
    wanted = np.concatenate([np.tile(shares, len(left)) for shares, left in zip(seeds, sound, strict=True)])
    ranks = ranks_along(vectors, every, wanted, direction_indexes)
    start = 0
    for pair, sides, seed, left, result in zip(rows, parts, seeds, sound, results, strict=True):
        shares = ranks.values[start : start + len(left) * len(seed)].reshape(len(left), len(seed)) / ranks.words
        start += shares.size
        part_of_seed = np.concatenate([sides[0], sides[1] + result.sizes[0]])
        position = np.searchsorted(left, part_of_seed)
        ranked = np.flatnonzero(np.isin(part_of_seed, left))
        result.rank[ranked] = shares[position[ranked], ranked]
        remaining = ~_held_out(pair, sides)[left]
        halves = slice(0, len(pair.a)), slice(len(pair.a), None)
        means = [(shares * remaining)[:, half].sum(axis=1) / remaining[:, half].sum(axis=1) for half in halves]
        result.coherence[left] = np.abs(means[0] - means[1])
    return results


def _parts(count: int, most: int) -> Places:
    """Part of each seed of a set: one each, or every tenth together."""
    return np.arange(count) if count <= most else np.arange(count) % PARTS


def _count(parts: Places) -> int:
    """Return the number of parts."""
    return int(parts.max(initial=-1)) + 1


def _held_out(rows: PairRows, parts: tuple[Places, Places]) -> Flags:
    """Parts × seed words: True where a part of A, then of B, leaves a word out; words in both sets leave both."""
    seeds = np.concatenate([rows.a, rows.b])
    held = []
    for members, part_of_seed in zip((rows.a, rows.b), parts, strict=True):
        held += [np.isin(seeds, members[part_of_seed == part]) for part in range(_count(part_of_seed))]
    return np.array(held)


def _without_each(
    vectors: Vectors, rows: PairRows, parts: tuple[Places, Places], method: Method, *, scaled: bool
) -> Floats:
    """Direction without each part of A, then of B; NaN where there is none, or where nothing is left of a set."""
    held, size = _held_out(rows, parts), len(rows.a)
    if method == "mean-difference":
        sides = (rows.a, held[:, :size]), (rows.b, held[:, size:])
        return unit_differences(*(_means_without(vectors, seeds, out, scaled=scaled) for seeds, out in sides))
    directions = np.full((len(held), vectors.shape[1]), np.nan)
    for index, out in enumerate(held):
        seeds = np.concatenate([rows.a, rows.b])[out]
        remaining = ~np.isin(rows.first, seeds) & ~np.isin(rows.second, seeds)
        fewer = rows._replace(first=rows.first[remaining], second=rows.second[remaining])
        direction = direction_of(vectors, fewer, method, scaled=scaled)
        if direction is not None and not out[:size].all() and not out[size:].all():
            directions[index] = direction
    return directions


def _means_without(vectors: Vectors, rows: Places, held: Flags, *, scaled: bool) -> Floats:
    """Mean vector of a set without each part, parts × dimensions; NaN where nothing is left."""
    members = seed_vectors(vectors, rows, scaled=scaled)
    left = len(rows) - held.sum(axis=1)
    means: Floats = (members.sum(axis=0) - held @ members) / np.where(left, left, np.nan)[:, None]
    return means


class PairNumbers(NamedTuple):
    """One pair of sets in each model that has its seeds (`published`: every word of its lists); NaN: no subspace."""

    coherence: list[float]
    published: list[float]
    left_out: list[LeftOut]


def in_every_model(
    located: Sequence[Located],
    models: Sequence[Embedding],
    method: Method,
    *,
    scaled: bool,
    published: bool = True,
    left_out: int = 0,
    most: int = MOST_LEFT_OUT,
    progress: Callable[[int, int], None] | None = None,
) -> list[PairNumbers]:
    """Measure every pair of sets in every model, each with one pass over its vocabulary for all pairs.

    The published normalization is over all pairs of a model. `left_out` says in how many models, the first that have a
    pair, parts of the seeds are left out in turn; `most` as in `leave_one_out`.
    """
    numbers = [PairNumbers([], [], []) for _ in located]
    results = list(zip(located, numbers, strict=True))
    for index, model in enumerate(models):
        present = [(result, pair.rows[index]) for pair, result in results if index in pair.rows]
        rows = [seeds for _, seeds in present]
        directions = directions_of(model.vectors, rows, method, scaled=scaled)
        gaps = rank_gaps(model.vectors, directions, [seeds.a for seeds in rows], [seeds.b for seeds in rows])
        for (result, _), gap in zip(present, gaps.tolist(), strict=True):
            result.coherence.append(abs(gap))
        if published:
            complete = [(result, pair.full_lists[index]) for pair, result in results if index in pair.full_lists]
            values = published_coherences(model.vectors, [lists for _, lists in complete], method)
            for (result, _), value in zip(complete, values.tolist(), strict=True):
                result.published.append(value)
        chosen = [(result, seeds) for result, seeds in present if len(result.left_out) < left_out]
        without = leave_one_out(model.vectors, [seeds for _, seeds in chosen], method, scaled=scaled, most=most)
        for (result, _), left in zip(chosen, without, strict=True):
            result.left_out.append(left)
        if progress is not None:
            progress(index + 1, len(models))
    return numbers


@dataclass(frozen=True)
class SeedInfluence(Record):
    """Influence of one seed on the coherence of its pair of sets, mean over models.

    Attributes:
        word: the seed.
        set: "a" or "b".
        without: coherence of the sets without it; None when it is the only one of its set, or one of many.
        change: that less the coherence with it; negative: the seed holds the sets apart.
        rank: where it stands along the subspace of the other seeds (in large sets, of the other parts), as a share of
            the vocabulary: 0 is A's end, 1 B's.
    """

    word: str
    set: str
    without: float | None
    change: float | None
    rank: float | None


def influences(located: Located, numbers: PairNumbers) -> tuple[SeedInfluence, ...]:
    """Influence of every seed, the one whose absence changes most first; seeds without a value last."""
    left = numbers.left_out
    if not left:
        return ()
    rank = np.mean([model.rank for model in left], axis=0)
    without, changes = np.full((2, len(rank)), np.nan)
    # A set whose parts are its seeds has a coherence without each of them; a larger one has none.
    sizes = len(located.a), len(located.b)
    whole = [parts == size for parts, size in zip(left[0].sizes, sizes, strict=True)]
    alone, parts_alone = np.repeat(whole, sizes), np.repeat(whole, left[0].sizes)
    without[alone] = np.mean([model.coherence for model in left], axis=0)[parts_alone]
    differences = [model.coherence - coherence for model, coherence in zip(left, numbers.coherence, strict=False)]
    changes[alone] = np.mean(differences, axis=0)[parts_alone]
    labels = [("a", word) for word in located.a] + [("b", word) for word in located.b]
    rows = zip(labels, without.tolist(), changes.tolist(), rank.tolist(), strict=True)
    seeds = [
        SeedInfluence(word, end, *(None if np.isnan(value) else value for value in values))
        for (end, word), *values in rows
    ]
    return tuple(sorted(seeds, key=lambda seed: -1.0 if seed.change is None else abs(seed.change), reverse=True))


def coherence_estimates(
    located: Located, numbers: PairNumbers, method: Method, level: float
) -> tuple[Estimate, Estimate, Estimate]:
    """The coherence, that with every seed ranked along the subspace of the others, and that as published."""
    published = Estimate(value=None, reason=NO_SUBSPACE if located.full_lists else "no model has every seed")
    if np.isfinite(numbers.published).any():
        published = mean_over_models(np.array(numbers.published), level, None, (0.0, 1.0))
    if located.reason is not None or not np.isfinite(numbers.coherence).any():
        why = NO_SUBSPACE if method == "mean-difference" else "no pair by position has two different words"
        undefined = Estimate(value=None, reason=located.reason or why)
        return undefined, undefined, published
    size, left = len(located.a), numbers.left_out
    without = np.split(left[0].coherence, left[0].sizes[:1]) if left else None
    coherence = mean_over_models(np.array(numbers.coherence), level, without, (0.0, 1.0))
    # Mean rank of B's seeds less that of A's: 1 fully apart, 0 not told apart, negative the wrong way round.
    gaps = np.array([model.rank[size:].mean() - model.rank[:size].mean() for model in left])
    if np.isfinite(gaps).any():
        return coherence, mean_over_models(gaps, level, _held_out_left_out(left[0], size), (-1.0, 1.0)), published
    why = "a set has one seed" if left else "no seed was left out"
    return coherence, Estimate(value=None, reason=why), published


def _held_out_left_out(left: LeftOut, size_a: int) -> list[Floats]:
    """The gap without each seed's own rank: what the jackknife needs (the others' subspaces are kept)."""
    a, b = left.rank[:size_a], left.rank[size_a:]
    if min(len(a), len(b)) < 2:
        return [np.full(len(a), np.nan), np.full(len(b), np.nan)]
    return [b.mean() - (a.sum() - a) / (len(a) - 1), (b.sum() - b) / (len(b) - 1) - a.mean()]
