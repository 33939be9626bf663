"""Relative norm distance: distances of words from the mean of one group less those from the mean of another.

Source: Garg, Schiebinger, Jurafsky & Zou, "Word embeddings quantify 100 years of gender and ethnic stereotypes", PNAS
115 (2018), Methods, the relative norm distance; the sum of cosine differences is the variant of their appendix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, check_choice
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, cosines, floats, unit
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words

Distance = Literal["norm", "cosine"]


@dataclass(frozen=True, kw_only=True)
class RndResult(AssociationResult):
    """The outcome of a relative norm distance; `value` is the sum of `differences`.

    Attributes:
        mean: the sum divided by the number of attribute words, comparable between lists of different lengths.
        differences: for each attribute word, its distance from the middle of X less that from the middle of Y.
        distance: "norm" or "cosine".
        unit_vectors: whether all vectors were scaled to length 1 first.
    """

    mean: float | None = None
    differences: tuple[float, ...] = ()
    distance: Distance = "norm"
    unit_vectors: bool = True


def rnd(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    *,
    distance: Distance = "norm",
    unit_vectors: bool = True,
    interval: Resampling | None = BCA,
) -> RndResult:
    """Sum over the words w of A of ‖w − mean of X‖ − ‖w − mean of Y‖.

    Positive: the words are nearer to **Y** (further from X); 0: as near to both. No bound but for unit vectors, where
    it lies within ±2 for each word. With `distance="cosine"` each term is cos(w, mean of X) − cos(w, mean of Y), so
    there positive means nearer to **X**, as in the paper. Undefined when a set is empty or holds a zero vector, or, for
    the cosine, when a mean is zero. The paper scales vectors to length 1, the default here; WEFE leaves them as they
    are and reports the mean, not the sum.

    Raises:
        ParameterError: there is no such distance.
    """
    check_choice(get_args(Distance), distance=distance)
    sets, reason = checked_sets(x=x, y=y, a=a)
    if reason is None:
        used = {name: unit(vectors) for name, vectors in sets.items()} if unit_vectors else sets
        x_mean, y_mean, words = used["x"].mean(axis=0), used["y"].mean(axis=0), used["a"]
        if distance == "cosine" and any(np.linalg.norm(mean) <= SAME for mean in (x_mean, y_mean)):
            reason = "the vectors of a target set cancel out, so that their mean has no direction"
    if reason is not None:
        return RndResult.undefined(reason, interval, distance=distance, unit_vectors=unit_vectors)
    if distance == "norm":
        differences = np.linalg.norm(words - x_mean, axis=1) - np.linalg.norm(words - y_mean, axis=1)
    else:
        differences = np.subtract(*cosines(np.stack([x_mean, y_mean]), words))
    value = float(differences.sum())
    resampled = _resampled(sets, distance=distance, unit_vectors=unit_vectors)
    return RndResult(
        value=value,
        interval=estimate_over_words(value, resampled, interval),
        mean=float(differences.mean()),
        differences=floats(differences),
        distance=distance,
        unit_vectors=unit_vectors,
    )


def _resampled(sets: Mapping[str, Floats], *, distance: Distance = "norm", unit_vectors: bool = True) -> Resampled:
    used = {name: unit(rows) for name, rows in sets.items()} if unit_vectors else sets
    words, squares = used["a"], (used["a"] ** 2).sum(axis=1)

    def closeness(drawn: Floats, vectors: Floats) -> Floats:
        means = drawn @ vectors / drawn.sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(means, axis=1)[:, None]
        products = means @ words.T
        near: Floats
        if distance == "norm":
            # ‖w − m‖² = ‖w‖² − 2 w · m + ‖m‖², so that no draws × words × dimensions array is needed.
            near = np.sqrt(np.maximum(squares - 2 * products + lengths**2, 0))
        else:
            near = products / (np.sqrt(squares) * np.where(lengths > SAME, lengths, np.nan))
        return near

    def values(counts: Mapping[str, Floats]) -> Floats:
        terms = closeness(counts["x"], used["x"]) - closeness(counts["y"], used["y"])
        total: Floats = (counts["a"] * terms).sum(axis=1)
        return total

    return Resampled({name: len(rows) for name, rows in sets.items()}, values)


TEST = SetTest(
    name="rnd", display_name="RND", function=rnd, resampled=_resampled, sets=("x", "y", "a"), range=(None, None),
    rotation_invariant=True, scale_invariant=True, length_invariant=True, swap_xy="negates", swap_ab=None,
    zero="the words of A are as near to the middle of X as to that of Y",
    source="Garg et al. 2018, relative norm distance",
)  # fmt: skip
