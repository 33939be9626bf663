"""Log odds ratios of counts in two groups, and their changes without each document.

A table is four counts in the last axis: of a thing in the first group, of all else there, of the thing in the second
group, of all else there. Where one of the four is 0, all four are raised in proportion to the sizes of the groups,
½ in the smaller one (`shift="margins"`): a thing that was never seen has a log odds ratio of 0, and groups of equal
size get Haldane and Anscombe's ½. Sources: Sweeting, Sutton & Lambert 2004, whose correction for treatment arms is
proportional likewise; Monroe, Colaresi & Quinn 2008, of whose informative prior it is the weakest. statsmodels'
`Table2x2(…, shift_zeros=True)` puts .5 into the cells that are 0 alone: `shift="zeros"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from biasgauge.core import Estimate, Floats, Integers
from biasgauge.stats.bootstrap import percentile_estimate
from biasgauge.stats.numerics import normal_quantile

Shift = Literal["margins", "zeros"]
SIGNS: Floats = np.array([1.0, -1.0, -1.0, 1.0])
CLOSED_FORM = "closed form, contexts taken as independent"
BOOTSTRAP = "bootstrap over documents"


def added_counts(tables: Floats, shift: Shift = "margins") -> Floats:
    """Counts that are added to tables with a 0; none to a table without, or with an empty group."""
    zero = tables <= 0
    if shift == "zeros":
        return np.where(zero, 0.5, 0.0)
    sizes = np.stack([tables[..., 0] + tables[..., 1], tables[..., 2] + tables[..., 3]], axis=-1)
    smaller = sizes.min(axis=-1, keepdims=True)
    raised = zero.any(axis=-1, keepdims=True) & (smaller > 0)
    by_group = np.where(raised, 0.5 * sizes / np.where(smaller > 0, smaller, 1.0), 0.0)
    added: Floats = np.repeat(by_group, 2, axis=-1)
    return added


def log_odds_ratio(tables: Floats, shift: Shift = "margins") -> Floats:
    """Log odds ratio, log(a d / (b c)) of the counts a, b (first group) and c, d (second), after `added_counts`.

    0 where the thing is as likely in both groups, was seen in neither, or one group is empty; positive where it is more
    likely in the first. Not bounded; log 2 = 0.69 where the odds are doubled. For a rare thing it is the log ratio of
    its two shares, which is the difference of its pointwise mutual information with the two groups.
    """
    counts = tables + added_counts(tables, shift)
    with np.errstate(divide="ignore", invalid="ignore"):  # a group is empty
        ratios: Floats = (np.log(counts) * SIGNS).sum(axis=-1)
    return np.where(np.isfinite(ratios), ratios, 0.0)


def closed_form_se(tables: Floats, squares: Floats | None = None, shift: Shift = "margins") -> Floats:
    """Standard error where every count is independent of every other: √(Σ 1 / count); infinite of an empty group.

    Where counts are sums of weights, `squares` are the sums of squared weights, which are their variances.
    """
    added = added_counts(tables, shift)
    counts, variances = tables + added, (tables if squares is None else squares) + added
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, variances / counts**2, np.inf)
    error: Floats = np.sqrt(terms.sum(axis=-1))
    return error


def closed_form(value: float, se: float, level: float, **fields: Any) -> Estimate:  # noqa: ANN401 - n, over
    """Return a log odds ratio with the normal interval of its standard error."""
    return Estimate.symmetric(value, normal_quantile(level) * se, level=level, method=CLOSED_FORM, **fields)


def left_out_changes(tables: Floats, shift: Shift = "margins") -> Floats:
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
