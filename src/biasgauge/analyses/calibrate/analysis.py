"""Curves, limits, rates and effects of frequency from the scores of planted words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from biasgauge.analyses.calibrate.readings import Readings
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.rows import (
    CalibratedText,
    CalibrationLimit,
    CarrierDose,
    Curve,
    DetectionRate,
    DosePoint,
    FrequencyEffect,
    MeasureLine,
    Specificity,
)
from biasgauge.analyses.calibrate.set_tests import (
    LIMIT_OF_BLANK,
    blank_rates,
    run_set_tests,
    set_curves,
    set_limits,
    weat_rates,
)
from biasgauge.core import Estimate, Floats, JsonMapping
from biasgauge.results import counted as counted_text
from biasgauge.stats import (
    DoseResponse,
    detection_limits,
    dose_response,
    limit_bounds,
    mean_estimate,
    percentile_estimate,
    robust_slope,
    text_line,
    wilson,
)

CORRECTED = "{}, frequency-corrected"
FEWEST_PLAIN = 20
"""Words without a dose below which no trend in frequency is fitted: a cubic takes half of them."""
_FEW_MODELS = 4
"""Number of models below which the variance between them is barely known."""
_FEWEST_POINTS = 4
"""Points that a slope takes."""


def analyze(
    readings: Readings,
    tests: Sequence[str],
    sizes: tuple[int, ...],
    settings: JsonMapping,
    counted: tuple[CarrierDose, ...],
    verdict_rates: tuple[DetectionRate, ...] = (),
    *,
    level: float = 0.95,
    random_state: int = 0,
    sets: int = 10,
) -> Calibration:
    """Estimate curves, limits and rates from the scores and vectors of planted words.

    Args:
        readings: scores and vectors.
        tests: names of association tests.
        sizes: numbers of words in sets.
        settings: of the calibration, for the result.
        counted: carriers with their counted doses, for the result.
        verdict_rates: rates of an audit's verdicts.
        level: of the intervals.
        random_state: seed.
        sets: random sets of each size and dose that tests see in each model.
    """
    plain = len(readings.words) - readings.carriers - readings.others
    corrected = corrected_scores(readings) if plain >= FEWEST_PLAIN else readings.scores
    frequency = frequency_effects(readings, corrected, level=level) if plain >= FEWEST_PLAIN else ()
    tables = dict(zip(readings.measures, readings.of_carriers, strict=True))
    for effect, scores in zip(frequency, corrected[:, : readings.carriers], strict=False):
        if (effect.helps.low or 0.0) > 0 and effect.corrected_r > 0:
            tables[CORRECTED.format(effect.measure)] = scores
    curves, limits, blanks = [], [], []
    for measure, scores in tables.items():
        response = dose_response(scores, readings.doses, readings.levels, level=level)
        curves.append(_curve(measure, scores, readings, response, level))
        detected = detection_limits(
            scores, readings.doses, readings.levels, response, words=(1, *sizes), level=level,
            random_state=random_state,
        )  # fmt: skip
        limits += [
            CalibrationLimit(
                "measure",
                measure,
                limit.words,
                limit.side,
                limit.blank,
                limit.detection,
                limit.beyond,
                sources=limit.sources,
            )
            for limit in detected
        ]
        blanks.append(_blanks_beyond_limit(measure, scores, readings, response, level))
    set_values = run_set_tests(readings, tests, sizes, sets=sets, random_state=random_state)
    limits += set_limits(set_values, level=level, random_state=random_state)
    rates = (*weat_rates(set_values, level=level), *blank_rates(set_values, level=level), *verdict_rates)
    return Calibration(
        curves=tuple(curves),
        limits=tuple(limits),
        false_positives=(*filter(None, blanks), *(rate for rate in rates if rate.dose == 0)),
        power=tuple(rate for rate in rates if rate.dose != 0),
        frequency=frequency,
        specificity=_specificity(readings, curves, level),
        corpus_bias=counted,
        settings=settings,
        warnings=(*readings.warnings, *_warnings(readings)),
        test_curves=set_curves(set_values, level=level),
        texts=_texts(readings, settings),
        lines=_measure_lines(readings),
    )


def _texts(readings: Readings, settings: JsonMapping) -> tuple[CalibratedText, ...]:
    """The text, as limits that rest on several name it."""
    if readings.excess is None:
        return ()
    corpus, (ends, first_share) = settings["corpus"], readings.near
    _, plantings, runs = readings.of_carriers.shape[1:]
    return (CalibratedText("", corpus["tokens"], corpus["checksum"], plantings, runs, ends, first_share),)


def _measure_lines(readings: Readings) -> tuple[MeasureLine, ...]:
    """Lines of every measure over the excess of first ends, in which texts are alike."""
    excess = readings.excess
    if excess is None or np.ptp(excess) == 0:
        return ()
    lines = []
    for measure, scores in zip(readings.measures, readings.of_carriers, strict=True):
        response = dose_response(scores, excess, readings.levels, shape=False)
        lines.append(MeasureLine("", measure, text_line(scores, excess, readings.levels, response, one_slope=True)))
    return tuple(lines)


def _curve(measure: str, scores: Floats, readings: Readings, response: DoseResponse, level: float) -> Curve:
    points = []
    for dose in np.unique(readings.levels).tolist():
        mask = readings.levels == dose
        means = [scores[unit, mask[unit]].mean() for unit in range(len(scores)) if mask[unit].any()]
        points.append(DosePoint(dose, float(readings.doses[mask].mean()), mean_estimate(np.array(means), level=level)))
    total = response.variances.total
    shares: dict[str, float | None] = dict.fromkeys(("dose", "carrier", "planting", "run", "shift"))
    for name in shares:
        variance = getattr(response.variances, name)
        shares[name] = variance / total if variance is not None and total > 0 else None
    runs = list(combinations(range(scores.shape[2]), 2))
    retests = [_correlation(text[:, i], text[:, j]) for text in scores.swapaxes(0, 1) for i, j in runs]
    return Curve(measure, tuple(points), response, shares, float(np.mean(retests)) if retests else None)


def _blanks_beyond_limit(
    measure: str, scores: Floats, readings: Readings, response: DoseResponse, level: float
) -> DetectionRate | None:
    """Share of the blanks of each planting above the limit of blank of the other plantings; at most 5 % nominally.

    Only words that are no blanks in the other texts: the limit was not estimated on them.
    """
    levels, blank = readings.levels, readings.levels == 0
    shares = np.empty(0)
    for draw in range(scores.shape[1] if scores.shape[1] > 1 else 0):
        other_scores, other_levels, elsewhere = (np.delete(array, draw, axis=1) for array in (scores, levels, blank))
        line = text_line(other_scores, np.delete(readings.doses, draw, axis=1), other_levels, response)
        limit = float(limit_bounds([line], "first", words=1).blank[0])
        new = blank[:, draw] & ~elsewhere.any(axis=1)
        shares = np.append(shares, (scores[new, draw] > limit).mean(axis=1))
    if not len(shares):
        return None
    share = wilson(float(shares.mean()), len(shares), level, over="blanks")
    return DetectionRate(LIMIT_OF_BLANK.format(measure), 1, 0.0, share, len(shares))


def _specificity(readings: Readings, curves: Sequence[Curve], level: float) -> tuple[Specificity, ...]:
    """Response of each measure to a dose of another attribute, over the words that carry it."""
    if readings.others < _FEWEST_POINTS:
        return ()
    own_slopes = {curve.measure: curve.response.slope.value or 0.0 for curve in curves}
    means = readings.scores[:, readings.carriers :][:, : readings.others].mean(axis=(2, 3))
    rows = []
    for measure, scores in zip(readings.measures, means, strict=True):
        slope = robust_slope(readings.other_doses.mean(axis=1), scores, level, over="carriers")
        rows.append(Specificity(measure, replace(slope, statistic="slope on the other dose"), own_slopes[measure]))
    return tuple(rows)


def _warnings(readings: Readings) -> Iterator[str]:
    """Yield what the design cannot estimate."""
    if readings.lost:
        words = counted_text(readings.lost, "word has", "words have")
        yield f"{words} no score in some model and {'is' if len(readings.lost) == 1 else 'are'} left out"
    plain = len(readings.words) - readings.carriers - readings.others
    if plain < FEWEST_PLAIN:
        yield f"{counted_text(plain, 'word')} without a dose: too few to say what frequency alone does"
    _, draws, runs = readings.of_carriers.shape[1:]
    if draws == 1:
        yield "one planted text: what belongs to a carrier cannot be told from where its dose was put"
    if draws * runs < _FEW_MODELS:
        models = counted_text(draws * runs, "model")
        yield f"{models}: what moves all words of a model alike is barely known; limits of sets rest on it"
    if runs == 1:
        yield "one run for each text: the part of the random seed is unknown"


def corrected_scores(readings: Readings) -> Floats:
    """Scores less the mean of words of their frequency (Valentini et al. 2022): measure × word × draw × run.

    The trend (a cubic in log frequency) is fitted in each model to every other word in which nothing was planted.
    """
    logs = np.log10(readings.counts)
    index = np.arange(len(logs))
    fitted = (index >= readings.carriers + readings.others) & (index % 2 == 0)
    basis = np.vander((logs - logs[fitted].mean()) / max(logs[fitted].std(), 1e-9), 4)
    corrected = np.empty_like(readings.scores)
    for measure, draw, run in np.ndindex(readings.scores.shape[0], *readings.scores.shape[2:]):
        values = readings.scores[measure, :, draw, run]
        coefficients = np.linalg.lstsq(basis[fitted], values[fitted], rcond=None)[0]
        corrected[measure, :, draw, run] = values - basis @ coefficients
    return corrected


def frequency_effects(readings: Readings, corrected: Floats, *, level: float = 0.95) -> tuple[FrequencyEffect, ...]:
    """Slope of every measure on log frequency, raw, in shuffled text and corrected, and the gain of the correction."""
    logs = np.log10(readings.counts)
    start = readings.carriers + readings.others
    held_out = np.arange(start, len(logs))
    held_out = held_out[held_out % 2 == 1]  # words that the correction was not fitted to
    effects = []
    for index, measure in enumerate(readings.measures):
        means, corrected_means = (scores[index].mean(axis=(1, 2)) for scores in (readings.scores, corrected))
        raw, better = (scores[index, : readings.carriers].mean(axis=2) for scores in (readings.scores, corrected))
        shuffled = readings.shuffled[index]
        shuffled_slope = robust_slope(logs, shuffled.mean(axis=1), level) if shuffled.shape[1] else None
        slopes = robust_slope(logs[start:], means[start:], level), shuffled_slope
        corrected_slope = robust_slope(logs[held_out], corrected_means[held_out], level)
        correlations = _correlation(readings.doses, raw), _correlation(readings.doses, better)
        gain = _gain(readings.doses, raw, better, level)
        effects.append(FrequencyEffect(measure, *slopes, corrected_slope, *correlations, gain))
    return tuple(effects)


def _correlation(doses: Floats, scores: Floats) -> float:
    return float(np.corrcoef(doses.ravel(), scores.ravel())[0, 1])


def _gain(doses: Floats, raw: Floats, corrected: Floats, level: float) -> Estimate:
    """Difference of the correlations of corrected and raw scores with the dose, by bootstrap over carriers."""
    random = np.random.default_rng(19)
    drawn = []
    for _ in range(1000):
        rows = random.integers(0, len(doses), len(doses))
        drawn.append(_correlation(doses[rows], corrected[rows]) - _correlation(doses[rows], raw[rows]))
    value = _correlation(doses, corrected) - _correlation(doses, raw)
    labels = {"over": "carriers", "statistic": "gain of r", "n": len(doses)}
    return percentile_estimate(value, np.array(drawn), level, method="percentile bootstrap", **labels)
