"""Rows of a calibration: curves, limits, rates and effects, each with its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.stats import DoseResponse, Side


@dataclass(frozen=True)
class CarrierDose(Record):
    """Log odds ratio of a carrier in the planted text, counted.

    Attributes:
        edit: index of the edit that it carries a dose of.
        word: the carrier.
        dose: the intended dose: a log odds ratio for `Mentions`, a share for `Mixture`.
        log_odds, se: its log odds ratio with first and second ends in the planted text, and the closed-form error.
        before: the log odds ratio in the text before.
        n_wa, n_a, n_wb, n_b: tokens in windows of first ends that are the carrier, and all such tokens; of second
            ends alike.
    """

    edit: int
    word: str
    dose: float
    log_odds: float
    se: float
    before: float
    n_wa: int
    n_a: int
    n_wb: int
    n_b: int


@dataclass(frozen=True)
class DosePoint(Record):
    """Mean score at one dose.

    Attributes:
        level: the intended dose.
        dose: mean log odds ratio of these carriers, counted.
        mean: mean score over carriers, with its interval over them.
    """

    level: float
    dose: float
    mean: Estimate


@dataclass(frozen=True)
class Curve(Record):
    """Dose–response curve of a measure.

    Attributes:
        measure: name of the measure.
        points: its mean at each dose.
        response: the fitted line, lack of fit, and variance components of the score.
        shares: of the variance of a single score: dose, carrier, planting, run, shift; they sum to 1.
        retest: correlation of two runs over words (reliability), beside r, the correlation with the dose (validity).
    """

    measure: str
    points: tuple[DosePoint, ...]
    response: DoseResponse
    shares: Mapping[str, float | None]
    retest: float | None = None


@dataclass(frozen=True)
class SetCurve(Record):
    """Dose–response curve of an association test on sets of carriers.

    Attributes:
        test: name of the test.
        words: number of words in a set of targets.
        points: its mean value over sets at each dose, with the interval over planted texts.
        r: correlation of the dose with the values of single sets.
        monotone: whether no mean falls from one dose to the next by more than chance; None with a single planted text.
    """

    test: str
    words: int
    points: tuple[DosePoint, ...]
    r: float | None
    monotone: bool | None = None


@dataclass(frozen=True)
class CalibrationLimit(Record):
    """Limits of blank and of detection.

    Attributes:
        of: "measure", for the mean score of some words, or "test", for an association test on a set of them: carriers
            of a dose, against as many blanks where the test has two sets.
        name: name of the measure or test.
        words: number of words.
        side: doses that lean to the first or the second end.
        blank: limit of blank: 5 % of blanks lie beyond it, on the side to which doses move the value.
        detection: limit of detection as a dose, a log odds ratio; of a test between doses that were planted.
        beyond: whether that is larger than any dose that was planted.
    """

    of: str
    name: str
    words: int
    side: Side
    blank: float | None
    detection: Estimate
    beyond: bool = False

    @property
    def odds_ratio(self) -> float | None:
        """Limit of detection as an odds ratio."""
        return None if self.detection.value is None else exp(min(self.detection.value, 50.0))

    def derived(self) -> JsonMapping:
        """Add the odds ratio."""
        return {"odds_ratio": self.odds_ratio}


@dataclass(frozen=True)
class Specificity(Record):
    """Response of a measure to a dose of another attribute.

    Attributes:
        measure: name of the measure.
        slope: change of the score per unit of the other dose.
        own_slope: change per unit of the dose that it is to measure.
    """

    measure: str
    slope: Estimate
    own_slope: float


@dataclass(frozen=True)
class DetectionRate(Record):
    """Share of sets that a test detects at a dose: at 0 the false-positive rate, elsewhere power.

    Attributes:
        name: name of the decision rule.
        words: words in each of two sets.
        dose: intended dose of the first set; the second is of blanks.
        share: with Wilson's interval for the number of sets that share no word.
        sets: number of sets tested.
    """

    name: str
    words: int
    dose: float
    share: Estimate
    sets: int


@dataclass(frozen=True)
class FrequencyEffect(Record):
    """Dependence of a measure on word frequency.

    Attributes:
        measure: name of the measure.
        slope: change of the score with ten times the frequency, over words in which nothing was planted.
        shuffled_slope: the same in shuffled text, where all of it is artifact.
        corrected_slope: of the corrected score, over words that the correction was not fitted to.
        r, corrected_r: correlation of the counted dose with the score, and with the corrected one.
        helps: gain of the correction: the difference of the two correlations, with its interval over carriers.
    """

    measure: str
    slope: Estimate
    shuffled_slope: Estimate | None
    corrected_slope: Estimate
    r: float
    corrected_r: float
    helps: Estimate
