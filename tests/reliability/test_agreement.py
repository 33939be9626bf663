"""Kappas against statsmodels, scikit-learn, psych (R), irrCAC, the delta method, and the definitions."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss

from biasgauge.core import Estimate, Estimates
from biasgauge.errors import ParameterError
from biasgauge.stats import cohen_kappa, fleiss_kappa

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GOLDENS = Path(__file__).parent / "goldens"
WEIGHTS = [None, "linear", "quadratic"]
ONE_CATEGORY = "all ratings fall into one category, so that agreement by chance is certain"


def cohen(*labels: Any, **settings: Any) -> Estimate:  # noqa: ANN401 - whatever a test tries
    found = cohen_kappa(*labels, **settings)
    assert isinstance(found, Estimate)
    return found


def fleiss(labels: Any, **settings: Any) -> Estimate:  # noqa: ANN401 - as above
    found = fleiss_kappa(labels, **settings)
    assert isinstance(found, Estimate)
    return found


def two_raters(seed: int, kinds: int = 4, items: int = 60) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    first = random.integers(0, kinds, items)
    second = np.where(random.random(items) < 0.6, first, random.integers(0, kinds, items))
    first[:kinds] = second[:kinds] = np.arange(kinds)  # every category occurs
    return first, second


class TestCohen:
    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("seed", range(4))
    def test_against_statsmodels_and_sklearn(self, weights: Any, seed: int) -> None:  # noqa: ANN401
        first, second = two_raters(seed)
        table = np.zeros((4, 4))
        np.add.at(table, (first, second), 1)
        theirs, found = cohens_kappa(table, wt=weights), cohen(first, second, weights=weights)
        assert found.value == pytest.approx(theirs.kappa, rel=1e-12)
        assert found.value == pytest.approx(cohen_kappa_score(first, second, weights=weights), rel=1e-12)
        assert [found.low, found.high] == pytest.approx([theirs.kappa_low, min(theirs.kappa_upp, 1)], rel=1e-10)

    def test_against_psych(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        labels = golden("labels").astype(int)
        with (GOLDENS / "psych_kappa.csv").open() as file:
            row = next(csv.DictReader(file))
        found = cohen(labels[:, 0], labels[:, 1])
        assert found.value == pytest.approx(float(row["value"]), rel=1e-12)
        assert [found.low, found.high] == pytest.approx([float(row["low"]), float(row["high"])], rel=1e-12)

    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_variance_by_the_delta_method(self, weights: Any) -> None:  # noqa: ANN401
        """Numerical gradient of kappa in the cell shares, and their multinomial covariances."""
        first, second = two_raters(9)
        table = np.zeros((4, 4))
        np.add.at(table, (first, second), 1)
        shares, n = table / table.sum(), table.sum()
        apart = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 3
        credit = np.eye(4) if weights is None else 1 - apart ** (1 if weights == "linear" else 2)

        def kappa(p: NDArray[np.float64]) -> float:
            p = p / p.sum()
            chance = float((np.outer(p.sum(axis=1), p.sum(axis=0)) * credit).sum())
            return (float((p * credit).sum()) - chance) / (1 - chance)

        steps = 1e-6 * np.eye(16).reshape(16, 4, 4)
        gradient = np.array([(kappa(shares + step) - kappa(shares - step)) / 2e-6 for step in steps])
        flat = shares.ravel()
        variance = float(gradient @ (np.diag(flat) - np.outer(flat, flat)) @ gradient) / n
        found = cohen(first, second, weights=weights)
        assert found.high is not None
        assert found.low is not None
        assert (found.high - found.low) / 2 == pytest.approx(1.959964 * variance**0.5, rel=1e-5)

    @settings(max_examples=50, deadline=None)
    @given(labels=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=30))
    def test_by_counting(self, labels: list[tuple[str, str]]) -> None:
        first, second = zip(*labels, strict=True)
        n = len(labels)
        same = sum(a == b for a, b in labels) / n
        chance = sum(first.count(kind) * second.count(kind) for kind in "abc") / n**2
        found = cohen(list(first), list(second))
        if chance == 1:
            assert (found.value, found.reason) == (None, ONE_CATEGORY)
            return
        assert found.value == pytest.approx((same - chance) / (1 - chance), abs=1e-12)
        assert found.value == pytest.approx(cohen(list(second), list(first)).value)
        assert found.low is not None
        assert -1 <= found.low <= found.value + 1e-12 <= found.high + 1e-9 <= 1 + 2e-9  # type: ignore[operator]

    def test_perfect_and_opposite(self) -> None:
        found = cohen(list("abab"), list("abab"))
        assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
        assert cohen(list("abab"), list("baba")).value == -1

    def test_undefined(self) -> None:
        assert cohen([1, 1, 1], [1, 1, 1]).reason == ONE_CATEGORY
        assert "too few items" in str(cohen([1], [1]).reason)
        assert "too few items" in str(cohen([1.0, np.nan], [np.nan, 1.0]).reason)
        assert cohen([1, 1, 1], [1, 2, 2]).value == pytest.approx(0)

    def test_items_that_one_left_out_do_not_count(self) -> None:
        found = cohen(["a", None, "b", "b", "a"], ["a", "b", "b", "a", None])
        assert (found.value, found.n) == (cohen(["a", "b", "b"], ["a", "b", "a"]).value, 3)

    def test_order_of_categories_matters_with_weights(self) -> None:
        first, second = ["low", "mid", "high", "mid"], ["mid", "mid", "high", "low"]
        in_order = cohen(first, second, weights="linear", categories=["low", "mid", "high"])
        assert in_order.value != cohen(first, second, weights="linear").value  # alphabetically: high, low, mid
        codes = {"low": 0, "mid": 1, "high": 2}
        expected = cohen_kappa_score([codes[one] for one in first], [codes[one] for one in second], weights="linear")
        assert in_order.value == pytest.approx(expected)

    def test_a_stack(self) -> None:
        pairs = [two_raters(seed) for seed in range(6)]
        first, second = (np.array([pair[side] for pair in pairs]).reshape(2, 3, 60) for side in (0, 1))
        found = cohen_kappa(first, second)
        assert isinstance(found, Estimates)
        for place in np.ndindex(2, 3):
            assert found[place] == cohen(first[place], second[place])

    def test_bad_input(self) -> None:
        with pytest.raises(ParameterError, match=r"shapes \(2,\) and \(3,\)"):
            cohen_kappa([1, 2], [1, 2, 3])
        with pytest.raises(ParameterError, match="'weights' parameter"):
            cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]  # the test
        with pytest.raises(ParameterError, match="among the categories"):
            cohen_kappa(["a", "b"], ["a", "c"], categories=["a", "b"])
        with pytest.raises(ParameterError, match="strings"):
            cohen_kappa(["a", 1], ["a", 1])


class TestFleiss:
    def test_against_irrcac(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        expected = json.loads((GOLDENS / "irrcac_fleiss.json").read_text())
        found = fleiss(golden("labels"))
        assert found.value == pytest.approx(expected["value"], abs=1e-11)
        assert [found.low, found.high] == pytest.approx(expected["interval"], abs=1e-9)
        assert (found.n, found.k) == (30, 4)

    @pytest.mark.parametrize("seed", range(4))
    def test_against_statsmodels(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        truth = random.integers(0, 3, (40, 1))
        labels = np.where(random.random((40, 5)) < 0.5, truth, random.integers(0, 3, (40, 5)))
        assert fleiss(labels).value == pytest.approx(their_fleiss(aggregate_raters(labels)[0]), rel=1e-12)

    def test_the_example_of_fleiss(self) -> None:
        """Fleiss 1971, Table 1: 30 patients, six psychiatrists, five diagnoses; kappa .430."""
        counts = [
            (0, 0, 0, 6, 0), (0, 3, 0, 0, 3), (0, 1, 4, 0, 1), (0, 0, 0, 0, 6), (0, 3, 0, 3, 0), (2, 0, 4, 0, 0),
            (0, 0, 4, 0, 2), (2, 0, 3, 1, 0), (2, 0, 0, 4, 0), (0, 0, 0, 0, 6), (1, 0, 0, 5, 0), (1, 1, 0, 4, 0),
            (0, 3, 3, 0, 0), (1, 0, 0, 5, 0), (0, 2, 0, 3, 1), (0, 0, 5, 0, 1), (3, 0, 0, 1, 2), (5, 1, 0, 0, 0),
            (0, 2, 0, 4, 0), (1, 0, 2, 0, 3), (0, 0, 0, 0, 6), (0, 1, 0, 5, 0), (0, 2, 0, 1, 3), (2, 0, 0, 4, 0),
            (1, 0, 0, 4, 1), (0, 5, 0, 1, 0), (4, 0, 0, 0, 2), (0, 2, 0, 4, 0), (1, 0, 5, 0, 0), (0, 0, 0, 0, 6),
        ]  # fmt: skip
        labels = [[kind for kind, count in enumerate(row) for _ in range(count)] for row in counts]
        assert fleiss(labels).value == pytest.approx(0.430, abs=5e-4)

    def test_interval_is_about_that_of_a_jackknife(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        labels = golden("labels")
        without = np.array([fleiss(np.delete(labels, item, axis=0)).value for item in range(30)], np.float64)
        error = (29 / 30 * ((without - without.mean()) ** 2).sum()) ** 0.5
        found = fleiss(labels)
        assert found.high is not None
        assert found.low is not None
        assert (found.high - found.low) / 2 == pytest.approx(2.04523 * error, rel=0.05)

    def test_degenerate(self) -> None:
        perfect = fleiss([["a", "a"], ["b", "b"], ["a", "a"]])
        assert (perfect.value, perfect.low, perfect.high) == (1.0, 1.0, 1.0)
        assert fleiss([["a", "a"], ["a", "a"]]).reason == ONE_CATEGORY
        assert fleiss([["a"], ["b"]]).reason == "fewer than two raters have scores"
        assert "too few items" in str(fleiss([["a", "b"]]).reason)
        assert fleiss([["a", "b"], ["b", "a"]]).value == -1

    def test_gaps(self) -> None:
        found = fleiss([["a", "a", None], ["b", "a", None], [None, "b", None], ["b", "b", None]])
        assert (found.value, found.n, found.k) == (fleiss([["a", "a"], ["b", "a"], ["b", "b"]]).value, 3, 2)

    def test_a_stack(self) -> None:
        random = np.random.default_rng(3)
        stack = random.integers(0, 3, (7, 12, 4)).astype(float)
        stack[2, 3, 1] = stack[5, :, 0] = np.nan
        stack[6] = 1
        found = fleiss_kappa(stack)
        assert isinstance(found, Estimates)
        for place in range(7):
            here, alone = found[place], fleiss(stack[place])
            assert (here.n, here.k, here.reason) == (alone.n, alone.k, alone.reason)
            if alone.value is not None:
                assert [here.value, here.low, here.high] == pytest.approx([alone.value, alone.low, alone.high])
        assert [found.reason(place) for place in (5, 6)] == ["", ONE_CATEGORY]

    def test_bad_input(self) -> None:
        with pytest.raises(ParameterError, match="items in rows"):
            fleiss_kappa([1, 2, 3])
        with pytest.raises(ParameterError, match="ragged"):
            fleiss_kappa([[1, 2], [3]])
