"""`Fit`: what a trainer hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from biasgauge.embeddings.subwords import Subwords


@dataclass(frozen=True, eq=False)
class Fit:
    """Trained vectors, and what the trainer reports of itself.

    Attributes:
        vectors: one row a word of the vocabulary, 32-bit.
        tokens: tokens of the vocabulary that the trainer read, over all epochs.
        losses: mean loss of each epoch: per predicted pair for negative sampling, per cell for GloVe.
        subwords: fastText's vectors of character n-grams.
        untrained: places of words that nothing was learnt about, so that they keep their random vectors: in GloVe
            those that stand alone in every line.
    """

    vectors: NDArray[np.float32]
    tokens: int
    losses: tuple[float, ...]
    subwords: Subwords | None = None
    untrained: tuple[int, ...] = ()
