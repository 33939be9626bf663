"""`half_sibling`: subtract what words about gender predict of a neutral word (Yang & Feng 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Vectors, WordsLike, check_number
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.mitigation.mitigation import Mitigation
from biasgauge.mitigation.subspace import mark_words
from biasgauge.vectors import Embedding


@dataclass(kw_only=True, eq=False)
class HalfSibling(Mitigation):
    """Subtract from each neutral word its ridge regression on the words that carry the bias by meaning.

    Each dimension is one observation; the words of `lexicon` predict the neutral word, and what they predict is
    taken away, `strength` of it. Overbias adds it. With D their vectors, one a row, the rest is the word
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
    map_: NDArray[np.float64] | None = field(default=None, init=False, repr=False)
    _specific: tuple[str, ...] = field(default=(), init=False, repr=False)
    _spared: Any = field(default=None, init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        self._specific = words_of(self.lexicon).words
        self.coverage_ = model.coverage({"specific": self._specific})
        rows = self.coverage_.sets["specific"].rows
        if not len(rows):
            raise ParameterError(f"None of the words that carry the bias is in {model.name}.")
        words = model.vectors[rows].astype(np.float64)
        penalty = self.alpha * np.eye(model.dim)
        self.map_ = np.asarray(np.linalg.solve(penalty + words.T @ words, penalty), np.float64)

    def _prepare(self, model: Embedding) -> None:
        self._spared = mark_words(model, self._specific)

    def _block(self, block: Vectors, rows: slice) -> Vectors:
        change = (np.asarray(self.map_) - np.eye(block.shape[1])) * self.step
        moved: Vectors = block @ change.astype(block.dtype)
        moved[self._spared[rows]] = 0
        moved += block
        return moved

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(0, ends=False, alpha=self.alpha)


METHOD = HalfSibling
