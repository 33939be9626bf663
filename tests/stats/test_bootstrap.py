"""Intervals: against scipy's bootstrap, against simulation, and what they do where there is none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.metrics import weat_from_similarities
from biasgauge.stats import Resampled, Resampling, estimate_over_words
from biasgauge.stats import bootstrap as module
from biasgauge.stats.bootstrap import acceleration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from biasgauge.core.arrays import Floats
    from biasgauge.core.estimate import Estimate


def difference_of_means(x: Floats, y: Floats) -> Resampled:
    def values(counts: Mapping[str, Floats]) -> Floats:
        means: list[Floats] = [counts[name] @ data / counts[name].sum(axis=1) for name, data in (("x", x), ("y", y))]
        return means[0] - means[1]

    return Resampled({"x": len(x), "y": len(y)}, values)


def ends(interval: Estimate | None) -> tuple[float, float]:
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def skewed(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.exponential(size=12), random.normal(size=9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("method", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
def test_ends_agree_with_scipy_on_the_same_resamples(method: Any, theirs: Any, seed: int) -> None:  # noqa: ANN401 - literals
    x, y = skewed(seed)
    chosen = Resampling(method=method, level=0.9, resamples=3_000, random_state=seed)
    resampled = difference_of_means(x, y)
    drawn = np.concatenate([resampled.values(one) for one in module.word_counts(resampled.units, chosen)])
    given: Any = SimpleNamespace(bootstrap_distribution=drawn)
    oracle = stats.bootstrap(
        (x, y),
        lambda one, two, axis: one.mean(axis=axis) - two.mean(axis=axis),
        n_resamples=0,
        bootstrap_result=given,
        confidence_level=0.9,
        method=theirs,
    )
    found = ends(estimate_over_words(float(x.mean() - y.mean()), resampled, chosen))
    assert found == pytest.approx(tuple(oracle.confidence_interval), abs=1e-9)


def test_the_methods_differ_where_the_data_are_skewed() -> None:
    x, y = skewed(0)
    value = float(x.mean() - y.mean())
    found = {
        ends(estimate_over_words(value, difference_of_means(x, y), Resampling(method=method)))
        for method in ("bca", "percentile", "jackknife")
    }
    assert len(found) == 3


def test_the_jackknife_of_a_difference_of_means_is_the_textbook_error() -> None:
    x, y = skewed(3)
    value = float(x.mean() - y.mean())
    low, high = ends(estimate_over_words(value, difference_of_means(x, y), Resampling(method="jackknife")))
    error = np.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * error, rel=1e-9)
    assert (high + low) / 2 == pytest.approx(value)


def test_acceleration_is_nought_without_skewness() -> None:
    assert acceleration([np.array([-1.0, 0.0, 1.0])]) == pytest.approx(0)
    assert acceleration([np.zeros(3)]) == 0
    assert acceleration([np.array([0.0, 0.0, -3.0])]) > 0


def test_draws_do_not_depend_on_the_block() -> None:
    x, y = skewed(4)
    before = estimate_over_words(0.5, difference_of_means(x, y), Resampling(resamples=777))
    after = estimate_over_words(0.5, difference_of_means(x, y), Resampling(resamples=777), block=10)
    assert ends(after) == pytest.approx(ends(before), abs=1e-12)


def test_the_seed_decides() -> None:
    x, y = skewed(5)
    first, again, other = (
        estimate_over_words(0.5, difference_of_means(x, y), Resampling(random_state=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_higher_level_is_wider_and_all_is_recorded() -> None:
    x, y = skewed(6)
    value = float(x.mean() - y.mean())
    narrow, wide = (
        estimate_over_words(value, difference_of_means(x, y), Resampling(level=level, resamples=500))
        for level in (0.5, 0.99)
    )
    assert ends(wide)[0] < ends(narrow)[0] < value < ends(narrow)[1] < ends(wide)[1]
    assert narrow is not None
    assert narrow.interval() == {
        "low": ends(narrow)[0],
        "high": ends(narrow)[1],
        "level": 0.5,
        "method": "bca",
        "resamples": 500,
        "generalizes_over": "words",
        "undefined_resamples": 0,
        "reason": None,
    }


def reason_of(resampled: Resampled, **settings: Any) -> str:  # noqa: ANN401 - settings of an interval
    found = estimate_over_words(1.0, resampled, Resampling(**settings))
    assert found is not None
    assert found.low is None
    assert found.high is None
    assert found.reason is not None
    return found.reason


def test_there_is_no_interval_without_a_spread_and_the_reason_says_so() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert "'y' has fewer than two words" in reason_of(difference_of_means(x, x[:1]))
    assert "fewer than two pairs" in reason_of(Resampled({"xy": 1}, lambda counts: counts["xy"][:, 0]))
    flat = difference_of_means(np.ones(3), np.zeros(3))
    assert "same value" in reason_of(flat)
    assert "same value" in reason_of(flat, method="jackknife")


def test_there_is_no_bca_where_it_is_not_defined() -> None:
    def above(counts: Mapping[str, Floats]) -> Floats:
        return 2 + counts["x"][:, 0]

    assert "same side" in reason_of(Resampled({"x": 5}, above))
    assert ends(estimate_over_words(1.0, Resampled({"x": 5}, above), Resampling(method="percentile"))) == (2, 5)

    def needs_the_first(counts: Mapping[str, Floats]) -> Floats:
        drawn = counts["x"]
        return np.where(drawn.sum(axis=1) == 39, np.nan, drawn @ np.arange(40.0) / 780)

    assert reason_of(Resampled({"x": 40}, needs_the_first), method="jackknife") == "without some word there is no value"


def test_resamples_without_a_value_are_counted_and_too_many_are_refused() -> None:
    def sometimes(limit: float) -> Resampled:
        def values(counts: Mapping[str, Floats]) -> Floats:
            first = counts["x"][:, 0]
            return np.where(first > limit, np.nan, counts["x"] @ np.arange(8.0))

        return Resampled({"x": 8}, values)

    few = estimate_over_words(28.0, sometimes(3), Resampling(method="percentile"))
    assert few is not None
    assert 0 < few.undefined_resamples < 100
    assert few.low is not None
    assert "of 2,000 resamples have no value" in reason_of(sometimes(0), method="percentile")


@pytest.mark.parametrize(
    ("setting", "value"), [("method", "normal"), ("level", 1.0), ("resamples", 0), ("random_state", -1)]
)
def test_impossible_settings_get_a_sentence(setting: str, value: object) -> None:
    with pytest.raises(ParameterError, match=setting):
        replace(Resampling(), **{setting: value})  # type: ignore[arg-type]


def test_weat_is_resampled_on_all_four_sets() -> None:
    random = np.random.default_rng(8)
    blocks = [random.normal(0.1 * shift, 0.1, size=(8, 8)) for shift in (1, 0, 0, 1)]
    result = weat_from_similarities(*blocks)
    low, high = ends(result.interval)
    assert result.effect_size is not None
    assert low < result.effect_size < high
    single = weat_from_similarities(*(block[:, :1] for block in blocks))
    assert single.interval is not None
    assert single.interval.reason == "the set 'a' has fewer than two words to draw from again"
    assert single.effect_size is not None


def coverage(method: Any, worlds: int, words: int, *, shrink: float = 1.0) -> float:  # noqa: ANN401 - a literal
    """Share of worlds in which the interval of WEAT's effect size holds what infinitely many words would give.

    Each word of X and Y has its own lean and each word of A and B its own pull; a similarity is their sum and noise.
    With infinitely many words the effect is the gap of the leans over the sd of a mixture of two normals.
    `shrink` plants a fault: it pulls the ends towards the value.
    """
    random = np.random.default_rng(77)
    gap, spread = 0.1, 0.1
    truth, inside = gap / np.hypot(spread, gap / 2), 0
    settings = Resampling(method=method, resamples=600)
    for _ in range(worlds):
        to_a, to_b = (random.normal(0, 0.05, size=words) for _ in "ab")
        leans = [random.normal(shift, spread, size=(words, 1)) for shift in (gap, 0.0)]
        xa, ya = (lean + to_a + random.normal(0, 0.05, size=(words, words)) for lean in leans)
        xb = yb = np.tile(to_b, (words, 1))
        result = weat_from_similarities(xa, xb, ya, yb, max_exact=0, samples=1, interval=settings)
        value = result.effect_size
        assert value is not None
        low, high = (value + shrink * (end - value) for end in ends(result.interval))
        inside += low <= truth <= high
    return inside / worlds


@pytest.mark.calibration
@pytest.mark.parametrize(("method", "words"), [("bca", 8), ("bca", 30), ("percentile", 30), ("jackknife", 30)])
def test_intervals_hold_the_truth_as_often_as_they_say(method: str, words: int) -> None:
    assert 0.90 <= coverage(method, worlds=300, words=words) <= 0.99


@pytest.mark.calibration
def test_an_interval_too_narrow_would_be_found_out() -> None:
    assert coverage("percentile", worlds=300, words=30, shrink=0.7) < 0.90


def test_long_lists_are_left_out_in_groups() -> None:
    """Acceleration and jackknife of a skewed mean: the same from 100 groups as from 3,000 words, but for chance."""
    sample = np.random.default_rng(3).exponential(1.0, 3_000)
    resampled = Resampled({"x": len(sample)}, lambda counts: counts["x"] @ sample / counts["x"].sum(axis=1))
    (alone,) = module.left_out_words(resampled, 3_000)
    (groups,) = module.left_out_words(resampled, 100)
    assert (len(alone), len(groups)) == (3_000, 100)
    first = [sample[np.arange(3_000) % 100 != group].mean() for group in (0, 99)]
    assert [groups[0], groups[99]] == pytest.approx(first)
    assert module.jackknife_variance([alone]) == pytest.approx(sample.var(ddof=1) / 3_000)
    assert module.jackknife_variance([groups]) == pytest.approx(sample.var(ddof=1) / 3_000, rel=0.4)
    one_by_one = acceleration([alone])
    assert one_by_one == pytest.approx(2 / 6 / 3_000**0.5, rel=0.2)  # a sixth of the skewness of a mean
    assert acceleration([groups]) == pytest.approx(one_by_one, abs=0.006)
