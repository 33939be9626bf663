"""`ReliabilityTable`: reliabilities in columns, and verbal bands of reliability with their sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Estimates, Flags, Floats, Places

if TYPE_CHECKING:
    import pandas as pd

Objects = np.ndarray[Any, np.dtype[np.object_]]
Records = list[dict[str, Any]]

BANDS = ("poor", "moderate", "good", "excellent")
LIMITS = (0.5, 0.75, 0.9)
ACCEPTABLE = 0.7
SOURCES = {
    "icc": "Koo & Li 2016: below .5 poor, to .75 moderate, to .9 good, above .9 excellent",
    "alpha": "Nunnally 1978: .7 and more acceptable",
}
_COLUMNS = ("of", "name", "measure", "list", "value", "low", "high", "n", "k", "band", "reason")


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """Reliabilities in columns of one length.

    Attributes:
        of: object of measurement: "word", "pair", "rule" (a measure), "query" or "pairs" (all pairs as one scale).
        name: the word, the pair (as "he~she"), the measure, the query or the name of the pairs.
        measure: the measure; None where the coefficient is taken over measures.
        list: the word list; None where there is none.
        value, low, high: the coefficient and its interval; NaN where undefined.
        n, k: rows and columns of the matrix behind it.
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
    def from_estimates(
        cls,
        estimates: Estimates,
        kind: str,
        names: Sequence[str],
        *,
        measure: str | Sequence[str] | None = None,
        word_list: str | None = None,
    ) -> ReliabilityTable:
        """Label a stack of estimates, one for each name."""
        copied = ("value", "low", "high", "n", "k", "statistic", "level", "method")
        return cls(
            of=_column(kind, len(names)),
            name=_column(list(names), len(names)),
            measure=_column(measure if isinstance(measure, str | None) else list(measure), len(names)),
            list=_column(word_list, len(names)),
            reason=np.array(estimates.sentences(), dtype=object)[estimates.undefined],
            **{field: getattr(estimates, field) for field in copied},
        )

    @classmethod
    def concatenate(cls, tables: Sequence[ReliabilityTable]) -> ReliabilityTable:
        """Join tables of one statistic, one below the other."""
        columns: dict[str, Any] = {}
        for name, value in vars(tables[0]).items():
            if isinstance(value, np.ndarray):
                columns[name] = np.concatenate([vars(table)[name] for table in tables])
        return replace(tables[0], **columns)

    def __len__(self) -> int:
        return len(self.value)

    def take(self, rows: Places | Flags) -> ReliabilityTable:
        """Select rows by index, in that order, or by a mask."""
        columns: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(self, **columns)

    def groups(self) -> Iterator[tuple[str, str | None, str | None, ReliabilityTable]]:
        """Yield object, measure, list and their rows, in order of first appearance."""
        for kind, measure, word_list in dict.fromkeys(zip(self.of, self.measure, self.list, strict=True)):
            mask = (self.of == kind) & (self.measure == measure) & (self.list == word_list)
            yield kind, measure, word_list, self.take(mask)

    def where(self, **labels: str | None) -> ReliabilityTable:
        """Rows with these labels: `table.where(of="word", measure="dbwa", list="occ16")`."""
        mask = np.ones(len(self), bool)
        for name, label in labels.items():
            mask &= np.array([value == label for value in getattr(self, name)], bool)
        return self.take(mask)

    def drop_undefined(self) -> ReliabilityTable:
        """Rows that have a value."""
        return self.take(self.defined)

    def mask_undercovered(self, shortfall: str) -> ReliabilityTable:
        """Undefined rows with this reason, where a list lacks too many words; the table itself where it is empty."""
        if not shortfall:
            return self
        missing = np.full(len(self), np.nan)
        return replace(self, value=missing, low=missing, high=missing, reason=_column(shortfall, len(self)))

    def with_list(self, name: str) -> ReliabilityTable:
        """The same rows under the name of a word list."""
        return replace(self, list=_column(name, len(self)))

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a value."""
        return ~np.isnan(self.value)

    @property
    def band(self) -> Objects:
        """Band of each value: Koo & Li for ICCs, Nunnally for alpha and omega; None where undefined."""
        return bands(self.value) if self.statistic.startswith("ICC") else alpha_bands(self.value)

    @property
    def limit(self) -> float:
        """Value below which a reliability is poor (ICCs, .5) or not acceptable (alpha and omega, .7)."""
        return LIMITS[0] if self.statistic.startswith("ICC") else ACCEPTABLE

    def to_frame(self) -> pd.DataFrame:
        """One row per reliability, with its band."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS}).assign(statistic=self.statistic)

    def to_dict(self) -> Records:
        """Rows as in `--json`: undefined numbers are None beside their reason."""
        columns: dict[str, Any] = {name: getattr(self, name).tolist() for name in _COLUMNS}
        for name in ("value", "low", "high"):
            columns[name] = [None if np.isnan(number) else number for number in columns[name]]
        columns["reason"] = [reason or None for reason in columns["reason"]]
        return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _column(label: object, size: int) -> Objects:
    column = np.empty(size, dtype=object)
    column[:] = label
    return column


def pair_name(pair: tuple[str, str]) -> str:
    """Name of a pair in tables: he~she."""
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


def alpha_bands(values: NDArray[np.floating[Any]]) -> Objects:
    """Band of Cronbach's alphas after Nunnally: "acceptable" from .7 on, "low" below; None for NaN."""
    numbers = np.asarray(values, np.float64)
    names = np.array(["low", "acceptable", None], dtype=object)
    return np.asarray(names[np.where(np.isnan(numbers), 2, numbers >= ACCEPTABLE)])


def verdict(low: float | None, high: float | None) -> str:
    """Bands that an interval spans, as Koo & Li advise to judge: "good to excellent"; "undefined" without one."""
    lowest, highest = band(low), band(high)
    return "undefined" if lowest is None or highest is None else span_text(lowest, highest)


def span_text(low: str, high: str) -> str:
    """Text of a span: both ends, or one where they are equal."""
    return low if low == high else f"{low} to {high}"
