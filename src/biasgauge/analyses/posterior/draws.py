"""`Draws`: a sample of the posterior, the same shape whichever sampler made it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.analyses.posterior.table import CONNECTIONS, DistanceTable
from biasgauge.core import Floats, Places
from biasgauge.errors import InputError


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
    block: Places
    attribute: Places
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
    cell_connection: Places
    cell_word: Places
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
        names = ("group", "word", "between", "residual", "baseline", "freedom")
        sampled: dict[str, Floats | None] = {name: getattr(self, name) for name in names}
        if self.attributes is not None:
            sampled |= {"attribute": self.attributes.effect, "attribute_sd": self.attributes.sd}
        # a user's model may lack some
        return {name: values for name, values in sampled.items() if values is not None and values.size}

    def labels(self, words: Sequence[str]) -> list[tuple[str, str | None]]:
        """(connection, None) of each group, then (connection, word) of each cell; without words, the groups alone."""
        cells = _pairs(self.cell_connection, self.cell_word) if words else []
        return [
            *((name, None) for name in self.connections),
            *((self.connections[at], words[word]) for at, word in cells),
        ]

    def places(self, table: DistanceTable) -> RowPlaces:
        """Where the parameters of each row stand; rows of connections that were not sampled are left out."""
        own = {CONNECTIONS.index(name): index for index, name in enumerate(self.connections)}
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

    row: Places
    connection: Places
    cell: Places
    effect: Places | None

    def mean(self, draws: Draws, rows: slice, some: Places | slice = slice(None)) -> Floats:
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


def _pairs(first: Places, second: Places) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def no_draws(size: int = 0, chains: int = 1) -> Draws:
    """Draws of nothing."""
    empty = np.empty((size, 0))
    places = np.empty(0, np.intp)
    return Draws(chains, (), empty, places, places, empty, empty, empty)


def inference_data(draws: Draws, table: DistanceTable) -> Any:  # noqa: ANN401 - InferenceData, or DataTree in newer versions
    """The draws with named coordinates, and the observed distances, as ArviZ knows them.

    Raises:
        InputError: ArviZ is not installed.
    """
    cells = [f"{connection}: {word}" for connection, word in draws.labels(table.words) if word is not None]
    coords: dict[str, Any] = {"connection": list(draws.connections), "cell": cells, "row": np.arange(len(table))}
    dims = {name: ["connection"] for name in ("group", "between", "residual", "freedom")}
    dims |= {"word": ["cell"], "distance": ["row"]}
    if draws.attributes is not None:
        blocks = ["+".join(names) for names in draws.attributes.blocks]
        effects = _pairs(draws.attributes.block, draws.attributes.attribute)
        coords["block"] = blocks
        coords["effect"] = [f"{blocks[block]}: {table.attributes[attribute]}" for block, attribute in effects]
        dims |= {"attribute": ["effect"], "attribute_sd": ["block"]}
    drawn = {name: draws.by_chain(values) for name, values in draws.parameters().items()}
    dims = {name: own for name, own in dims.items() if name in drawn or name == "distance"}
    groups: dict[str, Any] = {"posterior": drawn, "observed_data": {"distance": table.distance}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of ArviZ about its own future
        try:
            import arviz
        except ImportError as problem:
            raise InputError('InferenceData needs ArviZ: pip install "biasgauge[bayes]"') from problem
        if hasattr(arviz, "InferenceData"):
            return arviz.from_dict(**groups, coords=coords, dims=dims)
        return arviz.from_dict(groups, coords=coords, dims=dims)
