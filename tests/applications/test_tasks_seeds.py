"""What seeds make of a gap: how far it moves, with an interval, in plain words; results from JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasgauge.analyses.correlate import correlate
from biasgauge.applications.task import TaskGap, TaskResult, as_task, read_task, seed_readings
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import sd_over_seeds
from biasgauge.stats.means import sd_estimate

if TYPE_CHECKING:
    from pathlib import Path


def gap(*values: float, metric: str = "recall") -> TaskGap:
    sd = sd_over_seeds(np.array(values), 0.95)
    about: dict[str, Any] = {
        "metric": metric,
        "positive_class": "toxic",
        "a": "men",
        "b": "women",
        "n_a": 50,
        "n_b": 60,
    }
    return TaskGap(value=float(np.mean(values)), sd=sd, values=values, **about)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_the_interval_of_a_standard_deviation_against_the_textbook(seeds: int, level: float) -> None:
    """(k − 1) s² / σ² is chi-square with k − 1 degrees of freedom."""
    found = sd_estimate(0.04, seeds, level)
    tails = stats.chi2.ppf([(1 + level) / 2, (1 - level) / 2], seeds - 1)
    assert (found.low, found.high) == pytest.approx(tuple(0.04 * np.sqrt((seeds - 1) / tails)))
    assert (found.level, found.over) == (level, "seeds")
    assert "chi-square" in found.method


@pytest.mark.calibration
def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    drawn = random.normal(0.1, 0.05, (2_000, 4)).std(axis=1, ddof=1)
    ends = [sd_estimate(float(one), 4, 0.95) for one in drawn]
    share = np.mean([(one.low or 0) <= 0.05 <= (one.high or 0) for one in ends])
    assert share == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 2_000) ** 0.5)


def test_seeds_that_agree_to_the_last_digit_have_no_interval() -> None:
    found = gap(0.25, 0.25, 0.25)
    assert found.sd is not None
    assert (found.sd.value, found.sd.low, found.sd.reason) == (0, None, "every seed gives the same value")
    assert gap(0.2).sd is None


def test_plain_sentences() -> None:
    (one,) = seed_readings([gap(0.2)], 1)
    assert one.startswith("One model was trained: the variation of the gaps over seeds is unknown")
    steady, turning = gap(0.2, 0.22, 0.21), gap(0.1, -0.05, 0.02, metric="precision")
    moved, turned, icc = seed_readings([steady, turning], 3)
    assert (
        "the gap that varies most is precision of toxic, men − women: +0.023 with a standard deviation of 0.075"
        in moved
    )
    assert turned == (
        "1 of 2 gaps changes its sign from seed to seed (precision of toxic, men − women): no property of the vectors."
    )
    assert "takes several embeddings: biasgauge correlate --seed-column" in icc
    assert seed_readings([steady], 3)[1] == "No gap changes its sign from seed to seed."
    assert seed_readings([replace(steady, value=None)], 3) == ()


@pytest.mark.parametrize(("noise", "reliable"), [(0.1, True), (3.0, False)])
def test_a_gap_that_moves_with_the_seed_is_called_unreliable(noise: float, reliable: bool) -> None:  # noqa: FBT001
    """The true reliability of a mean over two seeds is 1 / (1 + noise² / 2): .995 and .18."""
    random = np.random.default_rng(1)
    true = random.standard_normal(200)
    rows = [(at, true[at], seed, true[at] + noise * random.standard_normal()) for at in range(200) for seed in range(2)]
    frame = pd.DataFrame(rows, columns=["name", "weat", "seed", "gap"])
    found = correlate(frame, "weat", "gap", unit="name", seed_column="seed", resamples=50)
    held = found.pooled.reliability
    assert held is not None
    assert held.mean.value == pytest.approx(1 / (1 + noise**2 / 2), abs=0.15)
    assert found.readings[-1] == held.reading
    assert held.reading.startswith("'gap' is not reliable: as a mean over 2 task seeds") != reliable
    assert ("hardly any correlation can be seen" in held.reading) != reliable
    assert f"r = {held.r_max.value:.2f} at most" in held.reading


def result(*gaps: TaskGap) -> TaskResult:
    return TaskResult("csv", "texts", "v.bin", (), gaps, (), {"men": 50}, {}, {"level": 0.95}, ("beware",))


def test_a_result_comes_back_from_its_json(tmp_path: Path) -> None:
    before = result(gap(0.1, -0.05, 0.02), gap(0.2, 0.2))
    path = tmp_path / "task.json"
    path.write_text(json.dumps({**before.to_dict(), "version": "0.1"}))
    assert read_task(path) == before
    assert as_task(before) is before
    assert as_task(str(path)) == before


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a result of a task"),
        ('{"groups": []}', "task is missing"),
        ('{"task": 3}', "task must be text. Got 3"),
        ("null", "must be an object with keys. Got None"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_other_files_get_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence) as caught:
        read_task(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("keys", "value", "sentence"),
    [
        (("settings",), {}, "settings.level must be a number. Got 'nothing'"),
        (("settings", "level"), "abc", "settings.level must be a number. Got 'abc'"),
        (("settings", "level"), 95, "The 'level' of an interval must lie between 0 and 1. Got 95"),
        (("settings", "rate"), [float("inf")], r"settings.rate\[0\] must be a finite number. Got inf"),
        (("counts",), "abc", "counts must be an object with keys. Got 'abc'"),
        (("counts", "men"), 1.5, "counts.men must be a whole number. Got 1.5"),
        (("gaps",), {}, "gaps must be a list"),
        (("gaps", 0, "value"), float("nan"), r"gaps\[0\].value must be a finite number"),
        (("gaps", 0, "values", 1), float("nan"), r"gaps\[0\].values\[1\] must be a finite number"),
        (("gaps", 0, "value"), 10**400, r"gaps\[0\].value must be a number. Got 1000"),
        (("gaps", 0, "n_a"), None, r"gaps\[0\].n_a must be a whole number. Got None"),
        (("gaps", 0, "metric"), 5, r"gaps\[0\].metric must be text. Got 5"),
        (("gaps", 0, "interval", "low"), "x", r"gaps\[0\].interval.low must be a number. Got 'x'"),
        (("gaps", 0, "sd_interval"), 3, r"gaps\[0\].sd_interval must be an object with keys. Got 3"),
        (("warnings",), [3], r"warnings\[0\] must be text. Got 3"),
    ],
)
def test_what_does_not_belong_at_a_key_is_named(
    tmp_path: Path, keys: tuple[str | int, ...], value: object, sentence: str
) -> None:
    known = replace(gap(0.1, 0.2), low=0.0, high=0.3, method="bca", resamples=200, over="items")
    content: Any = result(known).to_dict()
    at = content
    for key in keys[:-1]:
        at[key] = list(at[key]) if isinstance(at[key], tuple) else at[key]
        at = at[key]
    at[keys[-1]] = value
    path = tmp_path / "task.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=sentence) as caught:
        read_task(path)
    assert str(caught.value).startswith(str(path))


def test_a_number_that_is_none_is_named(tmp_path: Path) -> None:
    content = result(gap(0.1, 0.2)).to_dict()
    content["gaps"][0]["value"] = "much"
    path = tmp_path / "task.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="'much'"):
        read_task(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_task(tmp_path / "nowhere.json")
    with pytest.raises(ParameterError, match="Got int"):
        as_task(3)
