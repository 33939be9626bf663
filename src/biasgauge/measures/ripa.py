"""RIPA: relational inner product association, with the word's vector as it is."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from biasgauge.geometry import unit_rows
from biasgauge.measures.kinds import Linear


def direction(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difference of the two ends as they are, then of length 1; none where an end is zero or both are equal."""
    found = unit_rows(first - second)
    found[~(first.any(axis=1) & second.any(axis=1))] = np.nan
    return found


MEASURE = Linear(
    name="ripa",
    summary=(
        "Length of the word's vector along the direction from the second end to the first. 0: no component along it. "
        "Grows with the word's length, which goes with its frequency. Undefined where the word or an end is missing or "
        "a zero vector, or the ends are equal."
    ),
    low=-inf,
    high=inf,
    source="Ethayarajh et al. 2019, definition 2; Zhang et al. 2020",
    scale_invariant=False,
    word_scale_invariant=False,
    direction=direction,
    per_length=False,
)
