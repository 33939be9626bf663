"""The crossed model: every attribute meets every protected word, so attributes have effects of their own.

    distance = mean[connection] + word[connection, word] + attribute[attribute] + residual

All effects are Gaussian given the standard deviations and integrate out exactly; a chain runs over the few standard
deviations alone, with a proposal that does not depend on where the chain stands. The sampler serves the model of a
contrast too (`contrast_model`).

Attributes that meet the same words in the same way form one *kind*. Whatever depends on the standard deviations is the
same for all attributes of a kind, so complete tables of hundreds of attributes cost as much as a few kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.analyses.posterior.priors import Priors
from biasgauge.analyses.posterior.table import ASSOCIATED, CONNECTIONS, DIFFERENT, HUMAN, NEUTRAL, DistanceTable
from biasgauge.core import Floats, Places

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.contrast_model import ContrastModel

BLOCKS = ((ASSOCIATED, DIFFERENT), (HUMAN,), (NEUTRAL,))
"""Connections that share attributes: associated and different attributes are the same words, controls are others."""

_BATCH_NUMBERS = 2**17
"""Numbers held at a time for a batch of standard deviations: bounds the memory; results do not depend on it."""
_ROUNDING = 1e-10
WIDEST = 1e6
"""Largest ratio of any standard deviation to sigma, and of the spread of distances to any standard deviation, that is
considered: beyond it the density is next to nothing and the systems lose their precision."""

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


class _Kind(NamedTuple):
    """Attributes with equal designs. A slot is the rows of one attribute with one connection.

    Attributes:
        attributes: their indices.
        connection: the connection of each slot.
        rows: rows of each slot.
        design: slots × dense columns, the design summed over the rows of a slot.
        sums: attributes × slots, the distances summed over the rows of a slot.
    """

    attributes: list[int]
    connection: Places
    rows: Floats
    design: Floats
    sums: Floats


def blocks_with_rows(table: DistanceTable) -> tuple[tuple[str, ...], ...]:
    """The connections of each block that has rows."""
    blocks = [tuple(name for name in names if name in table.connections) for names in BLOCKS]
    return tuple(names for names in blocks if names)


class CrossedModel:
    """Posterior density of the standard deviations of a crossed model, and effects given standard deviations.

    Standard deviations come as columns: sigma of each connection, tau of each connection, that of the attributes.

    Attributes:
        connections: names of the connections, which share attributes, in the order of `CONNECTIONS`.
        cells: the (connection, word) that have rows, in order.
        attributes: labels of the attributes that have rows, in order.
        dimensions: number of standard deviations.
        spread: standard deviation of the distances; where they are all the same, what the prior expects of it.
        resolutions: smallest standard deviations that the distances can tell from 0, roughly, in the order of columns.
    """

    def __init__(self, table: DistanceTable, connections: Sequence[str], priors: Priors) -> None:
        self.connections, self.priors = tuple(connections), priors
        rows = table.rows_of(connections)
        connection = np.searchsorted([CONNECTIONS.index(name) for name in connections], table.connection[rows])
        word = table.word[rows]
        self._y = table.distance[rows] - priors.group.mean
        self.cells, cell = np.unique(np.stack([connection, word], axis=1), axis=0, return_inverse=True)
        self.attributes, self._attribute = np.unique(table.attribute[rows], return_inverse=True)
        self._cell = cell.reshape(-1)
        # Dense effects: words, then means of connections. Attributes are eliminated in closed form.
        self._columns = len(self.cells) + len(connections)
        design = np.zeros((len(self._y), self._columns))
        row = np.arange(len(self._y))
        design[row, self._cell] = design[row, len(self.cells) + connection] = 1
        members = [connection == index for index in range(len(connections))]
        self._row_counts = np.array([member.sum() for member in members], np.float64)
        self._squares = np.stack([(design[member].T @ design[member]).ravel() for member in members])
        self._vectors = np.stack([design[member].T @ self._y[member] for member in members])
        self._totals = np.array([self._y[member] @ self._y[member] for member in members])
        slots, slot = np.unique(np.stack([self._attribute, connection], 1), axis=0, return_inverse=True)
        self._kinds = _group_attributes(slots, slot.reshape(-1), design, self._y)
        self.dimensions = 2 * len(connections) + 1
        self.spread = float(self._y.std()) or priors.residual.mean
        units = [len(self.cells)] * len(connections) + [len(self.attributes)]
        shares = [0.1] * len(connections) + [(len(self._y) / count) ** -0.5 for count in units]
        self.resolutions = self.spread * np.array(shares)

    @property
    def degenerate(self) -> bool:
        """True when words and attributes explain every distance, with rows to spare: there is no posterior."""
        words = len(self.cells)
        counts = np.zeros((words, len(self.attributes)))
        np.add.at(counts, (self._cell, self._attribute), 1)
        normal = np.block([[np.diag(counts.sum(1)), counts], [counts.T, np.diag(counts.sum(0))]])
        sums = np.concatenate([np.bincount(self._cell, self._y), np.bincount(self._attribute, self._y)])
        effects, _, rank, _ = np.linalg.lstsq(normal, sums, rcond=_ROUNDING)
        residuals = self._y - effects[self._cell] - effects[words + self._attribute]
        return len(self._y) > int(rank) and float(np.abs(residuals).max()) <= _ROUNDING

    def log_density(self, sds: Floats) -> Floats:
        """Log posterior density of each row of standard deviations, effects integrated out, up to a constant."""
        density = np.full(len(sds), -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_sigma = sds.max(axis=1) / sds[:, : len(self.connections)].min(axis=1)
            from_spread = self.spread / sds.min(axis=1)
        computable = np.flatnonzero((sds.min(axis=1) > 0) & (to_sigma < WIDEST) & (from_spread < WIDEST))
        for batch in self._batches(computable):
            square, vector, _, remainder = self._system(sds[batch])
            half, diagonal = _factor(square, vector)
            log_determinant = 2 * np.log(diagonal).sum(axis=1)
            density[batch] = -0.5 * (remainder + log_determinant - (half**2).sum(axis=1))
        count, usable = len(self.connections), sds[computable]
        density[computable] += (
            self.priors.residual.log_density(usable[:, :count]).sum(axis=1)
            + self.priors.between.log_density(usable[:, count : 2 * count]).sum(axis=1)
            + self.priors.attribute.log_density(usable[:, 2 * count :]).sum(axis=1)
        )
        return density

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Draw means, words and attributes, given standard deviations."""
        noise = random.standard_normal((len(sds), self._columns))
        dense = np.empty_like(noise)
        for batch in self._batches(np.arange(len(sds))):
            square, vector, scale, _ = self._system(sds[batch])
            factor = np.linalg.cholesky(square)
            half = np.linalg.solve(factor, vector[..., None])[..., 0] + noise[batch]
            dense[batch] = scale * np.linalg.solve(np.swapaxes(factor, 1, 2), half[..., None])[..., 0]
        attributes = np.empty((len(sds), len(self.attributes)))
        for kind in self._kinds:
            weights, pull = self._weights(kind, sds)
            fitted = (weights @ kind.design * dense).sum(axis=1, keepdims=True)
            center = pull[:, None] * (weights @ kind.sums.T - fitted)
            attributes[:, kind.attributes] = center + np.sqrt(pull)[:, None] * random.standard_normal(center.shape)
        means = dense[:, len(self.cells) :] + self.priors.group.mean
        return Effects(means, means[:, self.cells[:, 0]] + dense[:, : len(self.cells)], attributes)

    def _batches(self, indices: Places) -> Iterator[Places]:
        size = max(1, _BATCH_NUMBERS // (max(len(self._kinds), self._columns) * self._columns))
        return (indices[start : start + size] for start in range(0, len(indices), size))

    def _weights(self, kind: _Kind, sds: Floats) -> tuple[Floats, Floats]:
        """Weight of a slot's sum in its attribute's effect, and the effect's posterior variance given dense effects.

        The precision of an attribute's effect is 1/omega² + sum of n/sigma² over its slots.
        """
        weights = 1 / sds[:, kind.connection] ** 2
        variance = sds[:, 2 * len(self.connections)] ** 2
        return weights, variance / (1 + variance * (weights @ kind.rows))

    def _system(self, sds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """I + D½ M D½ and D½ b of the dense effects, their prior sds D½, and the remaining terms of −2 log density.

        M and b are the normal equations of the dense effects once attributes are eliminated by the Woodbury identity.
        Scaled by D½ the system stays well conditioned when sds go to 0.
        """
        size, connections = len(sds), len(self.connections)
        noise = sds[:, :connections] ** 2
        square = (1 / noise) @ self._squares
        vector = (1 / noise) @ self._vectors
        remainder = (1 / noise) @ self._totals + np.log(noise) @ self._row_counts
        columns, loads = [], []
        for kind in self._kinds:
            count, total = len(kind.attributes), kind.sums.sum(axis=0)
            products = kind.sums.T @ kind.sums
            weights, pull = self._weights(kind, sds)
            column = weights @ kind.design
            columns.append(column)
            loads.append(count * pull)
            vector -= (pull * (weights @ total))[:, None] * column
            explained = np.einsum("ms,st,mt->m", weights, products, weights)
            # 1 + omega² w = omega² / pull, whose logarithm the determinant of the eliminated attributes needs
            information = sds[:, 2 * connections] ** 2 * (weights @ kind.rows)
            remainder += count * np.log1p(information) - pull * explained
        stacked = np.stack(columns, axis=1)
        square = square.reshape(size, self._columns, self._columns)
        square -= np.swapaxes(np.stack(loads, axis=1)[..., None] * stacked, 1, 2) @ stacked
        word_sds = sds[:, connections + self.cells[:, 0]]
        scale = np.concatenate([word_sds, np.full((size, connections), self.priors.group.sd)], axis=1)
        square *= scale[:, :, None] * scale[:, None, :]
        square[:, np.arange(self._columns), np.arange(self._columns)] += 1
        return square, scale * vector, scale, remainder


def _group_attributes(slots: Places, slot: Places, design: Floats, y: Floats) -> list[_Kind]:
    """Attributes by their design; `slots` are (attribute, connection), `slot` is that of each row."""
    rows = np.bincount(slot).astype(np.float64)
    sums = np.bincount(slot, y)
    by_slot = np.zeros((len(slots), design.shape[1]))
    np.add.at(by_slot, slot, design)
    ends = np.flatnonzero(np.diff(slots[:, 0], append=-1)) + 1
    members: dict[bytes, list[Places]] = {}
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        members.setdefault(by_slot[start:end].tobytes(), []).append(np.arange(start, end))
    return [
        _Kind(
            attributes=[int(slots[places[0], 0]) for places in group],
            connection=slots[group[0], 1],
            rows=rows[group[0]],
            design=by_slot[group[0]],
            sums=np.stack([sums[places] for places in group]),
        )
        for group in members.values()
    ]


def _factor(square: Floats, vector: Floats) -> tuple[Floats, Floats]:
    """L⁻¹ v and the diagonal of L, where L Lᵀ is the matrix: with v as a further row, L⁻¹ v is the last row of L."""
    size, columns = vector.shape
    wider = np.empty((size, columns + 1, columns + 1))
    wider[:, :columns, :columns] = square
    wider[:, columns, :columns] = wider[:, :columns, columns] = vector
    wider[:, columns, columns] = 1 + (vector**2).sum(axis=1)
    factor = np.linalg.cholesky(wider)
    return factor[:, columns, :columns], np.diagonal(factor, axis1=1, axis2=2)[:, :columns]


class CrossedDraws(NamedTuple):
    """Draws of one model, one chain after the other; columns of `sds` as in the model."""

    sds: Floats
    effects: Effects
    acceptance: float


def sample_crossed(
    model: CrossedModel | ContrastModel, chains: int, draws: int, random: np.random.Generator
) -> CrossedDraws:
    """Independence Metropolis: `chains` × `draws` of the standard deviations, then effects given each of them."""
    proposal = _fit_proposal(model, random)
    thinning = _THINNING if model.dimensions <= _MANY else _THINNING_OF_MANY
    steps = thinning * draws + _BURN_IN
    points = proposal.draw(chains * steps, random)
    weights = (_log_density(model, points) - proposal.log_density(points)).reshape(chains, steps)
    thresholds = np.log(random.random((chains, steps)))
    state = np.argmax(weights[:, :_BURN_IN], axis=1)
    path = np.empty((chains, steps), np.intp)
    moved = np.zeros((chains, steps), bool)
    chain = np.arange(chains)
    for step in range(steps):
        moved[:, step] = thresholds[:, step] < weights[:, step] - weights[chain, state]
        state = np.where(moved[:, step], step, state)
        path[:, step] = state
    retained = (path[:, _BURN_IN::thinning] + steps * chain[:, None]).ravel()
    sds = np.exp(points[retained]) - model.resolutions
    return CrossedDraws(sds, model.draw_effects(sds, random), float(moved[:, _BURN_IN:].mean()))


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
