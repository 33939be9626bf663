"""`variance_components`: variance of scores by words, pairs, models, measures and their interactions.

Generalizability theory with all facets crossed and random: Cronbach, Gleser, Nanda & Rajaratnam, *The Dependability of
Behavioral Measurements* (1972); Brennan, *Generalizability Theory* (2001), chapters 3 and 7. Intervals by generalized
pivotal quantities: Weerahandi 1993; Burdick, Borror & Montgomery, *Design and Analysis of Gauge R&R Studies* (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from scipy.special import ndtr

from biasgauge.core import (
    INTERVAL,
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    Record,
    Vectors,
    check_choice,
    check_level,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, share_text
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import Subset, effect_squares, effective_freedom, on_one_thread, percentile_estimate
from biasgauge.stats.mixed_models import FEW_LEVELS, MOST_LEVELS, moments, solve

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["anova", "reml"]

PIVOTS: dict[str, Any] = {"method": "generalized pivots", "over": "words, pairs, models and measures like these"}
"""Method and population of the intervals of components, and of all that is computed from them."""
VIEWS = ("checkpoint", "layer", "pooling", "template", "context")
"""Facets in the place of "model" where the models are views of transformers."""
ORDER = ("word", "pair", "model", *VIEWS, "measure")
"""Order of facets in the name of an interaction."""
AXES = ("measure", "pair", "model", "word")
"""Order of axes in the layout: words last, for they are cut into blocks."""


@dataclass(frozen=True)
class Component(Record):
    """The variance of one main effect or interaction.

    Attributes:
        name: its facets joined by colons, such as "word:pair".
        variance: in squared units of the scores; at least 0.
        raw: the unbiased estimate, which may be below 0 by chance.
        share: of the sum of all components.
        interval, share_interval: of the variance and of the share.
        df, mean_square: degrees of freedom and mean square from which it was estimated.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"facets"})

    name: str
    facets: tuple[str, ...]
    variance: float
    raw: float
    share: float
    interval: Estimate
    share_interval: Estimate
    df: float
    mean_square: float


@dataclass(frozen=True, repr=False)
class VarianceComponents(Result):
    """All components of one design.

    Attributes:
        components: main effects first; the last holds the residual error too.
        facets: number of levels of each facet.
        measure: the measure that was analyzed; None when measures are a facet.
        standardized: whether scores were divided by the standard deviation of their measure.
        mean, mean_error: mean of all scores, in the same units, and its estimated sampling variance.
        scores, undefined: numbers of scores in the layout that are defined and that are not.
        method: "anova", "analogous anova" where scores are undefined, or "reml".
        level: of the intervals.
        warnings: limitations of the layout and the estimates.
        drawn: draws of the components from their generalized pivots, one row per draw.
        drawn_mean: draws of the mean.
        drawn_squared_mean: draws of the squared mean, net of the error of the mean: 0 where it may be all error.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"mean_interval": INTERVAL, "involving": Mapping[str, JsonMapping]}
    tables: ClassVar[tuple[str, ...]] = ("components",)
    renamed: ClassVar[Mapping[str, str]] = {"facets": "design"}
    hidden: ClassVar[frozenset[str]] = frozenset({"mean_error", "level", "drawn", "drawn_mean", "drawn_squared_mean"})

    components: tuple[Component, ...]
    facets: Mapping[str, int]
    measure: str | None
    standardized: bool
    mean: float
    mean_error: float
    scores: int
    undefined: int
    method: str
    level: float
    warnings: tuple[str, ...]
    drawn: Floats = field(repr=False)
    drawn_mean: Floats = field(repr=False)
    drawn_squared_mean: Floats = field(repr=False)

    def __getitem__(self, name: str) -> Component:
        for component in self.components:
            if component.name == name or set(component.facets) == set(name.split(":")):
                return component
        names = ", ".join(component.name for component in self.components)
        raise ParameterError(f"There is no component {name!r} in this design; there are {names}.")

    @property
    def choices(self) -> tuple[str, ...]:
        """Facets of views whose levels are fixed choices, so that a design speaks of those at hand."""
        return tuple(name for name in ("layer", "pooling") if name in self.facets)

    def involving(self, facet: str) -> Estimate:
        """Share of the variance in all components that hold a facet, alone or with others.

        Shares of several facets add up to more than 1: an interaction of two counts for both.

        Raises:
            ParameterError: there is no such facet.
        """
        if facet not in self.facets:
            raise ParameterError(f"There is no facet {facet!r} in this design; there are {', '.join(self.facets)}.")
        mask = np.array([facet in component.facets for component in self.components])
        variances, totals = np.array([component.variance for component in self.components]), self.drawn.sum(axis=1)
        shares = np.divide(self.drawn[:, mask].sum(axis=1), totals, out=np.zeros_like(totals), where=totals > 0)
        return percentile_estimate(float(variances[mask].sum() / variances.sum()), shares, self.level, **PIVOTS)

    def derived(self) -> JsonMapping:
        """Add the interval of the mean, and the share of the variance that involves each facet."""
        return {
            "mean_interval": percentile_estimate(self.mean, self.drawn_mean, self.level, **PIVOTS).interval(),
            "involving": {facet: self.involving(facet).to_dict() for facet in self.facets},
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per component: its variance, share, both intervals, degrees of freedom and mean square."""
        frame = super().to_frame().rename(columns={"name": "component"})
        ends = ["variance", "low", "high", "share", "share_low", "share_high"]
        return frame[["component", *ends, "raw", "df", "mean_square"]]

    def summary(self) -> Summary:
        """Shares of the variance by component and by facet."""
        from biasgauge.analyses.reliability.figures import study_chart

        largest = max(self.components, key=lambda component: component.share)
        share = Column(f"share [{level_text(self.level)}]", "estimate", 3)
        columns = ["component", share, Column("variance", "number", 4)]
        rows = [(component.name, component.share_interval, component.variance) for component in self.components]
        facets = [(facet, levels, self.involving(facet)) for facet, levels in self.facets.items()]
        note = "An interaction counts for each of its facets, so that these shares add up to more than 100 %."
        title = "Share of the variance that involves each facet"
        return Summary(
            "Variance components",
            f"The largest component, {largest.name}, has {share_text(largest.share)} of the variance of scores.",
            tables=(
                Table.of("components", "Components of variance", columns, rows, most=20),
                Table.of("facets", title, ["facet", Column("levels", "count"), share], facets, note=note),
            ),
            charts=(study_chart(self),),
            warnings=self.warnings,
        )


def variance_components(
    scores: ScoreTensor | ScoreStore,
    *,
    measure: str | None = None,
    standardize: bool = True,
    method: Method = "anova",
    level: float = 0.95,
    draws: int = 4_000,
    random_state: int = 0,
) -> VarianceComponents:
    """Split the variance of scores into components for word, pair, model, measure and all their interactions.

    A score is the sum of a mean and of independent random effects, one for each set of facets S, with variances σ²_S:
    σ²(score) = Σ_S σ²_S. Estimates solve E[MS_S] = Σ_T c_ST σ²_T for the observed mean squares. 0: scores do not vary
    with S beyond its parts. Facets with one level, and levels without any score, are left out. Intervals assume normal
    effects. Source: Cronbach et al. 1972.

    Args:
        scores: a score tensor or store; its models should be replicates.
        measure: analyze this measure alone (word × pair × model). None takes all measures together, as a fourth facet
            where there are several.
        standardize: with measures as a facet, divide the scores of each by their standard deviation, for they are on
            different scales; 0 stays 0. One measure alone is never divided.
        method: "anova": expected mean squares, exact where every score is defined and unbiased where some are not
            (Henderson's method I). "reml": restricted maximum likelihood, for small layouts; the same where every
            score is defined and no component is estimated below 0.
        level: of the intervals.
        draws: of components, for intervals.
        random_state: seed of the draws.

    Raises:
        ParameterError: fewer than two facets have two levels, all scores are equal, or too few are defined.
    """
    check_choice(get_args(Method), method=method)
    check_whole(1, draws=draws)
    check_level(level)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        layout = lay_out(scores, measure, standardize=standardize)
        return _estimate_components(layout, method, level, draws, np.random.default_rng(random_state))


def _estimate_components(
    layout: ScoreLayout, method: Method, level: float, draws: int, random: np.random.Generator
) -> VarianceComponents:
    squares = effect_squares(layout.scores, layout.defined, shift=layout.shift, scale=layout.scale)
    if not squares.solvable:
        raise ParameterError(
            "Too few scores are defined to tell the components apart: words, pairs and models do not overlap enough."
        )
    raw = squares.components()
    if method == "reml":
        raw = reml_components(layout, squares.subsets, np.maximum(raw, 0.0))
    variances = np.maximum(raw, 0.0)
    # REML has no mean squares: the pivots take those that its components imply.
    mean_squares = squares.expected @ variances if method == "reml" else squares.mean_squares
    df = squares.freedom
    if layout.defined is not None:  # mean squares of incomplete layouts are only about chi-square
        df = effective_freedom(squares, layout.defined, variances, random)
        mean_squares = np.where(mean_squares > 0, mean_squares, squares.expected @ variances)
    # Generalized pivots: each mean square is E[MS] χ²(df) / df, so E[MS] is drawn as MS df / χ² and solved anew.
    drawn = np.maximum(squares.components(mean_squares * df / random.chisquare(df, (draws, len(df)))), 0.0)
    mean_sd = np.sqrt(np.maximum(drawn @ squares.mean_error, 0.0))
    normal = random.standard_normal(draws)
    order = layout.sort_subsets(squares.subsets)
    sums = drawn.sum(axis=1, keepdims=True)
    shares, drawn_shares = variances / variances.sum(), np.divide(drawn, sums, out=np.zeros_like(drawn), where=sums > 0)
    components = []
    for index in order:
        facets = layout.facet_names(squares.subsets[index])
        variance, share = float(variances[index]), float(shares[index])
        components.append(
            Component(
                name=":".join(facets),
                facets=facets,
                variance=variance,
                raw=float(raw[index]),
                share=share,
                interval=percentile_estimate(variance, drawn[:, index], level, **PIVOTS),
                share_interval=percentile_estimate(share, drawn_shares[:, index], level, **PIVOTS),
                df=float(df[index]),
                mean_square=float(squares.mean_squares[index]),
            )
        )
    few = "which barely identify its component: read its interval, not its estimate"
    warnings = [f"{facet} has {count} levels, {few}" for facet, count in layout.facets.items() if count < FEW_LEVELS]
    if negative := [component.name for component in components if component.raw < 0]:
        warnings.append(f"estimated below 0 and shown as 0: {', '.join(negative)}")
    return VarianceComponents(
        components=tuple(components),
        facets=layout.facets,
        measure=layout.measure,
        standardized=layout.standardized,
        mean=squares.mean,
        mean_error=float(variances @ squares.mean_error),
        scores=squares.scores,
        undefined=layout.undefined,
        method="analogous anova" if method == "anova" and layout.defined is not None else method,
        level=level,
        warnings=(*layout.warnings, *warnings),
        drawn=drawn[:, order],
        drawn_mean=squares.mean + mean_sd * normal,
        drawn_squared_mean=squared_means(squares.mean, mean_sd, ndtr(normal)),
    )


def squared_means(mean: float, sd: Floats, probability: Floats) -> Floats:
    """Squares of the means μ under which a mean drawn from N(μ, sd²) is at most |mean| in size with this probability.

    Draws of μ² from its confidence distribution, where the probability is uniform: 0 where even μ = 0 gives a smaller
    one. The square of a draw of μ would be too large by the error of the mean.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(abs(mean) / sd, nan=0.0, posinf=1e150)
    # P(|N(μ, 1)| ≤ size) = Φ(size − μ) − Φ(−size − μ) falls with μ: bisect to the last bits.
    low, high = np.zeros_like(size), size + 9.0
    for _ in range(60):
        middle = (low + high) / 2
        too_low = ndtr(size - middle) - ndtr(-size - middle) > probability
        low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    return np.asarray(np.where(sd > 0, (low * sd) ** 2, mean**2))


@dataclass(frozen=True, eq=False)
class ScoreLayout:
    """Scores to analyze, one axis per facet; `defined` is None where every cell has one.

    Scores are divided by `scale`; `shift` is about the mean of the scaled scores.
    """

    scores: Vectors
    defined: Flags | None
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
    values, defined, axes = _split_views(tensor)
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


def _split_views(tensor: ScoreTensor) -> tuple[Vectors, Flags, tuple[str, ...]]:
    """Scores and flags of defined ones by `AXES`, with the axis of models replaced by the facets of views.

    Models that are no views of transformers stay as they are. Combinations of facets that no view has are undefined.
    """
    values, defined = tensor.to_numpy().transpose(0, 1, 3, 2), tensor.undefined.transpose(0, 1, 3, 2) == 0
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
