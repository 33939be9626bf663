"""Bias subspaces of two sets of vectors: the difference of their means, and the components of their pairs.

Sources: Caliskan et al. 2017 and Antoniak & Mimno 2021 for the mean difference ("WEAT"); Bolukbasi et al. 2016 for the
components: of every pair the two halves from its midpoint to its ends.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from biasgauge.core import Floats, Places, Vectors
from biasgauge.metrics import unit as unit_vectors

Method = Literal["mean-difference", "pca"]

NOTHING = 1e-9
"""A length this small, relative to the vectors it comes from, is zero but for rounding."""


class Components(NamedTuple):
    """Principal components of pair halves, of length 1, pointing to the first ends; their shares of the variance."""

    axes: Floats
    shares: Floats


def seed_vectors(vectors: Vectors, rows: Places, *, scaled: bool) -> Floats:
    """The vectors of some seeds in double precision; of length 1 when `scaled`."""
    seeds: Floats = np.asarray(vectors[rows], np.float64)
    return unit_vectors(seeds) if scaled and len(seeds) else seeds


def unit_differences(a: Floats, b: Floats) -> Floats:
    """Differences of two stacks of mean vectors, a − b, each of length 1; NaN where two means do not differ."""
    differences = a - b
    lengths = np.linalg.norm(differences, axis=1)
    scales = np.linalg.norm(a, axis=1) + np.linalg.norm(b, axis=1)
    lengths[lengths <= NOTHING * scales] = np.nan
    units: Floats = differences / lengths[:, None]
    return units


def mean_direction(a: Floats, b: Floats) -> Floats | None:
    """Mean of A less mean of B, of length 1; None when the two means do not differ.

    Points to A. Does not depend on how the words are paired or ordered. Turns with a rotation of all vectors.
    """
    direction = unit_differences(a.mean(axis=0, keepdims=True), b.mean(axis=0, keepdims=True))[0]
    return direction if np.isfinite(direction).all() else None


def pair_components(first: Floats, second: Floats) -> Components | None:
    """Principal components of the halves of pairs; None when no pair has two different ends.

    The matrix of both halves of each pair is symmetric about 0, so that centering changes nothing and its components
    are those of one half. The sign of a component is arbitrary in itself: here it points to the first ends, so that
    components of replicates can be averaged.
    """
    halves = (first - second) / 2
    size = float(np.abs(first).max(initial=0) + np.abs(second).max(initial=0))
    if not len(halves) or np.abs(halves).max() <= NOTHING * size:
        return None
    _, values, axes = np.linalg.svd(halves, full_matrices=False)
    leaning = axes @ halves.sum(axis=0)
    # A component that the halves cancel out along leans to neither end; the first pair then decides.
    undecided = np.abs(leaning) <= NOTHING * values[0]
    leaning = np.where(undecided, axes @ halves[0], leaning)
    return Components(axes * np.where(leaning < 0, -1.0, 1.0)[:, None], values**2 / (values**2).sum())


def component_shares(gram: Floats) -> Floats:
    """Shares of the variance, largest first, from the inner products of the halves: stacks of pairs × pairs.

    All are 0 where there is no variance.
    """
    values = np.linalg.eigvalsh(gram)[..., ::-1].clip(min=0)
    total = values.sum(axis=-1, keepdims=True)
    shares: Floats = values / np.where(total > 0, total, 1)
    return shares
