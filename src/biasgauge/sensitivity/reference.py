"""Scores of all frequent words: what a usual score is, and so how large a change must be to matter.

Zhang, Sneyd & Stevenson 2020, section 5 and Table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from biasgauge.agreement import Estimate
from biasgauge.embeddings import Embedding
from biasgauge.measures import Measure
from biasgauge.scores import score
from biasgauge.sensitivity.agreements import numbers
from biasgauge.stats.estimate import check_level

Pair = tuple[str, str]

METHOD = "normal, a word's scores as one cluster"
NO_SCORES = "fewer than two words have scores"
_TWO = 2


@dataclass(frozen=True)
class Reference:
    """Distribution of the scores of all frequent words on all pairs, under one measure.

    Attributes:
        measure: the measure.
        mean: mean score; positive where most words lean to the first end.
        sd: standard deviation (of the population: divided by the count); a change of a score by as much is relevant.
        quantiles: 5 %, 50 % and 95 %; None where there are no scores.
        words, pairs: how many were scored.
        undefined: scores that are not defined, and not counted.
    """

    measure: str
    mean: Estimate
    sd: Estimate
    quantiles: tuple[float, float, float] | None
    words: int
    pairs: int
    undefined: int

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {
            "measure": self.measure,
            **numbers("mean", self.mean),
            **numbers("sd", self.sd),
            "quantiles": None
            if self.quantiles is None
            else dict(zip(("0.05", "0.5", "0.95"), self.quantiles, strict=True)),
            "words": self.words,
            "pairs": self.pairs,
            "undefined": self.undefined,
        }
        return {**shape, **({"reason": self.mean.reason} if self.mean.reason else {})}


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
    found = score(
        vectors, pairs=pairs, words=words, measures=list(measures), k=k, pool=pool, n_jobs=n_jobs, progress=progress
    )
    return tuple(describe(name, found.values[place, :, :, 0], level) for place, name in enumerate(found.measures))


def describe(measure: str, scores: np.ndarray[Any, np.dtype[np.floating[Any]]], level: float) -> Reference:
    """Mean and standard deviation of scores, pairs × words, NaN where undefined."""
    values = scores.astype(np.float64)
    defined = ~np.isnan(values)
    counts = defined.sum(axis=0)
    words, total = int(np.count_nonzero(counts)), int(counts.sum())
    about: dict[str, Any] = {"level": level, "method": METHOD, "n": words, "k": int(defined.any(axis=1).sum())}
    if words < _TWO:
        blank = [Estimate(statistic=name, value=None, reason=NO_SCORES, **about) for name in ("mean", "sd")]
        return Reference(measure, blank[0], blank[1], None, words, about["k"], int(defined.size - total))
    mean = float(values[defined].mean())
    apart = np.where(defined, values - mean, 0)
    variance = float((apart**2).sum() / total)
    margin = float(ndtri((1 + level) / 2))
    # Influence of a word on the mean, and on the variance: the sum of its scores' contributions.
    of_mean = apart.sum(axis=0) / total
    of_variance = ((apart**2).sum(axis=0) - counts * variance) / total
    low, high = (mean + sign * margin * float(np.sqrt((of_mean**2).sum())) for sign in (-1, 1))
    sd = variance**0.5
    around_sd = margin * float(np.sqrt((of_variance**2).sum())) / (2 * sd) if sd else 0.0
    low_sd, median, high_sd = np.quantile(values[defined], [0.05, 0.5, 0.95]).tolist()
    return Reference(
        measure,
        Estimate(statistic="mean", value=mean, low=low, high=high, **about),
        Estimate(statistic="sd", value=sd, low=max(sd - around_sd, 0.0), high=sd + around_sd, **about),
        (low_sd, median, high_sd),
        words,
        about["k"],
        int(defined.size - total),
    )
