"""`SimilarityTable`: the cosines of a resolved query, models × targets × attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from biasgauge.core.arrays import Floats, Integers, Places
from biasgauge.core.geometry import unit_rows
from biasgauge.core.policy import WordVectors
from biasgauge.core.resolution import BASE_PAIRS, Resolved, ResolvedSet
from biasgauge.errors import ParameterError


class SimilarityTable:
    """Cosines of every target with every attribute (or base pair) of a query, in every model.

    With base pairs a column is the cosine with the first word less the cosine with the second, from −2 to 2.

    Attributes:
        resolved: the query and the rows of its words.
        values: models × targets × attributes.
        target_groups, attribute_groups: group of each target and of each attribute.
        target_words, attribute_words: names of rows and of columns; a pair is "first–second".
        target_rows, attribute_rows: their rows in the first model; of a pair, the row of its first word.
    """

    def __init__(self, resolved: Resolved) -> None:
        if resolved.reason is not None:
            raise ParameterError(f"The query {resolved.query.name!r} cannot be measured: {resolved.reason}.")
        self.resolved = resolved
        columns = (resolved.sets[BASE_PAIRS],) if resolved.query.pairs else resolved.attributes
        self.target_groups, self.target_words, self.target_rows = _stacked(resolved.targets)
        self.attribute_groups, self.attribute_words, self.attribute_rows = _stacked(columns)
        self.values = self.similarities_of(resolved.targets)

    def similarities_of(self, groups: Sequence[ResolvedSet]) -> Floats:
        """Cosines of other words with the attributes of this table: models × words × attributes."""
        rows = np.concatenate([group.rows for group in groups], axis=1)
        return np.stack(
            [
                unit_vectors(model, rows[number]) @ columns.T
                for number, (model, columns) in enumerate(zip(self.resolved.models, self._columns(), strict=True))
            ]
        )

    def _columns(self) -> Iterator[Floats]:
        """Unit vectors of the attributes in each model; of a pair, that of its first word less that of its second."""
        resolved = self.resolved
        for number, model in enumerate(resolved.models):
            if resolved.query.pairs:
                first, second = (unit_vectors(model, rows[number]) for rows in resolved.pair_rows)
                yield first - second
            else:
                yield unit_vectors(model, np.concatenate([group.rows[number] for group in resolved.attributes]))

    @property
    def weights(self) -> tuple[tuple[float, ...], ...]:
        """Weights of the contrast that answers the query: groups of targets × groups of attributes."""
        return self.resolved.query.weights

    @property
    def contrast(self) -> float:
        """Σ w[i, j] · mean cosine of target group i with attribute group j, over models; 0: no association."""
        means = [
            [
                self.values[:, self.target_groups == target][:, :, self.attribute_groups == attribute].mean()
                for attribute in range(len(row))
            ]
            for target, row in enumerate(self.weights)
        ]
        return float((np.asarray(self.weights) * means).sum())


def _stacked(groups: Sequence[ResolvedSet]) -> tuple[Integers, tuple[str, ...], Places]:
    """Group of each word, the words, and their rows in the first model."""
    sizes = [len(group.words) for group in groups]
    words = tuple(word for group in groups for word in group.words)
    return np.repeat(np.arange(len(groups)), sizes), words, np.concatenate([group.rows[0] for group in groups])


def unit_vectors(model: WordVectors, rows: Places) -> Floats:
    """Vectors of some words of a model, scaled to length 1."""
    return unit_rows(np.asarray(model.vectors[rows], np.float64), pairwise=True)
