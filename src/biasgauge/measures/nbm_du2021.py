"""NBM as the released code of Du et al. computes it."""

from __future__ import annotations

from biasgauge.measures.dbwa import MEASURE as DBWA
from biasgauge.measures.kinds import Neighborhood

MEASURE = Neighborhood(
    name="nbm_du2021",
    summary=(
        "As nbm, but a neighbor exactly between the ends counts for the first (male) one, and the nearest vector is "
        "left out whoever it belongs to. Swapping the ends need not negate it."
    ),
    low=-1.0,
    high=1.0,
    source="released code of Du et al. 2021: k + 1 neighbors in the vocabulary, the first discarded, bias ≥ 0 is male",
    scale_invariant=True,
    word_scale_invariant=True,
    swap_negates=False,
    bias=DBWA,
    ties="first",
    self_exclusion="first-hit",
)
