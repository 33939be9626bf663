"""Dose-response lines, limits of blank and detection, inverse calibration: against simulation and other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats as distributions

from biasgauge.errors import ParameterError
from biasgauge.stats.detection import NO_SLOPE, Z, detection_between, detection_limits, dose_of_score
from biasgauge.stats.dose_response import dose_response
from biasgauge.stats.slopes import robust_slope

if TYPE_CHECKING:
    from biasgauge.arrays import Floats

LEVELS = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [15, 15, 40, 15, 15])
CARRIER, PLANTING, RUN, SHIFT = 0.5, 0.3, 0.4, 0.1


def world(
    random: np.random.Generator, *, slope: float = 0.4, draws: int = 3, runs: int = 2, bend: float = 0.0
) -> tuple[Floats, Floats]:
    """Scores of carriers with doses dealt anew in every draw, from known variances."""
    doses = np.stack([random.permutation(LEVELS) for _ in range(draws)], axis=1)
    lasting = random.normal(0, CARRIER, (len(LEVELS), 1)) + random.normal(0, PLANTING, doses.shape)
    scores = 0.2 + slope * doses + bend * doses * np.abs(doses) + lasting
    noise = random.normal(0, RUN, (*doses.shape, runs)) + random.normal(0, SHIFT, (1, draws, runs))
    return scores[:, :, None] + noise, doses


def test_variances_and_slope_are_found_again() -> None:
    random = np.random.default_rng(0)
    fits = [dose_response(*(w := world(random)), w[1]) for _ in range(25)]
    for name, truth in (("carrier", CARRIER), ("planting", PLANTING), ("run", RUN)):
        mean = np.mean([getattr(fit.variances, name) for fit in fits])
        assert mean == pytest.approx(truth**2, rel=0.12), name
    assert np.mean([fit.variances.shift for fit in fits]) == pytest.approx(SHIFT**2, rel=0.6)
    assert np.mean([fit.slope.value for fit in fits]) == pytest.approx(0.4, abs=0.02)
    held = np.mean([(fit.slope.low or 0) <= 0.4 <= (fit.slope.high or 0) for fit in fits])
    assert held > 0.8  # 25 worlds at a level of .95
    assert np.mean([fit.variances.dose for fit in fits]) == pytest.approx(0.16 * LEVELS.var(), rel=0.1)


def test_with_one_draw_the_line_is_least_squares() -> None:
    scores, doses = world(np.random.default_rng(1), draws=1, runs=1)
    fit = dose_response(scores, doses, doses)
    oracle = distributions.linregress(doses[:, 0], scores[:, 0, 0])
    assert fit.slope.value == pytest.approx(oracle.slope, rel=1e-9)
    assert fit.intercept == pytest.approx(oracle.intercept, rel=1e-9)
    assert fit.covariance[1][1] ** 0.5 == pytest.approx(oracle.stderr, rel=1e-9)
    assert fit.variances.planting is None
    assert fit.variances.run is None


@pytest.mark.calibration
def test_tests_of_shape_reject_a_line_as_often_as_they_say() -> None:
    random = np.random.default_rng(2)
    fits = [dose_response(*(w := world(random)), w[1]) for _ in range(80)]
    for name in ("p_bend", "p_sides", "p_lack_of_fit"):
        share = np.mean([(getattr(fit, name) or 1.0) < 0.05 for fit in fits])
        assert share < 0.05 + 4 * (0.05 * 0.95 / 80) ** 0.5, name
    assert np.mean([fit.saturating is True for fit in fits]) < 0.1
    assert np.mean([fit.monotone is True for fit in fits]) > 0.9


def test_a_bend_is_seen() -> None:
    scores, doses = world(np.random.default_rng(3), slope=0.8, bend=-0.2)
    fit = dose_response(scores, doses, doses)
    assert fit.saturating is True
    assert fit.p_lack_of_fit is not None
    assert fit.p_lack_of_fit < 0.05


def test_a_fall_is_not_monotone() -> None:
    random = np.random.default_rng(4)
    scores, doses = world(random, slope=0.0)
    shape = {-2.0: 0.0, -1.0: 2.0, 0.0: 0.5, 1.0: 2.5, 2.0: 4.0}
    fit = dose_response(scores + np.vectorize(shape.get)(doses)[:, :, None], doses, doses)
    assert fit.follows
    assert fit.monotone is False


def test_no_slope_detects_nothing() -> None:
    scores, doses = world(np.random.default_rng(5), slope=0.0)
    fit = dose_response(scores, doses, doses)
    limits = detection_limits(scores, doses, doses, fit)
    assert all(limit.detection.value is None and limit.detection.reason == NO_SLOPE for limit in limits)
    assert dose_of_score(1.0, fit).reason == NO_SLOPE
    assert fit.monotone is None
    assert fit.saturating is None


@pytest.mark.calibration
def test_limits_are_those_of_the_known_world_and_their_intervals_hold_them() -> None:
    """Currie: with equal variances the limit of detection is 2 · 1.645 · sd / slope."""
    random = np.random.default_rng(6)
    for words in (1, 16):
        sd = ((CARRIER**2 + PLANTING**2 + RUN**2) / words + SHIFT**2) ** 0.5
        blanks = len(LEVELS) * (1 - 0.6**3)  # carriers that are a blank in at least one of three draws
        known = ((CARRIER**2 + PLANTING**2 + RUN**2) / blanks + SHIFT**2 / 6) ** 0.5  # error of the mean of the blanks
        truth, held, values, above = Z * (sd + (sd**2 + known**2) ** 0.5) / 0.4, [], [], []
        for _ in range(50):
            scores, doses = world(random)
            fit = dose_response(scores, doses, doses)
            limit = detection_limits(scores, doses, doses, fit, words=(words,), resamples=300)[0]
            values.append(limit.detection.value)
            held.append((limit.detection.low or 0) <= truth <= (limit.detection.high or np.inf))
            new = random.normal(0.2, sd, 200)
            above.append(np.mean(new > limit.blank))
        assert np.mean(values) == pytest.approx(truth, rel=0.05)
        assert np.mean(held) > 0.95 - 0.05 - 4 * (0.05 * 0.95 / 50) ** 0.5  # the shift of runs is not resampled
        assert np.mean(above) == pytest.approx(0.05, abs=0.015)  # blanks exceed the limit of blank in 5 %


def test_limits_of_two_sides_differ_where_slopes_do() -> None:
    random = np.random.default_rng(7)
    scores, doses = world(random)
    scores = scores + 0.3 * np.maximum(doses, 0)[:, :, None]
    fit = dose_response(scores, doses, doses)
    first, second = detection_limits(scores, doses, doses, fit)
    assert fit.p_sides is not None
    assert fit.p_sides < 0.05
    assert (first.side, second.side) == ("first", "second")
    assert (first.detection.value or 0) < 0.8 * (second.detection.value or 0)
    assert first.blank > 0.2 > second.blank


def test_the_dose_of_a_score_is_fiellers() -> None:
    """Fieller's ends satisfy the equation of the band exactly."""
    scores, doses = world(np.random.default_rng(8))
    fit = dose_response(scores, doses, doses)
    dose = dose_of_score(1.0, fit, words=4, runs=2, level=0.9)
    slope = fit.slope.value or 0
    assert dose.value == pytest.approx((1.0 - fit.intercept) / slope)
    t = distributions.t.ppf(0.95, fit.df)
    for end in (dose.low, dose.high):
        assert end is not None
        design = np.array([1.0, end])
        variance = fit.variances.of_mean(4, 2) + design @ np.array(fit.covariance) @ design
        assert (1.0 - fit.intercept - slope * end) ** 2 == pytest.approx(t**2 * variance, rel=1e-9)


def test_a_limit_between_doses_is_where_the_lines_cross() -> None:
    doses = np.array([0.0, 1.0, 2.0])
    rows = [np.column_stack([np.repeat([0, 1], 50), mean + np.tile([-0.1, 0.1], 50)]) for mean in (0.0, 0.2, 0.8)]
    found = detection_between(doses, rows)
    sd = rows[0][:, 1].std(ddof=1)
    assert found.blank == pytest.approx(Z * sd)
    assert found.detection.value == pytest.approx(1 + (2 * Z * sd - 0.2) / 0.6)
    assert (found.detection.low or 0) <= (found.detection.value or 0) <= (found.detection.high or np.inf)
    falling = detection_between(doses, [row * [1, -1] for row in rows])
    assert falling.blank == pytest.approx(-Z * sd)
    assert falling.detection.value == pytest.approx(found.detection.value)
    nothing = detection_between(doses, [rows[0], rows[0], rows[0]])
    assert nothing.detection.value is None
    assert nothing.detection.reason == "no dose that was given is detected; the largest is 2.00"


def test_a_robust_slope_is_that_of_statsmodels() -> None:
    import statsmodels.api as sm

    random = np.random.default_rng(9)
    x = random.uniform(0, 3, 50)
    y = 1 + 2 * x + random.normal(0, 0.2 + x)
    oracle = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    found = robust_slope(x, y)
    assert found.value == pytest.approx(oracle.params[1], rel=1e-10)
    assert [found.low, found.high] == pytest.approx(oracle.conf_int()[1].tolist(), rel=1e-8)
    assert robust_slope(np.ones(5), np.arange(5.0)).reason == "a slope takes four points that differ"


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ParameterError, match="units × draws × runs"):
        dose_response(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="doses must differ"):
        dose_response(np.zeros((3, 2, 1)), np.ones((3, 2)), np.ones((3, 2)))
