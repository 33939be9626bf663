"""Bias direction of many pairs, and direct and indirect bias along it (Bolukbasi et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from biasgauge.core import Floats, Vectors, check_choice, check_number, row_lengths, unit_rows
from biasgauge.errors import ParameterError

Method = Literal["pca", "mean-difference"]

_NOTHING = 1e-12  # a component of a unit vector this small is zero but for rounding


@dataclass(frozen=True)
class Direction:
    """A direction of length 1 that points to the first ends, and what it rests on.

    Attributes:
        vector: the direction.
        explained: share of the variance of the centered pair halves along each principal component (all of them), None
            for the mean difference.
        method: how it was found.
    """

    vector: Floats
    explained: tuple[float, ...] | None
    method: Method


def pair_direction(first: Vectors, second: Vectors, method: Method = "pca") -> Direction:
    """Direction that the pairs share. All ends are scaled to length 1 before.

    "pca": first principal component of the ends, each pair centered on its own midpoint. "mean-difference": mean of the
    first ends minus mean of the second ends.

    Raises:
        ParameterError: no pair, a zero vector at an end, or no direction (all ends equal).
    """
    if len(first) == 0 or len(first) != len(second):
        raise ParameterError(f"A direction needs pairs of two ends. Got {len(first)} first and {len(second)} second.")
    ends = unit_rows(np.asarray(first, np.float64)), unit_rows(np.asarray(second, np.float64))
    if not np.isfinite(ends).all():
        raise ParameterError("A direction cannot be found: an end of a pair is a zero vector.")
    check_choice(get_args(Method), method=method)
    halves = (ends[0] - ends[1]) / 2
    difference = halves.mean(axis=0)
    if np.abs(halves if method == "pca" else difference).max() < _NOTHING:
        raise ParameterError("A direction cannot be found: the two ends of the pairs do not differ.")
    if method == "mean-difference":
        return Direction(difference / np.linalg.norm(difference), None, method)
    # The ends of a pair, centered on its midpoint, are ± half of their difference.
    _, values, axes = np.linalg.svd(np.concatenate([halves, -halves]), full_matrices=False)
    variances = values**2
    vector = axes[0] * (1 if axes[0] @ difference >= 0 else -1)
    return Direction(vector, tuple((variances / variances.sum()).tolist()), method)


def direct_bias(words: Vectors, direction: Direction, c: float = 1.0) -> Floats:
    """|cos(word, direction)|^c of each word; their mean is the direct bias of the set.

    0: at right angles to the direction; 1: along it. `c` says how strict to be: 0 counts any component fully. NaN for
    a zero vector. Source: Bolukbasi et al. 2016, §5.2, DirectBias_c.
    """
    check_number(0, c=c)
    cosines = np.abs(unit_rows(np.asarray(words, np.float64)) @ direction.vector)
    return cosines**c if c else np.where(np.isnan(cosines), np.nan, (cosines > _NOTHING).astype(np.float64))


def indirect_bias(word: Vectors, other: Vectors, direction: Direction) -> float | None:
    """Share of the similarity of two words that lies along the direction g.

    β(w, v) = (w · v − w⊥ · v⊥ / (|w⊥| |v⊥|)) / (w · v), with unit vectors w, v and w⊥ = w − (w · g) g. 0: none of it;
    1: all of it; None where the two are not similar at all, one is zero, or one lies wholly along the direction.
    Source: Bolukbasi et al. 2016, §5.3, β(w, v).
    """
    units = unit_rows(np.asarray([word, other], np.float64))
    similarity = float(units[0] @ units[1])
    across = units - np.outer(units @ direction.vector, direction.vector)
    lengths = row_lengths(across)
    if not np.isfinite(units).all() or abs(similarity) < _NOTHING or lengths.min() < _NOTHING:
        return None
    return float((similarity - across[0] @ across[1] / (lengths[0] * lengths[1])) / similarity)
