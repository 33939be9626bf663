"""Vectors as whole numbers of 8 or 16 bits, and the error that this makes in cosines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Floats, Vectors, row_cosines
from biasgauge.errors import ParameterError

SIZES = {8: np.dtype("<i1"), 16: np.dtype("<i2")}
PAIRS = 100_000
"""Random pairs of words whose cosines are compared."""


class Quantized(NamedTuple):
    """Vectors as whole numbers: `integers` times `scales`, one scale for each row."""

    integers: NDArray[np.signedinteger]
    scales: NDArray[np.float32]

    @property
    def vectors(self) -> Floats:
        """The vectors that these numbers stand for, in double precision."""
        return np.asarray(self.integers.astype(np.float64) * self.scales.astype(np.float64)[:, None])


def quantize(vectors: Vectors, bits: int = 16) -> Quantized:
    """Round each row to multiples of its largest entry / (2^(bits − 1) − 1).

    Raises:
        ParameterError: bits are neither 8 nor 16.
    """
    if bits not in SIZES:
        raise ParameterError(f"The 'bits' parameter of workbench must be 8 or 16. Got {bits!r}.")
    rows = np.asarray(vectors, np.float64)
    largest = 2 ** (bits - 1) - 1
    # Rounded up to single precision, so that no entry exceeds the largest integer.
    scales = np.nextafter((np.abs(rows).max(axis=1) / largest).astype(np.float32), np.float32(np.inf))
    integers = np.rint(rows / scales.astype(np.float64)[:, None]).astype(SIZES[bits])
    return Quantized(integers, scales)


def largest_cosine_error(vectors: Vectors, quantized: Floats, random_state: int = 0) -> float:
    """Return the largest difference of the cosines of 100,000 random pairs of rows before and after; NaN for none."""
    directed = np.flatnonzero(np.asarray(vectors).any(axis=1))
    if len(directed) < 2:
        return float("nan")
    random = np.random.default_rng([random_state, 41])
    largest = 0.0
    for pairs in np.array_split(random.choice(directed, (PAIRS, 2)), 10):
        first, second = pairs.T
        before = row_cosines(np.asarray(vectors[first]), np.asarray(vectors[second]))
        after = row_cosines(quantized[first], quantized[second])
        largest = max(largest, float(np.abs(before - after).max()))
    return largest
