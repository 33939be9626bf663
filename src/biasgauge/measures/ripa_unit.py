"""RIPA with the word's vector of length 1, as the code of Du et al. computed it."""

from __future__ import annotations

from biasgauge.measures.kinds import Linear
from biasgauge.measures.ripa import direction

MEASURE = Linear(
    name="ripa_unit",
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
