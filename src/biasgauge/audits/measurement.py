"""Queries put to models: the table of similarities, and the contrast with its tests."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from biasgauge.audits.subjects import Subject
from biasgauge.core import Floats, Integers, Places, Query, Resolved, SimilarityTable, WordPolicy, resolve, resolve_sets
from biasgauge.metrics import ContrastTest, contrast_of_similarities, table_sides
from biasgauge.stats import TableSide, contrast_values
from biasgauge.vectors import Embedding

SANITY = "sanity"
"""Family of the queries that check the instrument: no bias, and not about people."""
CANDIDATES = 40
"""Words of like frequency that may stand in the place of each word."""
REFERENCE = 400
"""Random words from which the lean of a list along base pairs is counted, at most."""
FEWEST = 20
"""Random words that are enough for that."""


@dataclass(frozen=True, eq=False)
class Unmeasurable:
    """A query that cannot be measured on a subject.

    Attributes:
        query: the question.
        subject: the model or group of replicates that was tested.
        share: smallest share of a set's words that was found.
        reason: why it cannot be measured.
        resolved: the words of the query in the models.
    """

    query: Query
    subject: Subject
    share: float
    reason: str
    resolved: Resolved


@dataclass(frozen=True, eq=False, kw_only=True)
class Tabulated:
    """The words of a query in a subject, and how similar they are.

    Attributes:
        query: the question.
        subject: the model or group of replicates that was tested.
        share: smallest share of a set's words that was found.
        similarities: of all targets with all attributes (or pairs).
        table: those that the question is about, models × targets × attributes: of one list of words along base pairs,
            counted from random words of like frequency.
        random_leans: along base pairs, the similarities of random words of like frequency, each its mean over models
            and pairs; of one list of words their mean is what similarities are counted from.
    """

    query: Query
    subject: Subject
    share: float
    similarities: SimilarityTable
    table: Floats
    random_leans: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def resolved(self) -> Resolved:
        """The words of the query in the models."""
        return self.similarities.resolved

    @property
    def rows(self) -> Integers:
        """List of each target."""
        return self.similarities.target_groups

    @property
    def columns(self) -> Integers:
        """List of each attribute."""
        return self.similarities.attribute_groups

    @property
    def target_words(self) -> tuple[str, ...]:
        """Names of the rows."""
        return self.similarities.target_words

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.similarities.attribute_words

    @property
    def places(self) -> tuple[Places, Places]:
        """Rows of targets and of attributes in the first model; of pairs, those of their first words."""
        return self.similarities.targets.rows, self.similarities.attributes.rows

    @property
    def decisive(self) -> tuple[Floats, TableSide, TableSide]:
        """The table that a verdict rests on, at equal word frequency where that is known, and its words on both sides.

        `stats.contrast_estimate` and the like take the three.
        """
        if self.similarities.centered is None:
            return self.table, *self.as_it_is
        return self.similarities.centered, *table_sides(self.similarities)

    @property
    def as_it_is(self) -> tuple[TableSide, TableSide]:
        """Words on both sides of `table`, without their frequencies."""
        return table_sides(self.similarities, powers=0)

    @property
    def contrasts_by_model(self) -> Floats:
        """The contrast in each model alone, at equal word frequency where frequencies are known."""
        table, rows, columns = self.decisive
        return contrast_values(table[:, None], rows, columns, self.query.weights)

    @property
    def contrasts_by_pair(self) -> Floats:
        """The contrast of a question along base pairs, by each pair alone."""
        weights = np.array([row[0] for row in self.query.weights])
        means = np.stack([self.table[:, self.rows == group].mean(axis=(0, 1)) for group in range(len(weights))])
        return np.asarray(weights @ means)


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured(Tabulated):
    """A query that was measured on a subject.

    Attributes:
        test: the contrast and its tests, which are defined.
    """

    test: ContrastTest

    @property
    def value(self) -> float:
        """The contrast that the verdict rests on, in cosine units: at equal word frequency, where that is defined."""
        decisive = self.test.decisive.contrast.value
        return self.test.value if decisive is None else decisive

    @property
    def p(self) -> float:
        """The largest p of the tests that the verdict rests on: at equal word frequency, where that is known."""
        p = self.test.decisive.p
        return 1.0 if p is None else p

    @property
    def claim(self) -> str:
        """Meaning of the direction of the contrast."""
        return self.query.claims[0 if self.value > 0 else 1]


QueryOutcome: TypeAlias = Measured | Unmeasurable
"""A query that was measured, or the reason why it was not."""


def measure(query: Query, subject: Subject, policy: WordPolicy, random_state: int) -> QueryOutcome:
    """Measure a query on a subject: its contrast, with tests and interval."""
    outcome = tabulate(query, subject, policy, random_state)
    if isinstance(outcome, Unmeasurable):
        return outcome
    similarities = outcome.similarities
    test = contrast_of_similarities(similarities, outcome.table, similarities.centered, random_state=random_state)
    if test.p is None:
        return Unmeasurable(
            query, subject, outcome.share, test.contrast.reason or "its spread is unknown", outcome.resolved
        )
    return Measured(**vars(outcome), test=test)


def tabulate(query: Query, subject: Subject, policy: WordPolicy, random_state: int = 0) -> Tabulated | Unmeasurable:
    """Build the table of similarities of the words that every model of a subject has.

    Words of a vocabulary lean a little along base pairs, to men where a corpus writes more of men: the similarities of
    one list of words are counted, pair by pair, from the mean of random words of like frequency.
    """
    resolved = resolve(query, subject.models, policy)
    if resolved.reason is not None:
        return Unmeasurable(query, subject, resolved.share, resolved.reason, resolved)
    similarities = SimilarityTable(resolved)
    table, leans = similarities.values, np.empty(0)
    if query.pairs:
        excluded = {
            *(word for group in resolved.targets for word in group.words),
            *(word for pair in query.pairs for word in pair),
        }
        drawn = random_words(subject.models[0], similarities.targets.rows, excluded, random_state)
        random = resolve_sets({"random": drawn}, subject.models, policy)["random"]
        if len(random.words) >= FEWEST:
            baseline = similarities.similarities_of([random])
            leans = baseline.mean(axis=(0, 2))
            if query.kind == "lean":
                table = table - baseline.mean(axis=1, keepdims=True)
    return Tabulated(
        query=query, subject=subject, share=resolved.share, similarities=similarities, table=table, random_leans=leans
    )


def matched(rows: Places, words: int, random: np.random.Generator) -> Places:
    """Random rows of about the same rank as these, as files list words by frequency; none of these themselves."""
    low = np.minimum((rows / 1.5).astype(np.intp), words - 1)
    high = np.clip((rows * 1.5).astype(np.intp) + 20 + len(rows), low + 1, words)
    drawn: Places = random.integers(low, high)
    sorted_rows = np.sort(rows)
    for _ in range(10):
        repeated = sorted_rows[np.minimum(sorted_rows.searchsorted(drawn), len(sorted_rows) - 1)] == drawn
        if not repeated.any():
            break
        drawn[repeated] = random.integers(low[repeated], high[repeated])
    return drawn


def random_words(model: Embedding, rows: Places, excluded: Collection[str], random_state: int) -> tuple[str, ...]:
    """Words of about the frequency of those in some rows, none of them in `excluded`; at most `REFERENCE`."""
    random = np.random.default_rng([random_state, 23])
    like = np.unique([matched(rows, len(model), random) for _ in range(CANDIDATES)])
    drawn = (model.words[row] for row in random.permutation(like))
    return tuple(word for word in drawn if word not in excluded)[:REFERENCE]
