"""RIPA: relational inner product association, with the word's vector as it is, or of length 1."""

from __future__ import annotations

from math import inf

import numpy as np

from biasgauge.core import Floats, unit_rows
from biasgauge.metrics.kinds import Linear


def direction(first: Floats, second: Floats) -> Floats:
    """Difference of the two ends as they are, then of length 1; none where an end is zero or both are equal."""
    directions = unit_rows(first - second)
    directions[~(first.any(axis=1) & second.any(axis=1))] = np.nan
    return directions


_RAW = Linear(
    name="ripa",
    display_name="RIPA",
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
_UNIT = Linear(
    name="ripa_unit",
    display_name="RIPA (unit length)",
    summary=(
        "Cosine of the word with the direction from the second end to the first. 0: at right angles. Undefined where "
        "the word or an end is missing or a zero vector, or the ends are equal."
    ),
    low=-1.0,
    high=1.0,
    source="released code of Du et al. 2021; their text, like Ethayarajh et al. 2019, has the raw word vector (ripa)",
    scale_invariant=True,
    word_scale_invariant=True,
    direction=direction,
    per_length=True,
)

MEASURE = (_RAW, _UNIT)
