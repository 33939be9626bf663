"""Pearson's and Spearman's correlation of points, with Fisher's interval or a bootstrap over points or units.

r = Σ w dx dy / √(Σ w dx² · Σ w dy²), dx and dy being deviations from the weighted means, and Spearman's is r of the
mid-ranks. The weights w say how often each point is drawn, so that a bootstrap is one vectorized computation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal, Self

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from biasgauge.core import Estimate, Fields, Floats, JsonMapping, JsonObject, LabeledEstimate, Places, joined
from biasgauge.stats.bootstrap import Resampling, blocks, draw_counts, estimate_from_draws, left_out_counts
from biasgauge.stats.numerics import SAME
from biasgauge.stats.power import FEWEST

Kind = Literal["pearson", "spearman"]

METHODS: dict[Kind, str] = {"pearson": "fisher-z", "spearman": "fisher-z, bonett-wright"}
LEAST = 4
"""Points below which there is no interval: the variance is 1 / (n − 3)."""
PERFECT = 1 - 1e-12
_FLAT = 1e-14
"""A variance below this share of the mean square of a column is rounding."""
_CELLS = 2_000_000
"""Weights held at a time: bounds the memory; results do not depend on it."""
_MOST_LEFT_OUT = 2_000
"""Units up to which each is left out in turn for BCa; with more, BCa and percentile hardly differ."""
_EXACT = 8
"""Points up to which Spearman's p goes through all orders."""
SHUFFLES = 9_999
_FEW_UNITS = 7
"""Units up to which all their orders (7! = 5,040) are fewer than the shuffles."""


@dataclass(frozen=True, kw_only=True)
class Coefficient(LabeledEstimate):
    """A correlation, from −1 to 1, with its bootstrap interval over points, or over units where points share them.

    Attributes:
        fisher: the same with Fisher's interval (Spearman: with the variance of Bonett & Wright 2000).
        p: two-sided, of no correlation.
        p_method: how it was found.
        p_reason: why it is undefined where the correlation is not.
    """

    fisher: Estimate | None = None
    p: float | None = None
    p_method: str | None = None
    p_reason: str | None = None

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        fisher = None if self.fisher is None else self.fisher.interval()
        return {**shape, "fisher": fisher, "reason": shape["reason"] or self.p_reason}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The coefficient of which `to_dict` made `content`."""
        return super().from_dict({**content, "fisher": joined(content, "value", "fisher")})


def weighted_r(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r for each row of weights (how often each point counts); NaN where x or y does not vary.

    x and y are one row for all, or have a row for each row of weights.
    """
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx = x - (weights * x).sum(axis=1, keepdims=True) / total
        dy = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx, yy = (weights * dx * dx).sum(axis=1), (weights * dy * dy).sum(axis=1)
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
        flat = (xx <= _FLAT * (weights * x * x).sum(axis=1)) | (yy <= _FLAT * (weights * y * y).sum(axis=1))
    return np.where(flat | ~np.isfinite(r), np.nan, np.clip(r, -1, 1))


def weighted_ranks(values: Floats, weights: Floats, tolerance: float = 0.0) -> Floats:
    """Mid-rank of each point among those drawn, for each row of weights; equal values share their mean rank.

    Args:
        values: one number per point, or a row of them for each row of weights.
        weights: how often each point is drawn, draws × points.
        tolerance: neighbors in order that differ by no more than this are equal.
    """
    if values.ndim == 1 and not tolerance:  # one order for all draws: sum the weights of each distinct value
        _, codes = np.unique(values, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        heights = np.add.reduceat(weights[:, order], starts, axis=1)
        middle: Floats = np.cumsum(heights, axis=1) - heights / 2 + 0.5
        return middle[:, codes]
    rows = np.broadcast_to(values, weights.shape)
    order = np.argsort(rows, axis=1, kind="stable")
    opens = np.diff(np.take_along_axis(rows, order, axis=1), axis=1, prepend=-np.inf) > tolerance
    closes = np.roll(opens, -1, axis=1)
    ordered = np.take_along_axis(weights, order, axis=1)
    until = np.cumsum(ordered, axis=1)
    # Ranks of a run of ties: after all points before its first one, up to its last one.
    first = np.maximum.accumulate(np.where(opens, until - ordered, 0), axis=1)
    last = np.minimum.accumulate(np.where(closes, until, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(until)
    np.put_along_axis(ranks, order, (first + last + 1) / 2, axis=1)
    return ranks


def correlation(kind: Kind, x: Floats, y: Floats, weights: Floats | None = None) -> Floats:
    """Correlation for each row of weights, or of the points as they are; NaN where undefined."""
    rows = np.ones((1, len(x))) if weights is None else weights
    if kind == "spearman":
        return weighted_r(weighted_ranks(x, rows), weighted_ranks(y, rows), rows)
    return weighted_r(x - x.mean(), y - y.mean(), rows)


def why_undefined(x: Floats, y: Floats, names: tuple[str, str]) -> str | None:
    """Return the reason why points have no correlation; None if they have one."""
    if len(x) < FEWEST:
        return f"a correlation takes {FEWEST} points or more, and there {'is' if len(x) == 1 else 'are'} {len(x)}"
    for values, name in ((x, names[0]), (y, names[1])):
        if np.ptp(values) <= SAME * np.abs(values).max():
            return f"{name!r} is the same in all {len(x)} points"
    return None


def coefficient(kind: Kind, x: Floats, y: Floats, units: Places | None, how: Resampling) -> Coefficient:
    """Correlation of points that have one (`why_undefined`), with its intervals and p.

    Args:
        kind: "pearson" or "spearman".
        x: one number per point.
        y: the second number of each point.
        units: the unit of each point (0, 1, …), if points share them; whole units are drawn again and shuffled.
        how: settings of the bootstrap.
    """
    value = float(correlation(kind, x, y)[0])
    codes = np.arange(len(x)) if units is None else units
    number = int(codes.max()) + 1
    over = "points" if units is None else "units"
    estimate = bootstrap_correlation(lambda weights: correlation(kind, x, y, weights), value, codes, how, over)
    p, p_method = _p(kind, value, x, y) if units is None else _unit_p(kind, value, x, y, units, how.random_state)
    return Coefficient.of_estimate(
        estimate,
        n=len(x),
        fisher=fisher_interval(value, number, level=how.level, kind=kind),
        p=p,
        p_method=None if p is None else p_method,
        p_reason=p_method if p is None else None,
    )


def bootstrap_correlation(
    statistic: Callable[[Floats], Floats], value: float, codes: Places, how: Resampling, over: str
) -> Estimate:
    """Bootstrap interval of a function of weights over units; `codes` holds the unit of each point."""
    number = int(codes.max()) + 1
    random = np.random.default_rng([how.random_state, 0])
    sizes = blocks(how.resamples, len(codes), _CELLS)
    drawn = [statistic(draw_counts(random, number, draws)[:, codes]) for draws in sizes]

    def left_out() -> list[Floats]:
        rows = max(1, _CELLS // len(codes))
        return [np.concatenate([statistic(counts[:, codes]) for counts in left_out_counts(number, rows)])]

    if number > _MOST_LEFT_OUT:
        how = replace(how, method="percentile")
    return estimate_from_draws(value, np.concatenate(drawn), left_out, how, over)


def correlation_estimate(
    x: Floats, y: Floats, *, kind: Kind = "pearson", level: float = 0.95, over: str = "points"
) -> Estimate:
    """Correlation of independent points with Fisher's interval; points that lack a number are left out.

    From −1 to 1; 0: no linear (Spearman: monotone) relation. Undefined, with a reason, with fewer than three points or
    when one of the two does not vary.
    """
    both = np.isfinite(x) & np.isfinite(y)
    reason = why_undefined(x[both], y[both], ("x", "y"))
    if reason is not None:
        return Estimate(
            value=None, level=level, method=METHODS[kind], over=over, n=int(both.sum()), reason=reason, statistic=kind
        )
    value = float(correlation(kind, x[both], y[both])[0])
    return replace(fisher_interval(value, int(both.sum()), level=level, kind=kind, over=over), statistic=kind)


def t_p(r: float, df: int) -> float:
    """Two-sided p of r by Student's t."""
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(df, -abs(r) * (df / (1 - r**2)) ** 0.5))


def _p(kind: Kind, value: float, x: Floats, y: Floats) -> tuple[float, str]:
    n = len(x)
    if kind == "pearson":
        return t_p(value, n - 2), "t"
    if n > _EXACT:
        return t_p(value, n - 2), "t, approximate"
    once = np.ones((1, n))
    ranks = weighted_ranks(y, once)[0]
    null = weighted_r(weighted_ranks(x, once), ranks[np.array(list(permutations(range(n))))], once)
    return float((np.abs(null) >= abs(value) - SAME).mean()), "exact, all orders"


def _unit_p(
    kind: Kind, value: float, x: Floats, y: Floats, units: Places, random_state: int
) -> tuple[float | None, str]:
    """P by shuffling y over units, in all orders where they are few; (None, reason) where a unit has no single y."""
    number = int(units.max()) + 1
    y_of_unit = np.full(number, np.nan)
    y_of_unit[units] = y
    if (y_of_unit[units] != y).any():
        return None, "y differs within units, so that it cannot be shuffled over them; the interval draws whole units"
    if number < FEWEST:
        return None, f"there are only {number} units to shuffle y over"
    once = np.ones((1, len(y)))
    left = weighted_ranks(x, once) if kind == "spearman" else x - x.mean()
    y_of_unit[units] = weighted_ranks(y, once)[0] if kind == "spearman" else y - y.mean()
    if number <= _FEW_UNITS:
        orders = y_of_unit[np.array(list(permutations(range(number))))][:, units]
        return float((np.abs(weighted_r(left, orders, once)) >= abs(value) - SAME).mean()), "exact, all orders of units"
    random = np.random.default_rng([random_state, 1])
    extreme = 0
    for draws in blocks(SHUFFLES, len(y), _CELLS):
        shuffled = random.permuted(np.repeat(y_of_unit[None], draws, axis=0), axis=1)[:, units]
        extreme += int((np.abs(weighted_r(left, shuffled, once)) >= abs(value) - SAME).sum())
    return (1 + extreme) / (1 + SHUFFLES), "monte-carlo, y shuffled over units"


def fisher_interval(
    value: float | None, n: int, *, level: float = 0.95, kind: Kind = "pearson", over: str = "points"
) -> Estimate:
    """Correlation of `n` independent points with Fisher's interval, tanh(atanh r ± z √(v / (n − 3))).

    v is 1 for Pearson's r and 1 + r²/2 for Spearman's (Bonett & Wright, *Psychometrika* 65, 2000). The interval is
    undefined, with a reason, for fewer than four points and for a perfect correlation, whose atanh is infinite.

    Args:
        value: the correlation; None when it is undefined.
        n: independent points.
        level: nominal coverage.
        kind: which correlation it is.
        over: name of the points.
    """
    fields: Fields = {"level": level, "method": METHODS[kind], "over": over, "n": n}
    if value is None:
        return Estimate(value=None, reason="there is no correlation", **fields)
    if n < LEAST:
        return Estimate(value=value, reason=f"an interval takes at least {LEAST} {over}", **fields)
    if abs(value) >= PERFECT:
        return Estimate(value=value, reason="the correlation is perfect", **fields)
    spread = ((1 + value**2 / 2 if kind == "spearman" else 1) / (n - 3)) ** 0.5
    margin = float(ndtri((1 + level) / 2)) * spread
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin])).tolist()
    return Estimate(value=value, low=low, high=high, **fields)


def jackknife_r(
    value: float,
    left_out: Floats,
    level: float,
    unit: str = "unit",
    **fields: Any,  # noqa: ANN401 - statistic, n, k
) -> Estimate:
    """Pearson's r with a jackknife interval over units, where a unit has a part in several points.

    tanh(atanh r ± t √((m − 1)/m · Σ (zᵢ − z̄)²)), zᵢ being atanh r without unit i of m, Student's t with m − 1 degrees
    of freedom. The interval is undefined where r is ±1, or undefined, without some unit.

    Args:
        value: the correlation.
        left_out: the correlation without each unit, NaN where it is undefined.
        level: nominal coverage.
        unit: name of a unit.
        fields: further fields of the estimate.
    """
    estimate = Estimate(value=value, level=level, **fields)
    if not (np.abs(np.append(left_out, value)) < 1).all():
        return replace(estimate, reason=f"r is ±1, or undefined, without some {unit}")
    units, z = len(left_out), np.arctanh(left_out)
    spread = float(((units - 1) / units * ((z - z.mean()) ** 2).sum()) ** 0.5)
    margin = float(stdtrit(units - 1, (1 + level) / 2)) * spread
    low, high = np.tanh([np.arctanh(value) - margin, np.arctanh(value) + margin]).tolist()
    return replace(estimate, low=low, high=high)


def correlations_differ(
    first: float, second: float, between: float, pairs: int, level: float, kind: Kind = "spearman"
) -> Estimate:
    """Difference r₁ − r₂ of two correlations with the same third variable on the same pairs, with its interval.

    With (l₁, u₁), (l₂, u₂) the intervals of the two and c the correlation of r₁ with r₂, the lower end is
    r₁ − r₂ − √((r₁ − l₁)² + (u₂ − r₂)² − 2c (r₁ − l₁)(u₂ − r₂)), the upper end likewise. Source: Zou, "Toward using
    confidence intervals to compare correlations", *Psychological Methods* 12 (2007), overlapping correlations.
    Undefined where one of the two has no interval.

    Args:
        first: correlation of the first variable with the third.
        second: of the second.
        between: correlation of the first variable with the second.
        pairs: number of pairs.
        level: nominal coverage.
        kind: which correlations these are.
    """
    options: Fields = {"level": level, "kind": kind, "over": "word pairs"}
    r1, r2 = (fisher_interval(value, pairs, **options) for value in (first, second))
    fields: Fields = {"value": first - second, "level": level, "method": "zou-2007", "over": "word pairs", "n": pairs}
    if r1.low is None or r1.high is None or r2.low is None or r2.high is None:
        return Estimate(reason=r1.reason or r2.reason, **fields)
    covariance = (between - first * second / 2) * (1 - first**2 - second**2 - between**2) + between**3
    c = float(np.clip(covariance / ((1 - first**2) * (1 - second**2)), -1, 1))
    low, high = (
        first - second + sign * max(a**2 + b**2 - 2 * c * a * b, 0.0) ** 0.5
        for sign, a, b in ((-1, first - r1.low, r2.high - second), (1, r1.high - first, second - r2.low))
    )
    return Estimate(low=low, high=high, **fields)
