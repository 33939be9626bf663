"""A model that the user states in PyMC, sampled and summarized like ours.

The user's function takes the table and returns a `pymc.Model` with three variables: `group`, one value for each of
`table.connections`; `word`, one value for each (connection, word) that has rows, in the order of the rows; and the
observed `distance`, one for each row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.uncertainty.cells import cells_of
from biasgauge.uncertainty.draws import Draws
from biasgauge.uncertainty.nuts import libraries, run_nuts, stacked
from biasgauge.uncertainty.table import DistanceTable

CustomModel = Callable[..., Any]

_SIMULATED = 1_000


@dataclass(frozen=True, eq=False)
class CustomDraws:
    """Draws of a user's model, divergent transitions, and simulated distances: draws × rows."""

    draws: Draws
    divergences: int
    simulated: Floats


def sample_custom(table: DistanceTable, build: CustomModel, *, chains: int, draws: int, seed: int) -> CustomDraws:
    """Sample the model that `build` makes of the table.

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
    group, word = stacked(trace, "group"), stacked(trace, "word")
    expected = {"group": len(cells), "word": sum(len(one.words) for one in cells)}
    for name, values in (("group", group), ("word", word)):
        if values.shape[1:] != (expected[name],):
            raise ParameterError(f"{name!r} must hold {expected[name]} values. Got shape {values.shape[1:]}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of other packages about their own future
        thinned = trace.sel(draw=slice(None, None, max(1, chains * draws // _SIMULATED)))
        predicted = pm.sample_posterior_predictive(
            thinned, model=model, var_names=["distance"], random_seed=seed, progressbar=False
        )
    simulated = np.asarray(predicted.posterior_predictive["distance"], np.float64).reshape(-1, len(table))
    none = np.empty((len(group), 0))
    made = Draws(
        chains=chains,
        connections=tuple(one.connection for one in cells),
        group=group,
        cell_connection=np.concatenate([np.full(len(one.words), at) for at, one in enumerate(cells)]),
        cell_word=np.concatenate([one.words for one in cells]),
        word=word,
        between=none,
        residual=none,
    )
    return CustomDraws(made, int(trace.sample_stats["diverging"].sum()), simulated)
