"""Two sets of seeds side by side: balance of meaning, size, frequency and part of speech; pairing by position.

Pairs as they stand are compared with shuffled and random ones, and held out: does it matter which seed is paired?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.seeds.subspaces import component_shares, pair_components, seed_vectors
from biasgauge.analyses.seeds.word_pairs import Located, PairRows
from biasgauge.core import (
    UNDEFINED,
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    Places,
    Record,
    Vectors,
    cosine,
    unit_rows,
)
from biasgauge.lexicons import seed_bank
from biasgauge.stats import greater_share, mean_over_models, wilson
from biasgauge.vectors import Embedding

QUANTILES = "2.5 % and 97.5 % quantiles"
"""How spreads over other pairings are given."""
COMPONENTS = 10
"""Components that are reported."""
_NUMBERS = 2**22
"""Numbers in a stack of pair halves that is decomposed at once."""


@dataclass(frozen=True)
class Pairing(Record):
    """Variance and order explained by pairing two sets by position.

    Attributes:
        pairs: how many pairs of different words by position are in use.
        explained: share of the variance of pair halves along each principal component, mean over models; at most 10.
        first: the first component's share, with its interval.
        shuffled: the same as `explained` with pairs drawn at random from the same words, mean over shuffles and models.
        shuffled_first: the first share over shuffles: mean, 2.5 % and 97.5 % quantiles.
        random: the same with as many random pairs of words of the vocabulary.
        shuffles: how many shuffles, the same in all models.
        p_value: share of shuffles whose first component, averaged over models, is at least as strong as that of the
            pairs as they stand; small means that the pairing is part of what the sets say. None without shuffles.
        accuracy: share of pairs that the subspace of the other pairs puts in the right order; .5 is chance.
        reason: why there is none of this.
    """

    renamed: ClassVar[Mapping[str, str]] = {"p_value": "shuffles_p_value"}
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"explained", "first", "shuffled", "shuffled_first", "random", "accuracy"}
    )

    pairs: int
    explained: tuple[float, ...] = ()
    first: Estimate = UNDEFINED
    shuffled: tuple[float, ...] = ()
    shuffled_first: Estimate = UNDEFINED
    random: Estimate = UNDEFINED
    shuffles: int = 0
    p_value: float | None = None
    accuracy: Estimate = UNDEFINED
    reason: str | None = None

    def derived(self) -> JsonMapping:
        """Shares with their intervals; the card has `explained_variance` and `explained_variance_shuffled`."""
        spreads = {"first_share_shuffled": self.shuffled_first, "first_share_random": self.random}
        return {
            **self.first.beside("first_share"),
            **self.accuracy.beside("held_out_accuracy"),
            **{name: _spread_json(estimate) if estimate.defined else None for name, estimate in spreads.items()},
        }


def _spread_json(estimate: Estimate) -> JsonMapping:
    return {"mean": estimate.value, "low": estimate.low, "high": estimate.high, "method": estimate.method}


def pairing(
    located: Located, models: Sequence[Embedding], *, scaled: bool, shuffles: int, level: float, random_state: int
) -> Pairing:
    """Compare the pairs as they stand with other pairings of the same words, over all models that have them."""
    pairs = len(next(iter(located.rows.values())).first) if located.rows else 0
    if located.reason is not None or not pairs:
        return Pairing(pairs, reason=located.reason or "no pair by position has both words")
    name = [*located.pair.a.encode(), 0, *located.pair.b.encode()]
    ordered, shuffled, random, accuracy = [], [], [], []
    components_kept = min(COMPONENTS, pairs, *(models[index].dim for index in located.rows))
    count = shuffles if pairs > 1 else 0
    orders = np.empty((0, pairs), np.intp)
    for index, rows in located.rows.items():
        vectors = models[index].vectors
        first, second = (seed_vectors(vectors, end, scaled=scaled) for end in (rows.first, rows.second))
        components = pair_components(first, second)
        if components is None:
            return Pairing(pairs, reason="the two words of every pair are the same")
        ordered.append(components.shares[:components_kept])
        stream = np.random.default_rng([random_state, index, *name])
        if count:
            if not len(orders):  # one set of shuffles for all models: a shuffle is one pairing, whatever the model
                orders = np.stack([stream.permutation(pairs) for _ in range(count)])
            shuffled.append(shuffled_shares(first, second, orders)[:, :components_kept])
            random.append(_random_shares(vectors, pairs, stream, count, scaled=scaled))
        accuracy.append(held_out_accuracy(rows, first, second))
    shares = np.array([model_shares[0] for model_shares in ordered])
    judged = [share for share in accuracy if np.isfinite(share)]
    in_order = Estimate(value=None, reason="there are fewer than two pairs without a word in common")
    if judged:
        in_order = wilson(float(np.mean(judged)), pairs, level, "Wilson over pairs", "pairs")
    left = [_first_without_each(first - second)] if len(ordered) == 1 and pairs > 1 else None
    extra: dict[str, Any] = {}
    if count:
        drawn, at_random = np.stack(shuffled), np.concatenate(random)
        means, firsts = drawn.mean(axis=(0, 1)).tolist(), drawn[..., 0]
        extra = {
            "shuffled": tuple(means),
            "shuffled_first": _spread(means[0], firsts),
            "random": _spread(float(at_random.mean()), at_random),
            "shuffles": count,
            "p_value": float((1 + (firsts.mean(axis=0) >= shares.mean() - 1e-12).sum()) / (1 + count)),
        }
    return Pairing(
        pairs=pairs,
        explained=tuple(np.mean(ordered, axis=0).tolist()),
        first=mean_over_models(shares, level, left, (0.0, 1.0), "pairs"),
        accuracy=in_order,
        **extra,
    )


def _spread(mean: float, values: Floats) -> Estimate:
    """A mean and where 95 % of the values lie."""
    low, high = np.quantile(values, (0.025, 0.975)).tolist()
    return Estimate(value=mean, low=low, high=high, method=QUANTILES)


def shuffled_shares(first: Floats, second: Floats, orders: Places) -> Floats:
    """Shares of the components for other pairings of the same ends, shuffles × components."""
    step = max(_NUMBERS // first.size, 1)
    starts = range(0, len(orders), step)
    return np.concatenate([_shares_of_halves(first - second[orders[start : start + step]]) for start in starts])


def _random_shares(vectors: Vectors, pairs: int, stream: np.random.Generator, count: int, *, scaled: bool) -> Floats:
    """First shares of as many pairs of words drawn at random from the whole vocabulary."""
    shares = []
    step = max(_NUMBERS // (pairs * (2 * vectors.shape[1] + pairs)), 1)
    for start in range(0, count, step):
        drawn = stream.integers(len(vectors), size=(min(step, count - start), 2, pairs))
        ends = np.asarray(vectors[drawn.ravel()], np.float64)
        if scaled:
            ends = np.nan_to_num(unit_rows(ends, pairwise=True))  # a zero vector adds nothing
        first, second = np.moveaxis(ends.reshape(*drawn.shape, -1), 1, 0)
        shares.append(_shares_of_halves(first - second)[:, 0])
    return np.concatenate(shares)


def _shares_of_halves(halves: Floats) -> Floats:
    """Shares of the components of stacks of halves, from the products of pairs, or of dimensions where fewer."""
    turned = halves.transpose(0, 2, 1)
    return component_shares(halves @ turned if halves.shape[1] <= halves.shape[2] else turned @ halves)


def held_out_accuracy(rows: PairRows, first: Floats, second: Floats) -> float:
    """Share of pairs that the first component of the others puts in the right order, ties half; NaN without others.

    Pairs that have a word in common with the held-out one are left out with it.
    """
    ends = np.stack([rows.first, rows.second], axis=1)
    common = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
    halves = first - second
    size = float((halves**2).sum())
    score, judged = 0.0, 0
    for others, half, (variance, axis) in zip(~common, halves, _first_axes(halves, ~common), strict=True):
        if variance > 1e-12 * size:
            along = (axis @ half) * (axis @ (others @ halves))
            score += (np.sign(along) + 1) / 2
            judged += 1
    return float(score) / judged if judged else float("nan")


def _first_without_each(halves: Floats) -> Floats:
    """The first component's share without each pair; NaN where the others have no variance."""
    variances = np.array([variance for variance, _ in _first_axes(halves, ~np.eye(len(halves), dtype=bool))])
    squares = (halves**2).sum(axis=1)
    total = squares.sum() - squares
    shares: Floats = variances.clip(min=0) / np.where(total > 0, total, np.nan)
    return shares


def _first_axes(halves: Floats, retained: Flags) -> Iterator[tuple[float, Floats]]:
    """Variance along the first component and its direction, of the halves that each row of `retained` keeps.

    From the products of halves, or of dimensions where those are fewer.
    """
    from scipy.linalg import eigh

    pairs, dim = halves.shape
    products = halves @ halves.T if pairs <= dim else halves.T @ halves
    last = [min(pairs, dim) - 1] * 2
    for mask in retained:
        rest = products * np.outer(mask, mask) if pairs <= dim else products - halves[~mask].T @ halves[~mask]
        (variance,), axes = eigh(rest, subset_by_index=last, overwrite_a=True, check_finite=False)
        yield float(variance), (axes[:, 0] * mask) @ halves if pairs <= dim else axes[:, 0]


def set_similarities(located: Located, models: Sequence[Embedding], *, scaled: bool) -> Floats:
    """Cosine of the two mean vectors in each model: 1 the same direction, 0 unrelated; NaN where a mean is zero.

    Source: Antoniak & Mimno, "Bad Seeds" (2021). Means are over distinct seeds.
    """
    cosines = []
    for index, rows in located.rows.items():
        means = (seed_vectors(models[index].vectors, seeds, scaled=scaled).mean(axis=0) for seeds in (rows.a, rows.b))
        cosines.append(cosine(*means))
    return np.array(cosines, np.float64)


def similarity_left_out(vectors: Vectors, rows: PairRows, *, scaled: bool) -> list[Floats]:
    """The similarity without each seed of A, and without each of B."""
    a, b = (seed_vectors(vectors, seeds, scaled=scaled) for seeds in (rows.a, rows.b))
    cosines = []
    for seeds, opposite in ((a, b), (b, a)):
        others = len(seeds) - 1
        without = (seeds.sum(axis=0) - seeds) / others if others else np.full(seeds.shape, np.nan)
        cosines.append(np.array([cosine(mean, opposite.mean(axis=0)) for mean in without]))
    return cosines


@dataclass(frozen=True)
class Balance(Record):
    """Differences of two lists other than their meaning.

    Attributes:
        shared: words that stand in both sets.
        overlap: shared words as a share of all (Jaccard): 0 none, 1 the same set.
        size: the smaller number of distinct seeds over the larger: 1 equal.
        frequency: probability that a seed of A is more frequent than one of B, ties half; .5 is balanced, 1 means that
            every word of A is more frequent than any of B (the area under the ROC curve).
        frequency_source: "counts", or "row order": files usually list the most frequent words first.
        pos: 1 less the total variation distance of the two distributions of parts of speech: 1 the same, 0 none in
            common; None when a set has no word whose part of speech is known.
        pos_shares: share of each universal part of speech in each set, among words known.
        pos_unknown: seeds that the Brown corpus lacks.
        names: which sets ("a", "b") are for the most part people's names.
    """

    shared: tuple[str, ...]
    overlap: float
    size: float
    frequency: float | None
    frequency_source: str
    pos: float | None
    pos_shares: Mapping[str, Mapping[str, float]]
    pos_unknown: tuple[str, ...]
    names: tuple[str, ...]


def balance(located: Located, models: Sequence[Embedding], counts: Mapping[str, float] | None) -> Balance:
    """Compare the distinct seeds in use of two sets."""
    a, b = located.a, located.b
    if located.rows:
        index, rows = next(iter(located.rows.items()))
        shared_rows = set(rows.a.tolist()) & set(rows.b.tolist())
        shared = tuple(word for word, row in zip(a, rows.a.tolist(), strict=True) if row in shared_rows)
        spelled = [tuple(models[index].words[row] for row in seeds.tolist()) for seeds in (rows.a, rows.b)]
    else:
        both = set(a) & set(b)
        shared, spelled = tuple(word for word in a if word in both), [a, b]
    from biasgauge.analyses.reliability import word_properties  # only paired sets need the tags of words

    properties = word_properties()
    tags = {}
    for end, words in zip("ab", spelled, strict=True):
        listed = [properties[word.lower()].tag for word in words if word.lower() in properties]
        tags[end] = {tag: listed.count(tag) / len(listed) for tag in sorted(set(listed))}
    return Balance(
        shared=shared,
        overlap=len(shared) / (len(a) + len(b) - len(shared)) if a or b else 0.0,
        size=min(len(a), len(b)) / max(len(a), len(b)) if a or b else 1.0,
        frequency=_more_frequent(located, spelled, counts),
        frequency_source="row order" if counts is None else "counts",
        pos=_alike(tags["a"], tags["b"]),
        pos_shares=tags,
        pos_unknown=tuple(dict.fromkeys(word for word in chain(*spelled) if word.lower() not in properties)),
        names=tuple(end for end, words in zip("ab", (a, b), strict=True) if are_names(words)),
    )


def _alike(a: Mapping[str, float], b: Mapping[str, float]) -> float | None:
    if not a or not b:
        return None
    return 1 - sum(abs(a.get(tag, 0.0) - b.get(tag, 0.0)) for tag in sorted({*a, *b})) / 2


def _more_frequent(
    located: Located, spelled: Sequence[Sequence[str]], counts: Mapping[str, float] | None
) -> float | None:
    """Mean over models of the probability that a seed of A is the more frequent one."""
    if counts is not None:
        frequencies = [np.array([float(counts[word]) for word in words if word in counts]) for words in spelled]
        return greater_share(*frequencies) if all(map(len, frequencies)) else None
    shares = [greater_share(-rows.a, -rows.b) for rows in located.rows.values()]
    return sum(shares) / len(shares) if shares else None


def are_names(words: Sequence[str]) -> bool:
    """Return True where half of the words or more are in a set of the seed bank whose category says "names"."""
    names = _name_words()
    return 2 * sum(word.lower() in names for word in words) >= len(words) > 0


@cache
def _name_words() -> frozenset[str]:
    seeds = seed_bank("none").bank.seeds
    return frozenset(word.lower() for listed in seeds if "name" in listed.category.lower() for word in listed.words)
