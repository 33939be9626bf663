"""Intervals of the mixed model and its R²: the textbook, lme4, and simulation with planted faults."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.special import fdtri

from biasgauge.stats import MixedFit, fit_mixed
from biasgauge.stats.mixed_models import r2
from biasgauge.stats.mixed_models.model import Pivot, pivots

GOLDENS = Path(__file__).parent / "goldens" / "lme4"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return runpy.run_path(str(GOLDENS / "make_data.py"))


@pytest.fixture(scope="module")
def goldens() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDENS / "goldens.json").read_text())
    return found


def fit_table(table: dict[str, list[Any]], columns: list[str], groups: str) -> MixedFit:
    x = np.column_stack([np.ones(len(table["y"])), *(table[name] for name in columns)])
    return fit_mixed(table["y"], x, {name: table[name] for name in groups}, ["(Intercept)", *columns])


CASES = {
    "crossed": ("crossed", ["x1", "x2", "x3"], "ab"),
    "three_groups": ("three_groups", ["x1"], "abc"),
    "one_group": ("three_groups", ["x1"], "c"),
}


@pytest.mark.parametrize("name", CASES)
def test_r2_is_that_of_nakagawa(name: str, data: dict[str, Any], goldens: dict[str, Any]) -> None:
    table, columns, groups = CASES[name]
    found, _ = r2(fit_table(data[table](), columns, groups), draws=10)
    golden = goldens[name]["r2"]
    assert found.fixed.value == pytest.approx(golden["fixed"], rel=1e-6)
    assert found.total.value == pytest.approx(golden["total"], rel=1e-6)
    assert {key: one.value for key, one in found.groups.items()} == pytest.approx(golden["groups"], rel=1e-5)


def test_the_interval_of_a_balanced_one_way_layout_is_the_textbook_one() -> None:
    """Searle, Casella & McCulloch 1992, section 3.6: (F / F_high − 1) / n to (F / F_low − 1) / n for the ratio."""
    random = np.random.default_rng(1)
    groups, size = 6, 10
    codes = np.repeat(np.arange(groups), size)
    y = random.normal(0, 1, groups)[codes] + random.normal(size=groups * size)
    fit = fit_mixed(y, np.ones((len(y), 1)), {"g": codes}, ["i"])
    table = y.reshape(groups, size)
    within = table.var(axis=1, ddof=1).mean()
    ratio = size * table.mean(axis=1).var(ddof=1) / within
    low, high = ((ratio / fdtri(groups - 1, groups * (size - 1), tail) - 1) / size * within for tail in (0.975, 0.025))
    assert (fit.random[0].interval.low, fit.random[0].interval.high) == pytest.approx((max(low, 0), high), rel=1e-9)
    between = (size * table.mean(axis=1).var(ddof=1) - within) / size
    assert fit.random[0].variance == pytest.approx(between, rel=1e-8)
    assert fit.random[1].variance == pytest.approx(within, rel=1e-8)


def test_pivots_are_solved_as_brent_does(data: dict[str, Any]) -> None:
    fit = fit_table(data["crossed"](), ["x1", "x2", "x3"], "ab")
    for pivot in pivots(fit.solution).groups:
        assert pivot is not None
        targets = np.array([0.001, 0.2, 1.0, pivot.at(0.0) * 0.999, pivot.at(0.0) * 2])
        roots = [optimize.brentq(lambda r, t=t, p=pivot: p.at(r) - t, 0, 1e12, rtol=1e-12) for t in targets[:-1]]
        assert pivot.solve(targets) == pytest.approx([*roots, 0.0], rel=1e-8)


def simulated(
    random: np.random.Generator, levels: tuple[int, int], variances: tuple[float, float], rows: int
) -> MixedFit:
    x = np.column_stack([np.ones(rows), random.normal(size=(rows, 2))])
    codes = [random.integers(0, size, rows) for size in levels]
    y = x @ [1.0, 0.5, 0.0] + random.normal(size=rows)
    for code, size, variance in zip(codes, levels, variances, strict=True):
        y += random.normal(0, variance**0.5, size)[code]
    return fit_mixed(y, x, dict(zip("ab", codes, strict=True)), ["i", "u", "v"])


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("levels", "variances", "rows"),
    [
        pytest.param((2, 3), (0.5, 0.2), 300, id="few", marks=pytest.mark.slow),
        pytest.param((8, 12), (0.3, 0.02), 400, id="more", marks=pytest.mark.slow),
    ],
)
def test_intervals_cover_and_variances_are_recovered(
    levels: tuple[int, int], variances: tuple[float, float], rows: int
) -> None:
    random = np.random.default_rng(11)
    runs = 400
    truth = {"a": variances[0], "b": variances[1], "residual": 1.0, "u": 0.5, "v": 0.0}
    hits = dict.fromkeys(truth, 0)
    sums = dict.fromkeys(("a", "b", "residual"), 0.0)
    naive = 0
    for _ in range(runs):
        fit = simulated(random, levels, variances, rows)
        assert fit.converged
        intervals = {one.name: one.interval for one in fit.random}
        intervals |= {effect.name: effect.interval for effect in fit.fixed[1:]}
        for name, ends in intervals.items():
            assert ends.low is not None
            assert ends.high is not None
            hits[name] += ends.low <= truth[name] <= ends.high
        for effect in fit.random:
            assert effect.variance is not None
            sums[effect.name] += effect.variance / runs
        # What many packages do: estimate ± 1.96 asymptotic standard errors, here at their largest (2 / levels).
        estimate = fit.random[0].variance
        assert estimate is not None
        naive += abs(estimate - variances[0]) <= 1.96 * estimate * (2 / max(levels[0] - 1, 1)) ** 0.5
    for name, count in hits.items():
        assert 0.92 <= count / runs <= 0.98, name  # 400 runs: standard error 0.011
    assert sums["residual"] == pytest.approx(1.0, abs=0.02)
    if levels[0] > 2:
        assert sums["a"] == pytest.approx(variances[0], rel=0.15)
    else:
        assert naive / runs < 0.9  # the planted fault fails


@pytest.mark.calibration
@pytest.mark.slow
def test_the_intercept_covers_with_three_levels_and_would_not_with_normal_quantiles() -> None:
    random = np.random.default_rng(5)
    runs, hits, normal = 400, 0, 0
    for _ in range(runs):
        codes = np.repeat(np.arange(3), 30)
        y = 1 + random.normal(size=3)[codes] + random.normal(0, 0.5, 90)
        one = fit_mixed(y, np.ones((90, 1)), {"g": codes}, ["i"]).fixed[0]
        assert one.interval.low is not None
        assert one.interval.high is not None
        assert one.estimate is not None
        assert one.se is not None
        hits += one.interval.low <= 1 <= one.interval.high
        normal += abs(one.estimate - 1) <= 1.96 * one.se
    assert 0.92 <= hits / runs <= 0.985
    assert normal / runs < 0.88


@pytest.mark.calibration
@pytest.mark.slow
def test_intervals_of_r2_cover_with_two_and_three_levels() -> None:
    random = np.random.default_rng(2)
    runs = 200
    explained, groups = 0.25, (0.5, 0.2)
    total = explained + sum(groups) + 1
    hits = {"fixed": 0, "a": 0, "b": 0, "total": 0}
    for _ in range(runs):
        found, _ = r2(simulated(random, (2, 3), groups, 400), draws=400, random_state=1)
        shares = {"fixed": found.fixed, **found.groups, "total": found.total}
        truth = {"fixed": explained / total, "a": groups[0] / total, "b": groups[1] / total, "total": 1 - 1 / total}
        for name, share in shares.items():
            assert share.interval.low is not None
            assert share.interval.high is not None
            hits[name] += share.interval.low <= truth[name] <= share.interval.high
    for name, count in hits.items():
        assert 0.91 <= count / runs <= 0.99, name  # 200 runs: standard error 0.015


def test_a_drop_is_the_difference_of_two_fits(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    whole = fit_table(table, ["x1", "x2", "x3"], "ab")
    less = fit_table(table, ["x2"], "ab")
    here, drops = r2(whole, {"both": ["x1", "x3"]}, draws=50, refits=5)
    there, _ = r2(less, draws=50)
    for name in ("fixed", "total"):
        before, after = (getattr(one, name).value for one in (here, there))
        assert getattr(drops["both"], name).value == pytest.approx(before - after, abs=1e-8)


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("levels", [(2, 3), (6, 8)], ids=str)
def test_intervals_of_drops_cover(levels: tuple[int, int]) -> None:
    random = np.random.default_rng(4)
    runs, hits = 150, np.zeros(2)
    for _ in range(runs):
        fit = simulated(random, levels, (0.5, 0.2), 400)
        _, drops = r2(fit, {"u": ["u"]}, draws=100, refits=100, random_state=1)
        for side, share in enumerate((drops["u"].fixed, drops["u"].total)):
            assert share.interval.low is not None
            assert share.interval.high is not None
            hits[side] += share.interval.low <= 0.25 / 1.95 <= share.interval.high
    assert (hits / runs > 0.88).all()  # 150 runs: standard error 0.018


@pytest.mark.parametrize("seed", range(60))
def test_a_variance_ratio_is_found_where_rounding_leaves_the_root_at_an_end(seed: int) -> None:
    """All of a group's effects lie along one direction, so that the root is an end of its bracket."""
    random = np.random.default_rng(seed)
    squares = [random.uniform(1, 9), 0.0]
    pivot = Pivot(random.uniform(1, 9, 2), np.array(squares if seed % 2 else squares[::-1]), 5)
    target = pivot.at(0.0) * random.uniform(0.1, 0.9)
    assert pivot.at(pivot.solve(np.array([target]))[0]) == pytest.approx(target, rel=1e-9)
