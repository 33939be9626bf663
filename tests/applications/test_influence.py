"""Which units make a correlation: every number against a slow look, intervals and expectations by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasgauge.analyses.correlate import CorrelationResult, correlate
from biasgauge.analyses.correlate.influence import influence
from biasgauge.stats import Resampling

HOW = Resampling("percentile", 0.95, 400, 0)
NAMES = ("weat", "gap")


def units(number: int, random: np.random.Generator, slope: float = 0.5) -> tuple[Any, Any, list[str]]:
    """Three points a unit, which share part of both numbers."""
    x = np.repeat(random.standard_normal(number), 3) + 0.3 * random.standard_normal(3 * number)
    y = slope * x + np.repeat(random.standard_normal(number), 3) + 0.3 * random.standard_normal(3 * number)
    return x, y, [f"e{at // 3}" for at in range(3 * number)]


def test_every_number_is_what_a_slow_look_gives() -> None:
    x, y, names = units(9, np.random.default_rng(0))
    found = influence(x, y, names, NAMES, HOW)
    assert found is not None
    assert sum(one.share for one in found.units) == pytest.approx(1)
    assert [one.share for one in found.units] == sorted((one.share for one in found.units), reverse=True)
    gone: set[str] = set()
    for place, one in enumerate(found.units):
        gone.add(one.unit)
        own = np.array([name == one.unit for name in names])
        left = np.array([name not in gone for name in names])
        assert one.points == 3
        assert one.share == pytest.approx(((x - x.mean()) ** 2)[own].sum() / ((x - x.mean()) ** 2).sum())
        assert one.r_without == pytest.approx(np.corrcoef(x[~own], y[~own])[0, 1])
        if len(found.units) - place - 1 >= 5:
            assert one.r_left == pytest.approx(np.corrcoef(x[left], y[left])[0, 1])
        else:
            assert one.r_left is None
    total = np.cumsum([one.share for one in found.units])
    number = len(found.ends)
    assert total[number - 1] >= 0.5
    assert number == 1 or total[number - 2] < 0.5
    left = np.array([name not in found.ends for name in names])
    assert found.r_left == pytest.approx(np.corrcoef(x[left], y[left])[0, 1])
    assert (found.slope.value, found.slope_left.value) == pytest.approx(
        (np.polyfit(x, y, 1)[0], np.polyfit(x[left], y[left], 1)[0])
    )
    r, ratio = np.corrcoef(x, y)[0, 1], x[left].var() / x.var()
    assert found.r_expected == pytest.approx(r * ratio**0.5 / (1 - r**2 + r**2 * ratio) ** 0.5)


def test_one_point_far_out_that_makes_r_is_named() -> None:
    random = np.random.default_rng(1)
    x, y = np.append(random.standard_normal(19), 30.0), np.append(random.standard_normal(19), 20.0)
    table = pd.DataFrame({"weat": x, "gap": y, "name": [f"e{at}" for at in range(20)]})
    found = correlate(table, "weat", "gap", unit="name")
    assert found.pooled.r is not None
    assert found.pooled.r > 0.9
    assert found.influence is not None
    assert found.influence.ends == ("e19",)
    assert found.influence.units[0].unit == "e19"
    assert abs(found.influence.r_left or 1) < 0.4
    told = found.readings[0]
    assert told.startswith("Half of the sum of squares of 'weat' comes from 'e19' alone. Without it r is ")
    assert found.influence_frame()["unit"].tolist()[0] == "e19"
    unnamed = correlate(table, "weat", "gap")
    assert "from 'point 20' alone" in unnamed.readings[0]
    several = correlate(table[:19], "weat", "gap").readings[0]
    assert " of 19 points. Without them r is " in several
    assert CorrelationResult.from_dict(found.to_dict()).influence == found.influence


def test_a_straight_line_keeps_its_slope_and_leaves_what_is_expected_of_r() -> None:
    random = np.random.default_rng(2)
    slopes, lost = [], []
    for _ in range(300):
        x = random.standard_t(4, 60)
        found = influence(x, 0.8 * x + random.standard_normal(60), None, NAMES, Resampling("percentile", 0.95, 20, 0))
        assert found is not None
        assert found.r_left is not None
        assert found.r_expected is not None
        assert found.slope_left.value is not None
        slopes.append(found.slope_left.value)
        lost.append(found.r_left - found.r_expected)
    assert np.mean(slopes) == pytest.approx(0.8, abs=3 * np.std(slopes) / 300**0.5)
    assert np.mean(lost) == pytest.approx(0, abs=0.02)


def test_intervals_of_slopes_hold_the_truth_over_units() -> None:
    """As if points were independent, the same intervals would hold it in about 80 of 100."""
    random = np.random.default_rng(3)
    whole = left = 0
    for _ in range(250):
        found = influence(*units(30, random), NAMES, HOW)
        assert found is not None
        whole += (found.slope.low or 9) <= 0.5 <= (found.slope.high or -9)
        left += (found.slope_left.low or 9) <= 0.5 <= (found.slope_left.high or -9)
    assert 0.89 <= whole / 250 <= 0.985
    assert 0.88 <= left / 250 <= 0.985


def test_where_it_cannot_be_said_nothing_is() -> None:
    random = np.random.default_rng(4)
    x, y, names = units(6, random)
    assert influence(x, y, names, NAMES, HOW) is None
    assert influence(np.ones(20), random.standard_normal(20), None, NAMES, HOW) is None
    flat = np.append(np.full(8, 2.0), [3.0, 5.0])
    left = influence(flat, random.standard_normal(10), None, NAMES, HOW)
    assert left is not None
    assert [one.r_left for one in left.units[1:]] == [None] * 9, "x is the same in all that are left"
    assert None not in [one.r_without for one in left.units]
    wide = np.append(random.standard_normal(4) * 1e-3, np.array([4.0, -4.0, 4.0]))
    few = influence(wide, random.standard_normal(7), None, NAMES, HOW)
    assert few is not None
    assert few.r_left == few.units[len(few.ends) - 1].r_left
    assert (few.reading == "") == (few.r_left is None)
