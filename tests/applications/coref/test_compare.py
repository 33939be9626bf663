"""Two embeddings on the same pairs of sentences: whether the gap of WinoBias differs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from biasgauge.applications.coref.scores import all_sums
from biasgauge.applications.coref.task import compare_pairs, summarize
from biasgauge.applications.coref.winobias_pairs import PAIRED, paired_gaps
from biasgauge.applications.task import PairedItems, TaskResult
from biasgauge.applications.task_runs import compare_tasks
from biasgauge.errors import ParameterError
from biasgauge.stats import Resampling, bootstrap_settings

HOW = bootstrap_settings("test", method="percentile", level=0.95, resamples=4_000, random_state=0)
GOLD = (((0, 0), (2, 2)),)
WRONG = (((1, 1), (2, 2)),)


def resolved(right: np.ndarray) -> np.ndarray:
    """Sums of sentences with a person, another and a pronoun, each resolved rightly or not: (…, METRICS, SUMS)."""
    flat = [GOLD if one else WRONG for one in right.ravel()]
    sums = all_sums([GOLD] * len(flat), flat)
    return sums.reshape(*right.shape, *sums.shape[1:])


def answers(chances: tuple[float, float], pairs: int, seed: int) -> np.ndarray:
    """Pairs × (pro, anti): right or not."""
    return np.random.default_rng(seed).random((pairs, 2)) < np.array(chances)


def test_the_difference_is_that_of_two_gaps() -> None:
    """Each gap, with all of its metrics, by the function for one embedding."""
    first, second = (resolved(answers(one, 80, seed)) for one, seed in (((0.8, 0.5), 1), ((0.7, 0.65), 2)))
    gaps = [paired_gaps(one, "test 1", ("pro", "anti"), HOW) for one in (first, second)]
    found = compare_pairs(first, second, "test 1", HOW)
    assert [one.metric for one in found] == list(PAIRED)
    for change, one, other in zip(found, *gaps, strict=True):
        assert (change.a, change.b) == ("pro", "anti")
        assert (one.value, other.value) == pytest.approx((100 * (change.first or 0), 100 * (change.second or 0)))
        assert change.value == pytest.approx(((other.value or 0) - (one.value or 0)) / 100)


def test_the_interval_of_linked_is_that_of_a_mean_of_differences() -> None:
    """With one link a sentence, the difference of gaps is a mean over pairs, whose standard error is known."""
    right = [answers((0.8, 0.5), 400, 3), answers((0.75, 0.7), 400, 4)]
    apart = [one[:, 0].astype(float) - one[:, 1] for one in right]
    change = apart[1] - apart[0]
    found = compare_pairs(resolved(right[0]), resolved(right[1]), "test 1", HOW)[PAIRED.index("linked")]
    assert found.value == pytest.approx(change.mean())
    error = change.std() / len(change) ** 0.5
    assert found.over == "pairs of sentences"
    assert (found.low, found.high) == pytest.approx(
        (change.mean() - 1.96 * error, change.mean() + 1.96 * error), abs=0.15 * error
    )


def test_p_is_that_of_all_swaps() -> None:
    """Swapping the embeddings of a pair turns the sign of its difference: all 2^11 sign patterns, one by one."""
    right = [answers((0.9, 0.3), 11, 5), answers((0.6, 0.6), 11, 6)]
    change = (right[1][:, 0].astype(float) - right[1][:, 1]) - (right[0][:, 0].astype(float) - right[0][:, 1])
    signs = np.array(list(product((-1, 1), repeat=len(change))))
    exact = float((np.abs(signs @ change) >= abs(change.sum()) - 1e-9).mean())
    assert 0.01 < exact < 0.5
    found = compare_pairs(resolved(right[0]), resolved(right[1]), "test 1", HOW)[PAIRED.index("linked")]
    error = (exact * (1 - exact) / HOW.resamples) ** 0.5
    assert found.p_value == pytest.approx(exact, abs=4 * error)


def test_an_embedding_that_finds_nothing_has_no_precision_to_compare() -> None:
    first = resolved(answers((0.8, 0.5), 20, 1))
    nothing = all_sums([GOLD] * 40, [()] * 40).reshape(20, 2, *first.shape[2:])
    found = {one.metric: one for one in compare_pairs(first, nothing, "test 1", HOW)}
    assert found["precision"].value is None
    assert "by the second embedding" in str(found["precision"].reason)
    assert found["linked"].second == 0


def outcome(parts: dict[str, np.ndarray], checksum: str = "same", seeds: tuple[int, ...] = (0,)) -> TaskResult:
    """A result of the task with these answers: for each part, seeds × pairs × (pro, anti)."""
    sums = {name: resolved(right) for name, right in parts.items()}
    test = resolved(np.ones((len(seeds), 5), bool))
    logs = {seed: [{"epoch": 0, "dev_f1": 0.5}] for seed in seeds}
    found = summarize(test, sums, logs, Resampling("percentile", 0.95, 300, 0), checksum)
    settings = {"level": 0.95, "resamples": 300, "random_state": 0}
    return TaskResult(
        "coref", "", "v", found.metrics, found.gaps, found.seeds, found.counts, {}, settings, (), None, found.items
    )


def test_results_of_the_task_are_compared_part_by_part_and_seed_by_seed() -> None:
    right = [answers((0.8, 0.5), 30, seed) for seed in range(6)]
    first = outcome({"test 1": np.stack(right[:2]), "test 2": np.stack(right[2:4])}, seeds=(0, 1))
    second = outcome({"test 1": right[4][None], "test 2": right[5][None]}, seeds=(1,))
    found = compare_tasks(first, second)
    linked = {one.positive_class: one for one in found.changes if one.metric == "linked"}
    assert list(linked) == ["winobias test 1", "winobias test 2"]
    for (one, other), name in zip(((1, 4), (3, 5)), linked, strict=True):
        gaps = [(right[at][:, 0].mean() - right[at][:, 1].mean()) for at in (one, other)]
        assert (linked[name].first, linked[name].second) == pytest.approx(tuple(gaps))
    assert found.to_frame()["difference"].notna().all()
    same = compare_tasks(first, first)
    assert {one.value for one in same.changes} == {0.0}
    assert {one.p_value for one in same.changes} == {1.0}
    with pytest.raises(ParameterError, match="must have the seed"):
        compare_tasks(first, second, seed=0)


def test_other_sentences_cannot_be_compared() -> None:
    right = {"test 1": answers((0.8, 0.5), 10, 0)[None]}
    first = outcome(right)
    with pytest.raises(ParameterError, match="groups"):
        compare_tasks(first, outcome(right, "other"))
    assert isinstance(first.items, PairedItems)
    with pytest.raises(ParameterError, match="read from JSON has no items"):
        compare_tasks(first, replace(first, items=None))
