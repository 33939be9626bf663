"""`Calibration`: curves, limits and rates; scores of real words as planted odds ratios; calibrations from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.calibrate.rows import (
    LARGEST,
    CalibratedText,
    CalibrationLimit,
    CarrierDose,
    Curve,
    DetectionRate,
    Equivalent,
    FrequencyEffect,
    MeasureLine,
    SetCurve,
    Specificity,
    limit_text,
    odds_text,
)
from biasgauge.core import Estimate, JsonMapping
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_saved
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    RecordTable,
    Result,
    Shown,
    altair,
    counted,
    number_text,
    registered_name,
)
from biasgauge.scores import ScoreTensor
from biasgauge.stats import Side, dose_of_score

DEFAULT_CALIBRATION = Path(__file__).with_name("data") / "sgns-64d-enwiki.json"
"""Calibration of the shipped replicates, by scripts/make_default_calibration.py."""
VARIANCE_PARTS = {
    "dose": "share of the variance of a single score",
    "carrier": "the word, whatever its dose",
    "planting": "where the dose was put",
    "run": "training again, each word by itself",
    "shift": "training again, all words alike",
}
"""Variance components of a score, with their explanations."""


def _display_name(name: str) -> str:
    """Display name of a measure or a test, with its qualifier: "DB/WA, frequency-corrected"."""
    registered, comma, qualifier = name.partition(", ")
    return f"{registered_name(registered)}{comma}{qualifier}"


def _name_column(head: str, source: str) -> Column:
    """Column of measures or tests: pages show the display name, files the registered one."""
    return Column(head, source=lambda row: Shown(getattr(row, source), _display_name(getattr(row, source))))


def _share_column(name: str, meaning: str) -> Column:
    """Column of one variance component's share."""
    return Column(name, "share", about=meaning, source=lambda curve: curve.shares[name])


_DETECTED_BY, _MEASURE = _name_column("found by", "name"), Column("measure", "name")
_WORDS, _SHARE = Column("words", "count"), Column("share", "estimate", 3)
_ODDS_RATIO = Column("odds ratio", "number", 2, source=lambda row: exp(row.dose))
_SETS = Column("looked at", "count", source="sets")
CURVES = RecordTable(
    "curves", "Scores against the dose, and what else moves them",
    (
        _name_column("measure", "measure"),
        Column("slope", "estimate", 4, source="response.slope"),
        Column("r", "number", 2, about="correlation with the dose: validity", source="response.r"),
        Column("retest", "number", 2, about="correlation of two runs: reliability"),
        *(_share_column(name, meaning) for name, meaning in VARIANCE_PARTS.items()),
        Column("p, line", "p", about="small: a straight line does not fit", source="response.p_lack_of_fit"),
    ), drop_empty=True,
)  # fmt: skip
LIMITS = RecordTable(
    "limits", "Limits of blank and of detection",
    (
        _DETECTED_BY, _WORDS, Column("end", source="side"), Column("limit of blank", "number", 4, source="blank"),
        Column("detected from odds", "number", 2, about="limit of detection, as an odds ratio",
               source=lambda limit: limit.odds_ratio and Shown(limit.odds_ratio, limit_text(limit.detection))),
        Column("holds for", about="new words in a new planting of",
               source=lambda limit: f"a new text ({len(limit.texts)} used)" if limit.texts else "this text"),
        Column("remark", source=lambda limit: limit.detection.reason or ("extrapolated" if limit.beyond else "")),
    ), "Extrapolated: beyond the largest odds ratio that was planted.", most=12,
)  # fmt: skip
FALSE_POSITIVES = RecordTable(
    "false_positives", "False positives: detections where nothing was planted",
    (_DETECTED_BY, _WORDS, _SHARE, _SETS), most=12, name="false-positives",
)  # fmt: skip
POWER = RecordTable(
    "power", "Power: rates of detection at other doses", (_DETECTED_BY, _WORDS, _ODDS_RATIO, _SHARE, _SETS), folded=True
)
TEST_CURVES = RecordTable(
    "_test_points", "Association tests against the dose",
    (
        _name_column("test", "test"), _WORDS, Column("r", "number", 2, about="correlation with the dose, over sets"),
        _ODDS_RATIO, Column("mean", "estimate", 4),
    ), "Carriers of a dose against as many blanks; intervals over planted texts.", folded=True, name="test-curves",
)  # fmt: skip
FREQUENCY = RecordTable(
    "frequency", "Effect of word frequency alone",
    (
        _MEASURE, Column("slope", "estimate", 4), Column("in shuffled text", "estimate", 4, source="shuffled_slope"),
        Column("corrected", "estimate", 4, source="corrected_slope"),
        Column("gain of r", "estimate", 3, source="helps"),
    ), "Change of the score with ten times the frequency; in shuffled text all of it is artifact.", drop_empty=True,
)  # fmt: skip
SPECIFICITY = RecordTable(
    "specificity", "Specificity: effect of a dose of another attribute",
    (
        _MEASURE, Column("slope on the other dose", "estimate", 4, source="slope"),
        Column("on its own", "number", 4, source="own_slope"),
    ),
)  # fmt: skip


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
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("_ranked", "", (
            "word", Column("score", "number", 3), Column("odds ratio", "estimate", 2, source="odds_ratio"),
            Column("detected", "mark", tones={"yes": "good", "no": "quiet"},
                   source=lambda row: "yes" if row.detected else "no"),
        ), name="equivalents"),
    )  # fmt: skip

    words: tuple[Equivalent, ...]
    measure: str
    runs: int
    settings: JsonMapping

    @property
    def _ranked(self) -> list[Equivalent]:
        return sorted(self.words, key=lambda row: (row.dose.value is None, row.dose.value or 0.0))

    def _title(self) -> str:
        return "Odds-ratio equivalents"

    def _headline(self) -> str:
        detected = sum(row.detected is True for row in self.words)
        words = counted(self.words, "word lies", "words lie")
        return f"{detected} of {words} at or above the limit of detection ({self.measure})."

    def _sentences(self) -> tuple[str, ...]:
        meaning = "An odds ratio above 1 leans to the first end of the pairs."
        return meaning, "Its interval covers the dose of a single word with this score."


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
        texts: what the limits of measures rest on: this text alone, whose new plantings they hold for, or several
            (`join_calibrations`), when they hold for a new text.
        lines: of every measure in each text: what `join_calibrations` takes.
    """

    tables: ClassVar[tuple[str, ...]] = ("limits",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        CURVES, LIMITS, FALSE_POSITIVES, POWER, TEST_CURVES, FREQUENCY, SPECIFICITY,
    )  # fmt: skip

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
    texts: tuple[CalibratedText, ...] = ()
    lines: tuple[MeasureLine, ...] = ()

    @property
    def _test_points(self) -> tuple[SimpleNamespace, ...]:
        """One row per test, number of words and dose."""
        return tuple(
            SimpleNamespace(test=curve.test, words=curve.words, r=curve.r, dose=point.dose, mean=point.mean)
            for curve in self.test_curves
            for point in curve.points
        )

    def _best_limit(self, words: int) -> CalibrationLimit | None:
        """Limit of the most sensitive measure, the worse of its two sides counting."""
        worst: dict[str, CalibrationLimit] = {}
        for limit in self.limits:
            if limit.words == words and limit.of == "measure":
                worst[limit.name] = max(worst.get(limit.name, limit), limit, key=_detectable_dose)
        return min(worst.values(), key=_detectable_dose, default=None)

    def _headline(self) -> str:
        text, best = f"In {self.settings['corpus']['tokens']:,} tokens", self._best_limit(1)
        if best is None or best.detection.value is None:
            return f"{text} no measure detects what was planted on a single word."
        limit, name = limit_text(best.detection), _display_name(best.name)
        if not best.beyond:
            return f"{text} a single word needs an odds ratio of {limit} to be detected by the best measure, {name}."
        largest = odds_text(max(abs(point.dose) for curve in self.curves for point in curve.points))
        return (
            f"{text} no measure detects an odds ratio of {largest}, the largest planted, on one word "
            f"(the best, {name}: {limit} by extrapolation)."
        )

    @property
    def generalization(self) -> str:
        """Sentence on the texts and plantings that limits of measures hold for; empty if that is not known."""
        limit = next((limit for limit in self.limits if limit.of == "measure" and limit.sources), None)
        if limit is None or not self.texts:
            return ""
        df = {source.name: source.df for source in limit.sources}
        if limit.texts:
            texts = ", ".join(f"{text.name} ({text.tokens:,} tokens)" for text in self.texts)
            assumed = ", which are so alike that a larger spread is assumed" if df["texts"] is None else ""
            return (
                "Limits of measures hold for new words in a new planting of a new text: they rest on "
                f"{len(self.texts)} texts, {texts}, with {len(self.texts) - 1} degrees of freedom between "
                f"texts{assumed}, and {df['plantings']:.0f} between plantings of a text."
            )
        plantings = self.texts[0].plantings
        if plantings == 1:
            return "Limits hold for this planting of this text only: how plantings differ is not known from one."
        return (
            f"Limits hold for new words in a new planting of this text only ({plantings} plantings: "
            f"{df['plantings']:.0f} degrees of freedom between them); other texts differ in level and slope."
        )

    def _sentences(self) -> list[str]:
        sentences = [self.generalization] if self.generalization else []
        largest = max((limit.words for limit in self.limits if limit.of == "measure"), default=1)
        best = self._best_limit(largest)
        if largest > 1 and best is not None and best.detection.value is not None:
            limit, name = limit_text(best.detection), _display_name(best.name)
            sentences.append(f"The mean of {largest} words detects an odds ratio of {limit} at best ({name}).")
        for curve in self.curves:
            r = f"correlation with the planted dose {number_text(curve.response.r)}"
            retest = "" if curve.retest is None else f"; two runs agree at {number_text(curve.retest)}"
            sentences.append(f"{_display_name(curve.measure)}: {r}{retest}. {_shape(curve)}")
        return sentences

    def _charts(self) -> tuple[Chart, ...]:
        """Curves of all measures; limits of detection where any can be drawn."""
        remark = (
            "Mean score of carriers at each dose with its 95 % interval over carriers; across, the log odds ratio that "
            "was counted.\nA measure that does not rise does not reflect the associations of the text."
        )
        curves = Chart("curves", "Scores against the planted association", remark, lambda: curve_chart(self))
        if not drawable_limits(self):
            return (curves,)
        title = "Smallest planted odds ratio that is detected, by number of words"
        remark = (
            "Detected: 95 % of sets with this dose lie beyond the limit that 5 % of blanks pass. Lower is better.\n"
            "Only what can be detected is drawn; lines end where it cannot."
        )
        return curves, Chart("limits", title, remark, lambda: limit_chart(self))

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


def _detectable_dose(limit: CalibrationLimit) -> float:
    return float("inf") if limit.detection.value is None else limit.detection.value


def _shape(curve: Curve) -> str:
    """Shape of a curve in one sentence."""
    response = curve.response
    if not response.follows:
        return "It does not follow the dose."
    monotone = "falls nowhere clearly" if response.monotone else "falls between some doses"
    linear = response.p_lack_of_fit is None or response.p_lack_of_fit >= 0.05
    saturation = ", and flattens at large doses" if response.saturating else ""
    return f"It {monotone}; a straight line {'fits' if linear else 'does not fit'}{saturation}."


def curve_chart(result: Calibration) -> AltairChart:
    """Mean score at each dose with its interval, one panel per measure with its own scale."""
    alt = altair()
    rows = [
        {
            "measure": curve.measure, "dose": point.dose, "odds ratio": exp(point.dose), "score": point.mean.value,
            "low": point.mean.low, "high": point.mean.high,
            "line": curve.response.intercept + (curve.response.slope.value or 0.0) * point.dose,
        }
        for curve in result.curves
        for point in curve.points
    ]  # fmt: skip
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("dose:Q", title="log odds ratio, counted"))
    score = alt.Y("score:Q", title="mean score", scale=alt.Scale(zero=False))
    panel = alt.layer(
        base.mark_line(color="#b9bdb6").encode(y=alt.Y("line:Q", title="mean score")),
        base.mark_rule(color="#1f5f8b").encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, color="#1f5f8b", size=45, opacity=1).encode(
            y=score, tooltip=["measure:N", "odds ratio:Q", "score:Q", "low:Q", "high:Q"]
        ),
    ).properties(width=230, height=170)
    return panel.facet(facet=alt.Facet("measure:N", title=None), columns=3).resolve_scale(y="independent")


def limit_chart(result: Calibration) -> AltairChart:
    """Limits of detection by number of words, measures and tests apart."""
    alt = altair()
    base = alt.Chart(alt.Data(values=drawable_limits(result))).encode(
        x=alt.X("words:O", title="words"),
        y=alt.Y("odds ratio:Q", scale=alt.Scale(type="log"), title="limit of detection, odds ratio"),
        color=alt.Color("name:N", title=None),
        tooltip=["name:N", "words:Q", "leaning to:N", "odds ratio:Q"],
    )
    return (
        alt.layer(base.mark_line(), base.mark_point(filled=True, size=40))
        .properties(width=230, height=200)
        .facet(column=alt.Column("of:N", title=None), row=alt.Row("leaning to:N", title=None))
    )


def drawable_limits(result: Calibration) -> list[dict[str, Any]]:
    """Limits that are defined and below the largest odds ratio drawn."""
    return [
        {
            "of": "measures (mean of words)" if limit.of == "measure" else "tests (sets of words)",
            "name": registered_name(limit.name),
            "words": limit.words,
            "leaning to": f"{limit.side} words of pairs",
            "odds ratio": limit.odds_ratio,
        }
        for limit in result.limits
        if limit.odds_ratio is not None and limit.odds_ratio < LARGEST
    ]
