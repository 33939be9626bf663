"""Reliabilities in columns, verbal bands with their sources, distributions, and low reliabilities with their causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Estimates, Flags, Floats, JsonMapping, Places, Record
from biasgauge.results import figures_text, number_text
from biasgauge.stats import Iccs

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
SUBJECTS = {"word": "pairs", "pair": "words", "rule": "words"}
"""Subjects (rows) of the matrix behind the reliability of an object."""
NOTABLE = 1.5
"""Factor by which a standard deviation must differ from the median one, or from another measure's, to be named."""
_FEWEST_FOR_QUARTILES = 4
_CAUSES = {
    "word": "even on one scale, measures disagree about its pairs",
    "pair": "even on one scale, measures disagree about its words",
    "query": "its words do not lean the same way over pairs, so that their mean stands for no one concept",
    "pairs": "pairs do not order the words alike, so that their mean stands for no one direction",
}
"""Causes of a low reliability over measures or within a scale."""
_COLUMNS = ("of", "name", "measure", "list", "value", "low", "high", "n", "k", "band", "reason")
_STORED = tuple(name for name in _COLUMNS if name != "band")


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
        columns: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in _STORED}
        return replace(tables[0], **columns)

    def __len__(self) -> int:
        return len(self.value)

    def take(self, rows: Places | Flags) -> ReliabilityTable:
        """Select rows by index, in that order, or by a mask."""
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _STORED}
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


@dataclass(frozen=True, kw_only=True)
class Distribution(Record):
    """Distribution of the reliabilities of one kind of object.

    Attributes:
        reliability: "test_retest", "inter_rater", "inter_rater_standardized" or "internal".
        of, measure, list: as in `ReliabilityTable`.
        count, undefined: numbers of objects with and without a reliability.
        p05, q1, median, q3, p95: quantiles at 5, 25, 50, 75 and 95 %; None when none is defined.
        below: number below .5 (ICCs) or .7 (alpha).
        outliers: number below the lower whisker of the box plot.
    """

    reliability: str
    of: str
    measure: str | None
    list: str | None
    count: int
    undefined: int
    p05: float | None
    q1: float | None
    median: float | None
    q3: float | None
    p95: float | None
    below: int
    outliers: int

    @property
    def band(self) -> str | None:
        """Band of the median, after Koo & Li for ICCs and Nunnally for alpha; None without one."""
        if self.median is None or self.reliability != "internal":
            return band(self.median)
        return str(alpha_bands(np.array([self.median]))[0])

    def derived(self) -> JsonMapping:
        """Add the band."""
        return {"band": self.band}


def summarize(table: ReliabilityTable, reliability: str) -> tuple[Distribution, ...]:
    """Distribution for each kind of object, measure and list, in the order of the rows.

    None for what is one of its kind (a measure, all pairs) or in no list.
    """
    summaries = []
    for kind, measure, word_list, rows in table.groups():
        if kind in {"rule", "pairs"} or word_list is None:
            continue
        values = rows.value[rows.defined]
        quantiles = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist() if len(values) else [None] * 5
        summaries.append(
            Distribution(
                reliability=reliability,
                of=kind,
                measure=measure,
                list=word_list,
                count=len(values),
                undefined=len(rows) - len(values),
                below=int((values < table.limit).sum()),
                outliers=int((values < lower_whisker(values)).sum()) if len(values) else 0,
                **dict(zip(("p05", "q1", "median", "q3", "p95"), quantiles, strict=True)),
            )
        )
    return tuple(summaries)


def lower_whisker(values: Floats) -> float:
    """Lower whisker of a box plot (Tukey): Q1 − 1.5 · (Q3 − Q1)."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(low - 1.5 * (high - low))


@dataclass(frozen=True, kw_only=True)
class LowReliability(Record):
    """One reliability that is too low, or low for its list.

    Attributes:
        reliability: "test_retest", "inter_rater_standardized" or "internal".
        of, name, measure, list, value, low, high: as in `ReliabilityTable`.
        kind: "poor" (below the limit of its band) or "outlier" (below the lower whisker of its list).
        because: likely cause, in words.
    """

    reliability: str
    of: str
    name: str
    measure: str | None
    list: str | None
    value: float
    low: float | None
    high: float | None
    kind: str
    because: str


class LowReliabilityCauses:
    """Standard deviations behind ICC(2,1)s: between subjects, residual, and between models.

    From the mean squares of subjects × models, with n subjects and k models: signal √((MS_rows − MS_error) / k), noise
    √MS_error, shift of whole models √((MS_columns − MS_error) / n); a negative variance counts as 0.
    """

    def __init__(self, estimates: Iccs, names: Sequence[str]) -> None:
        squares = estimates.squares
        assert squares is not None  # noqa: S101 - always there
        n, k = np.maximum(squares.n, 1), np.maximum(squares.k, 1)
        self._signal = np.sqrt(np.maximum(squares.ms_rows - squares.ms_error, 0) / k)
        self._noise = np.sqrt(squares.ms_error)
        self._shift = np.sqrt(np.maximum(squares.ms_columns - squares.ms_error, 0) / n)
        self._rows = {name: row for row, name in enumerate(names)}
        self._usual_signal, self._usual_noise = (
            float(np.nanmedian(sd)) if np.isfinite(sd).any() else np.nan for sd in (self._signal, self._noise)
        )

    def explain(self, name: str, subjects: str) -> str:
        """Sentence on what sets this object apart from the median one."""
        row, usual_noise = self._rows[name], self._usual_noise
        signal, noise, shift = (float(sd[row]) for sd in (self._signal, self._noise, self._shift))
        signal_text, noise_text, usual_text = map(figures_text, (signal, noise, self._usual_signal))
        if shift > noise:
            return f"whole models shift its scores (SD {figures_text(shift)}, against {signal_text} between {subjects})"
        if noise > NOTABLE * usual_noise:
            ratio = "while the usual ones do not move"
            if usual_noise > 0:
                ratio = f"{number_text(noise / usual_noise, 1)} times the usual"
            return f"its scores move from model to model by an SD of {noise_text}, {ratio}"
        if signal * NOTABLE < self._usual_signal:
            spread = f"SD {signal_text}, usually {usual_text}"
            return f"it hardly tells {subjects} apart ({spread}), so that the noise of training decides"
        spread = f"(SD {noise_text}) about as much as between {subjects} ({signal_text})"
        return f"its scores move from model to model {spread}"


Causes = dict[tuple[str, str, str | None], LowReliabilityCauses]
"""Causes by kind of object (word, pair, rule), measure and word list."""


def low_reliabilities(table: ReliabilityTable, reliability: str, causes: Causes) -> list[LowReliability]:
    """Rows that are poor, or outliers of their list and measure: poor ones first, worst first; no word twice."""
    limit = table.limit
    low: dict[tuple[str, str, str | None, str | None], LowReliability] = {}
    for kind, measure, word_list, group in table.groups():
        rows = group.drop_undefined()
        has_quartiles = len(rows) >= _FEWEST_FOR_QUARTILES and word_list is not None
        fence = lower_whisker(rows.value) if has_quartiles else -np.inf
        explanations = causes.get((kind, measure or "", word_list))
        for row in rows.take((rows.value < limit) | (rows.value < fence)).to_dict():
            is_poor = row["value"] < limit
            because = _CAUSES[kind] if explanations is None else explanations.explain(row["name"], SUBJECTS[kind])
            if not is_poor:
                because = f"far below the other {kind}s of {word_list} (whisker at {number_text(fence)}): {because}"
            labels = {name: row[name] for name in ("of", "name", "measure", "list", "value", "low", "high")}
            state = "poor" if is_poor else "outlier"
            low.setdefault(
                (kind, row["name"], measure, "" if kind == "word" else word_list),
                LowReliability(reliability=reliability, kind=state, because=because, **labels),
            )
    return sorted(low.values(), key=lambda row: (row.kind != "poor", row.value, row.name))
