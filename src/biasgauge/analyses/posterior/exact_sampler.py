"""Independent draws from the Normal models: everything but the standard deviations integrates out.

Given sigma and tau, word means and group mean are Gaussian, so the density of the distances with both integrated out is
known in closed form, and depends on the data through the sufficient statistics of `cells` alone. The standard
deviations are drawn from it (`sd_lattice`); then the group mean given them, then the word means given the group mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.model import Normal, Priors, ScalePrior
from biasgauge.analyses.posterior.sd_lattice import Block, Box, Shared, Target, draw_from_lattice
from biasgauge.analyses.posterior.table import Cells
from biasgauge.core import Floats

_TINIEST, _LARGEST = 1e-10, 60.0


class ConnectionDraws(NamedTuple):
    """Draws of one connection: mean distance of group and words (draws × words), tau, sigma."""

    group: Floats
    words: Floats
    between: Floats
    residual: Floats


class ExactDraws(NamedTuple):
    """Draws of several connections that were sampled together; `acceptance` and `edge` as in `LatticeDraws`."""

    connections: list[ConnectionDraws]
    baseline: Floats | None
    acceptance: float
    edge: float


def sample_cells(
    cells: Sequence[Cells], priors: Priors, size: int, random: np.random.Generator, *, baseline: bool = False
) -> ExactDraws:
    """Draw from the model in which these connections share sigma, and with `baseline` also a baseline.

    A connection alone is the model with one sigma for each connection.
    """
    prior, width = priors.baseline, _LARGEST * priors.baseline.sd
    boxes = [
        _sd_box(cells, priors.residual),
        (prior.mean - width, prior.mean + width) if baseline else (0.0, 0.0),
        *(_sd_box([cell], priors.between) for cell in cells),
    ]
    target = Target(_shared(cells, priors, baseline=baseline), [_between(cell, priors) for cell in cells], boxes)
    lattice = draw_from_lattice(target, size, random, points=32 if baseline else 64)
    residual, shift = np.exp(lattice.shared[:, 0]), lattice.shared[:, 1]
    drawn = [
        _means(cell, priors.group, residual, np.exp(lattice.blocks[:, index]), shift, random)
        for index, cell in enumerate(cells)
    ]
    return ExactDraws(drawn, shift if baseline else None, lattice.acceptance, lattice.edge)


def _shared(cells: Sequence[Cells], priors: Priors, *, baseline: bool) -> Shared:
    """Log density of log sigma and the baseline, from the prior and from the spread within words."""
    spare, within = sum(cell.spare for cell in cells), sum(cell.within for cell in cells)

    def density(log_sd: Floats, shift: Floats) -> Floats:
        sd = np.exp(log_sd)
        found = priors.residual.log_density(sd) + (1 - spare) * log_sd - 0.5 * within / sd**2
        if baseline:
            found = found - 0.5 * ((shift - priors.baseline.mean) / priors.baseline.sd) ** 2
        return found

    return density


def _between(cells: Cells, priors: Priors) -> Block:
    """Log density of one connection's word means and log tau, given log sigma and the baseline.

    Words with the same number of distances have the same variance and are summed beforehand.
    """
    counts, kind = np.unique(cells.count, return_inverse=True)
    number = np.bincount(kind).astype(np.float64)
    center = np.bincount(kind, cells.mean) / number
    scatter = np.bincount(kind, (cells.mean - center[kind]) ** 2)

    def density(log_sd: Floats, shift: Floats, log_between: Floats) -> Floats:
        noise, between = np.exp(2 * log_sd), np.exp(log_between)
        variances = [between**2 + noise / count for count in counts]
        weights = [n / variance for n, variance in zip(number, variances, strict=True)]
        total = sum(weights)
        middle = sum(weight * mean for weight, mean in zip(weights, center, strict=True)) / total
        found = priors.between.log_density(between) + log_between - 0.5 * np.log(total)
        for n, variance, weight, mean, rest in zip(number, variances, weights, center, scatter, strict=True):
            found = found - 0.5 * (n * np.log(variance) + rest / variance + weight * (mean - middle) ** 2)
        spread = priors.group.sd**2 + 1 / total
        result: Floats = found - 0.5 * (np.log(spread) + (middle - shift - priors.group.mean) ** 2 / spread)
        return result

    return density


def _means(
    cells: Cells, prior: Normal, residual: Floats, between: Floats, shift: Floats, random: np.random.Generator
) -> ConnectionDraws:
    """Group mean given the standard deviations, then word means given the group mean."""
    noise, spread = residual[:, None] ** 2 / cells.count, between[:, None] ** 2
    weights = 1 / (spread + noise)
    precision = weights.sum(axis=1) + 1 / prior.sd**2
    mean = (weights @ cells.mean + (prior.mean + shift) / prior.sd**2) / precision
    group = mean + random.standard_normal(len(mean)) / np.sqrt(precision)
    pull = spread / (spread + noise)
    middle = group[:, None] + pull * (cells.mean - group[:, None])
    words = middle + np.sqrt(pull * noise) * random.standard_normal(middle.shape)
    return ConnectionDraws(group, words, between, residual)


def _sd_box(cells: Sequence[Cells], prior: ScalePrior) -> Box:
    """Where log of a standard deviation can possibly lie: far beyond what data and prior allow."""
    spread = max(cell.spread for cell in cells)
    low = min(prior.mean, max(spread, _TINIEST))
    return float(np.log(_TINIEST * low)), float(np.log(_LARGEST * (prior.mean + spread)))
