"""The loops that count: one word after the other, each against all that stands around its occurrences.

The text is first written down as places in the vocabulary with `BREAK` between lines, so that a window ends where a
line does. Weights are whole numbers of a common unit: sums of them are exact, in whatever order and whatever blocks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from biasgauge.training.compiled import compiled

BREAK = -1
_BLOCK = 5
"""Columns are looked through in blocks of 2 ** _BLOCK, and only blocks that were touched."""
_MOST = 2**62
"""Half of what a sum can hold."""


def whole_weights(window: int, *, harmonic: bool, occurrences: int) -> tuple[NDArray[np.int64], int]:
    """Weights of the distances 0 … window (0 is not used) as whole numbers, and the number that stands for one.

    1 / distance has the common denominator lcm(1 … window): 360,360 for 15. Where sums over so many occurrences could
    grow past 64 bits with it (windows of about 25 and more), the unit is the largest power of two that stays below,
    and weights are rounded to it: to 1 in 2**36 for ten million tokens and a window of 50.
    """
    if not harmonic:
        return np.ones(window + 1, np.int64), 1
    distances = range(1, window + 1)
    most = _MOST / (2 * sum(1 / distance for distance in distances) * max(occurrences, 1))
    unit = 1
    for distance in distances:
        unit = math.lcm(unit, distance)
        if unit > most:
            unit = 2 ** math.floor(math.log2(most))
            break
    return np.array([0, *(round(unit / distance) for distance in distances)], np.int64), unit


@compiled
def write_down(
    tokens: NDArray[np.uint32],
    lines: NDArray[np.int64],
    order: NDArray[np.int64],
    places: NDArray[np.int32],
    text: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    """Write the lines of `order` into `text` as places, words left out skipped; return how many numbers that took.

    `counts` receives how often each place occurs. A token without an entry in `places` gives -1.
    """
    text[0] = BREAK
    length = 1
    for line in order:
        for place in range(lines[line], lines[line + 1]):
            token = tokens[place]
            if token >= len(places):
                return -1
            word = places[token]
            if word >= 0:
                text[length] = word
                length += 1
                counts[word] += 1
        if text[length - 1] != BREAK:
            text[length] = BREAK
            length += 1
    return length


@compiled
def find_occurrences(
    text: NDArray[np.int32], starts: NDArray[np.int64], first: int, last: int, found: NDArray[np.int64]
) -> None:
    """List where the words `first` … `last` - 1 stand: word by word, in order of the text.

    `starts` counts the occurrences of the words before each word; `found` has room for those of these words.
    """
    ahead = starts[first:last] - starts[first]
    for place in range(len(text)):
        word = text[place]
        if first <= word < last:
            found[ahead[word - first]] = place
            ahead[word - first] += 1


@compiled
def count_rows(
    text: NDArray[np.int32],
    found: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: tuple[int, int, int],
    weights: NDArray[np.int64],
    unit: float,
    symmetric: bool,  # noqa: FBT001 - compiled code takes no keywords
    sums: NDArray[np.int64],
    touched: NDArray[np.uint8],
    ends: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
) -> tuple[int, int]:
    """Count the cells of some rows into `columns` and `values`, as long as there is room for a whole row.

    Args:
        text: what `write_down` wrote.
        found: what `find_occurrences` found for the words from rows[0] on.
        starts: occurrences before each word.
        rows: the first word in `found`, the first to count, and the one after the last.
        weights: of the distances 0 … window.
        unit: what stands for one in `weights`.
        symmetric: whether words before the word count as well as those after it.
        sums: a zero for each word; left as they were found.
        touched: a zero for each block of words; left as they were found.
        ends: receives the number of cells of each row.
        columns: receives the words around.
        values: receives their weighted counts.

    Returns:
        The first row not counted, and how many cells were written.
    """
    base, row, last = rows
    window = len(weights) - 1
    size = len(sums)
    written = 0
    while row < last:
        occurrences = found[starts[row] - starts[base] : starts[row + 1] - starts[base]]
        if len(columns) - written < min(size, 2 * window * len(occurrences)):
            break
        for place in occurrences:
            _add_side(text, place, 1, weights, sums, touched)
            if symmetric:
                _add_side(text, place, -1, weights, sums, touched)
        before = written
        written = _collect(sums, touched, unit, columns, values, written)
        ends[row] = written - before
        row += 1
    return row, written


@compiled
def _add_side(
    text: NDArray[np.int32],
    place: int,
    side: int,
    weights: NDArray[np.int64],
    sums: NDArray[np.int64],
    touched: NDArray[np.uint8],
) -> None:
    """Add the words after (`side` 1) or before (-1) a place, up to the window's or the line's end."""
    for distance in range(1, len(weights)):
        word = text[place + side * distance]
        if word < 0:
            break
        sums[word] += weights[distance]
        touched[word >> _BLOCK] = 1


@compiled
def _collect(
    sums: NDArray[np.int64],
    touched: NDArray[np.uint8],
    unit: float,
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    written: int,
) -> int:
    """Move the sums that are not zero behind the cells written so far; return how many there are then."""
    for block in range(len(touched)):
        if touched[block]:
            touched[block] = 0
            for word in range(block << _BLOCK, min((block + 1) << _BLOCK, len(sums))):
                if sums[word]:
                    columns[written] = word
                    values[written] = sums[word] / unit
                    sums[word] = 0
                    written += 1
    return written


def blocks(size: int) -> int:
    """How many blocks of columns there are."""
    return -(-size >> _BLOCK)
