"""`hard`: neutralize and equalize along the direction of pairs (Bolukbasi et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Flags, PairsLike, Vectors, WordsLike, row_lengths
from biasgauge.lexicons import pairs_of
from biasgauge.mitigation.mitigation import AnchorVectors, Mitigation
from biasgauge.mitigation.subspace import (
    Subspace,
    bias_subspace,
    case_variants,
    defining_sets,
    equality_pairs,
    equalize_set,
    find_sets,
    join_coverages,
    mark_words,
    merge_overlapping,
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
    subspace_: Subspace | None = field(default=None, init=False, repr=False)
    _specific: tuple[str, ...] = field(default=(), init=False, repr=False)
    _equal: tuple[tuple[str, ...], ...] = field(default=(), init=False, repr=False)
    _spared: Any = field(default=None, init=False, repr=False)

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

    def _prepare(self, model: Embedding) -> None:
        self._spared = mark_words(model, self._specific)

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        return remove_projection(block, fitted_subspace(self.subspace_), self.step, self._spared[rows])

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        if self.direction == "overbias":
            return super()._anchor_vectors(model)
        sets = merge_overlapping(find_sets(model, "equal", self._equal).rows)
        return equidistant_vectors(sets, [model.vectors[rows] for rows in sets], fitted_subspace(self.subspace_))


def fitted_subspace(subspace: Subspace | None) -> Subspace:
    """The subspace of a fitted method; `transform` has refused the others."""
    if subspace is None:
        raise TypeError("fit gives the subspace")
    return subspace


def remove_projection(block: Vectors, subspace: Subspace, step: float, spared: Flags) -> Vectors:
    """Vectors less `step` of their part in the subspace, but for the spared ones."""
    basis = subspace.basis.astype(block.dtype)
    along = block @ basis.T
    along[spared] = 0
    along *= -step
    # A product of so few columns takes several times as long as multiplying them out.
    moved: Vectors = along[:, :1] * basis[:1]
    for component in range(1, len(basis)):
        moved += along[:, component : component + 1] * basis[component]
    moved += block
    return moved


def equidistant_vectors(sets: Sequence[list[int]], vectors: Sequence[Vectors], subspace: Subspace) -> AnchorVectors:
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


METHOD = HardDebias
