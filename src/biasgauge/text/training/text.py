"""Training text: the lines of a corpus or of a sample of it, as rows of a vocabulary."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasgauge.text import TokenCorpus, Vocabulary, bootstrap_documents, vocabulary


@dataclass(frozen=True, eq=False)
class TrainingText:
    """A corpus, or a bootstrap sample of its documents, seen through a vocabulary counted in this very sample.

    `order` has the lines to read; a document that was drawn twice has its lines there twice.
    """

    corpus: TokenCorpus
    vocabulary: Vocabulary
    order: NDArray[np.int64]

    @cached_property
    def tokens(self) -> int:
        """Tokens in one reading that are words of the vocabulary."""
        return int(self.vocabulary.counts.sum())

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """Running total of tokens (of any kind) over the lines of `order`, from 0; one longer than `order`."""
        lengths = np.diff(self.corpus.lines)[self.order]
        return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def blocks(self, first: int, last: int, tokens: int) -> list[tuple[int, int]]:
        """Cut the lines `first` … `last` of `order` into blocks of about `tokens` tokens each."""
        marks = np.arange(self.reach[first], self.reach[last], tokens)
        edges = np.unique(np.concatenate([[first], np.searchsorted(self.reach, marks[1:]), [last]]))
        return [(int(first), int(end)) for first, end in itertools.pairwise(edges)]

    def split(self, parts: int) -> list[tuple[int, int]]:
        """Cut `order` into `parts` stretches of about equal length, some perhaps empty."""
        marks = np.linspace(0, self.reach[-1], parts + 1)[1:-1]
        edges = [0, *np.searchsorted(self.reach, marks).tolist(), len(self.order)]
        return list(itertools.pairwise(edges))


def training_text(
    corpus: TokenCorpus,
    *,
    min_count: int = 5,
    unknown: str | None = None,
    remove: tuple[str, ...] = (),
    sample: int | None = None,
    sample_seed: int = 0,
) -> TrainingText:
    """Prepare a corpus, or the bootstrap sample of its documents with that number; settings as in `Recipe`."""
    corpus.check_numbers()  # compiled loops do not check them
    documents = None if sample is None else bootstrap_documents(corpus, sample, sample_seed)
    words = vocabulary(corpus, min_count=min_count, unknown=unknown, remove=remove, documents=documents)
    return TrainingText(corpus=corpus, vocabulary=words, order=_lines_of(corpus, documents))


def _lines_of(corpus: TokenCorpus, documents: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if documents is None:
        return np.arange(len(corpus.lines) - 1, dtype=np.int64)
    first = corpus.documents[documents]
    count = corpus.documents[documents + 1] - first
    start = np.cumsum(count) - count
    lines: NDArray[np.int64] = np.arange(count.sum(), dtype=np.int64) - np.repeat(start - first, count)
    return lines
