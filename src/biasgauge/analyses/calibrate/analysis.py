"""From scores of planted words to curves, limits and rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biasgauge.analyses.calibrate.design import some
from biasgauge.analyses.calibrate.frequency import CORRECTED, FEWEST_PLAIN, corrected_scores, frequency_effects
from biasgauge.analyses.calibrate.parts import CalibrationLimit, CarrierDose, Curve, Point, Rate, Specificity
from biasgauge.analyses.calibrate.readings import Readings
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.set_tests import (
    LIMIT_OF_BLANK,
    blank_rates,
    rates,
    set_curves,
    set_limits,
    set_values,
)
from biasgauge.core import Floats, JsonMapping
from biasgauge.stats import (
    DoseResponse,
    Variances,
    detection_limits,
    dose_response,
    mean_estimate,
    new_blanks,
    robust_slope,
    wilson,
)

_FEW_MODELS = 4
"""Models below which the variance between them is barely known."""


def analyzed(
    readings: Readings,
    tests: Sequence[str],
    sizes: tuple[int, ...],
    settings: JsonMapping,
    counted: tuple[CarrierDose, ...],
    judged: tuple[Rate, ...] = (),
    *,
    level: float = 0.95,
    random_state: int = 0,
    sets: int = 10,
) -> Calibration:
    """Everything that follows from the scores and vectors of planted words; tests see so many sets of each model."""
    plain = len(readings.words) - readings.carriers - readings.others
    corrected = corrected_scores(readings) if plain >= FEWEST_PLAIN else readings.scores
    frequency = frequency_effects(readings, corrected, level=level) if plain >= FEWEST_PLAIN else ()
    tables = {measure: readings.of_carriers[place] for place, measure in enumerate(readings.measures)}
    tables |= {
        CORRECTED.format(effect.measure): corrected[place, : readings.carriers]
        for place, effect in enumerate(frequency)
        if (effect.helps.low or 0.0) > 0 and effect.corrected_r > 0
    }
    curves, limits, exceeded = [], [], []
    for measure, scores in tables.items():
        response = dose_response(scores, readings.doses, readings.levels, level=level)
        curves.append(_curve(measure, scores, readings, response, level))
        detected = detection_limits(
            scores, readings.doses, readings.levels, response, words=(1, *sizes), level=level,
            random_state=random_state,
        )  # fmt: skip
        limits += [
            CalibrationLimit("measure", measure, limit.words, limit.side, limit.blank, limit.detection, limit.beyond)
            for limit in detected
        ]
        exceeded.append(_exceeded(measure, scores, readings.levels, response.variances, level))
    of_sets = set_values(readings, tests, sizes, sets=sets, random_state=random_state)
    limits += [
        CalibrationLimit("test", limit.test, limit.words, limit.side, limit.blank, limit.detection)
        for limit in set_limits(of_sets, level=level, random_state=random_state)
    ]
    every = (*rates(of_sets, level=level), *blank_rates(of_sets, level=level), *judged)
    return Calibration(
        curves=tuple(curves),
        limits=tuple(limits),
        false_positives=(*filter(None, exceeded), *(rate for rate in every if rate.dose == 0)),
        power=tuple(rate for rate in every if rate.dose != 0),
        frequency=frequency,
        specificity=_specificity(readings, curves, level),
        corpus_bias=counted,
        settings=settings,
        warnings=(*readings.warnings, *_few(readings)),
        test_curves=set_curves(of_sets, level=level),
    )


def _curve(measure: str, scores: Floats, readings: Readings, response: DoseResponse, level: float) -> Curve:
    points = []
    for dose in np.unique(readings.levels).tolist():
        at = readings.levels == dose
        means = [scores[unit, at[unit]].mean() for unit in range(len(scores)) if at[unit].any()]
        mean = mean_estimate(np.array(means), level=level)
        points.append(Point(dose, float(readings.doses[at].mean()), mean))
    parts, total = response.variances, response.variances.total
    shares = {
        name: None if (value := getattr(parts, name)) is None else value / total if total > 0 else None
        for name in ("dose", "carrier", "planting", "run", "shift")
    }
    retest = None
    if scores.shape[2] > 1:
        pairs = [(run, earlier) for run in range(scores.shape[2]) for earlier in range(run)]
        retest = float(
            np.mean([
                np.corrcoef(scores[:, draw, run], scores[:, draw, earlier])[0, 1]
                for draw in range(scores.shape[1]) for run, earlier in pairs
            ])
        )  # fmt: skip
    return Curve(measure, tuple(points), response, shares, retest)


def _exceeded(measure: str, scores: Floats, levels: Floats, variances: Variances, level: float) -> Rate | None:
    """How many blanks of each planted text lie above the limit of blank of the other texts; 5 % are meant to.

    Only words that are no blanks in those: to the limit they are new.
    """
    draws, blank = scores.shape[1], levels == 0
    above = []
    for draw in range(draws if draws > 1 else 0):
        rest = [other for other in range(draws) if other != draw]
        limit = new_blanks(scores[:, rest], levels[:, rest], variances).limit()
        new = blank[:, draw] & ~blank[:, rest].any(axis=1)
        above.append((scores[new, draw] > limit).mean(axis=1))
    joined = np.concatenate([np.empty(0), *above])
    if not len(joined):
        return None
    share = wilson(float(joined.mean()), len(joined), level, over="blanks")
    return Rate(LIMIT_OF_BLANK.format(measure), 1, 0.0, share, len(joined))


def _specificity(readings: Readings, curves: Sequence[Curve], level: float) -> tuple[Specificity, ...]:
    """What a dose of something else does to each measure, over the words that carry it."""
    if readings.others < 4:  # a slope takes four points
        return ()
    own = {curve.measure: curve.response.slope.value or 0.0 for curve in curves}
    rows = slice(readings.carriers, readings.carriers + readings.others)
    doses = readings.other_doses.mean(axis=1)
    return tuple(
        Specificity(
            measure,
            replace(
                robust_slope(doses, readings.scores[place, rows].mean(axis=(1, 2)), level, over="carriers"),
                statistic="slope on the other dose",
            ),
            own[measure],
        )
        for place, measure in enumerate(readings.measures)
    )


def _few(readings: Readings) -> list[str]:
    """What the design cannot tell."""
    notes = []
    if readings.lost:
        few = len(readings.lost) == 1
        notes.append(
            f"{some(len(readings.lost), 'word')} {'has' if few else 'have'} no score in some model and "
            f"{'is' if few else 'are'} left out"
        )
    plain = len(readings.words) - readings.carriers - readings.others
    if plain < FEWEST_PLAIN:
        notes.append(f"{some(plain, 'word')} without a dose: too few to say what frequency alone does")
    _, draws, runs = readings.of_carriers.shape[1:]
    if draws == 1:
        notes.append("one planted text: what belongs to a carrier cannot be told from where its dose was put")
    if draws * runs < _FEW_MODELS:
        notes.append(
            f"{some(draws * runs, 'model')}: what moves all words of a model alike is barely known; limits of sets "
            "rest on it"
        )
    if runs == 1:
        notes.append("one run for each text: the part of the random seed is unknown")
    return notes
