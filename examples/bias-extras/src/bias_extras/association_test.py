"""An association test: the cosine between the axis of the targets and the axis of the attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.metrics import AssociationResult, SetTest, prepared, undefined, unit
from biasgauge.stats import BCA, Resampled, estimate_over_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from biasgauge.core import Floats
    from biasgauge.stats import Resampling


def centroids(
    x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike, *, interval: Resampling | None = BCA
) -> AssociationResult:
    """cos(mean X − mean Y, mean A − mean B) of unit vectors; range [-1, 1]; 0 means that the axes are unrelated."""
    sets = prepared(x=x, y=y, a=a, b=b)
    if reason := undefined(sets):
        return AssociationResult.undefined(reason, interval)
    resampled = _resampled(sets)
    value = float(resampled.values({name: np.ones((1, size)) for name, size in resampled.units.items()})[0])
    if np.isnan(value):
        return AssociationResult.undefined("two sets have the same mean, so that there is no axis", interval)
    return AssociationResult(value=value, interval=estimate_over_words(value, resampled, interval))


def _resampled(sets: Mapping[str, Floats]) -> Resampled:
    """The same number as a function of how often each word is drawn; biasgauge makes the interval of it."""
    units = {name: unit(words) for name, words in sets.items()}

    def values(counts: Mapping[str, Floats]) -> Floats:
        means = {name: drawn @ units[name] / drawn.sum(axis=1, keepdims=True) for name, drawn in counts.items()}
        targets, attributes = means["x"] - means["y"], means["a"] - means["b"]
        lengths = np.linalg.norm(targets, axis=1) * np.linalg.norm(attributes, axis=1)
        return np.asarray((targets * attributes).sum(axis=1) / np.where(lengths > 1e-12, lengths, np.nan))

    return Resampled({name: len(words) for name, words in sets.items()}, values)


TEST = SetTest(
    name="centroids",
    function=centroids,
    resampled=_resampled,
    sets=("x", "y", "a", "b"),
    rotation_invariant=True,
    scale_invariant=True,
    length_invariant=True,
    swap_xy="negates",
    swap_ab="negates",
    range=(-1.0, 1.0),
    zero="what X and Y differ in has nothing to do with what A and B differ in",
    source="textbook",
)
