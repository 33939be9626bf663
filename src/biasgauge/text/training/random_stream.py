"""Compilation of loops, and random numbers inside them: one 64-bit state, the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import InputError
from biasgauge.text.training.algorithms import NEEDS_NUMBA

try:
    import numba
except ImportError as problem:  # pragma: no cover - every test environment has it
    raise InputError(NEEDS_NUMBA) from problem

Loop = TypeVar("Loop", bound=Callable[..., Any])

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_HALF, _A, _B, _C = np.uint64(32), np.uint64(30), np.uint64(27), np.uint64(31)


def compiled(function: Loop) -> Loop:
    """Compile `function` on its first call.

    Arithmetic is that of the source, in its order: no fast-math, no fused multiply-add, so that every processor gives
    the same bits. Python's lock is released, so that models can be trained side by side in threads. The cache on disk
    is renewed when the file of `function` changes, not when a file that it calls does: touch it then.
    """
    loop: Loop = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return loop


def stream(purpose: str, seed: int) -> NDArray[np.uint64]:
    """Start a stream: the state of a generator that `next_number` moves on.

    Streams of different purposes or seeds start at unrelated states, however close the seeds.
    """
    start = hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:8]
    return np.array([int.from_bytes(start, "little")], dtype=np.uint64)


@compiled
def next_number(state: NDArray[np.uint64]) -> np.uint64:
    """Return the next 64 random bits (SplitMix64: Steele, Lea & Flood 2014)."""
    state[0] += _GOLDEN
    mixed: np.uint64 = state[0]
    mixed = (mixed ^ (mixed >> _A)) * _FIRST
    mixed = (mixed ^ (mixed >> _B)) * _SECOND
    return mixed ^ (mixed >> _C)


@compiled
def below(state: NDArray[np.uint64], bound: int) -> int:
    """Return a whole number from 0 to bound − 1; bound is at most 2**32, the bias then at most bound / 2**32."""
    return int(((next_number(state) >> _HALF) * np.uint64(bound)) >> _HALF)


@compiled
def fill_uniform(matrix: NDArray[np.float32], dim: int, width: float, state: NDArray[np.uint64]) -> None:
    """Fill the first `dim` columns with numbers from -width / 2 to width / 2."""
    for row in range(len(matrix)):
        for column in range(dim):
            share = np.float64(next_number(state) >> np.uint64(11)) / 9007199254740992.0  # 53 bits: [0, 1)
            matrix[row, column] = np.float32((share - 0.5) * width)


@compiled
def _pair_up(shares: NDArray[np.float64], keep: NDArray[np.uint64], alias: NDArray[np.uint32]) -> None:
    """Vose's method: pair each column below its mean share with one above, which fills it up and shrinks."""
    size = len(shares)
    small = np.empty(size, np.int64)
    large = np.empty(size, np.int64)
    smalls = 0
    larges = 0
    for column in range(size):
        if shares[column] < 1.0:
            small[smalls] = column
            smalls += 1
        else:
            large[larges] = column
            larges += 1
    while smalls and larges:
        low = small[smalls - 1]
        high = large[larges - 1]
        keep[low] = np.uint64(shares[low] * 4294967296.0)
        alias[low] = high
        shares[high] -= 1.0 - shares[low]
        smalls -= 1
        if shares[high] < 1.0:
            larges -= 1
            small[smalls] = high
            smalls += 1


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Prepare draws in proportion to `weights` in constant time (Walker 1977, Vose 1991).

    Returns:
        keep: for each index, the share (times 2**32) of its column that it keeps.
        alias: the index that gets the remainder of that column.
    """
    shares = np.asarray(weights, dtype=np.float64) * (len(weights) / np.sum(weights))
    keep = np.full(len(shares), 2**32, dtype=np.uint64)
    alias = np.arange(len(shares), dtype=np.uint32)
    _pair_up(shares, keep, alias)
    return keep, alias


@compiled
def draw(state: NDArray[np.uint64], keep: NDArray[np.uint64], alias: NDArray[np.uint32]) -> int:
    """Draw an index in proportion to the weights of an alias table."""
    bits = next_number(state)
    column = int(((bits >> _HALF) * np.uint64(len(keep))) >> _HALF)
    if (bits & _LOW) >= keep[column]:
        column = int(alias[column])
    return column
