"""`count_contexts`: co-occurrence counts of words with two groups of words, by document, from token numbers.

A context is a token within ± `window` tokens of an occurrence of a group's word, in the same line. Every occurrence
counts its own contexts, so that a token between two of them counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Floats, Integers, check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.stats import ClusteredTable, WordCells, odds_ratios
from biasgauge.text import LEFT_OUT as NO_TARGET
from biasgauge.text import TokenCorpus
from biasgauge.vectors import NOT_THERE as NOT_IN_TEXT
from biasgauge.vectors import Coverage, look_up, spellings

Weighting = Literal["flat", "word2vec", "glove"]
WEIGHTS: dict[Weighting, Callable[[Integers, int], Floats]] = {
    "flat": lambda distances, _: np.ones(len(distances)),
    "word2vec": lambda distances, window: (window + 1 - distances) / window,
    "glove": lambda distances, _: 1 / distances,
}
"""Weight of a context at a distance: 1; the chance that word2vec's random window reaches it; GloVe's 1 / distance."""
CELLS_PER_BLOCK = 2**20
"""Cells that are counted between two reports of progress."""


@dataclass(frozen=True, eq=False)
class ContextCounts:
    """Contexts of two groups of words, and target words among them, by document.

    Attributes:
        words: the target words.
        totals: documents × 2: contexts of A and of B in each document.
        squares: sums of squared weights over all contexts of A and of B; equal to the totals where every weight is 1.
        near_squares: words × 2: the same over contexts that hold the word.
        starts: index of the first cell of each word, and the number of all cells at the end.
        documents: the document of each cell; cells are sorted by word, then by document.
        near: cells × 2: contexts of A and of B that hold the word, in that document.
    """

    words: tuple[str, ...]
    totals: Floats
    squares: Floats
    near_squares: Floats
    starts: Integers
    documents: Integers
    near: Floats

    @cached_property
    def total(self) -> Floats:
        """Contexts of A and of B in all documents."""
        total: Floats = self.totals.sum(axis=0)
        return total

    @cached_property
    def largest(self) -> Floats:
        """Most contexts of A and of B in any document."""
        largest: Floats = self.totals.max(axis=0)
        return largest

    def cells(self, word: int) -> tuple[Integers, Floats]:
        """Documents that have a word (by its index in `words`) near a group, and its counts there."""
        span = slice(self.starts[word], self.starts[word + 1])
        return self.documents[span], self.near[span]

    def table(self, word: int) -> Floats:
        """Contingency table of a word: n_wA, n_¬wA, n_wB, n_¬wB."""
        near, total = self.cells(word)[1].sum(axis=0), self.total
        return np.array([near[0], total[0] - near[0], near[1], total[1] - near[1]])

    def table_squares(self, word: int) -> Floats:
        """Sums of squared weights of the same four."""
        near = self.near_squares[word]
        return np.array([near[0], self.squares[0] - near[0], near[1], self.squares[1] - near[1]])

    def left_out_changes(self, word: int, shift: odds_ratios.Shift = "margins") -> Floats:
        """Change of a word's log odds ratio without each document, exactly."""
        table = self.table(word)
        if (table <= 0).any() or (table[1::2] <= self.largest).any():  # a count is 0, or may be without a document
            return odds_ratios.left_out_changes(self.by_document(word), shift)
        # Of a document without the word only n_¬wA and n_¬wB change: Δ log OR = log(1 − b/n_¬wB) − log(1 − a/n_¬wA).
        changes: Floats = np.log1p(-self.totals[:, 1] / table[3]) - np.log1p(-self.totals[:, 0] / table[1])
        # Documents that have the word are taken out of the table one by one.
        documents, near = self.cells(word)
        removed = np.empty((len(documents), 4))
        removed[:, 0::2] = near
        removed[:, 1::2] = self.totals[documents] - near
        remaining = np.maximum(table - removed, 0.0)
        changes[documents] = odds_ratios.log_odds_ratio(remaining, shift) - odds_ratios.log_odds_ratio(table, shift)
        return changes

    def pool(self, words: Sequence[int]) -> ContextCounts:
        """Counts of a set of words together, as those of one word."""
        spans = [self.cells(word) for word in words]
        documents, cell = np.unique(np.concatenate([rows for rows, _ in spans]), return_inverse=True)
        near = np.zeros((len(documents), 2))
        np.add.at(near, cell, np.concatenate([counts for _, counts in spans]))
        return replace(
            self,
            words=("+".join(self.words[word] for word in words),),
            near_squares=self.near_squares[list(words)].sum(axis=0, keepdims=True),
            starts=np.array([0, len(documents)]),
            documents=documents,
            near=near,
        )

    def clustered(self, words: Sequence[int], shift: odds_ratios.Shift = "margins") -> ClusteredTable:
        """Table of one word, or of a set of words together, with how its counts cluster."""
        counts, row = (self, words[0]) if len(words) == 1 else (self.pool(words), 0)
        return ClusteredTable(
            table=counts.table(row),
            squares=counts.table_squares(row),
            changes=counts.left_out_changes(row, shift),
            documents=counts.cells(row)[1].sum(axis=1),
            words=np.array([self.cells(word)[1].sum(axis=0) for word in words]),
        )

    def word_cells(self, words: Sequence[int]) -> WordCells:
        """Cells of the words of a set, word by word, and the contexts of the groups that hold none of them."""
        spans = [self.cells(word) for word in words]
        near = np.concatenate([counts for _, counts in spans])
        squares = float(self.near_squares[list(words)].sum())
        contexts = float(near.sum())
        return WordCells(
            words=np.repeat(np.arange(len(words)), [len(rows) for rows, _ in spans]),
            documents=np.concatenate([rows for rows, _ in spans]),
            near=near,
            outside=self.total - near.sum(axis=0),
            effect=squares / contexts if contexts > 0 else 1.0,
        )

    def by_document(self, word: int) -> Floats:
        """Documents × 4: contribution of each document to the table of a word."""
        tables = np.zeros((len(self.totals), 4))
        tables[:, 1], tables[:, 3] = self.totals.T
        documents, near = self.cells(word)
        tables[documents, 0::2] = near
        tables[documents, 1::2] -= near
        return tables


def count_contexts(
    corpus: TokenCorpus,
    words: Sequence[int],
    a: Sequence[int],
    b: Sequence[int],
    *,
    window: int = 5,
    weighting: Weighting = "flat",
    min_count: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cells_per_block: int = CELLS_PER_BLOCK,
) -> ContextCounts:
    """Count the contexts of two groups, and how many of them hold each word.

    Args:
        corpus: the text.
        words: indices of the target words in `corpus.words`, each once.
        a: indices of the first group's words.
        b: indices of the second group's words; none of the first.
        window: the largest distance, in tokens that are counted.
        weighting: "flat", "word2vec" or "glove".
        min_count: words rarer than this are skipped before distances are counted, as trainers do.
        progress: called with (tokens read, all tokens).
        cells_per_block: cells that are counted between two reports of progress.

    Raises:
        ParameterError: a setting is impossible.
    """
    check_whole(1, window=window, min_count=min_count)
    check_choice(get_args(Weighting), weighting=weighting)
    from biasgauge.analyses.corpus_bias import counting_loop as loop  # compiled: imports Numba

    corpus.check_numbers()  # the compiled loop does not check bounds
    if shared := set(a) & set(b):
        raise ParameterError(f"A word may stand in one group only. Got {corpus.words[min(shared)]!r} in both.")
    kinds = np.where(corpus.counts < min_count, loop.LEFT_OUT, 0).astype(np.uint8)
    kinds[list(a)] |= loop.IN_A
    kinds[list(b)] |= loop.IN_B
    targets = np.full(len(corpus.words), NO_TARGET, np.int32)
    targets[list(words)] = np.arange(len(words), dtype=np.int32)
    weights = np.concatenate([[0.0], WEIGHTS[weighting](np.arange(1, window + 1), window)])
    n_documents = len(corpus.documents) - 1
    totals, squares, near_squares = np.zeros((n_documents, 2)), np.zeros(2), np.zeros((len(words), 2))
    line = np.empty(int(np.diff(corpus.lines).max(initial=0)), np.uint32)
    size = max(cells_per_block, len(words))  # a document has at most one cell per word
    buffers = np.empty(size, np.int64), np.empty(size, np.int32), np.empty((size, 2))
    near, touched = np.zeros((len(words), 2)), np.empty(len(words), np.int32)
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int32], Floats]] = []
    document = 0
    while document < n_documents:
        document, written = loop.count_documents(
            corpus.tokens, corpus.lines, corpus.documents, document, kinds, targets, weights, line,
            totals, squares, near, near_squares, touched, *buffers,
        )  # fmt: skip
        blocks.append((buffers[0][:written].copy(), buffers[1][:written].copy(), buffers[2][:written].copy()))
        if progress is not None:
            progress(int(corpus.lines[corpus.documents[document]]), len(corpus.tokens))
    cell_documents, cell_words, cell_counts = (np.concatenate(column) for column in zip(*blocks, strict=True))
    order = np.argsort(cell_words, kind="stable")  # stable: documents of a word stay in order
    return ContextCounts(
        words=tuple(corpus.words[word] for word in words),
        totals=totals,
        squares=squares,
        near_squares=near_squares,
        starts=np.searchsorted(cell_words[order], np.arange(len(words) + 1)),
        documents=cell_documents[order],
        near=cell_counts[order],
    )


def count_undivided(
    corpus: TokenCorpus, words: Sequence[int], a: Sequence[int], b: Sequence[int], *, window: int = 5
) -> tuple[Integers, Integers]:
    """Contexts of two groups that hold each word (words × 2), and all contexts (2), in the text as one document."""
    undivided = replace(corpus, documents=np.array([0, len(corpus.lines) - 1]))
    counts = count_contexts(undivided, words, a, b, window=window)
    near = np.zeros((len(words), 2))
    near[np.repeat(np.arange(len(words)), np.diff(counts.starts))] = counts.near
    return near.astype(np.int64), counts.total.astype(np.int64)


def corpus_coverage(corpus: TokenCorpus, sets: Mapping[str, Sequence[str]], *, case_fallback: bool) -> Coverage:
    """Coverage of each named set in a corpus; rows are indices in `corpus.words`."""
    wanted = {
        spelling
        for words in sets.values()
        for word in words
        for spelling in spellings(word, case_fallback=case_fallback)
    }
    index = {word: row for row, word in enumerate(corpus.words) if word in wanted}
    lookups = {
        name: look_up(index, words, case_fallback=case_fallback, why_lost=lambda _: NOT_IN_TEXT)
        for name, words in sets.items()
    }
    return Coverage.of(lookups)
