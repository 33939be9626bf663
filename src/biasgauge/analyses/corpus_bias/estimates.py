"""Log odds ratios of the words and sets of a query, from its counts, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from biasgauge.analyses.corpus_bias.counting import ContextCounts
from biasgauge.analyses.corpus_bias.query import LOST, CorpusQuery, QueryCounts, why_too_few
from biasgauge.analyses.corpus_bias.result import SetOdds, WordOdds
from biasgauge.core import Estimate, Floats
from biasgauge.stats import ClusteredTable, balanced_odds, clustered_estimate, largest_share, odds_ratios
from biasgauge.vectors import Coverage

Interval = Literal["documents", "bootstrap", "closed-form"]
LEAST_DOCUMENTS = 2
"""Documents that must have a word before documents are drawn again for its interval."""


@dataclass(frozen=True)
class Uncertainty:
    """Method and settings of the intervals; `shift` says what is added where a count is 0."""

    interval: Interval
    level: float
    resamples: int
    random_state: int
    shift: odds_ratios.Shift = "margins"
    min_contexts: int = 0

    def why_too_few(self, table: Floats, subject: str) -> str | None:
        """Return why a word or a set is undefined; None where it is not, and always as published."""
        is_published = self.shift == "zeros" and self.min_contexts == 0
        return None if is_published else why_too_few(table, self.min_contexts, subject)

    def estimate(self, sides: Sequence[ClusteredTable], drawn: Floats | None, **fields: Any) -> Estimate:  # noqa: ANN401 - n
        """Log odds ratio of one table, or the difference of two, with the requested interval.

        `drawn` are its bootstrap replicates. Where documents drawn again tell nothing (a count is 0, or a single
        document has the words), the interval over documents takes their place.
        """
        values = [float(odds_ratios.log_odds_ratio(side.table, self.shift)) for side in sides]
        value = values[0] - sum(values[1:])
        errors = [odds_ratios.closed_form_se(side.table, side.squares, self.shift) for side in sides]
        if self.interval == "closed-form" or any(side.contexts <= 0 for side in sides):
            return odds_ratios.closed_form(value, float(np.hypot.reduce(errors)), self.level, **fields)
        if drawn is not None and all(
            len(side.documents) >= LEAST_DOCUMENTS and not side.is_one_sided for side in sides
        ):
            return odds_ratios.bootstrap_estimate(value, drawn, self.level, **fields)
        return clustered_estimate(*sides, level=self.level, shift=self.shift, **fields)


def estimate_words(
    counted: QueryCounts, query: CorpusQuery, uncertainty: Uncertainty, *, weighted: bool
) -> tuple[WordOdds, ...]:
    """Rows of the words, in the order of the query."""
    drawn = _draw(counted.counts, [(row,) for row in range(len(counted.counts.words))], uncertainty)
    row_of = partial(_word_row, counted=counted, drawn=drawn, uncertainty=uncertainty, weighted=weighted)
    return tuple(row_of(word) for word in query.words)


def estimate_sets(
    counted: QueryCounts, query: CorpusQuery, uncertainty: Uncertainty, min_coverage: float
) -> tuple[SetOdds, ...]:
    """Rows of the sets, each of the counts of its words together, and of the contrast of two."""
    sides_of = {name: counted.rows(sides) for name, sides in query.sides.items()}
    pools = list(dict.fromkeys(rows for sides in sides_of.values() for rows in sides if rows))
    tables = {rows: counted.counts.clustered(rows, uncertainty.shift) for rows in pools}
    drawn = _draw(counted.counts, pools, uncertainty)
    estimates = []
    for name, sides in sides_of.items():
        kind = "contrast" if name == "contrast" else "pooled"
        labels: dict[str, Any] = {"name": query.labels.get(name, name), "kind": kind}
        members = ("x", "y") if name == "contrast" else (name,)
        coverage = Coverage.of({member: counted.coverage.sets[member] for member in members})
        reason = coverage.shortfall(min_coverage) or (None if all(sides) else LOST)
        for rows, member in zip(sides, members, strict=True):
            if reason is None:
                subject = f"the words of {query.labels.get(member, member)!r}"
                reason = uncertainty.why_too_few(tables[rows].table, subject)
        if reason:
            labels |= {"level": uncertainty.level, "method": uncertainty.interval}
            estimates.append(SetOdds(value=None, reason=reason, **labels))
            continue
        replicates = None
        if drawn is not None:
            columns = [drawn[:, pools.index(rows)] for rows in sides]
            replicates = columns[0] - sum(columns[1:])
        estimate = uncertainty.estimate([tables[rows] for rows in sides], replicates, n=sum(map(len, sides)))
        cells = [counted.counts.word_cells(rows) for rows in sides]
        labels["balanced"] = balanced_odds(*cells, level=uncertainty.level, n=sum(map(len, sides)))
        estimates.append(SetOdds.of_estimate(estimate, **labels, **_largest(counted, sides)))
    return tuple(estimates)


def _largest(counted: QueryCounts, sides: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The word with the largest share of the contexts of its set, over the sets, in the fields of `SetOdds`."""
    found = []
    for rows in sides:
        contexts = [float(counted.counts.cells(row)[1].sum()) for row in rows]
        place, share = largest_share(contexts)
        found.append((share, counted.counts.words[rows[place]], (contexts[place], sum(contexts))))
    share, word, numbers = max(found)
    return {"largest_word": word, "largest_share": share, "largest_contexts": numbers}


def _word_row(
    word: str, *, counted: QueryCounts, drawn: Floats | None, uncertainty: Uncertainty, weighted: bool
) -> WordOdds:
    def as_count(number: float) -> int | float:
        return float(number) if weighted else round(float(number))

    counts, index = counted.counts, counted.index.get(word)
    n_a, n_b = (as_count(total) for total in counts.total)
    row = WordOdds(word, None, None, None, None, 0, n_a, 0, n_b, level=uncertainty.level, reason=LOST)
    if index is None:
        return row
    clustered = counts.clustered([index], uncertainty.shift)
    n_wa, n_wb = (as_count(number) for number in clustered.table[[0, 2]])
    row = replace(row, n_wa=n_wa, n_wb=n_wb, documents=len(clustered.documents))
    if reason := uncertainty.why_too_few(clustered.table, "the word"):
        return replace(row, reason=reason)
    estimate = uncertainty.estimate([clustered], None if drawn is None else drawn[:, index])
    value = float(odds_ratios.log_odds_ratio(clustered.table, uncertainty.shift))
    se = float(odds_ratios.closed_form_se(clustered.table, clustered.squares, uncertainty.shift))
    closed = odds_ratios.closed_form(value, se, uncertainty.level)
    return replace(
        row,
        log_odds=value,
        low=estimate.low,
        high=estimate.high,
        se=se,
        method=estimate.method,
        closed_low=closed.low,
        closed_high=closed.high,
        se_documents=odds_ratios.document_se(clustered.changes),
        effective_documents=odds_ratios.effective_documents(clustered.changes),
        reason=estimate.reason,
        warning=estimate.warning,
    )


def _draw(counts: ContextCounts, pools: Sequence[Sequence[int]], uncertainty: Uncertainty) -> Floats | None:
    """Resamples × pools of words: log odds ratios in bootstrap samples of the documents; None for other intervals."""
    if uncertainty.interval != "bootstrap":
        return None
    from scipy.sparse import csr_array

    # Documents without a context of either group change nothing: only the others are drawn and stored.
    carriers = np.flatnonzero(counts.totals.any(axis=1))
    column = np.full(len(counts.totals), -1)
    column[carriers] = np.arange(len(carriers))
    words = len(counts.words)
    cells = np.repeat(np.arange(words), np.diff(counts.starts)), column[counts.documents]
    pool_of, word_of = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools]), np.concatenate([[], *pools])
    members = csr_array((np.ones(len(word_of)), (pool_of, word_of.astype(np.int64))), shape=(len(pools), words))
    near = [members @ csr_array((counts.near[:, side], cells), shape=(words, len(carriers))) for side in (0, 1)]
    totals = counts.totals[carriers]
    values = np.empty((uncertainty.resamples, len(pools)))
    samples = odds_ratios.draw_documents(len(counts.totals), carriers, uncertainty.resamples, uncertainty.random_state)
    for sample, multiplicities in enumerate(samples):
        drawn = multiplicities.astype(np.float64)
        tables = np.zeros((len(pools), 4))
        tables[:, 0], tables[:, 2] = (np.asarray(group @ drawn) for group in near)
        tables[:, 1::2] = drawn @ totals - tables[:, 0::2]
        values[sample] = odds_ratios.log_odds_ratio(tables, uncertainty.shift)
    return values
