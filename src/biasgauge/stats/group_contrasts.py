"""Contrasts of several groups of models compared: a difference, a slope, or WEAT's effect size.

The number is Σ_g c_g × (mean contrast of group g): c = (−1, 1) for a difference, centered positions for a slope. The
same words are in every group, so that the variance over words is that of the weighted sum of the tables (paired: word
effects common to all groups cancel), clustered two ways over targets and attributes. Models belong to one group only,
so that their variance is added group by group, minus the components counted with the words already. Components and
their names are those of `contrasts`.

Models that differ by random seed, or by texts of their own, are independent draws: the variance of their mean is their
variance divided by their number. Models of bootstrap samples are not: their spread itself is the error of the one text
that was drawn (Efron & Tibshirani 1993, chapter 6), and more samples do not make that text larger.

A text may be dealt to disjoint parts several times over (draws). Within a draw, models are independent draws of text.
Draws of one text share its documents, so that the variance of the mean over draws is taken to be that of one draw: it
holds what documents happened to be written, once, and too much training noise, which is on the safe side. A quarter of
the squared difference of two halves estimates the same from each dealing, with about one degree of freedom each, so
that draws make that variance better known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from biasgauge.core import WEAT_WEIGHTS, Estimate, Fields, Floats, Integers, JsonMapping, check_level
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import jackknife_variance
from biasgauge.stats.contrasts import (
    ALL,
    CROSSED,
    REPLICATES,
    SIDES,
    Contrast,
    ContrastParts,
    SideLike,
    contrast_parts,
    student,
    table_side,
    total_variance,
)
from biasgauge.stats.numerics import SAME, student_quantile

METHOD = "paired two-way clustered t"
FIXED_METHOD = "Welch's t over models"
JACKKNIFE = "jackknife t over words and models"
ONE_MODEL = "a group has a single model, so that the spread between training runs is unknown"
RUNS = "training runs"
"""Variation of models that differ by random seed."""
NOTHING_VARIES = "nothing varies, so that there is no standard error"


@dataclass(frozen=True)
class GroupComparison:
    """A weighted sum of the contrasts of groups, with two intervals.

    Attributes:
        other_words: the interval generalizes over words and models; never narrower than the next.
        these_words: the interval generalizes over models, with the words as given.
        unreplicated: True where a group has a single model; its training runs are then not in the first interval, and
            the second is undefined.
    """

    other_words: Contrast
    these_words: Contrast
    unreplicated: bool


def compare_groups(
    tables: Sequence[ArrayLike],
    rows: SideLike,
    columns: SideLike,
    weights: Sequence[Sequence[float]] = WEAT_WEIGHTS,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
    level: float = 0.95,
    models: str = RUNS,
) -> GroupComparison:
    """Weighted sum over groups of their mean contrasts, with intervals.

    `tables` has models × rows × columns of each group, with the same words in the same order, or draws × models × rows
    × columns; `rows`, `columns` and `weights` are those of `contrast_estimate`; `group_weights` of (−1, 1) give the
    second group less the first; `bootstrap` is True for each group whose models are of bootstrap samples of one text,
    by default none; `models` names what models vary by, such as documents.

    Raises:
        ParameterError: shapes do not fit, or a number is not finite.
    """
    check_level(level)
    stacks = checked_stacks(tables, group_weights)
    targets, attributes = table_side(rows), table_side(columns)
    parts = group_parts(
        stacks, targets, attributes, weights, group_weights=group_weights, bootstrap=bootstrap, models=models
    )
    sizes: Fields = {"n": len(targets.groups), "k": len(attributes.groups)}
    these_words = parts.these_words.contrast(FIXED_METHOD, level, NOTHING_VARIES, **sizes)
    other_words = at_least(parts.other_words.contrast(METHOD, level, NOTHING_VARIES, **sizes), these_words)
    return GroupComparison(other_words, these_words, min(stack.shape[-3] for stack in stacks) == 1)


def at_least(other_words: Contrast, these_words: Contrast) -> Contrast:
    """Return the wider of two intervals of one number, with the larger p: other words include these.

    With few models their variance is estimated with few degrees of freedom. Student's t of the sum of all components
    has mostly the degrees of freedom of words and then rejects twice as often as its level; the interval for these
    words alone holds its level.
    """
    if other_words.p is None or these_words.p is None or other_words.high is None or these_words.high is None:
        return other_words
    p = max(other_words.p, these_words.p)
    if other_words.high >= these_words.high:  # both are symmetric about the same number
        return replace(other_words, p=p)
    ends = {"low": these_words.low, "high": these_words.high, "se": these_words.se, "df": these_words.df}
    return replace(other_words, p=p, **ends)  # type: ignore[arg-type]


class GroupParts(NamedTuple):
    """Values and variances of `GroupComparison` for many stacks at once."""

    other_words: ContrastParts
    these_words: ContrastParts


def group_parts(
    stacks: Sequence[Floats],
    rows: SideLike,
    columns: SideLike,
    weights: ArrayLike = WEAT_WEIGHTS,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
    models: str = RUNS,
) -> GroupParts:
    """`compare_groups` for stacks × models × rows × columns of each group, or stacks × draws × models × …."""
    drawn = [stack if stack.ndim == 5 else stack[:, None] for stack in stacks]
    groups = list(zip(drawn, group_weights, bootstrap or [False] * len(stacks), strict=True))
    words = contrast_parts(
        np.sum([weight * stack.mean(axis=(1, 2)) for stack, weight, _ in groups], axis=0)[:, None],
        rows, columns, weights,
    )  # fmt: skip
    components: dict[str, Floats] = {}
    terms: list[tuple[Floats, float]] = []
    for stack, weight, is_sample in groups:
        draws, size = stack.shape[1:3]
        if size == 1 or weight == 0:
            continue
        # Components are variances of a mean of `size` models; bootstrap samples are not averaged out.
        factor = weight**2 * (size if is_sample else 1)
        variances = _model_variances(stack, rows, columns, np.asarray(weights, np.float64))
        for name, variance in variances.items():
            components[name] = components.get(name, np.zeros(())) + factor * variance
        terms.append((factor * variances[REPLICATES], draws * (size - 1)))
    rounding = (SAME * max(float(np.abs(stack).max()) * abs(weight) for stack, weight, _ in groups)) ** 2
    if not terms or any(stack.shape[2] == 1 and weight for stack, weight, _ in groups):
        fixed = ContrastParts.undefined(words.value, words.words, ONE_MODEL)
    else:
        variance = np.where(components[REPLICATES] > rounding, components[REPLICATES], np.nan)
        numbers = student(words.value, variance, terms, balanced=True)
        names = {REPLICATES: components[REPLICATES]}
        fixed = ContrastParts(words.value, *numbers, names, words.words, models)
    if words.reason or not terms:
        return GroupParts(words, fixed)
    components = {**words.variances, **components}
    total = total_variance(components)
    # Degrees of freedom of the main effects of words are those of the words; models add their own terms.
    mains = sum(words.variances.get(side, np.zeros_like(words.value)) for side in SIDES)
    df_words = np.where(np.isfinite(words.df), words.df, 1.0)
    numbers = student(words.value, np.where(total > rounding, total, np.nan), [(mains, df_words), *terms])
    over = f"{words.over} and {models}"
    return GroupParts(ContrastParts(words.value, *numbers, components, words.words, over), fixed)


def _model_variances(stack: Floats, rows: SideLike, columns: SideLike, pattern: Floats) -> dict[str, Floats]:
    """Components of the variance that the models of one group add; the replicates' alone where words have no spread.

    `stack` has stacks × draws × models × rows × columns.
    """
    draws, size = stack.shape[1:3]
    contrasts = contrast_parts(stack.reshape(-1, *stack.shape[2:]), rows, columns, pattern)
    if not contrasts.reason:
        names = (REPLICATES, *CROSSED.values(), ALL)
        by_draw = {name: contrasts.variances[name] for name in names if name in contrasts.variances}
        return {name: variance.reshape(-1, draws).mean(axis=1) for name, variance in by_draw.items()}
    sides = zip((rows, columns), pattern.shape, strict=True)
    means = [table_side(words).inverse[:count] for words, count in sides]
    by_model = ((means[0] @ stack @ means[1].T) * pattern).sum(axis=(-2, -1))
    return {REPLICATES: by_model.var(axis=2, ddof=1).mean(axis=1) / size}


def checked_stacks(tables: Sequence[ArrayLike], group_weights: Sequence[float]) -> list[Floats]:
    """Return the tables of groups, each as a stack of one, after checking that they have the same words."""
    stacks = [np.asarray(table, np.float64)[None] for table in tables]
    if len(stacks) != len(group_weights) or not stacks:
        raise ParameterError(f"Every group needs a weight. Got {len(stacks)} groups and {len(group_weights)} weights.")
    shapes = {stack.shape[-2:] for stack in stacks}
    if len(shapes) != 1 or any(stack.ndim not in (4, 5) or not stack.size for stack in stacks):
        raise ParameterError(
            "Groups are compared on the same words: models × rows × columns, the same rows and columns in each. "
            f"Got the shapes {[stack.shape[1:] for stack in stacks]}."
        )
    if not all(np.isfinite(stack).all() for stack in stacks) or not np.isfinite(group_weights).all():
        raise ParameterError("A comparison needs finite similarities and weights. Got nan or infinity.")
    return stacks


def slope_weights(positions: Sequence[float]) -> Floats:
    """Weights (t_g − t̄) / Σ (t − t̄)², which give the least-squares slope of the groups' means over positions t."""
    centered = np.asarray(positions, np.float64) - np.mean(positions)
    weights: Floats = centered / (centered**2).sum()
    return weights


def slope_over_groups(positions: Sequence[float], means: ArrayLike, *, level: float = 0.95) -> Contrast:
    """Least-squares slope of the groups' means, with an interval from the residuals about the line.

    b = Σ (t − t̄) y / Σ (t − t̄)², se² = Σ residual² / (g − 2) / Σ (t − t̄)² for g groups. Residuals about
    the line include the differences between texts of the groups, so that the interval generalizes over other texts of
    the same periods. Undefined with fewer than three groups.
    """
    check_level(level)
    times, values = np.asarray(positions, np.float64), np.asarray(means, np.float64)
    slope = float(slope_weights(positions) @ values)
    fields: Fields = {"level": level, "method": "least squares", "over": "groups", "n": len(values)}
    if len(values) < 3:
        return Contrast(value=slope, reason="residuals about a line take at least three groups", **fields)
    centered = times - times.mean()
    residuals = values - values.mean() - slope * centered
    df = len(values) - 2
    variance = float(residuals @ residuals) / df / float(centered @ centered)
    if variance <= (SAME * float(np.abs(values).max() or 1.0)) ** 2:
        return Contrast(value=slope, reason="all groups lie on one line", **fields)
    error = variance**0.5
    p = 2 * float(stdtr(df, -abs(slope) / error))
    return Contrast(value=slope, se=error, df=float(df), p=p, **fields).at(level)


def welch(first: Floats, last: Floats, bootstrap: tuple[bool, bool], level: float, models: str = RUNS) -> Estimate:
    """Mean of the last group's numbers (by draw and model) less that of the first's, with Welch's interval."""
    groups = [np.atleast_2d(first), np.atleast_2d(last)]
    value = float(groups[1].mean() - groups[0].mean())
    fields: Fields = {"value": value, "level": level, "method": FIXED_METHOD, "over": models}
    if min(group.shape[1] for group in groups) < 2:
        return Estimate(reason=ONE_MODEL, **fields)
    terms = [_variance_over_models(*group) for group in zip(groups, bootstrap, strict=True)]
    variance = sum(term for term, _ in terms)
    if variance <= SAME**2:
        return Estimate(reason=NOTHING_VARIES, **fields)
    _, df, _ = student(np.array(value), np.array(variance), terms, balanced=True)
    return Estimate.symmetric(margin=student_quantile(float(df), level) * variance**0.5, **fields)


def _variance_over_models(values: Floats, is_sample: bool) -> tuple[float, int]:  # noqa: FBT001 - one of a pair
    """Variance of a group's mean over draws × models, and its degrees of freedom.

    That of bootstrap samples is their own variance.
    """
    draws, size = values.shape
    one_draw = float(values.var(axis=1, ddof=1).mean())
    return one_draw / (1 if is_sample else size), draws * (size - 1)


def compare_effect_sizes(
    tables: Sequence[ArrayLike],
    rows: ArrayLike,
    columns: ArrayLike,
    *,
    group_weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: Sequence[bool] | None = None,
    level: float = 0.95,
    models: str = RUNS,
) -> GroupComparison:
    """Weighted sum over groups of their mean WEAT effect sizes d, with jackknife intervals over words and models.

    d is a contrast in standard deviations of its own group's associations, so that it does not change when all cosines
    of a group are stretched, as contrasts do. Its variance is the sum of jackknife variances over the words of each
    list and of the variance over models; components that these share count twice, so that the interval is conservative.
    Arguments as in `compare_groups`; the groups of rows and columns are 0 and 1.
    """
    check_level(level)
    stacks = [stack[0] if stack.ndim == 5 else stack for stack in checked_stacks(tables, group_weights)]
    groups = [np.asarray(labels, np.int64) for labels in (rows, columns)]
    weights = np.asarray(group_weights, np.float64)

    value = float(weights @ [effect_sizes(stack, *groups).mean() for stack in stacks])
    fields: Fields = {"level": level, "statistic": "effect size", "n": len(groups[0]), "k": len(groups[1])}
    unreplicated = min(stack.shape[1] for stack in stacks) == 1
    runs = []
    for stack, weight, is_sample in zip(stacks, group_weights, bootstrap or [False] * len(stacks), strict=True):
        if stack.shape[1] > 1:
            variance, df = _variance_over_models(effect_sizes(stack, *groups), is_sample)
            runs.append((weight**2 * variance, df))
    fixed_reason = ONE_MODEL if unreplicated else ""
    fixed = _effect_size_contrast(value, runs, FIXED_METHOD, models, fixed_reason, fields, balanced=True)
    left_out = [  # for each of the four lists, the value without each of its words
        weights
        @ [_effect_sizes_without(stack, groups[0], groups[1], side, group).mean(axis=(1, 2)) for stack in stacks]
        for side in (0, 1)
        for group in (0, 1)
    ]
    reason = "" if all(np.isfinite(values).all() for values in left_out) else "a list has too few words for a jackknife"
    words = [] if reason else [(jackknife_variance([values]), len(values) - 1) for values in left_out]
    over = "targets and attributes" + (f" and {models}" if runs else "")
    both = _effect_size_contrast(value, [*words, *runs], JACKKNIFE, over, reason, fields)
    return GroupComparison(at_least(both, fixed), fixed, unreplicated)


def _effect_size_contrast(
    value: float,
    terms: Sequence[tuple[float, int]],
    method: str,
    over: str,
    reason: str,
    fields: JsonMapping,
    *,
    balanced: bool = False,
) -> Contrast:
    variance = sum(term for term, _ in terms)
    if not np.isfinite(value):
        return Contrast(value=None, method=method, reason="all associations of a model are the same", **fields)
    if not reason and variance <= SAME**2:
        reason = NOTHING_VARIES
    if reason:
        return Contrast(value=value, method=method, reason=reason, **fields)
    se, df, p = map(float, student(np.array(value), np.array(variance), terms, balanced=balanced))
    contrast = Contrast(value=value, method=method, over=over, se=se, df=df, p=p, variances={"all": variance}, **fields)
    return contrast.at(fields["level"])


def effect_sizes(stack: Floats, rows: Integers, columns: Integers) -> Floats:
    """WEAT's d of each model, (mean over X − mean over Y) / sd of the associations; NaN where all are the same."""
    return _standardized(_associations(stack, columns), rows, float(np.abs(stack).max()))


def _associations(stack: Floats, columns: Integers) -> Floats:
    associations: Floats = stack[..., columns == 0].mean(axis=-1) - stack[..., columns == 1].mean(axis=-1)
    return associations


def _standardized(associations: Floats, rows: Integers, scale: float) -> Floats:
    difference = associations[..., rows == 0].mean(axis=-1) - associations[..., rows == 1].mean(axis=-1)
    deviation = associations.std(axis=-1)
    sizes: Floats = difference / np.where(deviation > SAME * scale, deviation, np.nan)
    return sizes


def _effect_sizes_without(stack: Floats, rows: Integers, columns: Integers, side: int, group: int) -> Floats:
    """WEAT's d without each word of a list, words × the leading axes of the stack; NaN for a list of one word.

    Without an attribute, the sum over its list is less by its similarities; without a target, the associations of the
    remaining targets stay as they are.
    """
    members = np.flatnonzero((rows, columns)[side] == group)
    if len(members) < 2:
        return np.full((1, *stack.shape[:-2]), np.nan)
    if side == 0:
        opposite = np.flatnonzero(rows != group)  # first, so that labels are the same whichever member is left out
        remaining = np.stack([np.concatenate([opposite, np.delete(members, at)]) for at in range(len(members))])
        associations = np.moveaxis(_associations(stack, columns)[..., remaining], -2, 0)
        labels = rows[remaining[0]]
    else:
        without = stack[..., columns == group].sum(axis=-1)[..., None] - stack[..., members]
        mean = np.moveaxis(without, -1, 0) / (len(members) - 1)
        opposite_mean = stack[..., columns == 1 - group].mean(axis=-1)
        associations, labels = (mean - opposite_mean) * (1 if group == 0 else -1), rows
    return _standardized(associations, labels, float(np.abs(stack).max()))
