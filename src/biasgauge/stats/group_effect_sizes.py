"""Effect sizes (WEAT's d) of groups of models put against each other, by the jackknife over words and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Fields, Floats, Integers, JsonMapping, check_level
from biasgauge.stats.bootstrap import jackknife_variance
from biasgauge.stats.contrasts import Contrast
from biasgauge.stats.group_contrasts import (
    FIXED_METHOD,
    NOTHING_VARIES,
    ONE_MODEL,
    GroupComparison,
    at_least,
    checked_stacks,
    student,
)  # fmt: skip
from biasgauge.stats.rounding import SAME

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
