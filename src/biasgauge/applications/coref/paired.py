"""Gaps between two versions of the same documents, such as pro- and anti-stereotypical sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.applications.coref.metrics import METRICS, RATES, conll_rates, rates
from biasgauge.arrays import Floats
from biasgauge.results import Column, Table
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.estimate import Estimate, LabeledEstimate
from biasgauge.stats.item_sums import SWAPPED, bootstrap_sums, estimate_of_sums, swapped_sums_p

PERCENT = 100
LINKED = "linked"
PAIRED = (*RATES, LINKED)
_UNDEFINED = {
    "precision": "nothing was found in the {side} sentences",
    "f1": "there is nothing in the {side} sentences",
}


@dataclass(frozen=True, kw_only=True)
class PairedGap(LabeledEstimate):
    """Difference of a rate between two versions of the same sentences, first − second, in percentage points.

    0 where both fare alike. Intervals say how far numbers would move with other pairs of sentences of the same kind.

    Attributes:
        of: which sentences.
        metric: "precision", "recall" and "f1" are means of MUC, B³ and CEAFφ4; "linked" is the share of gold links that
            were found, which, with one pair of mentions a sentence, is the share of sentences that were resolved.
        first, second: the rate in each version, from 0 to 100; None when undefined.
        p_value: chance of a gap at least as large, in either direction, if it did not matter which version is which.
        p_method: how it was found.
        n: pairs of sentences.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "gap"}
    intervals_of: ClassVar[tuple[str, ...]] = ("first", "second")

    of: str
    metric: str
    first: Estimate | None
    second: Estimate | None
    p_value: float | None = None
    p_method: str | None = None


def paired_table(gaps: Sequence[PairedGap], versions: tuple[str, str]) -> Table:
    """Rates of both versions, and their difference."""
    columns: list[Column | str] = ["sentences", "metric", *(Column(name, "estimate", 1) for name in versions)]
    columns += [Column(" − ".join(versions), "estimate", 1), Column("p", "p"), Column("pairs", "count")]
    rows = [(gap.of, gap.metric, gap.first, gap.second, gap, gap.p_value, gap.n) for gap in gaps]
    return Table.of("gaps", f"{versions[0]} − {versions[1]}, in percent", columns, rows)


def paired_headline(gaps: Sequence[PairedGap], versions: tuple[str, str]) -> str:
    """How many gaps are clear."""
    known = [gap for gap in gaps if gap.value is not None]
    clear = sum(gap.excludes() is True for gap in known)
    return f"{clear} of {len(known)} gaps {versions[0]} − {versions[1]} have an interval that excludes 0."


def paired_values(sums: Floats) -> Floats:
    """PAIRED (last axis), in percent, from sums of the shape (…, METRICS, SUMS)."""
    links = rates(sums[..., METRICS.index("muc"), :])[..., RATES.index("recall")]
    found: Floats = PERCENT * np.concatenate([conll_rates(sums), links[..., None]], axis=-1)
    return found


def paired_gaps(
    sums: Floats,
    of: str,
    names: tuple[str, str],
    how: Resampling,
    values: Callable[[Floats], Floats] = paired_values,
    metrics: tuple[str, ...] = PAIRED,
) -> list[PairedGap]:
    """Gaps in every metric.

    Args:
        sums: pairs × 2 versions × what each adds.
        of: which sentences they are.
        names: of the two versions.
        how: level, resamples, seed and method of the interval.
        values: from sums of the shape (…, …) to metrics (last axis), in percent, NaN where undefined.
        metrics: their names.
    """

    def gaps(both: Floats) -> Floats:
        return values(both[:, 0]) - values(both[:, 1])

    totals = sums.sum(axis=0)
    rows, without, drawn = (values(table) for table in (totals, totals - sums, bootstrap_sums(sums, how)))
    chances = swapped_sums_p(sums, gaps, how)
    over = "pairs of sentences"
    found = []
    for at, metric in enumerate(metrics):
        sides = [
            None
            if np.isnan(rows[side, at])
            else estimate_of_sums(float(rows[side, at]), drawn[:, side, at], without[:, side, at], how, over)
            for side in (0, 1)
        ]
        about: dict[str, Any] = {"of": of, "metric": metric, "first": sides[0], "second": sides[1], "n": len(sums)}
        if sides[0] is None or sides[1] is None:
            lacking = names[0] if sides[0] is None else names[1]
            reason = _UNDEFINED.get(metric, "there is nothing to find in the {side} sentences").format(side=lacking)
            found.append(PairedGap(value=None, reason=reason, **about))
            continue
        of_drawn, of_without = (table[:, 0, at] - table[:, 1, at] for table in (drawn, without))
        gap = estimate_of_sums(float(rows[0, at]) - float(rows[1, at]), of_drawn, of_without, how, over)
        found.append(PairedGap.of_estimate(gap, p_value=float(chances[at]), p_method=SWAPPED, **about))
    return found
