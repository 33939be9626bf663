"""How the blocks of a kernel are laid out for so many replicates; it changes speed, never a bit of the result.

The numbers come from bench/gpu_training.py on an H200: of the shapes measured there, those chosen here were the fastest
or within 1 % of it. Imports NumPy alone, as `kernels` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasgauge.errors import InputError
from biasgauge.text.training.cuda.device import Device
from biasgauge.text.training.cuda.kernels import Shape, glove_row, padded

MOST_AROUND, MOST_NEGATIVE = 16, 31
"""Words on each side, and negatives, of a skip-gram window: a warp reads one window at a time, a word a lane."""
_WARP = 32
_OTHERS = 64
"""Threads of a block that read ahead and add up the loss."""
_REGISTERS = 65_536
_LEAST_REGISTERS = 64
"""Registers of a multiprocessor, and what a thread of skip-gram needs at least to keep its columns in them."""
_MOST_THREADS = 512
_ALONE = 384
"""Threads of a block of GloVe that has a multiprocessor for itself: more of them wait longer for one another."""
_FEW, _SHORT = 2, 128
"""Blocks of a multiprocessor, and numbers of a row, up to which other shapes were the fastest."""
_OVERHEAD = 6 * 1024
"""Bytes of shared memory that a block takes beside its rows, at most."""


def shape_of(algorithm: str, settings: Mapping[str, Any], replicates: int, device: Device) -> Shape:
    """Choose threads, blocks of a multiprocessor, and how far to read ahead.

    Raises:
        InputError: skip-gram with a window or with negatives that the kernel has no room for.
    """
    width = padded(settings["dim"])
    wanted = min(8, -(-replicates // device.multiprocessors))
    if algorithm == "glove":
        return _glove(settings["dim"], wanted, device.shared_memory)
    if algorithm != "sgns":
        threads = min(_MOST_THREADS, max(128, _OTHERS + _warps(width)))
        return Shape(threads, _blocks(wanted, threads, 0, device.shared_memory))
    window, negative = settings["window"], settings["negative"]
    if window > MOST_AROUND or negative > MOST_NEGATIVE:
        raise InputError(
            f"On a GPU skip-gram takes a window of at most {MOST_AROUND} and at most {MOST_NEGATIVE} negatives. "
            f"Got {window} and {negative}; train on the CPU."
        )
    # Few short rows: a column a thread is faster than two. Few blocks: one window ahead is enough.
    vector = 1 if wanted <= _FEW and width <= _SHORT else 2
    threads = min(_MOST_THREADS, max(128, _OTHERS + _warps(width // vector)))
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
            threads = min(_ALONE if wanted == 1 else _MOST_THREADS, _OTHERS + _warps(cells * -(-dim // 4) * 5 // 8))
            return Shape(threads, _blocks(wanted, threads, size, shared), ahead, 1, cells)
    return Shape(_MOST_THREADS, 1, 2, 1, 1)


def _warps(threads: int) -> int:
    return max(_WARP, -(-threads // _WARP) * _WARP)


def _blocks(wanted: int, threads: int, size: int, shared: int) -> int:
    """No more blocks than have room for their rows and registers."""
    return max(1, min(wanted, shared // max(1, size), _REGISTERS // (_LEAST_REGISTERS * threads)))
