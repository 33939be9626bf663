"""What every estimator of this room returns: one number with its interval, or a whole stack of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Floats = np.ndarray[Any, np.dtype[np.float64]]

DEFINED, FEW_SUBJECTS, FEW_RATERS, EQUAL, NO_SPREAD, NO_LOW, ONE_CATEGORY, NO_INTERVAL, FEW_ITEMS, CONSTANT = range(10)

REASONS = (
    "",
    "too few {subjects} have a score from each of the {raters}",
    "fewer than two {raters} have scores",
    "all scores are equal",
    "the {subjects} do not differ on average, so that there is nothing to agree about",
    "the interval has no lower end",
    "all ratings fall into one category, so that agreement by chance is certain",
    "too few draws of the {subjects} have a value for an interval",
    "a common factor takes at least three {raters}",
    "one of the {raters} has the same score throughout, so that it has no correlations",
)
"""Why a number or an end of its interval is undefined; `Estimates.undefined` holds the place in this list."""


@dataclass(frozen=True)
class Estimate:
    """A reliability, or the reason why there is none.

    Attributes:
        statistic: what was estimated, such as "ICC(2,1)".
        value: at most 1 (perfect); about 0 where nothing but chance agrees; negative where scores disagree more than
            chance would have it. Never clipped. None when it is undefined.
        low, high: ends of the interval; None when undefined.
        level: nominal coverage of the interval.
        method: how the interval was found.
        n: subjects (rows, observations, items rated) that counted.
        k: raters (columns, items of a scale) that counted.
        reason: why something is undefined; None when nothing is.
    """

    statistic: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    k: int
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; undefined numbers are None beside their reason."""
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most estimates take to compute

        return pd.DataFrame([self.to_dict()])

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.statistic} undefined: {self.reason}"
        ends = ["–" if end is None else f"{end:.3f}" for end in (self.low, self.high)]
        return f"{self.statistic} = {self.value:.3f} [{', '.join(ends)}]"

    def _repr_html_(self) -> str:
        return paragraph(f"{self} ({self.level:.0%}, {self.method}; n = {self.n}, k = {self.k})")


@dataclass(frozen=True, eq=False)
class Estimates:
    """The same for a stack of matrices: arrays in the place of numbers, of the shape of the stack.

    Attributes:
        value, low, high: NaN exactly where undefined.
        n, k: subjects and raters that counted, by matrix.
        undefined: places in `REASONS`; 0 where everything is defined.
        subjects, raters: what rows and columns are, for the reasons.
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

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the stack."""
        return tuple(self.value.shape)

    @classmethod
    def blank(cls, size: int, **about: Any) -> Self:  # noqa: ANN401 - the other attributes, by name
        """Room for `size` estimates, nothing known of any of them yet."""
        return cls(
            value=np.full(size, np.nan),
            low=np.full(size, np.nan),
            high=np.full(size, np.nan),
            n=np.zeros(size, np.int64),
            k=np.zeros(size, np.int64),
            undefined=np.zeros(size, np.uint8),
            **about,
        )

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """The same estimates, in the shape of their stack."""
        arrays = ("value", "low", "high", "n", "k", "undefined")
        return replace(self, **{name: getattr(self, name).reshape(shape) for name in arrays})

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        value, low, high = (_number(one[place]) for one in (self.value, self.low, self.high))
        reason = self.reason(place) or None
        counts = int(self.n[place]), int(self.k[place])
        return Estimate(self.statistic, value, low, high, self.level, self.method, *counts, reason)

    def reason(self, place: int | tuple[int, ...]) -> str:
        """Why something about one matrix is undefined; empty where nothing is."""
        return self.sentences()[int(self.undefined[place])]

    def sentences(self) -> list[str]:
        """`REASONS` in the words of these subjects and raters."""
        return [reason.format(subjects=self.subjects, raters=self.raters) for reason in REASONS]

    def to_frame(self) -> pd.DataFrame:
        """One row a matrix, in the order of the stack."""
        import pandas as pd  # noqa: PLC0415 - as in Estimate

        columns: dict[str, Any] = {name: getattr(self, name).ravel() for name in ("value", "low", "high", "n", "k")}
        columns["reason"] = np.array(self.sentences(), dtype=object)[self.undefined.ravel()]
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        sound = self.value[~np.isnan(self.value)]
        middle = f", median {np.median(sound):.3f}" if len(sound) else ""
        return paragraph(f"{self.value.size:,} × {self.statistic}, {self.value.size - len(sound):,} undefined{middle}")


def paragraph(text: str) -> str:
    """HTML of one line of text."""
    from html import escape  # noqa: PLC0415 - for notebooks alone

    return f"<p>{escape(text)}</p>"


def check_level(level: float) -> float:
    """Return the level of an interval if it can be one."""
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {level!r}.")
    return level


def as_stack(scores: object, what: str) -> NDArray[Any]:
    """Return scores as an array of numbers with at least two axes: (…, subjects, raters).

    Raises:
        ParameterError: they are something else.
    """
    try:
        array = np.asarray(scores)
    except ValueError as problem:
        raise ParameterError(f"{what} needs rows of the same length. Got {problem}.") from problem
    if array.dtype == object or array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise ParameterError(f"{what} needs a matrix of numbers. Got {problem}.") from problem
    if array.ndim < 2:  # noqa: PLR2004 - a matrix has two axes
        raise ParameterError(
            f"{what} needs a matrix, or a stack of matrices, with subjects in rows. Got the shape {array.shape}."
        )
    return array


def flat(array: NDArray[Any]) -> NDArray[Any]:
    """A stack of any shape as (matrices, subjects, raters), also where there are none."""
    return array.reshape(prod(array.shape[:-2]), *array.shape[-2:])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
