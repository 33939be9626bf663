"""Association tests: the declaration of a test, the parent of all results, and the checks of word sets."""

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
        interval: of `value`, over words of the same kind; None without settings for it.
    """

    interval_keys: ClassVar[Mapping[str, str]] = {"interval": "value"}
    """Estimates of which JSON has the interval alone, each with the key of its number."""

    value: float | None
    reason: str | None = None
    interval: Estimate | None = None

    @classmethod
    def undefined(cls, reason: str, interval: Resampling | None, **fields: Any) -> Self:  # noqa: ANN401 - other fields
        """Return a result without a value; its interval has the same reason."""
        return cls(value=None, reason=reason, interval=not_estimated(interval, reason), **fields)

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """Rebuild the result of which `to_dict` made `content`."""
        estimates = {
            name: content.get(name) and joined(content, number, name) for name, number in cls.interval_keys.items()
        }
        return super().from_dict({**content, **estimates})


@dataclass(frozen=True)
class SetTest:
    """An association test: its function, the sets it needs and the properties it promises.

    `biasgauge.testing.check_association_test` holds every declaration against the function.

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
        swap_xy: effect of exchanging the target sets; None when the test has only one.
        swap_ab: effect of exchanging the attribute sets; None when the test has only one.
        range: smallest and largest value; None where there is no bound that holds for all sets.
        zero: meaning of a value of 0.
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
    """Return each set as a float64 matrix of its own, words × dimensions; the input is never modified.

    Raises:
        ParameterError: a set is not a matrix of finite real numbers, or sets differ in their number of dimensions.
    """
    matrices = {name: matrix(name, values) for name, values in sets.items()}
    widths = {name: matrix.shape[1] for name, matrix in matrices.items() if len(matrix)}
    if len(set(widths.values())) > 1:
        sizes = ", ".join(f"{name} has {width}" for name, width in widths.items())
        raise ParameterError(f"All sets must hold vectors of the same number of dimensions. Got: {sizes}.")
    return matrices


def matrix(name: str, values: ArrayLike) -> Floats:
    """Return one set as a float64 matrix; an empty one has no rows."""
    array = np.asarray(values)
    if array.size == 0:
        return np.empty((0, array.shape[1] if array.ndim == 2 else 0))
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ParameterError(
            f"The set {name!r} must be a matrix of real numbers, one row per word. "
            f"Got shape {array.shape} and type {array.dtype}."
        )
    table: Floats = np.array(array, dtype=np.float64)
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise ParameterError(f"The set {name!r} must hold finite numbers only. Got nan or infinity in row {row}.")
    return table


def undefined(sets: Mapping[str, Floats]) -> str | None:
    """Return the reason why no test is defined on these sets, an empty one or a zero vector; None if there is none."""
    for name, vectors in sets.items():
        if not len(vectors):
            return f"the set {name!r} is empty"
        zero = np.flatnonzero(~vectors.any(axis=1))
        if zero.size:
            return f"word {int(zero[0])} of the set {name!r} has a zero vector, which has no direction"
    return None


def checked_sets(**sets: ArrayLike) -> tuple[dict[str, Floats], str | None]:
    """Return `prepared` sets and the reason why they are `undefined`, if so."""
    matrices = prepared(**sets)
    return matrices, undefined(matrices)


unit = partial(geometry.unit_rows, rescale=True, pairwise=True)
"""Rows of length 1, in the order of operations that numbers of association tests are published with."""
cosines = partial(geometry.cosines, rescale=True, pairwise=True)
"""Cosine of every row of the one with every row of the other, likewise."""


def floats(values: NDArray[np.floating[Any]]) -> tuple[float, ...]:
    """Return numbers as a tuple, as results hold them."""
    return tuple(values.tolist())
