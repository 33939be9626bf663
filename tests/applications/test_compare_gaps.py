"""Two sets of predictions of the same items."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from biasgauge.applications import GapComparison, compare_gaps, gaps
from biasgauge.errors import ParameterError

Items = tuple[Any, Any, Any, Any]


def items(size: int = 200, seed: int = 0, groups: str = "ab") -> Items:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, size)
    first = np.where(random.random(size) < 0.75, labels, 1 - labels)
    second = np.where(random.random(size) < 0.6, first, labels)
    return labels, first, second, random.choice(list(groups), size)


@pytest.mark.parametrize("groups", ["ab", "abc"])
def test_differences_are_those_of_the_two_gaps(groups: str) -> None:
    labels, first, second, who = items(groups=groups)
    found = compare_gaps(labels, first, second, who, positive=None, resamples=50)
    one, two = (gaps(labels, some, who, positive=None, resamples=10).gaps for some in (first, second))
    assert len(found.changes) == len(one) == (13 if groups == "ab" else 13 * 6)
    for change, a, b in zip(found.changes, one, two, strict=True):
        assert (change.metric, change.positive_class, change.a, change.b) == (a.metric, a.positive_class, a.a, a.b)
        assert a.value is not None
        assert b.value is not None
        assert (change.first, change.second) == pytest.approx((a.value, b.value), abs=1e-14)
        assert change.value == pytest.approx(b.value - a.value, abs=1e-14)


def test_turning_the_two_around_turns_the_sign() -> None:
    labels, first, second, who = items()
    one = compare_gaps(labels, first, second, who, resamples=3_000, interval="bca")
    two = compare_gaps(labels, second, first, who, resamples=3_000, interval="bca")
    for a, b in zip(one.changes, two.changes, strict=True):
        assert a.value == pytest.approx(-(b.value or 0), abs=1e-14)
        assert a.p_value == pytest.approx(b.p_value, abs=0.05)
        assert a.low == pytest.approx(-(b.high or 0), abs=0.03)


def test_p_is_that_of_all_swaps() -> None:
    """Eleven items: every way to swap their predictions, by a slow loop."""
    labels = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1])
    first = np.array([1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1])
    second = np.array([1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1])
    who = np.array(list("aaaaabbbbab"))

    def difference(one: Any, two: Any) -> float:  # noqa: ANN401 - arrays
        recall = [[some[(who == group) & (labels == 1)].mean() for group in "ab"] for some in (one, two)]
        return float((recall[1][0] - recall[1][1]) - (recall[0][0] - recall[0][1]))

    observed = difference(first, second)
    every = []
    for swap in product([False, True], repeat=11):
        mask = np.array(swap)
        every.append(difference(np.where(mask, second, first), np.where(mask, first, second)))
    expected = np.mean(np.abs(every) >= abs(observed) - 1e-12)
    found = compare_gaps(labels, first, second, who, resamples=20_000)
    change = next(one for one in found.changes if (one.metric, one.positive_class) == ("recall", 1))
    assert change.value == pytest.approx(observed)
    assert change.p_value == pytest.approx(expected, abs=0.012)


def test_the_bootstrap_draws_items_with_both_predictions() -> None:
    """Against a slow bootstrap of items within groups."""
    labels, first, second, who = items(120, 7)
    random = np.random.default_rng(0)

    def gap(y: Any, p: Any, g: Any) -> float:  # noqa: ANN401 - arrays
        return float((p == y)[g == "a"].mean() - (p == y)[g == "b"].mean())

    slow = []
    for _ in range(3_000):
        taken = np.concatenate([random.choice(np.flatnonzero(who == g), (who == g).sum()) for g in "ab"])
        y, g = labels[taken], who[taken]
        slow.append(gap(y, second[taken], g) - gap(y, first[taken], g))
    found = compare_gaps(labels, first, second, who, resamples=10_000).changes[-1]
    assert found.metric == "accuracy"
    ends = np.array([found.low, found.high])
    assert ends == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.02)


def test_what_is_undefined_says_by_which_predictions() -> None:
    labels, who = [1, 1, 0, 0, 1, 0, 1, 0], list("aaaabbbb")
    found = compare_gaps(labels, [1, 0, 0, 1, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0, 0, 0], who, resamples=20)
    precision = next(one for one in found.changes if (one.metric, one.positive_class) == ("precision", 1))
    assert precision.first is not None
    assert (precision.second, precision.value, precision.p_value) == (None, None, None)
    assert precision.reason == "nothing in group 'b' is predicted 1 by the second predictions"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["changes"][0]["reason"] == precision.reason
    assert "predictions" in found._repr_html_()
    assert len(found.to_frame()) == 9
    assert GapComparison.from_dict(json.loads(json.dumps(found.to_dict()))).changes == found.changes


def test_same_predictions_do_not_differ() -> None:
    labels, first, _, who = items()
    for one in compare_gaps(labels, first, first, who, resamples=100).changes:
        assert (one.value, one.p_value) == (0.0, 1.0)
        assert one.reason == "every resample gives the same value"


def test_bad_input_gets_a_sentence() -> None:
    labels, first, second, who = items()
    with pytest.raises(ParameterError, match="Got lists of 200, 200, 3, 200"):
        compare_gaps(labels, first, second[:3], who)
    with pytest.raises(ParameterError, match="'interval'"):
        compare_gaps(labels, first, second, who, interval="normal")  # type: ignore[arg-type]
