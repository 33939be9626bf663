"""NBM: neighborhood bias metric, by vote of the nearest neighbors; and as the released code of two papers has it."""

from __future__ import annotations

from dataclasses import replace

from biasgauge.metrics.dbwa import MEASURE as DBWA
from biasgauge.metrics.measure import Neighborhood

_CORRECTED = Neighborhood(
    name="nbm",
    display_name="NBM",
    summary=(
        "Among the word's k nearest neighbors by cosine: (those nearer to the first end − those nearer to the second) "
        "/ k. 0: as many on both sides. A neighbor exactly between the ends counts for neither. Undefined where the "
        "word or an end is missing or a zero vector, the ends are equal, or fewer than k neighbors exist."
    ),
    low=-1.0,
    high=1.0,
    source="Gonen and Goldberg 2019; Zhang et al. 2020; corrected so that swapping the ends negates the score",
    scale_invariant=True,
    word_scale_invariant=True,
    bias=DBWA,
)
_ZHANG2020 = replace(
    _CORRECTED,
    name="nbm_zhang2020",
    display_name="NBM (as in Zhang et al. 2020)",
    summary=(
        "As nbm, but a neighbor exactly between the ends counts for the first (male) one. Swapping the ends need not "
        "negate it. To be used with their pool of gender-neutral words."
    ),
    source="code of Zhang et al. 2020: 100 neighbors of 26,145 neutral words, not female is male, sign turned",
    swap_negates=False,
    ties="first",
)
_DU2021 = replace(
    _ZHANG2020,
    name="nbm_du2021",
    display_name="NBM (as in Du et al. 2021)",
    summary=(
        "As nbm, but a neighbor exactly between the ends counts for the first (male) one, and the nearest vector is "
        "left out whoever it belongs to. Swapping the ends need not negate it."
    ),
    source="released code of Du et al. 2021: k + 1 neighbors in the vocabulary, the first discarded, bias ≥ 0 is male",
    self_exclusion="first-hit",
)

MEASURE = (_CORRECTED, _DU2021, _ZHANG2020)
