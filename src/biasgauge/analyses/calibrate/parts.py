"""What a calibration is made of: rows with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.stats import DoseResponse, Side


@dataclass(frozen=True)
class CarrierDose(Record):
    """What the text says about a carrier after planting, counted.

    Attributes:
        edit: the number of the edit that it carries a dose of.
        word: the carrier.
        dose: what was asked for: a log odds ratio for `Mentions`, a share for `Mixture`.
        log_odds: its log odds ratio with first and second ends, in windows of the planted text.
        se: closed-form standard error of that.
        before: the same in the text before.
        n_wa, n_a, n_wb, n_b: places in windows of first ends that hold the carrier, and all such places; of second
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
class Point(Record):
    """Scores at one dose.

    Attributes:
        level: the dose as it was asked for.
        dose: mean log odds ratio of these carriers, counted.
        mean: mean score over carriers, with its interval over them.
    """

    level: float
    dose: float
    mean: Estimate


@dataclass(frozen=True)
class Curve(Record):
    """A measure against the dose.

    Attributes:
        measure: which.
        points: its mean at each dose.
        response: the line, its departures, and what else moves the score.
        shares: of the variance of a single score: dose, carrier, planting, run, shift; they sum to 1.
        retest: correlation of two runs over words: reliability, beside r, the correlation with the dose: validity.
    """

    measure: str
    points: tuple[Point, ...]
    response: DoseResponse
    shares: Mapping[str, float | None]
    retest: float | None = None


@dataclass(frozen=True)
class SetCurve(Record):
    """An association test on sets of carriers against the dose.

    Attributes:
        test: which.
        words: in a set of targets.
        points: its mean value over sets at each dose, with the interval over planted texts.
        r: correlation of the dose with the values of single sets.
        monotone: whether no mean goes back from one dose to the next by more than chance; None where no more than one
            text was planted.
    """

    test: str
    words: int
    points: tuple[Point, ...]
    r: float | None
    monotone: bool | None = None


@dataclass(frozen=True)
class CalibrationLimit(Record):
    """What can be told from nothing.

    Attributes:
        of: "measure", for the mean score of so many words, or "test", for an association test on a set of so many.
        name: which.
        words: how many words.
        side: doses that lean to the first or the second end.
        blank: limit of blank: 5 % of blanks lie beyond it.
        detection: limit of detection as a dose, a log odds ratio.
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
        """The limit of detection as an odds ratio."""
        return None if self.detection.value is None else exp(min(self.detection.value, 50.0))

    def derived(self) -> JsonMapping:
        """What follows from the rest."""
        return {"odds_ratio": self.odds_ratio}


@dataclass(frozen=True)
class Specificity(Record):
    """Whether a dose of something else moves a measure.

    Attributes:
        measure: which.
        slope: change of the score with one unit of the other dose.
        own_slope: change with one unit of the dose that it is to measure.
    """

    measure: str
    slope: Estimate
    own_slope: float


@dataclass(frozen=True)
class Rate(Record):
    """How often something is found at a dose: at 0 a false-positive rate, elsewhere power.

    Attributes:
        name: what finds it.
        words: words in each of two sets.
        dose: of the one set, as it was asked for; the other is of blanks.
        share: how often, with Wilson's interval for as many sets as share no word.
        sets: how many were looked at.
    """

    name: str
    words: int
    dose: float
    share: Estimate
    sets: int


@dataclass(frozen=True)
class FrequencyEffect(Record):
    """What frequency does to a measure.

    Attributes:
        measure: which.
        slope: change of the score with ten times the frequency, over words in which nothing was planted.
        shuffled_slope: the same in shuffled text, where there is nothing to find: artifact.
        corrected_slope: of the corrected score, over words and models that the correction did not see.
        r, corrected_r: correlation of the counted dose with the score, and with the corrected one.
        helps: whether the corrected score follows doses better: the difference of the two correlations, with its
            interval over carriers.
    """

    measure: str
    slope: Estimate
    shuffled_slope: Estimate | None
    corrected_slope: Estimate
    r: float
    corrected_r: float
    helps: Estimate
