"""Records of a calibration: curves, limits, rates and effects; doses as odds ratios in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.results import figures_text, number_text
from biasgauge.stats import DoseResponse, Side, Source, TextLine

LARGEST = 1000
"""Odds ratio beyond which digits are meaningless: none as large is ever planted."""
_FEW_FIGURES = 0.095
"""Ratio below which significant figures are shown in the place of one decimal."""


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
class CalibratedText(Record):
    """A text that limits rest on.

    Attributes:
        name: of the text; empty where it was calibrated alone.
        tokens, checksum: of the text.
        plantings, runs: planted texts, and models of each.
        ends: words of pairs beside a carrier, for each occurrence of it; the median over carriers.
        first_share: share of first ends among the ends of the text.
    """

    name: str
    tokens: int
    checksum: str
    plantings: int
    runs: int
    ends: float
    first_share: float

    def dose_of_excess(self, excess: float) -> float | None:
        """Log odds ratio that gives a carrier of this text so many excess first ends for each occurrence.

        With t ends and the share π of first ones, a dose d makes the share p = 1 / (1 + exp(−logit π − d)), and the
        excess is t (p − π). None where no dose is large enough: where all ends beside the word are of one side.
        """
        share = self.first_share + excess / self.ends
        if not 0 < share < 1:
            return None
        return log(share / (1 - share)) - log(self.first_share / (1 - self.first_share))


@dataclass(frozen=True)
class MeasureLine(Record):
    """Lines of a measure in the models of one text, over the excess of first ends beside a word.

    Attributes:
        text: name of the text.
        measure: name of the measure.
        line: lines and spread of words.
    """

    text: str
    measure: str
    line: TextLine


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
        texts: names of the texts that the limits rest on, where they hold for a new one; empty where they hold for new
            plantings of a single text.
        excess: limit of detection in first ends beside a word beyond those of the odds of its text, for each occurrence
            of the word; only of limits that hold for a new text.
        sources: parts of the variance that the limit of blank allows for, with their degrees of freedom.
    """

    of: str
    name: str
    words: int
    side: Side
    blank: float | None
    detection: Estimate
    beyond: bool = False
    texts: tuple[str, ...] = ()
    excess: float | None = None
    sources: tuple[Source, ...] = ()

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
        return text if self.detected else f"{text}; below the limit of detection"


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
