"""Log odds of words of A against words of B near a target, by covariates: a logistic regression of context counts.

A context is a token within the window of an occurrence of a word of A or B, as in `corpus_bias`. Of each document with
design z, the share of A among contexts that hold the target and among those that do not is modelled as
logit P(A) = z'g + near · z'd. A coefficient of d is the change of the log odds ratio of `corpus_bias` per unit of its
column: with one factor, the differences of its log odds ratios between groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

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
        first: index of the first column of d; columns are those of the design from there on, without the intercept
            where each word has one of its own.
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
    # Columns: g, then d without its intercepts, of which each level has one; rows: far contexts, then near ones.
    rows = ModelRows(
        np.vstack([
            np.hstack([design, np.zeros((len(design), design.shape[1] - 1))]),
            np.hstack([design[row], design[row, 1:]]),
        ]),
        np.concatenate([np.full(len(design), -1), levels]),
        np.vstack([far, near]),
    )  # fmt: skip
    # Words without a context of A or of B have no finite intercept: their counts are raised first, then those of all.
    empty = np.asarray((rows.level_sums(rows.table) <= 0).any(axis=1))[levels]
    shift = _shift(far, near, levels, design.shape[1])
    estimates = None if empty.any() else _logistic(rows)
    shifted = estimates is None
    for raised in (empty, np.ones(len(near), bool)):
        if estimates is None and raised.any():
            table = rows.table + np.where(np.concatenate([np.zeros(len(far), bool), raised])[:, None], shift, 0.0)
            estimates = _logistic(replace(rows, table=table))
            final = replace(rows, table=table)
    if estimates is None:
        raise ParameterError("contexts of A or of B are missing in a group, or too few for this formula")
    rows = final if shifted else rows
    is_list = words_apart and n_words > 1
    # A word's own clusters; contexts without a target belong to none of them and get one of each document.
    ways = [np.concatenate([clusters, clusters[row]])]
    ways += [np.concatenate([n_words + np.arange(len(design)), word])] if is_list else []
    fits = [_last_step(rows, *estimates, way, centered=is_list) for way in ways]
    total = near.sum(axis=0)
    first = design.shape[1] - (1 if is_list else 0)
    return CountFit(fits[0], fits[1] if is_list else None, first, (int(total[0]), int(total[1])), shifted)


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows of the logistic regression.

    Attributes:
        design: rows × columns without the intercepts of levels.
        levels: the level of each row, −1 for none.
        table: contexts of A and of B.
    """

    design: Floats
    levels: Integers
    table: Floats

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(self.levels.max(initial=-1)) + 1

    def predictor(self, coefficients: Floats, intercepts: Floats) -> Floats:
        """Log odds of A of each row."""
        predictor: Floats = self.design @ coefficients + np.append(intercepts, 0.0)[self.levels]
        return predictor

    def of_levels(self, values: Floats) -> Floats:
        """Values of the level of each row; 0 for rows without one."""
        return np.vstack([values, np.zeros(values.shape[1:])])[self.levels]

    def level_sums(self, values: Floats) -> Floats:
        """Sums of values of rows by level."""
        inside = self.levels >= 0
        if values.ndim == 1:
            return np.bincount(self.levels[inside], values[inside], minlength=self.n_levels).astype(np.float64)
        return np.column_stack([self.level_sums(column) for column in values.T])


def _shift(far: Floats, near: Floats, levels: Integers, k: int) -> Floats:
    """Counts to be added: to contexts near each level, in proportion to the contexts of A and B, ½ per coefficient.

    As in `corpus_bias`, they are added in proportion to the margins, so that words without contexts lean to no side.
    """
    margins = far.sum(axis=0) + near.sum(axis=0)
    amount = 0.5 * margins / margins.min()
    sizes = near.sum(axis=1)
    share = sizes / np.bincount(levels, sizes)[levels]
    return np.vstack([np.zeros_like(far), share[:, None] * amount * max(k - 1, 1)])


def _logistic(rows: ModelRows) -> tuple[Floats, Floats] | None:
    """Coefficients and intercepts of levels by Newton steps with halving; None where they run off to infinity.

    The information of the intercepts is a diagonal matrix, so that a step solves for the coefficients alone (the Schur
    complement) and then for each intercept. The design is centered within levels and made orthonormal first, so that
    years and their squares keep their digits.
    """
    used = rows.table.sum(axis=1) > 0
    rows = ModelRows(rows.design[used], rows.levels[used], rows.table[used])
    total = rows.table.sum(axis=1)
    means = rows.level_sums(rows.design) / np.maximum(rows.level_sums(np.ones(len(total))), 1)[:, None]
    centered = rows.design - rows.of_levels(means)
    lengths = np.linalg.norm(rows.design, axis=0)
    basis, triangle = np.linalg.qr(centered)
    tolerance = len(basis) * np.finfo(float).eps
    if len(basis) < len(lengths) or (np.abs(np.diag(triangle)) <= tolerance * lengths).any():
        return None
    rows = replace(rows, design=basis * np.sqrt(len(basis)))
    coefficients, intercepts = np.zeros(rows.design.shape[1]), np.zeros(rows.n_levels)
    for _ in range(_STEPS):
        predictor = rows.predictor(coefficients, intercepts)
        share = 1 / (1 + np.exp(-predictor))
        weights, residuals = total * share * (1 - share), rows.table[:, 0] - total * share
        weighted = rows.design * weights[:, None]
        by_level, crossed = rows.level_sums(weights), rows.level_sums(weighted)
        if (by_level <= 0).any():
            return None
        complement = weighted.T @ rows.design - crossed.T @ (crossed / by_level[:, None])
        gradient, level_gradient = rows.design.T @ residuals, rows.level_sums(residuals)
        try:
            step = np.linalg.solve(complement, gradient - crossed.T @ (level_gradient / by_level))
        except np.linalg.LinAlgError:
            return None
        level_step = (level_gradient - crossed @ step) / by_level
        size, likelihood = 1.0, _log_likelihood(predictor, rows.table, total)
        move = rows.predictor(step, level_step)
        while size > 1e-6 and _log_likelihood(predictor + size * move, rows.table, total) < likelihood - 1e-12:
            size /= 2
        coefficients, intercepts = coefficients + size * step, intercepts + size * level_step
        if np.abs(predictor + size * move).max() > _FARTHEST:
            return None
        if max(np.abs(step).max(), np.abs(level_step).max()) * size < _CONVERGED:
            coefficients = solve_triangular(triangle, coefficients) * np.sqrt(len(basis))
            return coefficients, intercepts - means @ coefficients
    return None


def _log_likelihood(predictor: Floats, table: Floats, total: Floats) -> float:
    return float((table[:, 0] * predictor - total * np.logaddexp(0, predictor)).sum())


def _last_step(
    rows: ModelRows, coefficients: Floats, intercepts: Floats, clusters: Integers, *, centered: bool
) -> ClusteredRegression:
    """Weighted least squares whose solution is the converged fit, with the scores and the information of the model.

    Where words have an intercept each (`centered`), these are partialled out: rows are centered within words. Of a
    single target the intercept is a column, between those of g and of d.
    """
    total = rows.table.sum(axis=1)
    predictor = rows.predictor(coefficients, intercepts)
    share = 1 / (1 + np.exp(-predictor))
    weights = total * share * (1 - share)
    residuals = rows.table[:, 0] - total * share
    if centered:
        means = rows.level_sums(rows.design * weights[:, None]) / rows.level_sums(weights)[:, None]
        design = rows.design - rows.of_levels(means)
        fitted = design @ coefficients  # of the centered rows: centering leaves coefficients and residuals as they are
    else:
        k = (rows.design.shape[1] + 1) // 2
        design = np.insert(rows.design, k, rows.levels >= 0, axis=1)
        fitted = predictor
    used = weights > 0
    working = (weights * fitted + residuals)[used, None]
    codes = np.unique(clusters[used], return_inverse=True)[1]
    return fit_clustered(design[used], weights[used], working, codes)
