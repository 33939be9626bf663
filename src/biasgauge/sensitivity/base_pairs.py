"""Base-pair stability: does another pair give words the same direction, and how far does it move their scores?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement import Estimate, fleiss_kappa
from biasgauge.arrays import Floats
from biasgauge.sensitivity.agreements import numbers
from biasgauge.stats.means import mean_share
from biasgauge.stats.shares import share_of_words

NO_SD = "the scores of the embedding have no standard deviation"


@dataclass(frozen=True)
class BasePairs:
    """What changing the pair does to the scores of words, under one measure.

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

    measure: str
    kappa: Estimate
    unanimous: Estimate
    changed_by_one_sd: Estimate
    sd: float | None
    undirected: int
    as_published: bool = False

    def withdrawn(self, reason: str) -> BasePairs:
        """The same row, undefined for a reason that lies outside it."""
        return replace(
            self,
            kappa=self.kappa.without(reason),
            unanimous=self.unanimous.without(reason),
            changed_by_one_sd=self.changed_by_one_sd.without(reason),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`; `magnitude_as_published` only where it was asked for."""
        changed = self.changed_by_one_sd.value
        shape = {
            "measure": self.measure,
            **numbers("kappa", self.kappa),
            **numbers("unanimous", self.unanimous),
            **numbers("changed_by_one_sd", self.changed_by_one_sd),
            **({"magnitude_as_published": None if changed is None else 1 - changed} if self.as_published else {}),
            "sd": self.sd,
            "n": self.kappa.n,
            "pairs": self.kappa.k,
            "undirected": self.undirected,
        }
        reasons = (self.kappa.reason, self.unanimous.reason, self.changed_by_one_sd.reason)
        reason = next((one for one in reasons if one), None)
        return {**shape, **({"reason": reason} if reason else {})}


def over_pairs(
    measure: str,
    scores: NDArray[np.floating[Any]],
    signs: Floats,
    sd: float | None,
    level: float,
    *,
    as_published: bool,
) -> BasePairs:
    """Stability of one measure.

    Args:
        measure: its name.
        scores: pairs × words, NaN where undefined.
        signs: the same as directions.
        sd: standard deviation of the embedding's scores under this measure.
        level: nominal coverage of the intervals.
        as_published: say also what the paper's table prints.
    """
    usable = np.flatnonzero(~np.isnan(signs).all(axis=1))
    ratings = signs[usable].T
    ratings = ratings[~np.isnan(ratings).any(axis=1)] if len(usable) else np.empty((0, 0))
    kappa = fleiss_kappa(ratings, level=level)
    assert isinstance(kappa, Estimate)  # noqa: S101 - one matrix in, one estimate out
    agreed = int(np.count_nonzero((ratings == ratings[:, :1]).all(axis=1))) if len(usable) else 0
    pairs = len(usable)
    changed = mean_share(
        change_shares(scores[usable].astype(np.float64), sd) if sd else np.empty(0),
        level,
        "share of changes of the pair by one sd or more",
        pairs * (pairs - 1) // 2,
    )
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
    changes = list(combinations(range(len(complete)), 2))
    if not changes:
        return np.empty(0)
    counts = np.zeros(complete.shape[1])
    for one, other in changes:
        counts += np.abs(complete[one] - complete[other]) >= sd
    found: Floats = counts / len(changes)
    return found
