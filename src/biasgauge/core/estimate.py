"""What every estimator of this room returns: one number with its interval, or a whole stack of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from biasgauge.core.arrays import Array, Floats, Vectors
from biasgauge.core.json_types import JsonMapping, JsonObject
from biasgauge.core.plain import from_plain
from biasgauge.core.record import Record
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd


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


RESAMPLED = "bootstrap over {subjects} (studentized log F)"
SURE, HEAVY_TAILS, RATERS_DIFFER = range(3)
_BETTER = "an F interval covers less than its level; interval='bootstrap' covers better"
DOUBTS = (
    "",
    f"the means of the {{subjects}} have heavy tails, under which {_BETTER}",
    f"so few {{raters}} barely tell how {{raters}} differ, and where they do {_BETTER}",
)
"""Why an F interval may cover less than its level; `Estimates.doubts` holds the place in this list."""


Fields = dict[str, Any]
"""Some fields of an estimate, by name: what several ways to end a function have in common."""

_INTERVAL = ("low", "high", "level", "method", "resamples", "over", "undefined_resamples", "reason")


@dataclass(frozen=True, kw_only=True)
class Estimate(Record):
    """One number with its error, or the reason why there is none. Every interval of the package is one of these.

    A class of rows that are estimates of something inherits from it and adds labels alone.

    Attributes:
        value: the number; None when it is undefined.
        low, high: ends of the interval; None when it is undefined.
        level: nominal coverage of the interval.
        method: how the interval was found.
        n: units (words, subjects, points) that the number rests on.
        reason: why the number, or the interval alone, is undefined; None when neither is.
        statistic: what was estimated, such as "ICC(2,1)".
        k: raters or items, where there are two ways to count; 0 where there are not.
        over: what would vary in the repetitions that the level speaks of, such as "words".
        resamples: draws that the interval rests on; 0 where none were drawn.
        undefined_resamples: draws in which the number could not be computed; they are left out.
        warning: why the interval may cover less than its level; None where nothing is known to speak against it.
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
        """An estimate with labels; `n` may be among them."""
        return cls(**{**vars(estimate), **labels})

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return self.value is not None

    @property
    def bounded(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None and self.high is not None

    def excludes(self, value: float = 0.0) -> bool | None:
        """Whether the interval lies wholly on one side of `value`; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > value or self.high < value

    def interval(self) -> JsonObject:
        """The interval alone, in the shape that `--json` has beside a number."""
        return {Estimate.renamed.get(name, name): getattr(self, name) for name in _INTERVAL}

    def beside(self, name: str) -> JsonObject:
        """Number and interval under a name: NAME, NAME_interval, and NAME_reason where there is no number."""
        if self.value is None:
            return {name: None, f"{name}_interval": None, f"{name}_reason": self.reason}
        return {name: self.value, f"{name}_interval": self.interval()}

    def interval_if_any(self) -> dict[str, Any] | None:
        """The same; None where nobody looked for an interval (no method is named)."""
        return self.interval() if self.method else None

    def without(self, reason: str) -> Self:
        """The same estimate, undefined for a reason that lies outside it."""
        return replace(self, value=None, low=None, high=None, reason=reason)

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; what was not stated (statistic, k, over, resamples, warning) is left out."""
        shape = super().to_dict()
        silent = {
            "statistic": "", "k": 0, "generalizes_over": "", "resamples": 0, "undefined_resamples": 0, "warning": None,
        }  # fmt: skip
        return {name: value for name, value in shape.items() if name not in silent or value != silent[name]}

    def __str__(self) -> str:
        named = f"{self.statistic} = " if self.statistic else ""
        if self.value is None:
            return f"{self.statistic or 'estimate'} undefined: {self.reason}"
        ends = ["–" if end is None else f"{end:.3f}" for end in (self.low, self.high)]
        return f"{named}{self.value:.3f} [{', '.join(ends)}]"


@dataclass(frozen=True)
class IntervalsBeside(Record):
    """A record whose estimates stand in JSON as a number and, beside it, an interval: `sd` and `sd_interval`.

    A class names such fields in `intervals_of`. An interval that nobody looked for (no method is named) is null.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        for name in self.intervals_of:
            estimate: Estimate | None = getattr(self, name)
            shape[name] = None if estimate is None else estimate.value
            around = None if estimate is None else estimate.interval_if_any()
            shape[f"{name}_interval"] = None if estimate is None or around is None else {**around, "n": estimate.n}
        return shape

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The record of which `to_dict` made `content`."""
        estimates = {name: joined(content, name, f"{name}_interval") for name in cls.intervals_of}
        return super().from_dict({**content, **estimates})


@dataclass(frozen=True, kw_only=True)
class LabeledEstimate(IntervalsBeside, Estimate):
    """An estimate that is a row of a table, with labels. Its JSON has its interval beside the number.

    `reason` stands beside the number where there is no interval to look for, and with the interval otherwise.
    """

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        around, shape = self.interval_if_any(), super().to_dict()
        number, own = self.renamed.get("value", "value"), {*self.interval(), "statistic", "k", "n", "value"}
        labels = {name: value for name, value in shape.items() if name not in own and name != number}
        reason = self.reason if around is None else None
        return {**labels, number: self.value, "interval": around, "n": self.n, "reason": reason}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The record of which `to_dict` made `content`."""
        row = super().from_dict(content)
        around = joined({**content, "": None}, "", "interval")
        if around is None:
            return row
        return replace(row, **{name: getattr(around, name) for name in _INTERVAL})


def joined(content: JsonMapping, number: str, interval: str) -> Estimate | None:
    """A number and the interval beside it as one estimate; None where there is neither."""
    value = from_plain(float | None, content.get(number), number)
    around = from_plain(Mapping[str, Any] | None, content.get(interval), interval)
    if value is None and around is None:
        return None
    estimate: Estimate = from_plain(Estimate, {"value": value, **(around or {})}, interval)
    return estimate


@dataclass(frozen=True, eq=False)
class Estimates:
    """The same for a stack of matrices: arrays in the place of numbers, of the shape of the stack.

    Attributes:
        value, low, high: NaN exactly where undefined.
        n, k: subjects and raters that counted, by matrix.
        undefined: places in `REASONS`; 0 where everything is defined.
        subjects, raters: what rows and columns are, for the reasons.
        doubts: places in `DOUBTS`; None where nobody looked.
        resampled: whose interval is the bootstrap's, of so many `resamples`; None where none is.
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
    def blank(cls, size: int, **about: Any) -> Self:  # noqa: ANN401 - the other attributes, by name
        """Room for `size` estimates, nothing known of any of them yet."""
        value, low, high = (np.full(size, np.nan) for _ in range(3))
        n, k = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return cls(value=value, low=low, high=high, n=n, k=k, undefined=np.zeros(size, np.uint8), **about)

    def put(self, place: int, value: float, ends: tuple[float, float] | None) -> None:
        """Write one number with its interval; without one, too few draws have a value."""
        self.value[place] = value
        if ends is None:
            self.undefined[place] = NO_INTERVAL
        else:
            self.low[place], self.high[place] = ends

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """The same estimates, in the shape of their stack."""
        arrays = ("value", "low", "high", "n", "k", "undefined")
        known = [name for name in (*arrays, "doubts", "resampled") if getattr(self, name) is not None]
        return replace(self, **{name: getattr(self, name).reshape(shape) for name in known})

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        numbers = (float(array[place]) for array in (self.value, self.low, self.high))
        value, low, high = (None if np.isnan(number) else number for number in numbers)
        resampled = self.resampled is not None and bool(self.resampled[place])
        doubt = SURE if self.doubts is None or resampled else int(self.doubts[place])
        return Estimate(
            statistic=self.statistic, value=value, low=low, high=high, level=self.level,
            method=RESAMPLED.format(subjects=self.subjects) if resampled else self.method,
            n=int(self.n[place]), k=int(self.k[place]), reason=self.reason(place) or None,
            resamples=self.resamples if resampled else 0,
            warning=DOUBTS[doubt].format(subjects=self.subjects, raters=self.raters) or None,
        )  # fmt: skip

    def reason(self, place: int | tuple[int, ...]) -> str:
        """Why something about one matrix is undefined; empty where nothing is."""
        return self.sentences()[int(self.undefined[place])]

    def sentences(self) -> list[str]:
        """`REASONS` in the words of these subjects and raters."""
        return [reason.format(subjects=self.subjects, raters=self.raters) for reason in REASONS]

    def to_frame(self) -> pd.DataFrame:
        """One row a matrix, in the order of the stack."""
        import pandas as pd

        columns: dict[str, Any] = {name: getattr(self, name).ravel() for name in ("value", "low", "high", "n", "k")}
        columns["reason"] = np.array(self.sentences(), dtype=object)[self.undefined.ravel()]
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        sound = self.value[~np.isnan(self.value)]
        middle = f", median {np.median(sound):.3f}" if len(sound) else ""
        size = self.value.size
        return f"<p>{size:,} × {escape(self.statistic)}, {size - len(sound):,} undefined{middle}</p>"


UNDEFINED = Estimate(value=None)
"""A number of which nothing is known."""


def check_level(level: float) -> float:
    """Return the level of an interval if it can be one."""
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {level!r}.")
    return level


def as_stack(scores: object, what: str) -> Vectors:
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
    if array.ndim < 2:
        raise ParameterError(
            f"{what} needs a matrix, or a stack of matrices, with subjects in rows. Got the shape {array.shape}."
        )
    return array


def flat(array: Array) -> Array:
    """A stack of any shape as (matrices, subjects, raters), also where there are none."""
    return array.reshape(prod(array.shape[:-2]), *array.shape[-2:])
