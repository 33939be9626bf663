"""Predictive checks: does a fitted model predict what was observed?

Observed distances are held against the 50 % and the 89 % HPDI of what the model predicts for them (Dobrzeniecka &
Urbaniak 2023, section 4 and appendix 1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.analyses.posterior.draws import Draws, SampledRows
from biasgauge.analyses.posterior.table import DistanceTable
from biasgauge.core import Floats, Places, Record
from biasgauge.stats import hpdis

if TYPE_CHECKING:
    import pandas as pd


Ends = Sequence[tuple[Floats, Floats]]
PROBS = (0.5, 0.89)
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
