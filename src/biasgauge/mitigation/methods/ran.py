"""`ran`: repulsion from biased neighbors, attraction to the old vector, neutralization.

Source: Kumar, Bhotia & Chakraborty, "Nurse is Closer to Woman than Surgeon? Mitigating Gender-Biased Proximities in
Word Embeddings", TACL 8 (2020), §3. Each word finds its own new vector, many words at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from biasgauge.core import PairsLike, Singles, WordsLike, all_lengths, check_whole, unit_singles
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.mitigation.mitigation import AnchorVectors, Mitigation
from biasgauge.mitigation.subspace import (
    Subspace,
    bias_subspace,
    defining_sets,
    join_coverages,
    mark_words,
    specific_words,
)
from biasgauge.scores import nearest
from biasgauge.vectors import Embedding

_BLOCK = 2**23
"""Numbers of neighbors' vectors held at a time."""
_NEGLIGIBLE = 1e-6
_DECAYS = (0.9, 0.999)
_EPSILON = 1e-8


@dataclass(kw_only=True, eq=False)
class Ran(Mitigation):
    """Give each neutral word the vector that is least like its biased neighbors and the direction, yet like its old.

    A neighbor is biased where more than `threshold` of the similarity lies along the direction of the pairs. Each
    word is an optimization of its own, so time grows with words × neighbors × dimensions × epochs: name `words` to
    move a few. There is no inverse.

    Attributes:
        lexicon: pairs that give the direction.
        specific: words that stay as they are, as in `hard`.
        words: which words to move; all others by default.
        neighbors: how many to look at.
        threshold: indirect bias beyond which one is repelled.
        weights: of repulsion, attraction and neutralization.
        epochs: steps of Adam.
        learning_rate: of Adam.
        subspace_: after `fit`.
    """

    name: ClassVar[str] = "ran"
    summary: ClassVar[str] = "Moves each neutral word from neighbors that it is close to by bias alone."
    source: ClassVar[str] = "Kumar, Bhotia & Chakraborty 2020, §3"
    inverse: ClassVar[bool] = False
    rotation_equivariant: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False

    lexicon: PairsLike = "bolukbasi2016"
    specific: WordsLike | None = "auto"
    words: WordsLike | None = None
    neighbors: int = 100
    threshold: float = 0.05
    weights: tuple[float, float, float] = (0.125, 0.75, 0.125)
    epochs: int = 300
    learning_rate: float = 0.01
    subspace_: Subspace = field(init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        pairs = pairs_of(self.lexicon)
        defining = defining_sets(model, pairs)
        self.subspace_ = bias_subspace([model.vectors[rows] for rows in defining.rows], 1)
        self._specific = specific_words(pairs, self.specific)
        self.coverage_ = join_coverages(defining.coverage, model.coverage({"specific": self._specific}))

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        pool = np.nan_to_num(unit_singles(model.vectors), copy=False)
        movable = ~self._spared & pool.any(axis=1)
        if self.words is not None:
            movable &= mark_words(model, words_of(self.words).words)
        rows = np.flatnonzero(movable)
        k = min(self.neighbors, len(model) - 1)
        direction = self.subspace_.basis[0].astype(np.float32)
        weights = Weights(*self.weights)
        settings: dict[str, Any] = {name: getattr(self, name) for name in ("threshold", "epochs", "learning_rate")}
        step = max(_BLOCK // (max(k, 1) * model.dim), 1)
        parts = [np.empty((0, model.dim), np.float32)]
        for start in range(0, len(rows), step):
            if self._progress is not None:
                self._progress(start, len(rows))
            block = rows[start : start + step]
            neighbors = pool[np.sort(nearest(pool[block], pool, k, block), axis=1)]
            parts.append(repel_words(pool[block], neighbors, direction, weights, **settings))
        size = all_lengths(model.vectors, rows, rescale=True)[:, None]
        return AnchorVectors(rows, np.concatenate(parts) * size)

    def _check_settings(self) -> None:
        super()._check_settings()
        if len(self.weights) != 3 or min(self.weights) < 0:
            raise ParameterError(f"The 'weights' of Ran must be three numbers of at least 0. Got {self.weights!r}.")
        check_whole(1, neighbors=self.neighbors, epochs=self.epochs)


class Weights(NamedTuple):
    """Weight of each aim."""

    repulsion: float
    attraction: float
    neutralization: float


def indirect_bias(words: Singles, neighbors: Singles, direction: Singles) -> Singles:
    """Share of the similarity of each word with each of its neighbors that lies along the direction.

    All of length 1; `neighbors` is words × neighbors × dimensions. 0 where two are not similar, or one of them has
    nothing across the direction. Source: Bolukbasi et al. 2016, §5.3, β.
    """
    similarity = np.einsum("wd,wnd->wn", words, neighbors)
    along_words, along_neighbors = words @ direction, neighbors @ direction
    across = similarity - along_words[:, None] * along_neighbors
    lengths = np.sqrt(np.maximum(1 - along_words**2, 0))[:, None] * np.sqrt(np.maximum(1 - along_neighbors**2, 0))
    usable = (np.abs(similarity) > _NEGLIGIBLE) & (lengths > _NEGLIGIBLE)
    share: Singles = np.where(usable, 1 - across / np.where(usable, lengths * similarity, 1), 0)
    return share


def cost_gradients(
    current: Singles, words: Singles, neighbors: Singles, repelled: Singles, direction: Singles, weights: Weights
) -> Singles:
    """Gradient of each word's cost, where `repelled` holds 1 / (number of repelled neighbors) or 0.

    The cost is weights · (mean |cos| with repelled neighbors, (1 − cos with the original) / 2, |cos| with the
    direction).
    """
    lengths = np.sqrt(np.einsum("wd,wd->w", current, current))[:, None]
    units = current / lengths
    signs = np.sign(np.matmul(neighbors, units[:, :, None])[:, :, 0]) * repelled
    slope = weights.repulsion * np.matmul(signs[:, None, :], neighbors)[:, 0]
    slope -= weights.attraction / 2 * words
    slope += weights.neutralization * np.sign(units @ direction)[:, None] * direction
    tangent: Singles = (slope - np.einsum("wd,wd->w", slope, units)[:, None] * units) / lengths
    return tangent


def repel_words(
    words: Singles, neighbors: Singles, direction: Singles, weights: Weights, *, threshold: float, epochs: int,
    learning_rate: float,
) -> Singles:  # fmt: skip
    """New directions for a block of words, by Adam from the old ones.

    A neighbor is repelled where more than `threshold` of its similarity with the word lies along the direction.
    """
    chosen = indirect_bias(words, neighbors, direction) > threshold
    # repelled neighbors first, so that the array can be cut to the largest number of them
    order = np.argsort(~chosen, axis=1, kind="stable")[:, : max(int(chosen.sum(axis=1).max(initial=0)), 1)]
    near = np.ascontiguousarray(np.take_along_axis(neighbors, order[:, :, None], axis=1))
    is_repelled = np.take_along_axis(chosen, order, axis=1)
    repelled = (is_repelled / np.maximum(is_repelled.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    current, first, second = words.copy(), np.zeros_like(words), np.zeros_like(words)
    for epoch in range(1, epochs + 1):
        slope = cost_gradients(current, words, near, repelled, direction, weights)
        first += (1 - _DECAYS[0]) * (slope - first)
        second += (1 - _DECAYS[1]) * (slope**2 - second)
        # Adam: moments corrected for their start at 0
        corrected = first / (1 - _DECAYS[0] ** epoch)
        current -= learning_rate * corrected / (np.sqrt(second / (1 - _DECAYS[1] ** epoch)) + _EPSILON)
    units: Singles = current / np.sqrt(np.einsum("wd,wd->w", current, current))[:, None]
    return units


METHOD = Ran
