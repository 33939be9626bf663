"""Every function of `stats` that makes an `Estimate`: does its interval hold the truth as often as it says?

Producers are found by reading the source, so that a new one without a case fails here; no other package may make an
interval of its own (test_one_place.py).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import partial
from math import tanh
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from scipy.special import ndtr

from biasgauge import stats
from biasgauge.core.estimate import Estimate
from biasgauge.stats import (
    ClusteredTable,
    Contrast,
    Credible,
    Resampled,
    Resampling,
    WordCells,
    auc_estimate,
    closed_form_se,
    clustered_estimate,
    clustered_mean,
    contrast_estimate,
    corrected_norms,
    disattenuated,
    dose_of_score,
    dose_response,
    draw_counts,
    effect_over_ways,
    fit_clustered,
    jackknife_mean,
    jackknife_r,
    leave_one_out,
    log_odds_ratio,
    mean_cosine,
    mean_over_seeds,
    means_along,
    median_of_distinct,
    normal_moments,
    percentile_estimate,
    robust_slope,
    share_of_repeated,
    slope_estimate,
    slope_over_groups,
    student_estimate,
    weighted_alpha,
    welch,
)
from biasgauge.stats.group_contrasts import at_least
from biasgauge.stats.means import sd_estimate
from biasgauge.stats.odds_ratios import closed_form, left_out_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from biasgauge.core.arrays import Floats

pytestmark = pytest.mark.calibration

WORLDS = 400
"""Simulated data sets: the share of intervals that hold the truth is then known to ± .011 (one standard error)."""
MADE = frozenset({"Contrast", "Estimate", "Estimates", "Icc", "Iccs", "LinearEffect", "Means", "WordStatistic"})


@dataclass(frozen=True)
class Case:
    """A producer, a world in which the truth is known, and what its value must do when the data are changed.

    Attributes:
        draw: data from one world.
        make: the estimate of them.
        truth: what the interval should hold.
        level: its nominal coverage.
        slack: how far below the nominal coverage it may lie, beyond four standard errors, with the reason beside it.
        changed: data changed in a way that must leave the estimate as it is, or turn it as `turned` says.
        turned: value, low and high after that change, from those before.
        covered: how many worlds are needed; fewer where one takes long.
    """

    draw: Callable[[np.random.Generator], Any]
    make: Callable[[Any], Estimate]
    truth: float
    changed: Callable[[Any], Any]
    turned: Callable[[Estimate], tuple[float, float, float]] | None = None
    level: float = 0.9
    slack: float = 0.0
    conservative: bool = False
    worlds: int = WORLDS


def _ends(found: Estimate) -> tuple[float, float, float]:
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high


def _negated(found: Estimate) -> tuple[float, float, float]:
    value, low, high = _ends(found)
    return -value, -high, -low


def _times(factor: float) -> Callable[[Estimate], tuple[float, float, float]]:
    def scaled(found: Estimate) -> tuple[float, float, float]:
        value, low, high = _ends(found)
        low, high = sorted((factor * low, factor * high))
        return factor * value, low, high

    return scaled


def _bivariate(rho: float, n: int) -> Callable[[np.random.Generator], Floats]:
    return lambda random: random.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)


def _raters(n: int, k: int, words: float, error: float) -> Callable[[np.random.Generator], Floats]:
    """Subjects × raters with random subjects and error; raters alike."""
    return lambda random: random.normal(0, words, (n, 1)) + random.normal(0, error, (n, k))


def _categories(n: int, k: int, kept: float) -> Callable[[np.random.Generator], Any]:
    """Items × raters on two even categories; each rater keeps the item's category with probability `kept`."""

    def draw(random: np.random.Generator) -> Any:  # noqa: ANN401 - labels
        truth = random.integers(0, 2, (n, 1))
        copied = random.random((n, k)) < kept
        return np.where(copied, truth, random.integers(0, 2, (n, k)))

    return draw


def _directions(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Two ways to give 60 words a direction under 4 pairs; half of the second way copies the first."""
    first = random.choice([-1.0, 1.0], (4, 60))
    return first, np.where(random.random((4, 60)) < 0.5, first, random.choice([-1.0, 1.0], (4, 60)))


def _mean_of(sample: Floats) -> Resampled:
    return Resampled({"x": len(sample)}, lambda counts: counts["x"] @ sample / counts["x"].sum(axis=1))


def _from_draws(sample: Floats) -> Estimate:
    counts = draw_counts(np.random.default_rng(0), len(sample), 1000)
    left_out = (sample.sum() - sample) / (len(sample) - 1)
    how = Resampling("bca", 0.9, 1000)
    return stats.estimate_from_draws(float(sample.mean()), counts @ sample / len(sample), lambda: [left_out], how, "x")


def _over_words(sample: Floats) -> Estimate:
    found = stats.estimate_over_words(float(sample.mean()), _mean_of(sample), Resampling("percentile", 0.9, 1000))
    assert found is not None
    return found


def _left_out(sample: Floats) -> list[Floats]:
    return [(sample.sum() - sample) / (len(sample) - 1)]


def _differ(points: Floats) -> Estimate:
    r = np.atleast_2d(np.corrcoef(points.T))
    return stats.correlations_differ(r[0, 1], r[0, 2], r[1, 2], len(points), 0.9, "pearson")


def _trivariate(random: np.random.Generator) -> Floats:
    return random.multivariate_normal(np.zeros(3), [[1, 0.6, 0.4], [0.6, 1, 0.5], [0.4, 0.5, 1]], 80)


def _hits(n: int, p: float) -> Callable[[np.random.Generator], tuple[int, int]]:
    return lambda random: (int(random.binomial(n, p)), n)


def _paired_hits(random: np.random.Generator) -> tuple[int, int, int]:
    gained, lost, _ = random.multinomial(120, [0.25, 0.15, 0.6])
    return int(gained), int(lost), 120


_POSTERIOR = np.random.default_rng(1).normal(0, 10**-0.5, 4000)
"""Draws from the posterior of a mean of ten values with variance 1, flat prior, around their mean."""


def _shifted(found: Estimate) -> tuple[float, float, float]:
    value, low, high = _ends(found)
    return value + 1, low + 1, high + 1


def _missed(data: tuple[int, int]) -> tuple[int, int]:
    return data[1] - data[0], data[1]


def _complement(found: Estimate) -> tuple[float, float, float]:
    value, low, high = _ends(found)
    return 1 - value, 1 - high, 1 - low


def _one(found: object) -> Estimate:
    return cast("Estimate", found)


def _fisher(points: Floats) -> Estimate:
    return stats.fisher_interval(float(np.atleast_2d(np.corrcoef(points.T))[0, 1]), len(points), level=0.9)


def _units(random: np.random.Generator) -> Floats:
    """Two symmetric tables of all pairs of 24 units, correlated by .5; every unit has a part in 23 points of each."""
    of_units = random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 24).T
    noise = random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], (24, 24)).transpose(2, 0, 1)
    return np.asarray(of_units[:, :, None] + of_units[:, None] + noise)


def _r_over_units(tables: Floats) -> Estimate:
    pairs = np.triu(np.ones(tables.shape[1:], bool), 1)

    def r(kept: Floats) -> float:
        return float(np.corrcoef(tables[0][kept], tables[1][kept])[0, 1])

    left_out = [r(_without(pairs, unit)) for unit in range(24)]
    return jackknife_r(r(pairs), np.array(left_out), 0.9)


def _without(pairs: Floats, unit: int) -> Floats:
    kept = pairs.copy()
    kept[unit], kept[:, unit] = False, False
    return kept


def _with_reach(values: Floats) -> Estimate:
    """The second of three columns, each with a gap."""
    count, mean, reach = (numbers[1] for numbers in means_along(values, 0, 0.9))
    return Estimate(value=float(mean), low=float(mean - reach), high=float(mean + reach), level=0.9, n=int(count))


def _side_by_side(random: np.random.Generator) -> Floats:
    """Five items in each of 80 clusters, which differ twice as much as the items of one do."""
    return np.asarray(random.normal(0.2, 0.2, 80) + random.normal(0, 0.1, (5, 80)))


def _with_gaps(random: np.random.Generator) -> Floats:
    values = random.normal(0.2, 0.1, (8, 3))
    values[[0, 3, 5], [0, 1, 2]] = np.nan
    return values


def _seeds(random: np.random.Generator) -> Floats:
    """Items × seeds: one number an item, the same for all seeds but for noise."""
    return 0.3 + random.normal(0, 1, (60, 1)) + random.normal(0, 0.2, (60, 5))


def _over_seeds(values: Floats) -> Estimate:
    random, how = np.random.default_rng(0), Resampling("percentile", 0.9, 400)
    drawn = draw_counts(random, len(values), how.resamples) @ values / len(values)
    return mean_over_seeds(values.mean(axis=0), drawn, random.integers(0, 5, (how.resamples, 5)), how)


def _leaning(random: np.random.Generator) -> Floats:
    """Similarities of 8 + 8 targets and 8 + 8 attributes, both of which lean; X and A are .2 closer than the rest."""
    half = np.repeat([1.0, 0.0], 8)
    lean = random.normal(0, 0.1, (16, 1)) * [2 * half - 1] + random.normal(0, 0.1, (1, 16)) * (2 * half - 1)[:, None]
    return np.asarray(lean + random.normal(0, 0.1, (16, 16)) + 0.2 * np.outer(half, half))


SKEWED = 40


def _over_pairs_of_models(models: Floats) -> Estimate:
    """The mean over pairs of models, where a pair's value is the mean of what its models have."""
    pairs = (models[:, None] + models) / 2
    np.fill_diagonal(pairs, 0)
    size = len(models)
    total, count = np.array([pairs.sum() / 2]), np.array([size * (size - 1) / 2])
    left_out = leave_one_out(total, count, pairs.sum(axis=1, keepdims=True), np.full((size, 1), size - 1.0))
    value, margin = float(total[0] / count[0]), float(left_out.margins(0.9)[0])
    return jackknife_mean(value, margin, 0.9, (-np.inf, np.inf), n=size)


def _uneven_line(random: np.random.Generator) -> Floats:
    """Points on a line of slope 2 whose spread grows along it."""
    x = np.linspace(0, 3, 60)
    return np.column_stack([x, 1 + 2 * x + random.normal(0, 0.2 + x)])


def _line_of_groups(random: np.random.Generator) -> Floats:
    """Means of eight periods on a line of slope .3."""
    return np.asarray(0.3 * np.arange(8.0) + random.normal(0, 0.5, 8))


def _two_groups(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Six and eight models; the second group spreads twice as much and lies .5 higher."""
    return random.normal(0.0, 1.0, 6), random.normal(0.5, 2.0, 8)


def _authors(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Numbers of occurrences, and sums of an outcome, of 24 authors × 10 words; half of the authors lie .5 higher."""
    counts = random.integers(1, 9, (24, 10)).astype(float)
    means = 0.5 * (np.arange(24) % 2)[:, None] + random.normal(size=(24, 1)) + random.normal(size=(24, 10))
    return counts, counts * means + np.sqrt(counts) * random.normal(size=counts.shape)


def _author_effect(data: tuple[Floats, Floats]) -> Estimate:
    """Difference of the two halves of the authors, over authors and over words that have an intercept each."""
    counts, sums = (part.ravel() for part in data)
    author, word = np.divmod(np.arange(240), 10)
    high = (author % 2).astype(float)
    shares = np.bincount(word, counts * high) / np.bincount(word, counts)
    centers = (np.bincount(word, sums) / np.bincount(word, counts))[:, None]
    design = (high - shares[word])[:, None]
    ways = (author, word, np.arange(240))
    fits = [fit_clustered(design, counts, sums[:, None], way, centers=centers, groups=word) for way in ways]
    return effect_over_ways(fits, np.ones(1), 0.9).estimate


def _two_groups_of_vectors(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Numbers of occurrences, and sums of 20 outcomes, of 40 documents; half lie off by a squared norm of .5."""
    counts, shift = random.integers(1, 9, 40).astype(float), np.zeros(20)
    shift[:2] = 0.5
    means = np.outer(np.arange(40) % 2, shift) + 0.5 * random.normal(size=(40, 20))
    return counts, counts[:, None] * means + np.sqrt(counts)[:, None] * random.normal(size=means.shape)


def _norm(data: tuple[Floats, Floats]) -> Estimate:
    counts, sums = data
    design = np.column_stack([np.ones(40), (np.arange(40) % 2).astype(float)])
    return corrected_norms([fit_clustered(design, counts, sums, np.arange(40))], 0.9)[1]


def _wider(models: Floats) -> Estimate:
    """A mean of six models, by their own spread and as if that were known from many words."""
    value, se = float(models.mean()), float(models.std(ddof=1)) / len(models) ** 0.5
    about = {"value": value, "se": se, "p": 0.5, "n": len(models)}
    few, many = (Contrast(df=df, **about).at(0.9) for df in (len(models) - 1.0, 60.0))
    return at_least(many, few)


def _table_of_counts(random: np.random.Generator) -> Floats:
    """Independent counts with an odds ratio of 2."""
    return random.poisson([80.0, 4000.0, 40.0, 4000.0]).astype(np.float64)


def _odds(table: Floats) -> Estimate:
    return closed_form(float(log_odds_ratio(table)), float(closed_form_se(table)), 0.9)


def _with_errors(random: np.random.Generator) -> Floats:
    """One number rises by .5 with something that is seen with an error of .5."""
    real = random.normal(0, 1, 100)
    return np.column_stack([real + random.normal(0, 0.5, 100), 0.5 * real + random.normal(0, 0.5, 100)])


def _planted_word(random: np.random.Generator) -> tuple[Floats, Floats, Floats, float]:
    """Sixty carriers of five doses in two texts and two runs; and a new word of dose 1."""
    doses = np.stack([random.permutation(np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], 12)) for _ in range(2)], axis=1)
    own = random.normal(0, 0.5, 60)[:, None]
    scores = 0.3 + 1.5 * doses + own + random.normal(0, 0.3, doses.shape)
    runs = scores[:, :, None] + random.normal(0, 0.2, (60, 2, 2))
    new = 0.3 + 1.5 + random.normal(0, 0.5) + random.normal(0, 0.3) + random.normal(0, 0.2)
    return runs, doses, doses, float(new)


def _dose(data: tuple[Floats, Floats, Floats, float]) -> Estimate:
    return dose_of_score(data[3], dose_response(*data[:3], shape=False), level=0.9)


def _documents(random: np.random.Generator) -> Floats:
    """Counts of 400 documents that differ in whom they are about, and in how often they use the word, alike."""
    share, size = random.beta(0.5, 0.5, 400), 8 * random.poisson(12 * random.gamma(1.0, 1.0, 400))
    first = random.binomial(size, share)
    rate = 0.004 / 0.3 * (random.random(400) < 0.3) * random.gamma(1.0, 1.0, 400)
    near = [random.binomial(group, np.minimum(0.9, rate)) for group in (first, size - first)]
    return np.stack([near[0], first - near[0], near[1], size - first - near[1]], axis=1).astype(np.float64)


def _clustered(tables: Floats) -> Estimate:
    total, contexts = tables.sum(axis=0), tables[:, 0] + tables[:, 2]
    word = total[None, [0, 2]]
    side = ClusteredTable(total, total, left_out_changes(tables), contexts[contexts > 0], word)
    return clustered_estimate(side, level=0.9)


def _word_cells(random: np.random.Generator) -> WordCells:
    """Twenty-five words of unequal frequency, each with a lean of its own, in documents of their own."""
    contexts = random.geometric(0.02, 25) + 4
    near = random.binomial(contexts, random.beta(6, 6, 25))
    return WordCells(
        np.arange(25), np.arange(25), np.stack([near, contexts - near], axis=1).astype(float), np.full(2, 4000.0)
    )


def _noisy_repeats(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Sixty words whose true scores correlate at .5 with the truth, each seen three times with an error of 1."""
    truth = random.normal(0, 1, 60)
    real = 0.5 * truth + 0.75**0.5 * random.normal(0, 1, 60)
    return real[:, None] + random.normal(0, 1, (60, 3)), truth


def _corrected(data: tuple[Floats, Floats]) -> Estimate:
    seen, truth = data
    return disattenuated(seen.mean(axis=1), truth, partial(weighted_alpha, seen), Resampling("bca", 0.9, 400))


CLUSTERS = np.repeat(np.arange(30), 4)


def _in_clusters(random: np.random.Generator) -> Floats:
    """120 items in 30 clusters, whose own differences are as large as those of the items."""
    return 2.0 + random.normal(0, 1, 30)[CLUSTERS] + random.normal(0, 1, 120)


CASES = {
    "clustered_mean": Case(
        _in_clusters, lambda x: clustered_mean(x, CLUSTERS, level=0.9), 2.0, lambda x: -3 * x, _times(-3)
    ),
    "effect_over_ways": Case(
        _authors, _author_effect, 0.5, lambda x: (x[0], -x[1]), _negated, conservative=True
    ),
    "corrected_norms": Case(_two_groups_of_vectors, _norm, 0.5, lambda x: (x[0], -x[1]), conservative=True),
    "welch": Case(
        _two_groups,
        lambda x: welch(x[0], x[1], (False, False), 0.9),
        0.5,
        lambda x: (-x[0], -x[1]),
        _negated,
    ),
    "slope_over_groups": Case(
        _line_of_groups, lambda x: slope_over_groups(range(8), x, level=0.9), 0.3, np.negative, _negated
    ),
    "at_least": Case(lambda random: random.normal(0.2, 1.0, 6), _wider, 0.2, np.negative, _negated),
    "auc_estimate": Case(
        lambda random: (random.normal(1, 1, 30), random.normal(0, 1, 30)),
        lambda x: auc_estimate(x[0], x[1], level=0.9),
        float(ndtr(2**-0.5)),
        lambda x: (x[1], x[0]),
        _complement,
        conservative=True,  # as Newcombe's tables have it
    ),
    "closed_form": Case(_table_of_counts, _odds, float(np.log(2)), lambda x: x[[2, 3, 0, 1]], _negated),
    "balanced_odds": Case(
        _word_cells,
        lambda x: stats.balanced_odds(x, level=0.9),
        0.0,
        lambda x: replace(x, near=x.near[:, ::-1]),
        _negated,
    ),
    "clustered_estimate": Case(_documents, _clustered, 0.0, lambda x: x[:, [2, 3, 0, 1]], _negated, conservative=True),
    "disattenuated": Case(
        _noisy_repeats, _corrected, 0.5, lambda x: (-2 * x[0], 3 * x[1]), _negated, conservative=True, worlds=200
    ),
    "slope_estimate": Case(
        _with_errors,
        lambda x: slope_estimate(x[:, 0], x[:, 1], np.full(len(x), 0.5), Resampling("percentile", 0.9, 400)),
        0.5,
        lambda x: x * [1.0, -2.0],
        _times(-2),
        slack=0.02,  # percentiles of 100 words
    ),
    "robust_slope": Case(
        _uneven_line,
        lambda x: robust_slope(x[:, 0], x[:, 1], 0.9),
        2.0,
        lambda x: x * [1.0, -2.0],
        _times(-2),
    ),
    "dose_of_score": Case(
        _planted_word, _dose, 1.0, lambda x: (3 * x[0], x[1], x[2], 3 * x[3]), worlds=200
    ),
    "estimate_from_draws": Case(
        lambda random: random.exponential(1.0, SKEWED), _from_draws, 1.0, lambda x: 3 * x, _times(3), slack=0.03
    ),  # BCa of a skewed mean of 40: second-order correct, still a little short
    "estimate_over_words": Case(
        lambda random: random.normal(2.0, 1.0, SKEWED), _over_words, 2.0, lambda x: 3 * x, _times(3), slack=0.03
    ),  # percentiles of 40 lack Student's factor
    "correlation_estimate": Case(
        _bivariate(0.5, 40),
        lambda x: stats.correlation_estimate(x[:, 0], x[:, 1], level=0.9),
        0.5,
        lambda x: x * [2.0, -3.0],
        _negated,
    ),
    "contrast_estimate": Case(
        _leaning,
        lambda x: contrast_estimate(x, np.repeat([0, 1], 8), np.repeat([0, 1], 8), level=0.9),
        0.2,
        lambda x: 2 * x[::-1],
        _times(-2),
    ),
    "fisher_interval": Case(_bivariate(0.5, 40), _fisher, 0.5, lambda x: x[:, ::-1]),
    "correlations_differ": Case(_trivariate, _differ, 0.2, lambda x: x[:, [0, 2, 1]], _negated),
    "estimate_of_posterior": Case(
        lambda random: random.normal(0, 1, 10),
        lambda x: stats.estimate_of_posterior(_POSTERIOR + x.mean(), Credible("percentile", 0.9)),
        0.0,
        lambda x: x + 1,
        _shifted,
    ),
    "percentile_estimate": Case(
        lambda random: random.normal(0, 1, 10),
        lambda x: percentile_estimate(float(x.mean()), _POSTERIOR + x.mean(), 0.9, method="quantiles of draws"),
        0.0,
        lambda x: x + 1,
        _shifted,
    ),
    "icc": Case(
        _raters(30, 4, 1.0, 1.0), lambda x: _one(stats.icc(x, "1,1", level=0.9)), 0.5, lambda x: 5 * x - 2
    ),
    "cronbach_alpha": Case(
        _raters(40, 6, 1.0, 2.0), lambda x: _one(stats.cronbach_alpha(x, level=0.9)), 0.6, lambda x: -2 * x
    ),
    "omega": Case(
        _raters(80, 5, 1.0, 1.0),
        lambda x: _one(stats.omega(x, level=0.9, resamples=200)),
        5 / 6,
        lambda x: 2 * x,
        slack=0.04,  # percentiles, and a number bounded by 1
        worlds=150,
    ),
    "cohen_kappa": Case(
        _categories(120, 2, 0.8), lambda x: _one(stats.cohen_kappa(x[:, 0], x[:, 1], level=0.9)), 0.64, lambda x: 1 - x
    ),
    "fleiss_kappa": Case(
        _categories(80, 4, 0.8), lambda x: _one(stats.fleiss_kappa(x, level=0.9)), 0.64, lambda x: x[:, ::-1]
    ),
    "krippendorff_alpha": Case(
        _categories(80, 4, 0.8),
        lambda x: _one(stats.krippendorff_alpha(x, level=0.9, resamples=300)),
        0.64,
        lambda x: 1 - x,
        slack=0.03,  # percentiles of 80 items
        worlds=200,
    ),
    "mean_kappa": Case(
        _directions,
        lambda x: stats.mean_kappa(x[0], x[1], 0.9, 300, 0),
        0.5,
        lambda x: (-x[0], -x[1]),
        slack=0.03,  # percentiles of 60 words
        worlds=200,
    ),
    "jackknife_mean": Case(
        lambda random: random.normal(2.0, 1.0, 8), _over_pairs_of_models, 2.0, np.negative, _negated
    ),
    "mean_estimate": Case(
        lambda random: random.normal(2.0, 1.0, 8),
        lambda x: stats.mean_estimate(x, level=0.9),
        2.0,
        np.negative,
        _negated,
    ),
    "mean_share": Case(
        lambda random: random.beta(4, 4, 20),
        lambda x: stats.mean_share(x, 0.9, "s", 2),
        0.5,
        lambda x: 1 - x,
        _complement,
    ),
    "mean_over_models": Case(
        lambda random: random.normal(0.2, 0.1, 6),
        lambda x: stats.mean_over_models(x, 0.9, None, (-9.0, 9.0)),
        0.2,
        np.negative,
        _negated,
    ),
    "sd_estimate": Case(
        lambda random: random.normal(0.2, 0.1, 6),
        lambda x: sd_estimate(float(x.std(ddof=1)), 6, 0.9),
        0.1,
        lambda x: 3 * x,
        _times(3),
    ),
    "mean_over_seeds": Case(
        _seeds,
        _over_seeds,
        0.3,
        np.negative,
        _negated,
        slack=0.03,  # percentiles of 60 items and of 5 seeds
    ),
    "student_estimate": Case(
        lambda random: random.normal(0.2, 0.1, 12),
        lambda x: student_estimate(float(x.mean()), float(x.std(ddof=1)) / 12**0.5, 11, 0.9, method="t"),
        0.2,
        np.negative,
        _negated,
    ),
    "means_along": Case(_with_gaps, _with_reach, 0.2, np.negative, _negated),
    "jackknife_r": Case(_units, _r_over_units, 0.5, lambda x: x * [[[-1]], [[1]]], _negated),
    "normal_moments": Case(
        _side_by_side, lambda x: normal_moments(x, 0.9)[0], 0.2, np.negative, _negated, slack=0.01
    ),
    "normal_moments sd": Case(
        _side_by_side, lambda x: normal_moments(x, 0.9)[1], 0.05**0.5, lambda x: 3 * x, _times(3), slack=0.02
    ),
    "jackknife_t": Case(
        lambda random: random.normal(0.2, 0.1, 12),
        lambda x: stats.jackknife_t(float(x.mean()), _left_out(x), 0.9, (-9.0, 9.0), "words"),
        0.2,
        np.negative,
        _negated,
    ),
    "mean_cosine": Case(
        lambda random: random.normal(0.1, 0.1, 12), lambda x: mean_cosine(x, None, 0.9), 0.1, np.negative, _negated
    ),
    "median_of_distinct": Case(
        lambda random: random.exponential(1.0, 30),
        lambda x: median_of_distinct(x, [str(one) for one in range(30)], 0.9),
        float(np.log(2)),
        lambda x: 4 * x,
        _times(4),
        conservative=True,
    ),
    "share_of_repeated": Case(
        lambda random: random.random(40) < 0.3,
        lambda x: share_of_repeated(x, [str(one) for one in range(40)], 0.9),
        0.3,
        np.logical_not,
        _complement,
        conservative=True,
    ),
    "wilson": Case(
        _hits(40, 0.3), lambda x: stats.wilson(x[0] / x[1], x[1], 0.9), 0.3, _missed, _complement, conservative=True
    ),
    "share_of_words": Case(
        _hits(40, 0.3),
        lambda x: stats.share_of_words(x[0], x[1], 0.9, "s"),
        0.3,
        _missed,
        _complement,
        conservative=True,
    ),
    "clopper_pearson": Case(
        _hits(40, 0.3),
        lambda x: stats.clopper_pearson(x[0], x[1], level=0.9),
        0.3,
        _missed,
        _complement,
        conservative=True,
    ),
    "agresti_min": Case(
        _paired_hits,
        lambda x: stats.agresti_min(*x, level=0.9),
        0.1,
        lambda x: (x[1], x[0], x[2]),
        _negated,
        slack=0.01,  # a count: steps of 1 / 122
    ),
}  # fmt: skip


def producers(source: Path) -> Iterator[str]:
    """Public functions of the package that give an `Estimate`, by reading the source."""
    for path in sorted(source.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.returns is not None:
                named = {one.id for one in ast.walk(node.returns) if isinstance(one, ast.Name)}
                if named & MADE:
                    yield node.name


SETTLED_ELSEWHERE = {
    "not_estimated": "gives no number",
    "undefined_statistic": "gives no number",
    "icc_stack": "icc",
    "bootstrap_correlation": "estimate_from_draws, held by tests of correlations",
    "estimates_of_sums": "estimate_from_draws, held by tests of coreference",
    "sd_over_seeds": "sd_estimate",
    "bootstrap_estimate": "percentile_estimate",
}
"""Producers without a case of their own, with the reason."""


def test_every_producer_has_a_case(package: Path) -> None:
    found = set(producers(package / "stats"))
    assert found - set(SETTLED_ELSEWHERE) == {name.partition(" ")[0] for name in CASES}


def test_a_producer_without_a_case_is_found(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("def guess(x: int) -> Estimate | None: ...\ndef _own() -> Estimate: ...\n")
    assert list(producers(tmp_path)) == ["guess"]


@pytest.mark.parametrize("name", sorted(CASES))
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    case, random = CASES[name], np.random.default_rng(11)
    held = 0
    for _ in range(case.worlds):
        value, low, high = _ends(case.make(case.draw(random)))
        assert low <= value <= high
        held += low <= case.truth <= high
    error = (case.level * (1 - case.level) / case.worlds) ** 0.5
    share = held / case.worlds
    assert share >= case.level - case.slack - 4 * error
    assert case.conservative or share <= case.level + 4 * error


@pytest.mark.parametrize("name", sorted(CASES))
def test_estimates_follow_their_data(name: str) -> None:
    case = CASES[name]
    data = case.draw(np.random.default_rng(3))
    before, after = case.make(data), case.make(case.changed(data))
    assert _ends(after) == pytest.approx((case.turned or _ends)(before), rel=1e-9, abs=1e-12)
    assert (after.level, after.method, after.n) == (before.level, before.method, before.n)


def test_fishers_interval_is_the_textbooks() -> None:
    """For r = .5 and n = 28: z = .549306 ± 1.959964 / 5."""
    found = stats.fisher_interval(0.5, 28)
    assert (found.low, found.high) == pytest.approx((tanh(0.549306 - 0.391993), tanh(0.549306 + 0.391993)), abs=1e-6)
