"""Were two models trained separately, or is one the other after a change such as debiasing?"""

from __future__ import annotations

import numpy as np

from biasgauge.core import Floats, row_cosines, unit_rows
from biasgauge.vectors.embedding import Embedding

MADE_FROM = 0.99
"""Median cosine of held-out words with what a linear map of the other model predicts, from which one was made from the
other. Shipped mitigation methods reach .999, two seeds of the shipped replicates .969, aligned or not."""
_WORDS = 4_000

SEPARATE = (
    "before and after were trained separately: intervals and p speak of other words, not of another training run, and "
    "two runs of one recipe differ at p < .05 in a sixth of cases or more; replicates of both sides would tell"
)


def separately_trained(before: Embedding, after: Embedding) -> bool:
    """Whether neither of two models was made from the other.

    One was made from the other where at least half of the shared words have the same vector, or where a linear map
    (least squares) from half of the shared words predicts the others: median cosine of at least `MADE_FROM`, without
    the two directions in which it errs most, for a change of some words in a direction of bias is no linear map. With
    too few shared words for a map (fewer than four a dimension), the median cosine of the same words must be above .5.
    """
    words = [word for word in before.words if word in after.index]
    words = words[:: max(1, len(words) // max(_WORDS, 8 * max(before.dim, after.dim)))]
    first, second = (unit_rows(np.asarray(one.vectors[one.lookup(words).rows], np.float64)) for one in (before, after))
    defined = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    first, second = first[defined], second[defined]
    if before.dim == after.dim and len(first) and np.median(np.abs(first - second).max(axis=1)) < 1e-6:
        return False
    if len(first) < 4 * max(before.dim, after.dim):
        return before.dim != after.dim or _median_cosine(first, second) < 0.5
    linear_map = np.linalg.lstsq(first[::2], second[::2], rcond=None)[0]
    predicted, actual = first[1::2] @ linear_map, second[1::2]
    errs_most = np.linalg.svd(actual - predicted, full_matrices=False)[2][:2]
    return _median_cosine(*(rows - rows @ errs_most.T @ errs_most for rows in (predicted, actual))) < MADE_FROM


def _median_cosine(first: Floats, second: Floats) -> float:
    cosines = row_cosines(first, second)
    cosines = cosines[np.isfinite(cosines)]
    return float(np.median(cosines)) if len(cosines) else 0.0
