"""`ran`: repulsion from biased neighbors, attraction to the old vector, neutralization (Kumar et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.geometry import all_lengths, unit_singles
from biasgauge.inputs import PairsLike, WordsLike
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.mitigation.mitigation import Mitigation, OwnVectors
from biasgauge.mitigation.repulsion import Weights, repulsed
from biasgauge.mitigation.subspace import Subspace, bias_subspace
from biasgauge.mitigation.word_groups import defining_pairs, joined, mask, specific_words
from biasgauge.scores.neighbors import nearest

_BLOCK = 2**23
"""Numbers of neighbors' vectors held at a time."""


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
    subspace_: Subspace | None = field(default=None, init=False, repr=False)
    _specific: tuple[str, ...] = field(default=(), init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        pairs = pairs_of(self.lexicon)
        found = defining_pairs(model, pairs)
        self.subspace_ = bias_subspace([model.vectors[rows] for rows in found.rows], 1)
        self._specific = specific_words(pairs, self.specific)
        self.coverage_ = joined(found.coverage, model.coverage({"specific": self._specific}))

    def _own(self, model: Embedding) -> OwnVectors:
        if self.subspace_ is None:
            raise TypeError("fit gives the subspace")
        pool = np.nan_to_num(unit_singles(model.vectors), copy=False)
        rows = self._rows(model, pool)
        k = min(self.neighbors, len(model) - 1)
        direction = self.subspace_.basis[0].astype(np.float32)
        weights = Weights(*self.weights)
        step = max(_BLOCK // (max(k, 1) * model.dim), 1)
        parts = [np.empty((0, model.dim), np.float32)]
        for start in range(0, len(rows), step):
            if self._progress is not None:
                self._progress(start, len(rows))
            own = rows[start : start + step]
            near = pool[np.sort(nearest(pool[own], pool, k, own), axis=1)]
            parts.append(
                repulsed(
                    pool[own],
                    near,
                    direction,
                    weights,
                    threshold=self.threshold,
                    epochs=self.epochs,
                    learning_rate=self.learning_rate,
                )
            )
        size = all_lengths(model.vectors, rows, rescale=True)[:, None]
        return OwnVectors(rows, np.concatenate(parts) * size)

    def _rows(self, model: Embedding, pool: NDArray[np.float32]) -> NDArray[np.intp]:
        """Rows of the words to move, of which none is zero."""
        movable = ~mask(model, self._specific) & pool.any(axis=1)
        if self.words is not None:
            movable &= mask(model, words_of(self.words).words)
        return np.flatnonzero(movable)

    def _check_settings(self) -> None:
        super()._check_settings()
        if len(self.weights) != 3 or min(self.weights) < 0:
            raise ParameterError(f"The 'weights' of Ran must be three numbers of at least 0. Got {self.weights!r}.")
        for name in ("neighbors", "epochs"):
            if getattr(self, name) < 1:
                raise ParameterError(f"The {name!r} of Ran must be at least 1. Got {getattr(self, name)!r}.")


METHOD = Ran
