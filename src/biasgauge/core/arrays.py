"""Types of arrays, each named once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = np.ndarray[Any, np.dtype[np.float64]]
"""Numbers in double precision, of any shape."""
Singles = np.ndarray[Any, np.dtype[np.float32]]
"""Numbers in single precision: vectors as they are stored."""
Integers = np.ndarray[Any, np.dtype[np.int64]]
"""Counts and codes."""
Places = np.ndarray[Any, np.dtype[np.intp]]
"""Where something stands in an axis."""
Flags = np.ndarray[Any, np.dtype[np.bool_]]
"""Yes or no for each."""
Codes = np.ndarray[Any, np.dtype[np.uint8]]
"""Small numbers that stand for something, such as a reason in a list."""
Vectors = NDArray[np.floating[Any]]
"""Numbers in any precision: vectors as a file has them."""
Array = NDArray[Any]
"""Whatever an array holds: what files and buffers are made of."""
