"""Log odds ratio of a set of words in which no frequent word outweighs the others: a random effect of words.

Pooled counts weigh a word by its contexts, so that one word can carry a set. Here the share of the first group among
the contexts of a set is the mean of the shares of its words with weights m / (1 + (m − 1) r), for m contexts (Kleinman
1973; Williams 1982). r is the correlation of two contexts of one word, the random effect: with r = 0 this is the pooled
share, with r = 1 every word counts the same; thin words count by their contexts in any case, so that no count has to be
corrected. r is estimated by moments, and no less than `LEAST`: words of real text lean each a little, and a set of one
frequent and several rare words cannot show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

from biasgauge.core import Estimate, Floats, Integers
from biasgauge.stats.numerics import satterthwaite, student_quantile
from biasgauge.stats.odds_ratios import effective_documents

METHOD = "t over words and documents, words with a random effect"
LEAST = 0.02
"""Smallest correlation of two contexts of a word: leans with a standard deviation of .28 log odds around an even share.

Chosen by simulation (docs/text/corpus_bias.md): from .02 on, sets of words of any counts hold their level.
"""
FEW_WORDS = "fewer than two of the words have contexts, so that words cannot be compared"
ONE_SIDED = "all contexts of the words are near one group"
_ROUNDS, _CLOSE = 100, 1e-9


@dataclass(frozen=True, eq=False)
class WordCells:
    """Contexts of the words of a set, in cells of word × document.

    Attributes:
        words: the word of each cell, counted from 0.
        documents: the document of each cell.
        near: cells × 2: contexts near the first and near the second group.
        outside: contexts of the two groups that hold no word of the set.
        effect: sum of squared weights of the contexts over their sum: 1 where every context counts 1.
    """

    words: Integers
    documents: Integers
    near: Floats
    outside: Floats
    effect: float = 1.0


class _Lean(NamedTuple):
    """Log odds ratio of a set, its variance over words with degrees of freedom, and what each cell contributes."""

    value: float
    variance: float
    df: float
    influence: Floats


def balanced_odds(
    first: WordCells,
    second: WordCells | None = None,
    *,
    level: float,
    **fields: Any,  # noqa: ANN401 - n
) -> Estimate:
    """Log odds ratio of a set, or the difference of two, with words as a random effect, and its interval.

    The variance is that over words (each residual divided by one less its share of the weights), which is never below
    that of independent contexts, and what documents add to it where they hold several words.
    """
    sides = [first] if second is None else [first, second]
    leans = []
    for side in sides:
        lean = _lean(side)
        if isinstance(lean, str):
            return Estimate(value=None, reason=lean, level=level, method=METHOD, **fields)
        leans.append(lean)
    signs = (1.0, -1.0)
    documents = np.unique(np.concatenate([side.documents for side in sides]), return_inverse=True)[1]
    influence = np.concatenate([sign * lean.influence for sign, lean in zip(signs, leans, strict=False)])
    by_document: Floats = np.bincount(documents, influence).astype(np.float64)
    # Two-way clusters: words and documents, less the cells that both have counted (Cameron, Gelbach & Miller 2011).
    shared = float((by_document**2).sum() - (influence**2).sum())
    terms = [(lean.variance, lean.df) for lean in leans]
    if shared > 0:
        terms.append((shared, max(1.0, effective_documents(by_document) - 1)))
    variance = sum(term for term, _ in terms)
    margin = student_quantile(float(satterthwaite(terms)), level) * variance**0.5
    value = sum(sign * lean.value for sign, lean in zip(signs, leans, strict=False))
    return Estimate.symmetric(
        value=value, margin=margin, level=level, method=METHOD, over="documents and words", **fields
    )


def _lean(side: WordCells) -> _Lean | str:
    """The log odds ratio of one set; or the reason why there is none."""
    counts = np.zeros((int(side.words.max(initial=-1)) + 1, 2))
    np.add.at(counts, side.words, side.near)
    contexts = counts.sum(axis=1)
    present = contexts > 0
    if present.sum() < 2:
        return FEW_WORDS
    shares = np.divide(counts[:, 0], contexts, out=np.zeros(len(contexts)), where=present)
    independent = np.where(present, contexts, 1.0) / side.effect
    weights = np.zeros(len(contexts))
    weights[present] = word_weights(shares[present], independent[present])
    weights /= weights.sum()
    mean = float(weights @ shares)
    if not 0 < mean < 1:
        return ONE_SIDED
    slope = 1 / (mean * (1 - mean))  # of the logit
    squares = (weights * (shares - mean)) ** 2 / np.where(present, 1 - weights, 1.0)
    variance = max(slope**2 * float(squares.sum()), slope * float((weights**2 / independent).sum()))
    deviations = side.near[:, 0] - shares[side.words] * side.near.sum(axis=1)
    influence = slope * weights[side.words] * deviations / contexts[side.words]
    offset = log(side.outside[0] / side.outside[1])
    df = max(1.0, 1 / float((weights**2).sum()) - 1)
    return _Lean(log(mean / (1 - mean)) - offset, variance, df, influence)


def word_weights(shares: Floats, contexts: Floats) -> Floats:
    """Weights m / (1 + (m − 1) r) of words with these shares of m contexts, r by moments and at least `LEAST`.

    The moment is Σ w (p − π)², whose expectation is π (1 − π) Σ w (1 − w / Σ w) (1 + (m − 1) r) / m.
    """
    correlation = LEAST
    weights = _weights(contexts, correlation)
    for _ in range(_ROUNDS):
        total = float(weights.sum())
        mean = float(weights @ shares) / total
        if not 0 < mean < 1:
            break
        remaining = weights * (1 - weights / total)
        excess = float(weights @ (shares - mean) ** 2) / (mean * (1 - mean)) - float((remaining / contexts).sum())
        per_correlation = float((remaining * np.maximum(1 - 1 / contexts, 0.0)).sum())
        estimate = excess / per_correlation if per_correlation > 0 else LEAST
        estimate = min(max(estimate, LEAST), 1.0)
        weights = _weights(contexts, estimate)
        if abs(estimate - correlation) < _CLOSE:
            break
        correlation = estimate
    return weights


def _weights(contexts: Floats, correlation: float) -> Floats:
    weights: Floats = contexts / (1 + np.maximum(contexts - 1, 0.0) * correlation)
    return weights


def largest_share(contexts: Sequence[float]) -> tuple[int, float]:
    """Place of the largest of some counts, and its share of their sum; 0 where the sum is 0."""
    total = float(np.sum(contexts))
    place = int(np.argmax(contexts))
    return place, float(contexts[place]) / total if total > 0 else 0.0
