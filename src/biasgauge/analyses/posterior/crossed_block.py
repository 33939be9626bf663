"""The crossed model of connections that share attributes: marginal density of its standard deviations, and effects.

    distance = group mean[connection] + word[connection, word] + attribute[attribute] + residual

Words, attributes and group means are Gaussian given the standard deviations and integrate out. One family of effects
is eliminated in closed form: the words of every connection, or, where a single connection has more attributes than
words, its attributes. What is left is one small dense system, the same for all standard deviations up to a few weights,
so that many of them are evaluated at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.model import Priors
from biasgauge.analyses.posterior.table import CONNECTIONS, DistanceTable
from biasgauge.core import Floats, Places

_BLOCK_BYTES = 2**26
_ROUNDING = 1e-10
WIDEST = 1e6
"""Largest ratio of any standard deviation to sigma, and of the distances' spread to any standard deviation, that is
considered: beyond it the density is next to nothing and the systems lose their precision."""


class Effects(NamedTuple):
    """Draws of one block's groups, words (of each connection: group mean and word effect together) and attributes."""

    groups: Floats
    words: list[Floats]
    attributes: Floats


class _Kind(NamedTuple):
    """Eliminated units of one connection with the same number of rows: sums of squares over rows (yy), units (ss)."""

    connection: int
    rows: int
    units: int
    yy: float
    ss: float


class SharedAttributes:
    """The rows of one or two connections that share attributes: what models of them have in common."""

    def __init__(self, table: DistanceTable, connections: Sequence[str], priors: Priors) -> None:
        self.connections = tuple(connections)
        self.priors = priors
        rows = table.rows_of(connections)
        place = {CONNECTIONS.index(name): at for at, name in enumerate(connections)}
        self._connection = np.array([place[code] for code in table.connection[rows]], np.intp)
        self.attributes, self._attribute = np.unique(table.attribute[rows], return_inverse=True)
        pairs = np.stack([self._connection, table.word[rows]], axis=1)
        self._cells, self._cell = np.unique(pairs, axis=0, return_inverse=True)
        self._cell = self._cell.reshape(-1)
        self._y = table.distance[rows] - priors.group.mean

    def words_of(self, connection: int) -> Places:
        """Places of a connection's words in the table's `words`."""
        words: Places = self._cells[self._cells[:, 0] == connection, 1]
        return words

    @property
    def spread(self) -> float:
        """Standard deviation of the block's distances; where they are all the same, what the prior expects of it."""
        return float(self._y.std()) or self.priors.residual.mean


class CrossedBlock(SharedAttributes):
    """One or two connections and the attributes they share.

    Standard deviations come as columns: sigma of each connection, tau of each connection, that of the attributes.
    """

    def __init__(self, table: DistanceTable, connections: Sequence[str], priors: Priors) -> None:
        super().__init__(table, connections, priors)
        self._swap = len(connections) == 1 and len(self.attributes) > len(self._cells)
        self._prepare()
        self._balanced = self._balanced_likelihood()

    @property
    def dimensions(self) -> int:
        """How many standard deviations it has."""
        return 2 * len(self.connections) + 1

    @property
    def degenerate(self) -> bool:
        """Whether words and attributes explain every distance exactly, with rows to spare: there is no posterior."""
        units, columns = len(self._cells), len(self.attributes)
        table = np.zeros((units, columns))
        np.add.at(table, (self._cell, self._attribute), 1)
        normal = np.block([[np.diag(table.sum(1)), table], [table.T, np.diag(table.sum(0))]])
        sums = np.concatenate([np.bincount(self._cell, self._y), np.bincount(self._attribute, self._y)])
        values, vectors = np.linalg.eigh(normal)
        kept = values > values[-1] * _ROUNDING
        effects = vectors[:, kept] @ ((vectors[:, kept].T @ sums) / values[kept])
        left = self._y - effects[self._cell] - effects[units + self._attribute]
        return len(self._y) > int(kept.sum()) and float(np.abs(left).max()) <= _ROUNDING

    @property
    def resolutions(self) -> Floats:
        """How small a standard deviation the distances can tell from 0, roughly, in the order of the columns."""
        by_word = len(self._y) / len(self._cells)
        by_attribute = len(self._y) / len(self.attributes)
        connections = len(self.connections)
        shares = [0.1] * connections + [by_word**-0.5] * connections + [by_attribute**-0.5]
        return self.spread * np.array(shares)

    def log_density(self, sds: Floats) -> Floats:
        """Log posterior density of each row of standard deviations, effects integrated out, up to a constant."""
        found = np.full(len(sds), -np.inf)
        sound = computable(sds, len(self.connections), self.spread)
        step = max(1, _BLOCK_BYTES // (8 * (self._columns + 1) ** 2))
        for start in range(0, len(sound), step):
            part = sound[start : start + step]
            likelihood = self._balanced or self._log_likelihood
            found[part] = likelihood(sds[part]) + self._log_prior(sds[part])
        return found

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Draw group means, words and attributes, given standard deviations."""
        noise = random.standard_normal((len(sds), self._columns))
        step = max(1, _BLOCK_BYTES // (8 * self._columns**2))
        dense = np.concatenate(
            [self._draw_dense(sds[at : at + step], noise[at : at + step]) for at in range(0, len(sds), step)]
        )
        return self._complete(sds, dense, random)

    def _prepare(self) -> None:
        """Sum whatever does not depend on the standard deviations."""
        unit, column = (self._attribute, self._cell) if self._swap else (self._cell, self._attribute)
        levels, units = int(column.max()) + 1, int(unit.max()) + 1
        self._columns = levels + len(self.connections)
        connection = np.zeros(units, np.intp)
        connection[unit] = self._connection
        size = np.bincount(unit)
        counts, by_column = np.zeros((2, units, self._columns))
        for columns in (column, levels + self._connection):
            np.add.at(counts, (unit, columns), 1)
            np.add.at(by_column, (unit, columns), self._y)
        sums = np.bincount(unit, self._y)
        squares = np.bincount(unit, self._y**2)
        # Of the dense columns: sums of their products over rows (cross), of products of their sums over units (square);
        # of the distances with them likewise.
        self._kinds: list[_Kind] = []
        crosses, squared, cross_y, square_y = [], [], [], []
        for own, count in sorted(set(zip(connection.tolist(), size.tolist(), strict=True))):
            which = (connection == own) & (size == count)
            mine, total = counts[which], counts[which].sum(axis=0)
            cross = np.diag(total)
            cross[levels + own, :levels] = cross[:levels, levels + own] = total[:levels]
            crosses.append(cross.ravel())
            squared.append((mine.T @ mine).ravel())
            cross_y.append(by_column[which].sum(axis=0))
            square_y.append(mine.T @ sums[which])
            yy, ss = float(squares[which].sum()), float((sums[which] ** 2).sum())
            self._kinds.append(_Kind(own, count, len(mine), yy, ss))
        self._squares, self._vectors = np.stack(crosses + squared), np.stack(cross_y + square_y)
        self._unit_count, self._unit_connection = size.astype(np.float64), connection
        self._unit_counts, self._unit_sums = counts, sums
        self._repeated = bool((counts[:, :levels] > 1).any())

    def _balanced_likelihood(self) -> Callable[[Floats], Floats] | None:
        """The log likelihood in closed form where one connection has every word with every attribute once.

        The covariance then has four eigenvalues: of the mean, of words, of attributes and of what is left.
        """
        words, attributes = len(self._cells), len(self.attributes)
        if len(self.connections) > 1 or len(self._y) != words * attributes or self._repeated:
            return None
        mean = self._y.mean()
        by_word = attributes * ((np.bincount(self._cell, self._y) / attributes - mean) ** 2).sum()
        by_attribute = words * ((np.bincount(self._attribute, self._y) / words - mean) ** 2).sum()
        left = ((self._y - mean) ** 2).sum() - by_word - by_attribute
        terms = (
            ((words - 1) * (attributes - 1), max(left, 0.0)),
            (words - 1, by_word),
            (attributes - 1, by_attribute),
            (1, len(self._y) * mean**2),
        )

        def likelihood(sds: Floats) -> Floats:
            noise, word, attribute = (sds**2).T
            of_words, of_attributes = noise + attributes * word, noise + words * attribute
            of_mean = of_words + of_attributes - noise + len(self._y) * self.priors.group.sd**2
            found = np.zeros(len(sds))
            for (freedom, squares), variance in zip(terms, (noise, of_words, of_attributes, of_mean), strict=True):
                found -= 0.5 * (freedom * np.log(variance) + squares / variance)
            return found

        return likelihood

    def _split(self, sds: Floats) -> tuple[Floats, Floats, Floats]:
        """Sigma of each connection; sd of the eliminated effects of each connection; sd of each dense column."""
        connections = len(self.connections)
        noise, words, attribute = sds[:, :connections], sds[:, connections:-1], sds[:, -1:]
        eliminated, kept = (attribute, words) if self._swap else (words, attribute)
        groups = np.full((len(sds), connections), self.priors.group.sd)
        return noise, eliminated, np.concatenate([np.repeat(kept, self._columns - connections, 1), groups], axis=1)

    def _system(self, sds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """I + D½ M D½ and D½ b of the dense effects, their scales D½, and what the density has beside them.

        Scaled by the prior standard deviations D½, the system stays well conditioned when they go to 0.
        """
        noise, eliminated, scale = self._split(sds)
        size = len(sds)
        weights, shrinks, rest = [], [], np.zeros(size)
        for kind in self._kinds:
            variance, spread = noise[:, kind.connection] ** 2, eliminated[:, kind.connection] ** 2
            whole = variance + kind.rows * spread
            weights.append(1 / variance)
            shrinks.append(-spread / (variance * whole))
            rest += kind.units * ((kind.rows - 1) * np.log(variance) + np.log(whole))
            rest += weights[-1] * kind.yy + shrinks[-1] * kind.ss
        coefficients = np.stack(weights + shrinks, axis=1)
        square = (coefficients @ self._squares).reshape(size, self._columns, self._columns)
        vector = coefficients @ self._vectors
        square *= scale[:, :, None] * scale[:, None, :]
        square[:, np.arange(self._columns), np.arange(self._columns)] += 1
        return square, scale * vector, scale, rest

    def _log_prior(self, sds: Floats) -> Floats:
        connections = len(self.connections)
        density: Floats = (
            self.priors.residual.log_density(sds[:, :connections]).sum(axis=1)
            + self.priors.between.log_density(sds[:, connections:-1]).sum(axis=1)
            + self.priors.attribute.log_density(sds[:, -1])
        )
        return density

    def _log_likelihood(self, sds: Floats) -> Floats:
        square, vector, _, rest = self._system(sds)
        half, diagonal = factored(square, vector)
        log_determinant = 2 * np.log(diagonal).sum(axis=1)
        density: Floats = -0.5 * (rest + log_determinant - (half**2).sum(axis=1))
        return density

    def _draw_dense(self, sds: Floats, noise: Floats) -> Floats:
        square, vector, scale, _ = self._system(sds)
        factor = np.linalg.cholesky(square)
        half = np.linalg.solve(factor, vector[..., None])[..., 0] + noise
        drawn = np.linalg.solve(np.swapaxes(factor, 1, 2), half[..., None])[..., 0]
        dense: Floats = scale * drawn
        return dense

    def _complete(self, sds: Floats, dense: Floats, random: np.random.Generator) -> Effects:
        """Draw the eliminated effects given the dense ones, and name all of them."""
        noise, eliminated, _ = self._split(sds)
        connections = len(self.connections)
        groups = dense[:, -connections:] + self.priors.group.mean
        variance = noise[:, self._unit_connection] ** 2
        spread = (eliminated[:, self._unit_connection if eliminated.shape[1] > 1 else [0] * len(self._unit_count)]) ** 2
        left = self._unit_sums - dense @ self._unit_counts.T
        whole = variance + self._unit_count * spread
        drawn = spread / whole * left + np.sqrt(spread * variance / whole) * random.standard_normal(left.shape)
        words, attributes = (dense[:, :-connections], drawn) if self._swap else (drawn, dense[:, :-connections])
        by_connection = [groups[:, [index]] + words[:, self._cells[:, 0] == index] for index in range(connections)]
        return Effects(groups, by_connection, attributes)


def computable(sds: Floats, connections: int, spread: float) -> Places:
    """Rows of standard deviations at which the density can be computed; those of the connections' noise come first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = sds.max(axis=1) / sds[:, :connections].min(axis=1)
        small = spread / sds.min(axis=1)
    return np.flatnonzero((sds.min(axis=1) > 0) & (near < WIDEST) & (small < WIDEST))


def factored(square: Floats, vector: Floats) -> tuple[Floats, Floats]:
    """L⁻¹ v and the diagonal of L, where L Lᵀ is the matrix: with v as a further row, L⁻¹ v is the last row of L."""
    size, columns = vector.shape
    wider = np.empty((size, columns + 1, columns + 1))
    wider[:, :columns, :columns] = square
    wider[:, columns, :columns] = wider[:, :columns, columns] = vector
    wider[:, columns, columns] = 1 + (vector**2).sum(axis=1)
    factor = np.linalg.cholesky(wider)
    return factor[:, columns, :columns], np.diagonal(factor, axis1=1, axis2=2)[:, :columns]
