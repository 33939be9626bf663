"""`Estimate`: one number with its interval, or the `Reason` why it is undefined. It loads no library of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf
from typing import Any, ClassVar, Self

from biasgauge.core.records import JsonMapping, JsonObject, Record, from_plain
from biasgauge.errors import ParameterError


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
        bounds: tuple[float, float] = (-inf, inf),
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


UNDEFINED = Estimate(value=None)
"""An undefined number without a reason."""


def check_level(level: float) -> float:
    """Return the level of an interval; raise where it is not between 0 and 1."""
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of an interval must lie between 0 and 1. Got {level!r}.")
    return level
