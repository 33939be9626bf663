"""Arrays that may be too large to hold: in memory while they are small, in a temporary file beyond that."""

from __future__ import annotations

import tempfile
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def scratch(length: int, dtype: DTypeLike, memory: int) -> NDArray[Any]:
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
        self._blocks: list[NDArray[Any]] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self.length = 0

    def add(self, block: NDArray[Any]) -> None:
        """Put a copy of `block` at the end."""
        self._blocks.append(block.astype(self._dtype))
        self._held += block.nbytes
        self.length += len(block)
        if self._held > self._memory:
            self._write()

    def whole(self) -> NDArray[Any]:
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
