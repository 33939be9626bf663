"""`embed_occurrences`: à la carte embeddings of every occurrence of target words, summed by word and document.

Covariates are those of documents, so that a regression of occurrences needs of each document only how many occurrences
it has, the sum of their embeddings and the sum of their squared lengths. A cell is a target word in a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.core import Array, Flags, Floats, Integers
from biasgauge.stats import on_one_thread

if TYPE_CHECKING:
    from biasgauge.analyses.regress.contexts import ContextReader
    from biasgauge.io import Progress


MOST_DOUBLES = 2**25
"""Numbers of sums that are kept in double precision: 256 MiB."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Embeddings of occurrences, summed by cell; cells are in the order of documents, then of words.

    Attributes:
        targets: target words.
        words, documents: number of the word and of the document of each cell.
        counts: occurrences of each cell.
        sums: cells × dimensions: sums of embeddings; in single precision where they are more than `MOST_DOUBLES`.
        squares: sum of squared lengths of the embeddings of each cell.
        without_vectors: by target word, occurrences without any vector around them, which are left out.
        moments: dimensions × dimensions: sum of the products of the embeddings of all occurrences.
        embedded: how many occurrences `moments` sums.
    """

    targets: tuple[str, ...]
    words: Integers
    documents: Integers
    counts: Integers
    sums: Array
    squares: Floats
    without_vectors: Integers
    moments: Floats
    embedded: int

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        """Number of occurrences."""
        return int(self.counts.sum())

    def select(self, cells: Flags) -> Occurrences:
        """Return some of the cells."""
        return Occurrences(
            self.targets, self.words[cells], self.documents[cells], self.counts[cells], self.sums[cells],
            self.squares[cells], self.without_vectors, self.moments, self.embedded,
        )  # fmt: skip

    def join_words(self) -> Occurrences:
        """Return one cell per document: the targets as one word."""
        documents, cell = np.unique(self.documents, return_inverse=True)
        sums = np.zeros((len(documents), self.sums.shape[1]), self.sums.dtype)
        starts = np.searchsorted(cell, np.arange(len(documents)))  # cells are in the order of documents
        np.add.reduceat(self.sums, starts, axis=0, out=sums)
        return Occurrences(
            ("+".join(self.targets),),
            np.zeros(len(documents), np.int64),
            documents,
            np.bincount(cell, self.counts).astype(np.int64),
            sums,
            np.bincount(cell, self.squares).astype(np.float64),
            self.without_vectors.sum(keepdims=True),
            self.moments,
            self.embedded,
        )


def embed_occurrences(
    reader: ContextReader, matrix: Floats, targets: Sequence[str], progress: Progress | None = None
) -> Occurrences:
    """Embed every occurrence of the target words: the matrix times the mean of the vectors around it.

    Args:
        reader: reads the contexts.
        matrix: the transformation.
        targets: target words, each once.
        progress: called with (tokens read, all tokens).
    """
    n_targets, dim = len(targets), reader.dim
    keys: list[Integers] = []
    counts: list[Integers] = []
    squares: list[Floats] = []
    sums: list[Array] = []
    without_vectors, moments = np.zeros(n_targets, np.int64), np.zeros((dim, dim))
    n_numbers = 0
    with on_one_thread():
        for block in reader.occurrences(targets, progress):
            without_vectors += block.without_vectors
            if not len(block.words):
                continue
            embeddings = block.means @ matrix.T
            moments += embeddings.T @ embeddings
            # A document may go on in the next block: equal keys are joined at the end.
            key, cell = np.unique(block.documents * n_targets + block.words, return_inverse=True)
            order = np.argsort(cell, kind="stable")
            starts = np.searchsorted(cell[order], np.arange(len(key)))
            cell_sums = np.add.reduceat(embeddings[order], starts, axis=0)
            keys.append(key)
            counts.append(np.bincount(cell))
            squares.append(np.bincount(cell, (embeddings**2).sum(axis=1)).astype(np.float64))
            n_numbers += cell_sums.size
            if n_numbers > MOST_DOUBLES and sums and sums[0].dtype == np.float64:
                sums = [earlier.astype(np.float32) for earlier in sums]
            sums.append(cell_sums.astype(np.float32) if n_numbers > MOST_DOUBLES else cell_sums)
    return _join_blocks(tuple(targets), keys, counts, squares, sums, without_vectors, moments)


def _join_blocks(
    targets: tuple[str, ...], keys: list[Integers], counts: list[Integers], squares: list[Floats], sums: list[Floats],
    without_vectors: Integers, moments: Floats,
) -> Occurrences:  # fmt: skip
    """Join the cells of blocks; blocks follow the text, so only cells of one document can stand in two of them."""
    if not keys:
        empty = np.zeros(0, np.int64)
        return Occurrences(targets, empty, empty, empty, moments[:0], np.zeros(0), without_vectors, moments, 0)
    joined, cell = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.zeros((len(joined), len(moments)), sums[0].dtype)
    first = 0
    while sums:  # blocks are dropped as they are added, so that the sums are in memory once
        block = sums.pop(0)
        total[cell[first : first + len(block)]] += block  # a cell occurs once in a block
        first += len(block)
    return Occurrences(
        targets,
        joined % len(targets),
        joined // len(targets),
        np.bincount(cell, np.concatenate(counts)).astype(np.int64),
        total,
        np.bincount(cell, np.concatenate(squares)).astype(np.float64),
        without_vectors,
        moments,
        sum(int(block.sum()) for block in counts),
    )
