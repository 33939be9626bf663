"""Log odds ratios of counts in two groups, and their error where counts of one document hang together.

A table is four counts in the last axis: of a thing in the first group, of all else there, of the thing in the second
group, of all else there. Where one of the four is 0, .5 is added to all four (Haldane, Anscombe). statsmodels'
`Table2x2(…, shift_zeros=True)` says the same of itself, and puts .5 into the cells that are 0 alone: `shift="zeros"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from biasgauge.core import Estimate, Flags, Floats, Integers
from biasgauge.stats.bootstrap import percentile_estimate
from biasgauge.stats.means import student_estimate
from biasgauge.stats.numerics import normal_quantile

Shift = Literal["all", "zeros"]
SIGNS: Floats = np.array([1.0, -1.0, -1.0, 1.0])
CLOSED_FORM = "closed form, contexts taken as independent"
DOCUMENTS = "jackknife over documents, Student's t"
BOOTSTRAP = "bootstrap over documents"
LEAST_DOCUMENTS = 2
"""Documents below which documents tell nothing of the error."""


def shifted(tables: Floats, shift: Shift = "all") -> Floats:
    """Tables with .5 added to all four counts where one is 0, or to those that are 0 alone."""
    return np.where(_moved(tables, shift), tables + 0.5, tables)


def _moved(tables: Floats, shift: Shift) -> Flags:
    zero: Flags = tables <= 0
    return np.asarray(zero.any(axis=-1, keepdims=True)) if shift == "all" else zero


def log_odds_ratio(tables: Floats, shift: Shift = "all") -> Floats:
    """Log odds ratio, log(a d / (b c)) of the counts a, b (first group) and c, d (second), after `shifted`.

    0 where the thing is as likely in both groups, positive where it is more so in the first. Not bounded; log 2 = 0.69
    where the odds are doubled. For a rare thing it is the log ratio of its two shares, which is the difference of its
    pointwise mutual information with the two groups.
    """
    ratios: Floats = (np.log(shifted(tables, shift)) * SIGNS).sum(axis=-1)
    return ratios


def closed_form_se(tables: Floats, squares: Floats | None = None, shift: Shift = "all") -> Floats:
    """Standard error where every count is independent of every other: √(Σ 1 / count).

    Where counts are sums of weights, `squares` are the sums of squared weights, which are their variances.
    """
    counts = shifted(tables, shift)
    spread = counts if squares is None else np.where(_moved(tables, shift), squares + 0.5, squares)
    error: Floats = np.sqrt((spread / counts**2).sum(axis=-1))
    return error


def closed_form(value: float, se: float, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - n, over
    """Return a log odds ratio with the normal interval of its standard error."""
    return Estimate.symmetric(value, normal_quantile(level) * se, level=level, method=CLOSED_FORM, **fields)


def left_out_changes(tables: Floats, shift: Shift = "all") -> Floats:
    """Change of the log odds ratio when each document is taken out, exactly: documents × 4 to documents."""
    total = tables.sum(axis=0)
    changes: Floats = log_odds_ratio(np.maximum(total - tables, 0.0), shift) - log_odds_ratio(total, shift)
    return changes


def effective_documents(changes: Floats) -> float:
    """Effective number of documents, (Σ c²)² / Σ c⁴ of the changes c; at most their number."""
    squares = changes**2
    largest = float(squares.max(initial=0.0))
    if largest == 0:
        return 0.0
    squares = squares / largest
    return float(squares.sum() ** 2 / (squares**2).sum())


def document_se(changes: Floats) -> float:
    """Standard error of a number from its changes without each document (jackknife around the number itself)."""
    return float(np.sqrt((changes**2).sum() * (len(changes) - 1) / len(changes)))


def over_documents(
    value: float,
    changes: Floats,
    carriers: int,
    least: float,
    level: float,
    **fields: Any,  # noqa: ANN401 - n
) -> Estimate:
    """A number with its interval over documents: Student's t with a degree of freedom less than documents carry it.

    `changes` are those without each document, `carriers` the documents that have the thing in either group; the
    standard error is no less than `least`, that of independent counts. Undefined where fewer than two documents carry
    the number.
    """
    fields |= {"method": DOCUMENTS, "over": "documents"}
    if carriers < LEAST_DOCUMENTS:
        return Estimate(value=value, level=level, reason="fewer than two documents carry the number", **fields)
    return student_estimate(value, max(document_se(changes), least), carriers - 1, level, **fields)


def bootstrap_estimate(value: float, drawn: Floats, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - n
    """Return a number with its percentile interval over documents."""
    return percentile_estimate(value, drawn, level, method=BOOTSTRAP, over="documents", **fields)


def draw_documents(documents: int, carriers: Integers, resamples: int, random_state: int) -> Iterator[Integers]:
    """Yield bootstrap samples of all documents: how often each carrier is drawn, one sample at a time.

    Documents that add nothing are not drawn one by one: how many draws fall on carriers is binomial.
    """
    random = np.random.default_rng(random_state)
    for _ in range(resamples):
        draws = int(random.binomial(documents, len(carriers) / documents))
        yield np.bincount(random.integers(0, len(carriers), draws), minlength=len(carriers))
