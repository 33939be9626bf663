"""Strata kept apart: against pingouin, statsmodels and slow formulas."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasgauge.analyses.correlate import correlate
from biasgauge.results.wording import signed_text
from biasgauge.stats import Resampling, levels
from biasgauge.stats.strata import random_slopes, within_r

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

HOW = Resampling(resamples=300)


def strata(seed: int, number: int, each: int, slope_sd: float = 0.3) -> tuple[Floats, Floats, Any]:
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(number), each)
    x = random.standard_normal(len(codes)) * 2 + 5 + 0.3 * codes
    lines = random.standard_normal(number), slope_sd * random.standard_normal(number)
    return x, 3 + 0.4 * x + lines[0][codes] + lines[1][codes] * x + random.standard_normal(len(codes)), codes


def paradox(each: int = 30) -> tuple[Floats, Floats, Any]:
    """Falls within every stratum, rises from stratum to stratum."""
    random = np.random.default_rng(0)
    codes = np.repeat(np.arange(5), each)
    x = 2.0 * codes + random.standard_normal(len(codes))
    return x, 3.0 * codes - 0.8 * (x - 2.0 * codes) + 0.5 * random.standard_normal(len(codes)), codes


def test_within_is_the_repeated_measures_correlation_of_pingouin() -> None:
    pingouin = pytest.importorskip("pingouin")
    x, y, codes = strata(1, 6, 9)
    found = levels(x, y, codes, None, HOW).within_r
    frame = pd.DataFrame({"x": x, "y": y, "s": codes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas' and statsmodels' own
        expected = pingouin.rm_corr(frame, x="x", y="y", subject="s").iloc[0]
    assert found.value == pytest.approx(float(expected["r"]), abs=1e-10)
    assert found.p == pytest.approx(float(expected.filter(like="p").iloc[0]), rel=1e-6)


def test_within_slope_is_that_of_dummies() -> None:
    x, y, codes = strata(2, 5, 7)
    design = np.column_stack([x, np.eye(5)[codes]])
    expected, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    error = float(np.sqrt(rest[0] / (35 - 6) * np.linalg.inv(design.T @ design)[0, 0]))
    found = levels(x, y, codes, None, HOW).within_slope
    assert found.value == pytest.approx(expected[0], abs=1e-10)
    assert found.high == pytest.approx(expected[0] + stats.t.ppf(0.975, 29) * error, abs=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(expected[0]) / error, 29), rel=1e-8)


def test_weights_within_strata_are_repeated_points() -> None:
    x, y, codes = strata(3, 4, 6)
    weights = np.random.default_rng(0).multinomial(24, np.full(24, 1 / 24), size=20)
    found = within_r(x, y, codes, weights.astype(float))
    for row, value in zip(weights, found.tolist(), strict=True):
        a, b, s = (np.repeat(one, row) for one in (x, y, codes))
        da, db = (one - np.array([one[s == own].mean() for own in s]) for one in (a, b))
        assert value == pytest.approx((da @ db) / np.sqrt((da @ da) * (db @ db)), abs=1e-12)


def test_between_is_the_correlation_of_means() -> None:
    x, y, codes = strata(4, 8, 5)
    found = levels(x, y, codes, None, HOW).between_r
    expected = stats.pearsonr([x[codes == s].mean() for s in range(8)], [y[codes == s].mean() for s in range(8)])
    assert (found.value, found.p, found.n) == pytest.approx((expected.statistic, expected.pvalue, 8), abs=1e-10)
    two = levels(x[:10], y[:10], codes[:10], None, HOW).between_r
    assert two.reason == "means of strata: a correlation takes 3 points or more, and there are 2"


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_random_slopes_are_those_of_statsmodels(seed: int) -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    x, y, codes = strata(seed, 12, 10)
    frame = pd.DataFrame({"x": x - x.mean(), "y": y, "s": codes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its optimizer complains on its way
        model = formula.mixedlm("y ~ x", frame, groups="s", re_formula="~x")
        # Each of its optimizers stops short of the optimum for some seed.
        expected = max((model.fit(method=method) for method in ("lbfgs", "nm")), key=lambda fit: fit.llf)
    found = random_slopes(x, y, codes)
    assert found is not None
    assert found.criterion <= -2 * expected.llf + 1e-4
    assert found.criterion == pytest.approx(-2 * expected.llf, abs=1e-3)
    assert found.slope == pytest.approx(expected.params["x"], abs=1e-3)
    spreads = np.sqrt(np.diag(expected.cov_re))
    assert (found.intercept_sd, found.slope_sd) == pytest.approx(tuple(spreads), rel=0.02)
    assert found.residual_sd == pytest.approx(expected.scale**0.5, rel=1e-3)


def test_random_intercepts_are_those_of_statsmodels() -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    x, y, codes = strata(6, 9, 8, slope_sd=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = formula.mixedlm("y ~ x", pd.DataFrame({"x": x, "y": y, "s": codes}), groups="s").fit()
    found = levels(x, y, codes, None, HOW).random_intercept
    assert found.value == pytest.approx(expected.params["x"], abs=1e-4)


def test_slopes_that_do_not_differ_and_exact_lines() -> None:
    x, _, codes = strata(7, 10, 12)
    random = np.random.default_rng(11)
    spread = [random_slopes(x, 0.4 * x + random.standard_normal(120), codes) for _ in range(6)]
    assert any(one is not None and one.slope_sd < 0.02 for one in spread)  # at or near the boundary half of the time
    assert random_slopes(x, 2 * x + codes, codes) is None
    exact = levels(x, 2 * x + codes, codes, None, HOW)
    assert exact.random_slope.reason == "all points lie on lines"
    assert exact.within_slope.reason == "all points lie on lines"


@pytest.mark.calibration
def test_the_mean_slope_is_covered() -> None:
    random = np.random.default_rng(12)
    held = 0
    for _ in range(80):
        codes = np.repeat(np.arange(8), 10)
        x = random.standard_normal(80)
        y = random.standard_normal(8)[codes] + (0.5 + 0.5 * random.standard_normal(8)[codes]) * x
        fit = levels(x, y + random.standard_normal(80), codes, None, Resampling(resamples=1)).random_slope
        held += (fit.low or 0) <= 0.5 <= (fit.high or 0)
    assert abs(held / 80 - 0.95) < 3.5 * 0.0244


def test_few_strata_have_no_random_slope() -> None:
    x, y, codes = strata(8, 4, 10)
    found = levels(x, y, codes, None, HOW)
    assert found.random_slope.value is None
    assert found.random_slope.reason == "slopes that differ between strata take 5 strata of 3 points; there are 4"
    assert found.slope_sd is None


def test_strata_that_differ_by_cochrans_test() -> None:
    x, y, codes = strata(9, 3, 20)
    y[codes == 0] = -x[codes == 0] + 0.5 * np.random.default_rng(0).standard_normal(20)
    found = levels(x, y, codes, None, HOW)
    z = np.array([np.arctanh(stats.pearsonr(x[codes == s], y[codes == s]).statistic) for s in range(3)])
    q = float((17 * (z - z.mean()) ** 2).sum())
    assert (found.q, found.q_df) == pytest.approx((q, 2))
    assert found.q_p == pytest.approx(stats.chi2.sf(q, 2))
    assert found.i2 == pytest.approx((q - 2) / q)


@pytest.mark.calibration
def test_cochrans_test_is_uniform_where_strata_are_alike() -> None:
    random = np.random.default_rng(13)
    p = []
    for _ in range(250):
        x = random.standard_normal(60)
        y = 0.5 * x + random.standard_normal(60)
        p.append(levels(x, y, np.repeat(np.arange(3), 20), None, Resampling(resamples=1)).q_p)
    assert abs(np.mean(np.array(p) < 0.05) - 0.05) < 3.5 * 0.0138


def test_simpsons_paradox_is_said() -> None:
    x, y, codes = paradox()
    frame = pd.DataFrame({"weat": x, "gap": y, "method": [f"m{one}" for one in codes]})
    found = correlate(frame, "weat", "gap", ["method"], resamples=300)
    assert found.levels is not None
    assert found.pooled.r is not None
    assert found.levels.within_r.value is not None
    assert found.pooled.r > 0.8
    assert found.levels.within_r.value < -0.6
    within = found.levels.within_r.value
    over, inside = (signed_text(r, 2) for r in (found.pooled.r, within))
    told = f"Simpson's paradox: over all points r = {over}, but within strata {inside}. Both"
    assert found.readings[0].startswith(told)
    assert "Both intervals exclude 0" in found.readings[0]
    assert any("between their means +1.00 (5 means)" in one for one in found.readings)
    assert found.levels.random_slope.value == pytest.approx(-0.8, abs=0.15)


def test_a_turn_that_may_be_chance_is_said_to_be() -> None:
    x, y, codes = paradox(4)
    y = y + 12 * np.random.default_rng(3).standard_normal(20)
    frame = pd.DataFrame({"weat": x, "gap": y, "method": codes})
    found = correlate(frame, "weat", "gap", ["method"], resamples=300)
    assert found.levels is not None
    assert (found.pooled.r or 0) * (found.levels.within_r.value or 0) < 0
    assert found.readings[0].startswith("The sign turns: over all points r = ")
    assert "that may be chance" in found.readings[0]
    ranks = correlate(frame, "weat", "gap", ["method"], method="spearman", resamples=300)
    assert ranks.readings[0] == found.readings[0]  # levels are Pearson's, whatever r is


def test_one_sign_is_no_paradox() -> None:
    x, y, codes = strata(10, 3, 15)
    found = correlate(pd.DataFrame({"x": x, "y": y, "s": codes}), "x", "y", ["s"], resamples=100)
    assert not any("Simpson" in one for one in found.readings)


def test_units_leave_only_what_knows_them() -> None:
    x, y, codes = strata(14, 6, 12)
    units = np.arange(72) // 3
    found = levels(x, y, codes, units, HOW)
    plain = levels(x, y, codes, None, HOW)
    assert found.within_r.value == plain.within_r.value
    assert found.within_r.over == "units"
    for name in ("within_r", "within_slope", "between_r", "random_intercept", "random_slope"):
        assert getattr(found, name).p is None
        assert "share units" in getattr(found, name).to_dict()["reason"]
    assert found.q_p is None


def test_strata_without_spread() -> None:
    codes = np.repeat(np.arange(3), 2)
    found = levels(codes.astype(float), np.arange(6.0), codes, None, HOW)
    assert found.within_r.value is None
    assert found.within_slope.value is None
    assert found.q is None
    assert found.within_r.reason is not None
