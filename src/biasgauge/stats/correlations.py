"""Correlations and slopes of points, with Fisher's interval or a bootstrap over points or units; corrected for error.

r = Σ w dx dy / √(Σ w dx² · Σ w dy²), dx and dy being deviations from the weighted means, and Spearman's is r of the
mid-ranks. The weights w say how often each point is drawn, so that a bootstrap is one vectorized computation. An
observed correlation is the true one times √reliability (Spearman 1904). The reliability is itself measured on the same
subjects: subjects are drawn again, and both are computed in every draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal, Self

import numpy as np
from scipy.special import stdtr

from biasgauge.core import Estimate, Fields, Floats, JsonMapping, JsonObject, LabeledEstimate, Places, joined
from biasgauge.stats.bootstrap import Resampling, blocks, draw_counts, estimate_from_draws, left_out_counts
from biasgauge.stats.numerics import SAME, normal_quantile, student_quantile
from biasgauge.stats.power import FEWEST

Kind = Literal["pearson", "spearman"]

METHODS: dict[Kind, str] = {"pearson": "fisher-z", "spearman": "fisher-z, bonett-wright"}
LEAST = 4
"""Points below which there is no interval: the variance is 1 / (n − 3)."""
PERFECT = 1 - 1e-12
_FLAT = 1e-14  # a variance below this share of the mean square of a column is rounding
_CELLS = 2_000_000  # weights held at a time: bounds the memory; results do not depend on it
_MOST_LEFT_OUT = 2_000
"""Units up to which each is left out in turn for BCa; with more, BCa and percentile hardly differ."""
_EXACT = 8  # points up to which Spearman's p goes through all orders
SHUFFLES = 9_999
NO_SIGNAL = "the first number varies no more than by its own error"
CORRECTED = "r / √reliability"
_FEW_UNITS = 7  # units up to which all their orders (7! = 5,040) are fewer than the shuffles


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
    """Pearson's r, Σ w dx dy / √(Σ w dx² Σ w dy²), for each row of weights; NaN where x or y does not vary.

    A weight is how often a point counts; dx and dy are deviations from the weighted means.

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

    `values` is one number per point, or a row of them for each row of weights (draws × points); neighbors in order that
    differ by no more than `tolerance` are equal.
    """
    if values.ndim == 1 and not tolerance:  # one order for all draws: sum the weights of each distinct value
        _, codes = np.unique(values, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        # A tie of weight h after points of total weight c holds the ranks c + 1 … c + h, whose mean is c + h/2 + 1/2.
        tie_weights = np.add.reduceat(weights[:, order], starts, axis=1)
        mid_ranks: Floats = np.cumsum(tie_weights, axis=1) - tie_weights / 2 + 0.5
        return mid_ranks[:, codes]
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


def coefficient(
    kind: Kind, x: Floats, y: Floats, units: Places | None, how: Resampling, *, cells: int = _CELLS
) -> Coefficient:
    """Correlation of points that have one (`why_undefined`), with its intervals and p.

    `units` has the unit of each point (0, 1, …) if points share them; whole units are then drawn again and shuffled.
    About `cells` weights are held at a time; the result does not depend on it.
    """
    value = float(correlation(kind, x, y)[0])
    codes = np.arange(len(x)) if units is None else units
    number = int(codes.max()) + 1
    over = "points" if units is None else "units"
    estimate = bootstrap_correlation(lambda weights: correlation(kind, x, y, weights), value, codes, how, over, cells)
    p, p_method = _p(kind, value, x, y) if units is None else _unit_p(kind, value, x, y, units, how.random_state, cells)
    fields: Fields = {"p": p, "p_method": p_method} if p is not None else {"p_reason": p_method}
    fisher = fisher_interval(value, number, level=how.level, kind=kind)
    return Coefficient.of_estimate(estimate, n=len(x), fisher=fisher, **fields)


def bootstrap_correlation(
    statistic: Callable[[Floats], Floats],
    value: float,
    codes: Places,
    how: Resampling,
    over: str,
    cells: int = _CELLS,
) -> Estimate:
    """Bootstrap interval of a function of weights over units; `codes` holds the unit of each point.

    About `cells` weights are held at a time.
    """
    number = int(codes.max()) + 1
    random = np.random.default_rng([how.random_state, 0])
    sizes = blocks(how.resamples, len(codes), cells)
    drawn = [statistic(draw_counts(random, number, draws)[:, codes]) for draws in sizes]

    def left_out() -> list[Floats]:
        rows = max(1, cells // len(codes))
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
    x, y = x[both], y[both]
    reason = why_undefined(x, y, ("x", "y"))
    value = float(correlation(kind, x, y)[0]) if reason is None else None
    estimate = fisher_interval(value, len(x), level=level, kind=kind, over=over)
    return replace(estimate, statistic=kind, reason=reason or estimate.reason)


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
    equal = np.ones((1, n))  # every point counts once
    ranks = weighted_ranks(y, equal)[0]
    null = weighted_r(weighted_ranks(x, equal), ranks[np.array(list(permutations(range(n))))], equal)
    return float((np.abs(null) >= abs(value) - SAME).mean()), "exact, all orders"


def _unit_p(
    kind: Kind, value: float, x: Floats, y: Floats, units: Places, random_state: int, cells: int
) -> tuple[float | None, str]:
    """P by shuffling y over units, in all orders where they are few; (None, reason) where a unit has no single y."""
    number = int(units.max()) + 1
    y_of_unit = np.full(number, np.nan)
    y_of_unit[units] = y
    if (y_of_unit[units] != y).any():
        return None, "y differs within units, so that it cannot be shuffled over them; the interval draws whole units"
    if number < FEWEST:
        return None, f"there are only {number} units to shuffle y over"
    equal = np.ones((1, len(y)))  # every point counts once
    x_scores = weighted_ranks(x, equal) if kind == "spearman" else x - x.mean()
    y_of_unit[units] = weighted_ranks(y, equal)[0] if kind == "spearman" else y - y.mean()
    if number <= _FEW_UNITS:
        orders = y_of_unit[np.array(list(permutations(range(number))))][:, units]
        return float(
            (np.abs(weighted_r(x_scores, orders, equal)) >= abs(value) - SAME).mean()
        ), "exact, all orders of units"
    random = np.random.default_rng([random_state, 1])
    extreme = 0
    for draws in blocks(SHUFFLES, len(y), cells):
        shuffled = random.permuted(np.repeat(y_of_unit[None], draws, axis=0), axis=1)[:, units]
        extreme += int((np.abs(weighted_r(x_scores, shuffled, equal)) >= abs(value) - SAME).sum())
    return (1 + extreme) / (1 + SHUFFLES), "monte-carlo, y shuffled over units"


def fisher_interval(
    value: float | None, n: int, *, level: float = 0.95, kind: Kind = "pearson", over: str = "points"
) -> Estimate:
    """Correlation of `n` independent points with Fisher's interval, tanh(atanh r ± z √(v / (n − 3))).

    v is 1 for Pearson's r and 1 + r²/2 for Spearman's (Bonett & Wright, *Psychometrika* 65, 2000). The interval is
    undefined, with a reason, for fewer than four points and for a perfect correlation, whose atanh is infinite. A value
    of None is an undefined correlation; `over` names the points.
    """
    fields: Fields = {"level": level, "method": METHODS[kind], "over": over, "n": n}
    if value is None:
        return Estimate(value=None, reason="there is no correlation", **fields)
    if n < LEAST:
        return Estimate(value=value, reason=f"an interval takes at least {LEAST} {over}", **fields)
    if abs(value) >= PERFECT:
        return Estimate(value=value, reason="the correlation is perfect", **fields)
    spread = ((1 + value**2 / 2 if kind == "spearman" else 1) / (n - 3)) ** 0.5
    margin = normal_quantile(level) * spread
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin])).tolist()
    return Estimate(value=value, low=low, high=high, **fields)


def jackknife_r(value: float, left_out: Floats, level: float, unit: str = "unit", **fields: Any) -> Estimate:  # noqa: ANN401 - statistic, n, k
    """Pearson's r with a jackknife interval over units, where a unit contributes to several points.

    tanh(atanh r ± t √((m − 1)/m · Σ (zᵢ − z̄)²)), zᵢ being atanh r without unit i of m, Student's t with m − 1 degrees
    of freedom. The interval is undefined where r is ±1, or undefined (NaN in `left_out`), without some unit.
    """
    estimate = Estimate(value=value, level=level, **fields)
    if not (np.abs(np.append(left_out, value)) < 1).all():
        return replace(estimate, reason=f"r is ±1, or undefined, without some {unit}")
    units, z = len(left_out), np.arctanh(left_out)
    spread = float(((units - 1) / units * ((z - z.mean()) ** 2).sum()) ** 0.5)
    margin = student_quantile(units - 1, level) * spread
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin])).tolist()
    return replace(estimate, low=low, high=high)


def correlations_differ(
    first: float, second: float, between: float, pairs: int, level: float, kind: Kind = "spearman"
) -> Estimate:
    """Difference r₁ − r₂ of two correlations with the same third variable on the same pairs, with its interval.

    With (l₁, u₁), (l₂, u₂) the intervals of the two and c the correlation of r₁ with r₂, the lower end is
    r₁ − r₂ − √((r₁ − l₁)² + (u₂ − r₂)² − 2c (r₁ − l₁)(u₂ − r₂)), the upper end likewise. `between` is the correlation
    of the first variable with the second. Source: Zou, "Toward using confidence intervals to compare correlations",
    *Psychological Methods* 12 (2007), overlapping correlations. Undefined where one of the two has no interval.
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


def weighted_slope(x: Floats, y: Floats, errors: Floats, weights: Floats) -> Floats:
    """Slope cov(x, y) / (var(x) − mean error²) for each row of weights; NaN where x does not vary beyond its errors.

    Without errors it is least squares; with them the method of moments (Fuller, *Measurement Error Models*, 1987,
    section 1.2).
    """
    total = weights.sum(axis=1)
    dx = x - x.mean()
    dy = y - y.mean()
    mean_x, mean_y = weights @ dx / total, weights @ dy / total
    variance = weights @ dx**2 / total - mean_x**2
    covariance = weights @ (dx * dy) / total - mean_x * mean_y
    signal = variance - weights @ errors**2 / total * (total - 1) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        slope: Floats = covariance / signal
    return np.where(signal > 0, slope, np.nan)


def slope_estimate(
    x: Floats, y: Floats, errors: Floats, how: Resampling, over: str = "words", *, units: Places | None = None
) -> Estimate:
    """Slope of y on x, corrected for the errors of x where they are not 0, with its bootstrap interval over words.

    `units` holds the unit (0, 1, …) of each point where whole units are drawn. 0: y does not follow x. Undefined,
    with a reason, where x varies no more than by its error.
    """
    units = np.arange(len(x)) if units is None else units
    value = float(weighted_slope(x, y, errors, np.ones((1, len(x))))[0])
    if not np.isfinite(value):
        return Estimate(value=None, level=how.level, method=how.method, over=over, n=len(x), reason=NO_SIGNAL)
    estimate = bootstrap_correlation(lambda weights: weighted_slope(x, y, errors, weights), value, units, how, over)
    return replace(estimate, n=len(x), statistic="slope")


def robust_slope(x: Floats, y: Floats, level: float = 0.95, *, over: str = "words") -> Estimate:
    """Least squares with an interval that holds under heteroscedasticity (HC3: MacKinnon & White 1985).

    Undefined where fewer than four points are there, or all x are equal.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    fields: Fields = {"level": level, "method": "t, HC3", "n": len(x), "over": over, "statistic": "slope"}
    if len(x) < 4 or np.ptp(x) == 0:
        return Estimate(value=None, reason="a slope takes four points that differ", **fields)
    design = np.column_stack([np.ones(len(x)), x - x.mean()])
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ y
    # Sandwich (X'X)⁻¹ X' diag(e² / (1 − h)²) X (X'X)⁻¹ with leverages h, the diagonal of X (X'X)⁻¹ X'.
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    scaled = (y - design @ weights) / np.maximum(1 - leverage, 1e-12)
    covariance = inverse @ (design.T * scaled**2) @ design @ inverse
    margin = student_quantile(len(x) - 2, level) * float(np.sqrt(covariance[1, 1]))
    return Estimate.symmetric(float(weights[1]), margin, **fields)


def weighted_alpha(scores: Floats, weights: Floats) -> Floats:
    """Cronbach's alpha, k/(k−1)·(1 − Σ rater variances / variance of the sum), for each row of weights.

    Reliability of the mean over these raters, the same as ICC(3,k). At most 1; below 0 where raters disagree more than
    by chance. NaN where subjects do not vary.
    """
    raters = scores.shape[1]
    centered = scores - scores.mean(axis=0)
    item_variances = _weighted_variance(centered, weights).sum(axis=1)
    variance_of_sum = _weighted_variance(centered.sum(axis=1)[:, None], weights)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = raters / (raters - 1) * (1 - item_variances / variance_of_sum)
    return np.where(variance_of_sum > 0, alpha, np.nan)


def weighted_signal_share(values: Floats, errors: Floats, weights: Floats) -> Floats:
    """Share of the variance of values that is not their own known error: 1 − mean(error²) / variance."""
    total = weights.sum(axis=1)
    spread = _weighted_variance((values - values.mean())[:, None], weights)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = spread * total / (total - 1)
        share: Floats = 1 - (weights @ errors**2) / total / variance
    return np.where(variance > 0, share, np.nan)


def _weighted_variance(columns: Floats, weights: Floats) -> Floats:
    """Draws × columns: variance (divided by the number of subjects) under each row of weights."""
    total = weights.sum(axis=1, keepdims=True)
    mean = weights @ columns / total
    variance: Floats = weights @ columns**2 / total - mean**2
    return variance


def disattenuated(
    values: Floats, truth: Floats, reliability: Callable[[Floats], Floats], how: Resampling, over: str = "words"
) -> Estimate:
    """Pearson's r of values with an error-free truth, corrected for attenuation: r / √reliability of the values.

    0: no relation; an estimate may lie beyond 1, since both parts have error. Undefined, with a reason, where there is
    no correlation, or no reliability above 0. `reliability` gives that of the values for each row of weights (how often
    each subject is drawn); `over` names the subjects.
    """
    fields: Fields = {"level": how.level, "method": how.method, "over": over, "n": len(values), "statistic": CORRECTED}
    if reason := why_undefined(values, truth, ("score", "truth")):
        return Estimate(value=None, reason=reason, **fields)

    def statistic(weights: Floats) -> Floats:
        share = reliability(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            corrected: Floats = weighted_r(values, truth, weights) / np.sqrt(share)
        return np.where(share > 0, corrected, np.nan)

    value = float(statistic(np.ones((1, len(values))))[0])
    if not np.isfinite(value):
        return Estimate(value=None, reason="the reliability is not above 0", **fields)
    estimate = bootstrap_correlation(statistic, value, np.arange(len(values)), how, over)
    return replace(estimate, n=len(values), statistic=CORRECTED)
