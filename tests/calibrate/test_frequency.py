"""What frequency does to a score, and whether taking it out helps: worlds in which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.analyses.calibrate import Readings, analyze
from biasgauge.analyses.calibrate.analysis import corrected_scores, frequency_effects

CARRIERS, PLAIN, DOSE = 120, 400, 0.05


def world(seed: int, trend: float, *, cubic: float = 0.0, texts: int = 2, noise: float = 0.05) -> Readings:
    """Scores that follow doses, and rise by `trend` with ten times the frequency (and with its third power)."""
    random = np.random.default_rng(seed)
    words = CARRIERS + PLAIN
    logs = random.uniform(1.5, 4.5, words)
    levels = np.stack([random.permutation(np.repeat([-1.0, 0.0, 1.0], CARRIERS // 3)) for _ in range(texts)], axis=1)
    own = random.normal(0, noise, words) + trend * (logs - 3) + cubic * (logs - 3) ** 3
    scores = np.repeat(own[:, None], texts, axis=1)[:, :, None].repeat(2, axis=2)
    scores = scores + random.normal(0, noise / 2, scores.shape)
    scores[:CARRIERS] += DOSE * levels[:, :, None]
    unordered = (trend * (logs - 3) + random.normal(0, noise, words))[None, :, None]
    return Readings(
        measures=("dbwa",), words=tuple(f"w{number}" for number in range(words)), carriers=CARRIERS, others=0,
        scores=scores[None], doses=levels, levels=levels, counts=10**logs, shuffled=unordered,
        other_doses=np.empty((0, texts)), vectors={}, ends=(("he",), ("she",)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 7, 41])
def test_the_trend_is_found_in_the_text_and_in_shuffled_text_and_gone_when_corrected(seed: int) -> None:
    readings = world(seed, trend=0.06)
    (effect,) = frequency_effects(readings, corrected_scores(readings))
    assert effect.shuffled_slope is not None
    for slope in (effect.slope, effect.shuffled_slope):
        assert slope.value == pytest.approx(0.06, abs=0.015)
        assert (slope.low or 0) > 0
    assert effect.corrected_slope.value == pytest.approx(0.0, abs=0.02)


def test_a_bend_is_taken_out_too() -> None:
    readings = world(3, trend=0.0, cubic=0.05)
    corrected = corrected_scores(readings)[0].mean(axis=(1, 2))
    logs = np.log10(readings.counts)
    for low in (1.5, 2.5, 3.5):
        band = (logs >= low) & (logs < low + 1) & (np.arange(len(logs)) >= CARRIERS)
        assert corrected[band].mean() == pytest.approx(0.0, abs=0.015)


def test_correcting_helps_by_what_the_known_world_says() -> None:
    """Gain of r: without the trend r is that of dose and noise alone."""
    gains, raws, betters = [], [], []
    for seed in range(20):
        readings = world(seed, trend=0.1)
        (effect,) = frequency_effects(readings, corrected_scores(readings))
        assert (effect.helps.low or 0) > 0
        gains.append(effect.helps.value or 0.0)
        raws.append(effect.r)
        betters.append(effect.corrected_r)
    dose = DOSE**2 * 2 / 3
    rest = 0.05**2 + 0.025**2 / 2
    assert np.mean(betters) == pytest.approx((dose / (dose + rest)) ** 0.5, abs=0.03)
    assert np.mean(raws) == pytest.approx((dose / (dose + rest + 0.1**2 * 0.75)) ** 0.5, abs=0.03)
    assert np.mean(gains) == pytest.approx(np.mean(betters) - np.mean(raws))


@pytest.mark.slow
def test_where_frequency_does_nothing_no_gain_is_claimed() -> None:
    claimed = []
    for seed in range(60):
        readings = world(100 + seed, trend=0.0)
        (effect,) = frequency_effects(readings, corrected_scores(readings))
        claimed.append((effect.helps.low or 0) > 0)
    assert np.mean(claimed) <= 0.05 + 2 * (0.05 * 0.95 / 60) ** 0.5


def test_a_corrected_score_is_offered_where_it_helps_and_nowhere_else() -> None:
    offered = {
        trend: [curve.measure for curve in analyze(world(5, trend), (), (4,), {}, ()).curves] for trend in (0.1, 0.0)
    }
    assert offered == {0.1: ["dbwa", "dbwa, frequency-corrected"], 0.0: ["dbwa"]}
