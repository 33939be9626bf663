"""Which variant predicts distances best? Leave-one-out cross-validation by Pareto-smoothed importance sampling.

Source: Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
Statistics and Computing 27 (2017); smoothing by `arviz-stats`, which the extra `bayes` brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import ClassVar

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import Column, Record, Result, Summary, Table
from biasgauge.uncertainty.draws import Draws, RowPlaces
from biasgauge.uncertainty.posterior import Posterior

_BLOCK = 250


@dataclass(frozen=True)
class Loo(Record):
    """How well one model predicts each distance from all others.

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
class Comparison(Result):
    """Models from best to worst."""

    tables: ClassVar[tuple[str, ...]] = ("ranks",)
    renamed: ClassVar[Mapping[str, str]] = {"ranks": "models"}

    ranks: tuple[ModelRank, ...]

    def summary(self) -> Summary:
        """Each model with its expected log predictive density, and how far it is from the best."""
        numbers = [Column(name, "number", 1) for name in ("elpd", "se", "difference", "se of the difference")]
        rows = [(row.name, row.elpd, row.se, row.difference, row.difference_se, row.caution) for row in self.ranks]
        table = Table.of("models", "Leave-one-out cross-validation", ["model", *numbers, "caution"], rows)
        headline = f"{self.ranks[0].name} predicts left-out distances best"
        return Summary("Comparison of models", headline, tables=(table.without_empty(),))


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
    draws = posterior.draws
    if not draws.connections or draws.residual.shape[1] != len(draws.connections):
        raise ParameterError("Leave-one-out needs a fit of one of the shipped variants.")
    places = draws.places(posterior.table)
    observed = posterior.table.distance[places.row]
    size = posterior.diagnostics.ess_min
    efficiency = 1.0 if posterior.sampler == "exact" or size is None else min(1.0, size / len(draws))
    contributions, inside, shapes = [], [], []
    for start in range(0, len(observed), _BLOCK):
        part = slice(start, min(start + _BLOCK, len(observed)))
        likelihood = log_likelihood(draws, places, observed, part)
        weights, shape = statistics.psislw(likelihood, r_eff=efficiency, axis=-1)  # negates it: weights 1 / likelihood
        contributions.append(_log_sum(likelihood + weights))
        inside.append(_log_sum(likelihood) - np.log(likelihood.shape[1]))
        shapes.append(shape)
    pointwise, shape = np.concatenate(contributions), np.concatenate(shapes)
    total = float(pointwise.sum())
    return Loo(
        elpd=total,
        se=float(np.sqrt(len(pointwise)) * pointwise.std()),
        parameters=float(np.concatenate(inside).sum() - total),
        unreliable=int((shape > 0.7).sum()),
        pointwise=pointwise,
    )


def compare(posteriors: Mapping[str, Posterior]) -> Comparison:
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
    fits = {name: loo(posterior) for name, posterior in posteriors.items()}
    best = max(fits.values(), key=lambda fit: fit.elpd)
    ranks = []
    for name, fit in fits.items():
        error = float(np.sqrt(len(fit.pointwise)) * (fit.pointwise - best.pointwise).std())
        own = (fit.elpd, fit.se, fit.parameters, fit.elpd - best.elpd, error, fit.unreliable)
        ranks.append(ModelRank(name, *own, posteriors[name].caution))
    return Comparison(tuple(sorted(ranks, key=lambda rank: -rank.elpd)))


def log_likelihood(draws: Draws, places: RowPlaces, observed: Floats, part: slice) -> Floats:
    """Rows × draws: log density of some of the observed distances under each draw."""
    connection = places.connection[part]
    scale = draws.residual[:, connection].T
    away = (observed[part][:, None] - places.mean(draws, part)) / scale
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


def _log_sum(values: Floats) -> Floats:
    peak = values.max(axis=1)
    total: Floats = peak + np.log(np.exp(values - peak[:, None]).sum(axis=1))
    return total
