"""The crossed model with effects of attribute × protected group: density of its standard deviations, and effects.

    distance = group mean[connection] + word[connection, word] + attribute[attribute] + pairing[attribute, group]
               + residual

A pairing is what an attribute has to do with one group of protected words beyond what it has to do with all of them:
the thing that a stereotype is about, and that another list of attributes would have in other places. Rows of one
pairing share their connection, and pairings are nested in attributes, so that both integrate out in closed form; words
and group means are one small dense system.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.posterior.crossed_block import Effects, SharedAttributes, computable, factored
from biasgauge.analyses.posterior.model import Priors
from biasgauge.analyses.posterior.table import ASSOCIATED, DistanceTable
from biasgauge.core import Floats, Places
from biasgauge.errors import ParameterError

_BATCH = 2**22
"""Numbers held for the attributes of a batch of standard deviations: bounds the memory."""


def protected_groups(table: DistanceTable) -> Places:
    """The group of each of the table's words: words whose associated attributes come from the same lists.

    Raises:
        ParameterError: a word has no associated attribute, so that its group is not known.
    """
    lists: list[frozenset[int]] = []
    associated = table.rows_of([ASSOCIATED])
    for index, word in enumerate(table.words):
        own = frozenset(table.source[associated & (table.word == index)].tolist())
        if not own:
            raise ParameterError(f"{word!r} has no associated attribute, so that its group is not known.")
        lists.append(own)
    order = {own: at for at, own in enumerate(dict.fromkeys(lists))}
    return np.array([order[own] for own in lists], np.intp)


class NestedBlock(SharedAttributes):
    """One or two connections and the attributes they share, as `CrossedBlock`.

    Standard deviations come as columns: sigma of each connection, tau of each connection, that of the attributes, that
    of the pairings.
    """

    def __init__(self, table: DistanceTable, connections: Sequence[str], priors: Priors, groups: Places) -> None:
        super().__init__(table, connections, priors)
        words = table.word[table.rows_of(connections)]
        pairs = np.stack([self._attribute, groups[words], self._connection], axis=1)
        pairing, self._rows = np.unique(pairs, axis=0, return_inverse=True)
        self._prepare(pairing, self._rows.reshape(-1))

    def _prepare(self, pairing: Places, row: Places) -> None:
        """Sum whatever does not depend on the standard deviations."""
        connection, cell = self._connection, self._cell
        number, size = len(self.connections), len(self._cells)
        self._columns = size + number
        design = np.zeros((len(self._y), self._columns))
        design[np.arange(len(design)), cell] = 1
        design[np.arange(len(design)), size + connection] = 1
        own = [connection == at for at in range(number)]
        self._squares = np.stack([(design[rows].T @ design[rows]).ravel() for rows in own])
        self._vectors = np.stack([design[rows].T @ self._y[rows] for rows in own])
        self._totals = np.array([self._y[rows] @ self._y[rows] for rows in own])
        self._count = np.bincount(row).astype(np.float64)
        self._sum = np.bincount(row, self._y)
        self._design = np.zeros((len(pairing), self._columns))
        np.add.at(self._design, row, design)
        self._products = np.einsum("sp,sq->spq", self._design, self._design).reshape(len(pairing), -1)
        self._pairing_connection = pairing[:, 2]
        self._starts = np.flatnonzero(np.diff(pairing[:, 0], prepend=-1))

    @property
    def dimensions(self) -> int:
        """How many standard deviations it has."""
        return 2 * len(self.connections) + 2

    @property
    def resolutions(self) -> Floats:
        """How small a standard deviation the distances can tell from 0, roughly, in the order of the columns."""
        number = len(self.connections)
        shares = [0.1] * number + [(len(self._y) / len(self._cells)) ** -0.5] * number
        shares += [(len(self._y) / units) ** -0.5 for units in (len(self.attributes), len(self._count))]
        return self.spread * np.array(shares)

    def log_density(self, sds: Floats) -> Floats:
        """Log posterior density of each row of standard deviations, effects integrated out, up to a constant."""
        found = np.full(len(sds), -np.inf)
        sound = computable(sds, len(self.connections), self.spread)
        for part in self._batches(sound):
            square, vector, _, rest = self._system(sds[part])
            half, diagonal = factored(square, vector)
            determinant = 2 * np.log(diagonal).sum(axis=1)
            found[part] = -0.5 * (rest + determinant - (half**2).sum(axis=1)) + self._log_prior(sds[part])
        return found

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Draw group means and words, given standard deviations; attributes and pairings are not drawn."""
        noise = random.standard_normal((len(sds), self._columns))
        dense = np.empty_like(noise)
        for part in self._batches(np.arange(len(sds))):
            square, vector, scale, _ = self._system(sds[part])
            factor = np.linalg.cholesky(square)
            half = np.linalg.solve(factor, vector[..., None])[..., 0] + noise[part]
            dense[part] = scale * np.linalg.solve(np.swapaxes(factor, 1, 2), half[..., None])[..., 0]
        number = len(self.connections)
        groups = dense[:, -number:] + self.priors.group.mean
        words = [groups[:, [at]] + dense[:, :-number][:, self._cells[:, 0] == at] for at in range(number)]
        return Effects(groups, words, np.empty((len(sds), 0)))

    def _batches(self, places: Places) -> list[Places]:
        step = max(1, _BATCH // (max(len(self._starts), self._columns) * self._columns))
        return [places[start : start + step] for start in range(0, len(places), step)]

    def _log_prior(self, sds: Floats) -> Floats:
        number = len(self.connections)
        density: Floats = (
            self.priors.residual.log_density(sds[:, :number]).sum(axis=1)
            + self.priors.between.log_density(sds[:, number:-2]).sum(axis=1)
            + self.priors.attribute.log_density(sds[:, -2:]).sum(axis=1)
        )
        return density

    def _system(self, sds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Matrix and vector of the dense effects scaled by their prior sds, these sds, and the rest of the density."""
        number, size = len(self.connections), len(sds)
        noise = sds[:, :number] ** 2
        own = noise[:, self._pairing_connection]
        whole = own + self._count * sds[:, [-1]] ** 2
        shrink = sds[:, [-1]] ** 2 / (own * whole)
        inverse = 1 / noise
        square = (inverse @ self._squares - shrink @ self._products).reshape(size, self._columns, self._columns)
        vector = inverse @ self._vectors - (shrink * self._sum) @ self._design
        rest = inverse @ self._totals - shrink @ self._sum**2
        rest += ((self._count - 1) * np.log(own) + np.log(whole)).sum(axis=1)
        weights = np.add.reduceat(self._count / whole, self._starts, axis=1)
        columns = np.add.reduceat(self._design / whole[..., None], self._starts, axis=1)
        sums = np.add.reduceat(self._sum / whole, self._starts, axis=1)
        pull = sds[:, [-2]] ** 2 / (1 + sds[:, [-2]] ** 2 * weights)
        rest += np.log1p(sds[:, [-2]] ** 2 * weights).sum(axis=1) - (pull * sums**2).sum(axis=1)
        vector -= np.einsum("mu,mup->mp", pull * sums, columns)
        square -= np.swapaxes(pull[..., None] * columns, 1, 2) @ columns
        spread = np.repeat(sds[:, number : 2 * number], np.bincount(self._cells[:, 0]), axis=1)
        scale = np.concatenate([spread, np.full((size, number), self.priors.group.sd)], axis=1)
        square *= scale[:, :, None] * scale[:, None, :]
        square[:, np.arange(self._columns), np.arange(self._columns)] += 1
        return square, scale * vector, scale, rest
