"""`variance_components`: how much scores vary with words, pairs, models, measures and their interactions.

This is generalizability theory. Every facet is crossed with every other and random: its levels are taken as a sample of
those that could have been used. Sources: Cronbach, Gleser, Nanda & Rajaratnam, *The Dependability of Behavioral
Measurements* (1972); Brennan, *Generalizability Theory* (2001), chapters 3 and 7. Intervals by generalized pivotal
quantities: Weerahandi 1993; Burdick, Borror & Montgomery, *Design and Analysis of Gauge R&R Studies* (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biasgauge.agreement.components.layout import Layout, layout_of
from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats.crossed.gaps import effective_freedom
from biasgauge.stats.crossed.sums import EffectSquares, effect_squares
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.threads import on_one_thread

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["anova", "reml"]

FEW_LEVELS = 5
"""Below this many levels the component of a facet is barely known, and output says so."""
_HOW = "generalized pivots"
_OVER = "words, pairs, models and measures like these"


@dataclass(frozen=True)
class Component:
    """The variance of one main effect or interaction.

    Attributes:
        name: facets joined by colons, such as "word:pair".
        facets: the same, apart.
        variance: at least 0; in squared units of the scores.
        raw: the unbiased estimate, which may be below 0 by chance.
        share: of the sum of all components.
        interval: where the variance may lie.
        share_interval: where the share may lie.
        df: degrees of freedom of its mean square.
        mean_square: from which it was estimated.
    """

    name: str
    facets: tuple[str, ...]
    variance: float
    raw: float
    share: float
    interval: Estimate
    share_interval: Estimate
    df: float
    mean_square: float

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "name": self.name,
            "variance": self.variance,
            "raw": self.raw,
            "share": self.share,
            "interval": self.interval.interval(),
            "share_interval": self.share_interval.interval(),
            "df": self.df,
            "mean_square": self.mean_square,
        }


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
    """

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

    def __getitem__(self, name: str) -> Component:
        for one in self.components:
            if one.name == name or set(one.facets) == set(name.split(":")):
                return one
        names = ", ".join(one.name for one in self.components)
        raise ParameterError(f"There is no component {name!r} in this design; there are {names}.")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the draws."""
        return {
            "design": dict(self.facets),
            "measure": self.measure,
            "standardized": self.standardized,
            "components": [one.to_dict() for one in self.components],
            "mean": self.mean,
            "mean_interval": _interval(self.mean, self.drawn_mean, self.level).interval(),
            "scores": self.scores,
            "undefined": self.undefined,
            "method": self.method,
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a component: its variance, share, both intervals, degrees of freedom and mean square."""
        import pandas as pd

        return pd.DataFrame(
            {
                "component": [one.name for one in self.components],
                "variance": [one.variance for one in self.components],
                "low": [one.interval.low for one in self.components],
                "high": [one.interval.high for one in self.components],
                "share": [one.share for one in self.components],
                "share_low": [one.share_interval.low for one in self.components],
                "share_high": [one.share_interval.high for one in self.components],
                "raw": [one.raw for one in self.components],
                "df": [one.df for one in self.components],
                "mean_square": [one.mean_square for one in self.components],
            }
        )

    def summary(self) -> Summary:
        """The share of the variance of each component."""
        from biasgauge.agreement.figures import study_charts

        rows = [
            (
                one.name,
                Estimate(value=one.share, low=one.share_interval.low, high=one.share_interval.high),
                one.variance,
            )
            for one in self.components
        ]
        widest = max(self.components, key=lambda one: one.share)
        columns: list[Column | str] = [
            "component",
            Column(f"share [{self.level:.0%}]", "estimate", 3),
            Column("variance", "number", 4),
        ]
        return Summary(
            title="What scores vary with",
            headline=f"The largest component, {widest.name}, has {widest.share:.0%} of the variance of scores.",
            tables=(Table.of("components", "Components of variance", columns, rows),),
            charts=study_charts(self),
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
    if method not in {"anova", "reml"}:
        raise ParameterError(
            f"The 'method' parameter of variance_components must be 'anova' or 'reml'. Got {method!r}."
        )
    if not 0 < level < 1 or draws < 1:
        raise ParameterError(f"A level must lie between 0 and 1, draws be at least 1. Got {level!r} and {draws!r}.")
    layout = layout_of(scores, measure, standardize=standardize)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        return _split(layout, method, level, draws, np.random.default_rng(random_state))


def _split(layout: Layout, method: Method, level: float, draws: int, random: np.random.Generator) -> VarianceComponents:
    squares = effect_squares(layout.scores, layout.defined, shift=layout.shift, scale=layout.scale)
    if not squares.solvable:
        raise ParameterError(
            "Too few scores are defined to tell the components apart: words, pairs and models do not overlap enough."
        )
    raw = squares.components()
    if method == "reml":
        from biasgauge.agreement.components.reml import reml_components

        raw = reml_components(layout, squares, np.maximum(raw, 0.0))
    return _result(layout, squares, raw, method, level, draws, random)


def _result(
    layout: Layout,
    squares: EffectSquares,
    raw: Floats,
    method: Method,
    level: float,
    draws: int,
    random: np.random.Generator,
) -> VarianceComponents:
    variances = np.maximum(raw, 0.0)
    values, freedom = squares.mean_squares, squares.freedom
    if method == "reml":
        values = squares.expected @ variances
    if layout.defined is not None:
        freedom = effective_freedom(squares, layout.defined, variances, random)
        values = np.where(values > 0, values, squares.expected @ variances)
    drawn = np.maximum(squares.components(values * freedom / random.chisquare(freedom, (draws, len(freedom)))), 0.0)
    spread = np.sqrt(np.maximum(drawn @ squares.mean_error, 0.0))
    drawn_mean = squares.mean + spread * random.standard_normal(draws)
    total = float(variances.sum())
    sums = drawn.sum(axis=1, keepdims=True)
    shares = np.divide(drawn, sums, out=np.zeros_like(drawn), where=sums > 0)
    components = []
    for place in layout.order(squares.subsets):
        facets = layout.names(squares.subsets[place])
        components.append(
            Component(
                name=":".join(facets),
                facets=facets,
                variance=float(variances[place]),
                raw=float(raw[place]),
                share=float(variances[place]) / total,
                interval=_interval(float(variances[place]), drawn[:, place], level),
                share_interval=_interval(float(variances[place]) / total, shares[:, place], level),
                df=float(freedom[place]),
                mean_square=float(squares.mean_squares[place]),
            )
        )
    how = "reml" if method == "reml" else "anova" if layout.defined is None else "analogous anova"
    return VarianceComponents(
        components=tuple(components),
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
        drawn_mean=drawn_mean,
    )


def _interval(value: float, drawn: Floats, level: float) -> Estimate:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Estimate(value=value, low=low, high=high, level=level, method=_HOW, over=_OVER, resamples=len(drawn))


def _warnings(layout: Layout, components: list[Component]) -> list[str]:
    notes = list(layout.warnings)
    notes.extend(
        f"{facet} has {levels} levels, which barely identify its component: read its interval, not its estimate"
        for facet, levels in layout.facets.items()
        if levels < FEW_LEVELS
    )
    below = [one.name for one in components if one.raw < 0]
    if below:
        notes.append(f"estimated below 0 and shown as 0: {', '.join(below)}")
    return notes
