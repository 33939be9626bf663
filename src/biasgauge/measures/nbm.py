"""NBM: neighborhood bias metric, by vote of the nearest neighbors."""

from __future__ import annotations

from biasgauge.measures.dbwa import MEASURE as DBWA
from biasgauge.measures.kinds import Neighborhood

MEASURE = Neighborhood(
    name="nbm",
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
