"""Dose–response lines: slope of scores over doses, departures from the line, and variance components of scores.

Scores of units (carriers) are measured at doses that are assigned anew in each of several draws, in several runs each,
so that effects of the unit are not confounded with effects of the dose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtr

from biasgauge.core import Estimate, Fields, Floats, Integers, Record, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.credible import holm
from biasgauge.stats.means import student_estimate


@dataclass(frozen=True)
class Variances(Record):
    """Variance components of a single score.

    Attributes:
        dose: of the planted doses.
        carrier: between carriers, whatever the dose; with a single draw it includes `planting`.
        planting: between plantings of a dose in the sentences of its carrier; None with a single draw.
        run: between training runs, of single words; None with a single run.
        shift: between training runs, of all words together.
    """

    dose: float
    carrier: float
    planting: float | None
    run: float | None
    shift: float

    @property
    def total(self) -> float:
        """Variance of a single score."""
        return self.dose + self.word + self.shift

    @property
    def word(self) -> float:
        """Variance between words of the same dose in one run."""
        return self.carrier + (self.planting or 0.0) + (self.run or 0.0)

    def of_mean(self, words: float, runs: int = 1) -> float:
        """Variance of the mean of `words` words over `runs` runs, at one dose."""
        persistent = self.carrier + (self.planting or 0.0)  # the same in every run
        return persistent / words + (self.run or 0.0) / (words * runs) + self.shift / runs


@dataclass(frozen=True)
class DoseResponse(Record):
    """Regression of scores on doses.

    Attributes:
        intercept: score at dose 0.
        slope: change of the score with one unit of dose.
        p: two-sided, of slope 0.
        covariance: of intercept and slope.
        df: degrees of freedom of the slope.
        r: correlation of dose and score over all single scores.
        variances: components of the variance of single scores.
        p_bend: of a straight line against one whose slope changes with the size of the dose; None, as below, where the
            doses do not identify it.
        p_sides: of the same slope to both sides.
        p_lack_of_fit: of the line against a separate mean for every dose (Wald).
        saturating: the slope falls with the size of the dose (p_bend < .05); None where there is no slope, or no p.
        monotone: no mean is significantly below that of the next smaller dose; None where there is no slope.
        sides: slope of negative and of positive doses, where they are fitted apart.
    """

    intercept: float
    slope: Estimate
    p: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    df: float
    r: float
    variances: Variances
    p_bend: float | None = None
    p_sides: float | None = None
    p_lack_of_fit: float | None = None
    saturating: bool | None = None
    monotone: bool | None = None
    sides: tuple[float, float] = (0.0, 0.0)

    @property
    def follows(self) -> bool:
        """True if the score rises with the dose beyond chance: the interval of the slope is above 0."""
        return self.slope.low is not None and self.slope.low > 0


def dose_response(
    scores: Floats, doses: Floats, levels: Floats, *, level: float = 0.95, shape: bool = True
) -> DoseResponse:
    """Fit score = a + b · dose (+ a random intercept for each unit), and test departures from the line.

    `scores` are units × draws × runs; `doses` (counted) and `levels` (intended, a few values, 0 for blanks) units ×
    draws. Without `shape` departures are not tested: their fields are None, and both sides have the slope of the line.

    Raises:
        ParameterError: shapes differ, a number is not finite, or all doses are equal.
    """
    check_level(level)
    scores, doses, levels = (np.asarray(values, np.float64) for values in (scores, doses, levels))
    if scores.ndim != 3 or doses.shape != scores.shape[:2] or levels.shape != doses.shape:
        raise ParameterError(f"Scores are units × draws × runs. Got shapes {scores.shape}, {doses.shape}.")
    if not (np.isfinite(scores).all() and np.isfinite(doses).all()) or np.ptp(doses) == 0:
        raise ParameterError("Scores and doses must be finite numbers, and doses must differ.")
    units, draws, _ = scores.shape
    means = scores.mean(axis=2)
    centered = means - means.mean(axis=0) + means.mean()
    y, x = centered.ravel(), doses.ravel()
    unit = np.repeat(np.arange(units), draws)
    line = _fit(y, np.column_stack([np.ones(len(x)), x]), unit, draws)
    value, df = float(line.estimates[1]), float(line.df[1])
    fields: Fields = {"method": "t, Satterthwaite" if draws > 1 else "t", "over": "carriers", "n": units}
    slope = student_estimate(value, float(np.sqrt(line.covariance[1, 1])), df, level, statistic="slope", **fields)
    straight = DoseResponse(
        intercept=float(line.estimates[0]),
        slope=slope,
        p=line.p(1),
        covariance=tuple(tuple(float(cell) for cell in row) for row in line.covariance),  # type: ignore[arg-type]
        df=df,
        r=float(np.corrcoef(np.repeat(x, scores.shape[2]), scores.ravel())[0, 1]) if np.ptp(scores) > 0 else 0.0,
        variances=_variances(scores, doses, value, line),
        sides=(value, value),
    )
    if not shape:
        return straight
    bend, p_bend = _beyond(y, x, x * np.abs(x), unit, draws)
    uneven, p_sides = _beyond(y, x, np.abs(x), unit, draws)
    has_shape = straight.follows and p_bend is not None
    return replace(
        straight,
        p_bend=p_bend,
        p_sides=p_sides,
        p_lack_of_fit=_lack_of_fit(y, x, levels.ravel(), unit, draws),
        saturating=bool((p_bend or 0.0) < 0.05 and bend * value < 0) if has_shape else None,
        monotone=_monotone(centered, levels) if straight.follows else None,
        sides=(value - uneven, value + uneven),
    )


class _Fit(NamedTuple):
    """Coefficients with their covariance and degrees of freedom; variance between units, and of the residuals."""

    estimates: Floats
    covariance: Floats
    df: Floats
    by_unit: float
    residual: float

    def p(self, index: int) -> float:
        """Two-sided p of no coefficient."""
        ratio = abs(self.estimates[index]) / max(float(np.sqrt(self.covariance[index, index])), 1e-300)
        return 2 * float(stdtr(self.df[index], -ratio))


def _fit(y: Floats, x: Floats, unit: Integers, draws: int) -> _Fit:
    """Fit y = Xb with a random intercept for each unit if units have several draws, else by least squares."""
    if draws == 1:
        inverse = np.linalg.pinv(x.T @ x)
        estimates = inverse @ x.T @ y
        freedom = len(y) - x.shape[1]
        residual = float(((y - x @ estimates) ** 2).sum()) / freedom
        return _Fit(estimates, residual * inverse, np.full(x.shape[1], float(freedom)), 0.0, residual)
    from biasgauge.stats.mixed_models.model import fit_mixed  # imported here: reading a stored curve fits nothing

    fit = fit_mixed(y, x, {"unit": unit}, [f"x{index}" for index in range(x.shape[1])])
    by_unit, residual = float(fit.solution.variances[0]), fit.solution.sigma2
    estimates = np.array([effect.estimate for effect in fit.fixed], np.float64)
    return _Fit(estimates, fit.covariance, np.array([effect.df for effect in fit.fixed], np.float64), by_unit, residual)


def _beyond(y: Floats, x: Floats, further: Floats, unit: Integers, draws: int) -> tuple[float, float | None]:
    """Coefficient of one more column beside the line, and its p; 0 and None where it is collinear with the line."""
    design = np.column_stack([np.ones(len(x)), x, further])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return 0.0, None
    fit = _fit(y, design, unit, draws)
    return float(fit.estimates[2]), fit.p(2)


def _variances(scores: Floats, doses: Floats, slope: float, line: _Fit) -> Variances:
    units, draws, runs = scores.shape
    shifts = scores.mean(axis=0)
    if runs > 1:
        # Residuals of units × runs within each draw.
        residuals = scores - scores.mean(axis=2, keepdims=True) - (shifts - shifts.mean(axis=1, keepdims=True))
        run = float((residuals**2).sum() / ((units - 1) * draws * (runs - 1)))
    else:
        run = 0.0
    # The residual variance of the line, fitted to means over runs, is planting + run / runs. The mean of a run varies
    # by its shift and by its words, (planting + run) / units.
    planting = max(line.residual - run / runs, 0.0)
    observed = float(shifts.var(ddof=1)) if shifts.size > 1 else 0.0
    shift = max(observed - (run + (planting if draws > 1 else 0.0)) / units, 0.0)
    dose = slope**2 * float(doses.var())
    if draws > 1:
        return Variances(dose, line.by_unit, planting, run if runs > 1 else None, shift)
    return Variances(dose, planting, None, run if runs > 1 else None, shift)


def _lack_of_fit(y: Floats, x: Floats, levels: Floats, unit: Integers, draws: int) -> float | None:
    """P of the line against a separate mean for every dose, by the Wald F test b' V⁻¹ b / m of the m added columns."""
    distinct = np.unique(levels)
    if len(distinct) < 3:
        return None
    indicators = (levels[:, None] == distinct[1:-1]).astype(np.float64)
    design = np.column_stack([np.ones(len(x)), x, indicators])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    fit = _fit(y, design, unit, draws)
    beyond, covariance = fit.estimates[2:], fit.covariance[2:, 2:]
    ratio = float(beyond @ np.linalg.solve(covariance, beyond)) / len(beyond)
    return float(fdtrc(len(beyond), float(fit.df[2:].min()), ratio))


def _monotone(means: Floats, levels: Floats) -> bool:
    """True if no mean falls significantly from one dose to the next (Welch's t, one-sided, Holm, .05)."""
    from scipy.stats import ttest_ind

    distinct = np.unique(levels)
    p_values: list[float | None] = []
    for low, high in pairwise(distinct.tolist()):
        ends = [means[levels == dose] for dose in (low, high)]
        if min(map(len, ends)) < 2 or all(np.ptp(end) == 0 for end in ends):
            continue
        p_values.append(float(ttest_ind(ends[1], ends[0], equal_var=False, alternative="less").pvalue))
    return not any(p is not None and p < 0.05 for p in holm(p_values))
