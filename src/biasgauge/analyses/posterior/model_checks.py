"""Checks of a fitted model: does it predict what was observed, and would another model or prior give another answer?

Observed distances are held against the 50 % and the 89 % HPDI of what the model predicts for them (Dobrzeniecka &
Urbaniak 2023, section 4 and appendix 1.3). Variants are ranked by leave-one-out cross-validation with Pareto-smoothed
importance sampling (`arviz-stats`, of the extra `bayes`): Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation
using leave-one-out cross-validation and WAIC", Statistics and Computing 27 (2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.posterior.draws import Draws, SampledRows, fit
from biasgauge.analyses.posterior.estimates import contrasts, posterior_means
from biasgauge.analyses.posterior.priors import VARIANTS, Priors
from biasgauge.analyses.posterior.table import DistanceTable
from biasgauge.core import Floats, Places, Record
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import Column, RecordTable, Result, number_text
from biasgauge.stats import hpdis

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.posterior.bayesian import Posterior

Ends = Sequence[tuple[Floats, Floats]]
PROBS = (0.5, 0.89)
NOTEWORTHY = 0.25
"""Shift, in posterior standard deviations, from which the prior matters."""
_SHIFTS = Column("mean", "number", 3), Column("shift", "number", 3)
_nothing = partial(np.empty, 0)
_ROW_DRAWS = 1_000
"""Draws simulated for each row where rows have predictions of their own; the paper simulated as many."""
_BLOCK = 500
_POOLED = 20_000


@dataclass(frozen=True, eq=False)
class PredictiveCheck(Record):
    """Observed distances and their predictions; the JSON holds the shares alone.

    Attributes:
        within_50: share of observed distances inside the 50 % HPDI of their prediction; .5 for a model that fits.
        within_89: the same for 89 %.
        rows: indices of the rows in the table.
        mean: predicted distance of each row.
        low_50, high_50, low_89, high_89: ends of the intervals of each row.
        simulated: distances simulated for all rows together, at most 20,000, for a picture of their density.
    """

    hidden: ClassVar[frozenset[str]] = frozenset(
        {"rows", "mean", "low_50", "high_50", "low_89", "high_89", "simulated"}
    )

    within_50: float
    within_89: float
    rows: Places = field(default_factory=lambda: np.empty(0, np.intp))
    mean: Floats = field(default_factory=_nothing)
    low_50: Floats = field(default_factory=_nothing)
    high_50: Floats = field(default_factory=_nothing)
    low_89: Floats = field(default_factory=_nothing)
    high_89: Floats = field(default_factory=_nothing)
    simulated: Floats = field(default_factory=_nothing)

    def to_frame(self, table: DistanceTable) -> pd.DataFrame:
        """One row per distance: the words, the observed and the predicted distance with both intervals."""
        frame = table.to_frame().iloc[self.rows].reset_index(drop=True)
        ends = {name: getattr(self, name) for name in ("low_50", "high_50", "low_89", "high_89")}
        return frame.rename(columns={"cosine_distance": "observed"}).assign(predicted=self.mean, **ends)

    def density_frame(self, table: DistanceTable, bins: int = 60) -> pd.DataFrame:
        """Density of observed and of simulated distances in equal bins: distance (middle of the bin) and both."""
        import pandas as pd

        observed = table.distance[self.rows]
        edges = np.histogram_bin_edges(np.concatenate([observed, self.simulated]), bins)
        heights = [np.histogram(values, edges, density=True)[0] for values in (observed, self.simulated)]
        return pd.DataFrame({"distance": (edges[1:] + edges[:-1]) / 2, "observed": heights[0], "simulated": heights[1]})


def check_predictions(
    draws: Draws, table: DistanceTable, random: np.random.Generator, *, each_row: bool = False
) -> PredictiveCheck:
    """Simulate distances from the draws: how often do the observed ones lie where most simulated ones do?

    Args:
        draws: of the model.
        table: the observed distances.
        random: of the simulation.
        each_row: simulate 1,000 distances for each row, as the paper does. Otherwise rows of which the model says the
            same share one simulation from every draw, which errs less: an interval of 1,000 draws is a little narrow.
    """
    rows = draws.rows(table)
    simulate = _simulate_cells if rows.effect is None and not each_row else _simulate_rows
    ends, pooled = simulate(draws, rows, random)
    return _check(table, rows.row, rows.expected(draws), ends, pooled)


def check_simulated(table: DistanceTable, simulated: Floats, random: np.random.Generator) -> PredictiveCheck:
    """The same for distances that were simulated already: draws × rows."""
    pooled = random.choice(simulated.ravel(), _POOLED)
    return _check(table, np.arange(len(table)), simulated.mean(axis=0), hpdis(simulated, PROBS), pooled)


def _check(table: DistanceTable, rows: Places, mean: Floats, ends: Ends, simulated: Floats) -> PredictiveCheck:
    observed = table.distance[rows]
    inside = [float(((low <= observed) & (observed <= high)).mean()) for low, high in ends]
    return PredictiveCheck(inside[0], inside[1], rows, mean, *ends[0], *ends[1], simulated)


def _simulate_cells(draws: Draws, rows: SampledRows, random: np.random.Generator) -> tuple[Ends, Floats]:
    """Rows of the same connection and word have the same prediction: simulate it once, from every draw."""
    simulated = draws.word + _noise(draws, draws.cell_connection, slice(None), random, draws.word.shape)
    ends = [(low[rows.cell], high[rows.cell]) for low, high in hpdis(simulated, PROBS)]
    counts = np.bincount(rows.cell, minlength=simulated.shape[1])
    draw = random.integers(len(simulated), size=_POOLED)
    return ends, simulated[draw, random.choice(len(counts), _POOLED, p=counts / counts.sum())]


def _simulate_rows(draws: Draws, rows: SampledRows, random: np.random.Generator) -> tuple[Ends, Floats]:
    """Every row has a prediction of its own: simulate each from some of the draws, a block of rows at a time."""
    subset = np.linspace(0, len(draws) - 1, min(_ROW_DRAWS, len(draws))).astype(np.intp)
    count = len(rows.row)
    ends = [(np.empty(count), np.empty(count)) for _ in PROBS]
    per_row = max(1, _POOLED // count)
    pooled = []
    for start in range(0, count, _BLOCK):
        block = slice(start, start + _BLOCK)
        center = rows.mean(draws, block, subset).T
        simulated = center + _noise(draws, rows.connection[block], subset, random, center.shape)
        for (low, high), interval in zip(ends, hpdis(simulated, PROBS), strict=True):
            low[block], high[block] = interval
        pooled.append(simulated[:per_row].ravel())
    return ends, np.concatenate(pooled)[:_POOLED]


def _noise(
    draws: Draws, connection: Places, subset: Places | slice, random: np.random.Generator, shape: tuple[int, ...]
) -> Floats:
    """Residuals, one for each draw and each column."""
    if draws.freedom is None:
        standard = random.standard_normal(shape)
    else:
        standard = random.standard_t(draws.freedom[subset][:, connection], shape)
    noise: Floats = draws.residual[subset][:, connection] * standard
    return noise


@dataclass(frozen=True)
class Loo(Record):
    """Leave-one-out predictive accuracy of one model.

    Attributes:
        elpd: expected log predictive density, summed over the distances; more is better.
        se: its standard error.
        parameters: effective number of parameters.
        unreliable: distances whose contribution is not to be relied on (Pareto k above .7).
        pointwise: contribution of each distance.
    """

    elpd: float
    se: float
    parameters: float
    unreliable: int
    pointwise: Floats = field(repr=False, compare=False)


@dataclass(frozen=True)
class ModelRank(Record):
    """One model in a comparison; `elpd`, `se`, `parameters` and `unreliable` as in `Loo`.

    Attributes:
        name: of the model.
        difference: elpd less that of the best model; 0 for the best.
        difference_se: standard error of the difference, from the paired contributions.
        caution: why the draws cannot be trusted; empty when they can.
    """

    name: str
    elpd: float
    se: float
    parameters: float
    difference: float
    difference_se: float
    unreliable: int
    caution: str


@dataclass(frozen=True, repr=False)
class ModelRanking(Result):
    """Models from best to worst."""

    tables: ClassVar[tuple[str, ...]] = ("ranks",)
    renamed: ClassVar[Mapping[str, str]] = {"ranks": "models"}
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "ranks",
            "Leave-one-out cross-validation",
            (
                Column("model", source="name"),
                *(Column(name, "number", 1) for name in ("elpd", "se", "difference")),
                Column("se of the difference", "number", 1, source="difference_se"),
                "caution",
            ),
            drop_empty=True,
            name="models",
        ),
    )

    ranks: tuple[ModelRank, ...]

    def _title(self) -> str:
        return "Comparison of models"

    def _headline(self) -> str:
        return f"{self.ranks[0].name} predicts left-out distances best"


def loo(posterior: Posterior) -> Loo:
    """Leave-one-out cross-validation of one fit.

    Raises:
        ParameterError: there is nothing to predict, or the model is a user's own (ArviZ can compare those).
        InputError: `arviz-stats` is not installed.
    """
    try:
        statistics = import_module("arviz_stats.base").array_stats  # an extra, and not cheap to import
    except ImportError as problem:
        raise InputError('comparing models needs arviz-stats: pip install "biasgauge[bayes]"') from problem
    from biasgauge.analyses.posterior.exact import log_sum

    draws = posterior.draws
    if not draws.connections or draws.residual.shape[1] != len(draws.connections):
        raise ParameterError("Leave-one-out needs a fit of one of the shipped variants.")
    rows = draws.rows(posterior.table)
    observed = posterior.table.distance[rows.row]
    size = posterior.diagnostics.ess_min
    efficiency = 1.0 if posterior.sampler == "exact" or size is None else min(1.0, size / len(draws))
    blocks = []
    for start in range(0, len(observed), _BLOCK):
        likelihood = log_likelihood(draws, rows, observed, slice(start, min(start + _BLOCK, len(observed))))
        weights, shapes = statistics.psislw(likelihood, r_eff=efficiency, axis=-1)  # negates it: weights 1 / likelihood
        left_out, inside = log_sum(likelihood + weights, axis=1), log_sum(likelihood, axis=1)
        blocks.append((left_out, inside - np.log(likelihood.shape[1]), shapes))
    pointwise, inside, shapes = (np.concatenate(values) for values in zip(*blocks, strict=True))
    total = float(pointwise.sum())
    se = float(np.sqrt(len(pointwise)) * pointwise.std())
    return Loo(total, se, float(inside.sum() - total), int((shapes > 0.7).sum()), pointwise)


def compare(posteriors: Mapping[str, Posterior]) -> ModelRanking:
    """Rank fits of the same distances by leave-one-out cross-validation.

    Raises:
        ParameterError: the fits are not about the same distances.
    """
    if not posteriors:
        raise ParameterError("A comparison needs at least one fit.")
    first, *others = posteriors.values()
    for other in others:
        same = np.array_equal(other.table.distance, first.table.distance)
        if not same or other.draws.connections != first.draws.connections:
            raise ParameterError("Models can be compared only on the same distances.")
    left_out = {name: loo(posterior) for name, posterior in posteriors.items()}
    best = max(left_out.values(), key=lambda score: score.elpd)
    ranks = []
    for name, score in left_out.items():
        error = float(np.sqrt(len(score.pointwise)) * (score.pointwise - best.pointwise).std())
        numbers = (score.elpd, score.se, score.parameters, score.elpd - best.elpd, error, score.unreliable)
        ranks.append(ModelRank(name, *numbers, posteriors[name].caution))
    return ModelRanking(tuple(sorted(ranks, key=lambda rank: -rank.elpd)))


def log_likelihood(draws: Draws, rows: SampledRows, observed: Floats, part: slice) -> Floats:
    """Rows × draws: log density of some of the observed distances under each draw."""
    connection = rows.connection[part]
    scale = draws.residual[:, connection].T
    away = (observed[part][:, None] - rows.mean(draws, part)) / scale
    if draws.freedom is None:
        normal: Floats = -0.5 * away**2 - np.log(scale) - 0.5 * np.log(2 * np.pi)
        return normal
    from scipy.special import gammaln

    freedom = draws.freedom[:, connection].T
    student: Floats = (
        gammaln((freedom + 1) / 2)
        - gammaln(freedom / 2)
        - 0.5 * np.log(freedom * np.pi)
        - np.log(scale)
        - (freedom + 1) / 2 * np.log1p(away**2 / freedom)
    )
    return student


@dataclass(frozen=True)
class PriorShift(Record):
    """Shift of one estimate under another prior.

    Attributes:
        prior: which prior was changed, and how.
        quantity: "group" or "contrast".
        name: the connection, or the two that are compared ("associated − different").
        mean: posterior mean under the other prior.
        low: lower end of its interval.
        high: upper end.
        shift: how far the mean moved, in posterior standard deviations of the original fit; 0 means not at all.
        matters: whether that is more than a quarter.
    """

    prior: str
    quantity: str
    name: str
    mean: float
    low: float
    high: float
    shift: float
    matters: bool


@dataclass(frozen=True, repr=False)
class PriorSensitivity(Result):
    """The answer under several priors: one shift for each prior and each estimate."""

    tables: ClassVar[tuple[str, ...]] = ("shifts",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("shifts", "Shifts", ("prior", "quantity", "name", *_SHIFTS, "matters")),
    )

    shifts: tuple[PriorShift, ...]

    @property
    def largest(self) -> PriorShift:
        """The shift farthest from 0."""
        return max(self.shifts, key=lambda row: abs(row.shift))

    def derived(self) -> dict[str, PriorShift]:
        """The shift farthest from 0."""
        return {"largest": self.largest}

    def _headline(self) -> str:
        worst = self.largest
        by = f"{number_text(worst.shift)} posterior standard deviations"
        return f"{worst.name} moves by {by} with {worst.prior}"


def prior_sensitivity(posterior: Posterior, priors: Mapping[str, Priors] | None = None) -> PriorSensitivity:
    """Fit the same model under other priors and say how far groups and contrasts move.

    `priors` are the others by name; by default each part of the prior with half and with twice its spread. The seed is
    that of the original, so that shifts are due to the prior.

    Raises:
        ParameterError: the posterior has no connection that could be fitted.
    """
    if posterior.variant not in VARIANTS:
        raise ParameterError(
            "Prior sensitivity needs one of the shipped variants: your own model states its own priors."
        )
    if not posterior.draws.connections:
        raise ParameterError("There is nothing to compare: no connection could be fitted.")
    others = tighter_and_wider(posterior.priors) if priors is None else dict(priors)
    sampling = {name: posterior.settings[name] for name in ("sampler", "random_state")}
    original = _rows(posterior.draws, posterior)
    shifts = []
    for name, prior in others.items():
        fitted = fit(posterior.table, posterior.variant, prior, draws=len(posterior.draws), **sampling)
        for (quantity, label), row in _rows(fitted.draws, posterior).items():
            before = original[quantity, label]
            shift = float((row["value"] - before["value"]) / before["sd"])
            numbers = (row["value"], row["low"], row["high"], shift, abs(shift) > NOTEWORTHY)
            shifts.append(PriorShift(name, quantity, label, *numbers))
    return PriorSensitivity(tuple(shifts))


def _rows(draws: Draws, posterior: Posterior) -> dict[tuple[str, str], dict[str, Any]]:
    """Mean, interval and sd of each group and each contrast of groups."""
    groups = zip(draws.connections, posterior_means(draws.group, posterior.credible), strict=True)
    rows = {("group", name): numbers for name, numbers in groups}
    differences = contrasts(draws, (), posterior.credible, posterior.rope)
    return rows | {("contrast", f"{row.a} − {row.b}"): vars(row) for row in differences}


def tighter_and_wider(priors: Priors) -> dict[str, Priors]:
    """Each part of the prior with half and with twice its spread, by name."""
    others = {}
    for word, factor in (("half as wide", 0.5), ("twice as wide", 2.0)):
        others[f"group {word}"] = replace(priors, group=replace(priors.group, sd=priors.group.sd * factor))
        others[f"between {word}"] = replace(priors, between=priors.between.scaled(factor))
        others[f"residual {word}"] = replace(priors, residual=priors.residual.scaled(factor))
    return others
