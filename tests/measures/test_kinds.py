"""How neighbors vote, at the edge of rounding."""

from __future__ import annotations

import numpy as np

from biasgauge.measures.nbm import MEASURE as NBM
from biasgauge.measures.nbm_zhang2020 import MEASURE as TIES_TO_THE_FIRST


def test_votes_follow_signs_and_what_is_rounding_is_a_tie() -> None:
    bias = np.array([0.3, -0.2, 0.0, -0.0, 9e-13, -9e-13, 1e-12, -1e-12])
    assert NBM.votes(bias).tolist() == [1, -1, 0, 0, 0, 0, 1, -1]
    assert TIES_TO_THE_FIRST.votes(bias).tolist() == [1, -1, 1, 1, 1, 1, 1, -1]
