"""Checks of a fitted model: would another model or prior give another answer?

Variants are ranked by leave-one-out cross-validation with Pareto-smoothed
importance sampling (`arviz-stats`, of the extra `bayes`): Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation
using leave-one-out cross-validation and WAIC", Statistics and Computing 27 (2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.posterior.connections import contrasts
from biasgauge.analyses.posterior.draws import Draws, SampledRows, fit
from biasgauge.analyses.posterior.estimates import posterior_means
from biasgauge.analyses.posterior.priors import VARIANTS, Priors
from biasgauge.core import Floats, Record
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import Column, RecordTable, Result, number_text

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.bayesian import Posterior

NOTEWORTHY = 0.25
"""Shift, in posterior standard deviations, from which the prior matters."""
_SHIFTS = Column("mean", "number", 3), Column("shift", "number", 3)
_BLOCK = 500


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
