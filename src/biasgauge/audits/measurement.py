"""Queries put to models: the table of similarities, and the contrast with its tests."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
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
REFERENCE = 2_000
"""Random words from which the lean of a list along base pairs is counted, at most."""
FEWEST = 20
"""Random words that are enough for that."""
LONGEST = 1_000
"""Words of a list that are measured, at most: of longer ones, random words. Tables grow with the square of the words,
and intervals of so many are a small part of the smallest contrast that matters."""


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
        centered: the same at equal word frequency; None where frequencies are not known.
        random_leans: along base pairs, the similarities of random words of like frequency, each its mean over models
            and pairs; of one list of words their mean is what similarities are counted from.
        remark: which lists were too long to be measured whole; empty without any.
    """

    query: Query
    subject: Subject
    share: float
    similarities: SimilarityTable
    table: Floats
    centered: Floats | None = None
    random_leans: Floats = field(default_factory=lambda: np.empty(0))
    remark: str = ""

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
        if self.centered is None:
            return self.table, *self.as_it_is
        return self.centered, *table_sides(self.similarities)

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
        """The contrast of a question along base pairs by each pair, at equal word frequency where it is known."""
        table, rows, _ = self.decisive
        weights = np.array([row[0] for row in self.query.weights])
        return np.asarray(weights @ rows.inverse[: len(weights)] @ table.mean(axis=0))


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
    test = contrast_of_similarities(outcome.similarities, outcome.table, outcome.centered, random_state=random_state)
    if query.kind == "lean" and outcome.random_leans.size:
        leans = outcome.random_leans
        test = test.with_variance("random words", float(leans.var(ddof=1)) / len(leans))
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
    if query.kind == "test" and resolved.shared_target:
        reason = f"the word {resolved.shared_target} is in both target lists, X and Y: remove it from one"
        return Unmeasurable(query, subject, resolved.share, reason, resolved)
    share = resolved.share
    resolved, remark = shorten_lists(resolved, random_state)
    similarities = SimilarityTable(resolved)
    table, centered, leans = similarities.values, similarities.centered, np.empty(0)
    if query.pairs:
        excluded = {
            *(word for group in resolved.targets for word in group.words),
            *(word for pair in query.pairs for word in pair),
        }
        drawn = random_words(subject.models[0], query.language, similarities.targets.rows, excluded, random_state)
        random = resolve_sets({"random": drawn}, subject.models, policy)["random"]
        if len(random.words) >= FEWEST:
            baseline, centered_baseline = similarities.similarities_of(random)
            leans = baseline.mean(axis=(0, 2))
            if query.kind == "lean":
                table = table - baseline.mean(axis=1, keepdims=True)
                if centered is not None and centered_baseline is not None:
                    centered = centered - centered_baseline.mean(axis=1, keepdims=True)
    return Tabulated(
        query=query, subject=subject, share=share, similarities=similarities, table=table, centered=centered,
        random_leans=leans, remark=remark,
    )  # fmt: skip


def shorten_lists(resolved: Resolved, random_state: int) -> tuple[Resolved, str]:
    """Draw `LONGEST` random words of each longer list; and the sentence that says so, empty where none is longer."""
    sets, drawn = dict(resolved.sets), []
    for index, key in enumerate((*resolved.query.target_keys, *resolved.query.attribute_keys)):
        words = sets[key].words
        if len(words) > LONGEST:
            random = np.random.default_rng([random_state, 29, index])
            rows = np.sort(random.choice(len(words), LONGEST, replace=False)).tolist()
            sets[key] = sets[key].only([words[row] for row in rows])
            drawn.append(f"{len(words):,} of {resolved.query.labels[key]}")
    if not drawn:
        return resolved, ""
    remark = f"Lists are long: {LONGEST:,} random words of each were measured in place of {', '.join(drawn)}."
    return replace(resolved, sets=sets), remark


@dataclass(frozen=True, eq=False)
class LikeFrequency:
    """Draws of random words of like frequency from one model.

    Attributes:
        ranks: rank of each row by frequency, 0 for the most frequent.
    """

    ranks: Places

    @classmethod
    def of(cls, model: Embedding, language: str) -> LikeFrequency:
        """Rank the words of a model: by frequency where that is known, else as its file lists them."""
        return cls(model.frequency_ranks(language))

    @cached_property
    def rows(self) -> Places:
        """Row of each rank."""
        return np.argsort(self.ranks)

    def draw(self, rows: Places, random: np.random.Generator) -> Places:
        """Draw random rows of about the same rank as these; none of these themselves."""
        words, ranks = len(self.ranks), self.ranks[rows]
        low = np.minimum((ranks / 1.5).astype(np.intp), words - 1)
        high = np.clip((ranks * 1.5).astype(np.intp) + 20 + len(ranks), low + 1, words)
        drawn: Places = random.integers(low, high)
        sorted_ranks = np.sort(ranks)
        for _ in range(10):
            repeated = sorted_ranks[np.minimum(sorted_ranks.searchsorted(drawn), len(sorted_ranks) - 1)] == drawn
            if not repeated.any():
                break
            drawn[repeated] = random.integers(low[repeated], high[repeated])
        return self.rows[drawn]


def random_words(
    model: Embedding, language: str, rows: Places, excluded: Collection[str], random_state: int
) -> tuple[str, ...]:
    """Words of about the frequency and the kind of those in some rows, none of them in `excluded`.

    Names lean otherwise than common words do: a word is replaced by one in lower case, or with a capital, or of other
    characters than letters, as it is itself. At most `REFERENCE` words.
    """
    random = np.random.default_rng([random_state, 23])
    words = LikeFrequency.of(model, language)
    kinds = [_spelling(model.words[row]) for row in rows.tolist()]
    candidates = {
        row
        for _ in range(CANDIDATES)
        for row, kind in zip(words.draw(rows, random).tolist(), kinds, strict=True)
        if _spelling(model.words[row]) == kind
    }
    ranks = np.sort(words.ranks[sorted(candidates)])  # whatever the order of rows
    drawn = (model.words[row] for row in words.rows[random.permutation(ranks)])
    return tuple(word for word in drawn if word not in excluded)[:REFERENCE]


def _spelling(word: str) -> str:
    """Return whether a word is of small letters, has a capital, or has other characters than letters."""
    if not word.isalpha():
        return "other"
    return "lower" if word == word.lower() else "capital"
