"""A score tensor as a crossed layout: facets with at least two levels, words last, gaps marked, scales known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats.crossed.sums import Subset

ORDER = ("word", "pair", "model", "measure")
"""How facets are named in an interaction."""
AXES = ("measure", "pair", "model", "word")
"""How they lie in the layout: words last, for they are cut into blocks."""
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores to analyze.

    Attributes:
        scores: one axis a facet, in the order of `axes`.
        defined: which cells have a score; None when all have.
        axes: the facets, words last.
        measure: the one measure, None when measures are a facet.
        standardized: whether `scale` is the standard deviation of each measure.
        shift: about the mean of the scaled scores.
        scale: what scores are divided by.
        undefined: cells without a score.
        warnings: what was left out.
    """

    scores: NDArray[Any]
    defined: NDArray[np.bool_] | None
    axes: tuple[str, ...]
    measure: str | None
    standardized: bool
    shift: float
    scale: Floats
    undefined: int
    warnings: tuple[str, ...]

    @property
    def facets(self) -> Mapping[str, int]:
        """Levels of each facet, in the order of names."""
        sizes = dict(zip(self.axes, self.scores.shape, strict=True))
        return {name: sizes[name] for name in ORDER if name in sizes}

    def names(self, subset: Subset) -> tuple[str, ...]:
        """The facets of a set of axes, in the order of names."""
        inside = {self.axes[axis] for axis in subset}
        return tuple(name for name in ORDER if name in inside)

    def order(self, subsets: tuple[Subset, ...]) -> list[int]:
        """Places of sets of axes in the order of tables: by size, then by the order of names."""
        keys = [[ORDER.index(name) for name in self.names(one)] for one in subsets]
        return sorted(range(len(subsets)), key=lambda place: (len(keys[place]), keys[place]))


def layout_of(scores: ScoreTensor | ScoreStore, measure: str | None, *, standardize: bool) -> Layout:
    """Lay scores out.

    Raises:
        ParameterError: fewer than two facets have two levels, or scores do not differ.
    """
    tensor = _tensor(scores, measure)
    values = tensor.values.transpose(0, 1, 3, 2)
    defined = tensor.undefined.transpose(0, 1, 3, 2) == 0
    values, defined, warnings = _with_scores(values, defined)
    kept = [axis for axis, size in enumerate(values.shape) if size > 1]
    if len(kept) < 2:
        raise ParameterError(
            "Variance components need at least two facets with two levels each. Got "
            + ", ".join(f"{size} {name}{'s' * (size != 1)}" for name, size in zip(AXES, values.shape, strict=True))
            + " with scores."
        )
    one = measure or (tensor.measures[0] if len(tensor.measures) == 1 else None)
    warnings += [
        f"there is only one {AXES[axis]} with scores: what it contributes cannot be told from the rest"
        for axis, size in enumerate(values.shape)
        if size == 1 and not (AXES[axis] == "measure" and one is not None)
    ]
    mean, spread = _moments(values, defined)
    if not (spread > 0).all():
        raise ParameterError("All scores of a measure are equal: there is no variance to split.")
    as_facet = values.shape[0] > 1
    scale = spread if standardize and as_facet else np.ones(1)
    undefined = int(defined.size - np.count_nonzero(defined))
    shape = tuple(values.shape[axis] for axis in kept)
    return Layout(
        scores=values.reshape(shape),
        defined=defined.reshape(shape) if undefined else None,
        axes=tuple(AXES[axis] for axis in kept),
        measure=one,
        standardized=standardize and as_facet,
        shift=float((mean / scale).mean()),
        scale=scale,
        undefined=undefined,
        warnings=tuple(warnings),
    )


def _tensor(scores: ScoreTensor | ScoreStore, measure: str | None) -> ScoreTensor:
    chosen = None if measure is None else [measure]
    if isinstance(scores, ScoreStore):
        return scores.read(measure=chosen)
    return scores if chosen is None else scores.select(measure=chosen)


def _with_scores(values: NDArray[Any], defined: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_], list[str]]:
    """Leave out levels that have no score at all."""
    warnings: list[str] = []
    if not defined.any():
        raise ParameterError("No score is defined: there is nothing to analyze.")
    if defined.all():
        return values, defined, warnings
    for axis, name in enumerate(AXES):
        others = tuple(other for other in range(len(AXES)) if other != axis)
        some = defined.any(axis=others)
        if not some.all():
            lost = int(np.count_nonzero(~some))
            warnings.append(f"{lost:,} {name}{'s' * (lost != 1)} without any score left out")
            values, defined = np.compress(some, values, axis=axis), np.compress(some, defined, axis=axis)
    return values, defined, warnings


def _moments(values: NDArray[Any], defined: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and standard deviation (by the number of scores) of each measure."""
    mean, spread = np.empty(len(values)), np.empty(len(values))
    step = max(_BLOCK // int(np.prod(values.shape[1:-1])), 1)
    for place in range(len(values)):
        count, total, squares, shift = 0, 0.0, 0.0, None
        for start in range(0, values.shape[-1], step):
            held = defined[place, ..., start : start + step]
            part = values[place, ..., start : start + step]
            some = (part.ravel() if held.all() else part[held]).astype(np.float64)
            if shift is None and len(some):
                shift = float(some.mean())
            some -= shift or 0.0
            count += len(some)
            total += float(some.sum())
            squares += float(some @ some)
        mean[place] = (shift or 0.0) + total / count
        spread[place] = max(squares / count - (total / count) ** 2, 0.0) ** 0.5
    return mean, spread
