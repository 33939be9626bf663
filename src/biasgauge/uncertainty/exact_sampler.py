"""Independent draws from the Normal models: everything but the standard deviations integrates out.

Given sigma and tau, word means and group mean are Gaussian, so the density of the distances with both integrated out is
known in closed form, and depends on the data through the sufficient statistics of `cells` alone. The standard
deviations are drawn from it (`sd_lattice`); then the group mean given them, then the word means given the group mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.uncertainty.cells import Cells
from biasgauge.uncertainty.model import Normal, Priors, ScalePrior
from biasgauge.uncertainty.sd_lattice import Block, Box, LatticeDraws, Shared, Target, draw_from_lattice

_TINIEST, _LARGEST = 1e-10, 60.0
_POINTS = 64
_POINTS_WITH_BASELINE = 32


@dataclass(frozen=True, eq=False)
class ConnectionDraws:
    """Draws of one connection.

    Attributes:
        group: mean distance of the group.
        words: draws × words, mean distance of each word.
        between: standard deviation of word means, tau.
        residual: standard deviation of distances around word means, sigma.
    """

    group: Floats
    words: Floats
    between: Floats
    residual: Floats


@dataclass(frozen=True, eq=False)
class ExactDraws:
    """Draws of several connections that were sampled together.

    Attributes:
        connections: the draws of each.
        baseline: what all share, in the variant "intercept".
        acceptance: share of proposals that were accepted.
        edge: density at the edge of the search, relative to the peak.
    """

    connections: list[ConnectionDraws]
    baseline: Floats | None = None
    acceptance: float = field(default=1.0)
    edge: float = field(default=0.0)


def sample_cells(
    cells: Sequence[Cells], priors: Priors, size: int, random: np.random.Generator, *, baseline: bool = False
) -> ExactDraws:
    """Draw from the model in which these connections share sigma, and with `baseline` also a baseline.

    A connection alone is the model with one sigma for each connection.
    """
    target = Target(
        shared=_shared(cells, priors, baseline=baseline),
        blocks=[_between(one, priors) for one in cells],
        boxes=[_sd_box(cells, priors.residual), _baseline_box(priors.baseline) if baseline else (0.0, 0.0)]
        + [_sd_box([one], priors.between) for one in cells],
    )
    points = _POINTS_WITH_BASELINE if baseline else _POINTS
    found = draw_from_lattice(target, size, random, points=points)
    residual, shift = np.exp(found.shared[:, 0]), found.shared[:, 1]
    drawn = [
        _means(one, priors.group, residual, np.exp(found.blocks[:, place]), shift, random)
        for place, one in enumerate(cells)
    ]
    return ExactDraws(drawn, shift if baseline else None, found.acceptance, found.edge)


def _shared(cells: Sequence[Cells], priors: Priors, *, baseline: bool) -> Shared:
    """Log density of log sigma and the baseline, from the prior and from the spread within words."""
    spare, within = sum(one.spare for one in cells), sum(one.within for one in cells)

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
        middle = sum(weight * one for weight, one in zip(weights, center, strict=True)) / total
        found = priors.between.log_density(between) + log_between - 0.5 * np.log(total)
        for n, variance, weight, one, rest in zip(number, variances, weights, center, scatter, strict=True):
            found = found - 0.5 * (n * np.log(variance) + rest / variance + weight * (one - middle) ** 2)
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
    spread = max(one.spread for one in cells)
    low = min(prior.mean, max(spread, _TINIEST))
    return float(np.log(_TINIEST * low)), float(np.log(_LARGEST * (prior.mean + spread)))


def _baseline_box(prior: Normal) -> Box:
    return prior.mean - _LARGEST * prior.sd, prior.mean + _LARGEST * prior.sd


__all__ = ["ConnectionDraws", "ExactDraws", "LatticeDraws", "sample_cells"]
