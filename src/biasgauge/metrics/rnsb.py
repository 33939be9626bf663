"""Relative negative sentiment bias: a sentiment classifier's negative probabilities of identity words.

Source: Sweeney & Najafian, "A Transparent Framework for Evaluating Unintended Demographic Bias in Word Embeddings", ACL
2019: negative probabilities of the identity words, scaled to sum to 1, and their Kullback–Leibler divergence from the
uniform distribution. The classifier is a logistic regression with an L2 penalty, fitted to its optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from biasgauge.core import Floats, check_number
from biasgauge.metrics.set_test import AssociationResult, SetTest, floats, prepared, undefined
from biasgauge.stats import BCA, Resampled, Resampling, estimate_over_words, not_estimated

_MOST_REFITTED = 100  # attribute words up to which the classifier is refitted for every resample
_BLOCK_NUMBERS = 1 << 22


@dataclass(frozen=True, kw_only=True)
class RnsbResult(AssociationResult):
    """The outcome of a relative negative sentiment bias; `value` is the divergence, in nats.

    Attributes:
        probabilities: probability of the negative class for each target word, X before Y.
        shares: the same, scaled to sum to 1.
        c: scikit-learn's `C`: weight of the data against the L2 penalty.
        penalize_intercept: whether the penalty includes the intercept.
    """

    probabilities: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    c: float = 1.0
    penalize_intercept: bool = False


def rnsb(
    x: ArrayLike,
    y: ArrayLike | None,
    a: ArrayLike,
    b: ArrayLike,
    *,
    c: float = 1.0,
    penalize_intercept: bool = False,
    refit: bool = True,
    interval: Resampling | None = BCA,
) -> RnsbResult:
    """Divergence from fairness of the negative probabilities of the words of X and Y, taken together.

    A logistic regression tells the positive words A from the negative words B. With p_t the negative probability of
    target t, divided by the sum over all n targets, the value is Σ_t p_t log(n p_t), the Kullback–Leibler divergence
    from the uniform distribution. 0 means that all target words are held
    to be equally negative; range [0, ln of the number of target words]. Exchanging A and B is another question, not the
    same one negated. The fit goes to its only optimum and holds no words back, so that the same input always gives the
    same number; WEFE holds out a random fifth and its default penalizes the intercept (`penalize_intercept=True`).
    Undefined when a set is empty or holds a zero vector, with fewer than two target words (a single one always has the
    whole share), or when vectors are so long that the penalty has no weight and the fit finds no end. The interval
    refits the classifier for every resample; with `refit=False` it keeps the classifier and draws target words alone,
    and with more than 100 attribute words that is the only way offered. With None for Y, X holds all target words.

    Raises:
        ParameterError: `c` is not positive.
    """
    check_number(0, ends=False, c=c)
    sets = prepared(x=x, **({} if y is None else {"y": y}), a=a, b=b)
    rules: dict[str, Any] = {"c": c, "penalize_intercept": penalize_intercept}
    reason = undefined(sets)
    if reason is None and sum(len(words) for name, words in sets.items() if name in "xy") < 2:
        reason = "shares need at least two target words"
    if reason is not None:
        return RnsbResult.undefined(reason, interval, **rules)
    once = {name: np.ones((1, len(vectors))) for name, vectors in sets.items()}
    negative = _negative(sets, once, **rules)[0]
    if not np.isfinite(negative).all() or not negative.any():
        reason = "the classifier finds no usable fit: the vectors are too long for the penalty"
        return RnsbResult.undefined(reason, interval, **rules)
    shares = negative / negative.sum()
    value = max(0.0, float(xlogy(shares, shares * len(shares)).sum()))
    over = "words" if refit else "target words"
    if refit and len(sets["a"]) + len(sets["b"]) > _MOST_REFITTED:
        reason = f"refitting with more than {_MOST_REFITTED} attribute words takes too long; ask with refit=False"
        estimate = not_estimated(interval, reason, over)
    else:
        estimate = estimate_over_words(value, _resampled(sets, refit=refit, **rules), interval, over)
    return RnsbResult(value=value, interval=estimate, probabilities=floats(negative), shares=floats(shares), **rules)


def rnsb_of_words(targets: ArrayLike, a: ArrayLike, b: ArrayLike, **settings: Any) -> RnsbResult:  # noqa: ANN401
    """Relative negative sentiment bias of one list of identity words, as the paper has it; otherwise as `rnsb`."""
    return rnsb(targets, None, a, b, **settings)


def _negative(
    sets: Mapping[str, Floats], counts: Mapping[str, Floats], *, c: float, penalize_intercept: bool
) -> Floats:
    """Negative probability of each target word under each weighting of the attribute words.

    The optimum lies in the space that the attribute words span, so the fit is made there: as many coefficients as there
    are words or dimensions, whichever is fewer.
    """
    attributes = np.concatenate([sets["a"], sets["b"]])
    labels = np.concatenate([np.zeros(len(sets["a"])), np.ones(len(sets["b"]))])
    # Coordinates in the span of the attribute words: the penalty makes components outside of it 0.
    left, sizes, directions = np.linalg.svd(attributes, full_matrices=False)
    nonzero = sizes > sizes[0] * 1e-13
    features = left[:, nonzero] * sizes[nonzero]
    targets = np.concatenate([sets[name] for name in ("x", "y") if name in sets]) @ directions[nonzero].T
    weights = np.concatenate([counts["a"], counts["b"]], axis=1)
    block = max(1, _BLOCK_NUMBERS // (features.size + features.shape[1] ** 2))
    parts = [
        fit_logistic(features, labels, weights[start : start + block], c=c, penalize_intercept=penalize_intercept)
        for start in range(0, len(weights), block)
    ]
    return np.concatenate([logistic_probabilities(coefficients, targets) for coefficients in parts])


def _resampled(
    sets: Mapping[str, Floats], *, c: float = 1.0, penalize_intercept: bool = False, refit: bool = True
) -> Resampled:
    names = [name for name in ("x", "y") if name in sets]
    units = {name: len(vectors) for name, vectors in sets.items() if refit or name in names}
    once = {name: np.ones((1, len(sets[name]))) for name in "ab"}
    fixed = None if refit else _negative(sets, once, c=c, penalize_intercept=penalize_intercept)

    def values(counts: Mapping[str, Floats]) -> Floats:
        drawn = np.concatenate([counts[name] for name in names], axis=1)
        negative = _negative(sets, counts, c=c, penalize_intercept=penalize_intercept) if fixed is None else fixed
        total = (drawn * negative).sum(axis=1, keepdims=True)
        shares = negative / np.where(total > 0, total, np.nan)
        divergence: Floats = (drawn * xlogy(shares, shares * drawn.sum(axis=1, keepdims=True))).sum(axis=1)
        return np.maximum(divergence, 0)

    return Resampled(units, values)


TEST = SetTest(
    name="rnsb", display_name="RNSB", function=rnsb, resampled=_resampled, sets=("x", "y", "a", "b"), range=(0.0, None),
    rotation_invariant=True, scale_invariant=False, length_invariant=False, swap_xy="unchanged", swap_ab="changes",
    zero="all target words are held to be equally negative",
    source="Sweeney & Najafian 2019, relative negative sentiment bias",
)  # fmt: skip


_STEPS = 200
_HALVINGS = 40
_PRECISION = 1e-14
"""A row is done after the step that gains less than this share of the loss, whatever the length of the vectors."""


def logistic_probabilities(coefficients: Floats, features: Floats) -> Floats:
    """Probability of the second class for each row of `features`, one row of probabilities a fit."""
    chance: Floats = expit(coefficients[:, :-1] @ features.T + coefficients[:, -1:])
    return chance


def fit_logistic(features: Floats, labels: Floats, weights: Floats, *, c: float, penalize_intercept: bool) -> Floats:
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

            # Gradient and Hessian of the penalized log loss at the current coefficients, one fit per row.
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


def _solved(matrices: Floats, right_sides: Floats) -> Floats:
    """Solve one system a row; nan for all when one of them has no solution, which takes absurdly long vectors."""
    try:
        return np.asarray(np.linalg.solve(matrices, right_sides[:, :, None])[:, :, 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(right_sides, np.nan)


def _damped(now: Floats, step: Floats, gain: Floats, before: Floats, loss: Callable[[Floats], Floats]) -> Floats:
    """Take the Newton step, halved again and again where the loss does not fall."""
    length = np.ones(len(now))
    for _ in range(_HALVINGS):
        uphill = loss(now - length[:, None] * step) > before - 1e-4 * length * gain + 1e-12 * before
        if not uphill.any():
            break
        length[uphill] /= 2
    moved: Floats = now - length[:, None] * step
    return moved
