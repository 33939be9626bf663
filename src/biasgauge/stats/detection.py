"""Limits of blank and of detection (Currie 1968; CLSI EP17), and the dose that corresponds to a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

from biasgauge.core import Estimate, Fields, Floats, Record
from biasgauge.stats.dose_curves import DoseResponse, Variances
from biasgauge.stats.numerics import student_quantile

Z = 1.6448536269514722
"""95 % of a normal distribution lie below it."""
Side = Literal["first", "second"]
NO_SLOPE = "the score does not follow the dose, so that no dose can be detected"
NO_UPPER_END = "the interval has no upper end: in some draws nothing can be detected"


@dataclass(frozen=True)
class Limit(Record):
    """Limits of blank and of detection of the mean of some words.

    Attributes:
        words: number of words.
        side: doses that lean to the first or the second end.
        blank: limit of blank: 5 % of blanks lie beyond it.
        detection: limit of detection, as a dose: 95 % of words with this dose lie beyond the limit of blank.
        beyond: True if that dose is larger than any that was planted, so that it is an extrapolation of the line.
    """

    words: int
    side: Side
    blank: float
    detection: Estimate
    beyond: bool = False


class Blanks(NamedTuple):
    """Predictive distribution of the mean of some new blanks, in one more model.

    Attributes:
        mean: expected mean.
        variance: of the prediction, that of the new mean and of its estimated expectation together; one number for
            each draw where there are draws.
        expectation_variance: of the estimated expectation alone: blanks are few, and so are models.
        df: degrees of freedom of the variance, by Satterthwaite.
    """

    mean: float
    variance: Floats
    expectation_variance: Floats
    df: float

    def limit(self, sign: float = 1.0) -> float:
        """Limit of blank, mean ± t₉₅ √variance: 5 % of means of new blanks lie beyond it (prediction limit)."""
        return self.mean + sign * float(stdtrit(self.df, 0.95) * np.sqrt(np.ravel(self.variance)[0]))


def new_blanks(
    scores: Floats,
    levels: Floats,
    variances: Variances,
    *,
    words: int = 1,
    runs: int = 1,
    spread: Floats | None = None,
    shift: Floats | None = None,
) -> Blanks:
    """Predict the mean of new blanks, each measured in new runs.

    With σ² the variance between blanks within a run and τ² that of the shift of a run, the new mean has the variance
    σ² (carrier + planting + run / runs) / words + τ² / runs, the three being shares of σ². Its expectation is estimated
    from the blanks and models at hand, and errs likewise. `scores`, `levels` and `variances` are those of
    `dose_response`; each of `words` new blanks is averaged over `runs` runs; `spread` (σ²) and `shift` (τ²) are given
    where they are drawn anew, and follow from the scores by default.
    """
    blank = levels == 0
    _, draws, trained = scores.shape
    models = draws * trained
    mean, observed = _spread(scores, blank[:, :, None] * np.ones_like(scores), np.ones((1, len(scores))))
    spread = observed if spread is None else spread
    shift = np.array([variances.shift]) if shift is None else shift
    carrier, planting, run = _word_shares(variances)
    # Variance of the mean of the blanks at hand, as a share of σ²: a carrier that is a blank in m draws has the same
    # effect in all of them (Σ m² / (Σ m)²), plantings are independent, and runs are averaged over trained models.
    draws_as_blank = blank.sum(axis=1)
    cells = float(draws_as_blank.sum())
    mean_share = carrier * float((draws_as_blank**2).sum()) / cells**2 + planting / cells + run / (cells * trained)
    new_share = (carrier + planting + run / runs) / words
    expectation_variance = spread * mean_share + shift / models
    variance = spread * new_share + shift / runs + expectation_variance
    # Satterthwaite: blanks are the same words in several runs and texts, so that the variances of two draws, which
    # share `shared` words, are correlated by the squared correlation of their scores.
    shared = blank.T.astype(np.float64) @ blank
    same_draw = (1 + (trained - 1) * (carrier + planting) ** 2) / trained
    correlation = np.eye(draws) * same_draw + (1 - np.eye(draws)) * carrier**2
    blanks_per_draw = cells / draws
    df_words = draws**2 * blanks_per_draw * max(blanks_per_draw - 1, 1.0) / float((shared * correlation).sum())
    word_term = observed[0] * (new_share + mean_share)
    total = word_term + variances.shift * (1 / runs + 1 / models)
    squares = word_term**2 / df_words
    if models > 1:
        shift_term = float(scores.mean(axis=0).var(ddof=1)) * (1 / runs + 1 / models)
        squares += shift_term**2 / (models - 1)
    df = max(float(total**2 / squares), 1.0) if squares > 0 else np.inf
    return Blanks(float(mean[0]), variance, expectation_variance, df)


def _word_shares(variances: Variances) -> tuple[float, float, float]:
    """Shares of carrier, planting and run in the variance between words of one run."""
    total = variances.word
    if total <= 0:
        return 1.0, 0.0, 0.0
    return variances.carrier / total, (variances.planting or 0.0) / total, (variances.run or 0.0) / total


def detection_limits(
    scores: Floats,
    doses: Floats,
    levels: Floats,
    response: DoseResponse,
    *,
    words: tuple[int, ...] = (1,),
    runs: int = 1,
    level: float = 0.95,
    resamples: int = 1000,
    random_state: int = 0,
) -> tuple[Limit, ...]:
    """Limits of blank and detection for means of words; intervals by bootstrap over units.

    The limit of blank is a prediction limit: over calibrations, 5 % of new blanks lie beyond it. The limit of detection
    is the dose at which 95 % of new words lie beyond the limit of blank,
    (blank mean − intercept + t₉₅ √(variance of blanks) + z₉₅ √(variance of dosed words)) / slope. Slopes of the two
    sides differ where `response` finds that they do (p < .05). The variance of the shift of a run is drawn too, since
    it is estimated from few models (χ²). `response` is `dose_response` of the same scores, doses and levels; `words`
    are sizes of sets, and a score is averaged over `runs` runs.
    """
    random = np.random.default_rng([random_state, 11])
    units = len(scores)
    weights = np.concatenate([np.ones((1, units)), random.multinomial(units, np.full(units, 1 / units), resamples)])
    two_slopes = response.p_sides is not None and response.p_sides < 0.05
    moments = _limit_moments(scores, doses, levels, weights, two_slopes=two_slopes)
    shift = _shifts(scores, response.variances, resamples, random)
    carrier, planting, run = _word_shares(response.variances)
    largest = max(abs(float(doses[levels == dose].mean())) for dose in np.unique(levels))
    limits = []
    sides: tuple[tuple[Side, float, Floats], ...] = (
        ("first", 1.0, moments.slope_up),
        ("second", -1.0, moments.slope_down),
    )
    for side, sign, slope in sides:
        for count in words:
            blanks = new_blanks(
                scores, levels, response.variances, words=count, runs=runs, spread=moments.blank_variance, shift=shift
            )
            dose_variance = moments.dose_variance * (carrier + planting + run / runs) / count
            dose_variance = dose_variance + shift / runs + blanks.expectation_variance
            margin = float(stdtrit(blanks.df, 0.95)) * np.sqrt(blanks.variance) + Z * np.sqrt(dose_variance)
            gap = (moments.blank_mean - moments.intercept) * sign + margin
            limit = np.where(slope > 0, np.maximum(gap, 0.0) / np.where(slope > 0, slope, 1.0), np.inf)
            estimate = _limit_estimate(
                limit, level, "carriers", units, NO_SLOPE, NO_UPPER_END, defined=response.follows
            )
            beyond = estimate.value is not None and estimate.value > largest
            limits.append(Limit(count, side, blanks.limit(sign), estimate, beyond))
    return tuple(limits)


def _shifts(scores: Floats, variances: Variances, resamples: int, random: np.random.Generator) -> Floats:
    """Variance of the shift of a run: the estimate, then draws of it, given how few models there are."""
    models = scores.shape[1] * scores.shape[2]
    if models < 2:
        return np.full(resamples + 1, variances.shift)
    observed = float(scores.mean(axis=0).var(ddof=1))
    drawn = observed * (models - 1) / random.chisquare(models - 1, resamples)
    from_words = observed - variances.shift  # variance of a run's mean that is due to its words
    return np.concatenate([[variances.shift], np.maximum(drawn - max(from_words, 0.0), 0.0)])


def _limit_estimate(
    limits: Floats, level: float, over: str, n: int, why_none: str, why_open: str | None = None, *, defined: bool = True
) -> Estimate:
    """Estimate of the limit, the first of `limits`, with quantiles of its draws; no upper end where infinite."""
    fields: Fields = {"level": level, "method": "percentile bootstrap", "over": over, "n": n}
    fields["resamples"] = len(limits) - 1
    if not np.isfinite(limits[0]) or not defined:
        return Estimate(value=None, reason=why_none, **fields)
    low, high = np.quantile(limits[1:], [(1 - level) / 2, (1 + level) / 2], method="higher").tolist()
    ends: Fields = {"high": high} if np.isfinite(high) else {"reason": why_open}
    return Estimate(value=float(limits[0]), low=low, **ends, **fields)


class _LimitMoments(NamedTuple):
    """Line, mean and variances from which limits follow, one number for each draw of the bootstrap."""

    intercept: Floats
    slope_down: Floats
    slope_up: Floats
    blank_mean: Floats
    blank_variance: Floats
    dose_variance: Floats


def _limit_moments(
    scores: Floats, doses: Floats, levels: Floats, weights: Floats, *, two_slopes: bool
) -> _LimitMoments:
    """Sum scores under each row of weights, which say how often each unit is drawn."""
    means = scores.mean(axis=2)
    means = means - means.mean(axis=0) + means.mean()  # without the shifts of draws
    slopes = [np.minimum(doses, 0.0), np.maximum(doses, 0.0)] if two_slopes else [doses]
    design = np.stack([np.ones_like(doses), *slopes], axis=2)
    # Weighted normal equations X'WX b = X'Wy of every draw d; i units, j draws of doses, k and l columns.
    grams = np.einsum("di,ijk,ijl->dkl", weights, design, design, optimize=True)
    products = np.einsum("di,ijk,ij->dk", weights, design, means, optimize=True)
    # Draws whose equations are singular keep the coefficients of the units themselves.
    coefficients = np.linalg.lstsq(grams[0], products[0], rcond=None)[0][None].repeat(len(weights), 0)
    regular = np.linalg.cond(grams) < 1e12
    coefficients[regular] = np.linalg.solve(grams[regular], products[regular][:, :, None])[:, :, 0]
    every_run = np.ones_like(scores)
    blank = levels == 0
    blank_mean, blank_variance = _spread(scores, blank[:, :, None] * every_run, weights)
    dosed = [(levels == dose)[:, :, None] * every_run for dose in np.unique(levels[~blank])]
    variances = [_spread(scores, chosen, weights)[1] for chosen in dosed]
    dose_variance = np.average(np.array(variances), axis=0, weights=[chosen.sum() for chosen in dosed])
    intercept, slope_down, slope_up = coefficients.T[[0, 1, -1]]
    return _LimitMoments(intercept, slope_down, slope_up, blank_mean, blank_variance, dose_variance)


def _spread(scores: Floats, chosen: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean of chosen scores, and their pooled variance within runs, for every draw."""
    units = len(scores)
    flat, mask = scores.reshape(units, -1), chosen.reshape(units, -1)
    count = weights @ mask
    total, squares = weights @ (mask * flat), weights @ (mask * flat**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (squares - total**2 / count) * (count > 1)
    freedom = np.maximum(count - 1, 0).sum(axis=1)
    return total.sum(axis=1) / np.maximum(count.sum(axis=1), 1), np.nansum(within, axis=1) / np.maximum(freedom, 1)


def dose_of_score(
    score: float, response: DoseResponse, *, words: float = 1, runs: int = 1, level: float = 0.95, reach: float = 50.0
) -> Estimate:
    """Dose that corresponds to a score, (score − intercept) / slope, with Fieller's interval.

    The interval inverts the prediction band of the line, for a mean of `words` words over `runs` runs; it has no end
    beyond a dose of `reach`. Undefined where the score does not follow the dose.
    """
    slope = response.slope.value or 0.0
    fields: Fields = {"level": level, "method": "Fieller", "statistic": "dose"}
    if not response.follows:
        return Estimate(value=None, reason=NO_SLOPE, **fields)
    t = student_quantile(response.df, level)
    (v_a, v_ab), (_, v_b) = response.covariance
    gap = score - response.intercept
    # The ends solve (gap − b x)² = t² (v + v_a + 2 x v_ab + x² v_b), a quadratic equation in x.
    variance = response.variances.of_mean(words, runs)
    quadratic = slope**2 - t**2 * v_b
    if quadratic <= 0:
        return Estimate(value=gap / slope, reason="the slope is too uncertain for an interval at this level", **fields)
    linear = -2 * (gap * slope + t**2 * v_ab)
    constant = gap**2 - t**2 * (variance + v_a)
    root = float(np.sqrt(max(linear**2 - 4 * quadratic * constant, 0.0)))
    ends = ((-linear - root) / (2 * quadratic), (-linear + root) / (2 * quadratic))
    low, high = (end if abs(end) < reach else None for end in ends)
    return Estimate(value=gap / slope, low=low, high=high, **fields)


NOT_REACHED = "no dose that was given is detected; the largest is {:.2f}"


@dataclass(frozen=True)
class Detection(Record):
    """Limits of blank and of detection of a number whose means need not lie on a line.

    Attributes:
        blank: limit of blank, on the side to which doses move it.
        detection: limit of detection, as a dose, between doses that were given; undefined where none reaches it.
        means, sds: at each dose.
    """

    blank: float
    detection: Estimate
    means: tuple[float, ...]
    sds: tuple[float, ...]


def detection_between(
    doses: Floats,
    rows: Sequence[Floats],
    *,
    words: int | None = None,
    part: float = 0.0,
    level: float = 0.95,
    resamples: int = 300,
    random_state: int = 0,
) -> Detection:
    """Smallest dose at which 95 % of values lie beyond the limit of blank, by linear interpolation between doses.

    The limit of blank is a prediction limit, as for words: over calibrations, 5 % of new blank sets, of new words in a
    new text, lie beyond it.

    Args:
        doses: sizes of the doses, 0 first, then rising.
        rows: for each dose its values, each (cluster, value); the interval is over clusters and values within them.
        words: number of different words in the blank sets; as many as there are values by default.
        part: share of a cluster's blanks in one set, where a value rests on one set alone: sets of one pool overlap,
            and so differ less than sets of new words. 0 where a value compares two sets without a common word.
        level: of the interval.
        resamples: draws of the bootstrap.
        random_state: seed.
    """
    random = np.random.default_rng([random_state, 17])
    means, sds = _mean_and_sd([row[:, 1] for row in rows])
    up = 1.0 if means[-1] >= means[0] else -1.0
    margin = blank_margin(rows[0], len(rows[0]) if words is None else words, part)
    wider = margin / sds[0] if sds[0] > 0 else Z
    limits = np.full(resamples + 1, np.inf)
    limits[0] = _crossing(doses, means * up, sds, wider)
    if np.isfinite(limits[0]):
        for draw in range(resamples):
            drawn_means, drawn_sds = _resampled_moments(rows, random)
            limits[draw + 1] = _crossing(doses, drawn_means * up, drawn_sds, wider)
    estimate = _limit_estimate(limits, level, "texts and sets", len(rows[0]), NOT_REACHED.format(doses[-1]))
    return Detection(float(means[0] + up * margin), estimate, tuple(means.tolist()), tuple(sds.tolist()))


def blank_margin(blanks: Floats, words: int, part: float) -> float:
    """Distance of the limit of blank from the mean of blanks: Student's t times the sd of a new value around it.

    Variances within clusters (words of a set) and between clusters add; their degrees of freedom follow from the
    numbers of words and of clusters (Satterthwaite).
    """
    clusters = [blanks[blanks[:, 0] == cluster, 1] for cluster in np.unique(blanks[:, 0])]
    replicated = [values for values in clusters if len(values) > 1]
    freedom = sum(len(values) - 1 for values in replicated)
    within = sum(float(values.var(ddof=1)) * (len(values) - 1) for values in replicated) / max(freedom, 1)
    within /= max(1.0 - part, 0.1)
    count = len(clusters)
    between = float(np.var([values.mean() for values in clusters], ddof=1)) if count > 1 else 0.0
    moved = max(between - within * part, 0.0)  # between clusters, without what their words alone explain
    variance = within + moved + between / count
    squares = within**2 / max(words - 1, 1)
    if count > 1:
        squares += (moved + between / count) ** 2 / (count - 1)
    df = variance**2 / squares if squares > 0 else np.inf
    return float(stdtrit(max(df, 1.0), 0.95)) * float(np.sqrt(variance))


def _mean_and_sd(columns: Sequence[Floats]) -> tuple[Floats, Floats]:
    return np.array([column.mean() for column in columns]), np.array([column.std(ddof=1) for column in columns])


def _resampled_moments(rows: Sequence[Floats], random: np.random.Generator) -> tuple[Floats, Floats]:
    """Moments of clusters drawn with replacement, and of their values likewise."""
    clusters = np.unique(rows[0][:, 0])
    drawn = random.choice(clusters, len(clusters))
    columns = []
    for row in rows:
        parts = [row[row[:, 0] == cluster, 1] for cluster in drawn]
        columns.append(np.concatenate([random.choice(values, len(values)) for values in parts if len(values)]))
    return _mean_and_sd(columns)


def _crossing(doses: Floats, means: Floats, sds: Floats, wider: float) -> float:
    """Dose at which 95 % of values reach the limit of blank, mean + `wider` sd of the blanks; infinite if none does."""
    surplus = means - Z * sds - (means[0] + wider * sds[0])
    for index in range(1, len(doses)):
        if surplus[index] >= 0:
            before = surplus[index - 1]
            share = -before / (surplus[index] - before) if surplus[index] > before else 1.0
            return float(doses[index - 1] + share * (doses[index] - doses[index - 1]))
    return float("inf")
