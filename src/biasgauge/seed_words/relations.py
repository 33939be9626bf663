"""How properties of pairs of seed sets go together, over many pairs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.stats.fisher import fisher_interval

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = tuple(
    (x, y)
    for y in ("coherence", "coherence_held_out", "first_share")
    for x in ("similarity", "overlap", "size_balance", "frequency_imbalance", "pos_balance")
)
FEWEST = 4
"""Pairs below which a correlation has no interval."""
LEVEL = 0.95


@dataclass(frozen=True)
class Relation:
    """Spearman's rank correlation of two columns over pairs of sets.

    Attributes:
        of: "gathered" or "generated" sets.
        x, y: the columns; `frequency_imbalance` is the distance of the frequency balance from .5.
        rho: −1 to 1; negative: the larger x, the smaller y; None when undefined.
        low, high: its interval, from Fisher's z with the standard error of Bonett & Wright 2000. Pairs share sets, so
            it is narrower than it should be.
        n: pairs in which both are defined.
        reason: why it is undefined.
    """

    of: str
    x: str
    y: str
    rho: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**asdict(self), "level": LEVEL, "method": "Fisher z (Bonett & Wright 2000)"}


def relations(frame: pd.DataFrame, of: str) -> tuple[Relation, ...]:
    """Every relation between the properties that the frame has."""
    if "frequency_balance" in frame:
        frame = frame.assign(frequency_imbalance=(frame["frequency_balance"].astype(float) - 0.5).abs())
    return tuple(_relation(of, x, y, frame) for x, y in BETWEEN if x in frame and y in frame and frame[x].notna().any())


def _relation(of: str, x: str, y: str, frame: pd.DataFrame) -> Relation:
    both = frame[[x, y]].astype(float).dropna().to_numpy()
    if len(both) < FEWEST:
        return Relation(of, x, y, None, None, None, len(both), f"fewer than {FEWEST} pairs of sets")
    if np.ptp(both, axis=0).min() == 0:
        return Relation(of, x, y, None, None, None, len(both), "one of the two does not vary")
    from scipy.stats import spearmanr

    rho = float(spearmanr(both[:, 0], both[:, 1]).statistic)
    around = fisher_interval(rho, len(both), level=LEVEL, kind="spearman", over="pairs of sets")
    return Relation(of, x, y, rho, around.low, around.high, len(both), around.reason)
