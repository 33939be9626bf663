"""How neighbors vote, at the edge of rounding."""

from __future__ import annotations

import numpy as np

from biasgauge.metrics.nbm import MEASURE


def test_votes_follow_signs_and_what_is_rounding_is_a_tie() -> None:
    corrected, _, ties_to_the_first = MEASURE
    bias = np.array([0.3, -0.2, 0.0, -0.0, 9e-13, -9e-13, 1e-12, -1e-12])
    assert corrected.votes(bias).tolist() == [1, -1, 0, 0, 0, 0, 1, -1]
    assert ties_to_the_first.votes(bias).tolist() == [1, -1, 1, 1, 1, 1, 1, -1]
