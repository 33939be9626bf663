"""Decisions from p-values and intervals: Holm's adjustment for several tests, equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values so that the chance of any false rejection stays at alpha (Holm 1979).

    The k-th smallest of m becomes the running maximum of min(1, (m − k + 1) p). Never below the unadjusted p, at most
    1. Undefined ones stay undefined and do not count.
    """
    ordered = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - rank) * p))
        adjusted[index] = largest
    return adjusted


Equivalence = Literal["different", "equivalent", "undecided"]


def decide_equivalence(low: float | None, high: float | None, margin: float) -> Equivalence | None:
    """Compare an interval with the region [−margin, margin] of differences too small to matter; None without one.

    "different": it lies outside; "equivalent": it lies inside; "undecided": it overlaps, more data are needed. For
    a confidence interval of level 1 − 2 × alpha, "equivalent" is the two one-sided tests procedure at alpha (Schuirmann
    1987); for a credible interval it is the rule of Kruschke, "Rejecting or accepting parameter values in Bayesian
    estimation", AMPPS 1 (2018).
    """
    if low is None or high is None:
        return None
    if low > margin or high < -margin:
        return "different"
    return "equivalent" if -margin <= low and high <= margin else "undecided"
