"""Distributions of reliabilities, as box plots would show them; and what cannot be trusted, and because of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.analyses.reliability.rows import PAIR, PAIRS, QUERY, RULE, WORD, Rows, alpha_bands, bands
from biasgauge.core import Floats, JsonMapping, Record
from biasgauge.results import figures_text, number_text
from biasgauge.stats import Iccs

SUBJECTS = {WORD: "pairs", PAIR: "words", RULE: "words"}
"""What the rows of a matrix are, of which the reliability is."""
NOTABLE = 1.5
"""Factor by which a spread must differ from the median one, or from that of another measure, to be blamed."""
_WHY = {
    WORD: "even on one scale, measures disagree about its pairs",
    PAIR: "even on one scale, measures disagree about its words",
    QUERY: "its words do not lean the same way over pairs, so that their mean stands for no one concept",
    PAIRS: "pairs do not order the words alike, so that their mean stands for no one direction",
}
"""Why a reliability over measures or within a scale is low."""


@dataclass(frozen=True, kw_only=True)
class Distribution(Record):
    """How the reliabilities of one kind are distributed.

    Attributes:
        reliability: "test_retest", "inter_rater", "inter_rater_standardized" or "internal".
        of, measure, list: as in `Rows`.
        count: how many are defined.
        undefined: how many are not.
        p05, q1, median, q3, p95: quantiles at 5, 25, 50, 75 and 95 %; None when none is defined.
        below: how many are below .5 (ICCs) or .7 (alpha).
        outliers: how many are below the lower whisker of the box plot.
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
        if self.median is None:
            return None
        judge = alpha_bands if self.reliability == "internal" else bands
        return str(judge(np.array([self.median]))[0])

    def derived(self) -> JsonMapping:
        """The band."""
        return {"band": self.band}


def summarize(rows: Rows, reliability: str) -> tuple[Distribution, ...]:
    """One summary for each kind, measure and list, in the order of the rows.

    None for what is one of its kind (a measure, all pairs) or in no list.
    """
    summaries = []
    for of, measure, within, part in rows.groups():
        if of in {RULE, PAIRS} or within is None:
            continue
        values = part.value[part.defined]
        quantiles = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist() if len(values) else [None] * 5
        boxes = dict(zip(("p05", "q1", "median", "q3", "p95"), quantiles, strict=True))
        below = int((values < rows.limit).sum())
        outliers = int((values < whisker(values)).sum()) if len(values) else 0
        about: dict[str, Any] = {"reliability": reliability, "of": of, "measure": measure, "list": within, **boxes}
        about |= {"count": len(values), "undefined": len(part) - len(values)}
        summaries.append(Distribution(**about, below=below, outliers=outliers))
    return tuple(summaries)


def whisker(values: Floats) -> float:
    """Lower whisker of a box plot (Tukey): first quartile less 1.5 times the distance of the quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(low - 1.5 * (high - low))


@dataclass(frozen=True, kw_only=True)
class Untrusted(Record):
    """One reliability that is too low, or low for its list.

    Attributes:
        reliability: "test_retest", "inter_rater_standardized" or "internal".
        of, name, measure, list, value, low, high: as in `Rows`.
        kind: "poor" (below the limit of its band) or "outlier" (below the lower whisker of its list: first quartile
            less 1.5 times the distance of the quartiles).
        because: why, in words.
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


class Spreads:
    """Standard deviations behind ICCs: between subjects, from replicate to replicate, and of whole replicates."""

    def __init__(self, estimates: Iccs, names: Sequence[str]) -> None:
        squares = estimates.squares
        assert squares is not None  # noqa: S101 - always there
        n, k = np.maximum(squares.n, 1), np.maximum(squares.k, 1)
        rows, columns, error = squares.ms_rows, squares.ms_columns, squares.ms_error
        self._signal = np.sqrt(np.maximum(rows - error, 0) / k)
        self._noise = np.sqrt(error)
        self._shift = np.sqrt(np.maximum(columns - error, 0) / n)
        self._places = {name: place for place, name in enumerate(names)}
        self._usual_signal, self._usual_noise = _median(self._signal), _median(self._noise)

    def because(self, name: str, subjects: str) -> str:
        """What sets this one apart from the median one."""
        place = self._places[name]
        signal, noise, shift = (float(spread[place]) for spread in (self._signal, self._noise, self._shift))
        moved, told, by = (figures_text(spread) for spread in (shift, signal, noise))
        if shift > noise:
            return f"whole models shift its scores (SD {moved}, against {told} between {subjects})"
        if noise > NOTABLE * self._usual_noise:
            usual = self._usual_noise
            times = (
                f"{number_text(noise / usual, 1)} times the usual" if usual > 0 else "while the usual ones do not move"
            )
            return f"its scores move from model to model by an SD of {by}, {times}"
        if signal * NOTABLE < self._usual_signal:
            return (
                f"it hardly tells {subjects} apart (SD {told}, usually {figures_text(self._usual_signal)}), so that "
                "the noise of training decides"
            )
        return f"its scores move from model to model (SD {by}) about as much as between {subjects} ({told})"


Blame = dict[tuple[str, str, str | None], Spreads]
"""Spreads of everything of a kind (word, pair), by measure and word list."""


def _median(values: Floats) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else np.nan


def untrusted_rows(rows: Rows, reliability: str, blame: Blame) -> list[Untrusted]:
    """Rows that are poor, or outliers of their list and measure: poor ones first, worst first; no word twice."""
    limit = rows.limit
    untrusted: dict[tuple[str, str, str | None, str | None], Untrusted] = {}
    for of, measure, within, every in rows.groups():
        part = every.known()
        judged = len(part) >= 4 and within is not None  # quartiles of fewer say nothing
        fence = whisker(part.value) if judged else -np.inf
        about = blame.get((of, measure or "", within))
        for index in np.flatnonzero((part.value < limit) | (part.value < fence)):
            value, name = float(part.value[index]), str(part.name[index])
            why = _WHY[of] if about is None else about.because(name, SUBJECTS[of])
            if value >= limit:
                why = f"far below the other {of}s of {within} (whisker at {number_text(fence)}): {why}"
            low, high = (None if np.isnan(end[index]) else float(end[index]) for end in (part.low, part.high))
            kind = "poor" if value < limit else "outlier"
            labels: dict[str, Any] = {"reliability": reliability, "of": of, "name": name, "measure": measure}
            row = Untrusted(**labels, list=within, value=value, low=low, high=high, kind=kind, because=why)
            untrusted.setdefault((of, name, measure, "" if of == WORD else within), row)
    return sorted(untrusted.values(), key=lambda row: (row.kind != "poor", row.value, row.name))
