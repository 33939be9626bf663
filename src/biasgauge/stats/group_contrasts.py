"""Contrasts of several groups of models put against each other: a difference, a slope, a point on a line.

Each is a weighted sum of the groups' mean contrasts: −1 and 1 for a difference, centered positions for a slope. The
same words stand in every group, so that the words' part of the variance is that of the weighted sum of the tables
(paired: what a word has in all groups cancels), clustered two ways over targets and attributes. Models belong to one
group only, so that their part is added up group by group, less what it has in common with that of the words. All parts
and their names are those of `contrasts`.

Models that differ by random seed, or by texts of their own, are independent draws: the variance of their mean is their
variance by their number. Models of bootstrap samples are not: their spread itself is the error of the one text that
was drawn (Efron & Tibshirani 1993, chapter 6), and more samples do not make that text larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Integers, JsonMapping, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import jackknife_variance
from biasgauge.stats.contrasts import (
    ALL,
    CROSSED,
    REPLICATES,
    WEAT,
    Contrast,
    ContrastParts,
    contrast_parts,
    total_variance,
)
from biasgauge.stats.numerics import SAME

METHOD = "paired two-way clustered t"
FIXED_METHOD = "Welch's t over models"
ONE_MODEL = "a group has a single model, so that the spread between training runs is unknown"
NOTHING_VARIES = "nothing varies, so that there is no standard error"


@dataclass(frozen=True)
class GroupComparison:
    """A weighted sum of the contrasts of groups, asked in two ways.

    Attributes:
        other_words: with an interval for other words of the same kind and other models of the same kind; never narrower
            than the next.
        these_words: with an interval for other models of the same kind, measured with these very words.
        unreplicated: whether a group has a single model; its training runs are then no part of the first interval, and
            the second is undefined.
    """

    other_words: Contrast
    these_words: Contrast
    unreplicated: bool


def compare_groups(
    tables: Sequence[ArrayLike],
    rows: ArrayLike,
    columns: ArrayLike,
    weights: Sequence[Sequence[float]] = WEAT,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
    level: float = 0.95,
) -> GroupComparison:
    """A weighted sum over groups of their mean contrasts, with intervals.

    Args:
        tables: of each group, models × rows × columns; the same words in the same order in all groups.
        rows: the group of words of each row, as in `contrast_estimate`.
        columns: of each column.
        weights: of the blocks.
        group_weights: of the groups; (−1, 1) is the second less the first.
        bootstrap: whether a group's models are of bootstrap samples of one text; none by default.
        level: nominal coverage.

    Raises:
        ParameterError: shapes do not fit, or a number is not finite.
    """
    check_level(level)
    stacks = checked_stacks(tables, group_weights)
    targets, attributes = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    parts = group_parts(stacks, targets, attributes, weights, group_weights=group_weights, bootstrap=bootstrap)
    about = {"level": level, "n": len(targets), "k": len(attributes), "words": parts.other_words.words}
    these_words = _contrast(parts.these_words, FIXED_METHOD, **about)
    other_words = at_least(_contrast(parts.other_words, METHOD, **about), these_words)
    return GroupComparison(other_words, these_words, min(stack.shape[1] for stack in stacks) == 1)


def at_least(other_words: Contrast, these_words: Contrast) -> Contrast:
    """The wider of two intervals about one number, and the larger p: who speaks of other words speaks of these too.

    With few models the variance between them is barely known, and Student's t of the sum of all parts, whose degrees of
    freedom are mostly those of words, then rejects twice as often as it should. That for these words alone does not.
    """
    if other_words.p is None or these_words.p is None or other_words.high is None or these_words.high is None:
        return other_words
    p = max(other_words.p, these_words.p)
    if other_words.high >= these_words.high:  # both are symmetric about the same number
        return replace(other_words, p=p)
    ends = {"low": these_words.low, "high": these_words.high, "se": these_words.se, "df": these_words.df}
    return replace(other_words, p=p, **ends)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class GroupParts:
    """`GroupComparison` for many stacks at once."""

    other_words: ContrastParts
    these_words: ContrastParts


def group_parts(
    stacks: Sequence[Floats],
    rows: Integers,
    columns: Integers,
    weights: ArrayLike = WEAT,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
) -> GroupParts:
    """`compare_groups` for stacks × models × rows × columns of each group."""
    scaled = [weight * stack.mean(axis=1) for weight, stack in zip(group_weights, stacks, strict=True)]
    words = contrast_parts(np.sum(scaled, axis=0)[:, None], rows, columns, weights)
    drawn = [False] * len(stacks) if bootstrap is None else list(bootstrap)
    models: dict[str, Floats] = {}
    pieces: list[tuple[Floats, float]] = []
    for stack, weight, sampled in zip(stacks, group_weights, drawn, strict=True):
        size = stack.shape[1]
        if size == 1 or weight == 0:
            continue
        factor = weight**2 * (size if sampled else 1)
        own = contrast_parts(stack, rows, columns, weights)
        spread = _spread(own, stack, rows, columns, np.asarray(weights, np.float64))
        for name, part in spread.items():
            models[name] = models.get(name, np.zeros(())) + factor * part
        pieces.append((factor * spread[REPLICATES], size - 1))
    least = (
        SAME * max(float(np.abs(stack).max()) * abs(w) for stack, w in zip(stacks, group_weights, strict=True))
    ) ** 2
    fixed = _fixed(words, models, pieces, least)
    if any(stack.shape[1] == 1 and weight for stack, weight in zip(stacks, group_weights, strict=True)):
        fixed = _undefined(words, ONE_MODEL)
    if words.reason or not pieces:
        return GroupParts(words, fixed)
    variances = {**words.variances, **models}
    variance = total_variance(variances)
    nothing = np.zeros_like(words.value)
    mains = words.variances.get("targets", nothing) + words.variances.get("attributes", nothing)
    with np.errstate(invalid="ignore"):
        df_words = np.where(np.isfinite(words.df), words.df, 1.0)
    whole = student(words.value, np.where(variance > least, variance, np.nan), [(mains, df_words), *pieces])
    over = f"{words.over} and training runs"
    return GroupParts(ContrastParts(words.value, *whole, variances, words.words, over), fixed)


def _spread(own: ContrastParts, stack: Floats, rows: Integers, columns: Integers, pattern: Floats) -> dict[str, Floats]:
    """What the models of one group add to the variance; without parts in common with words that have no spread."""
    of_models = (REPLICATES, *CROSSED.values(), ALL)
    found = {name: part for name, part in own.variances.items() if name in of_models}
    if found:
        return found
    members = [np.eye(count)[groups] for groups, count in zip((rows, columns), pattern.shape, strict=True)]
    means = [member / member.sum(axis=0) for member in members]
    each = ((means[0].T @ stack @ means[1]) * pattern).sum(axis=(2, 3))
    return {REPLICATES: each.var(axis=1, ddof=1) / stack.shape[1]}


def _fixed(
    words: ContrastParts, models: Mapping[str, Floats], pieces: Sequence[tuple[Floats, float]], least: float
) -> ContrastParts:
    if not pieces:
        return _undefined(words, ONE_MODEL)
    variance = models[REPLICATES]
    numbers = student(words.value, np.where(variance > least, variance, np.nan), pieces, balanced=True)
    return ContrastParts(words.value, *numbers, {REPLICATES: variance}, words.words, "training runs")


def _undefined(words: ContrastParts, reason: str) -> ContrastParts:
    nothing = np.full(len(words.value), np.nan)
    return ContrastParts(words.value, nothing, nothing, nothing, {}, words.words, reason=reason)


def student(
    value: Floats, variance: Floats, pieces: Sequence[tuple[Any, Any]], *, balanced: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Standard error, Satterthwaite's degrees of freedom, two-sided p.

    Args:
        value: what was estimated.
        variance: of it.
        pieces: parts of the variance, each with its degrees of freedom.
        balanced: no more degrees of freedom than if every part had those of the least. Welch's test of two against
            eight models rejects in 9 of 100 cases where nothing differs, and so in 2; between equal groups, both agree.
    """
    total = np.sum([part for part, _ in pieces], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df: Floats = total**2 / np.sum([part**2 / freedom for part, freedom in pieces], axis=0)
        df = np.minimum(df, len(pieces) * min(freedom for _, freedom in pieces)) if balanced else df
        se: Floats = np.sqrt(variance)
        p: Floats = 2 * stdtr(df, -np.abs(value) / se)
    return se, df, p


def _contrast(parts: ContrastParts, method: str, **about: Any) -> Contrast:  # noqa: ANN401 - fields of a contrast
    value = float(parts.value[0])
    reason = parts.reason or (None if np.isfinite(parts.se[0]) else NOTHING_VARIES)
    if reason:
        return Contrast(value=value, method=method, reason=reason, over=parts.over, statistic="contrast", **about)
    contrast = Contrast(
        value=value, method=method, over=parts.over, statistic="contrast", se=float(parts.se[0]),
        df=float(parts.df[0]), p=float(parts.p[0]),
        variances={name: float(part[0]) for name, part in parts.variances.items()}, **about,
    )  # fmt: skip
    return contrast.at(about["level"])


def checked_stacks(tables: Sequence[ArrayLike], group_weights: Sequence[float]) -> list[Floats]:
    """Tables of groups, each as a stack of one.

    Raises:
        ParameterError: they cannot be compared.
    """
    stacks = [np.asarray(table, np.float64)[None] for table in tables]
    if len(stacks) != len(group_weights) or not stacks:
        raise ParameterError(f"Every group needs a weight. Got {len(stacks)} groups and {len(group_weights)} weights.")
    shapes = {stack.shape[2:] for stack in stacks if stack.ndim == 4 and stack.shape[1]}
    if len(shapes) != 1 or any(stack.ndim != 4 or not stack.shape[1] for stack in stacks):
        raise ParameterError(
            "Groups are compared on the same words: models × rows × columns, the same rows and columns in each. "
            f"Got the shapes {[stack.shape[1:] for stack in stacks]}."
        )
    if not all(np.isfinite(stack).all() for stack in stacks) or not np.isfinite(group_weights).all():
        raise ParameterError("A comparison needs finite similarities and weights. Got nan or infinity.")
    return stacks


def slope_weights(positions: Sequence[float]) -> Floats:
    """Weights of groups that give the least-squares slope of their means over their positions; each counts once."""
    centered = np.asarray(positions, np.float64) - np.mean(positions)
    weights: Floats = centered / (centered**2).sum()
    return weights


def line_weights(positions: Sequence[float], at: float) -> Floats:
    """Weights of groups that give the least-squares line over their positions at one place."""
    weights: Floats = 1 / len(positions) + (at - np.mean(positions)) * slope_weights(positions)
    return weights


def slope_over_groups(positions: Sequence[float], means: ArrayLike, *, level: float = 0.95) -> Contrast:
    """Least-squares slope of the groups' means, with the interval of their own scatter about the line.

    The scatter holds all that sets one group's text apart from the next beside the trend, so that the interval is for
    other texts of the same periods. Undefined with fewer than three groups.
    """
    check_level(level)
    places, values = np.asarray(positions, np.float64), np.asarray(means, np.float64)
    slope = float(slope_weights(positions) @ values)
    about: Fields = {"level": level, "method": "least squares", "over": "groups", "n": len(values)}
    if len(values) < 3:
        return Contrast(value=slope, reason="a scatter about a line takes at least three groups", **about)
    centered = places - places.mean()
    left = values - values.mean() - slope * centered
    df = len(values) - 2
    variance = float(left @ left) / df / float(centered @ centered)
    if variance <= (SAME * float(np.abs(values).max() or 1.0)) ** 2:
        return Contrast(value=slope, reason="all groups lie on one line", **about)
    error = variance**0.5
    p = 2 * float(stdtr(df, -abs(slope) / error))
    return Contrast(value=slope, se=error, df=float(df), p=p, **about).at(level)


def welch(first: Floats, last: Floats, bootstrap: tuple[bool, bool], level: float) -> Estimate:
    """Mean of the last group's numbers less that of the first's, with Welch's interval over models."""
    value = float(last.mean() - first.mean())
    about: Fields = {"value": value, "level": level, "method": FIXED_METHOD, "over": "training runs"}
    if min(len(first), len(last)) < 2:
        return Estimate(reason=ONE_MODEL, **about)
    parts = [
        (float(each.var(ddof=1)) / (1 if drawn else len(each)), len(each) - 1)
        for each, drawn in zip((first, last), bootstrap, strict=True)
    ]
    variance = sum(part for part, _ in parts)
    if variance <= SAME**2:
        return Estimate(reason=NOTHING_VARIES, **about)
    _, df, _ = student(np.array(value), np.array(variance), parts, balanced=True)
    margin = float(stdtrit(df, (1 + level) / 2)) * variance**0.5
    return Estimate(low=value - margin, high=value + margin, **about)


JACKKNIFE = "jackknife t over words and models"


def compare_effect_sizes(
    tables: Sequence[ArrayLike],
    rows: ArrayLike,
    columns: ArrayLike,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
    level: float = 0.95,
) -> GroupComparison:
    """The same for WEAT's effect size d: a contrast in standard deviations of its own group's associations.

    d does not change when all cosines of a group are stretched, as contrasts do. Its variance is the sum of jackknife
    variances over the words of each list and of the models' part; what these have in common counts twice, so that the
    interval is rather too wide.
    """
    check_level(level)
    stacks = [stack[0] for stack in checked_stacks(tables, group_weights)]
    groups = [np.asarray(labels, np.int64) for labels in (rows, columns)]
    weights = np.asarray(group_weights, np.float64)

    def combined(kept_rows: Any, kept_columns: Any) -> float:  # noqa: ANN401 - places
        means = [
            effect_sizes(stack[:, kept_rows][:, :, kept_columns], groups[0][kept_rows], groups[1][kept_columns]).mean()
            for stack in stacks
        ]
        return float(weights @ np.array(means))

    every = [np.arange(len(labels)) for labels in groups]
    value = combined(*every)
    about: Fields = {"level": level, "statistic": "effect size", "n": len(groups[0]), "k": len(groups[1])}
    unreplicated = min(len(stack) for stack in stacks) == 1
    drawn = [False] * len(stacks) if bootstrap is None else list(bootstrap)
    pieces = []
    for stack, weight, sampled in zip(stacks, group_weights, drawn, strict=True):
        if len(stack) > 1:
            own = effect_sizes(stack, *groups)
            pieces.append((weight**2 * float(own.var(ddof=1)) / (1 if sampled else len(stack)), len(stack) - 1))
    lists = [(side, np.flatnonzero(groups[side] == group)) for side in (0, 1) for group in (0, 1)]
    left_out = []
    for side, members in lists:
        kept = [[every[0], every[1]] for _ in members]
        for choice, word in zip(kept, members, strict=True):
            choice[side] = np.delete(every[side], word)
        left_out.append(np.array([combined(*choice) for choice in kept]) if len(members) > 1 else np.array([np.nan]))
    alone = ONE_MODEL if unreplicated else ""
    fixed = _sized(value, pieces, FIXED_METHOD, "training runs", alone, about, balanced=True)
    reason = "" if all(np.isfinite(values).all() for values in left_out) else "a list has too few words for a jackknife"
    words = [] if reason else [(jackknife_variance([values]), len(values) - 1) for values in left_out]
    over = "targets and attributes" + (" and training runs" if pieces else "")
    whole = _sized(value, [*words, *pieces], JACKKNIFE, over, reason, about)
    return GroupComparison(at_least(whole, fixed), fixed, unreplicated)


def _sized(
    value: float,
    pieces: Sequence[tuple[float, int]],
    method: str,
    over: str,
    reason: str,
    about: JsonMapping,
    *,
    balanced: bool = False,
) -> Contrast:
    variance = sum(part for part, _ in pieces)
    if not np.isfinite(value):
        return Contrast(value=None, method=method, reason="all associations of a model are the same", **about)
    if not reason and variance <= SAME**2:
        reason = NOTHING_VARIES
    if reason:
        return Contrast(value=value, method=method, reason=reason, **about)
    numbers = student(np.array(value), np.array(variance), pieces, balanced=balanced)
    se, df, p = (float(number) for number in numbers)
    variances = {"all": variance}
    found = Contrast(value=value, method=method, over=over, se=se, df=df, p=p, variances=variances, **about)
    return found.at(about["level"])


def effect_sizes(stack: Floats, rows: Integers, columns: Integers) -> Floats:
    """WEAT's d of each model; NaN where all associations are the same."""
    associations = stack[:, :, columns == 0].mean(axis=2) - stack[:, :, columns == 1].mean(axis=2)
    difference = associations[:, rows == 0].mean(axis=1) - associations[:, rows == 1].mean(axis=1)
    deviation = associations.std(axis=1)
    sizes: Floats = difference / np.where(deviation > SAME * np.abs(stack).max(), deviation, np.nan)
    return sizes
