"""Is the removed bias still there? A classifier, clusters and neighbours look for it.

Source: Gonen & Goldberg, "Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word Embeddings But
do not Remove Them", NAACL 2019, §4 and §5. Words are biased by what they were *before*: the most biased neutral words
of either side, by their projection on the direction of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.association import Interval
from biasgauge.association.logistic import fit
from biasgauge.association.permutation import clopper_pearson
from biasgauge.embeddings.procrustes import unit
from biasgauge.embeddings.quality import FISHER, correlation_interval
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.mitigation.clusters import two_means
from biasgauge.mitigation.correlations import correlations_differ
from biasgauge.mitigation.effect_result import CLASSIFIER, CLUSTERS, NEIGHBOURS, RECOVERED, Row
from biasgauge.mitigation.subspace import bias_subspace
from biasgauge.mitigation.units import directed, projections, unit_vectors
from biasgauge.mitigation.word_groups import cased, defining_pairs, equality_pairs, mask, specific_words
from biasgauge.scores.neighbours import block_rows, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding

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
        neighbours: how many neighbours vote.
        words: whose neighbours to ask, of those that are neutral.
        random_state: seed of the split and of the clusters.
    """

    pairs: object = "bolukbasi2016"
    specific: object = "auto"
    biased_words: int = 500
    neighbours: int = 100
    words: object = "occ16"
    random_state: int = 0


def recovery_rows(before: Embedding, after: Embedding, settings: Recovery) -> list[Row]:
    """The three checks before and after. Both models hold the same words in the same order."""
    pairs = pairs_of(settings.pairs)  # type: ignore[arg-type]  # pairs_of says what is wrong with it
    try:
        ends = [before.vectors[rows] for rows in defining_pairs(before, pairs).rows]
        direction = bias_subspace(ends, 1).basis[0]
    except ParameterError as problem:  # vectors of another language, say: the other parts still stand
        return [Row("recovery", name, pairs.name, None, None, None, reason=str(problem)) for name in RECOVERED]
    equal = cased(equality_pairs(pairs, "auto"))
    named = (*specific_words(pairs, settings.specific), *(word for one in equal for word in one))
    sound = directed(before) & directed(after)
    neutral = np.flatnonzero(~mask(before, named) & sound)
    bias = projections(before, direction)
    count = min(settings.biased_words, len(neutral) // 2)
    order = neutral[np.argsort(bias[neutral], kind="stable")]
    if count < _LEAST:
        why = f"there are fewer than {2 * _LEAST} neutral words"
        classified = [
            Row("recovery", name, pairs.name, None, None, None, reason=why) for name in (CLASSIFIER, CLUSTERS)
        ]
    else:
        chosen = np.concatenate([order[:count], order[-count:]])
        points = [unit(model.vectors[chosen].astype(np.float64)) for model in (before, after)]
        sides = np.arange(2 * count) >= count
        classified = [_classified(points, sides, pairs.name, settings), _clustered(points, sides, pairs.name, settings)]
    return [*classified, _by_neighbours(before, after, bias, sound, neutral, settings)]


def _classified(points: list[NDArray[np.float64]], sides: NDArray[np.bool_], name: str, settings: Recovery) -> Row:
    """Logistic regression learns the side from half of the words and tells it of the other half."""
    random = np.random.default_rng(settings.random_state)
    learn = np.zeros(len(sides), bool)
    for side in (False, True):
        members = random.permutation(np.flatnonzero(sides == side))
        learn[members[: len(members) // 2]] = True
    right = []
    for vectors in points:
        found = fit(
            vectors[learn],
            sides[learn].astype(np.float64),
            np.ones((1, int(learn.sum()))),
            c=_PENALTY,
            penalise_intercept=False,
        )
        right.append((found.probabilities(vectors[~learn])[0] > 0.5) == sides[~learn])  # noqa: PLR2004 - even chances
    return _shares(CLASSIFIER, name, right)


def _clustered(points: list[NDArray[np.float64]], sides: NDArray[np.bool_], name: str, settings: Recovery) -> Row:
    """Two clusters of the words, whose names are chosen so that they match best: even by chance a little above ½."""
    right = [two_means(vectors, settings.random_state) == sides for vectors in points]
    return _shares(CLUSTERS, name, [one if 2 * one.sum() >= len(one) else ~one for one in right])


def _shares(name: str, of: str, right: list[NDArray[np.bool_]]) -> Row:
    hits, trials = [int(one.sum()) for one in right], len(right[0])
    first, second = (one / trials for one in hits)
    before, after = (replace(clopper_pearson(one, trials), generalises_over="words") for one in hits)
    change = _paired_shares(right)
    return Row("recovery", name, of, first, second, second - first, before, after, change, count=trials, chance=0.5)


def _paired_shares(right: list[NDArray[np.bool_]]) -> Interval:
    """Normal interval of the difference of two shares on the same words (Wald with Agresti & Min's half counts)."""
    from scipy.special import ndtri  # noqa: PLC0415 - as the other intervals do

    gained, lost = int((right[1] & ~right[0]).sum()) + 0.5, int((right[0] & ~right[1]).sum()) + 0.5
    size = len(right[0]) + 2.0
    middle = (gained - lost) / size
    margin = float(ndtri((1 + _LEVEL) / 2)) * ((gained + lost) / size - middle**2) ** 0.5 / size**0.5
    return Interval(max(middle - margin, -1.0), min(middle + margin, 1.0), _LEVEL, "agresti-min", 0)


def _by_neighbours(
    before: Embedding,
    after: Embedding,
    bias: NDArray[np.float64],
    sound: NDArray[np.bool_],
    neutral: NDArray[np.intp],
    settings: Recovery,
) -> Row:
    asked = words_of(settings.words)  # type: ignore[arg-type]  # words_of says what is wrong with it
    rows = np.intersect1d(before.lookup(asked.words).rows, neutral)
    pool = np.flatnonzero(sound)
    k = settings.neighbours
    if len(rows) < _LEAST or len(pool) <= k:
        why = f"fewer than {_LEAST} of the words are neutral and found" if len(rows) < _LEAST else "too few words"
        return Row("recovery", NEIGHBOURS, asked.name, None, None, None, reason=why)
    votes = bias[pool] > 0
    shares = [_votes(model, rows, pool, votes, k) for model in (before, after)]
    if any(np.ptp(one) == 0 for one in (bias[rows], *shares)):
        return Row("recovery", NEIGHBOURS, asked.name, None, None, None, reason="all words have the same share")
    first, second = (_correlation(bias[rows], one) for one in shares)
    ends = [_over_words(value, len(rows)) for value in (first, second)]
    change = correlations_differ(second, first, _correlation(*shares), len(rows), _LEVEL, FISHER)
    return Row(
        "recovery",
        NEIGHBOURS,
        asked.name,
        first,
        second,
        second - first,
        ends[0],
        ends[1],
        replace(change, generalises_over="words"),
        count=len(rows),
        chance=0.0,
    )


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def _over_words(value: float, words: int) -> Interval:
    one = correlation_interval(value, words, _LEVEL, FISHER)
    return Interval(one.low, one.high, one.level, one.method, 0, "words", reason=one.reason)


def _votes(
    model: Embedding, rows: NDArray[np.intp], pool: NDArray[np.intp], votes: NDArray[np.bool_], k: int
) -> NDArray[np.float64]:
    """Share of each word's k nearest neighbours that leaned to the first end before."""
    units = unit_vectors(model, pool)
    own = np.searchsorted(pool, rows)
    step = block_rows(len(pool))
    parts = [own[at : at + step] for at in range(0, len(own), step)]
    shares: NDArray[np.float64] = np.concatenate(
        [votes[nearest(units[part], units, k, part)].mean(axis=1) for part in parts]
    )
    return shares
