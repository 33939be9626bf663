"""Sets of word vectors, checked once: what every association test may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasgauge import geometry
from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.geometry import unit_rows


def prepared(**sets: ArrayLike) -> dict[str, Floats]:
    """Give each set as its own float64 matrix, words × dimensions; the input is never modified.

    Raises:
        ParameterError: a set is not a matrix of finite real numbers, or sets differ in their number of dimensions.
    """
    matrices = {name: matrix(name, values) for name, values in sets.items()}
    widths = {name: one.shape[1] for name, one in matrices.items() if len(one)}
    if len(set(widths.values())) > 1:
        found = ", ".join(f"{name} has {width}" for name, width in widths.items())
        raise ParameterError(f"All sets must hold vectors of the same number of dimensions. Got: {found}.")
    return matrices


def matrix(name: str, values: ArrayLike) -> Floats:
    """Give one set as a float64 matrix; an empty one has no rows."""
    given = np.asarray(values)
    if given.size == 0:
        return np.empty((0, given.shape[1] if given.ndim == 2 else 0))
    if given.ndim != 2 or given.dtype.kind not in "fiub":
        raise ParameterError(
            f"The set {name!r} must be a matrix of real numbers, one row a word. "
            f"Got shape {given.shape} and type {given.dtype}."
        )
    table: Floats = np.array(given, dtype=np.float64)
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise ParameterError(f"The set {name!r} must hold finite numbers only. Got nan or infinity in row {row}.")
    return table


def undefined(sets: Mapping[str, Floats]) -> str | None:
    """Say why no test can be computed on these sets: one is empty, or holds a zero vector; None when all are well."""
    for name, vectors in sets.items():
        if not len(vectors):
            return f"the set {name!r} is empty"
        zero = np.flatnonzero(~vectors.any(axis=1))
        if zero.size:
            return f"word {int(zero[0])} of the set {name!r} has a zero vector, which has no direction"
    return None


unit = partial(unit_rows, rescale=True, pairwise=True)
"""Rows of length 1, in the order of operations that numbers of association tests are published with."""
cosines = partial(geometry.cosines, rescale=True, pairwise=True)
"""Cosine of every row of the one with every row of the other, likewise."""


def floats(values: NDArray[np.floating[Any]]) -> tuple[float, ...]:
    """Numbers as they stand in a result: plain, comparable, unchangeable."""
    return tuple(values.tolist())
