"""`Estimates`: a stack of estimates, as arrays of the shape of the stack instead of numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biasgauge.core.arrays import Array, Floats, Vectors
from biasgauge.core.estimate import Doubt, Estimate, Reason
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of a stack of matrices: arrays of the shape of the stack instead of numbers.

    Attributes:
        value, low, high: NaN exactly where undefined.
        n, k: subjects and raters that counted, by matrix.
        undefined: codes of `Reason`; 0 where everything is defined.
        subjects, raters: names of rows and columns, for the reasons.
        doubts: codes of `Doubt`; None where it was not checked.
        resampled: True where the interval is the bootstrap's, of so many `resamples`; None where none is.
    """

    statistic: str
    value: Floats
    low: Floats
    high: Floats
    level: float
    method: str
    n: NDArray[np.int64]
    k: NDArray[np.int64]
    undefined: NDArray[np.uint8]
    subjects: str = "subjects"
    raters: str = "raters"
    doubts: NDArray[np.uint8] | None = None
    resampled: NDArray[np.bool_] | None = None
    resamples: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the stack."""
        return tuple(self.value.shape)

    @classmethod
    def blank(cls, size: int, **fields: Any) -> Self:  # noqa: ANN401 - the remaining attributes, by name
        """Allocate `size` estimates, to be filled in."""
        value, low, high = (np.full(size, np.nan) for _ in range(3))
        n, k = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return cls(value=value, low=low, high=high, n=n, k=k, undefined=np.zeros(size, np.uint8), **fields)

    def put(self, index: int, value: float, ends: tuple[float, float] | None) -> None:
        """Write one number with its bootstrap interval; without one, too few draws have a value."""
        self.value[index] = value
        if ends is None:
            self.undefined[index] = Reason.TOO_FEW_DRAWS
        else:
            self.low[index], self.high[index] = ends

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """Return the same estimates in another shape."""
        names = ("value", "low", "high", "n", "k", "undefined", "doubts", "resampled")
        arrays = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(self, **{name: array.reshape(shape) for name, array in arrays.items()})

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int | tuple[int, ...]) -> Estimate:
        numbers = (float(array[index]) for array in (self.value, self.low, self.high))
        value, low, high = (None if np.isnan(number) else number for number in numbers)
        resampled = self.resampled is not None and bool(self.resampled[index])
        doubt = Doubt.NONE if self.doubts is None or resampled else Doubt(int(self.doubts[index]))
        return Estimate(
            statistic=self.statistic, value=value, low=low, high=high, level=self.level,
            method=f"bootstrap over {self.subjects} (studentized log F)" if resampled else self.method,
            n=int(self.n[index]), k=int(self.k[index]), reason=self.reason(index) or None,
            resamples=self.resamples if resampled else 0,
            warning=doubt.sentence(self.subjects, self.raters) or None,
        )  # fmt: skip

    def reason(self, index: int | tuple[int, ...]) -> str:
        """Return why one number, or its interval, is undefined; empty where neither is."""
        return self.sentences()[int(self.undefined[index])]

    def sentences(self) -> list[str]:
        """Return the sentence of every `Reason`, in the order of their codes."""
        return [reason.sentence(self.subjects, self.raters) for reason in Reason]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per matrix, in the order of the stack."""
        import pandas as pd

        columns: dict[str, Any] = {name: getattr(self, name).ravel() for name in ("value", "low", "high", "n", "k")}
        columns["reason"] = np.array(self.sentences(), dtype=object)[self.undefined.ravel()]
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        defined = self.value[~np.isnan(self.value)]
        median = f", median {np.median(defined):.3f}" if len(defined) else ""
        size = self.value.size
        return f"<p>{size:,} × {escape(self.statistic)}, {size - len(defined):,} undefined{median}</p>"


def as_stack(scores: object, function: str) -> Vectors:
    """Return scores as an array of numbers with at least two axes, (…, subjects, raters).

    Raises:
        ParameterError: they are not numbers, or rows differ in length.
    """
    try:
        array = np.asarray(scores)
    except ValueError as error:
        raise ParameterError(f"{function} needs rows of the same length. Got {error}.") from error
    if array.dtype == object or array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{function} needs a matrix of numbers. Got {error}.") from error
    if array.ndim < 2:
        raise ParameterError(
            f"{function} needs a matrix, or a stack of matrices, with subjects in rows. Got the shape {array.shape}."
        )
    return array


def flat(array: Array) -> Array:
    """Return a stack of any shape as (matrices, subjects, raters), also where it is empty."""
    return array.reshape(prod(array.shape[:-2]), *array.shape[-2:])
