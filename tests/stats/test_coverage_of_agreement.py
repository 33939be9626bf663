"""Do intervals hold the truth as often as they say? By simulation; and the check finds planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.core import Estimates
from biasgauge.stats import cohen_kappa, cronbach_alpha, fleiss_kappa, icc, krippendorff_alpha, omega

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

pytestmark = pytest.mark.calibration

SIMULATIONS = 4_000
LEVEL = 0.95


def two_way(
    n: int, k: int, *, subjects: float, raters: float, error: float, fixed: bool = False, size: int = SIMULATIONS
) -> NDArray[np.float64]:
    """Matrices of subject + rater + error with these variances; `fixed` raters are the same in every matrix."""
    random = np.random.default_rng(11)
    of_raters = random.normal(size=(1 if fixed else size, 1, k)) * raters**0.5
    of_subjects = random.normal(size=(size, n, 1)) * subjects**0.5
    return np.asarray(of_subjects + of_raters + random.normal(size=(size, n, k)) * error**0.5)


def covered(found: Any, truth: float) -> float:  # noqa: ANN401 - what an estimator gives
    """Share of intervals that hold the truth."""
    assert isinstance(found, Estimates)
    low = np.where(np.isnan(found.low), -np.inf, found.low)
    return float(((low <= truth) & (truth <= found.high)).mean())


def is_nominal(share: float, *, approximate: float = 0.0, simulations: int = SIMULATIONS) -> bool:
    """Within four standard errors of the simulation, and what an approximate method may be off."""
    return bool(abs(share - LEVEL) <= 4 * (LEVEL * (1 - LEVEL) / simulations) ** 0.5 + approximate)


@pytest.mark.parametrize("form", ["1,1", "1,k"])
def test_one_way(form: Any) -> None:  # noqa: ANN401 - a form
    """Raters of their own for every subject: exact."""
    truth = 1 / 2 if form == "1,1" else 4 / 5
    matrices = two_way(10, 4, subjects=1, raters=0, error=1)
    assert is_nominal(covered(icc(matrices, form), truth))
    assert not is_nominal(covered(icc(matrices, form, level=0.9), truth))


@pytest.mark.parametrize("form", ["3,1", "3,k"])
def test_fixed_raters(form: Any) -> None:  # noqa: ANN401 - a form
    """Exact, whatever the level of the raters."""
    truth = 1 / 2 if form == "3,1" else 5 / 6
    matrices = two_way(8, 5, subjects=1, raters=4, error=1, fixed=True)
    assert is_nominal(covered(icc(matrices, form), truth))
    assert not is_nominal(covered(icc(matrices, form, level=0.9), truth))
    assert not is_nominal(covered(icc(matrices, form.replace("3", "1")), truth))  # a planted fault: the wrong model


@pytest.mark.parametrize("form", ["2,1", "2,k"])
@pytest.mark.parametrize(("raters", "error"), [(0.3, 0.7), (0.02, 0.5), (1.0, 0.5)])
def test_sampled_raters(form: Any, raters: float, error: float) -> None:  # noqa: ANN401 - a form
    """Satterthwaite's degrees of freedom are approximate: within a percent and a half."""
    n, k = 23, 8
    truth = 1 / (1 + (raters + error) / (1 if form == "2,1" else k))
    matrices = two_way(n, k, subjects=1, raters=raters, error=error)
    assert is_nominal(covered(icc(matrices, form), truth), approximate=0.015)
    assert not is_nominal(covered(icc(matrices, form, level=0.9), truth), approximate=0.015)


def test_ignoring_that_raters_are_a_sample_would_be_found() -> None:
    """A planted fault: the interval of model 3 for a number of model 2."""
    matrices = two_way(23, 8, subjects=1, raters=1, error=0.5)
    assert not is_nominal(covered(icc(matrices, "3,1"), 1 / 2.5), approximate=0.015)


def test_alpha() -> None:
    """Feldt's interval is exact for parallel items."""
    matrices = two_way(23, 8, subjects=1, raters=2, error=4, fixed=True)
    truth = 8 / (8 + 4)
    assert is_nominal(covered(cronbach_alpha(matrices), truth))
    assert not is_nominal(covered(cronbach_alpha(matrices, level=0.9), truth))


def coverage_of(
    draw: Callable[[np.random.Generator], Any], estimate: Callable[[Any, float], Any], truth: float, size: int = 400
) -> tuple[float, float]:
    """Coverage at the nominal level and at a planted .8."""
    random = np.random.default_rng(12)
    draws = [draw(random) for _ in range(size)]
    shares = []
    for level in (LEVEL, 0.8):
        found = [estimate(one, level) for one in draws]
        shares.append(float(np.mean([one.low <= truth <= one.high for one in found if one.low is not None])))
    return shares[0], shares[1]


def judge(shares: tuple[float, float], approximate: float, size: int = 400) -> None:
    assert is_nominal(shares[0], approximate=approximate, simulations=size)
    assert not is_nominal(shares[1], approximate=approximate, simulations=size)


def test_omega() -> None:
    """A bootstrap of 100 observations: within three percent."""
    loadings = np.array([0.9, 0.5, 0.7, 0.3, 0.8, 0.6])
    truth = loadings.sum() ** 2 / (loadings.sum() ** 2 + (1 - loadings**2).sum())

    def draw(random: np.random.Generator) -> NDArray[np.float64]:
        noise = random.normal(size=(100, 6)) * np.sqrt(1 - loadings**2)
        return np.asarray(random.normal(size=(100, 1)) * loadings + noise)

    shares = coverage_of(draw, lambda x, level: omega(x, level=level, resamples=200), float(truth), size=150)
    judge(shares, 0.03, size=150)


def raters_that_copy(random: np.random.Generator, items: int, raters: int) -> NDArray[np.int64]:
    """Each rating is the truth with chance .8, else a guess: two raters share the source with chance .64."""
    truth = random.integers(0, 3, (items, 1))
    copied = random.random((items, raters)) < 0.8
    return np.where(copied, truth, random.integers(0, 3, (items, raters)))


def test_cohen() -> None:
    shares = coverage_of(
        lambda random: raters_that_copy(random, 100, 2),
        lambda x, level: cohen_kappa(x[:, 0], x[:, 1], level=level),
        0.64,
    )
    judge(shares, 0.02)


def test_fleiss() -> None:
    shares = coverage_of(
        lambda random: raters_that_copy(random, 100, 4), lambda x, level: fleiss_kappa(x, level=level), 0.64
    )
    judge(shares, 0.02)


def test_krippendorff() -> None:
    shares = coverage_of(
        lambda random: raters_that_copy(random, 100, 3),
        lambda x, level: krippendorff_alpha(x, level=level, resamples=200),
        0.64,
        size=200,
    )
    judge(shares, 0.03, size=200)
