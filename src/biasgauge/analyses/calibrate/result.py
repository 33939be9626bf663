"""What a calibration found: curves, limits, false positives, and what a score stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.equivalents import Equivalent, Equivalents
from biasgauge.analyses.calibrate.parts import (
    CalibrationLimit,
    CarrierDose,
    Curve,
    FrequencyEffect,
    Rate,
    SetCurve,
    Specificity,
)
from biasgauge.core import Estimate, JsonMapping
from biasgauge.errors import ParameterError
from biasgauge.results import Result, Summary
from biasgauge.scores import ScoreTensor
from biasgauge.stats import Side, dose_of_score


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """A gauge, calibrated on a text.

    Attributes:
        curves: every measure against the dose.
        limits: limits of blank and of detection, by measure and test, and by number of words.
        false_positives: how often something is found where nothing was planted.
        power: how often it is found at other doses.
        frequency: what the frequency of words does to each measure.
        specificity: what a dose of something else does.
        corpus_bias: every carrier in every planted text: what was asked for, what was counted.
        settings: everything that decides the result.
        warnings: what to know before trusting any number.
        test_curves: every association test against the dose, by number of words.
    """

    tables: ClassVar[tuple[str, ...]] = ("limits",)

    curves: tuple[Curve, ...]
    limits: tuple[CalibrationLimit, ...]
    false_positives: tuple[Rate, ...]
    power: tuple[Rate, ...]
    frequency: tuple[FrequencyEffect, ...]
    specificity: tuple[Specificity, ...]
    corpus_bias: tuple[CarrierDose, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    test_curves: tuple[SetCurve, ...] = ()

    def summary(self) -> Summary:
        """What can be detected, and what a score stands for."""
        from biasgauge.analyses.calibrate.summaries import calibration_summary

        return calibration_summary(self)

    def curve(self, measure: str) -> Curve:
        """The curve of a measure.

        Raises:
            ParameterError: it was not calibrated.
        """
        for curve in self.curves:
            if curve.measure == measure:
                return curve
        known = ", ".join(curve.measure for curve in self.curves)
        raise ParameterError(f"The calibration has the measures {known}. Got {measure!r}.")

    def limit(self, name: str, *, words: int = 1, side: Side = "first") -> CalibrationLimit | None:
        """The limit of a measure or a test for so many words; None where it was not found out."""
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
        """Which planted odds ratio would give the scores of these words.

        Args:
            scores: what `score` gave, with base pairs as in the calibration; or words with scores.
            measure: which measure; by default the first of the scores, or of the calibration.
            runs: over how many models the scores are averaged; by default those of `scores`, or 1.
            level: of the intervals, which cover a single word's own planted dose.

        Raises:
            ParameterError: the measure was not calibrated.
        """
        if isinstance(scores, ScoreTensor):
            chosen = measure or scores.measures[0]
            table = scores.select(measure=[chosen]).values[0].astype(np.float64)
            with np.errstate(invalid="ignore"):
                known = np.isfinite(table)
                means = np.where(known, table, 0.0).sum(axis=(0, 2)) / known.sum(axis=(0, 2))
            values = dict(zip(scores.words, means.tolist(), strict=True))
            count = runs or len(scores.models)
        else:
            chosen, values, count = measure or self.curves[0].measure, dict(scores), runs or 1
        return Equivalents(tuple(self._equivalents(values.items(), chosen, count, level)), chosen, count, self.settings)

    def _equivalents(
        self, values: Iterable[tuple[str, float]], measure: str, runs: int, level: float
    ) -> Iterable[Equivalent]:
        response = self.curve(measure).response
        limits = {side: self.limit(measure, side=side) for side in ("first", "second")}
        for word, value in values:
            if value is None or not np.isfinite(value):
                yield Equivalent(word, None, Estimate(value=None, reason="the word has no score"), None)
                continue
            dose = dose_of_score(float(value), response, runs=runs, level=level)
            limit = limits["first" if (dose.value or 0.0) >= 0 else "second"]
            smallest = None if limit is None else limit.detection.value
            seen = None if dose.value is None else smallest is not None and abs(dose.value) >= smallest
            yield Equivalent(word, float(value), dose, seen)
