"""Is a difference large enough to matter, too small to matter, or not known well enough?"""

from __future__ import annotations

from typing import Literal

Equivalence = Literal["different", "equivalent", "undecided"]


def decide_equivalence(low: float | None, high: float | None, margin: float) -> Equivalence | None:
    """What an interval says of the region [−margin, margin] of differences too small to matter; None without one.

    "different": it lies outside; "equivalent": it lies inside; "undecided": it does neither, more data are needed. For
    a confidence interval of level 1 − 2 × alpha, "equivalent" is the two one-sided tests procedure at alpha (Schuirmann
    1987); for a credible interval it is the rule of Kruschke, "Rejecting or accepting parameter values in Bayesian
    estimation", AMPPS 1 (2018).
    """
    if low is None or high is None:
        return None
    if low > margin or high < -margin:
        return "different"
    return "equivalent" if -margin <= low and high <= margin else "undecided"
