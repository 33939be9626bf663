"""`count_cooccurrences`: how often two words stand near each other, as GloVe's `cooccur` counts it.

A word left out of the vocabulary is skipped before distances are counted, and no window crosses a line. Each pair at
distance d adds 1 / d ("harmonic") or 1 ("flat"). `symmetric` counts both ways: X[i, j] = X[j, i], and a word beside
itself counts twice; otherwise X[i, j] counts j after i only.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Integers, Singles, check_choice, check_whole
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
from biasgauge.text.training.glove import counting

Weighting = Literal["harmonic", "flat"]

MANIFEST = "cooccurrence.json"
_FORMAT = "biasgauge cooccurrence 1"
_DTYPES = {"starts": np.int64, "columns": np.int32, "values": np.float32}
_ROOM = 1 << 21
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
        if len(columns) != len(values) or not _in_range(columns, values, self.size):
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
    tokens: NDArray[np.unsignedinteger[Any]],
    lines: Integers,
    order: Integers,
    places: NDArray[np.int32],
    size: int,
    *,
    window: int = 15,
    symmetric: bool = True,
    weighting: Weighting = "harmonic",
    memory: int = 2**31,
    progress: Callable[[int, int], None] | None = None,
) -> Cooccurrence:
    """Count which words stand near which.

    Args:
        tokens: the corpus as token numbers.
        lines: where lines begin in `tokens`, and the end of the last.
        order: the lines to read; one may come more than once.
        places: the place of each token number in the vocabulary, below 0 for those left out.
        size: words in the vocabulary.
        window: the largest distance, in words of the vocabulary.
        symmetric: whether the words before a word count as well as those after it.
        weighting: "harmonic" adds 1 / distance, "flat" adds 1.
        memory: bytes to work in; what needs more lies in temporary files. The cells do not depend on it.
        progress: called with occurrences counted and all occurrences.

    Raises:
        ParameterError: a setting is impossible, or no two words of the vocabulary stand in one line.
    """
    check_whole(1, window=window, memory=memory, size=size)
    check_choice(get_args(Weighting), weighting=weighting)
    lines, order = np.ascontiguousarray(lines, np.int64), np.ascontiguousarray(order, np.int64)
    places = np.ascontiguousarray(places, np.int32)
    _check_text(tokens, lines, order, places, size)
    text = counting.scratch(int((lines[order + 1] - lines[order]).sum()) + len(order) + 1, np.int32, memory // 4)
    counts = np.zeros(size, np.int64)
    length = counting.write_down(np.asarray(tokens), lines, order, places, text, counts)
    if length < 0:
        raise ParameterError(f"The 'places' of count_cooccurrences must cover every token. Got {len(places)} places.")
    before = np.concatenate([[0], np.cumsum(counts)])
    how: dict[str, Any] = {"symmetric": symmetric, "weighting": weighting, "memory": memory, "progress": progress}
    counted = _counted(text[:length], before, window, **how)
    if not len(counted):
        raise ParameterError("There is nothing to count: no line holds two words of the vocabulary.")
    return counted


def _counted(
    text: NDArray[np.int32], starts: Integers, window: int, *, symmetric: bool, weighting: Weighting, memory: int,
    progress: Callable[[int, int], None] | None,
) -> Cooccurrence:  # fmt: skip
    """Count row after row; as many rows at a time as have their occurrences listed in a quarter of the memory."""
    size = len(starts) - 1
    total = int(starts[-1])
    weights, unit = counting.whole_weights(window, harmonic=weighting == "harmonic", occurrences=total)
    room = max(size, min(_ROOM, memory // 64))
    buffers = np.empty(room, np.int32), np.empty(room, np.float32)
    gathered = counting.Gathered(np.int32, memory // 8), counting.Gathered(np.float32, memory // 8)
    sums, touched, cells = np.zeros(size, np.int64), np.zeros(counting.blocks(size), np.uint8), np.zeros(size, np.int64)
    first = 0
    while first < size:
        last = int(np.searchsorted(starts, starts[first] + memory // 32, side="right")) - 1
        last = min(max(last, first + 1), size)
        found = np.empty(starts[last] - starts[first], np.int64)
        counting.find_occurrences(text, starts, first, last, found)
        row = first
        while row < last:
            rows = (first, row, last)
            row, written = counting.count_rows(
                text, found, starts, rows, weights, float(unit), symmetric, sums, touched, cells, *buffers
            )
            for part, buffer in zip(gathered, buffers, strict=True):
                part.add(buffer[:written])
            if progress is not None:
                progress(int(starts[row]), total)
        first = last
    columns, values = (part.whole() for part in gathered)
    return Cooccurrence(np.concatenate([[0], np.cumsum(cells)]), columns, values)


def _check_text(tokens: Array, lines: Integers, order: Integers, places: NDArray[np.int32], size: int) -> None:
    """Compiled loops trust their indices, so these are checked before."""
    if tokens.ndim != 1 or tokens.dtype.kind != "u":
        raise ParameterError(
            "The 'tokens' of count_cooccurrences must be one row of unsigned whole numbers. "
            f"Got {tokens.dtype} of shape {tokens.shape}."
        )
    if len(lines) < 1 or lines[0] < 0 or np.any(np.diff(lines) < 0) or lines[-1] > len(tokens):
        raise ParameterError("The 'lines' of count_cooccurrences must rise, within the tokens.")
    if len(order) and not 0 <= order.min() <= order.max() < len(lines) - 1:
        raise ParameterError(
            f"The 'order' of count_cooccurrences must name lines from 0 to {len(lines) - 2}. "
            f"Got {order.min()} to {order.max()}."
        )
    if len(places) and places.max() >= size:
        raise ParameterError(
            f"The 'places' of count_cooccurrences must lie below the vocabulary's size, {size}. Got {places.max()}."
        )


def _in_range(columns: NDArray[np.int32], values: Singles, size: int) -> bool:
    if not len(columns):
        return True
    low, high = float(values.min()), float(values.max())  # NaN, if there is one
    return bool(columns.min() >= 0 and columns.max() < size and low > 0 and high < np.inf)
