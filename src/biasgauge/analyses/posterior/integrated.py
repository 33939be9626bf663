"""Sampler of models whose effects are Gaussian given a few standard deviations, and integrate out exactly.

A chain runs over the standard deviations alone, with a proposal that does not depend on where the chain stands; effects
are drawn given each of its states. The crossed model and the model of a contrast are sampled so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.core import Floats

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.contrast_model import ContrastModel
    from biasgauge.analyses.posterior.crossed import CrossedModel

CHAINS = 4
_ROUNDS, _MOST_ROUNDS = 7, 40
"""Rounds in which the proposal is fitted: at least and at most."""
_FREEDOM = 8
_WIDE, _WIDE_SHARE = 3.0, 0.1
_WIDENING = 1.5
_BURN_IN = 100
_MANY = 6
_PER_ROUND, _PER_ROUND_OF_MANY = 900, 1_800
_THINNING, _THINNING_OF_MANY = 2, 10
"""Draws in a round, and steps for each draw that is retained; with more than `_MANY` standard deviations fewer
proposals are accepted."""


class Effects(NamedTuple):
    """Draws × effects: means of connections, words (mean and word effect together, by cell), attributes."""

    means: Floats
    words: Floats
    attributes: Floats


class IntegratedDraws(NamedTuple):
    """Draws of one model, one chain after the other; columns of `sds` as in the model."""

    sds: Floats
    effects: Effects
    acceptance: float


def sample_integrated(
    model: CrossedModel | ContrastModel, chains: int, draws: int, random: np.random.Generator
) -> IntegratedDraws:
    """Independence Metropolis: `chains` × `draws` of the standard deviations, then effects given each of them."""
    proposal = _fit_proposal(model, random)
    thinning = _THINNING if model.dimensions <= _MANY else _THINNING_OF_MANY
    steps = thinning * draws + _BURN_IN
    points = proposal.draw(chains * steps, random)
    weights = (_log_density(model, points) - proposal.log_density(points)).reshape(chains, steps)
    thresholds = np.log(random.random((chains, steps)))
    path, moves = zip(*map(_walk, weights.tolist(), thresholds.tolist()), strict=True)
    retained = (np.array(path)[:, _BURN_IN::thinning] + steps * np.arange(chains)[:, None]).ravel()
    sds = np.exp(points[retained]) - model.resolutions
    return IntegratedDraws(sds, model.draw_effects(sds, random), sum(moves) / (chains * (steps - _BURN_IN)))


def _walk(weights: list[float], thresholds: list[float]) -> tuple[list[int], int]:
    """State of a chain after each step, and the number of moves after the burn-in; it starts at its likeliest point.

    A loop over floats takes a tenth of the time of one over arrays of a few chains.
    """
    state = max(range(_BURN_IN), key=weights.__getitem__)
    path, moves = [], 0
    for step, (weight, threshold) in enumerate(zip(weights, thresholds, strict=True)):
        if threshold < weight - weights[state]:
            state = step
            moves += step >= _BURN_IN
        path.append(state)
    return path, moves


def _log_density(model: CrossedModel | ContrastModel, points: Floats) -> Floats:
    """Log density in the coordinates log(sd + resolution).

    These are logarithms where a standard deviation is known well, and end at a finite point where it may as well be 0.
    """
    density: Floats = model.log_density(np.exp(points) - model.resolutions) + points.sum(axis=1)
    return density


class _Proposal(NamedTuple):
    """A multivariate t with a wide companion that takes a tenth of the draws, so that no tail is left out."""

    center: Floats
    factor: Floats

    def draw(self, size: int, random: np.random.Generator) -> Floats:
        stretch = np.sqrt(_FREEDOM / random.chisquare(_FREEDOM, size))
        stretch = stretch * np.where(random.random(size) < _WIDE_SHARE, _WIDE, 1.0)
        normal = random.standard_normal((size, len(self.center)))
        drawn: Floats = self.center + stretch[:, None] * (normal @ self.factor.T)
        return drawn

    def log_density(self, points: Floats) -> Floats:
        dimensions = len(self.center)
        squares = (np.linalg.solve(self.factor, (points - self.center).T) ** 2).sum(axis=0)
        power = -0.5 * (_FREEDOM + dimensions)
        narrow = np.log(1 - _WIDE_SHARE) + power * np.log1p(squares / _FREEDOM)
        wide = np.log(_WIDE_SHARE / _WIDE**dimensions) + power * np.log1p(squares / (_WIDE**2 * _FREEDOM))
        density: Floats = np.logaddexp(narrow, wide)
        return density


def _fit_proposal(model: CrossedModel | ContrastModel, random: np.random.Generator) -> _Proposal:
    """Match mean and covariance of the coordinates, from a rough start, by importance sampling in rounds.

    Weights are flattened until the proposal is near enough for them to be used as they are.
    """
    center = np.log(model.spread / 2 + model.resolutions)
    factor: Floats = np.eye(model.dimensions)
    size = _PER_ROUND if model.dimensions <= _MANY else _PER_ROUND_OF_MANY
    for turn in range(_MOST_ROUNDS):
        proposal = _Proposal(center, factor)
        points = proposal.draw(size, random)
        logs = _log_density(model, points) - proposal.log_density(points)
        weights = _tempered(logs, least=0)
        finished = turn >= _ROUNDS - 1 and 1 / (weights**2).sum() >= size / 6
        if not finished:
            weights = _tempered(logs, least=size / 6)
        center = weights @ points
        deviations = points - center
        covariance = (weights[:, None] * deviations).T @ deviations
        floor = 1e-8 * np.eye(model.dimensions)
        factor = np.asarray(np.linalg.cholesky(_WIDENING * covariance * (_FREEDOM - 2) / _FREEDOM + floor), np.float64)
        if finished:
            break
    return _Proposal(center, factor)


def _tempered(logs: Floats, least: float) -> Floats:
    """Weights, flattened as far as needed for their effective number to reach `least`."""
    below_peak = logs - logs.max()
    for power in 0.7 ** np.arange(40):
        weights: Floats = np.exp(power * below_peak)
        weights /= weights.sum()
        if 1 / (weights**2).sum() >= least:
            break
    return weights
