"""`Calibration`: curves, limits and rates; scores of real words as planted odds ratios; calibrations from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.rows import (
    CalibrationLimit,
    CarrierDose,
    Curve,
    DetectionRate,
    FrequencyEffect,
    SetCurve,
    Specificity,
)
from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_saved
from biasgauge.results import Column, Result, Summary, Table, counted, figures_text, number_text
from biasgauge.scores import ScoreTensor
from biasgauge.stats import Side, dose_of_score

DEFAULT_CALIBRATION = Path(__file__).with_name("data") / "sgns-64d-enwiki.json"
"""Calibration of the shipped replicates, by scripts/make_default_calibration.py."""
LARGEST = 1000
"""Odds ratio beyond which digits are meaningless: none as large is ever planted."""
_FEW_FIGURES = 0.095
"""Ratio below which significant figures are shown in the place of one decimal."""
BELOW = "below the limit of detection"


@dataclass(frozen=True)
class Equivalent(Record):
    """A word's score as a planted dose.

    Attributes:
        word: the word.
        score: its score; None where it has none.
        dose: log odds ratio that would give the score; positive leans to the first end.
        detected: whether the dose is at least the limit of detection of a single word; None where there is no dose.
    """

    word: str
    score: float | None
    dose: Estimate
    detected: bool | None

    @property
    def odds_ratio(self) -> Estimate:
        """Dose as an odds ratio."""
        dose = self.dose
        value, low, high = (None if number is None else exp(number) for number in (dose.value, dose.low, dose.high))
        return Estimate(
            value=value, low=low, high=high, level=dose.level, method=dose.method, reason=dose.reason,
            statistic="odds ratio",
        )  # fmt: skip

    def derived(self) -> JsonMapping:
        """Add the odds ratio, and the sentence."""
        return {"odds_ratio": self.odds_ratio, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """Odds ratio of the word in one sentence."""
        if self.dose.value is None:
            return f"{self.word}: {self.dose.reason}"
        text = f"{self.word}: as a planted odds ratio of {as_odds(self.dose)} would give"
        return text if self.detected else f"{text}; {BELOW}"


def as_odds(dose: Estimate) -> str:
    """Dose as an odds ratio with its interval in a sentence: "3.2 : 1 [1.9, 5.5]" or "1 : 3.2 [1.9, 5.5]"."""
    value = dose.value or 0.0
    sign = 1.0 if value >= 0 else -1.0
    interval = ""
    if dose.low is not None and dose.high is not None:
        low, high = sorted((sign * dose.low, sign * dose.high))
        interval = f" [{odds_text(low)}, {odds_text(high)}]"
    size = odds_text(abs(value))
    return f"{size} : 1{interval}" if sign > 0 else f"1 : {size}{interval}"


def limit_text(dose: Estimate) -> str:
    """Limit of detection as an odds ratio with its interval."""
    low, high = ("–" if end is None else odds_text(end) for end in (dose.low, dose.high))
    return f"{odds_text(dose.value or 0.0)} [{low}, {high}]"


def odds_text(dose: float) -> str:
    """Log odds ratio as an odds ratio, between 1 / 1,000 and 1,000."""
    ratio = exp(max(min(dose, 50.0), -50.0))
    if not 1 / LARGEST <= ratio <= LARGEST:
        return f"> {LARGEST:,}" if ratio > 1 else f"< {1 / LARGEST:g}"
    return figures_text(ratio, 2) if ratio < _FEW_FIGURES else number_text(ratio, 0 if ratio >= 100 else 1)


@dataclass(frozen=True, eq=False, repr=False)
class Equivalents(Result):
    """Scores of words as planted odds ratios.

    Attributes:
        words: one row per word.
        measure: measure of the scores.
        runs: number of models that they are averaged over.
        settings: of the calibration.
    """

    tables: ClassVar[tuple[str, ...]] = ("words",)

    words: tuple[Equivalent, ...]
    measure: str
    runs: int
    settings: JsonMapping

    def summary(self) -> Summary:
        """Every word with its odds ratio."""
        detected = sum(row.detected is True for row in self.words)
        ranked = sorted(self.words, key=lambda row: (row.dose.value is None, row.dose.value or 0.0))
        rows = [(row.word, row.score, row.odds_ratio, "yes" if row.detected else "no") for row in ranked]
        columns = [
            "word", Column("score", "number", 3), Column("odds ratio", "estimate", 2),
            Column("detected", "mark", tones={"yes": "good", "no": "quiet"}),
        ]  # fmt: skip
        return Summary(
            title="Odds-ratio equivalents",
            headline=f"{detected} of {counted(self.words, 'word lies', 'words lie')} at or above the limit of "
            f"detection ({self.measure}).",
            about="An odds ratio above 1 leans to the first end of the pairs. Its interval covers the dose of a single "
            "word with this score.",
            tables=(Table.of("equivalents", "", columns, rows),),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Calibration of measures and tests on a text with planted bias.

    Attributes:
        curves: dose–response curve of every measure.
        limits: limits of blank and of detection, by measure and test, and by number of words.
        false_positives: rates of detection where nothing was planted.
        power: rates of detection at other doses.
        frequency: effect of word frequency on each measure.
        specificity: effect of a dose of another attribute.
        corpus_bias: every carrier in every planted text with its intended and its counted dose.
        settings: everything that decides the result.
        warnings: limitations of the design.
        test_curves: dose–response curve of every association test, by number of words.
    """

    tables: ClassVar[tuple[str, ...]] = ("limits",)

    curves: tuple[Curve, ...]
    limits: tuple[CalibrationLimit, ...]
    false_positives: tuple[DetectionRate, ...]
    power: tuple[DetectionRate, ...]
    frequency: tuple[FrequencyEffect, ...]
    specificity: tuple[Specificity, ...]
    corpus_bias: tuple[CarrierDose, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    test_curves: tuple[SetCurve, ...] = ()

    def summary(self) -> Summary:
        """Limits of detection, curves, rates and effects."""
        from biasgauge.analyses.calibrate.summaries import calibration_summary

        return calibration_summary(self)

    def curve(self, measure: str) -> Curve:
        """Curve of a measure.

        Raises:
            ParameterError: it was not calibrated.
        """
        for curve in self.curves:
            if curve.measure == measure:
                return curve
        measures = ", ".join(curve.measure for curve in self.curves)
        raise ParameterError(f"The calibration has the measures {measures}. Got {measure!r}.")

    def limit(self, name: str, *, words: int = 1, side: Side = "first") -> CalibrationLimit | None:
        """Limit of a measure or a test for a number of words; None where it was not estimated."""
        return next(
            (limit for limit in self.limits if (limit.name, limit.words, limit.side) == (name, words, side)), None
        )

    def equivalent(
        self,
        scores: ScoreTensor | Mapping[str, float],
        *,
        measure: str | None = None,
        runs: int | None = None,
        level: float = 0.95,
    ) -> Equivalents:
        """Planted odds ratio that would give the score of each word (inverse calibration).

        Args:
            scores: of `score`, with base pairs as in the calibration; or words with scores.
            measure: name of the measure; by default the first of the scores, or of the calibration.
            runs: number of models that the scores are averaged over; by default those of `scores`, or 1.
            level: of the intervals, which cover the planted dose of a single word.

        Raises:
            ParameterError: the measure was not calibrated.
        """
        if isinstance(scores, ScoreTensor):
            measure = measure or scores.measures[0]
            table = scores.select(measure=[measure]).values[0].astype(np.float64)  # pair × word × model
            defined = np.isfinite(table)
            with np.errstate(invalid="ignore"):
                means = np.where(defined, table, 0.0).sum(axis=(0, 2)) / defined.sum(axis=(0, 2))
            values = dict(zip(scores.words, means.tolist(), strict=True))
            runs = runs or len(scores.models)
        else:
            measure, values, runs = measure or self.curves[0].measure, dict(scores), runs or 1
        return Equivalents(tuple(self._equivalents(values, measure, runs, level)), measure, runs, self.settings)

    def _equivalents(self, values: Mapping[str, float], measure: str, runs: int, level: float) -> Iterable[Equivalent]:
        response = self.curve(measure).response
        limits = {side: self.limit(measure, side=side) for side in ("first", "second")}
        for word, value in values.items():
            if value is None or not np.isfinite(value):
                yield Equivalent(word, None, Estimate(value=None, reason="the word has no score"), None)
                continue
            dose = dose_of_score(float(value), response, runs=runs, level=level)
            limit = limits["first" if (dose.value or 0.0) >= 0 else "second"]
            smallest = None if limit is None else limit.detection.value
            detected = None if dose.value is None else smallest is not None and abs(dose.value) >= smallest
            yield Equivalent(word, float(value), dose, detected)


def load_default_calibration() -> Calibration:
    """Load the calibration of the shipped replicates: doses planted in their text, trained with their recipe."""
    return load_calibration(DEFAULT_CALIBRATION)


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Load the JSON of a calibration, as `Calibration.save` or `biasgauge calibrate --out` wrote it.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    source = Path(path)
    content = read_saved(source, again="calibrate --out makes such a file")
    if not isinstance(content, dict) or "curves" not in content:
        raise InputError(f"{source}: is not a calibration; calibrate --out makes such a file")
    try:
        calibration = Calibration.from_dict(content)
        calibration.summary()  # a missing part is an error now, and not in the middle of an audit
    except (InputError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{source}: is not a calibration ({error})") from error
    return calibration
