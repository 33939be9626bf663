"""Compiled loop that counts the contexts of every occurrence of a group's word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Floats, Integers
from biasgauge.text.training import compiled

IN_A, IN_B, LEFT_OUT = 1, 2, 4
"""Kinds of words, as bits: of the first group, of the second, or skipped before distances are counted."""


@compiled
def count_documents(  # noqa: C901, PLR0913, PLR0917 - one compiled loop over all it fills
    tokens: NDArray[np.uint32], lines: Integers, documents: Integers, first: int,
    kinds: NDArray[np.uint8], targets: NDArray[np.int32], weights: Floats,
    line: NDArray[np.uint32], totals: Floats, squares: Floats, near: Floats, near_squares: Floats,
    touched: NDArray[np.int32], cell_documents: Integers, cell_words: NDArray[np.int32], cell_counts: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Count documents from `first` on, until all are counted or the buffers may not hold the cells of one more.

    `weights[d]` is the weight of a context at distance d. `totals` (documents × 2) receives the sums of weights around
    words of A and of B, `squares` (2) the sums of their squares over all documents. A cell is a document that has a
    target word near a group, with the sums of weights of its contexts of A and of B; `near_squares` (targets × 2) sums
    their squares over documents. `near` (targets × 2) is zero and left so.

    Returns:
        The first document not counted, and the number of cells written.
    """
    window = len(weights) - 1
    written = 0
    document = first
    while document < len(documents) - 1 and written + len(near) <= len(cell_documents):
        n_touched = 0
        for row in range(documents[document], documents[document + 1]):
            # Rare words are dropped first, so that distances are those that a trainer sees.
            length = 0
            for position in range(lines[row], lines[row + 1]):
                token = tokens[position]
                if not kinds[token] & LEFT_OUT:
                    line[length] = token
                    length += 1
            for center in range(length):
                kind = kinds[line[center]] & (IN_A | IN_B)
                if kind == 0:
                    continue
                side = 0 if kind == IN_A else 1
                for position in range(max(0, center - window), min(length, center + window + 1)):
                    if position == center:
                        continue
                    weight = weights[abs(position - center)]
                    totals[document, side] += weight
                    squares[side] += weight * weight
                    word = targets[line[position]]
                    if word >= 0:
                        if near[word, 0] == 0.0 and near[word, 1] == 0.0:  # first context in this document
                            touched[n_touched] = word
                            n_touched += 1
                        near[word, side] += weight
                        near_squares[word, side] += weight * weight
        for entry in range(n_touched):  # write the cells of this document and reset the sums
            word = touched[entry]
            cell_documents[written] = document
            cell_words[written] = word
            for side in range(2):
                cell_counts[written, side] = near[word, side]
                near[word, side] = 0.0
            written += 1
        document += 1
    return document, written
