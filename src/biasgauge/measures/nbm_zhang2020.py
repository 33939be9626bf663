"""NBM as the released code of Zhang et al. computes it."""

from __future__ import annotations

from biasgauge.measures.dbwa import MEASURE as DBWA
from biasgauge.measures.kinds import Neighborhood

MEASURE = Neighborhood(
    name="nbm_zhang2020",
    summary=(
        "As nbm, but a neighbor exactly between the ends counts for the first (male) one. Swapping the ends need not "
        "negate it. To be used with their pool of gender-neutral words."
    ),
    low=-1.0,
    high=1.0,
    source="code of Zhang et al. 2020: 100 neighbors of 26,145 neutral words, not female is male, sign turned",
    scale_invariant=True,
    word_scale_invariant=True,
    swap_negates=False,
    bias=DBWA,
    ties="first",
)
