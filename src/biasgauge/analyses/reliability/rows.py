"""A table of reliabilities: what of, under which measure and word list, the number, its interval, or the reason.

And names for how good a reliability is, with their sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Estimates, Flags, Floats, Places

if TYPE_CHECKING:
    import pandas as pd

Objects = np.ndarray[Any, np.dtype[np.object_]]
Records = list[dict[str, Any]]

WORD, PAIR, RULE, QUERY, PAIRS = "word", "pair", "rule", "query", "pairs"

BANDS = ("poor", "moderate", "good", "excellent")
LIMITS = (0.5, 0.75, 0.9)
ACCEPTABLE = 0.7
SOURCES = {
    "icc": "Koo & Li 2016: below .5 poor, to .75 moderate, to .9 good, above .9 excellent",
    "alpha": "Nunnally 1978: .7 and more acceptable",
}

_COLUMNS = ("of", "name", "measure", "list", "value", "low", "high", "n", "k", "band", "reason")


@dataclass(frozen=True, eq=False)
class Rows:
    """Reliabilities in columns of one length.

    Attributes:
        of: what the number is of: "word", "pair", "rule" (a measure), "query" or "pairs" (all pairs as one scale).
        name: the word, the pair (as "he~she"), the measure, the query or the name of the pairs.
        measure: the measure; None where the number is over all measures.
        list: the word list; None where there is none.
        value, low, high: the number and its interval; NaN where undefined.
        n, k: rows and columns of the matrix that counted.
        reason: why something is undefined; empty where nothing is.
        statistic: "ICC(2,1)", "ICC(3,1)", "Cronbach's alpha" or "omega".
        level, method: of the intervals.
    """

    of: Objects
    name: Objects
    measure: Objects
    list: Objects
    value: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    k: NDArray[np.int64]
    reason: Objects
    statistic: str
    level: float
    method: str

    @classmethod
    def of_estimates(
        cls,
        estimates: Estimates,
        of: str,
        names: Sequence[str],
        *,
        measure: str | Sequence[str] | None = None,
        within: str | None = None,
    ) -> Rows:
        """Rows of a stack of estimates, one for each name."""
        size = len(names)
        same = ("value", "low", "high", "n", "k", "statistic", "level", "method")
        return cls(
            of=_column(of, size),
            name=_column(list(names), size),
            measure=_column(measure if measure is None or isinstance(measure, str) else list(measure), size),
            list=_column(within, size),
            reason=np.array(estimates.sentences(), dtype=object)[estimates.undefined],
            **{name: getattr(estimates, name) for name in same},
        )

    @classmethod
    def joined(cls, parts: Iterable[Rows]) -> Rows:
        """One table after the other."""
        tables = list(parts)
        joined: dict[str, Any] = {}
        for name in tables[0].columns():
            joined[name] = np.concatenate([getattr(table, name) for table in tables])
        return replace(tables[0], **joined)

    def __len__(self) -> int:
        return len(self.value)

    def take(self, places: Places | Flags) -> Rows:
        """Some rows, in the order given; or those where a mask is true."""
        return replace(self, **{name: column[places] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Any]:
        """What differs from row to row, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def groups(self) -> Iterator[tuple[str, str | None, str | None, Rows]]:
        """Kind, measure, list and the rows that have them, in the order of the rows."""
        for of, measure, within in dict.fromkeys(zip(self.of, self.measure, self.list, strict=True)):
            yield of, measure, within, self.take((self.of == of) & (self.measure == measure) & (self.list == within))

    def where(self, **labels: str | None) -> Rows:
        """Rows with these labels: `rows.where(of="word", measure="dbwa", list="occ16")`."""
        mask = np.ones(len(self), bool)
        for name, label in labels.items():
            mask &= np.array([value == label for value in getattr(self, name)], bool)
        return self.take(mask)

    def known(self) -> Rows:
        """Rows that have a value."""
        return self.take(self.defined)

    def within(self, name: str) -> Rows:
        """The same rows, under the name of a word list."""
        return replace(self, list=_column(name, len(self)))

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return ~np.isnan(self.value)

    @property
    def band(self) -> Objects:
        """Band of each value: Koo & Li for ICCs, Nunnally for alpha and omega; None where undefined."""
        return bands(self.value) if self.statistic.startswith("ICC") else alpha_bands(self.value)

    @property
    def limit(self) -> float:
        """Below it a reliability is poor (ICCs) or not acceptable (alpha, omega)."""
        return LIMITS[0] if self.statistic.startswith("ICC") else ACCEPTABLE

    def verdict(self, place: int) -> str:
        """What the interval of one row says: "good to excellent"."""
        return verdict(float(self.low[place]), float(self.high[place]))

    def to_frame(self) -> pd.DataFrame:
        """One row a reliability, with its band."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS}).assign(statistic=self.statistic)

    def to_dict(self) -> Records:
        """The same for `--json`: undefined numbers are None, beside their reason."""
        columns: dict[str, Any] = {name: getattr(self, name).tolist() for name in _COLUMNS}
        for name in ("value", "low", "high"):
            columns[name] = [None if number != number else number for number in columns[name]]  # noqa: PLR0124 - NaN
        columns["reason"] = [reason or None for reason in columns["reason"]]
        return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _column(label: object, size: int) -> Objects:
    column = np.empty(size, dtype=object)
    column[:] = label
    return column


def pair_name(pair: tuple[str, str]) -> str:
    """How a pair is written: he~she."""
    return "~".join(pair)


def band(value: float | None) -> str | None:
    """Band of an ICC after Koo & Li: .5 is moderate, .75 good, .9 still good; None for None."""
    return None if value is None or np.isnan(value) else str(bands(np.array([value]))[0])


def bands(values: NDArray[np.floating[Any]]) -> Objects:
    """`band` of many values; None where they are NaN."""
    numbers = np.asarray(values, np.float64)
    steps = (numbers >= LIMITS[0]).astype(int) + (numbers >= LIMITS[1]) + (numbers > LIMITS[2])
    names = np.array([*BANDS, None], dtype=object)
    return np.asarray(names[np.where(np.isnan(numbers), len(BANDS), steps)])


def verdict(low: float | None, high: float | None) -> str:
    """What an interval says, as Koo & Li advise to judge: "good to excellent"; "undefined" without one."""
    ends = [band(low), band(high)]
    if ends[0] is None or ends[1] is None:
        return "undefined"
    return from_to(ends[0], ends[1])


def from_to(low: str, high: str) -> str:
    """Both ends, or the one that both are."""
    return low if low == high else f"{low} to {high}"


def alpha_bands(values: NDArray[np.floating[Any]]) -> Objects:
    """Whether Cronbach's alphas are acceptable (Nunnally): "acceptable" from .7 on, "low" below; None for NaN."""
    numbers = np.asarray(values, np.float64)
    names = np.array(["low", "acceptable", None], dtype=object)
    return np.asarray(names[np.where(np.isnan(numbers), 2, numbers >= ACCEPTABLE)])
