"""Which words, pairs and queries cannot be trusted, and because of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.bands import ACCEPTABLE, LIMITS
from biasgauge.agreement.rows import PAIR, PAIRS, QUERY, RULE, WORD, Rows
from biasgauge.stats.intraclass import Iccs

SUBJECTS = {WORD: "pairs", PAIR: "words", RULE: "words"}
"""What the rows of a matrix are, of which the reliability is."""
_LEAST = 4
"""Quartiles of fewer say nothing."""
_NOTABLE = 1.5
"""Factor by which a spread must differ from the median one to be blamed."""


@dataclass(frozen=True, kw_only=True)
class Untrusted:
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

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


class Spreads:
    """Standard deviations behind ICCs: between subjects, from replicate to replicate, and of whole replicates."""

    def __init__(self, estimates: Iccs, names: Sequence[str]) -> None:
        squares = estimates.squares
        assert squares is not None  # noqa: S101 - always there
        n, k = np.maximum(squares.n, 1), np.maximum(squares.k, 1)
        rows, columns, error = squares.ms_rows, squares.ms_columns, squares.ms_error
        self.signal = np.sqrt(np.maximum(rows - error, 0) / k)
        self.noise = np.sqrt(error)
        self.shift = np.sqrt(np.maximum(columns - error, 0) / n)
        self._places = {name: place for place, name in enumerate(names)}
        self._middle = {
            part: float(np.nanmedian(getattr(self, part))) if np.isfinite(getattr(self, part)).any() else np.nan
            for part in ("signal", "noise", "shift")
        }

    def because(self, name: str, subjects: str) -> str:
        """What sets this one apart from the median one."""
        place = self._places[name]
        signal, noise, shift = (float(one[place]) for one in (self.signal, self.noise, self.shift))
        if shift > noise:
            return f"whole models shift its scores (SD {shift:.3g}, against {signal:.3g} between {subjects})"
        if noise > _NOTABLE * self._middle["noise"]:
            usual = self._middle["noise"]
            told = f"{noise / usual:.1f} times the usual" if usual > 0 else "while the usual ones do not move"
            return f"its scores move from model to model by an SD of {noise:.3g}, {told}"
        if signal * _NOTABLE < self._middle["signal"]:
            return (
                f"it hardly tells {subjects} apart (SD {signal:.3g}, usually {self._middle['signal']:.3g}), so that "
                "the noise of training decides"
            )
        return (
            f"its scores move from model to model (SD {noise:.3g}) about as much as between {subjects} ({signal:.3g})"
        )


Blame = dict[tuple[str, str, str | None], Spreads]
"""Spreads of everything of a kind (word, pair), by measure and word list."""


def whisker(values: NDArray[np.float64]) -> float:
    """Lower whisker of a box plot (Tukey): first quartile less 1.5 times the distance of the quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(low - 1.5 * (high - low))


def from_rows(rows: Rows, reliability: str, blame: Blame) -> list[Untrusted]:
    """Rows that are poor, or outliers of their list and measure: poor ones first, worst first; no word twice."""
    limit = LIMITS[0] if rows.statistic.startswith("ICC") else ACCEPTABLE
    found: dict[tuple[str, str, str, str | None], Untrusted] = {}
    for of, measure, within in dict.fromkeys(zip(rows.of, rows.measure, rows.list, strict=True)):
        part = rows.take((rows.of == of) & (rows.measure == measure) & (rows.list == within) & rows.defined)
        fence = whisker(part.value) if len(part) >= _LEAST and within is not None else -np.inf
        about = blame.get((of, measure, within))
        for place in np.flatnonzero((part.value < limit) | (part.value < fence)):
            value, name = float(part.value[place]), str(part.name[place])
            why = _why(of) if about is None else about.because(name, SUBJECTS[of])
            if value >= limit:
                why = f"far below the other {of}s of {within} (whisker at {fence:.2f}): {why}"
            ends = [None if np.isnan(end[place]) else float(end[place]) for end in (part.low, part.high)]
            one = Untrusted(
                reliability=reliability,
                of=of,
                name=name,
                measure=measure,
                list=within,
                value=value,
                low=ends[0],
                high=ends[1],
                kind="poor" if value < limit else "outlier",
                because=why,
            )
            found.setdefault((of, name, measure, "" if of == WORD else within), one)
    return sorted(found.values(), key=lambda one: (one.kind != "poor", one.value, one.name))


def _why(of: str) -> str:
    return {
        WORD: "even on one scale, measures disagree about its pairs",
        PAIR: "even on one scale, measures disagree about its words",
        QUERY: "its words do not lean the same way over pairs, so that their mean stands for no one concept",
        PAIRS: "pairs do not order the words alike, so that their mean stands for no one direction",
    }[of]
