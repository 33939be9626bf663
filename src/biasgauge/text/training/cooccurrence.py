"""`count_cooccurrences`: counts of words near words, as GloVe's `cooccur` counts them.

A word left out of the vocabulary is skipped before distances are counted, and no window crosses a line. Each pair at
distance d adds 1 / d, both ways: X[i, j] = X[j, i], and a word beside itself counts twice.

The text is first written down as rows of the vocabulary with `BREAK` between lines, so that a window ends where a line
does. Rows are counted word by word over the positions of the word: no sorting or merging. Weights are whole numbers of
a common unit, so that sums of them are exact in any order and in any blocks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge.core import Array, Integers, Singles, check_whole
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import (
    array_sha256,
    check_digest,
    make_folder,
    manifest_text,
    map_array,
    read_manifest,
    write_array,
    write_text,
)
from biasgauge.text.training.random_stream import compiled

MANIFEST = "cooccurrence.json"
_FORMAT = "biasgauge cooccurrence 1"
_DTYPES = {"starts": np.int64, "columns": np.int32, "values": np.float32}
_BUFFER_CELLS = 1 << 21
"""Cells counted between two reports of progress, and the size of the buffer for them."""


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Weighted counts of words near words; cells that are zero are not stored.

    Attributes:
        starts: cells before each row, and all of them at the end; one longer than the vocabulary.
        columns: the second word of each cell, rising within a row.
        values: the weighted count of each cell, above 0.
    """

    starts: Integers
    columns: NDArray[np.int32]
    values: Singles

    def __post_init__(self) -> None:
        tables = {name: getattr(self, name) for name in _DTYPES}
        for name, table in tables.items():
            if table.ndim != 1 or table.dtype != _DTYPES[name]:
                raise ParameterError(
                    f"The {name!r} of a Cooccurrence must be one row of {np.dtype(_DTYPES[name])}. "
                    f"Got {table.dtype} of shape {table.shape}."
                )
        starts, columns, values = tables.values()
        if len(starts) < 1 or starts[0] != 0 or np.any(np.diff(starts) < 0) or starts[-1] != len(columns):
            raise ParameterError("The 'starts' of a Cooccurrence must rise from 0 to the number of its cells.")
        low, high = values.min(initial=1), values.max(initial=1)  # NaN, if there is one
        in_range = columns.min(initial=0) >= 0 and columns.max(initial=-1) < self.size and low > 0 and high < np.inf
        if len(columns) != len(values) or not in_range:
            raise ParameterError(
                "The cells of a Cooccurrence must have columns in the vocabulary and finite values above 0."
            )

    @property
    def size(self) -> int:
        """Words in the vocabulary."""
        return len(self.starts) - 1

    @property
    def rows(self) -> NDArray[np.int32]:
        """The first word of each cell."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.starts))

    def __len__(self) -> int:
        return len(self.columns)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the cells into a folder, which is made; they are there once its `cooccurrence.json` is."""
        path = Path(folder)
        make_folder(path)
        (path / MANIFEST).unlink(missing_ok=True)
        digests = {name: array_sha256(getattr(self, name)) for name in _DTYPES}  # of what is in memory
        for name in _DTYPES:
            write_array(path / f"{name}.npy", getattr(self, name))
        write_text(path / MANIFEST, manifest_text({"format": _FORMAT, "sha256": digests}))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Map the cells of a folder into memory: many processes share one copy of them.

        Raises:
            InputError: there are none, or they are damaged.
        """
        path = Path(folder)
        absent = "holds no co-occurrence counts ({}); count again"
        digests = read_manifest(path / MANIFEST, _FORMAT, absent=absent, again="count again").get("sha256")
        if not isinstance(digests, dict):
            raise InputError(f"{path / MANIFEST}: is damaged ('sha256'); count again")
        tables = {}
        for name, dtype in _DTYPES.items():
            check_digest(path / f"{name}.npy", digests.get(name), again="count again")
            tables[name] = map_array(path / f"{name}.npy", dtype, None, again="count again")
        return cls(**tables)


def count_cooccurrences(
    tokens: NDArray[np.uint32],
    lines: Integers,
    order: Integers,
    places: NDArray[np.int32],
    size: int,
    *,
    window: int = 15,
    memory: int = 2**31,
    progress: Callable[[int, int], None] | None = None,
) -> Cooccurrence:
    """Count words near words; compiled loops do not check the numbers, which `TokenCorpus.check_numbers` does.

    Args:
        tokens: the corpus as token numbers.
        lines: starts of the lines in `tokens`, and the end of the last.
        order: the lines to read; one may come more than once.
        places: row of each token number in the vocabulary, below 0 for those left out.
        size: words in the vocabulary.
        window: the largest distance, in words of the vocabulary.
        memory: bytes to work in; larger arrays go to temporary files. The cells do not depend on it.
        progress: called with occurrences counted and all occurrences.

    Raises:
        ParameterError: a setting is impossible, or no line holds two words of the vocabulary.
    """
    check_whole(1, window=window, memory=memory)
    written = scratch(int((lines[order + 1] - lines[order]).sum()) + len(order) + 1, np.int32, memory // 4)
    counts = np.zeros(size, np.int64)
    text = written[: write_down(np.asarray(tokens), lines, order, places, written, counts)]
    starts = np.concatenate([[0], np.cumsum(counts)])
    total = int(starts[-1])
    weights, unit = whole_weights(window, occurrences=total)
    capacity = max(size, min(_BUFFER_CELLS, memory // 64))
    columns, values = np.empty(capacity, np.int32), np.empty(capacity, np.float32)
    sums, cells = np.zeros(size, np.int64), np.zeros(size, np.int64)
    touched = np.zeros(-(-size >> _BLOCK), np.uint8)
    first, spill = 0, memory // 8
    with SpooledTemporaryFile(spill) as all_columns, SpooledTemporaryFile(spill) as all_values:
        while first < size:
            # As many rows at a time as have their positions listed in a quarter of the memory.
            last = int(np.searchsorted(starts, starts[first] + memory // 32, side="right")) - 1
            last = min(max(last, first + 1), size)
            occurrences = np.empty(starts[last] - starts[first], np.int64)
            find_occurrences(text, starts, first, last, occurrences)
            row = first
            while row < last:
                row, count = count_rows(
                    text, occurrences, starts, (first, row, last), weights, float(unit), sums, touched, cells,
                    columns, values,
                )  # fmt: skip
                all_columns.write(columns[:count].data)
                all_values.write(values[:count].data)
                if progress is not None:
                    progress(int(starts[row]), total)
            first = last
        ends = np.concatenate([[0], np.cumsum(cells)])
        if not ends[-1]:
            raise ParameterError("There is nothing to count: no line holds two words of the vocabulary.")
        return Cooccurrence(ends, _join(all_columns, np.int32, spill), _join(all_values, np.float32, spill))


def _join(file: SpooledTemporaryFile[bytes], dtype: DTypeLike, memory: int) -> Array:
    """Numbers of a file as one array: in memory, or mapped where they take more than `memory` bytes."""
    in_memory = file.tell() <= memory
    file.seek(0)
    return np.frombuffer(file.read(), dtype) if in_memory else np.memmap(file, dtype, mode="r")


def scratch(length: int, dtype: DTypeLike, memory: int) -> Array:
    """Make an uninitialized array; past `memory` bytes in a temporary file that vanishes with it."""
    kind = np.dtype(dtype)
    if length * kind.itemsize <= memory:
        return np.empty(length, kind)
    with TemporaryFile() as file:
        return np.memmap(file, kind, mode="w+", shape=(length,))


BREAK = -1
_BLOCK = 5
"""Columns are looked through in blocks of 2 ** _BLOCK, and only blocks that were touched."""
_MOST = 2**62
"""Half of what a sum can hold."""


def whole_weights(window: int, *, occurrences: int) -> tuple[Integers, int]:
    """Weights of the distances 0 … window (0 is not used) as whole numbers, and the unit that means 1.

    1 / distance has the common denominator lcm(1 … window): 360,360 for 15. Where sums over so many occurrences could
    grow past 64 bits with it (windows of about 25 and more), the unit is the largest power of two that stays below,
    and weights are rounded to it: to 1 in 2**36 for ten million tokens and a window of 50.
    """
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
    tokens: NDArray[np.uint32], lines: Integers, order: Integers, vocabulary_rows: NDArray[np.int32],
    text: NDArray[np.int32], counts: Integers,
) -> int:  # fmt: skip
    """Write the lines of `order` into `text` as rows, words left out skipped; return the length.

    `counts` receives the number of occurrences of each row.
    """
    text[0] = BREAK
    length = 1
    for line in order:
        for position in range(lines[line], lines[line + 1]):
            word = vocabulary_rows[tokens[position]]
            if word >= 0:
                text[length] = word
                length += 1
                counts[word] += 1
        if text[length - 1] != BREAK:
            text[length] = BREAK
            length += 1
    return length


@compiled
def find_occurrences(text: NDArray[np.int32], starts: Integers, first: int, last: int, occurrences: Integers) -> None:
    """List the positions of the words `first` … `last` - 1: word by word, in order of the text.

    `starts` counts the occurrences of the words before each word; `found` has room for those of these words.
    """
    ahead = starts[first:last] - starts[first]
    for position in range(len(text)):
        word = text[position]
        if first <= word < last:
            occurrences[ahead[word - first]] = position
            ahead[word - first] += 1


@compiled
def count_rows(
    text: NDArray[np.int32], occurrences: Integers, starts: Integers, rows: tuple[int, int, int], weights: Integers,
    unit: float, sums: Integers, touched: NDArray[np.uint8], ends: Integers, columns: NDArray[np.int32],
    values: Singles,
) -> tuple[int, int]:  # fmt: skip
    """Count the cells of some rows into `columns` and `values`, as long as a complete row fits.

    `rows` are the first word in `occurrences` (of `find_occurrences`), the first to count, and the one after the
    last; `unit` stands for one in `weights`; `sums` and `touched` have a zero for each word and each block of words,
    and are left so; `ends` receives the number of cells of each row. Returns the first row not counted, and how many
    cells were written.
    """
    base, row, last = rows
    window = len(weights) - 1
    size = len(sums)
    written = 0
    while row < last:
        positions = occurrences[starts[row] - starts[base] : starts[row + 1] - starts[base]]
        if len(columns) - written < min(size, 2 * window * len(positions)):
            break
        for position in positions:
            for side in (1, -1):
                # Words after (1) or before (-1) a position, up to the window's or the line's end.
                for distance in range(1, len(weights)):
                    word = text[position + side * distance]
                    if word < 0:
                        break
                    sums[word] += weights[distance]
                    touched[word >> _BLOCK] = 1
        before = written
        written = _collect(sums, touched, unit, columns, values, written)
        ends[row] = written - before
        row += 1
    return row, written


@compiled
def _collect(
    sums: Integers, touched: NDArray[np.uint8], unit: float, columns: NDArray[np.int32], values: Singles, written: int
) -> int:
    """Append the sums that are not zero to the cells written so far; return their new number."""
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
