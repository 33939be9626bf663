"""Krippendorff's alpha against the package of that name, his own example, and the pairwise definition."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.core import Estimate, Estimates
from biasgauge.errors import ParameterError
from biasgauge.stats import krippendorff_alpha

METRICS: list[Any] = ["nominal", "ordinal", "interval", "ratio"]


def alpha(ratings: Any, metric: Any = "nominal", **settings: Any) -> Estimate:  # noqa: ANN401 - whatever a test tries
    found = krippendorff_alpha(ratings, metric, **settings)
    assert isinstance(found, Estimate)
    return found


@pytest.mark.parametrize(
    ("metric", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_his_example(metric: str, expected: float) -> None:
    """Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, twelve units."""
    observers = [
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    ]
    ratings = np.array([[np.nan if one == "." else float(one) for one in row.split()] for row in observers]).T
    found = alpha(ratings, metric)
    assert found.value == pytest.approx(expected, abs=5e-4)
    assert (found.n, found.k) == (11, 4)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_against_the_package(metric: Any, seed: int) -> None:  # noqa: ANN401 - a metric
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, (25, 1))
    ratings = np.where(random.random((25, 4)) < 0.5, truth, random.integers(0, 5, (25, 4))).astype(float)
    ratings[random.random(ratings.shape) < 0.25] = np.nan
    theirs = krippendorff.alpha(ratings.T, level_of_measurement=metric)
    assert alpha(ratings, metric).value == pytest.approx(theirs, rel=1e-10)
    assert alpha(ratings * 0.37 + 1e4, metric).value == pytest.approx(
        krippendorff.alpha(ratings.T * 0.37 + 1e4, level_of_measurement=metric), rel=1e-6
    )


def by_definition(ratings: list[list[float | None]], metric: str) -> float | None:
    """One minus observed by expected disagreement, pair by pair."""
    units = [[one for one in row if one is not None] for row in ratings]
    units = [row for row in units if len(row) > 1]
    values = sorted(one for row in units for one in row)

    def apart(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        if metric == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        low, high = min(a, b), max(a, b)
        between = sum(low <= one <= high for one in values)
        return (between - (values.count(a) + values.count(b)) / 2) ** 2 if a != b else 0.0

    observed = sum(sum(apart(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in units)
    expected = sum(apart(a, b) for a, b in permutations(values, 2)) / (len(values) - 1)
    return 1 - observed / expected if expected else None


@settings(max_examples=60, deadline=None)
@given(
    ratings=st.lists(
        st.lists(st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.0, 5.0])), min_size=3, max_size=3),
        min_size=4,
        max_size=10,
    ),
    metric=st.sampled_from(METRICS),
)
def test_by_definition(ratings: list[list[float | None]], metric: str) -> None:
    found = alpha(np.array(ratings, dtype=object), metric, resamples=10)
    if sum(sum(one is not None for one in row) > 1 for row in ratings) < 2:
        assert "too few units" in str(found.reason) or "fewer than two raters" in str(found.reason)
        return
    expected = by_definition(ratings, metric)
    if expected is None:
        assert "one category" in str(found.reason)
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


class TestOutcomes:
    def test_perfect(self) -> None:
        for metric in METRICS:
            found = alpha([[1, 1, 1], [2, 2, 2], [4, 4, 4], [1, 1, 1], [2, 2, 2], [4, 4, 4]], metric)
            assert (found.value, found.high) == (1.0, 1.0), metric

    def test_undefined(self) -> None:
        assert "one category" in str(alpha([["a", "a"], ["a", "a"]]).reason)
        assert "too few units" in str(alpha([["a", "b"], ["a", None]]).reason)
        assert "fewer than two raters" in str(alpha([["a"], ["b"]]).reason)

    def test_no_interval_where_most_draws_do_not_vary(self) -> None:
        found = alpha([["a", "a"]] * 9 + [["b", "b"]])
        assert (found.value, found.low) == (1.0, None)
        assert "too few draws" in str(found.reason)

    def test_draws_are_seeded(self) -> None:
        ratings = np.random.default_rng(0).integers(0, 3, (20, 3))
        one, again, other = (alpha(ratings, random_state=seed) for seed in (4, 4, 5))
        assert one == again
        assert one.low != other.low
        assert one.low is not None
        assert one.low < one.value < one.high  # type: ignore[operator]  # defined

    def test_ordered_words(self) -> None:
        order = ["low", "mid", "high"]
        ratings = [["low", "low"], ["mid", "high"], ["high", "high"], ["mid", "mid"]]
        numbers = [[order.index(one) for one in row] for row in ratings]
        assert alpha(ratings, "ordinal", categories=order).value == alpha(numbers, "ordinal").value
        assert alpha(ratings, "ordinal").value != alpha(numbers, "ordinal").value

    def test_a_stack(self) -> None:
        stack = np.random.default_rng(0).integers(0, 3, (2, 2, 10, 3))
        found = krippendorff_alpha(stack, "interval", resamples=20)
        assert isinstance(found, Estimates)
        alone = alpha(stack[1, 0], "interval", resamples=20)
        assert found[1, 0].value == pytest.approx(alone.value)

    def test_bad_input(self) -> None:
        with pytest.raises(ParameterError, match="'metric'"):
            krippendorff_alpha([[1, 2], [1, 2]], "polar")  # type: ignore[arg-type]  # the test
        with pytest.raises(ParameterError, match="units in rows"):
            krippendorff_alpha([1, 2])
        with pytest.raises(ParameterError, match="numbers"):
            krippendorff_alpha([["a", "b"], ["a", "b"]], "interval")
        with pytest.raises(ParameterError, match="needs finite numbers ≥ 0"):
            krippendorff_alpha([[-1, 2], [1, 2]], "ratio")
        with pytest.raises(ParameterError, match="at most 5,000"):
            krippendorff_alpha(np.arange(12_000).reshape(-1, 2), "ratio")
