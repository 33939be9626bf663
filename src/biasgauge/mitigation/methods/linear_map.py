"""Methods that multiply every vector by one matrix: `half_sibling` and `multiclass_soft`.

Soft debiasing (Bolukbasi et al. 2016, Appendix; Manzini et al. 2019) is one linear map T that minimizes
‖(WT)(WT)ᵀ − WWᵀ‖² + λ‖(NT)(BT)ᵀ‖², rows being words, N the neutral ones and B the bias. It is a convex problem in
M = TTᵀ, which must be positive semidefinite. With WᵀW = U S² Uᵀ and X = S UᵀMU S the first norm is the plain distance
of X from S², so the problem is well conditioned, and accelerated projected gradients reach its one solution.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from biasgauge.core import Flags, Floats, Vectors, WordsLike, check_number, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.mitigation.methods.projection import Multiclass
from biasgauge.mitigation.mitigation import Mitigation
from biasgauge.mitigation.subspace import blocks, mark_words
from biasgauge.vectors import Embedding

_STEPS = 20_000
_PRECISION = 1e-9
_RANK = 1e-10


@dataclass(kw_only=True, eq=False)
class HalfSibling(Mitigation):
    """Subtract from each neutral word its ridge regression on the words that carry the bias by meaning.

    Each dimension is one observation; the words of `lexicon` predict the neutral word, and what they predict is
    taken away, `strength` of it. Overbias adds it. With D their vectors, one per row, the rest is the word
    times alpha · (alpha · I + DᵀD)⁻¹: a map that damps the directions in which those words lie. Words of
    `lexicon` stay as they are.

    Attributes:
        lexicon: words that carry the bias by meaning.
        alpha: ridge penalty, in units of squared vector length: with longer vectors the same penalty takes more away.
        map_: after `fit`: dimensions × dimensions.
    """

    name: ClassVar[str] = "half_sibling"
    summary: ClassVar[str] = "Subtracts from neutral words what gender-specific words predict of them (ridge)."
    source: ClassVar[str] = "Yang & Feng 2020, equations 5 to 7"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    lexicon: WordsLike = "gender_specific"
    alpha: float = 60.0
    map_: Floats = field(init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        self._specific = words_of(self.lexicon).words
        self.coverage_ = model.coverage({"specific": self._specific})
        rows = self.coverage_.sets["specific"].rows
        if not len(rows):
            raise ParameterError(f"None of the words that carry the bias is in {model.name}.")
        words = model.vectors[rows].astype(np.float64)
        penalty = self.alpha * np.eye(model.dim)
        self.map_ = np.asarray(np.linalg.solve(penalty + words.T @ words, penalty), np.float64)

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        moved = _mapped(block, self.map_, self.step)
        moved[self._spared[rows]] = block[self._spared[rows]]
        return moved

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(0, ends=False, alpha=self.alpha)


def _mapped(block: Vectors, matrix: Floats, step: float) -> Vectors:
    """Vectors moved `step` of the way to their products with a matrix."""
    moved: Vectors = block + block @ ((matrix - np.eye(len(matrix))) * step).astype(block.dtype)
    return moved


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
    map_: Floats = field(init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        super()._fit(model)
        basis = self.subspace_.basis
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
        return _mapped(block, self.map_, self.step)

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


METHOD = (HalfSibling, MulticlassSoft)
