"""The same models for NUTS: PyMC states them, nutpie samples them. Needs the extra `bayes`.

For the variants without a fast sampler of our own, for models that a user writes in PyMC (`sample_custom`), and as the
oracle of the others. The Normal models see sufficient statistics, so that a step costs the same however many rows there
are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from biasgauge.analyses.posterior.crossed import blocks_with_rows
from biasgauge.analyses.posterior.draws import AttributeDraws, Draws
from biasgauge.analyses.posterior.priors import Exponential, Priors, ScalePrior
from biasgauge.analyses.posterior.table import CONNECTIONS, Cells, DistanceTable, cell_labels, cells_of
from biasgauge.core import Floats
from biasgauge.errors import InputError, ParameterError

_INFORMATIVE = 25.0
"""From this ratio of the variance of means to that of their errors on, means are sampled as they are; below, as
deviations, which keeps NUTS out of the funnel where their standard deviation may be 0."""
_SIMULATED = 1_000
"""Draws of a user's model from which distances are simulated."""

CustomModel = Callable[..., Any]


def libraries() -> tuple[Any, Any]:
    """Import PyMC and nutpie.

    Raises:
        InputError: they are not installed; the sentence says how to install them.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notices of other packages about their own future
            import nutpie
            import pymc
    except ImportError as problem:
        raise InputError('sampling with NUTS needs PyMC and nutpie: pip install "biasgauge[bayes]"') from problem
    return pymc, nutpie


def sample_nuts(
    table: DistanceTable, variant: str, priors: Priors, *, chains: int, draws: int, seed: int
) -> tuple[Draws, int]:
    """Sample one of our variants: the draws, and how many transitions diverged."""
    trace = run_nuts(build_model(table, variant, priors), chains=chains, draws=draws, seed=seed)
    return _collect(trace, table, variant, chains), int(trace.sample_stats["diverging"].sum())


def sample_custom(
    table: DistanceTable, build: CustomModel, *, chains: int, draws: int, seed: int
) -> tuple[Draws, int, Floats]:
    """Sample the model that a user's function makes of the table: draws, divergences, simulated draws × rows.

    The function returns a `pymc.Model` with three variables: `group`, one value for each of `table.connections`;
    `word`, one value for each (connection, word) that has rows, in the order of the rows; and the observed `distance`,
    one for each row.

    Raises:
        ParameterError: the model lacks a variable, or one has another size than it should.
        InputError: PyMC and nutpie are not installed.
    """
    pm, _ = libraries()
    model = build(table)
    names = getattr(model, "named_vars", {})
    missing = [name for name in ("group", "word", "distance") if name not in names]
    if missing:
        raise ParameterError(
            f"A model of your own needs the variables group, word and distance; {missing[0]!r} is missing."
        )
    trace = run_nuts(model, chains=chains, draws=draws, seed=seed)
    cells = cells_of(table)
    expected = {"group": len(cells), "word": sum(len(cell.words) for cell in cells)}
    values: dict[str, Any] = {name: stacked(trace, name) for name in expected}
    for name, size in expected.items():
        if values[name].shape[1:] != (size,):
            raise ParameterError(f"{name!r} must hold {size} values. Got shape {values[name].shape[1:]}.")
    how = {"var_names": ["distance"], "random_seed": seed, "progressbar": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of other packages about their own future
        thinned = trace.sel(draw=slice(None, None, max(1, chains * draws // _SIMULATED)))
        predicted = pm.sample_posterior_predictive(thinned, model=model, **how)
    simulated = np.asarray(predicted.posterior_predictive["distance"], np.float64).reshape(-1, len(table))
    none = np.empty((len(values["group"]), 0))
    own = Draws(chains=chains, **cell_labels(cells), **values, between=none, residual=none)
    return own, int(trace.sample_stats["diverging"].sum()), simulated


def build_model(table: DistanceTable, variant: str, priors: Priors) -> Any:
    """State a variant in PyMC. Its variables: group, between, residual, word (one vector per connection), and so on."""
    pm, _ = libraries()
    cells = cells_of(table)
    with pm.Model() as model:
        data = {name: pm.Data(name, values) for name, values in model_data(table, variant).items()}
        shift = 0.0
        if variant == "intercept":
            shift = pm.Normal("baseline", priors.baseline.mean, priors.baseline.sd)
        group = pm.Normal("deviation", priors.group.mean, priors.group.sd, shape=len(cells)) + shift
        pm.Deterministic("group", group)
        between = _scale(pm, "between", priors.between, len(cells))
        if variant in {"single-sigma", "intercept"}:
            residual = pm.math.stack([_scale(pm, "sigma", priors.residual, None)] * len(cells))
        else:
            residual = _scale(pm, "sigma", priors.residual, len(cells))
        pm.Deterministic("residual", residual)
        words = [_words(pm, cell, group[index], between[index]) for index, cell in enumerate(cells)]
        if variant in {"student", "crossed"}:
            _rows(pm, table, variant, priors, cells, words, residual, data["observed"])
        else:
            for index, cell in enumerate(cells):
                sd, name = residual[index], cell.connection
                pm.Normal(f"means_{name}", words[index], sd / np.sqrt(cell.count), observed=data[f"mean_{name}"])
                if cell.df_within:
                    within = -cell.df_within * pm.math.log(sd) - 0.5 * data[f"within_{name}"] / sd**2
                    pm.Potential(f"spread_{name}", within)
    return model


def model_data(table: DistanceTable, variant: str) -> dict[str, Any]:
    """Data of a model by name; others of the same shape may replace them without rebuilding it."""
    if variant in {"student", "crossed"}:
        return {"observed": table.distance}
    means = {f"mean_{cell.connection}": cell.mean for cell in cells_of(table)}
    return means | {f"within_{cell.connection}": np.float64(cell.within) for cell in cells_of(table)}


def _rows(
    pm: Any,
    table: DistanceTable,
    variant: str,
    priors: Priors,
    cells: list[Cells],
    words: list[Any],
    residual: Any,
    observed: Any,
) -> None:
    """The likelihood of each distance, for the variants that need all of them."""
    connection = np.searchsorted([CONNECTIONS.index(cell.connection) for cell in cells], table.connection)
    starts = np.cumsum([0] + [len(cell.words) for cell in cells])
    own = [np.searchsorted(cell.words, table.word[connection == at]) for at, cell in enumerate(cells)]
    # rows are sorted by connection, so concatenating by connection keeps their order
    mean = pm.math.concatenate(words)[np.concatenate([start + part for start, part in zip(starts, own, strict=False)])]
    if variant == "student":
        freedom = pm.Deterministic("freedom", 1 + pm.Gamma("excess", 2.0, priors.tails, shape=len(cells)))
        pm.StudentT("distance", nu=freedom[connection], mu=mean, sigma=residual[connection], observed=observed)
        return
    blocks = blocks_with_rows(table)
    sd = _scale(pm, "attribute_sd", priors.attribute, len(blocks))
    effects = []
    for at, names in enumerate(blocks):
        levels, level = np.unique(table.attribute[table.rows_of(names)], return_inverse=True)
        deviation = pm.Normal(f"attribute_deviation_{at}", 0.0, 1.0, shape=len(levels))
        effects.append(pm.Deterministic(f"attribute_{at}", sd[at] * deviation)[level])
    pm.Normal("distance", mean + pm.math.concatenate(effects), residual[connection], observed=observed)


def _scale(pm: Any, name: str, prior: ScalePrior, size: int | None) -> Any:
    shape = {} if size is None else {"shape": size}
    if isinstance(prior, Exponential):
        return pm.Exponential(name, prior.rate, **shape)
    return pm.HalfNormal(name, prior.scale, **shape)


def _words(pm: Any, cells: Cells, group: Any, between: Any) -> Any:
    """Word means: as they are where the data say much about each of them, as deviations where they say little."""
    name, size = f"word_{cells.connection}", len(cells.words)
    noise = cells.within / max(cells.df_within, 1) / cells.count.mean()
    if size > 1 and cells.df_within and cells.mean.var(ddof=1) > _INFORMATIVE * noise:
        return pm.Normal(name, group, between, shape=size)
    deviation = pm.Normal(f"deviation_{cells.connection}", 0.0, 1.0, shape=size)
    return pm.Deterministic(name, group + between * deviation)


def run_nuts(model: Any, *, chains: int, draws: int, seed: int) -> Any:
    """Sample a PyMC model with nutpie, one chain after the other on one core."""
    _, nutpie = libraries()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of other packages about their own future
        return nutpie.sample(
            nutpie.compile_pymc_model(model), chains=chains, cores=1, draws=draws, tune=1_000, seed=seed,
            target_accept=0.99, save_warmup=False, progress_bar=False,
        )  # fmt: skip


def stacked(trace: Any, name: str) -> Floats:
    """Draws of one variable of a trace, chains one after the other."""
    values = np.asarray(trace.posterior[name], np.float64)
    return values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])


def _collect(trace: Any, table: DistanceTable, variant: str, chains: int) -> Draws:
    """The draws of a trace in our own shape."""
    cells = cells_of(table)
    attributes = None
    if variant == "crossed":
        blocks = blocks_with_rows(table)
        levels = [np.unique(table.attribute[table.rows_of(names)]) for names in blocks]
        effects = [stacked(trace, f"attribute_{at}") for at in range(len(blocks))]
        attributes = AttributeDraws(
            blocks=blocks,
            block=np.concatenate([np.full(len(level), at) for at, level in enumerate(levels)]),
            attribute=np.concatenate(levels),
            effect=np.concatenate(effects, axis=1),
            sd=stacked(trace, "attribute_sd"),
        )
    named = ("group", "between", "residual", *{"intercept": ["baseline"], "student": ["freedom"]}.get(variant, []))
    drawn: dict[str, Any] = {name: stacked(trace, name) for name in named}
    return Draws(
        chains=chains,
        **cell_labels(cells),
        word=np.concatenate([stacked(trace, f"word_{cell.connection}") for cell in cells], axis=1),
        **drawn,
        attributes=attributes,
    )
