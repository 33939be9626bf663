"""`count_contexts`: how often words stand near two groups of words, document by document, straight from token numbers.

A context is a place within ± `window` tokens of an occurrence of a group's word, in the same line. Every occurrence
counts its own contexts, so that a place between two of them counts twice; every token is a place, whatever it is.
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
from biasgauge.stats import odds_ratios
from biasgauge.text import LEFT_OUT as NOT_HERE
from biasgauge.text import TokenCorpus
from biasgauge.vectors import NOT_THERE as NOT_IN_TEXT
from biasgauge.vectors import Coverage, look_up, spellings

Weighting = Literal["flat", "word2vec", "glove"]
WEIGHTS: dict[Weighting, Callable[[Integers, int], Floats]] = {
    "flat": lambda distances, _: np.ones(len(distances)),
    "word2vec": lambda distances, window: (window + 1 - distances) / window,
    "glove": lambda distances, _: 1 / distances,
}
"""What a place at a distance adds: 1; the chance that word2vec's window, drawn anew at every word, reaches it; GloVe's
1 / distance."""
_CELLS = 2**20
"""Cells that are counted between two reports of progress."""


@dataclass(frozen=True, eq=False)
class ContextCounts:
    """Contexts of two groups of words, and target words among them, by document.

    Attributes:
        words: the target words, each with a row in the corpus.
        totals: documents × 2: contexts of A and of B in each document.
        squares: sums of squared weights over all contexts of A and of B; equal to the totals where every weight is 1.
        near_squares: words × 2: the same over contexts that hold the word.
        starts: cells before each word, and all of them at the end.
        documents: the document of each cell; cells of a word stand together, documents rising.
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

    def cells(self, place: int) -> tuple[Integers, Floats]:
        """Documents that have a word near a group, and its counts there."""
        span = slice(self.starts[place], self.starts[place + 1])
        return self.documents[span], self.near[span]

    def table(self, place: int) -> Floats:
        """The four counts of a word: near A, elsewhere around A, near B, elsewhere around B."""
        near, total = self.cells(place)[1].sum(axis=0), self.total
        return np.array([near[0], total[0] - near[0], near[1], total[1] - near[1]])

    def table_squares(self, place: int) -> Floats:
        """Sums of squared weights of the same four."""
        near = self.near_squares[place]
        return np.array([near[0], self.squares[0] - near[0], near[1], self.squares[1] - near[1]])

    def carriers(self, places: Sequence[int]) -> int:
        """How many documents have one of some words near either group."""
        return len(np.unique(np.concatenate([self.cells(place)[0] for place in places])))

    def left_out_changes(self, place: int, shift: odds_ratios.Shift = "all") -> Floats:
        """Change of a word's log odds ratio without each document, exactly.

        Documents that have the word are counted out one by one; of the others only the two totals change.
        """
        table = self.table(place)
        _, rest_a, _, rest_b = odds_ratios.shifted(table, shift)
        if (table[1::2] <= self.largest).any():  # a document may hold all that a group has
            return odds_ratios.left_out_changes(self.by_document(place), shift)
        changes: Floats = np.log1p(-self.totals[:, 1] / rest_b) - np.log1p(-self.totals[:, 0] / rest_a)
        documents, near = self.cells(place)
        held = np.empty((len(documents), 4))
        held[:, 0::2] = near
        held[:, 1::2] = self.totals[documents] - near
        without = np.maximum(table - held, 0.0)
        changes[documents] = odds_ratios.log_odds_ratio(without, shift) - odds_ratios.log_odds_ratio(table, shift)
        return changes

    def by_document(self, place: int) -> Floats:
        """Documents × 4: what each document adds to the four counts of a word."""
        tables = np.zeros((len(self.totals), 4))
        tables[:, 1], tables[:, 3] = self.totals.T
        documents, near = self.cells(place)
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
) -> ContextCounts:
    """Count the contexts of two groups, and how many of them hold each word.

    Args:
        corpus: the text.
        words: places of the target words in `corpus.words`, each once.
        a: places of the first group's words.
        b: places of the second group's; none of the first.
        window: the largest distance, in tokens that are counted.
        weighting: "flat", "word2vec" or "glove".
        min_count: words rarer than this are skipped before distances are counted, as trainers do.
        progress: called with (tokens read, all tokens).

    Raises:
        ParameterError: a setting is impossible.
    """
    check_whole(1, window=window, min_count=min_count)
    check_choice(get_args(Weighting), weighting=weighting)
    from biasgauge.analyses.corpus_bias import counting_loop as loop

    corpus.check_numbers()  # the compiled loop looks them up without asking

    if shared := set(a) & set(b):
        raise ParameterError(f"A word may stand in one group only. Got {corpus.words[min(shared)]!r} in both.")
    kinds = np.where(corpus.counts < min_count, loop.LEFT_OUT, 0).astype(np.uint8)
    kinds[list(a)] |= loop.IN_A
    kinds[list(b)] |= loop.IN_B
    targets = np.full(len(corpus.words), NOT_HERE, np.int32)
    targets[list(words)] = np.arange(len(words), dtype=np.int32)
    weights = np.concatenate([[0.0], WEIGHTS[weighting](np.arange(1, window + 1), window)])
    number = len(corpus.documents) - 1
    totals, squares, near_squares = np.zeros((number, 2)), np.zeros(2), np.zeros((len(words), 2))
    line = np.empty(int(np.diff(corpus.lines).max(initial=0)), np.uint32)
    room = max(_CELLS, len(words))
    buffers = np.empty(room, np.int64), np.empty(room, np.int32), np.empty((room, 2))
    near, touched = np.zeros((len(words), 2)), np.empty(len(words), np.int32)
    parts: list[tuple[NDArray[np.int64], NDArray[np.int32], Floats]] = []
    first = 0
    while first < number:
        first, written = loop.count_documents(
            corpus.tokens, corpus.lines, corpus.documents, first, kinds, targets, weights, line,
            totals, squares, near, near_squares, touched, *buffers,
        )  # fmt: skip
        parts.append((buffers[0][:written].copy(), buffers[1][:written].copy(), buffers[2][:written].copy()))
        if progress is not None:
            progress(int(corpus.lines[corpus.documents[first]]), len(corpus.tokens))
    documents = np.concatenate([part[0] for part in parts])
    places = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(words) + 1))
    return ContextCounts(
        words=tuple(corpus.words[place] for place in words),
        totals=totals, squares=squares, near_squares=near_squares,
        starts=starts, documents=documents[order], near=counts[order],
    )  # fmt: skip


def count_in_whole(
    corpus: TokenCorpus, words: Sequence[int], a: Sequence[int], b: Sequence[int], *, window: int = 5
) -> tuple[Integers, Integers]:
    """Contexts of two groups that hold each word (words × 2), and all contexts (2), in the text as one document."""
    whole = replace(corpus, documents=np.array([0, len(corpus.lines) - 1]))
    counts = count_contexts(whole, words, a, b, window=window)
    near = np.zeros((len(words), 2))
    near[np.repeat(np.arange(len(words)), np.diff(counts.starts))] = counts.near
    return near.astype(np.int64), counts.total.astype(np.int64)


def corpus_coverage(corpus: TokenCorpus, sets: Mapping[str, Sequence[str]], *, case_fallback: bool) -> Coverage:
    """Say which words of each named set a corpus has; rows are places in `corpus.words`."""
    wanted = {word for words in sets.values() for word in words}
    wanted = {spelling for word in wanted for spelling in spellings(word, case_fallback=case_fallback)}
    index = {word: place for place, word in enumerate(corpus.words) if word in wanted}
    lookups = {
        name: look_up(index, words, case_fallback=case_fallback, why_lost=lambda _: NOT_IN_TEXT)
        for name, words in sets.items()
    }
    return Coverage.of(lookups)
