"""Gaps between two versions of the same documents, such as pro- and anti-stereotypical sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.applications.coref.metrics import METRICS, RATES, conll_rates, rates
from biasgauge.core import Estimate, Floats, LabeledEstimate
from biasgauge.results import Column, Table
from biasgauge.stats import SWAPPED, Resampling, estimates_of_sums, swapped_sums_p

PERCENT = 100
LINKED = "linked"
PAIRED = (*RATES, LINKED)
_UNDEFINED = {"precision": "nothing was found", "f1": "there is nothing"}


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
    columns = ["sentences", "metric", *(Column(name, "estimate", 1) for name in versions)]
    columns += [Column(" − ".join(versions), "estimate", 1), Column("p", "p"), Column("pairs", "count")]
    rows = [(gap.of, gap.metric, gap.first, gap.second, gap, gap.p_value, gap.n) for gap in gaps]
    return Table.of("gaps", f"{versions[0]} − {versions[1]}, in percent", columns, rows)


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
    """Gaps in every metric between two versions (`names`) of some sentences, from pairs × versions × what each adds.

    `values` makes metrics (last axis), in percent, of sums over pairs; NaN where undefined.
    """

    def gaps(both: Floats) -> Floats:
        return values(both[:, 0]) - values(both[:, 1])

    def numbers(both: Floats) -> Floats:
        first, second = np.moveaxis(values(both), -2, 0)
        return np.concatenate([first, second, first - second], axis=-1)

    reasons = [
        f"{_UNDEFINED.get(metric, 'there is nothing to find')} in the {name} sentences"
        for name in (*names, "")
        for metric in metrics
    ]
    estimates = estimates_of_sums(sums, numbers, how, "pairs of sentences", reasons)
    chances = swapped_sums_p(sums, gaps, how)
    size = len(metrics)
    firsts, seconds, differences = (estimates[start : start + size] for start in (0, size, 2 * size))
    rows = []
    for metric, first, second, gap, chance in zip(metrics, firsts, seconds, differences, chances, strict=True):
        sides = {"first": first if first.defined else None, "second": second if second.defined else None}
        about: dict[str, Any] = {"of": of, "metric": metric, **sides, "n": len(sums)}
        if gap.defined:
            rows.append(PairedGap.of_estimate(gap, p_value=float(chance), p_method=SWAPPED, **about))
        else:
            rows.append(PairedGap.of_estimate(second if first.defined else first, **about))
    return rows
