"""The series for quantiles of F against SciPy, over all degrees of freedom that ICCs meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f

from biasgauge.stats.intraclass import upper_quantiles


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("fixed", "most"), [(1, 2), (1, 60), (5, 18), (22, 713), (319, 10_000), (200_000, 6_000_000)])
def test_against_scipy(level: float, fixed: int, most: float) -> None:
    many = np.exp(np.random.default_rng(0).uniform(0, np.log(most), 3_000))
    many[:2] = 1, most
    checked = np.r_[:20, 20:3_000:97]
    tail = (1 - level) / 2
    for found, exact in (
        (upper_quantiles(level, fixed, many), f.isf(tail, fixed, many[checked])),
        (upper_quantiles(level, many, fixed), f.isf(tail, many[checked], fixed)),
    ):
        assert found[checked] == pytest.approx(exact, rel=1e-9)


def test_degrees_of_freedom_that_hardly_differ() -> None:
    many = np.asarray(31 + 1e-12 * np.arange(1_000), np.float64)
    assert upper_quantiles(0.95, 22, many) == pytest.approx(np.full(1_000, f.isf(0.025, 22, 31)), rel=1e-9)


def test_few_are_left_to_scipy() -> None:
    assert upper_quantiles(0.95, 5, np.array([18.0]))[0] == pytest.approx(f.isf(0.025, 5, 18), rel=1e-12)
    assert float(upper_quantiles(0.95, 5, 18)) == pytest.approx(f.isf(0.025, 5, 18), rel=1e-12)


def test_a_series_that_does_not_fit_is_not_used() -> None:
    """Too low a degree is noticed, and SciPy takes over."""
    many = np.linspace(1, 700, 1_000)
    assert upper_quantiles(0.95, 22, many, degrees=(2,))[::50] == pytest.approx(f.isf(0.025, 22, many[::50]), rel=1e-12)
    rough = upper_quantiles(0.95, 22, many, degrees=(2,), accuracy=np.inf)
    assert np.abs(rough / f.isf(0.025, 22, many) - 1).max() > 0.01
