"""Cronbach's alpha and omega against the textbook, psych (R), pingouin, and their own definitions."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biasgauge.core import Estimate, Estimates
from biasgauge.errors import ParameterError
from biasgauge.stats import cronbach_alpha, icc, omega
from biasgauge.stats.scale_consistency import one_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GOLDENS = Path(__file__).parent / "goldens"
MATRICES = st.tuples(st.integers(3, 9), st.integers(2, 6)).flatmap(
    lambda size: arrays(np.float64, size, elements=st.integers(-200, 200).map(lambda number: number / 16))
)


def alpha_of(matrix: Any, **settings: Any) -> Estimate:  # noqa: ANN401 - whatever a test tries
    found = cronbach_alpha(matrix, **settings)
    assert isinstance(found, Estimate)
    return found


def omega_of(matrix: Any, **settings: Any) -> Estimate:  # noqa: ANN401 - as above
    found = omega(matrix, **settings)
    assert isinstance(found, Estimate)
    return found


@pytest.fixture
def psych() -> dict[str, float]:
    with (GOLDENS / "psych_internal.csv").open() as file:
        return {name: float(number) for name, number in next(csv.DictReader(file)).items()}


class TestAlpha:
    def test_shrout_and_fleiss(self, shrout_fleiss: NDArray[np.float64]) -> None:
        """METHODS 1.7: items = judges."""
        found = alpha_of(shrout_fleiss)
        assert found.value == pytest.approx(0.90932, abs=5e-6)
        assert (found.n, found.k, found.method) == (6, 4, "Feldt (F)")

    def test_against_psych(self, golden: Callable[[str], NDArray[np.float64]], psych: dict[str, float]) -> None:
        found = alpha_of(golden("items"))
        assert found.value == pytest.approx(psych["alpha"], rel=1e-12)
        assert [found.low, found.high] == pytest.approx([psych["low"], psych["high"]], rel=1e-12)

    @settings(max_examples=40, deadline=None)
    @given(matrix=MATRICES)
    def test_definition_and_the_identity_with_icc(self, matrix: NDArray[np.float64], slow: Any) -> None:  # noqa: ANN401
        found, same = alpha_of(matrix), icc(matrix, "3,k")
        assert isinstance(same, Estimate)
        assert (found.value, found.low, found.high) == (same.value, same.low, same.high)
        if found.value is not None:
            assert found.value == pytest.approx(slow.alpha(matrix.tolist()), rel=1e-7, abs=1e-9)

    @pytest.mark.parametrize("seed", range(5))
    def test_against_pingouin(self, seed: int) -> None:
        import pingouin  # imported here: it takes a second, in every process of a run

        random = np.random.default_rng(seed)
        matrix = random.normal(size=(30, 1)) + random.normal(size=(30, 6)) * (1 + seed)
        value, interval = pingouin.cronbach_alpha(pd.DataFrame(matrix))
        found = alpha_of(matrix)
        assert found.value == pytest.approx(value, rel=1e-10)
        assert [found.low, found.high] == pytest.approx(list(interval), abs=0.000501)  # theirs have three places

    def test_negative_without_bound(self) -> None:
        """Items that work against each other: 2(1 − (s² + s²) / tiny)."""
        x = np.array([1.0, 2, 3, 4])
        found = alpha_of(np.stack([x, -x + 0.01 * x**2], axis=1))
        assert found.value is not None
        assert found.value < -100

    def test_undefined(self) -> None:
        x = np.array([1.0, 2, 3, 4])
        assert "do not differ" in str(alpha_of(np.stack([x, -x], axis=1)).reason)
        assert alpha_of(np.ones((4, 3))).reason == "all scores are equal"
        assert alpha_of(np.ones((4, 1))).reason == "fewer than two items have scores"
        assert alpha_of(np.ones((1, 3))).reason == "too few observations have a score from each of the items"

    def test_lost_items_and_observations(self, golden: Callable[[str], NDArray[np.float64]], slow: Any) -> None:  # noqa: ANN401
        matrix = golden("items")
        matrix[:, 3] = np.nan
        matrix[5, 1] = np.nan
        found = alpha_of(matrix)
        kept = slow.complete(matrix.tolist())
        assert (found.n, found.k) == (39, 7)
        assert found.value == pytest.approx(slow.alpha(kept), rel=1e-10)

    def test_a_stack(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        found = cronbach_alpha(np.stack([golden("items"), 2 * golden("items"), np.ones((40, 8))]))
        assert isinstance(found, Estimates)
        assert found.value[:2] == pytest.approx([alpha_of(golden("items")).value] * 2)
        assert found.reason(2) == "all scores are equal"


class TestOmega:
    def test_against_psych(self, golden: Callable[[str], NDArray[np.float64]], psych: dict[str, float]) -> None:
        """The optimizer of psych stops at about 1e-6."""
        items = golden("items")
        loadings = one_factor(np.asarray(np.corrcoef(items.T))[None])[0]
        assert loadings == pytest.approx([psych[f"loading{item}"] for item in range(1, 9)], abs=5e-5)
        assert omega_of(items).value == pytest.approx(psych["omega"], abs=5e-5)

    def test_loadings_are_a_minimum(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        """No small change of any loading makes the residuals smaller."""
        correlations = np.asarray(np.corrcoef(golden("items").T))
        loadings = one_factor(correlations[None])[0]

        def residual(of: NDArray[np.float64]) -> float:
            off = correlations - np.outer(of, of)
            return float((off[~np.eye(8, dtype=bool)] ** 2).sum())

        for item in range(8):
            for step in (-1e-3, 1e-3):
                assert residual(loadings + step * np.eye(8)[item]) > residual(loadings)

    @pytest.mark.parametrize("loadings", [(0.7, 0.7, 0.7, 0.7), (0.9, 0.8, 0.3, 0.5, 0.6), (0.8, -0.4, 0.6)])
    def test_exact_factor_structure(self, loadings: tuple[float, ...]) -> None:
        """Scores whose covariances are exactly those of one factor: loadings and omega follow by hand."""
        weights = np.array(loadings)
        scale = np.arange(1, len(weights) + 1)
        covariance = np.outer(weights, weights) + np.diag(1 - weights**2)
        random = np.random.default_rng(0).normal(size=(50, len(weights)))
        random -= random.mean(axis=0)
        white = random @ np.linalg.inv(np.linalg.cholesky(random.T @ random / 50).T)
        scores = white @ np.linalg.cholesky(covariance).T * scale
        raw = weights * scale
        expected = raw.sum() ** 2 / (raw.sum() ** 2 + (scale**2 * (1 - weights**2)).sum())
        found = omega_of(scores)
        assert found.value == pytest.approx(expected, abs=1e-7)
        if len(set(loadings)) == 1:
            assert omega_of(scores / scale).value == pytest.approx(alpha_of(scores / scale).value, abs=1e-7)

    def test_interval_is_seeded_and_holds_the_value(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        first, again, other = (omega_of(golden("items"), random_state=seed) for seed in (1, 1, 2))
        assert (first.low, first.high) == (again.low, again.high)
        assert first.low != other.low
        assert first.low is not None
        assert first.high is not None
        assert first.low < first.value < first.high  # type: ignore[operator]  # defined

    def test_interval_is_that_of_observations_drawn_again(self) -> None:
        """A slow bootstrap: the same draws, each laid out in rows and fitted anew."""
        random = np.random.default_rng(6)
        scores = random.normal(size=(12, 1)) * [1, 0.8, 0.6, 0.4] + random.normal(size=(12, 4)) + [3, 1, 0, -2]
        found = omega_of(scores, level=0.8, resamples=60, random_state=5)
        drawn = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), size=60)
        slow = [omega_of(np.repeat(scores, times, axis=0), resamples=1).value for times in drawn]
        assert [found.low, found.high] == pytest.approx(np.quantile(np.array(slow), [0.1, 0.9]), abs=1e-4)

    def test_groups_of_many_observations_give_about_the_same_interval(self) -> None:
        random = np.random.default_rng(1)
        scores = random.normal(size=(2_000, 1)) + 2 * random.normal(size=(2_000, 5))
        grouped = omega_of(scores)
        whole = omega_of(scores, max_groups=2_000)
        assert grouped.value == whole.value
        assert [grouped.low, grouped.high] == pytest.approx([whole.low, whole.high], abs=0.006)

    def test_an_item_without_error_is_held_back(self) -> None:
        """A Heywood case: the best loading would be above 1."""
        correlations = np.array([[1, 0.8, 0.7], [0.8, 1, 0.3], [0.7, 0.3, 1]])  # l₁² = .8·.7/.3 > 1
        assert one_factor(correlations[None])[0, 0] == pytest.approx(0.995**0.5)

    @pytest.mark.parametrize(
        ("scores", "reason"),
        [
            (np.random.default_rng(0).normal(size=(9, 2)), "a common factor takes at least three items"),
            (np.random.default_rng(0).normal(size=(2, 5)), "too few observations have a score from each of the items"),
            (np.ones((9, 4)), "one of the items has the same score throughout, so that it has no correlations"),
        ],
    )
    def test_undefined(self, scores: NDArray[np.float64], reason: str) -> None:
        found = omega_of(scores)
        assert (found.value, found.low, found.reason) == (None, None, reason)

    def test_scale_does_not_matter(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        found = omega_of(golden("items") * 1e-200)
        assert found.value == pytest.approx(omega_of(golden("items")).value, rel=1e-9)

    def test_a_stack(self, golden: Callable[[str], NDArray[np.float64]]) -> None:
        found = omega(np.stack([[golden("items"), np.ones((40, 8))]]), resamples=20)
        assert isinstance(found, Estimates)
        assert found.shape == (1, 2)
        assert np.isnan(found.value[0, 1])


def test_no_matrix() -> None:
    for estimator in (cronbach_alpha, omega):
        with pytest.raises(ParameterError, match=f"{estimator.__name__} needs a matrix"):
            estimator([1, 2, 3])
