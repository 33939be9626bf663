"""Scores of real words in a unit that means something: the planted odds ratio that would give them."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.results import Column, Result, Summary, Table, counted, figures_text, number_text

LARGEST = 1000
_FEW_FIGURES = 0.095
"""Below it, one decimal would say nothing of a ratio."""
BELOW = "below the limit of detection"


@dataclass(frozen=True)
class Equivalent(Record):
    """A word's score as a dose.

    Attributes:
        word: which.
        score: its score; None where it has none.
        dose: log odds ratio that would give it; positive leans to the first end.
        detected: whether the dose is at least the limit of detection of a single word; None where there is no dose.
    """

    word: str
    score: float | None
    dose: Estimate
    detected: bool | None

    @property
    def odds_ratio(self) -> Estimate:
        """The dose as an odds ratio."""
        ends = [None if end is None else exp(end) for end in (self.dose.value, self.dose.low, self.dose.high)]
        return Estimate(
            value=ends[0], low=ends[1], high=ends[2], level=self.dose.level, method=self.dose.method,
            reason=self.dose.reason, statistic="odds ratio",
        )  # fmt: skip

    def derived(self) -> JsonMapping:
        """The odds ratio, and the sentence."""
        return {"odds_ratio": self.odds_ratio, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What the score stands for, in one sentence."""
        if self.dose.value is None:
            return f"{self.word}: {self.dose.reason}"
        said = f"{self.word}: as a planted odds ratio of {as_odds(self.dose)} would give"
        return said if self.detected else f"{said}; {BELOW}"


def as_odds(dose: Estimate) -> str:
    """A dose as an odds ratio with its interval in a sentence: "3.2 : 1 [1.9, 5.5]" or "1 : 3.2 [1.9, 5.5]"."""
    value = dose.value or 0.0
    sign = 1.0 if value >= 0 else -1.0
    ends = sorted((-float("inf") if end is None else sign * end) for end in (dose.low, dose.high))
    around = ""
    if dose.low is not None and dose.high is not None:
        around = f" [{odds_text(ends[0])}, {odds_text(ends[1])}]"
    size = odds_text(abs(value))
    return f"{size} : 1{around}" if sign > 0 else f"1 : {size}{around}"


def limit_text(dose: Estimate) -> str:
    """A limit of detection as an odds ratio with its interval."""
    said = ["–" if end is None else odds_text(end) for end in (dose.low, dose.high)]
    return f"{odds_text(dose.value or 0.0)} [{', '.join(said)}]"


def odds_text(dose: float) -> str:
    """A log odds ratio as an odds ratio; beyond a thousand nothing was ever planted, and no digit means anything."""
    ratio = exp(max(min(dose, 50.0), -50.0))
    if not 1 / LARGEST <= ratio <= LARGEST:
        return f"> {LARGEST:,}" if ratio > 1 else f"< {1 / LARGEST:g}"
    return figures_text(ratio, 2) if ratio < _FEW_FIGURES else number_text(ratio, 0 if ratio >= 100 else 1)


@dataclass(frozen=True, eq=False, repr=False)
class Equivalents(Result):
    """Scores of words as planted odds ratios.

    Attributes:
        words: one each.
        measure: which measure the scores are of.
        runs: over how many models they are averaged.
        settings: of the calibration.
    """

    tables: ClassVar[tuple[str, ...]] = ("words",)

    words: tuple[Equivalent, ...]
    measure: str
    runs: int
    settings: JsonMapping

    def summary(self) -> Summary:
        """Every word with its odds ratio."""
        seen = sum(row.detected is True for row in self.words)
        known = sorted((row for row in self.words if row.dose.value is not None), key=lambda row: row.dose.value or 0.0)
        rows = [
            (row.word, row.score, row.odds_ratio, "yes" if row.detected else "no")
            for row in (*known, *(row for row in self.words if row.dose.value is None))
        ]
        columns = [
            "word", Column("score", "number", 3), Column("odds ratio", "estimate", 2),
            Column("detected", "mark", tones={"yes": "good", "no": "quiet"}),
        ]  # fmt: skip
        return Summary(
            title="Odds-ratio equivalents",
            headline=f"{seen} of {counted(self.words, 'word lies', 'words lie')} at or above the limit of "
            f"detection ({self.measure}).",
            about="An odds ratio above 1 leans to the first end of the pairs. Its interval covers the dose of a single "
            "word with this score.",
            tables=(Table.of("equivalents", "", columns, rows),),
        )
