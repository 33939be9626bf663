"""`influence`: contribution of each document to an association of a text, by taking it out of the counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.corpus_bias import (
    CorpusLike,
    CorpusQuery,
    QueryCounts,
    Weighting,
    corpus_query,
    count_query,
    why_too_few,
)
from biasgauge.core import (
    DEFAULT_POLICY,
    Estimate,
    Floats,
    Integers,
    JsonMapping,
    LexiconLike,
    PairsLike,
    Record,
    WordPolicy,
    WordsLike,
    check_level,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.results import SECOND, AltairChart, Chart, Column, RecordTable, Result, altair, counted, zero_line
from biasgauge.stats import clustered_estimate, odds_ratios
from biasgauge.text import corpus_of

_WITHOUT = "Without the documents that carry the most"
_REMARK = "All documents at the left; those that carry the most are taken out first. 0: no association is left"
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""Numbers of the most influential documents that are taken out together."""


@dataclass(frozen=True)
class DocumentInfluence(Record):
    """Influence of one document on the estimate. Documents are identified by number; no text is shown.

    Attributes:
        document: its number in the corpus, from 0.
        first_line, last_line: its lines among those of the corpus that have a word, from 0.
        tokens: its length.
        change: change of the estimate without it; of the opposite sign where the document carries the association.
        n_wa, n_wb: contexts of A and of B in it that hold a word asked about; n_a, n_b: all of them.
    """

    document: int
    first_line: int
    last_line: int
    tokens: int
    change: float
    n_wa: float
    n_a: float
    n_wb: float
    n_b: float


@dataclass(frozen=True)
class DocumentRemoval(Record):
    """The estimate without the most influential documents.

    Attributes:
        documents: number of documents taken out.
        value: the estimate without them, counted exactly.
        change: difference from the estimate with all documents.
    """

    documents: int
    value: float
    change: float


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Result):
    """Influence of documents on an association.

    Attributes:
        number: name of the estimate: of a word, of words together, or a contrast of two sets.
        value: the estimate with all documents, with its interval over documents.
        documents: those that carry most of it, then those that oppose it most.
        removals: the estimate without the most influential documents.
        carriers: number of documents with a context of A or B.
        effective: equivalent number of documents of equal weight.
        settings: everything that decides the result.
        changes: of each document of the corpus, in order; not in JSON.
        sides: words whose counts are pooled; two where the estimate is a difference; not in JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("documents",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("removals", _WITHOUT, (
            Column("documents", "count"), Column("log odds then", "number", 3, source="value"),
            Column("change", "number", 3),
        )),
        RecordTable("documents", "Documents, by number; no text is shown", (
            Column("document", "count"), Column("lines", source=lambda row: f"{row.first_line}–{row.last_line}"),
            Column("tokens", "count"), Column("change without it", "number", 4, source="change"),
            *(Column(name, "number", 1) for name in ("n_wa", "n_a", "n_wb", "n_b")),
        ), most=20),
    )  # fmt: skip
    hidden: ClassVar[frozenset[str]] = frozenset({"changes", "counted", "sides"})

    number: str
    value: Estimate
    documents: tuple[DocumentInfluence, ...]
    removals: tuple[DocumentRemoval, ...]
    carriers: int
    effective: float
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    changes: Floats = field(default_factory=lambda: np.empty(0))
    counted: QueryCounts | None = None
    sides: tuple[tuple[str, ...], ...] = ()

    def change_without(self, documents: Iterable[int]) -> float:
        """Change of the estimate without these documents together, exactly.

        Raises:
            ParameterError: a document does not exist, or the result was read from a file, which has no counts.
        """
        if self.counted is None:
            raise ParameterError("The counts are not in the file of an Influence: call influence on the corpus again.")
        removed = np.unique(np.asarray(list(documents), np.int64))
        last = len(self.counted.counts.totals) - 1
        if len(removed) and not 0 <= removed.min() <= removed.max() <= last:
            raise ParameterError(f"Documents are numbered from 0 to {last}. Got {removed.max()}.")
        return float(_value_without(removed, self.counted, self.sides) - (self.value.value or 0.0))

    def _title(self) -> str:
        return "Influence of documents"

    def _headline(self) -> str:
        return f"{self.number}: {self.value}"

    def _sentences(self) -> tuple[str, ...]:
        value = self.value.value or 0.0
        halved = [step.documents for step in self.removals if abs(step.value) <= abs(value) / 2]
        reversing = [step.documents for step in self.removals if step.value * value <= 0]
        weight = (
            f"As if {self.effective:,.0f} documents of equal weight carried it; {self.carriers:,} have any context."
        )
        sentences = [weight]
        for counts, effect in ((halved, "halved or less"), (reversing, "gone or reversed")):
            if counts:
                carrying = counted(counts[0], "document that carries", "documents that carry").removeprefix("1 ")
                sentences.append(f"Without the {carrying} the most, it is {effect}.")
        return tuple(sentences)

    def _charts(self) -> tuple[Chart, ...]:
        if not self.removals:
            return ()

        def draw() -> AltairChart:
            import pandas as pd

            alt = altair()
            steps = [(0, self.value.value), *((step.documents, step.value) for step in self.removals)]
            ticks = alt.Axis(values=[documents for documents, _ in steps], labelOverlap=True)
            line = alt.Chart().mark_line(color=SECOND, point=alt.OverlayMarkDef(filled=True, size=46, color=SECOND))
            line = line.encode(
                x=alt.X("documents:Q", title="documents taken out", scale=alt.Scale(type="symlog"), axis=ticks),
                y=alt.Y("log odds:Q", title=self.number),
                tooltip=["documents", "log odds"],
            )
            frame = pd.DataFrame(steps, columns=["documents", "log odds"])
            return alt.layer(zero_line(horizontal=True), line, data=frame)

        return (Chart("removals", _WITHOUT, _REMARK, draw, width="column"),)


def influence(  # noqa: PLR0913 - settings are keyword arguments
    corpus: CorpusLike,
    words: WordsLike | None = None,
    *,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    pairs: PairsLike | None = None,
    test: LexiconLike | None = None,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    top: int = 10,
    window: int = 5,
    weighting: Weighting = "flat",
    min_count: int = 1,
    level: float = 0.95,
    policy: WordPolicy = DEFAULT_POLICY,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    """Measure how much each document contributes to an association of a text, exactly, from counts.

    The estimate θ is the log odds ratio of `corpus_bias`: of one word, of several together, or the contrast of X and
    Y. The influence of document d is θ without d less θ; 0: the document does not matter. Brunet et al. 2019 did the
    same for embeddings; `check_influence` trains again to see whether vectors follow the counts.

    Args:
        corpus: a tokenized corpus, its folder, or what `read_corpus` reads.
        words: words to ask about.
        a: words of the first group.
        b: words of the second group.
        pairs: base pairs instead of a and b.
        test: a lexicon of kind "test".
        x: first targets.
        y: second targets.
        top: number of documents to list, of those that carry the association and of those that oppose it.
        window: tokens on each side.
        weighting: "flat", "word2vec" or "glove", as in `corpus_bias`.
        min_count: words rarer than this are skipped before distances are counted.
        level: nominal coverage of the estimate's interval.
        policy: how words are looked up, and the share of each group and each set that the text must have.
        layout: of a text that is read.
        tokenizer: of a text that is read.
        field: column or field of a table that is read.
        documents: what is a document in plain lines: "line", "blank-line" or "file".
        progress: called with (done, total).

    Raises:
        ParameterError: an argument cannot be used, too few words are in the text, or they have no context.
        CorpusError: the text cannot be read.
    """
    check_whole(1, top=top)
    check_level(level)
    query = corpus_query(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counting: dict[str, Any] = {"window": window, "weighting": weighting, "min_count": min_count}
    query_counts = count_query(text, query, policy, progress, **counting)
    name, sides = _estimand(query, query_counts, policy.min_coverage)
    counts, coverage = query_counts.counts, query_counts.coverage
    tables = [counts.clustered(rows) for rows in query_counts.rows(sides)]
    for table, words_of_side in zip(tables, sides, strict=True):
        if reason := why_too_few(table.table, 1, ", ".join(words_of_side[:3])):
            raise ParameterError(f"The {name} is undefined: {reason}.")
    changes = tables[0].changes - sum(table.changes for table in tables[1:])
    near = np.zeros_like(counts.totals, np.float64)
    everything = counts.pool([row for rows in query_counts.rows(sides) for row in rows])
    near[everything.documents] = everything.near
    value = _value_without(np.empty(0, np.int64), query_counts, sides)
    sign = 1.0 if value >= 0 else -1.0
    # Documents whose removal weakens the association come first; ties keep the order of the corpus.
    order = np.lexsort((np.arange(len(changes)), sign * changes))
    removals = []
    for step in itertools.takewhile(lambda step: step <= (sign * changes < 0).sum(), STEPS):
        reduced = _value_without(np.sort(order[:step]), query_counts, sides)
        removals.append(DocumentRemoval(step, reduced, reduced - value))
    rows = []
    for document in dict.fromkeys([*order[:top].tolist(), *order[::-1][:top].tolist()]):
        if changes[document] != 0:
            first, last = (int(line) for line in text.documents[document : document + 2])
            tokens, (n_wa, n_wb) = int(text.lines[last] - text.lines[first]), near[document].tolist()
            n_a, n_b = counts.totals[document].tolist()
            change = float(changes[document])
            rows.append(DocumentInfluence(document, first, last - 1, tokens, change, n_wa, n_a, n_wb, n_b))
    return Influence(
        number=name,
        value=clustered_estimate(*tables, level=level, n=sum(map(len, sides))),
        documents=tuple(rows),
        removals=tuple(removals),
        carriers=int(counts.totals.any(axis=1).sum()),
        effective=odds_ratios.effective_documents(changes),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, **counting,
            "top": top, **{name: list(coverage.sets[name].words) for name in ("a", "b")},
        },
        warnings=tuple(f"not in the text, {name}: {', '.join(lost)}" for name, lost in coverage.lost.items()),
        changes=changes,
        counted=query_counts,
        sides=sides,
    )  # fmt: skip


def _estimand(query: CorpusQuery, counted: QueryCounts, min_coverage: float) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Name of the estimate, and the words of its sides: the contrast, all words together, or the one word."""
    if not query.sets:
        word = query.words[0]
        if word not in counted.index:
            raise ParameterError(f"The text does not have the word {word!r}.")
        return f"log odds ratio of {word}", ((word,),)
    if shortfall := counted.coverage.shortfall(min_coverage):
        raise ParameterError(f"The text has too few of the words: {shortfall}.")
    found = {
        name: tuple(tuple(word for word in side if word in counted.index) for side in sides)
        for name, sides in query.sides.items()
    }
    if "contrast" in found:
        return f"contrast of {query.labels['contrast']}", found["contrast"]
    if len(found) > 1:
        return "log odds ratio of all words together", (tuple(counted.index),)
    name = next(iter(found))
    return f"log odds ratio of {query.labels.get(name, name)}", found[name]


def _value_without(removed: Integers, counted: QueryCounts, sides: Sequence[Sequence[str]]) -> float:
    """Estimate without some documents."""
    counts = counted.counts
    total = counts.total - counts.totals[removed].sum(axis=0)
    values = []
    for rows in counted.rows(sides):
        documents, near = counts.pool(rows).cells(0)
        remaining = near.sum(axis=0) - near[np.isin(documents, removed)].sum(axis=0)
        table = np.array([remaining[0], total[0] - remaining[0], remaining[1], total[1] - remaining[1]])
        values.append(float(odds_ratios.log_odds_ratio(np.maximum(table, 0.0))))
    return values[0] - sum(values[1:])
