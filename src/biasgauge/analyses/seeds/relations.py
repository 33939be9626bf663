"""Correlations between properties of pairs of seed sets, over many pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.core import Estimate
from biasgauge.stats import LEAST, correlation, fisher_interval

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = tuple(
    (x, y)
    for y in ("coherence", "coherence_held_out", "first_share")
    for x in ("similarity", "overlap", "size_balance", "frequency_imbalance", "pos_balance")
)


@dataclass(frozen=True, kw_only=True)
class Relation(Estimate):
    """Spearman's rank correlation of two columns over pairs of sets, in which both are defined.

    Its value is −1 to 1; negative: the larger x, the smaller y. Pairs share sets, so that its interval is narrower than
    it should be.

    Attributes:
        of: "gathered" or "generated" sets.
        x, y: the columns; `frequency_imbalance` is the distance of the frequency balance from .5.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "rho"}

    of: str
    x: str
    y: str
    method: str = "Fisher z (Bonett & Wright 2000)"


def relations(frame: pd.DataFrame, origin: str) -> tuple[Relation, ...]:
    """Every relation between the properties that the frame has."""
    if "frequency_balance" in frame:
        frame = frame.assign(frequency_imbalance=(frame["frequency_balance"].astype(float) - 0.5).abs())
    return tuple(
        _relation(origin, x, y, frame) for x, y in BETWEEN if x in frame and y in frame and frame[x].notna().any()
    )


def _relation(origin: str, x: str, y: str, frame: pd.DataFrame) -> Relation:
    both = frame[[x, y]].astype(float).dropna().to_numpy()
    relation = Relation(of=origin, x=x, y=y, value=None, n=len(both))
    if len(both) < LEAST:
        return replace(relation, reason=f"fewer than {LEAST} pairs of sets")
    if np.ptp(both, axis=0).min() == 0:
        return replace(relation, reason="one of the two does not vary")
    rho = float(correlation("spearman", both[:, 0], both[:, 1])[0])
    interval = fisher_interval(rho, len(both), kind="spearman", over="pairs of sets")
    return replace(relation, value=rho, low=interval.low, high=interval.high, reason=interval.reason)
