"""Intervals of posterior draws, narrowest (HPDI) and equal-tailed; decisions from intervals and from p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge.core import Estimate, Floats, Record, check_choice, check_number

IntervalKind = Literal["hpdi", "percentile"]
Equivalence = Literal["different", "equivalent", "undecided"]


@dataclass(frozen=True)
class Credible(Record):
    """Settings of a credible interval.

    Attributes:
        kind: "hpdi": the narrowest interval that holds the probability; "percentile": the same probability beyond
            either end, as in the published figures (whose captions say HPDI).
        prob: the probability inside.
    """

    renamed: ClassVar[Mapping[str, str]] = {"kind": "method", "prob": "level"}

    kind: IntervalKind = "hpdi"
    prob: float = 0.89

    def __post_init__(self) -> None:
        check_choice(get_args(IntervalKind), interval=self.kind)
        check_number(0, 1, ends=False, prob=self.prob)

    def ends(self, draws: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper ends; draws along the first axis."""
        if self.kind == "hpdi":
            return hpdi(draws, self.prob)
        low, high = np.quantile(draws, [(1 - self.prob) / 2, (1 + self.prob) / 2], axis=0)
        return low, high


def estimate_of_posterior(draws: Floats, credible: Credible = Credible(), **fields: Any) -> Estimate:  # noqa: ANN401, B008 - labels; frozen
    """Posterior mean with its credible interval, from draws of one number."""
    low, high = credible.ends(draws)
    return Estimate(
        value=float(draws.mean()), low=float(low), high=float(high), level=credible.prob, method=credible.kind,
        resamples=len(draws), **fields,
    )  # fmt: skip


def hpdi(draws: Floats, prob: float) -> tuple[Floats, Floats]:
    """Ends of the narrowest interval that holds a share `prob` of the draws, which run along the first axis.

    The lowest of several equally narrow ones. For a distribution with one peak it is the region of highest density.
    """
    return hpdis(draws, [prob])[0]


def hpdis(draws: Floats, probs: Sequence[float]) -> list[tuple[Floats, Floats]]:
    """Return `hpdi` for several shares; the draws are sorted once."""
    ordered = np.sort(np.ascontiguousarray(np.moveaxis(draws, 0, -1)), axis=-1)
    size = ordered.shape[-1]
    intervals = []
    for inside in (int(prob * size) for prob in probs):
        start = np.argmin(ordered[..., inside:] - ordered[..., : size - inside], axis=-1)[..., None]
        low, high = (np.take_along_axis(ordered, start + more, axis=-1)[..., 0] for more in (0, inside))
        intervals.append((low, high))
    return intervals


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
