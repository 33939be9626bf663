"""Distributions of reliabilities: one line for each list, measure and kind, as a box plot would show it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from biasgauge.agreement.bands import ACCEPTABLE, LIMITS, alpha_bands, bands
from biasgauge.agreement.rows import PAIRS, RULE, Rows
from biasgauge.agreement.untrusted import whisker


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """How the reliabilities of one kind are distributed.

    Attributes:
        reliability: "test_retest", "inter_rater", "inter_rater_standardized" or "internal".
        of, measure, list: as in `Rows`.
        count: how many are defined.
        undefined: how many are not.
        p05, q1, median, q3, p95: quantiles at 5, 25, 50, 75 and 95 %; None when none is defined.
        below: how many are below .5 (ICCs) or .7 (alpha).
        outliers: how many are below the lower whisker of the box plot.
    """

    reliability: str
    of: str
    measure: str | None
    list: str | None
    count: int
    undefined: int
    p05: float | None
    q1: float | None
    median: float | None
    q3: float | None
    p95: float | None
    below: int
    outliers: int

    @property
    def band(self) -> str | None:
        """Band of the median, after Koo & Li for ICCs and Nunnally for alpha; None without one."""
        if self.median is None:
            return None
        judge = alpha_bands if self.reliability == "internal" else bands
        return str(judge(np.array([self.median]))[0])

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**asdict(self), "band": self.band}


def summarize(rows: Rows, reliability: str) -> tuple[Distribution, ...]:
    """One summary for each kind, measure and list, in the order of the rows.

    None for what is one of its kind (a measure, all pairs) or in no list.
    """
    limit = LIMITS[0] if rows.statistic.startswith("ICC") else ACCEPTABLE
    found = []
    for of, measure, within in dict.fromkeys(zip(rows.of, rows.measure, rows.list, strict=True)):
        if of in {RULE, PAIRS} or within is None:
            continue
        mask = (rows.of == of) & (rows.measure == measure) & (rows.list == within)
        values = rows.value[mask]
        values = values[~np.isnan(values)]
        quantiles: list[float | None] = [None] * 5
        if len(values):
            quantiles = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
        p05, q1, median, q3, p95 = quantiles
        found.append(
            Distribution(
                reliability=reliability,
                of=of,
                measure=measure,
                list=within,
                count=len(values),
                undefined=int(mask.sum()) - len(values),
                p05=p05,
                q1=q1,
                median=median,
                q3=q3,
                p95=p95,
                below=int((values < limit).sum()),
                outliers=int((values < whisker(values)).sum()) if len(values) else 0,
            )
        )
    return tuple(found)
