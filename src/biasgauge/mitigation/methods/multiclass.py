"""`multiclass_hard` and `multiclass_soft`: debiasing in the subspace of several classes (Manzini et al. 2019).

Hard debiasing neutralizes and equalizes in the subspace. Soft debiasing (Bolukbasi et al. 2016, Appendix) is one linear
map T that minimizes ‖(WT)(WT)ᵀ − WWᵀ‖² + λ‖(NT)(BT)ᵀ‖², rows being words, N the neutral ones and B the bias. It is a
convex problem in M = TTᵀ, which must be positive semidefinite. With WᵀW = U S² Uᵀ and X = S UᵀMU S the first norm is
the plain distance of X from S², so the problem is well conditioned, and accelerated projected gradients reach its one
solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Flags, Floats, LexiconLike, Vectors, WordsLike, check_number, row_lengths, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.mitigation.methods.hard import equidistant_vectors, fitted_subspace, remove_projection
from biasgauge.mitigation.mitigation import AnchorVectors, Mitigation
from biasgauge.mitigation.subspace import (
    ClassSets,
    Subspace,
    bias_subspace,
    blocks,
    class_sets,
    defining_sets,
    equalize_set,
    find_sets,
    mark_words,
    merge_overlapping,
)
from biasgauge.vectors import Embedding


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
    subspace_: Subspace | None = field(default=None, init=False, repr=False)
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

    _spared: Any = field(default=None, init=False, repr=False)

    def _prepare(self, model: Embedding) -> None:
        classes = self._classes
        self._spared = (
            ~mark_words(model, classes.attributes) if self.as_published else mark_words(model, classes.specific)
        )

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        return remove_projection(block, fitted_subspace(self.subspace_), self.step, self._spared[rows])

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        if self.direction == "overbias":
            return super()._anchor_vectors(model)
        sets = find_sets(model, "sets", self._classes.sets).rows
        subspace = fitted_subspace(self.subspace_)
        if self.as_published:
            return self._one_after_the_other(model, sets, subspace)
        groups = merge_overlapping(sets)
        return equidistant_vectors(groups, [model.vectors[rows] for rows in groups], subspace)

    def _one_after_the_other(self, model: Embedding, sets: list[list[int]], subspace: Subspace) -> AnchorVectors:
        rows = np.array(sorted({row for words in sets for row in words}), np.intp)
        old = model.vectors[rows].astype(np.float64)
        current = np.nan_to_num(
            unit_rows(np.asarray(remove_projection(old, subspace, 1.0, self._spared[rows]), np.float64), rescale=True)
        )
        for words in sets:
            positions = np.searchsorted(rows, words)
            equal = equalize_set(current[positions], subspace)
            if equal is not None:
                current[positions] = equal
        return AnchorVectors(rows, current * row_lengths(old, rescale=True)[:, None])


_STEPS = 20_000
_PRECISION = 1e-9
_RANK = 1e-10


@dataclass(kw_only=True, eq=False)
class MulticlassSoft(Multiclass):
    """Map all words so that products among them stay and those of neutral words with the bias subspace shrink.

    Minimizes the mean squared change of the product of two words plus `weight` times the mean squared product of a
    neutral word with a direction of the subspace, to its one optimum. Means, not sums, so that a weight means the
    same whatever the size of the vocabulary. Overbias goes the other way along the same change.

    `as_published`: sums of norms that are not squared, a random map at the start and ten steps of 1e-6, which leaves
    it random: the result says more about the seed than about the classes. (Followed to its optimum, that objective
    gives the identity for any weight below a bound that 0.2 is far from.) Neutral words are the attributes alone,
    vectors have their own length, the subspace is reshaped where it should be transposed, every vector gets length 1.

    Attributes:
        weight: λ; 0 leaves everything as it is.
        random_state: seed of the published start.
        map_: after `fit`: dimensions × dimensions; row vectors are multiplied from the left.
    """

    name: ClassVar[str] = "multiclass_soft"
    summary: ClassVar[str] = "Shrinks the products of neutral words with the subspace of several classes by one map."
    source: ClassVar[str] = "Manzini et al. 2019, §3.3, soft debiasing; Bolukbasi et al. 2016, Appendix"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    weight: float = 0.2
    random_state: int = 0
    map_: Floats | None = field(default=None, init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        super()._fit(model)
        basis = fitted_subspace(self.subspace_).basis
        if self.as_published:
            chosen = mark_words(model, self._classes.attributes)
            if not chosen.any():
                raise ParameterError("Soft debiasing as published needs the attributes of a lexicon of stereotypes.")
            words, neutral = _products(model, chosen, lengths=True)
            start = np.random.default_rng(self.random_state).standard_normal((model.dim, model.dim))
            self.map_ = published_map(words, neutral, basis.reshape(model.dim, -1), self.weight, start).T
        else:
            chosen = ~mark_words(model, self._classes.specific)
            words, neutral = _products(model, chosen, lengths=False)
            size = len(model) ** 2 / max(int(chosen.sum()) * len(basis), 1)
            self.map_ = soft_map(words, neutral, basis, self.weight * size)

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        del rows
        change = (np.asarray(self.map_) - np.eye(block.shape[1])) * self.step
        moved: Vectors = block + block @ change.astype(block.dtype)
        return moved

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(0, weight=self.weight)


def _products(model: Embedding, chosen: Flags, *, lengths: bool) -> tuple[Floats, Floats]:
    """Sums of products of the dimensions, over all words and over the chosen ones."""
    every, neutral = np.zeros((model.dim, model.dim)), np.zeros((model.dim, model.dim))
    for rows, vectors in blocks(model):
        block = vectors if lengths else np.nan_to_num(unit_rows(vectors, rescale=True))
        neutral_block = block[chosen[rows]]
        every += block.T @ block
        neutral += neutral_block.T @ neutral_block
    return every, neutral


def soft_map(words: Floats, neutral: Floats, basis: Floats, weight: float) -> Floats:
    """The symmetric map T that minimizes ‖W(TT − I)Wᵀ‖² + weight · ‖N TT Bᵀ‖².

    Args:
        words: WᵀW, dimensions × dimensions.
        neutral: NᵀN.
        basis: B, components × dimensions.
        weight: λ; 0 gives the identity.

    Raises:
        ParameterError: the weight is so large that the solution is out of reach.
    """
    squares, axes = np.linalg.eigh(words)
    spanned = squares > _RANK * squares[-1]
    axes, target = axes[:, spanned], squares[spanned]
    back = axes / np.sqrt(target)
    solved = _minimize(target, back.T @ neutral @ back, back.T @ basis.T @ basis @ back, weight)
    # M = U S⁻¹ X S⁻¹ Uᵀ in the span of the words; outside it nothing changes
    middle = back @ solved @ back.T
    outside = np.eye(len(words)) - axes @ axes.T
    mapped: Floats = root(middle) + outside
    return mapped


def root(matrix: Floats) -> Floats:
    """Symmetric square root of a positive semidefinite matrix."""
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    halved: Floats = (axes * np.sqrt(np.maximum(values, 0))) @ axes.T
    return halved


def _minimize(target: Floats, p: Floats, q: Floats, weight: float) -> Floats:
    """Minimize ‖X − S²‖² + weight · tr(P X Q X): Nesterov's method, projected on positive semidefinite matrices."""
    # the cost is 2-strongly convex and its gradient Lipschitz, which gives step 1/L and momentum (√L − √2)/(√L + √2)
    lipschitz = 2 + 2 * weight * float(np.linalg.norm(p, 2) * np.linalg.norm(q, 2))
    momentum = (lipschitz**0.5 - 2**0.5) / (lipschitz**0.5 + 2**0.5)
    start = np.diag(target)
    x = extrapolated = start
    tolerance = _PRECISION * float(np.linalg.norm(target))
    for _ in range(_STEPS):
        slope = 2 * (extrapolated - start) + weight * (p @ extrapolated @ q + q @ extrapolated @ p)
        new = _project_semidefinite(extrapolated - slope / lipschitz)
        if float(np.linalg.norm(new - extrapolated)) * lipschitz / 2 <= tolerance:
            return new
        extrapolated = new + momentum * (new - x)
        x = new
    raise ParameterError(f"Soft debiasing did not converge within {_STEPS:,} steps: choose a smaller weight.")


def _project_semidefinite(matrix: Floats) -> Floats:
    values, axes = np.linalg.eigh(matrix)
    if values[0] >= 0:
        return matrix
    projection: Floats = (axes * np.maximum(values, 0)) @ axes.T
    return projection


def published_map(words: Floats, neutral: Floats, basis: Floats, weight: float, start: Floats) -> Floats:
    """Ten steps of plain descent of 1e-6 from `start` on the sum of the two norms, not squared, as released.

    `basis` is dimensions × components as the released code lays it out; its map is applied to column vectors.
    """
    mapping = start.copy()
    inside = basis @ basis.T
    for _ in range(10):
        middle = mapping.T @ mapping
        change = middle - np.eye(len(mapping))
        first = words @ change @ words
        second = neutral @ middle @ inside
        slope = 2 * mapping @ first / np.sqrt(np.sum(first * change))
        slope += weight * mapping @ (second + second.T) / np.sqrt(np.trace(middle @ second))
        mapping -= 1e-6 * slope
    return mapping


METHOD = (MulticlassHard, MulticlassSoft)
