"""Normalized association score: association of each word with two attribute sets, in units of its own spread.

Source: Caliskan, Bryson & Narayanan, "Semantics derived automatically from language corpora contain human-like biases",
Science 356 (2017), Methods, the Word Embedding Factual Association Test; named so by the R package sweater.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, check_choice
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, cosines
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words


@dataclass(frozen=True, kw_only=True)
class NasResult(AssociationResult):
    """The outcome of a normalized association score; `value` is the mean of `scores`.

    Attributes:
        scores: score of each target word; None for a word that is as near to every attribute word.
        ddof: 0 divides the variance by the number of attribute words, 1 by one less.
    """

    scores: tuple[float | None, ...] = ()
    ddof: int = 0


def nas(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 0, interval: Resampling | None = BCA) -> NasResult:
    """Mean over the words w of X of (mean cos(w, A) − mean cos(w, B)) / sd of cos(w, ·) over A and B together.

    Positive leans to A; 0 means to neither. With equal sizes and `ddof=0` it lies in [-2, 2]. The paper gives a score
    for each word and compares it with facts about the word; the mean is ours. Undefined when a set is empty or holds a
    zero vector, or when some word is as near to every attribute word. sweater uses `ddof=1`.

    Raises:
        ParameterError: `ddof` is neither 0 nor 1.
    """
    check_choice((0, 1), ddof=ddof)
    sets, reason = checked_sets(x=x, a=a, b=b)
    if reason is not None:
        return NasResult.undefined(reason, interval, ddof=ddof)
    to_a, to_b = cosines(sets["x"], sets["a"]), cosines(sets["x"], sets["b"])
    spread = np.concatenate([to_a, to_b], axis=1).std(axis=1, ddof=ddof)
    flat = spread <= SAME
    scores = (to_a.mean(axis=1) - to_b.mean(axis=1)) / np.where(flat, 1, spread)
    listed = tuple(None if empty else score for score, empty in zip(scores.tolist(), flat.tolist(), strict=True))
    if flat.any():
        reason = f"word {int(np.flatnonzero(flat)[0])} of the set 'x' is as near to every attribute word"
        return NasResult.undefined(reason, interval, scores=listed, ddof=ddof)
    value = float(scores.mean())
    resampled = _resampled(sets, ddof=ddof)
    return NasResult(value=value, interval=estimate_over_words(value, resampled, interval), scores=listed, ddof=ddof)


def _resampled(sets: Mapping[str, Floats], *, ddof: int = 0) -> Resampled:
    to_a, to_b = cosines(sets["x"], sets["a"]).T, cosines(sets["x"], sets["b"]).T

    def values(counts: Mapping[str, Floats]) -> Floats:
        n_a, n_b = (counts[name].sum(axis=1, keepdims=True) for name in "ab")
        a_mean, b_mean = counts["a"] @ to_a / n_a, counts["b"] @ to_b / n_b
        # Variance of all cosines of a word: mean square less squared mean, over the attributes drawn.
        center = (n_a * a_mean + n_b * b_mean) / (n_a + n_b)
        within = counts["a"] @ to_a**2 + counts["b"] @ to_b**2 - (n_a + n_b) * center**2
        spread = np.sqrt(np.maximum(within, 0) / (n_a + n_b - ddof))
        # Squares are subtracted here, which leaves twice the rounding: only the root of it is below the spread.
        scores = (a_mean - b_mean) / np.where(spread > SAME**0.5, spread, np.nan)
        drawn = counts["x"]
        mean: Floats = np.where(drawn > 0, drawn * scores, 0).sum(axis=1) / drawn.sum(axis=1)
        return mean

    return Resampled({name: len(vectors) for name, vectors in sets.items()}, values)


TEST = SetTest(
    name="nas", display_name="NAS", function=nas, resampled=_resampled, sets=("x", "a", "b"), range=(None, None),
    rotation_invariant=True, scale_invariant=True, length_invariant=True, swap_xy=None, swap_ab="negates",
    zero="on the whole the words of X lean to neither attribute set",
    source="Caliskan et al. 2017, Methods (WEFAT)",
)  # fmt: skip
