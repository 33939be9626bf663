"""Limits of blank and of detection (Currie 1968; CLSI EP17), and the dose that corresponds to a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from biasgauge.core import Estimate, Fields, Floats, Record
from biasgauge.stats.dose_curves import DoseResponse
from biasgauge.stats.numerics import student_quantile
from biasgauge.stats.text_limits import (
    SIDES,
    Side,
    Source,
    TextLine,
    TextMoments,
    limit_bounds,
    text_line,
    text_moments,
)

Z = 1.6448536269514722
"""95 % of a normal distribution lie below it."""
NO_SLOPE = "the score does not follow the dose, so that no dose can be detected"
NO_SLOPE_IN_ALL = "the score does not follow the dose in every text, so that none can be promised to be detected"
NO_UPPER_END = "the interval has no upper end: in some draws nothing can be detected"
NO_DRAWS = "the limit is a prediction limit, which has no interval"


@dataclass(frozen=True)
class Limit(Record):
    """Limits of blank and of detection of the mean of some words.

    Attributes:
        words: number of words.
        side: doses that lean to the first or the second end.
        blank: limit of blank: 5 % of blanks lie beyond it.
        detection: limit of detection, as a dose: 95 % of words with this dose lie beyond the limit of blank.
        beyond: True if that dose is larger than any that was planted, so that it is an extrapolation of the line.
        sources: parts of the variance that the limit of blank allows for.
    """

    words: int
    side: Side
    blank: float
    detection: Estimate
    beyond: bool = False
    sources: tuple[Source, ...] = ()


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
    """Limits of blank and detection for means of words in a new planting of this text; intervals by bootstrap.

    Both are prediction limits (see `text_limits`): of new words, dealt their doses anew, 5 % of blanks lie beyond the
    limit of blank, and 95 % of those with the dose of the limit of detection. The interval is over units; variances
    between plantings and between runs, which are few, are drawn from χ². `response` is `dose_response` of the same
    scores, doses and levels; `words` are sizes of sets, and a score is averaged over `runs` runs.
    """
    random = np.random.default_rng([random_state, 11])
    units, plantings, trained = scores.shape
    line = text_line(scores, doses, levels, response)
    weights = np.concatenate([np.ones((1, units)), random.multinomial(units, np.full(units, 1 / units), resamples)])
    between = (
        _drawn_factors(plantings - 1, resamples, random), _drawn_factors(plantings * (trained - 1), resamples, random)
    )  # fmt: skip
    moments = text_moments(scores, doses, levels, weights)._replace(between=between)
    return tuple(_limit([line], side, count, runs, level, units, [moments]) for side in SIDES for count in words)


def new_text_limits(texts: Sequence[TextLine], *, words: tuple[int, ...] = (1,), runs: int = 1) -> tuple[Limit, ...]:
    """Limits of blank and detection for means of words in a planting of a new text, from lines of several.

    They have no interval: that texts, plantings and words are few is in the limits themselves.
    """
    return tuple(_limit(texts, side, count, runs, 0.95, len(texts), None) for side in SIDES for count in words)


def _drawn_factors(df: int, resamples: int, random: np.random.Generator) -> Floats:
    """1, then draws of χ² / df: by how much an estimated variance differs from the true one."""
    drawn = random.chisquare(df, resamples) / df if df > 0 else np.ones(resamples)
    return np.concatenate([[1.0], drawn])


def _limit(
    texts: Sequence[TextLine],
    side: Side,
    words: int,
    runs: int,
    level: float,
    n: int,
    moments: Sequence[TextMoments] | None,
) -> Limit:
    """Limits to one side with the interval of its draws."""
    found = limit_bounds(texts, side, words=words, runs=runs, moments=moments)
    if len(texts) > 1:
        estimate = _new_text_detection(texts, float(found.detection[0]))
    else:
        estimate = _limit_estimate(found.detection, level, "carriers", n, NO_SLOPE, NO_UPPER_END)
    beyond = estimate.value is not None and estimate.value > min(text.largest for text in texts)
    return Limit(words, side, float(found.blank[0]), estimate, beyond, found.sources)


def _new_text_detection(texts: Sequence[TextLine], dose: float) -> Estimate:
    """The limit of detection in a new text, or the reason why there is none."""
    fields: Fields = {"method": "prediction limit", "over": "texts", "n": len(texts)}
    if np.isfinite(dose):
        return Estimate(value=dose, reason=NO_DRAWS, **fields)
    return Estimate(value=None, reason=NO_SLOPE if all(text.follows for text in texts) else NO_SLOPE_IN_ALL, **fields)


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

    Both are prediction limits for a new set of new words in a new planting of the same text, at each dose.

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
    margins = np.array([blank_margin(row, len(row) if words is None else words, part) for row in rows])
    wider = np.divide(margins, sds, out=np.full_like(sds, Z), where=sds > 0)
    limits = np.full(resamples + 1, np.inf)
    limits[0] = _crossing(doses, means * up, margins)
    if np.isfinite(limits[0]):
        for draw in range(resamples):
            drawn_means, drawn_sds = _resampled_moments(rows, random)
            limits[draw + 1] = _crossing(doses, drawn_means * up, drawn_sds * wider)
    estimate = _limit_estimate(limits, level, "texts and sets", len(rows[0]), NOT_REACHED.format(doses[-1]))
    return Detection(float(means[0] + up * margins[0]), estimate, tuple(means.tolist()), tuple(sds.tolist()))


def blank_margin(blanks: Floats, words: int, part: float) -> float:
    """Distance of the limit of blank from the mean of blanks, √(Σ v t²): of words within clusters and between clusters.

    Each part has Student's t with its own degrees of freedom, from the number of words and of clusters.
    """
    clusters = [blanks[blanks[:, 0] == cluster, 1] for cluster in np.unique(blanks[:, 0])]
    replicated = [values for values in clusters if len(values) > 1]
    freedom = sum(len(values) - 1 for values in replicated)
    within = sum(float(values.var(ddof=1)) * (len(values) - 1) for values in replicated) / max(freedom, 1)
    within /= max(1.0 - part, 0.1)
    squares = within * float(stdtrit(max(words - 1, 1), 0.95)) ** 2
    count = len(clusters)
    if count > 1:
        between = float(np.var([values.mean() for values in clusters], ddof=1))
        moved = max(between - within * part, 0.0)  # between clusters, without what their words alone explain
        squares += (moved + between / count) * float(stdtrit(count - 1, 0.95)) ** 2
    return float(np.sqrt(squares))


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


def _crossing(doses: Floats, means: Floats, margins: Floats) -> float:
    """Dose at which the lower prediction limit reaches the limit of blank; infinite if none does."""
    surplus = means - margins - (means[0] + margins[0])
    for index in range(1, len(doses)):
        if surplus[index] >= 0:
            before = surplus[index - 1]
            share = -before / (surplus[index] - before) if surplus[index] > before else 1.0
            return float(doses[index - 1] + share * (doses[index] - doses[index - 1]))
    return float("inf")
