"""Hard debiasing: bias subspaces projected out of neutral words, sets of words made equidistant.

`hard` (Bolukbasi et al. 2016), `double_hard` (Wang et al. 2020) and `multiclass_hard` (Manzini et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from biasgauge.core import (
    Flags,
    Floats,
    LexiconLike,
    PairsLike,
    Vectors,
    WordsLike,
    check_whole,
    row_lengths,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.mitigation.mitigation import AnchorVectors, Mitigation
from biasgauge.mitigation.subspace import (
    ClassSets,
    Subspace,
    bias_subspace,
    blocks,
    case_variants,
    class_sets,
    defining_sets,
    equality_pairs,
    equalize_set,
    find_sets,
    join_coverages,
    mark_words,
    merge_overlapping,
    projections,
    specific_words,
)
from biasgauge.vectors import Embedding


@dataclass(kw_only=True, eq=False)
class HardDebias(Mitigation):
    """Take the bias direction out of every word that is not about it by meaning, and make pairs equidistant.

    Neutral words lose `strength` of their part along the direction; at 1 they are at right angles to it. The words of
    an equality pair become equidistant, by cosine, from every neutral word. Overbias adds `strength` times that part
    to neutral words, so that each goes on where it leans already, and leaves equality pairs as they are.

    Words of the pairs and of the equality pairs are never neutralized: the released code neutralizes those that its
    list of specific words lacks, and then equalizes along a direction that is rounding alone. Equality pairs that
    share a word are equalized as one set.

    Attributes:
        lexicon: pairs, a lexicon of them by name or path, or (first, second) words: they give the direction.
        equalize: equality pairs; "auto": Bolukbasi's for pairs of gender, else `lexicon`; None for none. Each is also
            looked for in lower case, capitalized and in capitals.
        specific: words that keep their part; "auto": Bolukbasi's for pairs of gender, else those of `lexicon` alone.
        components: how many directions.
        subspace_: after `fit`: the direction.
    """

    name: ClassVar[str] = "hard"
    summary: ClassVar[str] = "Projects the bias direction out of neutral words; makes equality pairs equidistant."
    source: ClassVar[str] = "Bolukbasi et al. 2016, §6, hard debiasing"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True

    lexicon: PairsLike = "bolukbasi2016"
    equalize: PairsLike | None = "auto"
    specific: WordsLike | None = "auto"
    components: int = 1
    subspace_: Subspace = field(init=False, repr=False)
    _equal: tuple[tuple[str, ...], ...] = field(default=(), init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        pairs = pairs_of(self.lexicon)
        defining = defining_sets(model, pairs)
        self.subspace_ = bias_subspace([model.vectors[rows] for rows in defining.rows], self.components)
        equal = equality_pairs(pairs, self.equalize)
        self._equal = tuple(case_variants(equal))
        specific = specific_words(pairs, self.specific)
        self._specific = tuple(dict.fromkeys([*specific, *(word for pair in self._equal for word in pair)]))
        words = {"equality pairs": [word for pair in equal for word in pair], "specific": specific}
        self.coverage_ = join_coverages(defining.coverage, model.coverage(words))

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        return self.subspace_.remove(block, self.step, self._spared[rows])

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        if self.direction == "overbias":
            return super()._anchor_vectors(model)
        sets = merge_overlapping(find_sets(model, "equal", self._equal).rows)
        return _equidistant(sets, [model.vectors[rows] for rows in sets], self.subspace_)


def _equidistant(sets: Sequence[list[int]], vectors: Sequence[Vectors], subspace: Subspace) -> AnchorVectors:
    """The words of the sets made equidistant, each at its own length; sets that cannot be are left as they are."""
    moved: list[int] = []
    parts = [np.empty((0, subspace.basis.shape[1]))]
    for rows, words in zip(sets, vectors, strict=True):
        wide = words.astype(np.float64)
        equal = equalize_set(wide, subspace)
        if equal is not None:
            moved += rows
            parts.append(equal * row_lengths(wide, rescale=True)[:, None])
    return AnchorVectors(np.array(moved, np.intp), np.concatenate(parts))


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
    _mean: Floats = field(init=False, repr=False)
    _axis: Floats = field(init=False, repr=False)

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
        along = projections(model, self.subspace_.basis[0])[neutral]
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
        end = self.subspace_.remove(cleaned, 1.0, self._spared[rows])
        moved: Vectors = block + self.step * (end - block)
        return moved

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        sets = merge_overlapping(find_sets(model, "equal", self._equal).rows)
        cleaned = [self._cleaned(model.vectors[rows], self._axis) for rows in sets]
        return _equidistant(sets, cleaned, self.subspace_)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole(1, biased_words=self.biased_words, candidates=self.candidates)


def _principal_axes(model: Embedding) -> tuple[Floats, Floats]:
    """Mean of all vectors, and the principal axes around it, the longest first, one per row."""
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


@dataclass(kw_only=True, eq=False)
class Multiclass(Mitigation):
    """Base of the methods for several classes: the subspace of the defining sets.

    Attributes:
        lexicon: stereotypes, pairs, or sets of words: one word a class in each set.
        components: directions of the subspace; one fewer than the classes by default.
        specific: words to leave alone besides those that name a class.
        as_published: what the released code does.
        subspace_: after `fit`.
    """

    lexicon: LexiconLike | Sequence[WordsLike] = "religion"
    components: int | None = None
    specific: WordsLike | None = None
    as_published: bool = False
    subspace_: Subspace = field(init=False, repr=False)
    _classes: ClassSets = field(default=ClassSets("", (), (), ()), init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        classes = class_sets(self.lexicon)
        more = () if self.specific is None else words_of(self.specific).words
        self._classes = classes._replace(specific=(*classes.specific, *more))
        defining = defining_sets(model, classes)
        usual = 1 if self.as_published else max(len(rows) for rows in defining.rows) - 1
        self.subspace_ = bias_subspace(
            [model.vectors[rows] for rows in defining.rows], self.components or usual, lengths=self.as_published
        )
        self.coverage_ = defining.coverage

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published


@dataclass(kw_only=True, eq=False)
class MulticlassHard(Multiclass):
    """Take the subspace of the classes out of every word that names none of them; make their words equidistant.

    Neutral words lose `strength` of their part in the subspace; the words of a defining set become equidistant, by
    cosine, from every neutral word; sets that share a word are equalized as one. Overbias adds to neutral words and
    leaves the defining sets alone.

    `as_published`: the subspace comes from vectors at their own length and has one direction unless `components` says
    otherwise; only the attributes of the stereotypes are neutralized; sets are equalized one after the other, so that
    a later one undoes an earlier one with which it shares a word; every vector gets length 1.
    """

    name: ClassVar[str] = "multiclass_hard"
    summary: ClassVar[str] = "Projects the subspace of several classes out of neutral words; equalizes the classes."
    source: ClassVar[str] = "Manzini et al. 2019, §3.2, hard debiasing"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False  # with three classes, the mean of the equalized words moves in the subspace

    def _prepare(self, model: Embedding) -> None:
        classes = self._classes
        self._spared = (
            ~mark_words(model, classes.attributes) if self.as_published else mark_words(model, classes.specific)
        )

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        return self.subspace_.remove(block, self.step, self._spared[rows])

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        if self.direction == "overbias":
            return super()._anchor_vectors(model)
        sets = find_sets(model, "sets", self._classes.sets).rows
        if not self.as_published:
            groups = merge_overlapping(sets)
            return _equidistant(groups, [model.vectors[rows] for rows in groups], self.subspace_)
        rows = np.array(sorted({row for words in sets for row in words}), np.intp)
        old = model.vectors[rows].astype(np.float64)
        neutral = np.asarray(self.subspace_.remove(old, 1.0, self._spared[rows]), np.float64)
        current = np.nan_to_num(unit_rows(neutral, rescale=True))
        for words in sets:  # one after the other
            positions = np.searchsorted(rows, words)
            equal = equalize_set(current[positions], self.subspace_)
            if equal is not None:
                current[positions] = equal
        return AnchorVectors(rows, current * row_lengths(old, rescale=True)[:, None])


METHOD = (HardDebias, DoubleHard, MulticlassHard)
