"""Draws from the crossed model: a chain over a few standard deviations, everything else integrated out.

The proposal is a multivariate t that is fitted to the marginal density by importance sampling, in rounds; proposals do
not depend on where the chain stands, so nearly every step lands somewhere new. Its coordinates are log(sd +
resolution): logarithms where a standard deviation is known well, and an end at a finite place where it may as well be
0. A block is what shares attributes: the associated and the different attributes are the same words, the control words
are others.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from biasgauge.analyses.posterior.crossed_block import CrossedBlock, Effects
from biasgauge.analyses.posterior.model import Priors
from biasgauge.analyses.posterior.table import ASSOCIATED, DIFFERENT, HUMAN, NEUTRAL, DistanceTable
from biasgauge.core import Floats, Places

BLOCKS = ((ASSOCIATED, DIFFERENT), (HUMAN,), (NEUTRAL,))
"""Connections that share attributes."""

_ROUNDS, _PER_ROUND = 7, 900
_FREEDOM = 8
_WIDE, _WIDE_SHARE = 3.0, 0.1
_WIDENING = 1.5
_BURN_IN, _THINNING = 100, 2


class Block(Protocol):
    """Connections that share attributes, as a density of standard deviations: `CrossedBlock`, `NestedBlock`."""

    connections: tuple[str, ...]
    attributes: Places

    @property
    def dimensions(self) -> int:
        """How many standard deviations it has."""

    @property
    def spread(self) -> float:
        """Standard deviation of its distances."""

    @property
    def resolutions(self) -> Floats:
        """How small a standard deviation can be told from 0."""

    def words_of(self, connection: int) -> Places:
        """Places of a connection's words."""

    def log_density(self, sds: Floats) -> Floats:
        """Log density of each row of standard deviations."""

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Effects, given standard deviations."""


class BlockDraws(NamedTuple):
    """Draws of one block; `sds` are draws × sigma of each connection, tau of each, then that of the attributes."""

    block: Block
    sds: Floats
    effects: Effects
    acceptance: float


def blocks_here(table: DistanceTable) -> tuple[tuple[str, ...], ...]:
    """The connections of each block that has rows."""
    blocks = [tuple(name for name in names if name in table.connections) for names in BLOCKS]
    return tuple(names for names in blocks if names)


def blocks_of(table: DistanceTable, priors: Priors) -> list[CrossedBlock]:
    """The blocks that have rows."""
    return [CrossedBlock(table, names, priors) for names in blocks_here(table)]


def sample_block(block: Block, chains: int, draws: int, random: np.random.Generator) -> BlockDraws:
    """Draw from one block: `chains` × `draws`, one chain after the other."""
    proposal = _fit_proposal(block, random)
    steps = _THINNING * draws + _BURN_IN
    points = proposal.draw(chains * steps, random)
    weights = (_log_density(block, points) - proposal.log_density(points)).reshape(chains, steps)
    jumps = np.log(random.random((chains, steps)))
    here = np.argmax(weights[:, :_BURN_IN], axis=1)
    path = np.empty((chains, steps), np.intp)
    moved = np.zeros((chains, steps), bool)
    each = np.arange(chains)
    for step in range(steps):
        moved[:, step] = jumps[:, step] < weights[:, step] - weights[each, here]
        here = np.where(moved[:, step], step, here)
        path[:, step] = here
    kept = (path[:, _BURN_IN::_THINNING] + steps * each[:, None]).ravel()
    sds = np.exp(points[kept]) - block.resolutions
    return BlockDraws(block, sds, block.draw_effects(sds, random), float(moved[:, _BURN_IN:].mean()))


def _log_density(block: Block, points: Floats) -> Floats:
    """Log density in the coordinates log(sd + resolution)."""
    density: Floats = block.log_density(np.exp(points) - block.resolutions) + points.sum(axis=1)
    return density


class _Proposal(NamedTuple):
    """A multivariate t with a wide companion that takes a tenth of the draws, so that no tail is left out."""

    center: Floats
    factor: Floats

    def draw(self, size: int, random: np.random.Generator) -> Floats:
        dimensions = len(self.center)
        stretch = np.sqrt(_FREEDOM / random.chisquare(_FREEDOM, size))
        stretch = stretch * np.where(random.random(size) < _WIDE_SHARE, _WIDE, 1.0)
        drawn: Floats = self.center + stretch[:, None] * (random.standard_normal((size, dimensions)) @ self.factor.T)
        return drawn

    def log_density(self, points: Floats) -> Floats:
        dimensions = len(self.center)
        away = np.linalg.solve(self.factor, (points - self.center).T)
        square = (away**2).sum(axis=0)
        half = -0.5 * (_FREEDOM + dimensions)
        near = np.log(1 - _WIDE_SHARE) + half * np.log1p(square / _FREEDOM)
        far = np.log(_WIDE_SHARE / _WIDE**dimensions) + half * np.log1p(square / (_WIDE**2 * _FREEDOM))
        density: Floats = np.logaddexp(near, far)
        return density


def _fit_proposal(block: Block, random: np.random.Generator) -> _Proposal:
    """Match mean and covariance of the coordinates, from a rough start, by weighted draws in rounds."""
    center = np.log(block.spread / 2 + block.resolutions)
    factor: Floats = np.eye(block.dimensions)
    for turn in range(_ROUNDS):
        proposal = _Proposal(center, factor)
        points = proposal.draw(_PER_ROUND, random)
        logs = _log_density(block, points) - proposal.log_density(points)
        weights = _tempered(logs, least=_PER_ROUND / 6 if turn < _ROUNDS - 1 else 0)
        center = weights @ points
        away = points - center
        covariance = (weights[:, None] * away).T @ away
        floor = 1e-6 * np.eye(block.dimensions)
        factor = np.asarray(np.linalg.cholesky(_WIDENING * covariance * (_FREEDOM - 2) / _FREEDOM + floor), np.float64)
    return _Proposal(center, factor)


def _tempered(logs: Floats, least: float) -> Floats:
    """Weights, flattened as far as needed for their effective number to reach `least`."""
    away = logs - logs.max()
    for power in 0.7 ** np.arange(40):
        weights: Floats = np.exp(power * away)
        weights /= weights.sum()
        if 1 / (weights**2).sum() >= least:
            break
    return weights
