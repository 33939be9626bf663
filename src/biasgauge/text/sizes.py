"""Sizes of corpora: documents, words, vocabulary, mean length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from biasgauge.core import Record, check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.text.token_corpus import TokenCorpus

PUBLISHED = "badder_seeds2022"
_SIGNS = re.compile(r"[^\w\s]")


@dataclass(frozen=True)
class CorpusSize(Record):
    """One row of the table.

    Attributes:
        name: of the corpus.
        documents: documents with at least one word.
        lines: lines with at least one word.
        words: tokens.
        vocabulary: types.
        mean_length: words of a document in the mean.
    """

    name: str
    documents: int
    lines: int
    words: int
    vocabulary: int
    mean_length: float


@dataclass(frozen=True, repr=False)
class CorpusStatistics(Result):
    """Sizes of corpora. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        counting: the rule of counting, in words.
        rows: one per corpus.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    counting: str
    rows: tuple[CorpusSize, ...]

    def summary(self) -> Summary:
        """One row per corpus."""
        counts = [Column(name, "count") for name in ("documents", "lines", "words", "vocabulary")]
        rows = [(row.name, row.documents, row.lines, row.words, row.vocabulary, row.mean_length) for row in self.rows]
        tables = (Table.of("corpora", "", ["corpus", *counts, Column("mean length", "number", 1)], rows),)
        return Summary("Sizes of corpora", f"{len(rows)} corpora, counted: {self.counting}", tables=tables)


def statistics(
    corpora: TokenCorpus | Mapping[str, TokenCorpus], *, min_count: int = 1, as_published: str | None = None
) -> CorpusStatistics:
    """Count documents, words, vocabulary and mean length of one corpus or of several by name.

    Args:
        corpora: a corpus, or names and corpora.
        min_count: words rarer than this are counted nowhere.
        as_published: "badder_seeds2022" counts as its table A.1 was: signs that are no letters or digits are deleted
            from every token, and the words are those left with at least 10 occurrences; the vocabulary, however, is
            that of all tokens as they are; the mean length follows the words.

    Raises:
        ParameterError: an argument is impossible.
    """
    named = {corpora.path.name: corpora} if isinstance(corpora, TokenCorpus) else corpora
    if not isinstance(named, Mapping) or not all(isinstance(corpus, TokenCorpus) for corpus in named.values()):
        raise ParameterError(
            f"The 'corpora' parameter of statistics must be a corpus, or a dict of them. Got {type(corpora).__name__}."
        )
    check_choice((None, PUBLISHED), as_published=as_published)
    check_whole(1, min_count=min_count)
    if as_published:
        counting = f"as published ({PUBLISHED}): words of at least 10 occurrences without signs; vocabulary unfiltered"
    else:
        counting = "all words" if min_count == 1 else f"words of at least {min_count} occurrences"
    rows = []
    for name, corpus in named.items():
        counts = corpus.counts[corpus.counts >= min_count]
        words, vocabulary = _count_as_published(corpus) if as_published else (int(counts.sum()), len(counts))
        documents = len(corpus.documents) - 1
        rows.append(CorpusSize(name, documents, len(corpus.lines) - 1, words, vocabulary, words / documents))
    return CorpusStatistics(counting, tuple(rows))


def _count_as_published(corpus: TokenCorpus) -> tuple[int, int]:
    stripped: Counter[str] = Counter()
    for word, count in zip(corpus.words, corpus.counts.tolist(), strict=True):
        stripped[_SIGNS.sub("", word)] += count
    return sum(count for word, count in stripped.items() if word and count >= 10), len(corpus.words)
