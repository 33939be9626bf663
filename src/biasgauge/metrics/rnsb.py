"""Relative negative sentiment bias: does a sentiment classifier hold some identity words to be more negative?

Source: Sweeney & Najafian, "A Transparent Framework for Evaluating Unintended Demographic Bias in Word Embeddings", ACL
2019: negative probabilities of the identity words, scaled to sum to 1, and their Kullback–Leibler divergence from the
uniform distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from biasgauge.core import Floats, check_number
from biasgauge.metrics.logistic import fit, probabilities
from biasgauge.metrics.set_test import AssociationResult, SetTest, floats, prepared, undefined
from biasgauge.stats import BCA, Resampled, Resampling, estimate_over_words, not_estimated

_MOST_REFITTED = 100
"""Attribute words up to which the classifier is refitted for every resample."""
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

    A logistic regression tells the positive words A from the negative words B. 0 means that all target words are held
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
        found = not_estimated(interval, reason, over)
    else:
        found = estimate_over_words(value, _resampled(sets, refit=refit, **rules), interval, over)
    return RnsbResult(value=value, interval=found, probabilities=floats(negative), shares=floats(shares), **rules)


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
    left, sizes, directions = np.linalg.svd(attributes, full_matrices=False)
    kept = sizes > sizes[0] * 1e-13
    features = left[:, kept] * sizes[kept]
    targets = np.concatenate([sets[name] for name in ("x", "y") if name in sets]) @ directions[kept].T
    weights = np.concatenate([counts["a"], counts["b"]], axis=1)
    block = max(1, _BLOCK_NUMBERS // (features.size + features.shape[1] ** 2))
    parts = [
        fit(features, labels, weights[start : start + block], c=c, penalize_intercept=penalize_intercept)
        for start in range(0, len(weights), block)
    ]
    return np.concatenate([probabilities(coefficients, targets) for coefficients in parts])


def _resampled(
    sets: Mapping[str, Floats], *, c: float = 1.0, penalize_intercept: bool = False, refit: bool = True
) -> Resampled:
    names = [name for name in ("x", "y") if name in sets]
    units = {name: len(vectors) for name, vectors in sets.items() if refit or name in names}
    once = {name: np.ones((1, len(sets[name]))) for name in "ab"}
    kept = None if refit else _negative(sets, once, c=c, penalize_intercept=penalize_intercept)

    def values(counts: Mapping[str, Floats]) -> Floats:
        drawn = np.concatenate([counts[name] for name in names], axis=1)
        negative = _negative(sets, counts, c=c, penalize_intercept=penalize_intercept) if kept is None else kept
        whole = (drawn * negative).sum(axis=1, keepdims=True)
        shares = negative / np.where(whole > 0, whole, np.nan)
        divergence: Floats = (drawn * xlogy(shares, shares * drawn.sum(axis=1, keepdims=True))).sum(axis=1)
        return np.maximum(divergence, 0)

    return Resampled(units, values)


TEST = SetTest(
    name="rnsb", display_name="RNSB", function=rnsb, resampled=_resampled, sets=("x", "y", "a", "b"), range=(0.0, None),
    rotation_invariant=True, scale_invariant=False, length_invariant=False, swap_xy="unchanged", swap_ab="changes",
    zero="all target words are held to be equally negative",
    source="Sweeney & Najafian 2019, relative negative sentiment bias",
)  # fmt: skip
