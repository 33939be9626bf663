"""Categories as small numbers, so that agreement is counted by array operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import ParameterError

MISSING = -1


def codes(labels: object, categories: Sequence[object] | None = None) -> tuple[NDArray[np.int64], list[Any]]:
    """Place of each label in the categories, and the categories; None and NaN become `MISSING`.

    Args:
        labels: an array of strings, numbers or booleans, or nested sequences of them.
        categories: in their order; those that occur, sorted, when None.

    Raises:
        ParameterError: a label is not among the categories, or labels cannot be put in an order.
    """
    try:
        array = np.asarray(labels)
    except ValueError as problem:
        raise ParameterError(f"Ratings must be a table without ragged rows. Got {problem}.") from problem
    if array.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        array = np.asarray(labels, dtype=object)  # NumPy would turn None into the string "None"
    missing = _missing(array)
    try:
        present, places = np.unique(array[~missing], return_inverse=True)
    except TypeError as problem:
        raise ParameterError(f"Ratings must be all strings or all numbers. Got {problem}.") from problem
    kinds: list[Any] = present.tolist()
    found = np.full(array.shape, MISSING, np.int64)
    if categories is None:
        found[~missing] = places.reshape(-1)
        return found, kinds
    order = {kind: place for place, kind in enumerate(categories)}
    unknown = [kind for kind in kinds if kind not in order]
    if unknown:
        raise ParameterError(f"Ratings must be among the categories {list(categories)}. Got {unknown[0]!r}.")
    found[~missing] = np.array([order[kind] for kind in kinds], np.int64)[places.reshape(-1)]
    return found, list(categories)


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype == object:
        flat = [label is None or (isinstance(label, float) and np.isnan(label)) for label in array.ravel()]
        return np.array(flat, bool).reshape(array.shape)
    return np.zeros(array.shape, bool)
