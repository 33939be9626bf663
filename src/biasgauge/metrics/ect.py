"""Embedding coherence test: rank correlation of the similarities of words to two groups.

Source: Dev & Phillips, "Attenuating Bias in Word Vectors", AISTATS 2019, the Embedding Coherence Test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, cosines, floats, unit
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words, weighted_r, weighted_ranks


@dataclass(frozen=True, kw_only=True)
class EctResult(AssociationResult):
    """The outcome of an embedding coherence test; `value` is Spearman's correlation.

    Attributes:
        x_similarities: cosine of each attribute word with the mean vector of X.
        y_similarities: the same for Y.
    """

    x_similarities: tuple[float, ...] = ()
    y_similarities: tuple[float, ...] = ()


def ect(x: ArrayLike, y: ArrayLike, a: ArrayLike, *, interval: Resampling | None = BCA) -> EctResult:
    """Spearman correlation between the cosines of the words of A with the mean of X and those with the mean of Y.

    Range [-1, 1]; 1 means that both groups order the words alike, which is the least bias; 0 means that the orders have
    nothing to do with each other. Equal similarities share their mean rank. Undefined when a set is empty or holds a
    zero vector, with fewer than two attribute words, when a mean is zero or all words are as near to it, and when both
    means point the same way (the correlation would be 1 whatever A is). Vectors are averaged as they are, not scaled
    first, as in WEFE.
    """
    sets, reason = checked_sets(x=x, y=y, a=a)
    if reason is None:
        means = np.stack([sets["x"].mean(axis=0), sets["y"].mean(axis=0)])
        reason = _incomparable(means, len(sets["a"]))
    if reason is not None:
        return EctResult.undefined(reason, interval)
    near = cosines(means, sets["a"])
    value = float(_spearman(near[:1], near[1:], np.ones((1, len(sets["a"]))))[0])
    if np.isnan(value):
        reason = "all attribute words are as near to a mean vector as each other, so they have no order"
        return EctResult.undefined(reason, interval)
    return EctResult(
        value=value,
        interval=estimate_over_words(value, _resampled(sets), interval),
        x_similarities=floats(near[0]),
        y_similarities=floats(near[1]),
    )


def _incomparable(means: Floats, words: int) -> str | None:
    if words < 2:
        return "a correlation needs at least two attribute words"
    if not means.any(axis=1).all():
        return "the vectors of a target set cancel out, so that their mean has no direction"
    if cosines(means[:1], means[1:])[0, 0] >= 1 - SAME:
        return "both mean vectors point the same way, so that every list of words would be in the same order"
    return None


def _spearman(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Spearman's correlation within each row; NaN where one side is all the same."""
    return weighted_r(weighted_ranks(x, counts, SAME), weighted_ranks(y, counts, SAME), counts)


def _resampled(sets: Mapping[str, Floats]) -> Resampled:
    words = unit(sets["a"])

    def near(drawn: Floats, vectors: Floats) -> tuple[Floats, Floats]:
        means = drawn @ vectors / drawn.sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        directions = means / np.where(lengths > 0, lengths, np.nan)
        return directions, directions @ words.T

    def values(counts: Mapping[str, Floats]) -> Floats:
        x_direction, x_near = near(counts["x"], sets["x"])
        y_direction, y_near = near(counts["y"], sets["y"])
        # Where both means point the same way the correlation would be 1 whatever A is: undefined.
        together = (x_direction * y_direction).sum(axis=1) >= 1 - SAME
        return np.where(together, np.nan, _spearman(x_near, y_near, counts["a"]))

    return Resampled({name: len(words) for name, words in sets.items()}, values)


TEST = SetTest(
    name="ect", display_name="ECT", function=ect, resampled=_resampled, sets=("x", "y", "a"), range=(-1.0, 1.0),
    rotation_invariant=True, scale_invariant=True, length_invariant=False, swap_xy="unchanged", swap_ab=None,
    zero="the orders of the words seen from X and from Y are unrelated; no bias is 1",
    source="Dev & Phillips 2019, Embedding Coherence Test",
)  # fmt: skip
