"""The CUDA sources as package data, the layout of their data, and the shape of their blocks.

Imports NumPy alone, so that a machine with a GPU and nothing else can check the kernels (scripts/gpu_check.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import InputError

if TYPE_CHECKING:
    from biasgauge.text.training.cuda.device import Device

LANES = 8
LINE = 16
LONGEST = 10_000
"""Equal to `lanes.LANES`, `lanes.LINE` and `negative_sampling.LONGEST`, which need Numba; tests compare them."""

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
"""`Cell` of glove.cu, and of `glove`."""

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
        constants: macros of the source, set on the compiler's command line.
    """

    name: str
    constants: tuple[tuple[str, int], ...]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return dict(self.constants)["THREADS"]

    @property
    def parts(self) -> str:
        """The source without the copies to shared memory, which an emulation replaces."""
        return "\n".join((_FOLDER / file).read_text(encoding="utf-8") for file in _PARTS[self.name])

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
    """Layout of a block; it changes speed, never a bit of the result.

    Attributes:
        threads: threads of a block, two warps of which read and add up.
        blocks: blocks of a multiprocessor at a time, at least.
        ahead: windows or batches that are read ahead.
        vector: columns of a thread.
        cells: cells in a batch of GloVe.
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
    """Column on the device of each column of a row: `stored_at` of device.cuh."""
    column = np.arange(width)
    full_blocks = width // 32 * 32
    moved = column // 32 * 32 + column % 8 * 4 + column % 32 // 8
    return np.where(column < full_blocks, moved, column)


MOST_AROUND, MOST_NEGATIVE = 16, 31
"""Words on each side, and negatives, of a skip-gram window: a warp reads one window at a time, one word per lane."""
_WARP = 32
_READERS = 64
"""Threads of a block that read ahead and add up the loss."""
_REGISTERS = 65_536
_LEAST_REGISTERS = 64
"""Registers of a multiprocessor, and what a thread of skip-gram needs at least to keep its columns in them."""
_MOST_THREADS = 512
_ALONE = 384
"""Threads of a GloVe block alone on its multiprocessor: more of them would wait longer for one another.

These numbers come from bench/gpu_training.py on an H200: of the shapes measured there, those chosen here were the
fastest or within 1 % of it."""
_FEW, _SHORT = 2, 128
"""Blocks of a multiprocessor, and numbers of a row, up to which other shapes were the fastest."""
_OVERHEAD = 6 * 1024
"""Bytes of shared memory that a block takes beside its rows, at most."""


def shape_of(algorithm: str, settings: Mapping[str, Any], replicates: int, device: Device) -> Shape:
    """Choose threads, blocks of a multiprocessor, and how far to read ahead.

    Raises:
        InputError: skip-gram with a wider window or more negatives than the kernel can hold.
    """
    width = padded(settings["dim"])
    wanted = min(8, -(-replicates // device.multiprocessors))
    if algorithm == "glove":
        return _glove(settings["dim"], wanted, device.shared_memory)
    if algorithm != "sgns":
        threads = min(_MOST_THREADS, max(128, _READERS + _warps(width)))
        return Shape(threads, _blocks(wanted, threads, 0, device.shared_memory))
    window, negative = settings["window"], settings["negative"]
    if window > MOST_AROUND or negative > MOST_NEGATIVE:
        raise InputError(
            f"On a GPU skip-gram takes a window of at most {MOST_AROUND} and at most {MOST_NEGATIVE} negatives. "
            f"Got {window} and {negative}; train on the CPU."
        )
    # Few short rows: a column a thread is faster than two. Few blocks: one window ahead is enough.
    vector = 1 if wanted <= _FEW and width <= _SHORT else 2
    threads = min(_MOST_THREADS, max(128, _READERS + _warps(width // vector)))
    for ahead in (1,) if wanted <= _FEW else (2, 1):
        rows = 2 * window + 1 + ahead + (ahead + 1) * (negative + 1)
        size = 4 * width * rows + _OVERHEAD
        if size <= device.shared_memory:
            return Shape(threads, _blocks(wanted, threads, size, device.shared_memory), ahead, vector)
    return Shape(threads, 1, 1, vector)


def _glove(dim: int, wanted: int, shared: int) -> Shape:
    """Batches of four cells, three read ahead, where rows are long; of eight where they are short, or a block alone."""
    long = ((8, 3),) * (wanted == 1) + ((4, 3), (4, 2), (2, 2))
    for cells, ahead in ((8, 2),) if dim <= _SHORT else long:
        size = (ahead + 1) * 2 * cells * glove_row(dim) * 4 + _OVERHEAD
        if size <= shared:
            threads = min(_ALONE if wanted == 1 else _MOST_THREADS, _READERS + _warps(cells * -(-dim // 4) * 5 // 8))
            return Shape(threads, _blocks(wanted, threads, size, shared), ahead, 1, cells)
    return Shape(_MOST_THREADS, 1, 2, 1, 1)


def _warps(threads: int) -> int:
    return max(_WARP, -(-threads // _WARP) * _WARP)


def _blocks(wanted: int, threads: int, size: int, shared: int) -> int:
    """Blocks of a multiprocessor, limited by shared memory and registers."""
    return max(1, min(wanted, shared // max(1, size), _REGISTERS // (_LEAST_REGISTERS * threads)))
