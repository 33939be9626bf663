"""SAME: mean absolute association of words with two attribute sets, whichever they lean to.

Source: Schröder, Schulz, Kenneweg, Feldhans, Hinder & Hammer, "Evaluating Metrics for Bias in Word Embeddings",
arXiv:2111.07864 (2021), the definition of SAME for two attribute sets, with its skew and stereotype parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, floats, unit
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words


@dataclass(frozen=True, kw_only=True)
class SameResult(AssociationResult):
    """The outcome of SAME; `value` is the mean of the absolute `biases`.

    Attributes:
        biases: signed bias of each target word; positive leans to A; in [-1, 1].
        skew: mean of the biases: do the words, as a whole, lean to one side?
        stereotype: standard deviation of the biases (ddof 0): do some words lean to one side and some to the other?
    """

    biases: tuple[float, ...] = ()
    skew: float | None = None
    stereotype: float | None = None


def same(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, interval: Resampling | None = BCA) -> SameResult:
    """Mean of |b(w)| over the words of X, b(w) = (mean cos(w, A) − mean cos(w, B)) / ‖mean unit A − mean unit B‖.

    That is the cosine between w and the direction from the middle of B to the middle of A, so that the largest
    association that A and B allow counts as 1. Range [0, 1]; 0 means that no word leans to either. Undefined when a set
    is empty or holds a zero vector, or when A and B have the same middle. The authors' later form for three and more
    groups is not here.
    """
    sets, reason = checked_sets(x=x, a=a, b=b)
    if reason is None:
        difference = unit(sets["a"]).mean(axis=0) - unit(sets["b"]).mean(axis=0)
        if np.linalg.norm(difference) <= SAME:
            reason = "both attribute sets have the same mean direction, so there is nothing to lean to"
    if reason is not None:
        return SameResult.undefined(reason, interval)
    biases = unit(sets["x"]) @ unit(difference[None])[0]
    value = float(np.abs(biases).mean())
    return SameResult(
        value=value,
        interval=estimate_over_words(value, _resampled(sets), interval),
        biases=floats(biases),
        skew=float(biases.mean()),
        stereotype=float(biases.std()),
    )


def _resampled(sets: Mapping[str, Floats]) -> Resampled:
    x, a, b = (unit(sets[name]) for name in "xab")

    def values(counts: Mapping[str, Floats]) -> Floats:
        share = {name: drawn / drawn.sum(axis=1, keepdims=True) for name, drawn in counts.items()}
        # |b(w)| = |w · (mean A − mean B)| / ‖mean A − mean B‖ of unit vectors, for every draw.
        directions = share["a"] @ a - share["b"] @ b
        lengths = np.linalg.norm(directions, axis=1)
        total: Floats = (share["x"] * np.abs(directions @ x.T)).sum(axis=1)
        return total / np.where(lengths > SAME, lengths, np.nan)

    return Resampled({name: len(vectors) for name, vectors in sets.items()}, values)


TEST = SetTest(
    name="same", display_name="SAME", function=same, resampled=_resampled, sets=("x", "a", "b"), range=(0.0, 1.0),
    rotation_invariant=True, scale_invariant=True, length_invariant=True, swap_xy=None, swap_ab="unchanged",
    zero="no word leans to either attribute set",
    source="Schröder et al. 2021, SAME for two attribute sets",
)  # fmt: skip
