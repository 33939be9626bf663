"""`influence`: contribution of each document to an association of a text, by taking it out of the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    set_weights,
)
from biasgauge.core import (
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
from biasgauge.results import SECOND, AltairChart, Chart, Column, Result, Summary, Table, altair, zero_line
from biasgauge.stats import odds_ratios
from biasgauge.text import TokenCorpus, corpus_of

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
        number: name of the estimate: of a word, a mean over words, or a contrast of two sets.
        value: the estimate with all documents, with its interval over documents.
        documents: those that carry most of it, then those that oppose it most.
        removals: the estimate without the most influential documents.
        carriers: number of documents with a context of A or B.
        effective: equivalent number of documents of equal weight.
        settings: everything that decides the result.
        changes: of each document of the corpus, in order; not in JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("documents",)
    hidden: ClassVar[frozenset[str]] = frozenset({"changes", "counted", "coefficients"})

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
    coefficients: Mapping[str, float] = field(default_factory=dict)

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
        return float(_value_without(removed, self.counted, self.coefficients) - (self.value.value or 0.0))

    def summary(self) -> Summary:
        """Most influential documents, by number, and the estimate without them."""
        value = self.value.value or 0.0
        halved = next((step.documents for step in self.removals if abs(step.value) <= abs(value) / 2), None)
        reversed_by = next((step.documents for step in self.removals if step.value * value <= 0), None)
        sentences = [
            f"As if {self.effective:,.0f} documents of equal weight carried it; {self.carriers:,} have any context."
        ]
        for count, effect in ((halved, "halved or less"), (reversed_by, "gone or reversed")):
            if count is not None:
                carrying = "document that carries" if count == 1 else f"{count:,} documents that carry"
                sentences.append(f"Without the {carrying} the most, it is {effect}.")
        counts = [Column(name, "number", 1) for name in ("n_wa", "n_a", "n_wb", "n_b")]
        columns = [Column("document", "count"), Column("lines", "text"), Column("tokens", "count"),
                   Column("change without it", "number", 4), *counts]  # fmt: skip
        rows = [(row.document, f"{row.first_line}–{row.last_line}", row.tokens, row.change, row.n_wa, row.n_a, row.n_wb,
                 row.n_b) for row in self.documents]  # fmt: skip
        steps = [(step.documents, step.value, step.change) for step in self.removals]
        numbers = Column("log odds then", "number", 3), Column("change", "number", 3)
        without = "Without the documents that carry the most"
        return Summary(
            title="Influence of documents",
            headline=f"{self.number}: {self.value}",
            sentences=tuple(sentences),
            tables=(
                Table.of("removals", without, [Column("documents", "count"), *numbers], steps),
                Table.of("documents", "Documents, by number; no text is shown", columns, rows, most=20),
            ),
            warnings=self.warnings,
            charts=(Chart("removals", without, _REMARK, self._removal_chart, width="column"),) if steps else (),
        )

    def _removal_chart(self) -> AltairChart:
        """Draw the estimate as documents are taken out."""
        import pandas as pd

        alt = altair()
        steps = [(0, self.value.value), *((step.documents, step.value) for step in self.removals)]
        ticks = alt.Axis(values=[documents for documents, _ in steps], labelOverlap=True)
        base = alt.Chart().encode(
            x=alt.X("documents:Q", title="documents taken out", scale=alt.Scale(type="symlog"), axis=ticks),
            y=alt.Y("log odds:Q", title=self.number),
            tooltip=["documents", "log odds"],
        )
        line = base.mark_line(color=SECOND, point=alt.OverlayMarkDef(filled=True, size=46, color=SECOND))
        return alt.layer(zero_line(horizontal=True), line, data=pd.DataFrame(steps, columns=["documents", "log odds"]))


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
    min_coverage: float = 0.8,
    case_fallback: bool | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    """Measure how much each document contributes to an association of a text, exactly, from counts.

    The estimate θ is the log odds ratio of `corpus_bias`: of one word, the mean over several, or the contrast of X and
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
        min_coverage: share of each group and each set that the text must have.
        case_fallback: look words up in lower case, then capitalized; None: where the text is all in lower case.
        layout: of a text that is read.
        tokenizer: of a text that is read.
        field: column or field of a table that is read.
        documents: what is a document in plain lines: "line", "blank-line" or "file".
        progress: called with (done, total).

    Raises:
        ParameterError: an argument cannot be used, or too few words are in the text.
        CorpusError: the text cannot be read.
    """
    check_whole(1, top=top)
    check_level(level)
    query = corpus_query(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counting: dict[str, Any] = {"window": window, "weighting": weighting, "min_count": min_count}
    policy = WordPolicy.from_options(min_coverage, case_fallback)
    counted = count_query(text, query, policy, progress, **counting)
    name, coefficients = _estimand(query, counted, min_coverage)
    counts = counted.counts
    changes, variance = np.zeros(len(counts.totals)), 0.0
    for word, share in coefficients.items():
        index = counted.index[word]
        changes += share * counts.left_out_changes(index)
        se = odds_ratios.closed_form_se(counts.table(index), counts.table_squares(index))
        variance += float(share * se) ** 2
    value = _value_without(np.empty(0, np.int64), counted, coefficients)
    sign = 1.0 if value >= 0 else -1.0
    # Documents whose removal weakens the association come first; ties keep the order of the corpus.
    order = np.lexsort((np.arange(len(changes)), sign * changes))
    listed = dict.fromkeys([*order[:top].tolist(), *order[::-1][:top].tolist()])
    carriers = len(counts.carriers([counted.index[word] for word in coefficients]))
    return Influence(
        number=name,
        value=odds_ratios.over_documents(value, changes, carriers, variance**0.5, level, n=len(coefficients)),
        documents=tuple(
            _describe(text, counted, coefficients, float(changes[document]), document)
            for document in listed
            if changes[document] != 0
        ),
        removals=tuple(_removals(counted, coefficients, order, changes, value)),
        carriers=int(counts.totals.any(axis=1).sum()),
        effective=odds_ratios.effective_documents(changes),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, **counting,
            "top": top, "a": list(counted.coverage.sets["a"].words), "b": list(counted.coverage.sets["b"].words),
        },
        warnings=tuple(f"not in the text, {name}: {', '.join(lost)}" for name, lost in counted.coverage.lost.items()),
        changes=changes,
        counted=counted,
        coefficients=coefficients,
    )  # fmt: skip


def _estimand(query: CorpusQuery, counted: QueryCounts, min_coverage: float) -> tuple[str, dict[str, float]]:
    """Name and weights of words of the estimate: the contrast, the mean of all words, or the one word."""
    if not query.sets:
        word = query.words[0]
        if word not in counted.index:
            raise ParameterError(f"The text does not have the word {word!r}.")
        return f"log odds ratio of {word}", {word: 1.0}
    if shortfall := counted.coverage.shortfall(min_coverage):
        raise ParameterError(f"The text has too few of the words: {shortfall}.")
    weights = set_weights(query, counted)
    if "contrast" in weights:
        return f"contrast of {query.labels['contrast']}", weights["contrast"]
    if len(weights) > 1:
        return "mean log odds ratio of all words", dict.fromkeys(counted.index, 1 / len(counted.index))
    name = next(iter(weights))
    return f"mean log odds ratio of {query.labels.get(name, name)}", weights[name]


def _value_without(removed: Integers, counted: QueryCounts, coefficients: Mapping[str, float]) -> float:
    """Estimate without some documents."""
    counts = counted.counts
    total = counts.total - counts.totals[removed].sum(axis=0)
    value = 0.0
    for word, share in coefficients.items():
        documents, near = counts.cells(counted.index[word])
        remaining = near.sum(axis=0) - near[np.isin(documents, removed)].sum(axis=0)
        table = np.array([remaining[0], total[0] - remaining[0], remaining[1], total[1] - remaining[1]])
        value += share * float(odds_ratios.log_odds_ratio(np.maximum(table, 0.0)))
    return value


def _removals(
    counted: QueryCounts, coefficients: Mapping[str, float], order: Integers, changes: Floats, value: float
) -> Iterable[DocumentRemoval]:
    carrying = int((changes * (1.0 if value >= 0 else -1.0) < 0).sum())
    for step in STEPS:
        if step > carrying:
            break
        reduced = _value_without(np.sort(order[:step]), counted, coefficients)
        yield DocumentRemoval(step, reduced, reduced - value)


def _describe(
    text: TokenCorpus, counted: QueryCounts, coefficients: Mapping[str, float], change: float, document: int
) -> DocumentInfluence:
    first, last = (int(line) for line in text.documents[document : document + 2])
    near = np.zeros(2)
    for word in coefficients:
        documents, word_near = counted.counts.cells(counted.index[word])
        near += word_near[documents == document].sum(axis=0)
    n_a, n_b = counted.counts.totals[document].tolist()
    tokens = int(text.lines[last] - text.lines[first])
    return DocumentInfluence(document, first, last - 1, tokens, change, float(near[0]), n_a, float(near[1]), n_b)
