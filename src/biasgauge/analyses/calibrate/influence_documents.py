"""`influence`: which documents carry an association of a text, exactly, by taking each out of the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.corpus_bias import (
    Asked,
    ContextCounts,
    CorpusLike,
    Counted,
    Weighting,
    asked_sets,
    count_asked,
    present_coefficients,
)
from biasgauge.core import (
    Estimate,
    Floats,
    Integers,
    JsonMapping,
    LexiconLike,
    PairsLike,
    Record,
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
"""How many of the documents that carry the most are taken out together."""


@dataclass(frozen=True)
class DocumentInfluence(Record):
    """What one document does to the number. Documents are named by their places; no text is shown.

    Attributes:
        document: its number in the corpus, from 0.
        first_line, last_line: its lines among those of the corpus that have a word, from 0.
        tokens: how long it is.
        change: how much the number changes without it; the opposite sign of the number: the document carries it.
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
class Removal(Record):
    """The number without the documents that carry the most of it.

    Attributes:
        documents: how many are taken out.
        value: the number then, counted exactly.
        change: how much that is more than before.
    """

    documents: int
    value: float
    change: float


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Result):
    """Which documents carry an association.

    Attributes:
        number: what it is about: a word, a mean over words, or a contrast of two sets.
        value: the number with all documents, with its interval over documents.
        documents: those that carry most of it, then those that stand most against it.
        removals: the number without the first so many of those that carry it.
        carriers: documents with a context of A or B.
        effective: how many documents of equal weight would carry as much.
        settings: everything that decides the result.
        changes: of each document of the corpus, in order; not in JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("documents",)
    hidden: ClassVar[frozenset[str]] = frozenset({"changes", "counted", "coefficients"})

    number: str
    value: Estimate
    documents: tuple[DocumentInfluence, ...]
    removals: tuple[Removal, ...]
    carriers: int
    effective: float
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    changes: Floats = field(default_factory=lambda: np.empty(0))
    counted: Any = None
    coefficients: Mapping[str, float] = field(default_factory=dict)

    def change_without(self, documents: Iterable[int]) -> float:
        """How much the number changes without these documents together, exactly.

        Raises:
            ParameterError: a document does not exist, or the result was read from a file, which has no counts.
        """
        counts: ContextCounts | None = None if self.counted is None else self.counted.counts
        if counts is None:
            raise ParameterError("The counts are not in the file of an Influence: call influence on the corpus again.")
        gone = np.unique(np.asarray(list(documents), np.int64))
        if len(gone) and not 0 <= gone.min() <= gone.max() < len(counts.totals):
            raise ParameterError(f"Documents are numbered from 0 to {len(counts.totals) - 1}. Got {gone.max()}.")
        return float(_value(counts, self.coefficients, self.counted.places, gone) - (self.value.value or 0.0))

    def summary(self) -> Summary:
        """The documents that carry most, by number, and what is left without them."""
        value = self.value.value or 0.0
        half = next((step.documents for step in self.removals if abs(step.value) <= abs(value) / 2), None)
        turned = next((step.documents for step in self.removals if step.value * value <= 0), None)
        told = [
            f"As if {self.effective:,.0f} documents of equal weight carried it; {self.carriers:,} have any context."
        ]
        if half is not None:
            told.append(f"Without the {_documents(half)} the most, it is halved or less.")
        if turned is not None:
            told.append(f"Without the {_documents(turned)} the most, it is gone or reversed.")
        counts = [Column(name, "number", 1) for name in ("n_wa", "n_a", "n_wb", "n_b")]
        columns = [Column("document", "count"), Column("lines", "text"), Column("tokens", "count"),
                   Column("change without it", "number", 4), *counts]  # fmt: skip
        rows = [(row.document, f"{row.first_line}–{row.last_line}", row.tokens, row.change, row.n_wa, row.n_a, row.n_wb,
                 row.n_b) for row in self.documents]  # fmt: skip
        steps = [(step.documents, step.value, step.change) for step in self.removals]
        numbers = Column("log odds then", "number", 3), Column("change", "number", 3)
        without = "Without the documents that carry the most"
        return Summary(
            title="Which documents carry it",
            headline=f"{self.number}: {self.value}",
            sentences=tuple(told),
            tables=(
                Table.of("removals", without, [Column("documents", "count"), *numbers], steps),
                Table.of("documents", "Documents, by number; no text is shown", columns, rows, most=20),
            ),
            warnings=self.warnings,
            charts=(Chart("removals", without, _REMARK, self._removed, width="column"),) if steps else (),
        )

    def _removed(self) -> AltairChart:
        """The number as documents are taken out."""
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
    """Say which documents carry an association of a text: each taken out of the counts, exactly.

    The number is the log odds ratio of `corpus_bias`: of one word, the mean over several, or the contrast of X and Y.
    A document's influence is how much the number changes without it. Brunet et al. 2019 asked the same of embeddings;
    `check_influence` trains again to see whether vectors follow the counts.

    Args:
        corpus: a tokenized corpus, its folder, or what `read_corpus` reads.
        words: words to ask about.
        a: words of the first group.
        b: words of the second group.
        pairs: base pairs instead of a and b.
        test: a lexicon of kind "test".
        x: first targets.
        y: second targets.
        top: how many documents to list, of those that carry the number and of those against it.
        window: tokens on each side.
        weighting: "flat", "word2vec" or "glove", as in `corpus_bias`.
        min_count: words rarer than this are skipped before distances are counted.
        level: nominal coverage of the number's interval.
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
    asked = asked_sets(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counted = count_asked(
        text, asked, window=window, weighting=weighting, min_count=min_count, min_coverage=min_coverage,
        case_fallback=case_fallback, progress=progress,
    )  # fmt: skip
    name, coefficients = _number(asked, counted, min_coverage)
    counts = counted.counts
    changes, variance = np.zeros(len(counts.totals)), 0.0
    for word, share in coefficients.items():
        place = counted.places[word]
        changes += share * counts.left_out_changes(place)
        se = odds_ratios.closed_form_se(counts.table(place), counts.table_squares(place))
        variance += float(share * se) ** 2
    value = _value(counts, coefficients, counted.places, np.empty(0, np.int64))
    sign = 1.0 if value >= 0 else -1.0
    order = np.lexsort((np.arange(len(changes)), sign * changes))
    chosen = [*order[:top].tolist(), *(place for place in order[::-1][:top].tolist() if place not in order[:top])]
    moved = [place for place in chosen if changes[place] != 0]
    return Influence(
        number=name,
        value=odds_ratios.over_documents(
            value, changes, counts.carriers([counted.places[word] for word in coefficients]), variance**0.5, level,
            n=len(coefficients),
        ),
        documents=tuple(_described(text, counts, coefficients, counted.places, changes, place) for place in moved),
        removals=tuple(_removals(counts, coefficients, counted.places, order, changes, value)),
        carriers=int(counts.totals.any(axis=1).sum()),
        effective=odds_ratios.effective_documents(changes),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1,
            "window": window, "weighting": weighting, "min_count": min_count, "top": top,
            "a": list(counted.coverage.sets["a"].words), "b": list(counted.coverage.sets["b"].words),
        },
        warnings=tuple(f"not in the text, {part}: {', '.join(lost)}" for part, lost in counted.coverage.lost.items()),
        changes=changes,
        counted=counted,
        coefficients=coefficients,
    )  # fmt: skip


def _documents(count: int) -> str:
    return "document that carries" if count == 1 else f"{count:,} documents that carry"


def _number(asked: Asked, counted: Counted, min_coverage: float) -> tuple[str, dict[str, float]]:
    """What is asked: the contrast, the first set's mean, or the one word; with the weights of its words."""
    if not asked.sets:
        word = asked.words[0]
        if word not in counted.places:
            raise ParameterError(f"The text does not have the word {word!r}.")
        return f"log odds ratio of {word}", {word: 1.0}
    if short := counted.coverage.shortfall(min_coverage):
        raise ParameterError(f"The text has too few of the words: {short}.")
    every = present_coefficients(asked, counted)
    name = "contrast" if "contrast" in every else next(iter(every))
    if name != "contrast" and len(every) > 1:
        words = list(counted.places)
        return "mean log odds ratio of all words", dict.fromkeys(words, 1 / len(words))
    label = asked.labels.get(name, name)
    return f"{'contrast' if name == 'contrast' else 'mean log odds ratio'} of {label}", every[name]


def _value(
    counts: ContextCounts, coefficients: Mapping[str, float], places: Mapping[str, int], gone: Integers
) -> float:
    """The number without some documents."""
    total = counts.total - counts.totals[gone].sum(axis=0)
    value = 0.0
    for word, share in coefficients.items():
        documents, near = counts.cells(places[word])
        own = near.sum(axis=0) - near[np.isin(documents, gone)].sum(axis=0)
        table = np.array([own[0], total[0] - own[0], own[1], total[1] - own[1]])
        value += share * float(odds_ratios.log_odds_ratio(np.maximum(table, 0.0)))
    return value


def _removals(
    counts: ContextCounts, coefficients: Mapping[str, float], places: Mapping[str, int], order: Integers,
    changes: Floats, value: float,
) -> Iterable[Removal]:  # fmt: skip
    carrying = int((changes * (1.0 if value >= 0 else -1.0) < 0).sum())
    for step in STEPS:
        if step > carrying:
            break
        then = _value(counts, coefficients, places, np.sort(order[:step]))
        yield Removal(step, then, then - value)


def _described(
    text: TokenCorpus, counts: ContextCounts, coefficients: Mapping[str, float], places: Mapping[str, int],
    changes: Floats, document: int,
) -> DocumentInfluence:  # fmt: skip
    first, last = (int(line) for line in text.documents[document : document + 2])
    near = np.zeros(2)
    for word in coefficients:
        documents, own = counts.cells(places[word])
        near += own[documents == document].sum(axis=0)
    n_a, n_b = counts.totals[document].tolist()
    return DocumentInfluence(
        document, first, last - 1, int(text.lines[last] - text.lines[first]), float(changes[document]),
        float(near[0]), n_a, float(near[1]), n_b,
    )  # fmt: skip


def carriers_of(result: Influence) -> Sequence[int]:
    """Documents in which a word asked about stands near either group."""
    counts: ContextCounts = result.counted.counts
    places = [result.counted.places[word] for word in result.coefficients]
    return np.unique(np.concatenate([counts.cells(place)[0] for place in places])).tolist()  # type: ignore[no-any-return]
