"""How large would each effect be if there were nothing to find? Null simulations of the sizes that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from biasgauge.results import Record
from biasgauge.scores import Association, Weat
from biasgauge.uncertainty.nulls.model import NullModel
from biasgauge.uncertainty.nulls.result import Spread
from biasgauge.uncertainty.nulls.runs import weat_numbers
from biasgauge.uncertainty.nulls.simulation import share_of

SIMULATIONS = 5_000
RANGE = ("0.025", "0.975")
BINS = 60


@dataclass(frozen=True)
class NullEffect(Record):
    """One measured effect beside the effects of data sets without bias and of the same sizes.

    Attributes:
        name: the test.
        model: the vectors.
        sizes: words found in X, Y, A and B.
        observed: the effect size measured.
        low: 2.5 % of the simulated effects are below this.
        high: 2.5 % are above this.
        share: share of the simulated effects at least as far from 0.
        share_low: lower end of its exact 95 % interval.
        share_high: upper end.
        edges: edges of the bins of a histogram of the simulated effects.
        counts: how many lie in each.
    """

    name: str
    model: str
    sizes: tuple[int, int, int, int]
    observed: float
    low: float
    high: float
    share: float
    share_low: float | None
    share_high: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def measure_nulls(bias: Sequence[Association], *, random_state: int) -> tuple[NullEffect, ...]:
    """Simulate independent similarities for every WEAT that has a value; tests of the same sizes share a simulation."""
    effects: dict[tuple[int, int, int, int], Spread] = {}
    found = []
    for one in bias:
        if isinstance(one, Weat) and one.effect_size is not None:
            x, y, a, b = (len(one.coverage.sets[role].words) for role in "xyab")
            sizes = (x, y, a, b)
            if sizes not in effects:
                effects[sizes] = _simulated(NullModel(*sizes), random_state)
            found.append(_null(one.name, one.model, one.effect_size, sizes, effects[sizes]))
    return tuple(found)


def _simulated(model: NullModel, random_state: int) -> Spread:
    """Effect sizes of data sets without bias, as `simulate_null` draws them, without the p of each."""
    blocks = [weat_numbers(tables, model, 0).effect_size for tables in model.tables(SIMULATIONS, random_state)]
    return Spread(np.concatenate(blocks))


def _null(name: str, model: str, observed: float, sizes: tuple[int, int, int, int], effects: Spread) -> NullEffect:
    share = share_of(np.abs(effects.defined) >= abs(observed))
    counts, edges = effects.histogram(BINS)
    low, high = (cast("float", effects.quantiles[level]) for level in RANGE)
    return NullEffect(
        name=name,
        model=model,
        sizes=sizes,
        observed=observed,
        low=low,
        high=high,
        share=share.hits / share.trials,
        share_low=share.low,
        share_high=share.high,
        edges=tuple(edges.tolist()),
        counts=tuple(int(number) for number in counts),
    )
