"""Intervals of posterior draws: the narrowest one (HPDI) and the equal-tailed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge.core import Estimate, Floats, Record, check_choice, check_number

IntervalKind = Literal["hpdi", "percentile"]


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
