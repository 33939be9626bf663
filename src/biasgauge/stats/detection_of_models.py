"""Limits of blank and of detection of numbers that need not lie on a line, such as tests on sets of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from biasgauge.core import Estimate, Fields, Floats, Record
from biasgauge.stats.detection import Z

NOT_REACHED = "no dose that was given is detected; the largest is {:.2f}"


@dataclass(frozen=True)
class Detection(Record):
    """Limits of a number whose means need not lie on a line.

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
    """The smallest dose at which 95 % of values lie beyond the limit of blank, by straight lines between doses.

    The limit of blank is a prediction limit, as for words: over calibrations, 5 % of new blank sets, of new words in a
    new text, lie beyond it.

    Args:
        doses: sizes of the doses, 0 first, then rising.
        rows: for each dose its values, each (cluster, value); the interval is over clusters and values within them.
        words: how many different words the blank sets are made of; as many as there are values by default.
        part: which part of a cluster's blanks a set takes, where a value rests on one set alone: such sets overlap, and
            so differ less than sets of new words. 0 where a value compares two sets that share no word: those of one
            pool differ as much as any.
        level: of the interval.
        resamples: draws of the bootstrap.
        random_state: seed.
    """
    random = np.random.default_rng([random_state, 17])
    means, sds = _mean_and_sd([row[:, 1] for row in rows])
    up = 1.0 if means[-1] >= means[0] else -1.0
    margin = blank_margin(rows[0], len(rows[0]) if words is None else words, part)
    wider = margin / sds[0] if sds[0] > 0 else Z
    found = _crossing(doses, means * up, sds, wider)
    about: Fields = {
        "level": level, "method": "percentile bootstrap", "over": "texts and sets", "n": len(rows[0]),
        "resamples": resamples,
    }  # fmt: skip
    if np.isfinite(found):
        draws = np.array([_crossing(doses, *_resampled(rows, up, random), wider) for _ in range(resamples)])
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], method="higher")
        ends: Fields = {"low": float(low), "high": float(high) if np.isfinite(high) else None}
        estimate = Estimate(value=float(found), **ends, **about)
    else:
        estimate = Estimate(value=None, reason=NOT_REACHED.format(doses[-1]), **about)
    return Detection(float(means[0] + up * margin), estimate, tuple(means.tolist()), tuple(sds.tolist()))


def blank_margin(blanks: Floats, words: int, part: float) -> float:
    """How far beyond the mean of blanks the limit of blank lies: Student's t times the sd of a new value around it.

    Values vary within clusters, by the words of a set, and between clusters; both parts err, by how few words and
    clusters there are (Satterthwaite).
    """
    clusters = [blanks[blanks[:, 0] == cluster, 1] for cluster in np.unique(blanks[:, 0])]
    several = [values for values in clusters if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    within = sum(float(values.var(ddof=1)) * (len(values) - 1) for values in several) / max(freedom, 1)
    within /= max(1.0 - part, 0.1)
    count = len(clusters)
    between = float(np.var([values.mean() for values in clusters], ddof=1)) if count > 1 else 0.0
    moved = max(between - within * part, 0.0)
    variance = within + moved + between / count
    squares = within**2 / max(words - 1, 1)
    if count > 1:
        squares += (moved + between / count) ** 2 / (count - 1)
    df = variance**2 / squares if squares > 0 else np.inf
    return float(stdtrit(max(df, 1.0), 0.95)) * float(np.sqrt(variance))


def _mean_and_sd(columns: Sequence[Floats]) -> tuple[Floats, Floats]:
    return np.array([column.mean() for column in columns]), np.array([column.std(ddof=1) for column in columns])


def _resampled(rows: Sequence[Floats], up: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Moments of clusters drawn with replacement, and of their values likewise."""
    clusters = np.unique(rows[0][:, 0])
    drawn = random.choice(clusters, len(clusters))
    columns = []
    for row in rows:
        parts = [row[row[:, 0] == cluster, 1] for cluster in drawn]
        columns.append(np.concatenate([random.choice(part, len(part)) for part in parts if len(part)]))
    means, sds = _mean_and_sd(columns)
    return means * up, sds


def _crossing(doses: Floats, means: Floats, sds: Floats, wider: float) -> float:
    """Where 95 % of values reach the limit of blank, which is so many standard deviations from the blanks' mean."""
    surplus = means - Z * sds - (means[0] + wider * sds[0])
    for index in range(1, len(doses)):
        if surplus[index] >= 0:
            before = surplus[index - 1]
            share = -before / (surplus[index] - before) if surplus[index] > before else 1.0
            return float(doses[index - 1] + share * (doses[index] - doses[index - 1]))
    return float("inf")
