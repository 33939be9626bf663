"""MAC: how far target words are, on average, from sets of attribute words.

Source: Manzini, Lim, Tsvetkov & Black, "Black is to Criminal as Caucasian is to Police: Detecting and Removing
Multiclass Bias in Word Embeddings", NAACL 2019: the metric (mean average cosine similarity, computed as a distance) and
the paired t test before and after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from biasgauge.core import Floats, check_level
from biasgauge.errors import ParameterError
from biasgauge.metrics.set_test import (
    AssociationResult,
    SetTest,
    checked_sets,
    cosines,
    floats,
    matrix,
    prepared,
    undefined,
)
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words, student_estimate


@dataclass(frozen=True, kw_only=True)
class MacResult(AssociationResult):
    """The outcome of a MAC; `value` is the mean of `distances`.

    Attributes:
        distances: for each target word, its mean cosine distance from each attribute set.
    """

    distances: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class MacChange(AssociationResult):
    """The paired t test of Manzini et al.; `value` is the mean of before less after.

    Attributes:
        t: mean difference in standard errors; negative when distances grew. None when undefined.
        df: degrees of freedom: (target, set) pairs less one; with training runs, Satterthwaite's.
        p_value: two-sided. Without training runs it takes the pairs for independent, which pairs that share a word are
            not.
        warnings: what the interval does not speak of.
    """

    t: float | None = None
    df: float | None = None
    p_value: float | None = None
    warnings: tuple[str, ...] = ()


def mac(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike, *, interval: Resampling | None = BCA) -> MacResult:
    """Mean average cosine distance of the words of X and Y, taken together, from the attribute sets A and B.

    S(t, A_j) is the mean of 1 − cos over the words of A_j; MAC is the mean of S over all targets and sets. Range
    [0, 2]; 1 means no association; 0 means that every target points the same way as every attribute. Nearer to 1 is
    less biased. Undefined when a set is empty or holds a zero vector. WEFE agrees; sweater's "mac" is the mean
    similarity, 1 less this.
    """
    sets, reason = checked_sets(x=x, y=y, a=a, b=b)
    if reason is not None:
        return MacResult.undefined(reason, interval)
    return _result(_blocks(sets), _resampled(sets), interval)


def mac_of_sets(
    targets: ArrayLike, attribute_sets: Sequence[ArrayLike], *, interval: Resampling | None = BCA
) -> MacResult:
    """MAC with any number of attribute sets."""
    sets = prepared(
        targets=targets, **{f"attributes {number}": vectors for number, vectors in enumerate(attribute_sets)}
    )
    reason = undefined(sets) if attribute_sets else "there are no attribute sets"
    if reason is not None:
        return MacResult.undefined(reason, interval)
    targets = sets.pop("targets")
    return mac_from_similarities([cosines(targets, vectors) for vectors in sets.values()], interval=interval)


def mac_from_similarities(similarities: Sequence[ArrayLike], *, interval: Resampling | None = BCA) -> MacResult:
    """MAC from cosine similarities: one matrix for each attribute set, its rows the target words, its columns the set.

    Raises:
        ParameterError: the matrices differ in their number of rows.
    """
    blocks = [matrix(f"similarities {number}", table) for number, table in enumerate(similarities)]
    if not blocks or not all(block.size for block in blocks):
        reason = "there are no similarities" + ("" if not blocks else " with one of the sets")
        return MacResult.undefined(reason, interval)
    if len({len(block) for block in blocks}) > 1:
        raise ParameterError(
            f"Each matrix must hold one row for each target word. Got {[len(block) for block in blocks]} rows."
        )
    names = [f"attributes {number}" for number in range(len(blocks))]
    units = {"targets": len(blocks[0]), **{name: block.shape[1] for name, block in zip(names, blocks, strict=True)}}

    def values(counts: Mapping[str, Floats]) -> Floats:
        return _weighted(counts["targets"], [counts[name] for name in names], blocks)

    return _result(blocks, Resampled(units, values), interval)


def mac_change(before: MacResult, after: MacResult, *, level: float = 0.95) -> MacChange:
    """Paired t test between the (target, set) distances of the same words before and after, as Manzini et al. do.

    `value` is the mean of before less after: negative when distances grew, which is less bias. The interval is
    Student's, over the (target, set) pairs. Undefined when either MAC is, with fewer than two pairs, or when all
    differences are the same.

    Raises:
        ParameterError: the two do not have the same targets and sets, or `level` is not between 0 and 1.
    """
    check_level(level)
    reason = before.reason or after.reason
    if reason is not None:
        return MacChange(value=None, reason=reason)
    first, second = np.array(before.distances), np.array(after.distances)
    if first.shape != second.shape:
        raise ParameterError(
            f"Before and after must have the same targets and sets. Got {first.shape} and {second.shape}."
        )
    differences = (first - second).ravel()
    df, mean = differences.size - 1, float(differences.mean())
    deviation = float(differences.std(ddof=1)) if df else 0.0
    if deviation <= SAME:
        reason = "all differences are the same" if df else "a t test needs at least two (target, set) pairs"
        return MacChange(value=mean if df else None, reason=reason, df=df)
    error = deviation / differences.size**0.5
    return _student(mean, error, df, level, method="student", over="(target, set) pairs", n=df + 1)


def mac_change_over_runs(before: Sequence[MacResult], after: Sequence[MacResult], *, level: float = 0.95) -> MacChange:
    """The same change between two recipes, each trained several times, with an interval over target words and runs.

    `value` is the mean over runs and words of before less after. Its variance is that over target words (of the
    difference of the two means over runs), plus that over runs on either side, less what both count twice, and at least
    the larger of the two (two-way clustering: Cameron, Gelbach & Miller 2011); Student's t with Satterthwaite's degrees
    of freedom. Sets count as given. Undefined when a MAC is, with fewer than two targets or two runs a side, or when
    nothing varies.

    Raises:
        ParameterError: not all have the same targets and sets, or `level` is not between 0 and 1.
    """
    check_level(level)
    reason = next((run.reason for run in (*before, *after) if run.reason is not None), None)
    if reason is None and min(len(before), len(after)) < 2:
        reason = "training runs vary only where each side has at least two"
    if reason is not None:
        return MacChange(value=None, reason=reason)
    shapes = {np.shape(run.distances) for run in (*before, *after)}
    if len(shapes) > 1:
        raise ParameterError(f"All runs must have the same targets and sets. Got {sorted(shapes)}.")
    sides = [np.array([run.distances for run in side]).mean(axis=2) for side in (before, after)]
    targets = sides[0].shape[1]
    mean = float(sides[0].mean() - sides[1].mean())
    if targets < 2:
        return MacChange(value=mean, reason="an interval over words needs at least two targets")
    word_variance = float((sides[0].mean(axis=0) - sides[1].mean(axis=0)).var(ddof=1)) / targets
    run_variances = [float(side.mean(axis=1).var(ddof=1)) / len(side) for side in sides]
    # Two-way clustering: words + runs − words × runs, and at least the larger of the two.
    variance = max(
        word_variance + sum(run_variances) - sum(map(_interaction, sides)), word_variance, sum(run_variances)
    )
    if variance <= SAME**2:
        return MacChange(value=mean, reason="all differences are the same")
    terms = [(word_variance, targets - 1), *zip(run_variances, (len(side) - 1 for side in sides), strict=True)]
    df = variance**2 / sum(term**2 / freedom for term, freedom in terms)
    return _student(
        mean, variance**0.5, df, level, method="student, two-way", over="target words and training runs", n=targets
    )


def _interaction(side: Floats) -> float:
    """Variance of a mean over runs × words from what neither explains."""
    residuals = side - side.mean(axis=0) - side.mean(axis=1, keepdims=True) + side.mean()
    runs, words = side.shape
    return float((residuals**2).sum() / ((runs - 1) * (words - 1) * runs * words))


def _student(mean: float, error: float, df: float, level: float, **fields: Any) -> MacChange:  # noqa: ANN401 - of the interval
    interval = student_estimate(mean, error, df, level, **fields)
    return MacChange(
        value=mean, interval=interval, t=mean / error, df=df, p_value=2 * float(stdtr(df, -abs(mean / error)))
    )


def _result(blocks: Sequence[Floats], resampled: Resampled, interval: Resampling | None) -> MacResult:
    distances = np.column_stack([1 - block.mean(axis=1) for block in blocks])
    value = float(distances.mean())
    return MacResult(
        value=value,
        interval=estimate_over_words(value, resampled, interval),
        distances=tuple(floats(row) for row in distances),
    )


def _weighted(targets: Floats, attributes: Sequence[Floats], blocks: Sequence[Floats]) -> Floats:
    similarity = sum(
        (targets * (drawn @ block.T)).sum(axis=1) / drawn.sum(axis=1)
        for drawn, block in zip(attributes, blocks, strict=True)
    )
    distance: Floats = 1 - similarity / (targets.sum(axis=1) * len(blocks))
    return distance


def _blocks(sets: Mapping[str, Floats]) -> list[Floats]:
    targets = np.concatenate([sets["x"], sets["y"]])
    return [cosines(targets, sets[name]) for name in "ab"]


def _resampled(sets: Mapping[str, Floats]) -> Resampled:
    blocks = _blocks(sets)

    def values(counts: Mapping[str, Floats]) -> Floats:
        return _weighted(np.concatenate([counts["x"], counts["y"]], axis=1), [counts["a"], counts["b"]], blocks)

    return Resampled({name: len(sets[name]) for name in "xyab"}, values)


TEST = SetTest(
    name="mac", display_name="MAC", function=mac, resampled=_resampled, sets=("x", "y", "a", "b"), range=(0.0, 2.0),
    rotation_invariant=True, scale_invariant=True, length_invariant=True, swap_xy="unchanged", swap_ab="unchanged",
    zero="every target word points the same way as every attribute word; no association is 1",
    source="Manzini et al. 2019, mean average cosine similarity",
)  # fmt: skip
