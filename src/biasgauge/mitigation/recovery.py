"""Recovery of removed bias by a classifier, clusters and neighbors.

Source: Gonen & Goldberg, "Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word Embeddings But
do not Remove Them", NAACL 2019, §4 and §5. The bias of a word is that *before* the change: the most biased neutral
words of either side, by their projection on the direction of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biasgauge.core import Flags, Floats, JsonObject, PairsLike, Places, WordsLike, unit_rows, unit_singles
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.metrics import fit_logistic, logistic_probabilities
from biasgauge.mitigation.effect_result import CLASSIFIER, CLUSTERS, NEIGHBORS, RECOVERED, EffectRow
from biasgauge.mitigation.methods.projection import two_means
from biasgauge.mitigation.subspace import (
    bias_subspace,
    case_variants,
    defining_sets,
    equality_pairs,
    mark_words,
    projections,
    specific_words,
)
from biasgauge.scores import block_rows, nearest
from biasgauge.stats import agresti_min, clopper_pearson, correlations_differ, fisher_interval
from biasgauge.vectors import Embedding

_MIN_WORDS = 10
_LEVEL = 0.95
_PENALTY = 10.0
"""scikit-learn's `C`, for vectors of length 1."""


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """Settings of the search for remaining bias.

    Attributes:
        pairs: give the direction, on the vectors before.
        specific: words that carry the bias by meaning, which do not count; as in `hard`.
        biased_words: most biased words of either side to classify and to cluster.
        neighbors: how many neighbors vote.
        words: words whose neighbors vote, of those that are neutral.
        random_state: seed of the split and of the clusters.
    """

    pairs: PairsLike = "bolukbasi2016"
    specific: WordsLike | None = "auto"
    biased_words: int = 500
    neighbors: int = 100
    words: WordsLike = "occ16"
    random_state: int = 0

    def settings(self) -> JsonObject:
        """Return names and numbers as they are, the user's own words only counted."""
        return {
            name: setting if setting is None or isinstance(setting, (str, int)) else f"{len(setting)} given"
            for name, setting in vars(self).items()
        }


def recovery_rows(before: Embedding, after: Embedding, settings: Recovery) -> list[EffectRow]:
    """The three checks before and after. Both models hold the same words in the same order."""
    pairs = pairs_of(settings.pairs)
    try:
        ends = [before.vectors[rows] for rows in defining_sets(before, pairs).rows]
        direction = bias_subspace(ends, 1).basis[0]
    except ParameterError as problem:  # vectors of another language, for example: the other parts remain valid
        return [EffectRow("recovery", name, pairs.name, reason=str(problem)) for name in RECOVERED]
    equal = case_variants(equality_pairs(pairs, "auto"))
    specific = (*specific_words(pairs, settings.specific), *(word for pair in equal for word in pair))
    nonzero: Flags = np.asarray(before.vectors.any(axis=1) & after.vectors.any(axis=1))
    neutral = np.flatnonzero(~mark_words(before, specific) & nonzero)
    bias = projections(before, direction)
    count = min(settings.biased_words, len(neutral) // 2)
    order = neutral[np.argsort(bias[neutral], kind="stable")]
    if count < _MIN_WORDS:
        reason = f"there are fewer than {2 * _MIN_WORDS} neutral words"
        rows = [EffectRow("recovery", name, pairs.name, reason=reason) for name in (CLASSIFIER, CLUSTERS)]
    else:
        extremes = np.concatenate([order[:count], order[-count:]])
        points = [unit_rows(model.vectors[extremes].astype(np.float64), rescale=True) for model in (before, after)]
        sides = np.arange(2 * count) >= count
        rows = [_classify(points, sides, pairs.name, settings), _cluster(points, sides, pairs.name, settings)]
    return [*rows, _neighbor_votes(before, after, bias, nonzero, neutral, settings)]


def _classify(points: list[Floats], sides: Flags, name: str, settings: Recovery) -> EffectRow:
    """Accuracy of a logistic regression that learns the side from half of the words, on the other half."""
    random = np.random.default_rng(settings.random_state)
    train = np.zeros(len(sides), bool)
    for side in (False, True):
        members = random.permutation(np.flatnonzero(sides == side))
        train[members[: len(members) // 2]] = True
    correct = []
    for vectors in points:
        labels, weights = sides[train].astype(np.float64), np.ones((1, int(train.sum())))
        model = fit_logistic(vectors[train], labels, weights, c=_PENALTY, penalize_intercept=False)
        correct.append((logistic_probabilities(model, vectors[~train])[0] > 0.5) == sides[~train])
    return _accuracies(CLASSIFIER, name, correct)


def _cluster(points: list[Floats], sides: Flags, name: str, settings: Recovery) -> EffectRow:
    """Match of two clusters with the sides, named so that they match best: by chance a little above ½."""
    matches = [two_means(vectors, settings.random_state) == sides for vectors in points]
    return _accuracies(CLUSTERS, name, [hits if 2 * hits.sum() >= len(hits) else ~hits for hits in matches])


def _accuracies(name: str, subject: str, correct: list[Flags]) -> EffectRow:
    hits, trials = [int(side.sum()) for side in correct], len(correct[0])
    before, after = (clopper_pearson(count, trials, level=_LEVEL, over="words") for count in hits)
    gained, lost = int((correct[1] & ~correct[0]).sum()), int((correct[0] & ~correct[1]).sum())
    change = replace(agresti_min(gained, lost, trials, level=_LEVEL), value=hits[1] / trials - hits[0] / trials)
    return EffectRow("recovery", name, subject, before, after, change, trials, chance=0.5)


def _neighbor_votes(
    before: Embedding, after: Embedding, bias: Floats, nonzero: Flags, neutral: Places, settings: Recovery
) -> EffectRow:
    """Correlation of a word's old bias with the share of its neighbors that leaned to the first end."""
    words = words_of(settings.words)
    rows = np.intersect1d(before.lookup(words.words).rows, neutral)
    pool = np.flatnonzero(nonzero)
    k = settings.neighbors
    if len(rows) < _MIN_WORDS:
        return EffectRow(
            "recovery", NEIGHBORS, words.name, reason=f"fewer than {_MIN_WORDS} of the words are neutral and found"
        )
    if len(pool) <= k:
        return EffectRow("recovery", NEIGHBORS, words.name, reason="too few words")
    votes = bias[pool] > 0
    shares = [_vote_shares(model, rows, pool, votes, k) for model in (before, after)]
    if any(np.ptp(values) == 0 for values in (bias[rows], *shares)):
        return EffectRow("recovery", NEIGHBORS, words.name, reason="all words have the same share")
    first, second = (_correlation(bias[rows], share) for share in shares)
    old, new = (fisher_interval(value, len(rows), level=_LEVEL, over="words") for value in (first, second))
    change = correlations_differ(second, first, _correlation(*shares), len(rows), _LEVEL, "pearson")
    numbers = old, new, replace(change, over="words"), len(rows)
    return EffectRow("recovery", NEIGHBORS, words.name, *numbers, chance=0.0)


def _correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def _vote_shares(model: Embedding, rows: Places, pool: Places, votes: Flags, k: int) -> Floats:
    """Share of each word's k nearest neighbors that leaned to the first end before."""
    units = unit_singles(model.vectors, pool)
    queries = np.searchsorted(pool, rows)
    step = block_rows(len(pool))
    blocks = [queries[start : start + step] for start in range(0, len(queries), step)]
    shares: Floats = np.concatenate([votes[nearest(units[block], units, k, block)].mean(axis=1) for block in blocks])
    return shares
