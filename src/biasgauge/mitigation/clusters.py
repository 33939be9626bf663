"""Two clusters of points: do they match what the points are known to be?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats

_STEPS = 300
_RESTARTS = 10


def two_means(points: Floats, random_state: int) -> NDArray[np.bool_]:
    """Which of two clusters each point belongs to: the best of ten runs of Lloyd's algorithm from k-means++ starts.

    The points of a start are drawn by their place, so rotating the points rotates the clusters.
    """
    random = np.random.default_rng(random_state)
    centered = points - points.mean(axis=0)
    best, least = np.zeros(len(points), bool), np.inf
    for _ in range(_RESTARTS):
        labels, spread = _lloyd(centered, random)
        if spread < least * (1 - 1e-12):
            best, least = labels, spread
    return best


def _lloyd(points: Floats, random: np.random.Generator) -> tuple[NDArray[np.bool_], float]:
    first = points[random.integers(len(points))]
    squares = np.einsum("ij,ij->i", points - first, points - first)
    chance = np.cumsum(squares)
    draw = random.random() * chance[-1]
    second = points[min(int(np.searchsorted(chance, draw)), len(points) - 1)]
    labels = np.zeros(len(points), bool)
    for _ in range(_STEPS):
        new = points @ (second - first) > (second @ second - first @ first) / 2
        if not new.any() or new.all() or np.array_equal(new, labels):
            labels = new
            break
        labels = new
        first, second = points[~labels].mean(axis=0), points[labels].mean(axis=0)
    parts = [points[labels == side] for side in (False, True)]
    return labels, float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts if len(part)))


def alignment(labels: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Share of points in the cluster of their kind, the clusters named as fits best: from ½ (chance) to 1."""
    share = float((labels == truth).mean())
    return max(share, 1 - share)
