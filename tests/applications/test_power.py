"""Power of correlations: textbook sizes, simulation, the distribution itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm, pearsonr

from biasgauge.errors import ParameterError
from biasgauge.stats import correlation_power, detectable_r, points_needed
from biasgauge.stats.power import critical_r

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(("r", "n"), [(0.1, 782), (0.3, 84), (0.5, 29)])
def test_sizes_of_the_exact_test(r: float, n: int) -> None:
    """G*Power 3.1, "Correlation: bivariate normal model", two-sided, alpha .05, power .80 (Cohen's three sizes)."""
    assert points_needed(r) == n
    assert correlation_power(n, r) >= 0.8 > correlation_power(n - 1, r)


def test_power_at_no_correlation_is_alpha() -> None:
    for n in (3, 4, 10, 100, 2_000, 100_000):
        assert correlation_power(n, 0.0) == pytest.approx(0.05, abs=1e-6)
        assert correlation_power(n, 0.0, alpha=0.2) == pytest.approx(0.2, abs=1e-6)


@pytest.mark.calibration
@pytest.mark.parametrize(("n", "r"), [(3, 0.5), (4, 0.9), (8, 0.6), (24, 0.5), (24, -0.5), (120, 0.2)])
def test_power_is_the_share_of_simulated_samples(n: int, r: float) -> None:
    random = np.random.default_rng(n)
    x = random.standard_normal((40_000, n))
    y = r * x + (1 - r**2) ** 0.5 * random.standard_normal((40_000, n))
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    found = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    share = float((np.abs(found) >= critical_r(n)).mean())
    assert correlation_power(n, r) == pytest.approx(share, abs=3.5 * (0.25 / 40_000) ** 0.5)


def test_the_critical_value_is_where_p_is_alpha() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal(12)
    noise = random.standard_normal(12)
    x = (x - x.mean()) / np.linalg.norm(x - x.mean())
    noise -= noise.mean() + (noise @ x) * x
    wanted = critical_r(12)
    y = wanted * x + (1 - wanted**2) ** 0.5 * noise / np.linalg.norm(noise)
    assert pearsonr(x, y).pvalue == pytest.approx(0.05, abs=1e-12)


def test_many_points_are_as_fisher_has_it() -> None:
    """Fisher's z with its bias, normal with variance 1 / (n − 3): as good as exact for many points."""
    for n, r in ((20_000, 0.02), (100_000, 0.01)):
        middle, spread = np.arctanh(r) + r / (2 * (n - 1)), (n - 3) ** -0.5
        edges = (np.arctanh([-critical_r(n), critical_r(n)]) - middle) / spread
        assert correlation_power(n, r) == pytest.approx(norm.cdf(edges[0]) + norm.sf(edges[1]), abs=2e-5)
    assert correlation_power(2_000, 0.999) == pytest.approx(1)
    assert correlation_power(5, 1.0) == 1.0


def test_what_can_be_detected() -> None:
    for n in (4, 8, 24, 500):
        r = detectable_r(n)
        assert correlation_power(n, r) == pytest.approx(0.8, abs=1e-4)
    assert detectable_r(24, power=0.95) > detectable_r(24)


@pytest.mark.parametrize(
    ("ask", "asked", "sentence"),
    [
        (correlation_power, {"n": 2}, "at least 3"),
        (correlation_power, {"n": 9, "r": 1.2}, "number from -1 to 1"),
        (correlation_power, {"n": 9, "alpha": 0}, "'alpha'"),
        (correlation_power, {"n": 9, "alpha": 1}, "'alpha'"),
        (detectable_r, {"n": 9, "power": 0.01}, "strictly between 0.05 and 1"),
        (points_needed, {"r": 0.0}, "differ from 0"),
        (points_needed, {"r": 0.5, "power": 1.0}, "strictly between 0.05 and 1"),
    ],
)
def test_impossible_questions_get_a_sentence(ask: Callable[..., Any], asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        ask(**asked)
