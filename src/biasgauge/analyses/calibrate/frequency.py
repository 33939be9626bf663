"""How far a score follows the frequency of a word alone (Valentini et al. 2022), and a score without that."""

from __future__ import annotations

import numpy as np

from biasgauge.analyses.calibrate.parts import FrequencyEffect
from biasgauge.analyses.calibrate.readings import Readings
from biasgauge.core import Estimate, Floats
from biasgauge.stats import percentile_estimate, robust_slope

CORRECTED = "{}, frequency-corrected"
FEWEST_PLAIN = 20
"""Words without a dose below which no trend in frequency is fitted: a cubic takes half of them."""


def corrected_scores(readings: Readings) -> Floats:
    """Scores less what words of their frequency have on average: measure × word × draw × run.

    The trend (a cubic in log frequency) is fitted in each model to words in which nothing was planted, to every other
    of them; carriers are not among these.
    """
    logs = np.log10(readings.counts)
    plain = np.arange(len(logs)) >= readings.carriers + readings.others
    learned = plain & (np.arange(len(logs)) % 2 == 0)
    corrected = np.empty_like(readings.scores)
    basis = np.vander((logs - logs[learned].mean()) / max(logs[learned].std(), 1e-9), 4)
    for place in np.ndindex(readings.scores.shape[0], *readings.scores.shape[2:]):
        at = (place[0], slice(None), *place[1:])
        values = readings.scores[at]
        weights = np.linalg.lstsq(basis[learned], values[learned], rcond=None)[0]
        corrected[at] = values - basis @ weights
    return corrected


def frequency_effects(readings: Readings, corrected: Floats, *, level: float = 0.95) -> tuple[FrequencyEffect, ...]:
    """What frequency does to every measure, and whether taking it out helps."""
    logs = np.log10(readings.counts)
    start = readings.carriers + readings.others
    unseen = np.arange(start, len(logs))
    unseen = unseen[unseen % 2 == 1]
    effects = []
    for place, measure in enumerate(readings.measures):
        plain = readings.scores[place].mean(axis=(1, 2))
        unordered = readings.shuffled[place]
        raw, better = (scores[place, : readings.carriers].mean(axis=2) for scores in (readings.scores, corrected))
        effects.append(
            FrequencyEffect(
                measure,
                robust_slope(logs[start:], plain[start:], level),
                robust_slope(logs, unordered.mean(axis=1), level) if unordered.shape[1] else None,
                robust_slope(logs[unseen], corrected[place].mean(axis=(1, 2))[unseen], level),
                _r(readings.doses, raw),
                _r(readings.doses, better),
                _gain(readings.doses, raw, better, level),
            )
        )
    return tuple(effects)


def _r(doses: Floats, scores: Floats) -> float:
    return float(np.corrcoef(doses.ravel(), scores.ravel())[0, 1])


def _gain(doses: Floats, raw: Floats, better: Floats, level: float) -> Estimate:
    """Difference of the two correlations, by bootstrap over carriers."""
    random = np.random.default_rng(19)
    drawn = []
    for _ in range(1000):
        units = random.integers(0, len(doses), len(doses))
        drawn.append(_r(doses[units], better[units]) - _r(doses[units], raw[units]))
    value = _r(doses, better) - _r(doses, raw)
    about = {"over": "carriers", "statistic": "gain of r", "n": len(doses)}
    return percentile_estimate(value, np.array(drawn), level, method="percentile bootstrap", **about)
