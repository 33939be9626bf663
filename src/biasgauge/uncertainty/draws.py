"""`Draws`: a sample of the posterior, the same shape whichever sampler made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.uncertainty.table import CONNECTIONS, DistanceTable


@dataclass(frozen=True, eq=False)
class AttributeDraws:
    """Effects of attributes in the crossed model.

    Attributes:
        blocks: the connections of each block: those that share attributes.
        block: of each effect, the place of its block.
        attribute: of each effect, the place of its attribute in the table's `attributes`.
        effect: draws × effects; 0 means as far away as an average attribute of the block.
        sd: draws × blocks, standard deviation of the effects.
    """

    blocks: tuple[tuple[str, ...], ...]
    block: NDArray[np.intp]
    attribute: NDArray[np.intp]
    effect: Floats
    sd: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws, one chain after the other. Cells are the (connection, word) that have distances.

    Attributes:
        chains: how many chains; each has the same number of draws.
        connections: the connections sampled.
        group: draws × connections, mean distance.
        cell_connection: of each cell, the place of its connection in `connections`.
        cell_word: of each cell, the place of its word in the table's `words`.
        word: draws × cells, mean distance of a word.
        between: draws × connections, standard deviation of word means (tau).
        residual: draws × connections, standard deviation (Student: scale) of distances around their mean (sigma).
        baseline: draws, what all distances share; only in the variant "intercept".
        freedom: draws × connections, degrees of freedom; only in the variant "student".
        attributes: effects of attributes; only in the variant "crossed".
    """

    chains: int
    connections: tuple[str, ...]
    group: Floats
    cell_connection: NDArray[np.intp]
    cell_word: NDArray[np.intp]
    word: Floats
    between: Floats
    residual: Floats
    baseline: Floats | None = None
    freedom: Floats | None = None
    attributes: AttributeDraws | None = None

    def __len__(self) -> int:
        return len(self.group)

    def by_chain(self, values: Floats) -> Floats:
        """Reshape draws × … to chains × draws × …."""
        return values.reshape(self.chains, len(values) // self.chains, *values.shape[1:])

    def parameters(self) -> dict[str, Floats]:
        """Every sampled quantity by name, draws first; for diagnostics and export."""
        found = {"group": self.group, "word": self.word, "between": self.between, "residual": self.residual}
        if self.baseline is not None:
            found["baseline"] = self.baseline
        if self.freedom is not None:
            found["freedom"] = self.freedom
        if self.attributes is not None:
            found |= {"attribute": self.attributes.effect, "attribute_sd": self.attributes.sd}
        return {name: values for name, values in found.items() if values.size}  # a user's model may lack some

    def places(self, table: DistanceTable) -> RowPlaces:
        """Where the parameters of each row stand; rows of connections that were not sampled are left out."""
        own = {CONNECTIONS.index(name): place for place, name in enumerate(self.connections)}
        sampled = np.flatnonzero(np.isin(table.connection, list(own)))
        connection = np.array([own[one] for one in table.connection[sampled].tolist()], np.intp)
        cells = {pair: at for at, pair in enumerate(_pairs(self.cell_connection, self.cell_word))}
        cell = np.array([cells[pair] for pair in _pairs(connection, table.word[sampled])], np.intp)
        effect = None
        if self.attributes is not None:
            block_of = {name: at for at, names in enumerate(self.attributes.blocks) for name in names}
            block = np.array([block_of[self.connections[one]] for one in connection], np.intp)
            effects = {pair: at for at, pair in enumerate(_pairs(self.attributes.block, self.attributes.attribute))}
            effect = np.array([effects[pair] for pair in _pairs(block, table.attribute[sampled])], np.intp)
        return RowPlaces(sampled, connection, cell, effect)


@dataclass(frozen=True, eq=False)
class RowPlaces:
    """For each row that was sampled: its place in the table, its connection, its cell, its attribute's effect."""

    row: NDArray[np.intp]
    connection: NDArray[np.intp]
    cell: NDArray[np.intp]
    effect: NDArray[np.intp] | None

    def mean(self, draws: Draws, rows: slice, some: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Rows × draws: the mean of the distance in each of some draws, for some of the rows."""
        mean = draws.word[some].T[self.cell[rows]]
        if self.effect is not None and draws.attributes is not None:
            mean = mean + draws.attributes.effect[some].T[self.effect[rows]]
        return mean

    def expected(self, draws: Draws) -> Floats:
        """Posterior mean of the mean distance of every row."""
        mean: Floats = draws.word.mean(axis=0)[self.cell]
        if self.effect is not None and draws.attributes is not None:
            mean = mean + draws.attributes.effect.mean(axis=0)[self.effect]
        return mean


def _pairs(first: NDArray[np.intp], second: NDArray[np.intp]) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))
