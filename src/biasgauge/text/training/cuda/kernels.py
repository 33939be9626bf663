"""The CUDA sources as package data, and the layout of what they read and write.

Imports NumPy alone, so that a machine with a GPU and nothing else can check the kernels (scripts/gpu_check.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 8
LINE = 16
LONGEST = 10_000
"""As `lanes.LANES`, `lanes.LINE` and `negative_sampling.LONGEST`, which need Numba; tests hold them together."""

_POINTER, _WHOLE, _COUNTER, _REAL = np.uint64, np.int64, np.uint64, np.float64

TEXT = np.dtype([
    *((name, _POINTER) for name in (
        "tokens", "lines", "order", "places", "keep", "negative_keep", "negative_other", "starts", "parts",
    )),
    ("words", _WHOLE),
])  # fmt: skip
"""`Text` of reading.cuh."""

MODEL = np.dtype([
    ("text", _POINTER), ("inputs", _POINTER), ("outputs", _POINTER), ("kept", _POINTER),
    ("first", _WHOLE), ("last", _WHOLE), ("state", _COUNTER), ("done", _WHOLE),
    ("total", _REAL), ("alpha", _REAL), ("min_alpha", _REAL), ("loss", _REAL), ("pairs", _REAL),
    ("first_state", _COUNTER), ("input_rows", _WHOLE),
])  # fmt: skip
"""`Model` of reading.cuh."""

GLOVE_MODEL = np.dtype([
    ("weights", _POINTER), ("cells", _POINTER), ("first", _WHOLE), ("last", _WHOLE), ("cost", _REAL),
    ("first_state", _COUNTER), ("rows", _WHOLE), ("eta", np.float32), ("unused", np.int32),
])  # fmt: skip
"""`Model` of glove.cu."""

CELL = np.dtype([("row", np.int32), ("column", np.int32), ("log", np.float32), ("weight", np.float32)])
"""`Cell` of glove.cu, and of `glove.descent`."""

_FOLDER = Path(__file__).parent
_PARTS = {
    "skip_gram": ("device.cuh", "reading.cuh", "skip_gram.cu"),
    "mean_of_rows": ("device.cuh", "reading.cuh", "mean_of_rows.cu"),
    "glove": ("device.cuh", "glove.cu"),
}
COPIES = "copies.cuh"


@dataclass(frozen=True)
class Kernel:
    """A kernel with its settings compiled in.

    Attributes:
        name: its function, and its file.
        constants: what the source leaves to the compiler's command line.
    """

    name: str
    constants: tuple[tuple[str, int], ...]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return dict(self.constants)["THREADS"]

    @property
    def parts(self) -> str:
        """The source without the copies to shared memory, which an emulation does in its own way."""
        return "\n".join((_FOLDER / part).read_text(encoding="utf-8") for part in _PARTS[self.name])

    @property
    def source(self) -> str:
        """The source that CUDA compiles."""
        return (_FOLDER / COPIES).read_text(encoding="utf-8") + self.parts

    @property
    def flags(self) -> tuple[str, ...]:
        """Constants as flags of the compiler."""
        return tuple(f"-D{name}={value}" for name, value in self.constants)


def padded(dim: int) -> int:
    """Width of a row that holds `dim` numbers, as on the CPU."""
    return -(-dim // LANES) * LANES


def glove_row(dim: int) -> int:
    """Numbers in a row of GloVe: vector, sums of squares, bias and its sum, up to a whole line."""
    return -(-(2 * padded(dim) + 2) // LINE) * LINE


@dataclass(frozen=True)
class Shape:
    """How a block is laid out; it changes speed, never a bit of the result.

    Attributes:
        threads: of a block, two warps of which read and add up.
        blocks: of a multiprocessor at a time, at least.
        ahead: windows or batches that are read ahead.
        vector: columns of a thread.
        cells: of GloVe, in a batch.
    """

    threads: int
    blocks: int
    ahead: int = 2
    vector: int = 1
    cells: int = 4


def kernel_of(algorithm: str, settings: Mapping[str, Any], shape: Shape) -> Kernel:
    """The kernel that trains an algorithm with these settings."""
    constants = {
        "DIM": settings["dim"],
        "WIDTH": padded(settings["dim"]),
        "THREADS": shape.threads,
        "BLOCKS": shape.blocks,
    }
    if algorithm == "glove":
        return Kernel("glove", (*constants.items(), ("AHEAD", shape.ahead), ("CELLS", shape.cells)))
    constants |= {"WINDOW": settings["window"], "NEGATIVE": settings["negative"]}
    if algorithm == "sgns":
        return Kernel("skip_gram", (*constants.items(), ("AHEAD", shape.ahead), ("VECTOR", shape.vector)))
    return Kernel("mean_of_rows", (*constants.items(), ("SUBWORDS", int(algorithm == "fasttext"))))


def stored_order(width: int) -> NDArray[np.int64]:
    """Where each column of a row is stored on the device: `stored_at` of device.cuh."""
    column = np.arange(width)
    whole = width // 32 * 32
    moved = column // 32 * 32 + column % 8 * 4 + column % 32 // 8
    return np.where(column < whole, moved, column)
