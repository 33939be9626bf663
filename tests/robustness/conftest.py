"""Embeddings whose directions are known because they were planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding

PAIRS = (("he", "she"), ("man", "woman"), ("boy", "girl"))
WORDS = ("nurse", "surgeon", "poet", "judge")


@pytest.fixture(scope="session")
def planted() -> Embedding:
    """Each pair has an axis of its own: a word's DB/WA on the pair has the sign of its component there.

    Signs on (he~she, man~woman, boy~girl):
    nurse − − −, surgeon + + −, poet + − −, judge + + +; nurses + − −, surgeons + + −, Poet + − +, JUDGE − − −.
    """
    axes = np.eye(8)
    rows = {
        "he": axes[3] + 0.5 * axes[0],
        "she": axes[3] - 0.5 * axes[0],
        "man": axes[4] + 0.5 * axes[1],
        "woman": axes[4] - 0.5 * axes[1],
        "boy": axes[5] + 0.5 * axes[2],
        "girl": axes[5] - 0.5 * axes[2],
        "nurse": (-1, -1, -1),
        "surgeon": (1, 1, -1),
        "poet": (1, -1, -1),
        "judge": (1, 1, 1),
        "nurses": (1, -1, -1),
        "surgeons": (1, 1, -1),
        "Poet": (1, -1, 1),
        "JUDGE": (-1, -1, -1),
    }
    vectors = np.zeros((len(rows), 8))
    for place, row in enumerate(rows.values()):
        vectors[place, : len(row)] = row
        if len(row) == 3:
            vectors[place, 6:] = (1, 0.1 * place)
    return load((tuple(rows), vectors), name="planted")
