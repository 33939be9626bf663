"""Compiled loops that sum the vectors around occurrences of words.

A line is read without the words that are removed; the others keep their distances, also those without a vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Floats, Integers
from biasgauge.text.training import compiled

REMOVED, WITHOUT_VECTOR = -2, -1
"""Rows of words that are removed before distances are counted, and of words that keep their place alone."""


@compiled
def sum_occurrences(  # noqa: C901, PLR0913, PLR0917 - one compiled loop over all it fills
    tokens: NDArray[np.uint32], lines: Integers, first_line: int, first_center: int, last_line: int,
    vector_rows: NDArray[np.int32], targets: NDArray[np.int32], vectors: Array, window: int,
    line: NDArray[np.uint32], positions: Integers,
    sums: Floats, counts: Integers, words: NDArray[np.int32], places: Integers, line_numbers: Integers,
) -> tuple[int, int, int]:  # fmt: skip
    """Sum the vectors around each occurrence of a target word, until the buffers are full or all lines are read.

    `vector_rows` has for each type its row in `vectors`, `WITHOUT_VECTOR` or `REMOVED`; `targets` its number as a
    target, or −1. An occurrence is written with its sum, the number of vectors in it, the target, the position of its
    token in the text and its line.

    Returns:
        The line and the center to go on with, and the number of occurrences written.
    """
    written = 0
    start_center = first_center
    for row in range(first_line, last_line):
        length = 0
        has_target = False
        for position in range(lines[row], lines[row + 1]):
            token = tokens[position]
            if vector_rows[token] != REMOVED:
                line[length] = token
                positions[length] = position
                has_target = has_target or targets[token] >= 0
                length += 1
        if not has_target:
            start_center = 0
            continue
        for center in range(start_center, length):
            target = targets[line[center]]
            if target < 0:
                continue
            if written == len(counts):
                return row, center, written
            n_vectors = 0
            for dimension in range(sums.shape[1]):
                sums[written, dimension] = 0.0
            for position in range(max(0, center - window), min(length, center + window + 1)):
                vector_row = vector_rows[line[position]]
                if position == center or vector_row < 0:
                    continue
                for dimension in range(sums.shape[1]):
                    sums[written, dimension] += vectors[vector_row, dimension]
                n_vectors += 1
            counts[written] = n_vectors
            words[written] = target
            places[written] = positions[center]
            line_numbers[written] = row
            written += 1
        start_center = 0
    return last_line, 0, written


@compiled
def sum_all_contexts(  # noqa: C901, PLR0912 - one compiled loop, with vectors summed number by number
    tokens: NDArray[np.uint32], lines: Integers, first_line: int, last_line: int, vector_rows: NDArray[np.int32],
    vectors: Array, window: int, line: NDArray[np.uint32], sums: Floats, counts: Integers, occurrences: Integers,
) -> None:  # fmt: skip
    """Add the vectors around every token that has a vector to the sum of its word.

    The sum over a window moves along the line: the vector that enters is added, the one that leaves is subtracted, so
    that the cost does not depend on the window. Rows of `sums`, `counts` (vectors summed) and `occurrences` are those
    of `vectors`.
    """
    dim = vectors.shape[1]
    around = np.zeros(dim)
    for row in range(first_line, last_line):
        length = 0
        for position in range(lines[row], lines[row + 1]):
            token = tokens[position]
            if vector_rows[token] != REMOVED:
                line[length] = token
                length += 1
        n_vectors = 0
        for dimension in range(dim):
            around[dimension] = 0.0
        for position in range(min(window, length)):  # the right half of the first window
            entering = vector_rows[line[position]]
            if entering >= 0:
                n_vectors += 1
                for dimension in range(dim):
                    around[dimension] += vectors[entering, dimension]
        for center in range(length):
            if center + window < length:
                entering = vector_rows[line[center + window]]
                if entering >= 0:
                    n_vectors += 1
                    for dimension in range(dim):
                        around[dimension] += vectors[entering, dimension]
            if center - window - 1 >= 0:
                leaving = vector_rows[line[center - window - 1]]
                if leaving >= 0:
                    n_vectors -= 1
                    for dimension in range(dim):
                        around[dimension] -= vectors[leaving, dimension]
            word = vector_rows[line[center]]
            if word >= 0:
                for dimension in range(dim):  # the center is in its window; it is no context of itself
                    sums[word, dimension] += around[dimension] - vectors[word, dimension]
                counts[word] += n_vectors - 1
                occurrences[word] += 1
