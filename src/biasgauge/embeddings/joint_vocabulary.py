"""The words of several models together, and where each model has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.embeddings.embedding import Embedding


@dataclass(frozen=True, eq=False)
class JointVocabulary:
    """Every word that any of some models has.

    Attributes:
        words: in the order of the first model, then what the second has besides, and so on.
        rows: models × words: the row of each word in each model, −1 where it has none.
    """

    words: tuple[str, ...]
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, models: Sequence[Embedding]) -> JointVocabulary:
        """Collect the words of some models."""
        places = dict(models[0].index)
        found = []
        for model in models:
            if model.words == models[0].words:
                found.append(np.arange(len(model)))
                continue
            new = [word for word in model.words if word not in places]
            places.update(zip(new, range(len(places), len(places) + len(new)), strict=True))
            found.append(np.fromiter(map(places.__getitem__, model.words), np.intp, len(model)))
        rows = np.full((len(models), len(places)), -1, np.intp)
        for row, own in zip(rows, found, strict=True):
            row[own] = np.arange(len(own))
        return cls(tuple(places), rows)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Place of each word."""
        return MappingProxyType({word: place for place, word in enumerate(self.words)})

    def shared(self, *models: int) -> NDArray[np.intp]:
        """Places of the words that all of these models have; of all models when none is named."""
        chosen = self.rows[list(models)] if models else self.rows
        return np.flatnonzero((chosen >= 0).all(axis=0))

    def places(self, words: Iterable[str]) -> NDArray[np.intp]:
        """Place of each of these words, −1 for those that no model has."""
        return np.array([self.index.get(word, -1) for word in words], np.intp)


def check_dimensions(models: Sequence[Embedding]) -> None:
    """Refuse models that no rotation can bring together.

    Raises:
        ParameterError: they differ in their dimensions.
    """
    for model in models[1:]:
        if model.dim != models[0].dim:
            raise ParameterError(
                f"Models to align must have one number of dimensions. Got {models[0].dim} for {models[0].name!r} and "
                f"{model.dim} for {model.name!r}."
            )
