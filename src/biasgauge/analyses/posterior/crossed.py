"""The crossed model: every attribute meets every protected word, so attributes have effects of their own.

    distance = mean[connection] + word[connection, word] + attribute[attribute] + residual

All effects are Gaussian given the standard deviations and integrate out exactly: `integrated` samples the model.

Attributes that meet the same words in the same way form one *kind*. Whatever depends on the standard deviations is the
same for all attributes of a kind, so complete tables of hundreds of attributes cost as much as a few kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.integrated import Effects
from biasgauge.analyses.posterior.priors import Priors
from biasgauge.analyses.posterior.table import ASSOCIATED, CONNECTIONS, DIFFERENT, HUMAN, NEUTRAL, DistanceTable
from biasgauge.core import Floats, Places

BLOCKS = ((ASSOCIATED, DIFFERENT), (HUMAN,), (NEUTRAL,))
"""Connections that share attributes: associated and different attributes are the same words, controls are others."""

_BATCH_NUMBERS = 2**17
"""Numbers held at a time for a batch of standard deviations: bounds the memory; results do not depend on it."""
_ROUNDING = 1e-10
WIDEST = 1e6
"""Largest ratio of any standard deviation to sigma, and of the spread of distances to any standard deviation, that is
considered: beyond it the density is next to nothing and the systems lose their precision."""


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
