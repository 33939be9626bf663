"""Similarity of the pairs' difference vectors, and its correlation with their agreement on the direction of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.reliability import correlation, pair_name
from biasgauge.analyses.robustness.agreements import Agreement, Row
from biasgauge.analyses.robustness.forms import Pair
from biasgauge.core import Estimate, Fields, Floats, JsonMapping, unit_rows
from biasgauge.stats import jackknife_r
from biasgauge.vectors import Embedding

_LEAST = 4
"""Pairs that a jackknife of correlations takes."""


@dataclass(frozen=True)
class SimilarityAgreement(Row):
    """Pearson's r between the likeness of two pairs' difference vectors and the kappa of their directions.

    Attributes:
        measure: the measure that gives the directions.
        pair: the pair that is held against all others; None for every two pairs together.
        r: the correlation. Near 1: the more alike two pairs' vectors, the more they agree. As published, each pair is
            held against itself too (likeness 1, kappa 1), which pushes r up.
        p: two-sided p of r = 0 (Student's t); None for all pairs together, whose points are not independent.
        with_itself: the pair itself is one of the points, as published.
    """

    measure: str
    pair: Pair | None
    r: Estimate
    p: float | None
    with_itself: bool

    def derived(self) -> JsonMapping:
        """The name of the pair, and the number of points."""
        return {"pair": None if self.pair is None else pair_name(self.pair), "n": self.r.n}


def difference_cosines(model: Embedding, pairs: Sequence[Pair]) -> Floats:
    """Cosines between the pairs' difference vectors, pairs × pairs; ends of length 1. NaN where a pair has none."""
    differences = np.full((len(pairs), model.dim), np.nan)
    for index, ends in enumerate(pairs):
        if all(end in model for end in ends):
            first, second = unit_rows(np.stack([model[end].astype(np.float64) for end in ends]))
            differences[index] = first - second
    unit = unit_rows(differences)
    cosines: Floats = unit @ unit.T
    return cosines


def mean_cosine(cosines: Floats, *, with_itself: bool) -> float | None:
    """Mean likeness of two pairs; None with fewer than two pairs. As published each pair is compared with itself too.

    Between −1 and 1; about 0 for unrelated pairs.
    """
    defined = cosines[np.ix_(*2 * [~np.isnan(np.diag(cosines))])]
    if len(defined) < 2:
        return None
    return float(defined.mean() if with_itself else defined[~np.eye(len(defined), dtype=bool)].mean())


def likeness_and_agreement(
    cosines: Floats, rows: Sequence[Agreement], pairs: Sequence[Pair], level: float, *, with_itself: bool
) -> tuple[SimilarityAgreement, ...]:
    """For each measure: each pair against the others, then every two pairs together.

    Args:
        cosines: pairs × pairs.
        rows: agreement of every two pairs.
        pairs: in the order of `cosines`.
        level: nominal coverage of the intervals.
        with_itself: hold each pair against itself too, as published.
    """
    index = {pair_name(pair): number for number, pair in enumerate(pairs)}
    correlations: list[SimilarityAgreement] = []
    for measure in dict.fromkeys(row.measure for row in rows):
        kappas = np.full(cosines.shape, np.nan)
        for row in rows:
            if row.measure == measure and row.kappa.value is not None:
                first, second = index[pair_name(row.pair)], index[row.against]
                kappas[first, second] = kappas[second, first] = row.kappa.value
        if with_itself:
            np.fill_diagonal(kappas, np.where(np.isnan(np.diag(cosines)), np.nan, 1))
        for number, pair in enumerate(pairs):
            fit = correlation(cosines[number], kappas[number], level, of="pair", a="cosine", b="kappa", list=None)
            r = Estimate(
                statistic="Pearson's r", value=fit.value, low=fit.low, high=fit.high, level=level, method=fit.method,
                n=fit.n, k=2, reason=fit.reason,
            )  # fmt: skip
            correlations.append(SimilarityAgreement(measure, pair, r, fit.p, with_itself))
        correlations.append(SimilarityAgreement(measure, None, _all_pairs(cosines, kappas, level), None, with_itself))
    return tuple(correlations)


def _all_pairs(cosines: Floats, kappas: Floats, level: float) -> Estimate:
    """Every two pairs together; the interval leaves out one pair at a time, since two points may share one."""
    defined = np.triu(~(np.isnan(kappas) | np.isnan(cosines)), 1)
    usable = np.flatnonzero((defined | defined.T).any(axis=1))
    units = len(usable)
    method = "jackknife over pairs (Fisher's z, Student's t)"
    labels: Fields = {"statistic": "Pearson's r", "method": method, "n": int(defined.sum()), "k": units}
    value = _pearson(cosines[defined], kappas[defined])
    if value is None:
        reason = "fewer than three pairs, or one of the two does not vary"
        return Estimate(value=None, level=level, reason=reason, **labels)
    if units < _LEAST:
        return Estimate(value=value, level=level, reason=f"an interval takes at least {_LEAST} pairs", **labels)
    left_out = []
    for unit in usable:
        remaining = defined.copy()
        remaining[unit], remaining[:, unit] = False, False
        left_out.append(_pearson(cosines[remaining], kappas[remaining]))
    return jackknife_r(value, np.array(left_out, np.float64), level, "pair", **labels)  # None becomes NaN


def _pearson(x: Floats, y: Floats) -> float | None:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
