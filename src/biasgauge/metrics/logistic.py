"""Logistic regression with an L2 penalty, many weightings of the same words at once, to the optimum, without chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from biasgauge.core import Floats

_STEPS = 200
_HALVINGS = 40
_PRECISION = 1e-14
"""A row is done after the step that gains less than this share of the loss, whatever the length of the vectors."""


def probabilities(coefficients: Floats, features: Floats) -> Floats:
    """Probability of the second class for each row of `features`, one row of probabilities a fit."""
    chance: Floats = expit(coefficients[:, :-1] @ features.T + coefficients[:, -1:])
    return chance


def fit(features: Floats, labels: Floats, weights: Floats, *, c: float, penalize_intercept: bool) -> Floats:
    """Coefficients, with the intercept last, of one fit a row of `weights`, by damped Newton steps.

    They minimize ½‖coefficients‖² + c · Σ weight · log loss; `c` is scikit-learn's `C`. The intercept goes free (as
    with scikit-learn's lbfgs) or is penalized like the others (as with liblinear). The problem is convex and the
    penalty makes its optimum unique. A row whose optimum is not reached, because its vectors are so long that the
    penalty has no weight, is nan.
    """
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.ones(design.shape[1])
    penalty[-1] = float(penalize_intercept)
    coefficients = np.zeros((len(weights), design.shape[1]))
    moving = np.ones(len(weights), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            now, scaled = coefficients[moving], c * weights[moving]

            def loss(candidates: Floats, scaled: Floats = scaled) -> Floats:
                margins = (2 * labels - 1) * (candidates @ design.T)
                faults = scaled * np.logaddexp(0, -margins)
                total: Floats = faults.sum(axis=1) + (penalty * candidates**2).sum(axis=1) / 2
                return total

            chance = expit(now @ design.T)
            slope = (scaled * (chance - labels)) @ design + penalty * now
            curvature = (design.T * (scaled * chance * (1 - chance))[:, None, :]) @ design + np.diag(penalty)
            step = _solved(curvature, slope)
            gain = (step * slope).sum(axis=1)
            before = loss(now)
            coefficients[moving] = _damped(now, step, gain, before, loss)
            moving[moving] = ~(gain <= _PRECISION * before)
            if not moving.any():
                break
    coefficients[moving] = np.nan
    return coefficients


def _solved(matrices: Floats, sides: Floats) -> Floats:
    """Solve one system a row; nan for all when one of them has no solution, which takes absurdly long vectors."""
    try:
        return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(sides, np.nan)


def _damped(now: Floats, step: Floats, gain: Floats, before: Floats, loss: Callable[[Floats], Floats]) -> Floats:
    """Go along the step, half as far again and again where the loss does not fall."""
    length = np.ones(len(now))
    for _ in range(_HALVINGS):
        uphill = loss(now - length[:, None] * step) > before - 1e-4 * length * gain + 1e-12 * before
        if not uphill.any():
            break
        length[uphill] /= 2
    moved: Floats = now - length[:, None] * step
    return moved
