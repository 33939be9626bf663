"""`Estimate`, one number with its interval or the `Reason` why it is undefined, and `Estimates`, a stack of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from biasgauge.core.arrays import Array, Floats, Vectors
from biasgauge.core.records import JsonMapping, JsonObject, Record, from_plain
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd


class Reason(IntEnum):
    """Reason why a number, or its interval alone, is undefined; `Estimates.undefined` holds these codes."""

    DEFINED = 0
    TOO_FEW_SUBJECTS = 1
    TOO_FEW_RATERS = 2
    ALL_SCORES_EQUAL = 3
    NO_SUBJECT_VARIANCE = 4
    NO_LOWER_END = 5
    ONE_CATEGORY = 6
    TOO_FEW_DRAWS = 7
    TOO_FEW_ITEMS = 8
    CONSTANT_ITEM = 9

    def sentence(self, subjects: str = "subjects", raters: str = "raters") -> str:
        """Return the reason in words, with the names of rows and columns; empty where nothing is undefined."""
        return _REASONS[self].format(subjects=subjects, raters=raters)


_REASONS = {
    Reason.DEFINED: "",
    Reason.TOO_FEW_SUBJECTS: "too few {subjects} have a score from each of the {raters}",
    Reason.TOO_FEW_RATERS: "fewer than two {raters} have scores",
    Reason.ALL_SCORES_EQUAL: "all scores are equal",
    Reason.NO_SUBJECT_VARIANCE: "the {subjects} do not differ on average, so that there is nothing to agree about",
    Reason.NO_LOWER_END: "the interval has no lower end",
    Reason.ONE_CATEGORY: "all ratings fall into one category, so that agreement by chance is certain",
    Reason.TOO_FEW_DRAWS: "too few draws of the {subjects} have a value for an interval",
    Reason.TOO_FEW_ITEMS: "a common factor takes at least three {raters}",
    Reason.CONSTANT_ITEM: "one of the {raters} has the same score throughout, so that it has no correlations",
}


class Doubt(IntEnum):
    """Reason why an F interval may cover less than its level; `Estimates.doubts` holds these codes."""

    NONE = 0
    HEAVY_TAILS = 1
    FEW_RATERS = 2

    def sentence(self, subjects: str = "subjects", raters: str = "raters") -> str:
        """Return the doubt in words; empty where there is none."""
        better = "an F interval covers less than its level; interval='bootstrap' covers better"
        if self is Doubt.HEAVY_TAILS:
            return f"the means of the {subjects} have heavy tails, under which {better}"
        return f"so few {raters} barely tell how {raters} differ, and where they do {better}" if self else ""


Fields = dict[str, Any]
"""Some fields of an estimate by name, shared by the several returns of a function."""

_INTERVAL = ("low", "high", "level", "method", "resamples", "over", "undefined_resamples", "reason")


@dataclass(frozen=True, kw_only=True)
class Estimate(Record):
    """One number with its interval, or the reason why it is undefined. Every interval of the package is an Estimate.

    Rows of a table that are estimates inherit from it and add labels alone.

    Attributes:
        value: the number; None when it is undefined.
        low, high: ends of the interval; None when it is undefined.
        level: nominal coverage of the interval.
        method: name of the interval's method, such as "bca".
        n: units (words, subjects, points) that the number rests on.
        reason: why the number, or the interval alone, is undefined; None when neither is.
        statistic: what was estimated, such as "ICC(2,1)".
        k: raters or items, where there are two ways to count; 0 where there are not.
        over: units that the interval generalizes over, such as "words": they would vary between repetitions.
        resamples: bootstrap draws behind the interval; 0 without any.
        undefined_resamples: draws in which the number could not be computed; they are left out.
        warning: why the interval may cover less than its level; None without any doubt.
    """

    renamed: ClassVar[Mapping[str, str]] = {"over": "generalizes_over"}

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    n: int = 0
    reason: str | None = None
    statistic: str = ""
    k: int = 0
    over: str = ""
    resamples: int = 0
    undefined_resamples: int = 0
    warning: str | None = None

    @classmethod
    def of_estimate(cls, estimate: Estimate, **labels: Any) -> Self:  # noqa: ANN401 - its own fields
        """Return an estimate with labels; `n` may be among them."""
        return cls(**{**vars(estimate), **labels})

    @classmethod
    def symmetric(
        cls,
        value: float,
        margin: float,
        bounds: tuple[float, float] = (-np.inf, np.inf),
        **fields: Any,  # noqa: ANN401 - its own fields
    ) -> Self:
        """Return a number with the interval value ± margin, cut at `bounds`."""
        return cls(value=value, low=max(value - margin, bounds[0]), high=min(value + margin, bounds[1]), **fields)

    @property
    def defined(self) -> bool:
        """True where there is a number."""
        return self.value is not None

    @property
    def bounded(self) -> bool:
        """True where there is an interval."""
        return self.low is not None and self.high is not None

    def excludes(self, value: float = 0.0) -> bool | None:
        """True if the interval lies wholly on one side of `value`; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > value or self.high < value

    def interval(self) -> JsonObject:
        """Return the interval alone, in the shape that `--json` has beside a number."""
        return {Estimate.renamed.get(name, name): getattr(self, name) for name in _INTERVAL}

    def beside(self, name: str) -> JsonObject:
        """Return number and interval as NAME, NAME_interval, and NAME_reason where there is no number."""
        if self.value is None:
            return {name: None, f"{name}_interval": None, f"{name}_reason": self.reason}
        return {name: self.value, f"{name}_interval": self.interval()}

    def interval_if_any(self) -> dict[str, Any] | None:
        """Return `interval()`; None where no interval was computed (no method is named)."""
        return self.interval() if self.method else None

    def without(self, reason: str) -> Self:
        """Return the same estimate, undefined for a reason that lies outside it."""
        return replace(self, value=None, low=None, high=None, reason=reason)

    def to_dict(self) -> JsonObject:
        """Return a JSON-ready object, without the optional fields that are not set (statistic, k, over, …)."""
        shape = super().to_dict()
        unset = {
            "statistic": "", "k": 0, "generalizes_over": "", "resamples": 0, "undefined_resamples": 0, "warning": None,
        }  # fmt: skip
        return {name: value for name, value in shape.items() if name not in unset or value != unset[name]}

    def __str__(self) -> str:
        named = f"{self.statistic} = " if self.statistic else ""
        if self.value is None:
            return f"{self.statistic or 'estimate'} undefined: {self.reason}"
        ends = ["–" if end is None else f"{end:.3f}" for end in (self.low, self.high)]
        return f"{named}{self.value:.3f} [{', '.join(ends)}]"


@dataclass(frozen=True)
class IntervalsBeside(Record):
    """A record whose estimates are written to JSON as a number and an interval: `sd` and `sd_interval`.

    A class lists such fields in `intervals_of`. An interval that was not computed (no method is named) is null.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> JsonObject:
        """Return a JSON-ready object."""
        shape = super().to_dict()
        for name in self.intervals_of:
            estimate: Estimate | None = getattr(self, name)
            shape[name] = None if estimate is None else estimate.value
            interval = None if estimate is None else estimate.interval_if_any()
            shape[f"{name}_interval"] = None if estimate is None or interval is None else {**interval, "n": estimate.n}
        return shape

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """Rebuild the record of which `to_dict` made `content`."""
        estimates = {name: joined(content, name, f"{name}_interval") for name in cls.intervals_of}
        return super().from_dict({**content, **estimates})


@dataclass(frozen=True, kw_only=True)
class LabeledEstimate(IntervalsBeside, Estimate):
    """An estimate that is a row of a table, with labels. Its JSON has the interval beside the number.

    `reason` is written beside the number where no interval was computed, and with the interval otherwise.
    """

    def to_dict(self) -> JsonObject:
        """Return a JSON-ready object."""
        interval, shape = self.interval_if_any(), super().to_dict()
        number = self.renamed.get("value", "value")
        fields = {*self.interval(), "statistic", "k", "n", "value", number}
        labels = {name: value for name, value in shape.items() if name not in fields}
        reason = self.reason if interval is None else None
        return {**labels, number: self.value, "interval": interval, "n": self.n, "reason": reason}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """Rebuild the record of which `to_dict` made `content`."""
        row = super().from_dict(content)
        interval = joined({**content, "": None}, "", "interval")
        return row if interval is None else replace(row, **{name: getattr(interval, name) for name in _INTERVAL})


def joined(content: JsonMapping, number: str, interval: str) -> Estimate | None:
    """Join a number and the interval beside it into one estimate; None where there is neither."""
    value = from_plain(float | None, content.get(number), number)
    fields = from_plain(Mapping[str, Any] | None, content.get(interval), interval)
    if value is None and fields is None:
        return None
    estimate: Estimate = from_plain(Estimate, {"value": value, **(fields or {})}, interval)
    return estimate


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


UNDEFINED = Estimate(value=None)
"""An undefined number without a reason."""


def check_level(level: float) -> float:
    """Return the level of an interval; raise where it is not between 0 and 1."""
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {level!r}.")
    return level


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
