"""`multiclass_soft`: one linear map that loosens words from the subspace of the classes (Manzini et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings import Embedding
from biasgauge.embeddings.procrustes import ROWS
from biasgauge.errors import ParameterError
from biasgauge.geometry import unit_rows
from biasgauge.mitigation.methods.hard import fitted
from biasgauge.mitigation.multiclass import Multiclass
from biasgauge.mitigation.soft_map import published_map, soft_map
from biasgauge.mitigation.word_groups import mask


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
    map_: NDArray[np.float64] | None = field(default=None, init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        super()._fit(model)
        basis = fitted(self.subspace_).basis
        if self.as_published:
            chosen = mask(model, self._classes.attributes)
            if not chosen.any():
                raise ParameterError("Soft debiasing as published needs the attributes of a lexicon of stereotypes.")
            words, neutral = _products(model, chosen, lengths=True)
            start = np.random.default_rng(self.random_state).standard_normal((model.dim, model.dim))
            found = published_map(words, neutral, basis.reshape(model.dim, -1), self.weight, start)
            self.map_ = found.T
        else:
            chosen = ~mask(model, self._classes.specific)
            words, neutral = _products(model, chosen, lengths=False)
            size = len(model) ** 2 / max(int(chosen.sum()) * len(basis), 1)
            self.map_ = soft_map(words, neutral, basis, self.weight * size)

    def _block(self, block: NDArray[Any], part: slice) -> NDArray[Any]:
        del part
        change = (np.asarray(self.map_) - np.eye(block.shape[1])) * self.step
        moved: NDArray[Any] = block + block @ change.astype(block.dtype)
        return moved

    def _check_settings(self) -> None:
        super()._check_settings()
        if not self.weight >= 0:
            raise ParameterError(f"The 'weight' of MulticlassSoft must not be negative. Got {self.weight!r}.")


def _products(
    model: Embedding, chosen: NDArray[np.bool_], *, lengths: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of products of the dimensions, over all words and over the chosen ones."""
    every, some = np.zeros((model.dim, model.dim)), np.zeros((model.dim, model.dim))
    for start in range(0, len(model), ROWS):
        block = model.vectors[start : start + ROWS].astype(np.float64)
        block = block if lengths else np.nan_to_num(unit_rows(block, rescale=True))
        part = block[chosen[start : start + ROWS]]
        every += block.T @ block
        some += part.T @ part
    return every, some


METHOD = MulticlassSoft
