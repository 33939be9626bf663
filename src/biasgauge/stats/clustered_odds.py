"""Intervals of log odds ratios whose counts hang together: by document, and by word where a set of words is pooled.

Of m contexts that hold a thing, the number near the first group is binomial; its share p and the odds ratio are tied by
log OR = logit p − log(n_¬wA / n_¬wB). The interval is Clopper and Pearson's of p, which needs no continuity correction,
after Korn and Graubard (1998): the counts are divided by the design effect, the variance over documents as a multiple
of the binomial one, and the degrees of freedom of that variance widen it. Two results bound the design effect: it is
no less than that of independent contexts, and no more than where all contexts of a document fall to one group (Kish
1965), which is also what is taken where all contexts did. Differences, and the leans of words, join intervals by the
squares of their margins (Zou & Donner 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, log, sqrt
from typing import Any

import numpy as np
from scipy.special import betaincinv

from biasgauge.core import Estimate, Floats
from biasgauge.stats.numerics import normal_quantile, satterthwaite, student_quantile
from biasgauge.stats.odds_ratios import (
    Shift,
    added_counts,
    closed_form_se,
    document_se,
    effective_documents,
    log_odds_ratio,
)

OVER_DOCUMENTS = "Clopper–Pearson, counts divided by the design effect over documents"
OVER_DOCUMENTS_AND_WORDS = "Clopper–Pearson, counts divided by the design effect over documents and words"
_KNOWN = 1e9
"""Degrees of freedom of a variance that is computed, not estimated."""
ONE_DOCUMENT = "the text is one document, so that its contexts are taken as independent, which they are not"


@dataclass(frozen=True, eq=False)
class ClusteredTable:
    """Counts of a thing near two groups, and how they cluster.

    Attributes:
        table: n_wA, n_¬wA, n_wB, n_¬wB.
        squares: sums of squared weights of the same four; equal to the table where every context counts 1.
        changes: of the log odds ratio without each document of the text.
        documents: contexts, near either group, in each document that has any.
        words: words × 2: n_wA and n_wB of each word that was pooled.
    """

    table: Floats
    squares: Floats
    changes: Floats
    documents: Floats
    words: Floats

    @property
    def contexts(self) -> float:
        """Contexts of both groups that hold the thing."""
        return float(self.table[0] + self.table[2])

    @property
    def is_one_sided(self) -> bool:
        """True where one of the groups has no context that holds the thing."""
        return bool((self.table[[0, 2]] <= 0).any())

    @property
    def binomial_variance(self) -> float:
        """Variance of the logit of the share of the first group, 1 / n_wA + 1 / n_wB."""
        return float((1 / self.table[[0, 2]]).sum())

    @property
    def least_effect(self) -> float:
        """Design effect of independent contexts: 1 where every context counts 1."""
        return float(self.squares[0] + self.squares[2]) / self.contexts

    @property
    def largest_effect(self) -> float:
        """Design effect where all contexts of a document fall to one group, Σ m² / m over documents (Kish)."""
        if len(self.changes) < 2:
            return self.least_effect
        return max(self.least_effect, float((self.documents**2).sum()) / self.contexts)

    def word_changes(self, shift: Shift) -> Floats:
        """Changes of the log odds ratio without each word; none of a single word."""
        if len(self.words) < 2:
            return np.empty(0)
        removed = np.stack([self.words[:, 0], -self.words[:, 0], self.words[:, 1], -self.words[:, 1]], axis=1)
        left = np.maximum(self.table - removed, 0.0)
        changes: Floats = log_odds_ratio(left, shift) - log_odds_ratio(self.table, shift)
        return changes


def clustered_estimate(
    first: ClusteredTable,
    second: ClusteredTable | None = None,
    *,
    level: float,
    shift: Shift = "margins",
    **fields: Any,  # noqa: ANN401 - n
) -> Estimate:
    """Log odds ratio, or the difference of two, with its interval over documents, and over words where they are pooled.

    0: as likely near both groups, or alike in both sets. A table without contexts has no interval: leave it out before.
    An interval is open-ended by nature where a count is 0; its far end is that of half a context.
    """
    sides = [first] if second is None else [first, second]
    values = [float(log_odds_ratio(side.table, shift)) for side in sides]
    if any(side.is_one_sided for side in sides):  # then the variance of the difference is not to be had
        effects = [side.largest_effect if side.is_one_sided else _design_effect([side], level, shift) for side in sides]
    else:
        effects = [_design_effect(sides, level, shift)] * len(sides)
    reaches = []  # of each side: from its value down to the lower end, and up to the upper one
    for side, value, effect in zip(sides, values, effects, strict=True):
        low, high = _ends(side, effect, level)
        reaches.append((max(value - low, 0.0), max(high - value, 0.0)))
    widths = [_word_margin(side, effect, level, shift) for side, effect in zip(sides, effects, strict=True)]
    value, down, up = values[0], hypot(reaches[0][0], *widths), hypot(reaches[0][1], *widths)
    if second is not None:
        value, down, up = values[0] - values[1], hypot(down, reaches[1][1]), hypot(up, reaches[1][0])
    pools_words = any(len(side.words) > 1 for side in sides)
    return Estimate(
        value=value,
        low=value - down,
        high=value + up,
        level=level,
        method=OVER_DOCUMENTS_AND_WORDS if pools_words else OVER_DOCUMENTS,
        over="documents and words" if pools_words else "documents",
        warning=ONE_DOCUMENT if len(first.changes) < 2 else None,
        **fields,
    )


def _design_effect(sides: Sequence[ClusteredTable], level: float, shift: Shift) -> float:
    """Variance over documents of a log odds ratio, or of a difference, as a multiple of the binomial one.

    It holds Student's widening: squared changes are summed over documents whose number is Poisson, so that their sum
    has 2 (Σ c²)² / Σ c⁴ − 1 degrees of freedom; at most one less than the documents that carry it.
    """
    independent = float(sum(closed_form_se(side.table, side.squares, shift) ** 2 for side in sides))
    variance, binomial = independent, sum(side.binomial_variance for side in sides)
    changes = sides[0].changes - sides[1].changes if len(sides) > 1 else sides[0].changes
    if len(changes) > 1:
        df = min(2 * effective_documents(changes) - 1, sum(len(side.documents) - 1 for side in sides))
        widened = max(document_se(changes) ** 2, independent) * _widening(df, level)
        largest = sum(side.largest_effect * side.binomial_variance for side in sides)
        variance = max(min(widened, largest), independent)
    return variance / binomial


def _word_margin(side: ClusteredTable, effect: float, level: float, shift: Shift) -> float:
    """Widening of an interval, squares added, for words that lean apart by more than their contexts vary.

    The variance of the leave-one-word-out changes less that of independent contexts, V_words − V_contexts, is what
    words add in two-way clusters (Cameron, Gelbach & Miller 2011). Satterthwaite's degrees of freedom of normal changes
    are 3 (Σ c²)² / Σ c⁴; at most one less than words. 0 of a single word, or where a count is 0.
    """
    changes = side.word_changes(shift)
    if side.is_one_sided or not len(changes):
        return 0.0
    excess = document_se(changes) ** 2 - float(closed_form_se(side.table, side.squares, shift)) ** 2
    if excess <= 0:
        return 0.0
    over_documents = effect * side.binomial_variance
    df = max(1.0, min(3 * effective_documents(changes), len(changes) - 1.0))
    widening = _widening(float(satterthwaite([(over_documents, _KNOWN), (excess, df)])), level)
    return normal_quantile(level) * sqrt(widening * (over_documents + excess) - over_documents)


def _widening(df: float, level: float) -> float:
    """Squared ratio of Student's quantile to the normal one."""
    return max(1.0, student_quantile(max(1.0, df), level) / normal_quantile(level)) ** 2


def _ends(side: ClusteredTable, effect: float, level: float) -> tuple[float, float]:
    """Clopper–Pearson's ends of the share of the first group, as log odds ratios."""
    tail = (1 - level) / 2
    first, second = side.table[0] / effect, side.table[2] / effect
    low = float(betaincinv(max(first, 0.5), second + 1, tail))
    rest = float(betaincinv(max(second, 0.5), first + 1, tail))  # 1 − the upper end, exact where that is near 1
    counts = side.table + added_counts(side.table)
    offset = log(counts[1] / counts[3])
    return log(low) - np.log1p(-low) - offset, np.log1p(-rest) - log(rest) - offset
