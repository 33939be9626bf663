"""`variance_components`: how much scores vary with words, pairs, models, measures and their interactions.

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

from biasgauge.analyses.reliability.components.layout import Layout, layout_of, reml_components
from biasgauge.core import Estimate, Floats, JsonMapping, Record, check_choice, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, share_text
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import EffectSquares, effect_squares, effective_freedom, on_one_thread, percentile_estimate
from biasgauge.stats.mixed_models import FEW_LEVELS

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["anova", "reml"]

PIVOTS: dict[str, Any] = {"method": "generalized pivots", "over": "words, pairs, models and measures like these"}
"""What the intervals of components, and of what follows from them, say of themselves."""


@dataclass(frozen=True)
class Component(Record):
    """The variance of one main effect or interaction.

    Attributes:
        name: its facets joined by colons, such as "word:pair".
        variance: at least 0; in squared units of the scores.
        raw: the unbiased estimate, which may be below 0 by chance.
        share: of the sum of all components.
        interval, share_interval: where the variance, and the share, may lie.
        df: degrees of freedom of its mean square.
        mean_square: from which it was estimated.
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
        standardized: scores were divided by the standard deviation of their measure.
        mean: of all scores, in the same units.
        mean_error: estimated variance of that mean.
        scores: how many were used.
        undefined: how many of the layout are undefined.
        method: "anova", "analogous anova" where scores are undefined, or "reml".
        level: of the intervals.
        warnings: what to know before reading the table.
        drawn: components that could have given these scores, one row a draw; for whatever is computed from them.
        drawn_mean: means, likewise.
        drawn_squared_mean: squares of means, likewise, net of the error of the mean: 0 where it may be all error.
    """

    abridged: ClassVar[bool] = True
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
        """Facets of views whose levels are all there are, so that a design speaks of those at hand."""
        return tuple(name for name in ("layer", "pooling") if name in self.facets)

    def involving(self, facet: str) -> Estimate:
        """Share of the variance in all components that hold a facet, alone or with others.

        Shares of several facets add up to more than 1: an interaction of two counts for both.

        Raises:
            ParameterError: there is no such facet.
        """
        if facet not in self.facets:
            raise ParameterError(f"There is no facet {facet!r} in this design; there are {', '.join(self.facets)}.")
        held = np.array([facet in component.facets for component in self.components])
        variances, sums = np.array([component.variance for component in self.components]), self.drawn.sum(axis=1)
        shares = np.divide(self.drawn[:, held].sum(axis=1), sums, out=np.zeros_like(sums), where=sums > 0)
        return percentile_estimate(float(variances[held].sum() / variances.sum()), shares, self.level, **PIVOTS)

    def derived(self) -> JsonMapping:
        """The interval of the mean, and what each facet has a part in."""
        return {
            "mean_interval": percentile_estimate(self.mean, self.drawn_mean, self.level, **PIVOTS).interval(),
            "involving": {facet: self.involving(facet).to_dict() for facet in self.facets},
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a component: its variance, share, both intervals, degrees of freedom and mean square."""
        frame = super().to_frame().rename(columns={"name": "component"})
        return frame[["component", "variance", "low", "high", "share", "share_low", "share_high", "raw", "df",
                      "mean_square"]]  # fmt: skip

    def summary(self) -> Summary:
        """The share of the variance of each component."""
        from biasgauge.analyses.reliability.figures import study_chart

        widest = max(self.components, key=lambda component: component.share)
        heads = [
            "component",
            Column(f"share [{level_text(self.level)}]", "estimate", 3),
            Column("variance", "number", 4),
        ]
        rows = [(component.name, component.share_interval, component.variance) for component in self.components]
        note = "An interaction counts for each of its facets, so that these shares add up to more than 100 %."
        parts = [(facet, levels, self.involving(facet)) for facet, levels in self.facets.items()]
        involved = ["facet", Column("levels", "count"), Column(f"share [{level_text(self.level)}]", "estimate", 3)]
        return Summary(
            title="What scores vary with",
            headline=f"The largest component, {widest.name}, has {share_text(widest.share)} of the variance of scores.",
            tables=(
                Table.of("components", "Components of variance", heads, rows, most=20),
                Table.of("facets", "What each facet has a part in", involved, parts, note=note),
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

    Args:
        scores: a score tensor or store; its models should be replicates.
        measure: analyze this measure alone (word × pair × model). None takes all measures together, as a fourth facet
            where there are several.
        standardize: with measures as a facet, divide the scores of each by their standard deviation, for they are on
            scales of their own; 0 stays 0. One measure alone is never divided.
        method: "anova": expected mean squares, exact where every score is defined and unbiased where some are not
            (Henderson's method I). "reml": restricted maximum likelihood, for small layouts; the same where every
            score is defined and no component is estimated below 0.
        level: of the intervals.
        draws: of components, for intervals.
        random_state: seed of the draws.

    Facets with one level, and levels without any score, are left out. Intervals assume normal effects.

    Raises:
        ParameterError: fewer than two facets have two levels, all scores are equal, or too few are defined.
    """
    check_choice(get_args(Method), method=method)
    check_whole(1, draws=draws)
    check_level(level)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        layout = layout_of(scores, measure, standardize=standardize)
        return _split(layout, method, level, draws, np.random.default_rng(random_state))


def _split(layout: Layout, method: Method, level: float, draws: int, random: np.random.Generator) -> VarianceComponents:
    squares = effect_squares(layout.scores, layout.defined, shift=layout.shift, scale=layout.scale)
    if not squares.solvable:
        raise ParameterError(
            "Too few scores are defined to tell the components apart: words, pairs and models do not overlap enough."
        )
    raw = squares.components()
    if method == "reml":
        raw = reml_components(layout, squares.subsets, np.maximum(raw, 0.0))
    variances = np.maximum(raw, 0.0)
    values, freedom = squares.mean_squares, squares.freedom
    if method == "reml":
        values = squares.expected @ variances
    if layout.defined is not None:
        freedom = effective_freedom(squares, layout.defined, variances, random)
        values = np.where(values > 0, values, squares.expected @ variances)
    drawn = np.maximum(squares.components(values * freedom / random.chisquare(freedom, (draws, len(freedom)))), 0.0)
    spread = np.sqrt(np.maximum(drawn @ squares.mean_error, 0.0))
    normal = random.standard_normal(draws)
    components = _components(layout, squares, raw, freedom, drawn, level)
    how = "reml" if method == "reml" else "anova" if layout.defined is None else "analogous anova"
    return VarianceComponents(
        components=components,
        facets=layout.facets,
        measure=layout.measure,
        standardized=layout.standardized,
        mean=squares.mean,
        mean_error=float(variances @ squares.mean_error),
        scores=squares.scores,
        undefined=layout.undefined,
        method=how,
        level=level,
        warnings=tuple(_warnings(layout, components)),
        drawn=drawn[:, layout.order(squares.subsets)],
        drawn_mean=squares.mean + spread * normal,
        drawn_squared_mean=squared_means(squares.mean, spread, ndtr(normal)),
    )


def squared_means(mean: float, spread: Floats, tail: Floats) -> Floats:
    """Squares of the means μ under which a mean of N(μ, spread²) is at most |mean| in size with probability `tail`.

    Draws of μ² from its confidence distribution, where `tail` is uniform: 0 where even μ = 0 gives a smaller
    probability. The square of a draw of μ would be too large by the error of the mean.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(abs(mean) / spread, nan=0.0, posinf=1e150)
    low, high = np.zeros_like(size), size + 9.0
    for _ in range(60):  # halvings: to the last bits
        middle = (low + high) / 2
        more = ndtr(size - middle) - ndtr(-size - middle) > tail
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray(np.where(spread > 0, (low * spread) ** 2, mean**2))


def _components(
    layout: Layout, squares: EffectSquares, raw: Floats, freedom: Floats, drawn: Floats, level: float
) -> tuple[Component, ...]:
    """Every component with its intervals, in the order of tables."""
    variances = np.maximum(raw, 0.0)
    total, sums = float(variances.sum()), drawn.sum(axis=1, keepdims=True)
    shares = np.divide(drawn, sums, out=np.zeros_like(drawn), where=sums > 0)
    components = []
    for index in layout.order(squares.subsets):
        facets, variance = layout.names(squares.subsets[index]), float(variances[index])
        components.append(
            Component(
                name=":".join(facets),
                facets=facets,
                variance=variance,
                raw=float(raw[index]),
                share=variance / total,
                interval=percentile_estimate(variance, drawn[:, index], level, **PIVOTS),
                share_interval=percentile_estimate(variance / total, shares[:, index], level, **PIVOTS),
                df=float(freedom[index]),
                mean_square=float(squares.mean_squares[index]),
            )
        )
    return tuple(components)


def _warnings(layout: Layout, components: tuple[Component, ...]) -> list[str]:
    notes = list(layout.warnings)
    notes.extend(
        f"{facet} has {levels} levels, which barely identify its component: read its interval, not its estimate"
        for facet, levels in layout.facets.items()
        if levels < FEW_LEVELS
    )
    below = [component.name for component in components if component.raw < 0]
    if below:
        notes.append(f"estimated below 0 and shown as 0: {', '.join(below)}")
    return notes
