"""Is the removed bias still there? A classifier, clusters and neighbors look for it.

Source: Gonen & Goldberg, "Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word Embeddings But
do not Remove Them", NAACL 2019, §4 and §5. Words are biased by what they were *before*: the most biased neutral words
of either side, by their projection on the direction of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgauge.core import Flags, Floats, PairsLike, Places, WordsLike, unit_rows, unit_singles
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.metrics import fit, probabilities
from biasgauge.mitigation.effect_result import CLASSIFIER, CLUSTERS, NEIGHBORS, RECOVERED, Row
from biasgauge.mitigation.methods.double_hard import two_means
from biasgauge.mitigation.subspace import (
    bias_subspace,
    cased,
    defining_sets,
    equality_pairs,
    mask,
    projections,
    specific_words,
)
from biasgauge.scores import block_rows, nearest
from biasgauge.stats import agresti_min, clopper_pearson, correlations_differ, fisher_interval
from biasgauge.vectors import Embedding

_LEAST = 10
_LEVEL = 0.95
_PENALTY = 10.0
"""scikit-learn's `C`, for vectors of length 1."""


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """How to look for what is left.

    Attributes:
        pairs: give the direction, on the vectors before.
        specific: words that carry the bias by meaning, which do not count; as in `hard`.
        biased_words: most biased words of either side to classify and to cluster.
        neighbors: how many neighbors vote.
        words: whose neighbors to ask, of those that are neutral.
        random_state: seed of the split and of the clusters.
    """

    pairs: PairsLike = "bolukbasi2016"
    specific: WordsLike | None = "auto"
    biased_words: int = 500
    neighbors: int = 100
    words: WordsLike = "occ16"
    random_state: int = 0


def recovery_rows(before: Embedding, after: Embedding, settings: Recovery) -> list[Row]:
    """The three checks before and after. Both models hold the same words in the same order."""
    pairs = pairs_of(settings.pairs)
    try:
        ends = [before.vectors[rows] for rows in defining_sets(before, pairs).rows]
        direction = bias_subspace(ends, 1).basis[0]
    except ParameterError as problem:  # vectors of another language, say: the other parts still stand
        return [_undefined(name, pairs.name, str(problem)) for name in RECOVERED]
    equal = cased(equality_pairs(pairs, "auto"))
    named = (*specific_words(pairs, settings.specific), *(word for pair in equal for word in pair))
    sound: Flags = np.asarray(before.vectors.any(axis=1) & after.vectors.any(axis=1))
    neutral = np.flatnonzero(~mask(before, named) & sound)
    bias = projections(before, direction)
    count = min(settings.biased_words, len(neutral) // 2)
    order = neutral[np.argsort(bias[neutral], kind="stable")]
    if count < _LEAST:
        why = f"there are fewer than {2 * _LEAST} neutral words"
        classified = [_undefined(name, pairs.name, why) for name in (CLASSIFIER, CLUSTERS)]
    else:
        chosen = np.concatenate([order[:count], order[-count:]])
        points = [unit_rows(model.vectors[chosen].astype(np.float64), rescale=True) for model in (before, after)]
        sides = np.arange(2 * count) >= count
        classified = [_classified(points, sides, pairs.name, settings), _clustered(points, sides, pairs.name, settings)]
    return [*classified, _by_neighbors(before, after, bias, sound, neutral, settings)]


def _classified(points: list[Floats], sides: Flags, name: str, settings: Recovery) -> Row:
    """Logistic regression learns the side from half of the words and tells it of the other half."""
    random = np.random.default_rng(settings.random_state)
    learn = np.zeros(len(sides), bool)
    for side in (False, True):
        members = random.permutation(np.flatnonzero(sides == side))
        learn[members[: len(members) // 2]] = True
    right = []
    for vectors in points:
        labels, weights = sides[learn].astype(np.float64), np.ones((1, int(learn.sum())))
        model = fit(vectors[learn], labels, weights, c=_PENALTY, penalize_intercept=False)
        right.append((probabilities(model, vectors[~learn])[0] > 0.5) == sides[~learn])
    return _shares(CLASSIFIER, name, right)


def _clustered(points: list[Floats], sides: Flags, name: str, settings: Recovery) -> Row:
    """Two clusters of the words, whose names are chosen so that they match best: even by chance a little above ½."""
    right = [two_means(vectors, settings.random_state) == sides for vectors in points]
    return _shares(CLUSTERS, name, [hits if 2 * hits.sum() >= len(hits) else ~hits for hits in right])


def _undefined(name: str, of: str, reason: str) -> Row:
    return Row(part="recovery", name=name, of=of, reason=reason)


def _shares(name: str, of: str, right: list[Flags]) -> Row:
    hits, trials = [int(side.sum()) for side in right], len(right[0])
    before, after = (clopper_pearson(count, trials, level=_LEVEL, over="words") for count in hits)
    gained, lost = int((right[1] & ~right[0]).sum()), int((right[0] & ~right[1]).sum())
    change = replace(agresti_min(gained, lost, trials, level=_LEVEL), value=hits[1] / trials - hits[0] / trials)
    return Row(part="recovery", name=name, of=of, before=before, after=after, change=change, count=trials, chance=0.5)


def _by_neighbors(
    before: Embedding, after: Embedding, bias: Floats, sound: Flags, neutral: Places, settings: Recovery
) -> Row:
    """Does a word's old bias correlate with the share of its neighbors that leaned to the first end?"""
    asked = words_of(settings.words)
    rows = np.intersect1d(before.lookup(asked.words).rows, neutral)
    pool = np.flatnonzero(sound)
    k = settings.neighbors
    if len(rows) < _LEAST or len(pool) <= k:
        why = f"fewer than {_LEAST} of the words are neutral and found" if len(rows) < _LEAST else "too few words"
        return _undefined(NEIGHBORS, asked.name, why)
    votes = bias[pool] > 0
    shares = [_votes(model, rows, pool, votes, k) for model in (before, after)]
    if any(np.ptp(values) == 0 for values in (bias[rows], *shares)):
        return _undefined(NEIGHBORS, asked.name, "all words have the same share")
    first, second = (_correlation(bias[rows], share) for share in shares)
    old, new = (fisher_interval(value, len(rows), level=_LEVEL, over="words") for value in (first, second))
    change = correlations_differ(second, first, _correlation(*shares), len(rows), _LEVEL, "pearson")
    about: dict[str, Any] = {"part": "recovery", "name": NEIGHBORS, "of": asked.name, "count": len(rows), "chance": 0.0}
    return Row(before=old, after=new, change=replace(change, over="words"), **about)


def _correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def _votes(model: Embedding, rows: Places, pool: Places, votes: Flags, k: int) -> Floats:
    """Share of each word's k nearest neighbors that leaned to the first end before."""
    units = unit_singles(model.vectors, pool)
    own = np.searchsorted(pool, rows)
    step = block_rows(len(pool))
    parts = [own[at : at + step] for at in range(0, len(own), step)]
    shares: Floats = np.concatenate([votes[nearest(units[part], units, k, part)].mean(axis=1) for part in parts])
    return shares
