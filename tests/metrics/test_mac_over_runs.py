"""The change of MAC over target words and training runs: by hand, and how often placebos differ."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind

from biasgauge.core.geometry import unit_rows
from biasgauge.errors import ParameterError
from biasgauge.metrics import MacChange, MacResult, mac_change, mac_change_over_runs
from biasgauge.vectors import load_default_replicates


def runs(distances: np.ndarray) -> list[MacResult]:
    """MACs from runs × targets × sets."""
    return [MacResult(value=float(run.mean()), distances=tuple(map(tuple, run.tolist()))) for run in distances]


def test_by_hand() -> None:
    """Variances written out as sums over two runs, then three, of four targets with two sets."""
    random = np.random.default_rng(0)
    before, after = random.normal(0.9, 0.1, (2, 4, 2)), random.normal(0.8, 0.1, (3, 4, 2))
    change = mac_change_over_runs(runs(before), runs(after), level=0.9)
    first, second = before.mean(axis=2), after.mean(axis=2)
    difference = [first[:, word].mean() - second[:, word].mean() for word in range(4)]
    value = np.mean(difference)
    of_words = sum((number - value) ** 2 for number in difference) / 3 / 4
    of_runs = [np.var([run.mean() for run in side], ddof=1) / len(side) for side in (first, second)]
    twice = 0.0
    for side in (first, second):
        size = len(side)
        rest = [
            side[run, word] - side[run].mean() - side[:, word].mean() + side.mean()
            for run in range(size)
            for word in range(4)
        ]
        twice += sum(np.square(rest)) / ((size - 1) * 3) / (size * 4)
    variance = max(of_words + sum(of_runs) - twice, of_words, sum(of_runs))
    df = variance**2 / (of_words**2 / 3 + of_runs[0] ** 2 / 1 + of_runs[1] ** 2 / 2)
    assert change.value == pytest.approx(value)
    assert change.df == pytest.approx(df)
    assert change.t == pytest.approx(value / variance**0.5)
    assert change.p_value == pytest.approx(2 * student.sf(abs(value) / variance**0.5, df))
    assert change.interval is not None
    low, high = student.interval(0.9, df, value, variance**0.5)
    assert (change.interval.low, change.interval.high) == pytest.approx((low, high))
    assert change.interval.over == "target words and training runs"
    assert MacChange.from_dict(json.loads(json.dumps(change.to_dict()))).to_dict() == change.to_dict()


def test_runs_without_an_answer_say_why() -> None:
    two = np.random.default_rng(1).normal(0.9, 0.1, (2, 4, 2))
    assert mac_change_over_runs(runs(two), runs(two[:1])).reason == (
        "training runs vary only where each side has at least two"
    )
    assert mac_change_over_runs(runs(two), [*runs(two), MacResult(value=None, reason="no words")]).reason == "no words"
    assert mac_change_over_runs(runs(two[:, :1]), runs(two[:, :1])).reason is not None
    same = np.repeat(two[:1], 2, axis=0)
    assert mac_change_over_runs(runs(same), runs(same)).reason == "all differences are the same"
    with pytest.raises(ParameterError, match="same targets and sets"):
        mac_change_over_runs(runs(two), runs(two[:, :3]))


def placebo(size: int, targets: int, of_runs: float, of_words: float, worlds: int) -> tuple[float, float]:
    """How often two recipes that differ in nothing but random effects differ at .05: two-way, and the paired t test.

    A run shifts all distances (sd `of_runs`) and each target (sd .02); a recipe shifts targets (sd `of_words`).
    """
    random = np.random.default_rng(2)
    rejected = np.zeros(2)
    for _ in range(worlds):
        words = random.normal(0.9, 0.1, (1, targets, 3))
        sides = [
            words
            + random.normal(0, of_words, (1, targets, 1))
            + random.normal(0, of_runs, (size, 1, 1))
            + random.normal(0, 0.02, (size, targets, 1))
            + random.normal(0, 0.02, (size, targets, 3))
            for _ in range(2)
        ]
        first, second = map(runs, sides)
        p_values = mac_change_over_runs(first, second).p_value, mac_change(first[0], second[0]).p_value
        rejected += [p is not None and p < 0.05 for p in p_values]
    return float(rejected[0] / worlds), float(rejected[1] / worlds)


def test_placebos_differ_no_more_often_than_they_should() -> None:
    two_way, paired = placebo(4, 10, 0.01, 0.02, 200)
    assert two_way <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    assert paired > 0.2  # what the warning without replicates is about


@pytest.mark.calibration
@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("targets", [6, 15])
@pytest.mark.parametrize(("of_runs", "of_words"), [(0.0, 0.0), (0.02, 0.0), (0.01, 0.02), (0.005, 0.05)])
def test_placebos_of_many_kinds(size: int, targets: int, of_runs: float, of_words: float) -> None:
    """At most .05; far below it where only the noise that runs and words share is left."""
    worlds = 1_000
    assert placebo(size, targets, of_runs, of_words, worlds)[0] <= 0.05 + 3 * (0.05 * 0.95 / worlds) ** 0.5


SPLITS = [(0, *rest) for rest in combinations(range(1, 8), 3)]
"""Every way to split eight runs into four and four."""
HALVES = [(0, other) for other in range(1, 4)]
"""Every way to split four runs into two and two."""


@pytest.mark.calibration
@pytest.mark.parametrize(("targets", "sets", "size"), [(6, 2, 15), (30, 3, 8)])
def test_splits_of_real_replicates_differ_no_more_often_than_they_should(targets: int, sets: int, size: int) -> None:
    """Random lists on the shipped replicates, two runs against two: each list is a draw of four run effects."""
    models = [np.asarray(model.vectors[:8_000], np.float64) for model in load_default_replicates()]
    random, rates = np.random.default_rng(1), []
    for _ in range(60):
        rows = random.choice(8_000, targets + sets * size, replace=False)
        units = np.stack([unit_rows(vectors[rows]) for vectors in models])
        cosines = units[:, :targets] @ units[:, targets:].transpose(0, 2, 1)
        every = runs(1 - cosines.reshape(4, targets, sets, size).mean(axis=3))
        p_values = [
            mac_change_over_runs([every[run] for run in split], [every[run] for run in range(4) if run not in split])
            for split in HALVES
        ]
        rates.append(np.mean([(change.p_value or 1.0) <= 0.05 for change in p_values]))
    assert np.mean(rates) <= 0.05 + 3 * np.std(rates) / len(rates) ** 0.5


def test_many_splits_of_one_set_of_runs_may_differ() -> None:
    """Why 3 of 35 splits of the shipped replicates (gender) are no error rate: Welch's t over eight normal numbers."""
    numbers = np.random.default_rng(0).standard_normal((2_000, 8))
    first = np.stack([numbers[:, split] for split in SPLITS])
    second = np.stack([np.delete(numbers, split, axis=1) for split in SPLITS])
    shares = (ttest_ind(first, second, axis=2, equal_var=False).pvalue <= 0.05).mean(axis=0)
    assert shares.mean() == pytest.approx(0.041, abs=0.006)
    assert (shares >= 3 / 35).mean() == pytest.approx(0.13, abs=0.03)
