"""Distributions of reliabilities, as box plots show them, and low reliabilities with their likely causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.reliability.reliability_table import ReliabilityTable, alpha_bands, band
from biasgauge.core import Floats, JsonMapping, Record
from biasgauge.results import figures_text, number_text
from biasgauge.stats import Iccs

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
        self._usual_signal, self._usual_noise = _nanmedian(self._signal), _nanmedian(self._noise)

    def explain(self, name: str, subjects: str) -> str:
        """Sentence on what sets this object apart from the median one."""
        row, usual_noise = self._rows[name], self._usual_noise
        signal, noise, shift = (float(sd[row]) for sd in (self._signal, self._noise, self._shift))
        signal_text, noise_text = figures_text(signal), figures_text(noise)
        if shift > noise:
            return f"whole models shift its scores (SD {figures_text(shift)}, against {signal_text} between {subjects})"
        if noise > NOTABLE * usual_noise:
            factor = f"{number_text(noise / usual_noise, 1)} times the usual" if usual_noise > 0 else ""
            ratio = factor or "while the usual ones do not move"
            return f"its scores move from model to model by an SD of {noise_text}, {ratio}"
        if signal * NOTABLE < self._usual_signal:
            usual = figures_text(self._usual_signal)
            return (
                f"it hardly tells {subjects} apart (SD {signal_text}, usually {usual}), so that the noise of training "
                "decides"
            )
        return (
            f"its scores move from model to model (SD {noise_text}) about as much as between {subjects} ({signal_text})"
        )


Causes = dict[tuple[str, str, str | None], LowReliabilityCauses]
"""Causes by kind of object (word, pair, rule), measure and word list."""


def _nanmedian(values: Floats) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else np.nan


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
