"""`double_hard`: hard debiasing after removing the component that hides bias the most (Wang et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Flags, Floats, Vectors, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of
from biasgauge.mitigation.methods.hard import HardDebias, equidistant_vectors, fitted_subspace, remove_projection
from biasgauge.mitigation.mitigation import AnchorVectors
from biasgauge.mitigation.subspace import (
    bias_subspace,
    blocks,
    defining_sets,
    find_sets,
    mark_words,
    merge_overlapping,
    projections,
)
from biasgauge.vectors import Embedding


@dataclass(kw_only=True, eq=False)
class DoubleHard(HardDebias):
    """Center all vectors, take out one principal component (thought to carry frequency), then debias hard.

    Which component: each of the first `candidates` is taken out in turn, the most biased words of either side are
    neutralized, and two clusters are sought among them; the component after whose removal the clusters match the
    sides the least is the one. There is no inverse: what the mean and the component carry is no bias to add.

    Attributes:
        biased_words: how many most biased neutral words of either side to cluster, at most half of those there are.
        candidates: how many principal components to try.
        random_state: seed of the clustering.
        component_: after `fit`: place of the component taken out, from 0.
        alignments_: after `fit`: for each candidate, how well clusters match the sides, from ½ to 1.
    """

    name: ClassVar[str] = "double_hard"
    summary: ClassVar[str] = "Hard debiasing after removing the mean and the component that hides bias the most."
    source: ClassVar[str] = "Wang et al. 2020, algorithm 1"
    inverse: ClassVar[bool] = False
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    biased_words: int = 500
    candidates: int = 20
    random_state: int = 0
    component_: int | None = field(default=None, init=False, repr=False)
    alignments_: tuple[float, ...] = field(default=(), init=False, repr=False)
    _mean: Any = field(default=None, init=False, repr=False)
    _axis: Any = field(default=None, init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        super()._fit(model)
        self._mean, axes = _principal_axes(model)
        pairs = [model.vectors[rows] for rows in defining_sets(model, pairs_of(self.lexicon)).rows]
        words, sides = self._most_biased(model)
        scores = []
        for axis in axes[: self.candidates]:
            subspace = bias_subspace([self._cleaned(ends, axis) for ends in pairs], self.components)
            cleaned = self._cleaned(words, axis)
            neutral = cleaned - subspace.project(cleaned)
            scores.append(alignment(two_means(neutral, self.random_state), sides))
        self.alignments_ = tuple(scores)
        self.component_ = int(np.argmin(np.round(scores, 12)))
        self._axis = axes[self.component_]
        self.subspace_ = bias_subspace([self._cleaned(ends, self._axis) for ends in pairs], self.components)

    def _most_biased(self, model: Embedding) -> tuple[Floats, Flags]:
        """Vectors of the neutral words that lie farthest along the direction either way, and which way."""
        neutral = np.flatnonzero(~mark_words(model, self._specific))
        direction = fitted_subspace(self.subspace_).basis[0]
        along = projections(model, direction)[neutral]
        neutral, along = neutral[~np.isnan(along)], along[~np.isnan(along)]
        count = min(self.biased_words, len(neutral) // 2)
        if count < 2:
            raise ParameterError("Double-hard debiasing needs at least four neutral words.")
        order = neutral[np.argsort(along, kind="stable")]
        extremes = np.concatenate([order[:count], order[-count:]])
        return model.vectors[extremes].astype(np.float64), np.arange(2 * count) >= count

    def _cleaned(self, vectors: Vectors, axis: Floats) -> Floats:
        centered = vectors.astype(np.float64) - self._mean
        cleaned: Floats = centered - np.outer(centered @ axis, axis)
        return cleaned

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        cleaned = self._cleaned(block, self._axis).astype(block.dtype)
        end = remove_projection(cleaned, fitted_subspace(self.subspace_), 1.0, self._spared[rows])
        moved: Vectors = block + self.step * (end - block)
        return moved

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        sets = merge_overlapping(find_sets(model, "equal", self._equal).rows)
        cleaned = [self._cleaned(model.vectors[rows], self._axis) for rows in sets]
        return equidistant_vectors(sets, cleaned, fitted_subspace(self.subspace_))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole(1, biased_words=self.biased_words, candidates=self.candidates)


def _principal_axes(model: Embedding) -> tuple[Floats, Floats]:
    """Mean of all vectors, and the principal axes around it, the longest first, one a row."""
    total, products = np.zeros(model.dim), np.zeros((model.dim, model.dim))
    for _, block in blocks(model):
        total += block.sum(axis=0)
    mean = total / max(len(model), 1)
    for _, block in blocks(model):
        centered = block - mean
        products += centered.T @ centered
    return mean, np.linalg.eigh(products)[1][:, ::-1].T


def two_means(points: Floats, random_state: int) -> Flags:
    """Cluster of each point, of two: the best of ten runs of Lloyd's algorithm from k-means++ starts.

    The points of a start are drawn by their place, so rotating the points rotates the clusters.
    """
    random = np.random.default_rng(random_state)
    centered = points - points.mean(axis=0)
    best, least = np.zeros(len(points), bool), np.inf
    for _ in range(10):
        labels, spread = _lloyd(centered, random)
        if spread < least * (1 - 1e-12):
            best, least = labels, spread
    return best


def _lloyd(points: Floats, random: np.random.Generator) -> tuple[Flags, float]:
    first = points[random.integers(len(points))]
    squares = np.einsum("ij,ij->i", points - first, points - first)
    chance = np.cumsum(squares)
    draw = random.random() * chance[-1]
    second = points[min(int(np.searchsorted(chance, draw)), len(points) - 1)]
    labels = np.zeros(len(points), bool)
    for _ in range(300):
        new = points @ (second - first) > (second @ second - first @ first) / 2
        if not new.any() or new.all() or np.array_equal(new, labels):
            labels = new
            break
        labels = new
        first, second = points[~labels].mean(axis=0), points[labels].mean(axis=0)
    clusters = [points[labels == side] for side in (False, True)]
    return labels, float(sum(((cluster - cluster.mean(axis=0)) ** 2).sum() for cluster in clusters if len(cluster)))


def alignment(labels: Flags, truth: Flags) -> float:
    """Share of points in the cluster of their kind, the clusters named as fits best: from ½ (chance) to 1."""
    share = float((labels == truth).mean())
    return max(share, 1 - share)


METHOD = DoubleHard
