"""Similarity of two sets of seeds: meaning, shared words, size, frequency, part of speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np

from biasgauge.analyses.reliability import word_properties
from biasgauge.analyses.seeds.subspaces import seed_vectors
from biasgauge.analyses.seeds.word_pairs import Located, Rows
from biasgauge.core import Floats, Record, Vectors, cosine
from biasgauge.lexicons import seed_bank
from biasgauge.stats import greater_share
from biasgauge.vectors import Embedding


def set_similarities(located: Located, models: Sequence[Embedding], *, scaled: bool) -> Floats:
    """Cosine of the two mean vectors in each model: 1 the same direction, 0 unrelated; NaN where a mean is zero.

    Source: Antoniak & Mimno, "Bad Seeds" (2021). Means are over distinct seeds.
    """
    cosines = []
    for index, rows in located.rows.items():
        means = (seed_vectors(models[index].vectors, seeds, scaled=scaled).mean(axis=0) for seeds in (rows.a, rows.b))
        cosines.append(cosine(*means))
    return np.array(cosines, np.float64)


def similarity_left_out(vectors: Vectors, rows: Rows, *, scaled: bool) -> list[Floats]:
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
    tags = {end: _pos_shares(words) for end, words in zip("ab", spelled, strict=True)}
    return Balance(
        shared=shared,
        overlap=len(shared) / (len(a) + len(b) - len(shared)) if a or b else 0.0,
        size=min(len(a), len(b)) / max(len(a), len(b)) if a or b else 1.0,
        frequency=_more_frequent(located, spelled, counts),
        frequency_source="row order" if counts is None else "counts",
        pos=_alike(tags["a"], tags["b"]),
        pos_shares=tags,
        pos_unknown=tuple(dict.fromkeys(word for word in chain(*spelled) if word.lower() not in word_properties())),
        names=tuple(end for end, words in zip("ab", (a, b), strict=True) if are_names(words)),
    )


def _pos_shares(words: Sequence[str]) -> dict[str, float]:
    table = word_properties()
    tags = [table[word.lower()].tag for word in words if word.lower() in table]
    return {tag: tags.count(tag) / len(tags) for tag in sorted(set(tags))}


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
