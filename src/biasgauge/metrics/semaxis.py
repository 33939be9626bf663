"""SemAxis: positions of words on the axis between two opposite sets.

Source: An, Kwak & Ahn, "SemAxis: A Lightweight Framework to Characterize Domain-Specific Word Semantics Beyond
Sentiment", ACL 2018: the axis is the mean of one pole less the mean of the other, the score a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, cosines, floats, unit
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words


@dataclass(frozen=True, kw_only=True)
class SemaxisResult(AssociationResult):
    """The outcome of a SemAxis; `value` is the mean of `scores`.

    Attributes:
        scores: cosine of each target word with the axis.
    """

    scores: tuple[float, ...] = ()


def semaxis(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, interval: Resampling | None = BCA) -> SemaxisResult:
    """Mean over the words of X of their cosine with (mean of A − mean of B).

    Positive leans to A; 0 means to neither pole; range [-1, 1]. The paper scores single words; the mean is ours.
    Vectors are averaged as they are. Undefined when a set is empty or holds a zero vector, or when both poles have the
    same mean. The paper widens each pole by its nearest neighbors (sweater's `l`); widen A and B before the call.
    """
    sets, reason = checked_sets(x=x, a=a, b=b)
    if reason is None:
        axis = sets["a"].mean(axis=0) - sets["b"].mean(axis=0)
        if np.abs(axis).max() <= SAME * np.abs(sets["a"]).max():
            reason = "both poles have the same mean, so there is no axis"
    if reason is not None:
        return SemaxisResult.undefined(reason, interval)
    scores = cosines(sets["x"], axis[None])[:, 0]
    value = float(scores.mean())
    estimate = estimate_over_words(value, _resampled(sets), interval)
    return SemaxisResult(value=value, interval=estimate, scores=floats(scores))


def _resampled(sets: Mapping[str, Floats]) -> Resampled:
    words = unit(sets["x"])
    shortest = SAME * np.abs(sets["a"]).max()

    def values(counts: Mapping[str, Floats]) -> Floats:
        share = {name: drawn / drawn.sum(axis=1, keepdims=True) for name, drawn in counts.items()}
        axes = share["a"] @ sets["a"] - share["b"] @ sets["b"]
        lengths = np.linalg.norm(axes, axis=1)
        total: Floats = (share["x"] * (axes @ words.T)).sum(axis=1)
        return total / np.where(lengths > shortest, lengths, np.nan)

    return Resampled({name: len(vectors) for name, vectors in sets.items()}, values)


TEST = SetTest(
    name="semaxis", display_name="SemAxis",
    function=semaxis, resampled=_resampled, sets=("x", "a", "b"), range=(-1.0, 1.0),
    rotation_invariant=True, scale_invariant=True, length_invariant=False, swap_xy=None, swap_ab="negates",
    zero="on the whole the words of X lean to neither pole",
    source="An et al. 2018, the semantic axis",
)  # fmt: skip
