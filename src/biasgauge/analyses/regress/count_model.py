"""Log odds of words of A against words of B near a target, by covariates: a logistic regression of context counts.

A context is a token within the window of an occurrence of a word of A or B, as in `corpus_bias`. Of each document with
design z, the share of A among contexts that hold the target and among those that do not is modelled as
logit P(A) = z'g + near · z'd. A coefficient of d is the change of the log odds ratio of `corpus_bias` per unit of its
column: with one factor, the differences of its log odds ratios between groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.analyses.corpus_bias import ContextCounts, count_contexts
from biasgauge.core import Floats, Integers
from biasgauge.errors import ParameterError
from biasgauge.stats import ClusteredRegression, fit_clustered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.text import TokenCorpus

_STEPS = 100
_CONVERGED = 1e-10
_FARTHEST = 15.0
"""Linear predictor beyond which a share is 0 or 1 but for rounding: counts of A or of B are missing there."""


@dataclass(frozen=True, eq=False)
class CountFit:
    """Fit of the counts.

    Attributes:
        fit: the last weighted least squares of the logistic regression; its clusters are those of documents.
        by_word: the same with target words as clusters; None where the targets are one word.
        first: index of the first column of d; columns are those of the design from there on.
        near: contexts of A and of B that hold a target.
        shifted: whether counts were raised, because a share would have been 0 or 1.
    """

    fit: ClusteredRegression
    by_word: ClusteredRegression | None
    first: int
    near: tuple[int, int]
    shifted: bool


def count_targets(
    corpus: TokenCorpus, targets: Sequence[str], a: Sequence[str], b: Sequence[str], window: int,
    progress: Callable[[int, int], None] | None = None,
) -> ContextCounts:  # fmt: skip
    """Count the contexts of words of A and B that hold each target, by document; words that the text lacks are skipped.

    Raises:
        ParameterError: the text has no word of A, of B, or of the targets.
    """
    index = {word: row for row, word in enumerate(corpus.words)}
    ids = [[index[word] for word in dict.fromkeys(words) if word in index] for words in (targets, a, b)]
    for name, rows in zip(("targets", "A", "B"), ids, strict=True):
        if not rows:
            raise ParameterError(f"the text has no word of {name}")
    return count_contexts(corpus, *ids, window=window, progress=progress)


def fit_counts(
    counts: ContextCounts, documents: Integers, design: Floats, clusters: Integers, *, words_apart: bool
) -> CountFit:
    """Fit the logistic regression of counts.

    Args:
        counts: of the targets.
        documents: documents that have complete covariates.
        design: a row for each of them; the first column is the intercept.
        clusters: the cluster of each of them.
        words_apart: whether each target has a log odds ratio of its own, to which covariates add the same.

    Raises:
        ParameterError: no context of A or of B holds a target, or columns of the design are dependent there.
    """
    row_of = np.full(len(counts.totals), -1)
    row_of[documents] = np.arange(len(documents))
    n_words = len(counts.words)
    word = np.repeat(np.arange(n_words), np.diff(counts.starts))
    row, near = row_of[counts.documents], counts.near
    word, row, near = word[row >= 0], row[row >= 0], near[row >= 0]
    if (near.sum(axis=0) <= 0).all():
        raise ParameterError("no context of A or of B holds a target")
    far = counts.totals[documents].copy()
    np.add.at(far, row, -near)
    levels = np.unique(word, return_inverse=True)[1] if words_apart else np.zeros(len(word), np.int64)
    n_levels = int(levels.max()) + 1
    k = design.shape[1]
    # Columns: g; then an intercept of d for each word that stands apart; then the other columns of d.
    far_rows = np.hstack([design, np.zeros((len(design), n_levels + k - 1))])
    near_rows = np.hstack([design[row], np.eye(n_levels)[levels], design[row, 1:]])
    table = np.vstack([far, near])
    rows = np.vstack([far_rows, near_rows])
    cluster = np.concatenate([clusters, clusters[row]])
    # A word's own clusters; contexts without a target belong to none of them and get one of each document.
    word_cluster = np.concatenate([n_words + np.arange(len(design)), word])
    coefficients, shifted = _logistic(rows, table), False
    if coefficients is None:
        shifted = True
        table = table + _shift(far, near, levels, k)
        coefficients = _logistic(rows, table)
        if coefficients is None:
            raise ParameterError("contexts of A and B near the targets are too few for this formula")
    fits = [_last_step(rows, table, coefficients, groups) for groups in (cluster, word_cluster)]
    is_list = words_apart and n_words > 1
    total = near.sum(axis=0)
    # Columns of d follow those of the design from here on; with several intercepts, from the last of them.
    return CountFit(fits[0], fits[1] if is_list else None, k + n_levels - 1, (int(total[0]), int(total[1])), shifted)


def _shift(far: Floats, near: Floats, levels: Integers, k: int) -> Floats:
    """Counts to be added: to contexts near each word, in proportion to the contexts of A and B, ½ per coefficient.

    As in `corpus_bias`, they are added in proportion to the margins, so that words without contexts lean to no side.
    """
    margins = far.sum(axis=0) + near.sum(axis=0)
    amount = 0.5 * margins / margins.min()
    sizes = near.sum(axis=1)
    share = sizes / np.bincount(levels, sizes)[levels]
    return np.vstack([np.zeros_like(far), share[:, None] * amount * max(k - 1, 1)])


def _logistic(rows: Floats, table: Floats) -> Floats | None:
    """Coefficients of a logistic regression by Newton steps with halving; None where they run off to infinity."""
    total = table.sum(axis=1)
    used = total > 0
    rows, table, total = rows[used], table[used], total[used]
    scale = np.abs(rows).max(axis=0)
    if (scale == 0).any():
        return None
    rows = rows / scale
    coefficients = np.zeros(rows.shape[1])
    likelihood = -np.inf
    for _ in range(_STEPS):
        predictor = rows @ coefficients
        share = 1 / (1 + np.exp(-predictor))
        information = (rows * (total * share * (1 - share))[:, None]).T @ rows
        gradient = rows.T @ (table[:, 0] - total * share)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        likelihood = _log_likelihood(rows @ coefficients, table, total)
        while size > 1e-6 and _log_likelihood(rows @ (coefficients + size * step), table, total) < likelihood - 1e-12:
            size /= 2
        coefficients += size * step
        if np.abs(rows @ coefficients).max() > _FARTHEST:
            return None
        if np.abs(step * size).max() < _CONVERGED:
            return coefficients / scale
    return None


def _log_likelihood(predictor: Floats, table: Floats, total: Floats) -> float:
    return float((table[:, 0] * predictor - total * np.logaddexp(0, predictor)).sum())


def _last_step(rows: Floats, table: Floats, coefficients: Floats, clusters: Integers) -> ClusteredRegression:
    """Weighted least squares whose solution is the converged fit, with the scores and the information of the model."""
    total = table.sum(axis=1)
    predictor = rows @ coefficients
    share = 1 / (1 + np.exp(-predictor))
    weights = total * share * (1 - share)
    used = weights > 0
    working = weights * predictor + table[:, 0] - total * share
    _, codes = np.unique(clusters[used], return_inverse=True)
    return fit_clustered(rows[used], weights[used], working[used, None], codes)
