"""Which variant predicts distances best? Leave-one-out cross-validation by Pareto-smoothed importance sampling.

Source: Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
Statistics and Computing 27 (2017); smoothing by `arviz-stats`, which the extra `bayes` brings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import InputError, ParameterError
from biasgauge.uncertainty.draws import Draws, RowPlaces
from biasgauge.uncertainty.posterior import Posterior

if TYPE_CHECKING:
    import pandas as pd


_BLOCK = 250
_UNRELIABLE = 0.7


@dataclass(frozen=True, eq=False)
class Loo:
    """How well one model predicts each distance from all others.

    Attributes:
        elpd: expected log predictive density, summed over the distances; more is better.
        se: its standard error.
        parameters: effective number of parameters.
        unreliable: distances whose contribution is not (Pareto k above .7).
        pointwise: contribution of each distance.
    """

    elpd: float
    se: float
    parameters: float
    unreliable: int
    pointwise: Floats


@dataclass(frozen=True)
class ModelRank:
    """One model in a comparison.

    Attributes:
        name: of the model.
        elpd: expected log predictive density.
        se: its standard error.
        parameters: effective number of parameters.
        difference: elpd less that of the best model; 0 for the best.
        difference_se: standard error of the difference, from the paired contributions.
        unreliable: distances whose contribution is not to be relied on.
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


@dataclass(frozen=True)
class Comparison:
    """Models from best to worst."""

    ranks: tuple[ModelRank, ...]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {"models": [vars(one) for one in self.ranks]}

    def to_frame(self) -> pd.DataFrame:
        """One row a model, the best first."""
        import pandas as pd

        return pd.DataFrame([vars(one) for one in self.ranks])

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))


def loo(posterior: Posterior) -> Loo:
    """Leave-one-out cross-validation of one fit.

    Raises:
        ParameterError: there is nothing to predict, or the model is a user's own (ArviZ can compare those).
        InputError: `arviz-stats` is not installed.
    """
    smooth = _smoother()
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
        weights, shape = smooth(likelihood, efficiency)
        contributions.append(_log_sum(likelihood + weights))
        inside.append(_log_sum(likelihood) - np.log(likelihood.shape[1]))
        shapes.append(shape)
    pointwise, shape = np.concatenate(contributions), np.concatenate(shapes)
    total = float(pointwise.sum())
    return Loo(
        elpd=total,
        se=float(np.sqrt(len(pointwise)) * pointwise.std()),
        parameters=float(np.concatenate(inside).sum() - total),
        unreliable=int((shape > _UNRELIABLE).sum()),
        pointwise=pointwise,
    )


def compare(posteriors: Mapping[str, Posterior]) -> Comparison:
    """Rank fits of the same distances by leave-one-out cross-validation.

    Raises:
        ParameterError: the fits are not about the same distances.
    """
    if not posteriors:
        raise ParameterError("A comparison needs at least one fit.")
    tables = [one.table for one in posteriors.values()]
    fitted = [one.draws.connections for one in posteriors.values()]
    same = all(np.array_equal(table.distance, tables[0].distance) for table in tables) and len(set(fitted)) == 1
    if not same:
        raise ParameterError("Models can be compared only on the same distances.")
    found = {name: loo(one) for name, one in posteriors.items()}
    best = max(found.values(), key=lambda one: one.elpd)
    ranks = [
        ModelRank(
            name=name,
            elpd=one.elpd,
            se=one.se,
            parameters=one.parameters,
            difference=one.elpd - best.elpd,
            difference_se=float(np.sqrt(len(one.pointwise)) * (one.pointwise - best.pointwise).std()),
            unreliable=one.unreliable,
            caution=posteriors[name].caution,
        )
        for name, one in found.items()
    ]
    return Comparison(tuple(sorted(ranks, key=lambda one: -one.elpd)))


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


def _smoother() -> Callable[[Floats, float], tuple[Floats, Floats]]:
    try:
        statistics = import_module("arviz_stats.base").array_stats  # an extra, and not cheap to import
    except ImportError as problem:
        raise InputError('comparing models needs arviz-stats: pip install "biasgauge[bayes]"') from problem

    def smooth(likelihood: Floats, efficiency: float) -> tuple[Floats, Floats]:
        weights, shape = statistics.psislw(likelihood, r_eff=efficiency, axis=-1)  # negates it: weights 1 / likelihood
        return np.asarray(weights), np.asarray(shape)

    return smooth


def _log_sum(values: Floats) -> Floats:
    peak = values.max(axis=1)
    total: Floats = peak + np.log(np.exp(values - peak[:, None]).sum(axis=1))
    return total
