"""Score tensors as crossed layouts, one axis per facet with at least two levels; their components by REML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Flags, Floats, Vectors
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import Subset
from biasgauge.stats.mixed_models import MOST_LEVELS, moments, solve

VIEWS = ("checkpoint", "layer", "pooling", "template", "context")
"""Facets in the place of "model" where the models are views of transformers."""
ORDER = ("word", "pair", "model", *VIEWS, "measure")
"""Order of facets in the name of an interaction."""
AXES = ("measure", "pair", "model", "word")
"""Order of axes in the layout: words last, for they are cut into blocks."""


@dataclass(frozen=True, eq=False)
class ScoreLayout:
    """Scores to analyze, one axis per facet; `defined` is None where every cell has one.

    Scores are divided by `scale`; `shift` is about the mean of the scaled scores.
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
        """Number of levels of each facet, in the order of names."""
        sizes = dict(zip(self.axes, self.scores.shape, strict=True))
        return {name: sizes[name] for name in ORDER if name in sizes}

    def facet_names(self, subset: Subset) -> tuple[str, ...]:
        """Facets of a set of axes, in the order of names."""
        names = {self.axes[axis] for axis in subset}
        return tuple(name for name in ORDER if name in names)

    def sort_subsets(self, subsets: tuple[Subset, ...]) -> list[int]:
        """Indices of sets of axes in the order of tables: by size, then by the order of names."""
        keys = [[ORDER.index(name) for name in self.facet_names(subset)] for subset in subsets]
        return sorted(range(len(subsets)), key=lambda index: (len(keys[index]), keys[index]))


def lay_out(scores: ScoreTensor | ScoreStore, measure: str | None, *, standardize: bool) -> ScoreLayout:
    """Lay scores out by facet, without facets of one level.

    Raises:
        ParameterError: fewer than two facets have two levels, or scores do not differ.
    """
    names = None if measure is None else [measure]
    if isinstance(scores, ScoreStore):
        tensor = scores.read(measure=names)
    else:
        tensor = scores if names is None else scores.select(measure=names)
    values = tensor.values.transpose(0, 1, 3, 2)
    defined = tensor.undefined.transpose(0, 1, 3, 2) == 0
    values, defined, axes = _split_views(values, defined, tensor)
    values, defined, warnings = _drop_unscored_levels(values, defined, axes)
    varying = [axis for axis, size in enumerate(values.shape) if size > 1]
    if len(varying) < 2:
        raise ParameterError(
            "Variance components need at least two facets with two levels each. Got "
            + ", ".join(f"{size} {name}{'s' * (size != 1)}" for name, size in zip(axes, values.shape, strict=True))
            + " with scores."
        )
    only_measure = measure or (tensor.measures[0] if len(tensor.measures) == 1 else None)
    warnings += [
        f"there is only one {axes[axis]} with scores: what it contributes cannot be told from the rest"
        for axis, size in enumerate(values.shape)
        if size == 1 and not (axes[axis] == "measure" and only_measure is not None)
    ]
    mean, sd = _mean_and_sd(values, defined)
    if not (sd > 0).all():
        raise ParameterError("All scores of a measure are equal: there is no variance to split.")
    standardized = standardize and values.shape[0] > 1
    scale = sd if standardized else np.ones(1)
    undefined = int(defined.size - np.count_nonzero(defined))
    shape = tuple(values.shape[axis] for axis in varying)
    return ScoreLayout(
        scores=values.reshape(shape),
        defined=defined.reshape(shape) if undefined else None,
        axes=tuple(axes[axis] for axis in varying),
        measure=only_measure,
        standardized=standardized,
        shift=float((mean / scale).mean()),
        scale=scale,
        undefined=undefined,
        warnings=tuple(warnings),
    )


def _split_views(values: Vectors, defined: Flags, tensor: ScoreTensor) -> tuple[Vectors, Flags, tuple[str, ...]]:
    """Replace the axis of models by the facets in which views of transformers differ.

    Models that are no views stay as they are. Combinations of facets that no view has are undefined.
    """
    models = tensor.provenance.get("models", {})
    views = [models.get(name, {}).get("facets", {}) for name in tensor.models]
    if len(views) < 2 or not all(set(VIEWS) <= set(view) for view in views):
        return values, defined, AXES
    levels = {name: list(dict.fromkeys(view[name] for view in views)) for name in VIEWS}
    varying = [name for name in VIEWS if len(levels[name]) > 1]
    codes = tuple(np.array([levels[name].index(view[name]) for view in views]) for name in varying)
    sizes = tuple(len(levels[name]) for name in varying)
    cells = np.ravel_multi_index(codes, sizes)  # of each view in the crossed design
    shape = (*values.shape[:2], int(np.prod(sizes)), values.shape[3])
    crossed, crossed_defined = np.full(shape, np.nan, values.dtype), np.zeros(shape, bool)
    crossed[:, :, cells], crossed_defined[:, :, cells] = values, defined
    split = (*shape[:2], *sizes, shape[3])
    return crossed.reshape(split), crossed_defined.reshape(split), ("measure", "pair", *varying, "word")


def _drop_unscored_levels(values: Vectors, defined: Flags, axes: tuple[str, ...]) -> tuple[Vectors, Flags, list[str]]:
    """Leave out levels without any score, with a warning for each facet."""
    warnings: list[str] = []
    if not defined.any():
        raise ParameterError("No score is defined: there is nothing to analyze.")
    for axis, name in enumerate(axes if not defined.all() else ()):
        scored = defined.any(axis=tuple(index for index in range(len(axes)) if index != axis))
        if not scored.all():
            lost = int(np.count_nonzero(~scored))
            warnings.append(f"{lost:,} {name}{'s' * (lost != 1)} without any score left out")
            values, defined = np.compress(scored, values, axis=axis), np.compress(scored, defined, axis=axis)
    return values, defined, warnings


def _mean_and_sd(values: Vectors, defined: Flags) -> tuple[Floats, Floats]:
    """Mean and standard deviation (denominator n) of each measure, one pair in double precision at a time.

    Sums are of scores less the first one, so that their squares do not cancel: Var = Σd²/n − (Σd/n)².
    """
    means, sds = np.empty(len(values)), np.empty(len(values))
    for measure, (scores, mask) in enumerate(zip(values, defined, strict=True)):
        first = float(scores.flat[int(mask.argmax())])
        total, squares = 0.0, 0.0
        for pair_scores, pair_mask in zip(scores, mask, strict=True):
            deviations = pair_scores[pair_mask].astype(np.float64) - first
            total += float(deviations.sum())
            squares += float(deviations @ deviations)
        count = np.count_nonzero(mask)
        means[measure] = first + total / count
        sds[measure] = max(squares / count - (total / count) ** 2, 0.0) ** 0.5
    return means, sds


def reml_components(layout: ScoreLayout, subsets: tuple[Subset, ...], start: Floats) -> Floats:
    """REML components of these sets of axes, each at least 0; the search starts at `start`, off the boundary.

    Raises:
        ParameterError: the layout has too many cells, or the search fails.
    """
    shape = layout.scores.shape
    defined = np.ones(shape, bool) if layout.defined is None else layout.defined
    cells = np.argwhere(defined)
    groups = {}  # a random effect per main effect and interaction; the last subset is the residual
    for subset in subsets[:-1]:
        codes, sizes = tuple(cells[:, axis] for axis in subset), tuple(shape[axis] for axis in subset)
        groups[":".join(map(str, subset))] = np.ravel_multi_index(codes, sizes)
    levels = sum(len(np.unique(codes)) for codes in groups.values())
    if levels > MOST_LEVELS:
        raise ParameterError(
            f"method='reml' takes layouts whose main effects and interactions have {MOST_LEVELS:,} levels together. "
            f"This one has {levels:,}; use method='anova'."
        )
    y = (layout.scores.astype(np.float64) / layout.scale.reshape(-1, *(1,) * (len(shape) - 1)))[defined]
    residual = max(float(start[-1]), 1e-12 * float(y.var()))
    sums = moments(y, np.ones((len(y), 1)), groups, ["mean"])
    fit = solve(sums, start=np.maximum(start[:-1], 1e-3 * residual) / residual)
    if not fit.converged:
        raise ParameterError("The search for the REML components did not converge; use method='anova'.")
    components: Floats = np.append(fit.variances, fit.sigma2)
    return components
