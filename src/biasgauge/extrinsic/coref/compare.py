"""Does the gap of WinoBias differ between two embeddings? The same pairs of sentences, resolved by both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.extrinsic.coref.paired import PAIRED
from biasgauge.extrinsic.coref.resampling import bootstrap_sums, interval_of, swapped_p
from biasgauge.extrinsic.coref.task_summary import NOTHING, differences
from biasgauge.extrinsic.coref.winobias import VERSIONS
from biasgauge.extrinsic.gaps_result import GapChange

if TYPE_CHECKING:
    from biasgauge.extrinsic.coref.metrics import Floats
    from biasgauge.scores import Resampling

SWAPPED = "monte-carlo, the two embeddings of each pair of sentences swapped"


def compare_pairs(first: Floats, second: Floats, of: str, how: Resampling) -> list[GapChange]:
    """How each gap pro − anti differs: second − first.

    A pair of sentences is drawn again with what both embeddings made of it, so that what is hard about it for both
    cancels; for p it is left to chance which embedding made what of it.

    Args:
        first: what each pair adds with the one embedding: pairs × (pro, anti) × METRICS × SUMS.
        second: the same with the other.
        of: which sentences they are.
        how: level, resamples, seed and method of the interval.
    """

    def changes(sums: Floats) -> Floats:
        found: Floats = differences(sums[..., 1, :, :, :]) - differences(sums[..., 0, :, :, :])
        return found

    both = np.stack([first, second], axis=1)
    totals = both.sum(axis=0)
    gaps, drawn, without = differences(totals), changes(bootstrap_sums(both, how)), changes(totals - both)
    chances = swapped_p(both, changes, how)
    found = []
    for at, metric in enumerate(PAIRED):
        one, other = (None if np.isnan(gap) else float(gap) for gap in gaps[:, at])
        about: dict[str, Any] = {"metric": metric, "of": of, "a": VERSIONS[0], "b": VERSIONS[1]}
        about |= {"first": one, "second": other}
        if one is None or other is None:
            which = "first" if one is None else "second"
            reason = f"{NOTHING} by the {which} embedding"
            found.append(GapChange(**about, difference=None, interval=None, p_value=None, p_method=None, reason=reason))
            continue
        around = interval_of(other - one, drawn[:, at], without[:, at], how, "pairs of sentences")
        p = float(chances[at])
        found.append(GapChange(**about, difference=other - one, interval=around, p_value=p, p_method=SWAPPED))
    return found
