"""The loops that count: one word after the other, each against all that stands around its occurrences.

The text is first written down as places in the vocabulary with `BREAK` between lines, so that a window ends where a
line does. Weights are whole numbers of a common unit: sums of them are exact, in whatever order and whatever blocks.
"""

from __future__ import annotations

import math
import tempfile
from typing import IO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge.core import Array, Integers, Singles
from biasgauge.text.training.random_stream import compiled

BREAK = -1
_BLOCK = 5
"""Columns are looked through in blocks of 2 ** _BLOCK, and only blocks that were touched."""
_MOST = 2**62
"""Half of what a sum can hold."""


def whole_weights(window: int, *, harmonic: bool, occurrences: int) -> tuple[Integers, int]:
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
    tokens: NDArray[np.uint32], lines: Integers, order: Integers, places: NDArray[np.int32], text: NDArray[np.int32],
    counts: Integers,
) -> int:  # fmt: skip
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
def find_occurrences(text: NDArray[np.int32], starts: Integers, first: int, last: int, found: Integers) -> None:
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
    text: NDArray[np.int32], found: Integers, starts: Integers, rows: tuple[int, int, int], weights: Integers,
    unit: float, symmetric: bool,  # noqa: FBT001 - compiled code takes no keywords
    sums: Integers, touched: NDArray[np.uint8], ends: Integers, columns: NDArray[np.int32], values: Singles,
) -> tuple[int, int]:  # fmt: skip
    """Count the cells of some rows into `columns` and `values`, as long as there is room for a whole row.

    `rows` are the first word in `found` (what `find_occurrences` found), the first to count, and the one after the
    last; `unit` stands for one in `weights`; `sums` and `touched` have a zero for each word and each block of words,
    and are left so; `ends` receives the number of cells of each row. Returns the first row not counted, and how many
    cells were written.
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
    text: NDArray[np.int32], place: int, side: int, weights: Integers, sums: Integers, touched: NDArray[np.uint8]
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
    sums: Integers, touched: NDArray[np.uint8], unit: float, columns: NDArray[np.int32], values: Singles, written: int
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


def scratch(length: int, dtype: DTypeLike, memory: int) -> Array:
    """Make an array with nothing in it yet; past `memory` bytes it lies in a file that is gone when the array is."""
    kind = np.dtype(dtype)
    if length * kind.itemsize <= memory:
        return np.empty(length, kind)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, kind, mode="w+", shape=(length,))


class Gathered:
    """Blocks of numbers put one after the other; past `memory` bytes they go to a temporary file."""

    def __init__(self, dtype: DTypeLike, memory: int) -> None:
        self._dtype = np.dtype(dtype)
        self._memory = memory
        self._blocks: list[Array] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self.length = 0

    def add(self, block: Array) -> None:
        """Put a copy of `block` at the end."""
        self._blocks.append(block.astype(self._dtype))
        self._held += block.nbytes
        self.length += len(block)
        if self._held > self._memory:
            self._write()

    def whole(self) -> Array:
        """All blocks as one array; nothing can be added after that."""
        if self._file is None:
            return np.concatenate(self._blocks) if self._blocks else np.empty(0, self._dtype)
        self._write()
        with self._file as file:
            file.flush()
            return np.memmap(file, self._dtype, mode="r", shape=(self.length,))

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `whole` closes it, once it is mapped
        for block in self._blocks:
            self._file.write(block.tobytes())
        self._blocks.clear()
        self._held = 0
