"""Base-pair stability: does another pair give words the same direction, and how far does it move their scores?

How far is far is told by the scores of all frequent words: Zhang, Sneyd & Stevenson 2020, section 5 and Table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from biasgauge.analyses.robustness.agreements import EstimateRow, directions
from biasgauge.analyses.robustness.forms import Pair
from biasgauge.core import Estimate, Floats, JsonMapping, Vectors, check_level
from biasgauge.metrics import Measure
from biasgauge.scores import score
from biasgauge.stats import fleiss_kappa, mean_share, normal_moments, share_of_words
from biasgauge.vectors import Embedding

NO_SD = "the scores of the embedding have no standard deviation"
QUANTILES = (0.05, 0.5, 0.95)
METHOD = "normal, a word's scores as one cluster"
NO_SCORES = "fewer than two words have scores"


@dataclass(frozen=True)
class BasePairs(EstimateRow):
    """Stability of the scores of words over base pairs, under one measure.

    Attributes:
        measure: the measure.
        kappa: Fleiss' kappa of the directions, words as items and pairs as raters; "no direction" is a category.
        unanimous: share of words to which all pairs give the same direction.
        changed_by_one_sd: mean over words of the share of changes from one pair to another that move the score by at
            least one standard deviation of the embedding's scores. 0: no change matters; 1: all do.
        sd: that standard deviation; None where it is not known.
        undirected: how many scores are exactly 0, so that they have no direction.
        as_published: say also what the paper's table prints in the place of `changed_by_one_sd`: one minus it.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"as_published"})

    measure: str
    kappa: Estimate
    unanimous: Estimate
    changed_by_one_sd: Estimate
    sd: float | None
    undirected: int
    as_published: bool = False

    @property
    def magnitude_as_published(self) -> float | None:
        """Magnitude as the paper's table prints it: one minus the share of changes by one standard deviation."""
        changed = self.changed_by_one_sd.value
        return None if changed is None else 1 - changed

    def derived(self) -> JsonMapping:
        """Numbers of words and pairs; `magnitude_as_published` only where it was asked for."""
        published = {"magnitude_as_published": self.magnitude_as_published} if self.as_published else {}
        return {**published, "n": self.kappa.n, "pairs": self.kappa.k}


def over_pairs(measure: str, scores: Vectors, sd: float | None, level: float, *, as_published: bool) -> BasePairs:
    """Stability of one measure, from scores, pairs × words, NaN where undefined."""
    signs = directions(scores, as_published=as_published)
    usable = np.flatnonzero(~np.isnan(signs).all(axis=1))
    ratings = signs[usable].T
    ratings = ratings[~np.isnan(ratings).any(axis=1)] if len(usable) else np.empty((0, 0))
    kappa = fleiss_kappa(ratings, level=level)
    assert isinstance(kappa, Estimate)  # noqa: S101 - one matrix in, one estimate out
    agreed = int(np.count_nonzero((ratings == ratings[:, :1]).all(axis=1))) if len(usable) else 0
    pairs = len(usable)
    shares = change_shares(scores[usable].astype(np.float64), sd) if sd else np.empty(0)
    changed = mean_share(shares, level, "share of changes of the pair by one sd or more", pairs * (pairs - 1) // 2)
    return BasePairs(
        measure=measure,
        kappa=kappa,
        unanimous=share_of_words(agreed, len(ratings), level, "share of words on which all pairs agree", pairs),
        changed_by_one_sd=changed if sd else changed.without(NO_SD),
        sd=sd,
        undirected=int(np.count_nonzero(scores[usable] == 0)),
        as_published=as_published,
    )


def change_shares(scores: Floats, sd: float) -> Floats:
    """For each word, the share of changes from one pair to another that move its score by at least `sd`.

    Of pairs × words; words without a score on some pair are left out.
    """
    complete = scores[:, ~np.isnan(scores).any(axis=0)]
    changes = list(combinations(complete, 2))
    if not changes:
        return np.empty(0)
    counts: Floats = sum((np.abs(before - after) >= sd for before, after in changes), np.zeros(complete.shape[1]))
    return counts / len(changes)


@dataclass(frozen=True)
class Reference(EstimateRow):
    """Distribution of the scores of all frequent words on all pairs, under one measure.

    Attributes:
        measure: the measure.
        mean: mean score; positive where most words lean to the first end.
        sd: standard deviation (of the population: divided by the count); a change of a score by as much is relevant.
        quantiles: by level: .05, .5 and .95; None where there are no scores.
        words, pairs: how many were scored.
        undefined: scores that are not defined, and not counted.
    """

    measure: str
    mean: Estimate
    sd: Estimate
    quantiles: Mapping[float, float] | None
    words: int
    pairs: int
    undefined: int


def reference_scores(
    vectors: Embedding,
    pairs: Sequence[Pair],
    words: Sequence[str],
    measures: Sequence[str | Measure],
    *,
    k: int = 100,
    pool: Sequence[str] | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Reference, ...]:
    """Score `words` on all pairs, and describe the scores of each measure.

    Args:
        vectors: the embedding.
        pairs: base pairs.
        words: those that stand for the embedding, as `limited` gives them.
        measures: names of measures.
        k: how many neighbors vote.
        pool: which words may be neighbors; the whole vocabulary when None.
        level: nominal coverage of the intervals.
        n_jobs: threads; all cores when None.
        progress: called with (done, total) blocks.
    """
    check_level(level)
    scores = score(
        vectors, pairs=pairs, words=words, measures=list(measures), k=k, pool=pool, n_jobs=n_jobs, progress=progress
    )
    return tuple(describe(name, scores.values[index, :, :, 0], level) for index, name in enumerate(scores.measures))


def describe(measure: str, scores: Vectors, level: float) -> Reference:
    """Mean and standard deviation of scores, pairs × words, NaN where undefined."""
    defined = ~np.isnan(scores)
    mean, sd = (replace(moment, method=METHOD) for moment in normal_moments(scores, level))
    words, pairs, missing = mean.n, mean.k, int((~defined).sum())
    if mean.value is None:
        return Reference(measure, mean.without(NO_SCORES), sd.without(NO_SCORES), None, words, pairs, missing)
    quantiles = np.quantile(scores[defined].astype(np.float64), QUANTILES).tolist()
    return Reference(measure, mean, sd, dict(zip(QUANTILES, quantiles, strict=True)), words, pairs, missing)
