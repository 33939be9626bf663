"""`ContextReader`: the vectors around occurrences of words in a text, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Floats, Integers, Vectors, check_whole
from biasgauge.errors import ParameterError
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.core import VectorsLike
    from biasgauge.io import Progress
    from biasgauge.text import TokenCorpus
    from biasgauge.vectors import Embedding

BLOCK = 8192
"""Occurrences in memory at a time."""
TOKENS = 2**22
"""Tokens in memory at a time."""
LINES_PER_REPORT = 2**16
"""Lines that are read between two reports of progress."""


@dataclass(frozen=True, eq=False)
class OccurrenceBlock:
    """Some occurrences of target words, in the order of the text; those without a vector around them are left out.

    Attributes:
        means: occurrences × dimensions: mean of the vectors around each.
        words: number of the target word of each.
        documents: its document.
        positions: its token in the text.
        without_vectors: by target word, how many were left out here.
    """

    means: Floats
    words: Integers
    documents: Integers
    positions: Integers
    without_vectors: Integers


class ContextReader:
    """Reads the vectors around words of a corpus.

    Attributes:
        corpus: the text.
        embedding: pre-trained vectors of the words that the text has.
        window: words on each side.
        min_count: words rarer than this keep their place and count as without a vector.
    """

    def __init__(
        self, corpus: TokenCorpus, vectors: VectorsLike, *, window: int = 6, remove: Sequence[str] = (),
        min_count: int = 1,
    ) -> None:  # fmt: skip
        """Look up the vectors of every word of the text.

        Args:
            corpus: the text.
            vectors: pre-trained vectors.
            window: words on each side.
            remove: words that are removed before distances are counted.
            min_count: words rarer than this keep their place and count as without a vector.

        Raises:
            ParameterError: a setting is impossible, or no word of the text has a vector.
        """
        check_whole(1, window=window, min_count=min_count)
        corpus.check_numbers()  # the compiled loops do not check bounds
        self.corpus = corpus
        self.window = window
        self.min_count = min_count
        self.remove = tuple(dict.fromkeys(remove))
        self.embedding: Embedding = load(vectors, words=corpus.words)
        if not len(self.embedding):
            raise ParameterError("No word of the text has a vector; do spelling and case of text and vectors agree?")
        matrix: Vectors = self.embedding.vectors
        self.matrix: Array = np.ascontiguousarray(matrix, np.float32 if matrix.dtype.itemsize <= 4 else np.float64)
        index = {word: row for row, word in enumerate(corpus.words)}
        self._vector_rows = self._rows_of_words(index)
        self._index = index
        self._line = np.empty(int(np.diff(corpus.lines).max(initial=0)), np.uint32)

    @property
    def dim(self) -> int:
        """Dimensions of the vectors."""
        return self.embedding.dim

    @property
    def covered_tokens(self) -> float:
        """Share of the tokens that are contexts with a vector."""
        counts = self.corpus.counts
        return float(counts[self._vector_rows >= 0].sum() / max(int(counts.sum()), 1))

    def count(self, word: str) -> int:
        """Occurrences of a word in the text; 0 where it is rarer than `min_count` or removed."""
        row = self._index.get(word)
        if row is None or word in self.remove or self.corpus.counts[row] < self.min_count:
            return 0
        return int(self.corpus.counts[row])

    def _rows_of_words(self, index: dict[str, int]) -> NDArray[np.int32]:
        from biasgauge.analyses.regress import context_loop as loop  # compiled: imports Numba

        rows = np.full(len(self.corpus.words), loop.WITHOUT_VECTOR, np.int32)
        types = [index[word] for word in self.embedding.words]
        rows[types] = np.arange(len(types), dtype=np.int32)
        rows[self.corpus.counts < self.min_count] = loop.WITHOUT_VECTOR
        rows[[index[word] for word in self.remove if word in index]] = loop.REMOVED
        return rows

    def occurrences(self, words: Sequence[str], progress: Progress | None = None) -> Iterator[OccurrenceBlock]:
        """Yield the occurrences of target words in blocks; words that the text lacks have none.

        Args:
            words: target words, each once.
            progress: called with (tokens read, all tokens).
        """
        from biasgauge.analyses.regress import context_loop as loop  # compiled: imports Numba

        corpus = self.corpus
        targets = np.full(len(corpus.words), -1, np.int32)
        for number, word in enumerate(words):
            if self.count(word):
                targets[self._index[word]] = number
        positions = np.empty(len(self._line), np.int64)
        sums, counts = np.empty((BLOCK, self.dim)), np.empty(BLOCK, np.int64)
        numbers, places, lines = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
        row, center, n_lines = 0, 0, len(corpus.lines) - 1
        while row < n_lines:
            last = min(row + LINES_PER_REPORT, n_lines)
            row, center, written = loop.sum_occurrences(
                corpus.tokens, corpus.lines, row, center, last, self._vector_rows, targets, self.matrix, self.window,
                self._line, positions, sums, counts, numbers, places, lines,
            )  # fmt: skip
            usable = counts[:written] > 0
            lost = np.bincount(numbers[:written][~usable], minlength=len(words))
            yield OccurrenceBlock(
                means=sums[:written][usable] / counts[:written][usable, None],
                words=numbers[:written][usable].astype(np.int64),
                documents=np.searchsorted(corpus.documents, lines[:written][usable], "right") - 1,
                positions=places[:written][usable].copy(),
                without_vectors=lost,
            )
            if progress is not None:
                progress(int(corpus.lines[row]), len(corpus.tokens))

    def document_means(self, values: Floats) -> Floats:
        """Mean of a number of each word that has a vector over the tokens of each document; 0 where it has none.

        Args:
            values: one for each row of `embedding`.
        """
        corpus = self.corpus
        usable = self._vector_rows >= 0
        numbers = np.where(usable, np.append(values, 0.0)[self._vector_rows], 0.0)
        bounds = np.asarray(corpus.lines)[corpus.documents]
        sums, counts = np.zeros(len(bounds) - 1), np.zeros(len(bounds) - 1)
        first = 0
        while first < len(sums):
            last = max(int(np.searchsorted(bounds, bounds[first] + TOKENS, "right")) - 1, first + 1)
            tokens = np.asarray(corpus.tokens[bounds[first] : bounds[last]])
            documents = np.repeat(np.arange(last - first), np.diff(bounds[first : last + 1]))
            sums[first:last] = np.bincount(documents, numbers[tokens], minlength=last - first)
            counts[first:last] = np.bincount(documents, usable[tokens], minlength=last - first)
            first = last
        means: Floats = sums / np.maximum(counts, 1)
        return means

    def word_contexts(self, progress: Progress | None = None) -> tuple[Floats, Integers, Integers]:
        """Sum the vectors around all occurrences of every word that has a vector.

        Returns:
            Words × dimensions: sums; how many vectors were summed; how often each word occurs. Rows are those of
            `embedding`.
        """
        from biasgauge.analyses.regress import context_loop as loop  # compiled: imports Numba

        corpus, size = self.corpus, len(self.embedding)
        sums, counts, occurrences = np.zeros((size, self.dim)), np.zeros(size, np.int64), np.zeros(size, np.int64)
        n_lines = len(corpus.lines) - 1
        for first in range(0, n_lines, LINES_PER_REPORT):
            last = min(first + LINES_PER_REPORT, n_lines)
            loop.sum_all_contexts(
                corpus.tokens, corpus.lines, first, last, self._vector_rows, self.matrix, self.window, self._line,
                sums, counts, occurrences,
            )  # fmt: skip
            if progress is not None:
                progress(int(corpus.lines[last]), len(corpus.tokens))
        return sums, counts, occurrences
