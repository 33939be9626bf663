"""What an association test declares about itself, what it returns at least, and the word sets that it may rely on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasgauge.core import Estimate, Floats, JsonMapping, Record, geometry, joined
from biasgauge.errors import ParameterError
from biasgauge.stats import Resampled, Resampling, not_estimated

Swap = Literal["negates", "unchanged", "changes"]


@dataclass(frozen=True, kw_only=True)
class AssociationResult(Record):
    """A number, or the reason why there is none.

    Attributes:
        value: the test's number; None when it is undefined.
        reason: why it is undefined; None when it is not.
        interval: how far `value` would move with other words of the same kind; None when it was not asked for.
    """

    beside: ClassVar[Mapping[str, str]] = {"interval": "value"}
    """Fields whose interval alone stands in JSON, beside the number under this key."""

    value: float | None
    reason: str | None = None
    interval: Estimate | None = None

    @classmethod
    def undefined(cls, reason: str, interval: Resampling | None, **about: Any) -> Self:  # noqa: ANN401 - other fields
        """No number, for a reason; the interval that was asked for has the same one."""
        return cls(value=None, reason=reason, interval=not_estimated(interval, reason), **about)

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The result of which `to_dict` made `content`."""
        estimates = {name: content.get(name) and joined(content, number, name) for name, number in cls.beside.items()}
        return super().from_dict({**content, **estimates})


@dataclass(frozen=True)
class SetTest:
    """An association test: its function, the sets it needs and the properties it promises.

    The property suite holds every declaration against the function, also that a "changes" does change something.

    Attributes:
        name: under which it is found.
        display_name: what tables and charts show; `name` where it is empty.
        function: called with the sets as keyword arguments; further keywords are the test's settings.
        resampled: called with one mapping of the sets, and the settings that change the value: the same number as a
            function of how often each word is drawn.
        sets: which of x, y (targets) and a, b (attributes) it needs.
        rotation_invariant: turning all vectors together leaves the value as it is.
        scale_invariant: multiplying all vectors by one positive number leaves it as it is.
        length_invariant: multiplying every word's vector by its own positive number leaves it as it is.
        swap_xy: what exchanging the target sets does; None when the test has only one.
        swap_ab: what exchanging the attribute sets does; None when the test has only one.
        range: smallest and largest value; None where there is no bound that holds for all sets.
        zero: what a value of 0 means.
        source: paper and place of the formula.
        paired: x[i] and y[i] belong together, so that losing one word loses the pair.
    """

    name: str
    function: Callable[..., AssociationResult]
    resampled: Callable[..., Resampled]
    sets: tuple[str, ...]
    rotation_invariant: bool
    scale_invariant: bool
    length_invariant: bool
    swap_xy: Swap | None
    swap_ab: Swap | None
    range: tuple[float | None, float | None]
    zero: str
    source: str
    paired: bool = False
    display_name: str = ""


def prepared(**sets: ArrayLike) -> dict[str, Floats]:
    """Give each set as its own float64 matrix, words × dimensions; the input is never modified.

    Raises:
        ParameterError: a set is not a matrix of finite real numbers, or sets differ in their number of dimensions.
    """
    matrices = {name: matrix(name, values) for name, values in sets.items()}
    widths = {name: matrix.shape[1] for name, matrix in matrices.items() if len(matrix)}
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


unit = partial(geometry.unit_rows, rescale=True, pairwise=True)
"""Rows of length 1, in the order of operations that numbers of association tests are published with."""
cosines = partial(geometry.cosines, rescale=True, pairwise=True)
"""Cosine of every row of the one with every row of the other, likewise."""


def floats(values: NDArray[np.floating[Any]]) -> tuple[float, ...]:
    """Numbers as they stand in a result: plain, comparable, unchangeable."""
    return tuple(values.tolist())
