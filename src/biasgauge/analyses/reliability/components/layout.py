"""A score tensor as a crossed layout: facets with at least two levels, words last, gaps marked, scales known.

And its components by restricted maximum likelihood, where it is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Floats, Vectors
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import Subset
from biasgauge.stats.mixed_models import MOST_LEVELS, moments, solve

VIEWS = ("checkpoint", "layer", "pooling", "template", "context")
"""Facets that take the place of "model" where the models are views of transformers."""
ORDER = ("word", "pair", "model", *VIEWS, "measure")
"""How facets are named in an interaction."""
AXES = ("measure", "pair", "model", "word")
"""How they lie in the layout: words last, for they are cut into blocks."""
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores to analyze, one axis a facet; `defined` is None where every cell has one.

    Scores are divided by `scale`; `shift` is about the mean of what that gives.
    """

    scores: Vectors
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
        keys = [[ORDER.index(name) for name in self.names(subset)] for subset in subsets]
        return sorted(range(len(subsets)), key=lambda index: (len(keys[index]), keys[index]))


def layout_of(scores: ScoreTensor | ScoreStore, measure: str | None, *, standardize: bool) -> Layout:
    """Lay scores out.

    Raises:
        ParameterError: fewer than two facets have two levels, or scores do not differ.
    """
    chosen = None if measure is None else [measure]
    if isinstance(scores, ScoreStore):
        tensor = scores.read(measure=chosen)
    else:
        tensor = scores if chosen is None else scores.select(measure=chosen)
    values = tensor.values.transpose(0, 1, 3, 2)
    defined = tensor.undefined.transpose(0, 1, 3, 2) == 0
    values, defined, axes = _by_facet(values, defined, tensor)
    values, defined, warnings = _with_scores(values, defined, axes)
    kept = [axis for axis, size in enumerate(values.shape) if size > 1]
    if len(kept) < 2:
        raise ParameterError(
            "Variance components need at least two facets with two levels each. Got "
            + ", ".join(f"{size} {name}{'s' * (size != 1)}" for name, size in zip(axes, values.shape, strict=True))
            + " with scores."
        )
    only = measure or (tensor.measures[0] if len(tensor.measures) == 1 else None)
    warnings += [
        f"there is only one {axes[axis]} with scores: what it contributes cannot be told from the rest"
        for axis, size in enumerate(values.shape)
        if size == 1 and not (axes[axis] == "measure" and only is not None)
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
        axes=tuple(axes[axis] for axis in kept),
        measure=only,
        standardized=standardize and as_facet,
        shift=float((mean / scale).mean()),
        scale=scale,
        undefined=undefined,
        warnings=tuple(warnings),
    )


def _by_facet(
    values: Vectors, defined: NDArray[np.bool_], tensor: ScoreTensor
) -> tuple[Vectors, NDArray[np.bool_], tuple[str, ...]]:
    """Views of transformers by the facets that they differ in, in the place of one axis of models.

    Models that are no views, or views that differ in nothing but one facet's place in a list, stay as they are.
    """
    about = tensor.provenance.get("models", {})
    facets = [about.get(name, {}).get("facets", {}) for name in tensor.models]
    if len(facets) < 2 or not all(set(VIEWS) <= set(own) for own in facets):
        return values, defined, AXES
    levels = {name: list(dict.fromkeys(own[name] for own in facets)) for name in VIEWS}
    varying = [name for name in VIEWS if len(levels[name]) > 1]
    places = tuple(np.array([levels[name].index(own[name]) for own in facets]) for name in varying)
    sizes = tuple(len(levels[name]) for name in varying)
    cells = np.ravel_multi_index(places, sizes)
    shape = (*values.shape[:2], int(np.prod(sizes)), values.shape[3])
    wide, held = np.full(shape, np.nan, values.dtype), np.zeros(shape, bool)
    wide[:, :, cells], held[:, :, cells] = values, defined
    split = (*shape[:2], *sizes, shape[3])
    return wide.reshape(split), held.reshape(split), ("measure", "pair", *varying, "word")


def _with_scores(
    values: Vectors, defined: NDArray[np.bool_], axes: tuple[str, ...]
) -> tuple[Vectors, NDArray[np.bool_], list[str]]:
    """Leave out levels that have no score at all."""
    warnings: list[str] = []
    if not defined.any():
        raise ParameterError("No score is defined: there is nothing to analyze.")
    if defined.all():
        return values, defined, warnings
    for axis, name in enumerate(axes):
        others = tuple(other for other in range(len(axes)) if other != axis)
        scored = defined.any(axis=others)
        if not scored.all():
            lost = int(np.count_nonzero(~scored))
            warnings.append(f"{lost:,} {name}{'s' * (lost != 1)} without any score left out")
            values, defined = np.compress(scored, values, axis=axis), np.compress(scored, defined, axis=axis)
    return values, defined, warnings


def _moments(values: Vectors, defined: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and standard deviation (by the number of scores) of each measure."""
    mean, spread = np.empty(len(values)), np.empty(len(values))
    step = max(_BLOCK // int(np.prod(values.shape[1:-1])), 1)
    for measure, (scores, known) in enumerate(zip(values, defined, strict=True)):
        count, total, squares, shift = 0, 0.0, 0.0, None
        for start in range(0, values.shape[-1], step):
            here, part = known[..., start : start + step], scores[..., start : start + step]
            block = (part.ravel() if here.all() else part[here]).astype(np.float64)
            if shift is None and len(block):
                shift = float(block.mean())
            block -= shift or 0.0
            count += len(block)
            total += float(block.sum())
            squares += float(block @ block)
        mean[measure] = (shift or 0.0) + total / count
        spread[measure] = max(squares / count - (total / count) ** 2, 0.0) ** 0.5
    return mean, spread


def reml_components(layout: Layout, subsets: tuple[Subset, ...], start: Floats) -> Floats:
    """Components of these sets of axes, each at least 0; the search starts at `start`, off the boundary.

    Raises:
        ParameterError: the layout has too many cells, or the search fails.
    """
    shape = layout.scores.shape
    held = np.ones(shape, bool) if layout.defined is None else layout.defined
    cells = np.argwhere(held)
    groups = {}
    for subset in subsets[:-1]:
        codes, sizes = tuple(cells[:, axis] for axis in subset), tuple(shape[axis] for axis in subset)
        groups[":".join(map(str, subset))] = np.ravel_multi_index(codes, sizes)
    levels = sum(len(np.unique(codes)) for codes in groups.values())
    if levels > MOST_LEVELS:
        raise ParameterError(
            f"method='reml' takes layouts whose main effects and interactions have {MOST_LEVELS:,} levels together. "
            f"This one has {levels:,}; use method='anova'."
        )
    divisor = layout.scale.reshape(-1, *(1,) * (len(shape) - 1))
    y = (layout.scores.astype(np.float64) / divisor)[held]
    residual = max(float(start[-1]), 1e-12 * float(y.var()))
    sums = moments(y, np.ones((len(y), 1)), groups, ["mean"])
    fit = solve(sums, start=np.maximum(start[:-1], 1e-3 * residual) / residual)
    if not fit.converged:
        raise ParameterError("The search for the REML components did not converge; use method='anova'.")
    components: Floats = np.append(fit.variances, fit.sigma2)
    return components
