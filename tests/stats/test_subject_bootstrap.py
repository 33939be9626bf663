"""Bootstrap intervals of ICC and alpha: by definition from drawn matrices, by simulation, and when they are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from scipy.special import ndtri

from biasgauge.core import Estimate
from biasgauge.core.estimates import Estimates
from biasgauge.errors import ParameterError
from biasgauge.stats import cronbach_alpha, draw_counts, heavy_tails, icc
from biasgauge.stats.intraclass import SIGNIFICANT, bootstrap_ends

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

FORMS: tuple[Any, ...] = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")


def scores(kind: str, n: int, k: int, random: np.random.Generator, raters: float = 0.3) -> Floats:
    """Subject + rater + error with the variances 1, `raters` and 1."""

    def effects(*shape: int) -> Floats:
        return random.standard_normal(shape) if kind == "normal" else random.standard_t(3, shape) / 3**0.5

    return np.asarray(effects(n, 1) + random.standard_normal((1, k)) * raters**0.5 + effects(n, k))


HEAVY = scores("t", 60, 8, np.random.default_rng(4))
NORMAL = ndtri((np.arange(60)[:, None] + 0.5) / 60) + 0.3 * np.random.default_rng(1).standard_normal((60, 8))


def one(found: object) -> Estimate:
    return cast("Estimate", found)


def log_f(matrix: Floats, *, one_way: bool) -> float:
    """Log of MS_R by what is left, written down from the definition."""
    n, k = matrix.shape
    rows = k * matrix.mean(axis=1).var(ddof=1)
    rest = ((matrix - matrix.mean(axis=1, keepdims=True)) ** 2).sum() / (n * (k - 1))
    if not one_way:
        residual = matrix - matrix.mean(axis=1, keepdims=True) - matrix.mean(axis=0) + matrix.mean()
        rest = (residual**2).sum() / ((n - 1) * (k - 1))
    return float(np.log(rows / rest))


def standard_error(matrix: Floats, *, one_way: bool) -> float:
    """Of log F, by the infinitesimal jackknife: numeric derivatives by the weight of each subject."""
    n, step = len(matrix), 1e-5

    def weighted(weights: Floats) -> float:
        share = weights / weights.sum()
        means = matrix.mean(axis=1)
        spread = share @ (means - share @ means) ** 2
        within = matrix - means[:, None]
        if not one_way:
            within = within - share @ within
        return float(np.log(spread / (share @ (within**2).sum(axis=1))))

    base = np.ones(n)
    slopes = [(weighted(base + step * unit) - weighted(base - step * unit)) / (2 * step) for unit in np.eye(n)]
    return float(np.sum(np.square(slopes)) ** 0.5)


@pytest.mark.parametrize("form", ["1,1", "3,1", "3,k"])
def test_the_ends_are_those_of_a_bootstrap_of_studentized_log_f(form: Any) -> None:  # noqa: ANN401 - a form
    """Every drawn matrix is written out, its log F and its standard error computed from their definitions."""
    matrix, resamples, one_way = HEAVY[:12, :3], 40, form[0] == "1"
    n, k = matrix.shape
    counts = draw_counts(np.random.default_rng(0), n, resamples).astype(int)
    drawn = [np.repeat(matrix, row, axis=0) for row in counts]
    value, error = log_f(matrix, one_way=one_way), standard_error(matrix, one_way=one_way)
    ratios = [log_f(sample, one_way=one_way) - value for sample in drawn]
    errors = [standard_error(sample, one_way=one_way) for sample in drawn]
    f = np.exp(value - error * np.array(ratios) / errors)
    expected = (f - 1) / (f + k - 1) if form[2] == "1" else 1 - 1 / f
    ends = bootstrap_ends(matrix, form, 0.8, resamples, 0)
    assert ends == pytest.approx(np.quantile(expected, [0.1, 0.9]).tolist(), rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_value_is_the_same_and_lies_inside_whatever_the_scale(form: Any) -> None:  # noqa: ANN401 - a form
    exact, drawn = one(icc(HEAVY, form)), one(icc(HEAVY, form, interval="bootstrap"))
    assert drawn.value == exact.value
    assert drawn.low is not None
    assert drawn.high is not None
    assert drawn.value is not None
    assert drawn.low < drawn.value < drawn.high
    scaled = one(icc(1e-3 * HEAVY + 5, form, interval="bootstrap"))
    assert (scaled.low, scaled.high) == pytest.approx((drawn.low, drawn.high), rel=1e-6)


def test_alpha_is_icc_3_k() -> None:
    alpha, mean = one(cronbach_alpha(HEAVY, interval="bootstrap")), one(icc(HEAVY, "3,k", interval="bootstrap"))
    assert (alpha.low, alpha.high) == (mean.low, mean.high)
    assert alpha.method == "bootstrap over observations (studentized log F)"
    assert alpha.resamples == 1_000


def test_heavy_tails_choose_the_bootstrap_and_are_told_of_beside_f() -> None:
    for estimator in (icc, cronbach_alpha):
        plain, chosen = one(estimator(HEAVY)), one(estimator(HEAVY, interval="auto"))
        assert plain.warning is not None
        assert "have heavy tails, under which an F interval covers less" in plain.warning
        assert plain.to_dict()["warning"] == plain.warning
        assert chosen.warning is None
        assert chosen.method.startswith("bootstrap")
        assert one(estimator(HEAVY, interval="bootstrap")).low == chosen.low


def test_ordinary_tails_leave_f_as_it_is() -> None:
    plain, chosen = one(icc(NORMAL)), one(icc(NORMAL, interval="auto"))
    assert plain == chosen
    assert plain.warning is None
    assert "warning" not in plain.to_dict()
    assert chosen.method == "F, Satterthwaite degrees of freedom"


def test_a_stack_is_judged_matrix_by_matrix() -> None:
    gaps = HEAVY.copy()
    gaps[3, 2] = np.nan
    stack = np.stack([NORMAL, HEAVY, gaps, np.ones_like(HEAVY)]).reshape(2, 2, 60, 8)
    found = icc(stack, interval="auto")
    assert isinstance(found, Estimates)
    assert found.resampled is not None
    assert found.resampled.tolist() == [[False, True], [True, False]]
    assert found[0, 1] == icc(HEAVY, interval="auto")
    assert found[1, 0] == icc(np.delete(HEAVY, 3, axis=0), interval="auto")
    assert found[1, 1].reason == "all scores are equal"


def test_no_error_at_all_keeps_the_interval_of_f() -> None:
    same = np.repeat(HEAVY[:, :1], 3, axis=1)
    found = one(icc(same, interval="bootstrap"))
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_tails_are_judged_from_twenty_subjects_on() -> None:
    outlier = np.zeros((20, 2))
    outlier[:, 0] = np.linspace(-1, 1, 20)
    outlier[0] = 40
    assert heavy_tails(outlier)
    assert not heavy_tails(outlier[:19])
    assert not heavy_tails(np.ones((30, 2)))
    random = np.random.default_rng(3)
    fired = np.mean([heavy_tails(scores("normal", 40, 3, random)) for _ in range(400)])
    assert fired <= SIGNIFICANT + 3 * (SIGNIFICANT * (1 - SIGNIFICANT) / 400) ** 0.5


def test_few_raters_are_told_of_where_they_are_a_sample() -> None:
    """NORMAL has ordinary tails: four raters of "2,…" are a reason to draw, those of "3,…" and five are not."""
    few = one(icc(NORMAL[:, :4], "2,1"))
    assert few.warning is not None
    assert few.warning.startswith("so few raters barely tell how raters differ")
    assert one(icc(NORMAL[:, :4], "2,1", interval="auto")).resamples == 1_000
    for form, raters in (("3,1", 4), ("2,1", 5)):
        found = one(icc(NORMAL[:, :raters], form, interval="auto"))  # type: ignore[arg-type]
        assert found.warning is None
        assert found.resamples == 0


@pytest.mark.calibration
def test_three_raters_of_many_subjects() -> None:
    """F covers .89 with 300 subjects and three normal raters; the pivot of the raters' mean square mends it."""
    random, runs, truth = np.random.default_rng(5), 300, 1 / 2.3
    matrices = [scores("normal", 300, 3, random) for _ in range(runs)]
    drawn = [one(icc(matrix, interval="auto", resamples=300)) for matrix in matrices]
    held = np.mean([row.low <= truth <= row.high for row in drawn])  # type: ignore[operator]
    assert abs(held - 0.95) <= 3 * (0.95 * 0.05 / runs) ** 0.5
    exact = [one(icc(matrix)) for matrix in matrices]
    assert np.mean([row.low <= truth <= row.high for row in exact]) <= 0.92  # type: ignore[operator]


def test_an_unknown_interval_is_refused() -> None:
    with pytest.raises(ParameterError, match="f, bootstrap, auto"):
        icc(NORMAL, interval="bca")  # type: ignore[arg-type]


@pytest.mark.calibration
@pytest.mark.parametrize("raters", [pytest.param(3, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)])
def test_the_bootstrap_covers_where_effects_are_normal_and_far_better_than_f_where_they_are_not(raters: int) -> None:
    """Under t(3), whose fourth moment is infinite, no interval from 60 subjects reaches its level."""
    runs, truth = 300, 1 / 2.3
    error = (0.95 * 0.05 / runs) ** 0.5
    held = {}
    for kind in ("normal", "t"):
        random = np.random.default_rng(6)
        matrices = [scores(kind, 60, raters, random) for _ in range(runs)]
        for interval in ("f", "bootstrap", "auto"):
            found = [one(icc(matrix, interval=interval, resamples=400)) for matrix in matrices]
            held[kind, interval] = np.mean([row.low <= truth <= row.high for row in found])  # type: ignore[operator]
    assert held["normal", "bootstrap"] >= 0.95 - 3 * error - 0.01
    assert held["normal", "auto"] >= 0.95 - 3 * error - 0.01
    assert held["t", "bootstrap"] >= 0.86
    assert held["t", "auto"] >= held["t", "f"] + 0.05
    assert held["t", "f"] <= 0.85
