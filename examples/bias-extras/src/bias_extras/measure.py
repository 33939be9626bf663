"""A measure that is neither linear nor by neighbors: how much nearer a word is to the first end, by distance."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.metrics import Measure

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats


class Distance(Measure):
    """Distance to the second end less distance to the first."""

    def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:
        """Pairs × words."""
        to_first, to_second = (np.linalg.norm(words - ends[:, None], axis=2) for ends in (first, second))
        return np.asarray(to_second - to_first)


MEASURE = Distance(
    name="distance",
    summary="|word − second| − |word − first|. 0: equally far. Undefined where the word or an end is missing.",
    low=-inf,
    high=inf,
    source="textbook",
    scale_invariant=False,
    word_scale_invariant=False,
)
