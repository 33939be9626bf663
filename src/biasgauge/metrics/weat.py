"""WEAT: the Word Embedding Association Test of two sets of target words with two sets of attribute words.

s(w, A, B) = mean_a cos(w, a) − mean_b cos(w, b) is the association of a word; the statistic is Σ_x s(x) − Σ_y s(y), the
effect size d = (mean_x s(x) − mean_y s(y)) / sd of s over X and Y, and p the share of equal-sized splits of X and Y
together with a statistic at least as large.

Source: Caliskan, Bryson & Narayanan, "Semantics derived automatically from language corpora contain human-like biases",
Science 356 (2017), Methods: s(w, A, B), s(X, Y, A, B), the effect size and the one-sided permutation test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Estimate, Floats, FrequencyEffect, check_choice
from biasgauge.errors import ParameterError
from biasgauge.metrics.set_test import AssociationResult, SetTest, checked_sets, cosines, floats, matrix
from biasgauge.stats import (
    BCA,
    SAME,
    Alternative,
    Contrast,
    Resampled,
    Resampling,
    Ties,
    contrast_estimate,
    estimate_over_words,
    not_estimated,
    permutation_p,
)

_LARGE = 2**24  # similarities above which a contiguous copy is not worth its memory


@dataclass(frozen=True, kw_only=True)
class WeatResult(AssociationResult):
    """The outcome of a WEAT; `value` is the effect size.

    Attributes:
        statistic: sum of the associations of X less that of Y; None when a set is empty or holds a zero vector.
        x_associations: s(w, A, B) of each word of X; positive leans to A, 0 to neither; in [-2, 2].
        y_associations: the same for Y.
        p_value: share of splits of X and Y together that are at least as extreme as this one.
        p_method: "exact" over all splits or "monte-carlo" over random ones.
        p_interval: a point when exact, the Clopper–Pearson interval otherwise.
        splits: number of splits of these sizes.
        samples: number of random splits drawn; 0 when exact.
        alternative: side on which splits are extreme: "greater", "less" or "two-sided".
        ties: splits equal to the observed one count ("inclusive") or not ("strict").
        ddof: 0 divides the variance by the number of words, 1 by one less.
        contrast: difference of the mean associations of X and Y in the units of the similarities (cosines), with an
            interval over targets and attributes; the effect size is this divided by the sd of the associations.
        p_attributes: share of splits of A and B together that are at least as extreme, with X and Y as they are.
        p_attributes_method: as `p_method`.
        p_attributes_interval: as `p_interval`.
        p_contrast: largest of three two-sided p of the contrast: over targets, over attributes, that of its interval.
        p_equal_frequency: the same of the contrast at equal word frequency (`contrast.adjusted`), on which a finding
            rests; None where frequencies are not known, as of bare vectors.
        frequency: what word frequency does to the finding, at 1 − level of the contrast's interval.
    """

    renamed: ClassVar[Mapping[str, str]] = {"value": "effect_size"}
    interval_keys: ClassVar[Mapping[str, str]] = {
        "interval": "effect_size",
        "p_interval": "p_value",
        "p_attributes_interval": "p_attributes",
    }

    statistic: float | None = None
    x_associations: tuple[float, ...] = ()
    y_associations: tuple[float, ...] = ()
    p_value: float | None = None
    p_method: Literal["exact", "monte-carlo"] | None = None
    p_interval: Estimate | None = None
    splits: int | None = None
    samples: int | None = None
    alternative: Alternative = "greater"
    ties: Ties = "inclusive"
    ddof: int = 0
    contrast: Contrast | None = None
    p_attributes: float | None = None
    p_attributes_method: Literal["exact", "monte-carlo"] | None = None
    p_attributes_interval: Estimate | None = None
    p_contrast: float | None = None
    p_equal_frequency: float | None = None
    frequency: FrequencyEffect | None = None

    @property
    def effect_size(self) -> float | None:
        """Difference of the two mean associations in standard deviations of all of them."""
        return self.value


def associations(targets: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    """Association s(w, A, B) of each target word: mean cosine with A less mean cosine with B.

    Positive leans to A; 0 means as close to both; range [-2, 2]. Invariant to rotation and to the lengths of vectors.

    Raises:
        ParameterError: a set is empty or holds a zero vector, so that there is no association.
    """
    sets, reason = checked_sets(targets=targets, a=a, b=b)
    if reason is not None:
        raise ParameterError(f"Associations are undefined: {reason}.")
    return _associations(cosines(sets["targets"], sets["a"]), cosines(sets["targets"], sets["b"]))


def effect_size(x_associations: ArrayLike, y_associations: ArrayLike, *, ddof: int = 0) -> float | None:
    """(Mean over X − mean over Y) / standard deviation over X and Y together.

    Positive: X leans to A more than Y does; 0: both lean alike. With equal sizes and `ddof=0` it lies in [-2, 2]. None
    where there is no standard deviation: a set is empty, or all associations are the same.
    """
    x, y = np.asarray(x_associations, dtype=np.float64), np.asarray(y_associations, dtype=np.float64)
    if not x.size or not y.size:
        return None
    return _effect_size(x, y, ddof, scale=max(float(np.abs(x).max()), float(np.abs(y).max())))


def weat(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    ddof: int = 0,
    alternative: Alternative = "greater",
    max_exact: int = 2_000_000,
    samples: int = 100_000,
    ties: Ties = "inclusive",
    random_state: int = 0,
    interval: Resampling | None = BCA,
) -> WeatResult:
    """Word Embedding Association Test of the target sets X and Y against the attribute sets A and B.

    With s(w) = mean_a cos(w, a) − mean_b cos(w, b), the effect size is d = (mean_x s(x) − mean_y s(y)) / sd of s over X
    and Y together; p is the share of splits of X and Y whose difference of means is at least as extreme. Positive: X
    leans to A, Y to B; 0: both lean alike; d lies in [-2, 2] for equal sizes and `ddof=0`. Sets may differ in size: the
    standard deviation keeps its formula, and p permutes the difference of means. Undefined, with a reason, when a set
    is empty or holds a zero vector, or when all words have the same association (p is then 1). WEFE resamples words
    with replacement for p; sweater uses `ddof=1` and another standard deviation when sizes differ; XWEAT counts with
    `ties="strict"`.
    """
    sets, reason = checked_sets(x=x, y=y, a=a, b=b)
    if reason is not None:
        return WeatResult.undefined(reason, interval, alternative=alternative, ties=ties, ddof=ddof)
    return _weat(
        _similarities(sets), ddof=ddof, interval=interval, alternative=alternative, max_exact=max_exact,
        samples=samples, ties=ties, random_state=random_state,
    )  # fmt: skip


def weat_from_similarities(
    xa: ArrayLike,
    xb: ArrayLike,
    ya: ArrayLike,
    yb: ArrayLike,
    *,
    ddof: int = 0,
    interval: Resampling | None = BCA,
    **permutation: Any,  # noqa: ANN401 - those of `permutation_p`
) -> WeatResult:
    """WEAT from similarities: `xa` holds one row for each word of X and one column for each word of A, and so on.

    Any similarity will do. Undefined as in `weat`; `alternative`, `max_exact`, `samples`, `ties` and `random_state` of
    the permutation test are settings here too.

    Raises:
        ParameterError: the matrices do not fit together or hold a nan, or `ddof` is neither 0 nor 1.
    """
    check_choice((0, 1), ddof=ddof)
    blocks = {name: matrix(name, values) for name, values in {"xa": xa, "xb": xb, "ya": ya, "yb": yb}.items()}
    rules: dict[str, Any] = {name: permutation[name] for name in ("alternative", "ties") if name in permutation}
    rules["ddof"] = ddof
    if empty := [name for name, block in blocks.items() if not block.size]:
        reason = f"there are no similarities in {empty[0]!r}"
        return WeatResult.undefined(reason, interval, **rules)
    shapes = {name: block.shape for name, block in blocks.items()}
    rows = all(shapes[f"{target}a"][0] == shapes[f"{target}b"][0] for target in "xy")
    columns = all(shapes[f"x{attribute}"][1] == shapes[f"y{attribute}"][1] for attribute in "ab")
    if not (rows and columns):
        raise ParameterError(f"Rows are target words and columns attribute words, the same throughout. Got {shapes}.")
    table = np.block([[blocks["xa"], blocks["xb"]], [blocks["ya"], blocks["yb"]]])
    return _weat(_Similarities(table, *blocks["xa"].shape), interval=interval, **{**permutation, **rules})


@dataclass(frozen=True, eq=False)
class _Similarities:
    """Similarities of all targets, those of X first, with all attributes, those of A first: one table, no copies."""

    table: Floats
    n_x: int
    n_a: int

    @property
    def blocks(self) -> dict[str, Floats]:
        """Return views of its four blocks."""
        x, y, a, b = slice(self.n_x), slice(self.n_x, None), slice(self.n_a), slice(self.n_a, None)
        slices = {"xa": (x, a), "xb": (x, b), "ya": (y, a), "yb": (y, b)}
        return {name: self.table[index] for name, index in slices.items()}

    @cached_property
    def scale(self) -> float:
        """Largest absolute similarity."""
        return max(float(self.table.max()), -float(self.table.min()))


def _weat(similarities: _Similarities, *, ddof: int, interval: Resampling | None, **permutation: Any) -> WeatResult:  # noqa: ANN401 - those of `permutation_p`
    check_choice((0, 1), ddof=ddof)
    blocks, scale = similarities.blocks, similarities.scale
    rules: dict[str, Any] = {name: permutation[name] for name in ("alternative", "ties") if name in permutation}
    rules["ddof"] = ddof
    s_x, s_y = _associations(blocks["xa"], blocks["xb"]), _associations(blocks["ya"], blocks["yb"])
    p = permutation_p(s_x, s_y, scale=scale, **permutation)
    # The same test with the roles of targets and attributes exchanged: splits of A and B.
    r_a, r_b = (blocks[f"x{role}"].mean(axis=0) - blocks[f"y{role}"].mean(axis=0) for role in "ab")
    p_attributes = permutation_p(r_a, r_b, scale=scale, **permutation)
    value = _effect_size(s_x, s_y, ddof, scale)
    reason = None
    if value is None:
        reason = "all target words have the same association, so there is no spread"
        estimate = not_estimated(interval, reason)
    else:
        estimate = estimate_over_words(value, _resampled_similarities(similarities, ddof), interval)
    return WeatResult(
        value=value, reason=reason, interval=estimate, statistic=float(s_x.sum() - s_y.sum()),
        x_associations=floats(s_x), y_associations=floats(s_y), p_value=p.p_value, p_method=p.method,
        p_interval=p.interval, splits=p.splits, samples=p.samples, p_attributes=p_attributes.p_value,
        p_attributes_method=p_attributes.method, p_attributes_interval=p_attributes.interval,
        contrast=_contrast(similarities, 0.95 if interval is None else interval.level), **rules,
    )  # fmt: skip


def _contrast(similarities: _Similarities, level: float) -> Contrast:
    targets, attributes = similarities.table.shape
    rows = np.repeat([0, 1], [similarities.n_x, targets - similarities.n_x])
    columns = np.repeat([0, 1], [similarities.n_a, attributes - similarities.n_a])
    return contrast_estimate(similarities.table, rows, columns, level=level)


def _associations(to_a: Floats, to_b: Floats) -> Floats:
    difference: Floats = to_a.mean(axis=1) - to_b.mean(axis=1)
    return difference


def _effect_size(x: Floats, y: Floats, ddof: int, scale: float) -> float | None:
    """Return the effect size; None when associations differ by rounding alone, given the scale of the similarities."""
    deviation = float(np.concatenate([x, y]).std(ddof=ddof))
    return float(x.mean() - y.mean()) / deviation if deviation > SAME * scale else None


def _resampled(sets: Mapping[str, Floats], *, ddof: int = 0) -> Resampled:
    return _resampled_similarities(_similarities(sets), ddof)


def _similarities(sets: Mapping[str, Floats]) -> _Similarities:
    shape = len(sets["x"]) + len(sets["y"]), len(sets["a"]) + len(sets["b"])
    similarities = _Similarities(np.empty(shape), len(sets["x"]), len(sets["a"]))
    for name, block in similarities.blocks.items():
        block[:] = cosines(sets[name[0]], sets[name[1]])
    return similarities


def _resampled_similarities(similarities: _Similarities, ddof: int) -> Resampled:
    n_x, n_y = similarities.n_x, len(similarities.table) - similarities.n_x
    to_a, to_b = (np.ascontiguousarray(block) if block.size < _LARGE else block for block in
                  (similarities.table[:, : similarities.n_a], similarities.table[:, similarities.n_a :]))  # fmt: skip
    rounding = SAME * similarities.scale

    def values(counts: Mapping[str, Floats]) -> Floats:
        share = {name: drawn / drawn.sum(axis=1, keepdims=True) for name, drawn in counts.items()}
        # s(w) of every target under the attributes drawn: draws × targets.
        scores = share["a"] @ to_a.T - share["b"] @ to_b.T
        means = [(share["x"] * scores[:, :n_x]).sum(axis=1), (share["y"] * scores[:, n_x:]).sum(axis=1)]
        drawn = np.concatenate([counts["x"], counts["y"]], axis=1)
        size = drawn.sum(axis=1)
        centered = scores - ((drawn * scores).sum(axis=1) / size)[:, None]
        deviation = np.sqrt((drawn * centered**2).sum(axis=1) / (size - ddof))
        effect: Floats = (means[0] - means[1]) / np.where(deviation > rounding, deviation, np.nan)
        return effect

    return Resampled({"x": n_x, "y": n_y, "a": to_a.shape[1], "b": to_b.shape[1]}, values)


TEST = SetTest(
    name="weat", display_name="WEAT",
    function=weat, resampled=_resampled, sets=("x", "y", "a", "b"), range=(None, None),
    rotation_invariant=True, scale_invariant=True, length_invariant=True, swap_xy="negates", swap_ab="negates",
    zero="X and Y lean alike towards A and B",
    source="Caliskan et al. 2017, Methods",
)  # fmt: skip
