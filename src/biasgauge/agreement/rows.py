"""A table of reliabilities: what of, under which measure and word list, the number, its interval, or the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.bands import alpha_bands, bands, verdict
from biasgauge.arrays import Floats
from biasgauge.stats.estimate import Estimates

if TYPE_CHECKING:
    import pandas as pd

Objects = np.ndarray[Any, np.dtype[np.object_]]
Records = list[dict[str, Any]]

WORD, PAIR, RULE, QUERY, PAIRS = "word", "pair", "rule", "query", "pairs"

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
        return cls(
            of=_column(of, size),
            name=_column(list(names), size),
            measure=_column(measure if measure is None or isinstance(measure, str) else list(measure), size),
            list=_column(within, size),
            value=estimates.value,
            low=estimates.low,
            high=estimates.high,
            n=estimates.n,
            k=estimates.k,
            reason=_column(estimates.sentences(), len(estimates.sentences()))[estimates.undefined],
            statistic=estimates.statistic,
            level=estimates.level,
            method=estimates.method,
        )

    @classmethod
    def joined(cls, parts: Iterable[Rows]) -> Rows:
        """One table after the other."""
        tables = list(parts)
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(table, field.name) for table in tables])
            for field in fields(cls)
            if isinstance(getattr(tables[0], field.name), np.ndarray)
        }
        return replace(tables[0], **columns)

    def __len__(self) -> int:
        return len(self.value)

    def take(self, places: NDArray[Any]) -> Rows:
        """Some rows, in the order given; or those where a mask is true."""
        columns: dict[str, Any] = {
            field.name: getattr(self, field.name)[places]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **columns)

    def where(self, **labels: str | None) -> Rows:
        """Rows with these labels: `rows.where(of="word", measure="dbwa", list="occ16")`."""
        mask = np.ones(len(self), bool)
        for name, label in labels.items():
            mask &= np.array([one == label for one in getattr(self, name)], bool)
        return self.take(mask)

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

    def verdict(self, place: int) -> str:
        """What the interval of one row says: "good to excellent"."""
        return verdict(float(self.low[place]), float(self.high[place]))

    def to_frame(self) -> pd.DataFrame:
        """One row a reliability, with its band."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS}).assign(statistic=self.statistic)

    def to_dicts(self) -> Records:
        """The same for `--json`: undefined numbers are None, beside their reason."""
        columns: dict[str, Any] = {name: getattr(self, name).tolist() for name in _COLUMNS}
        for name in ("value", "low", "high"):
            columns[name] = [None if number != number else number for number in columns[name]]  # noqa: PLR0124 - NaN
        columns["reason"] = [reason or None for reason in columns["reason"]]
        return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _column(label: Any, size: int) -> Objects:  # noqa: ANN401 - one label for all rows, or one for each
    column = np.empty(size, dtype=object)
    column[:] = label
    return column


def pair_name(pair: tuple[str, str]) -> str:
    """How a pair is written: he~she."""
    return "~".join(pair)
