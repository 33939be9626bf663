"""Scores of one measure at a time, from a tensor in memory or from a store on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.scores import REASONS, ScoreStore, ScoreTensor


@dataclass(frozen=True, eq=False)
class MeasureScores:
    """Scores of one measure: pairs × words × models, NaN where undefined, with the places of the reasons."""

    measure: str
    values: NDArray[np.float32]
    undefined: NDArray[np.uint8]

    def mean_over_models(self) -> Floats:
        """Pairs × words: mean over the models in which the score is defined; NaN where there is none."""
        means = np.empty(self.values.shape[:2])
        for pair, scores in enumerate(self.values):
            defined = ~np.isnan(scores)
            counts = defined.sum(axis=1)
            sums = np.add.reduce(scores, axis=1, dtype=np.float64, where=defined)
            means[pair] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return means

    def mean_over_pairs(self) -> Floats:
        """Words × models: mean over the pairs that have scores in every model that has any; NaN where one lacks."""
        some = np.array([(~np.isnan(scores)).any(axis=0) for scores in self.values])  # pairs × models
        models = some.any(axis=0)
        pairs = np.flatnonzero(some[:, models].all(axis=1))
        total = np.zeros(self.values.shape[1:])
        for pair in pairs:
            total += self.values[pair]
        return total / len(pairs) if len(pairs) else np.full(total.shape, np.nan)

    def why_undefined(self, words: NDArray[np.intp]) -> list[str]:
        """The most frequent reason why scores of each of these words are undefined."""
        return [
            REASONS[int(np.bincount(codes[codes > 0], minlength=1).argmax())] if (codes > 0).any() else ""
            for codes in (self.undefined[:, word].ravel() for word in words)
        ]


def by_measure(scores: ScoreTensor | ScoreStore) -> Iterator[MeasureScores]:
    """One measure after the other; of a store, nothing else is in memory.

    Raises:
        ParameterError: these are no scores.
    """
    if isinstance(scores, ScoreTensor):
        for place, name in enumerate(scores.measures):
            yield MeasureScores(name, scores.values[place], scores.undefined[place])
    elif isinstance(scores, ScoreStore):
        for name in scores.measures:
            part = scores.read(measure=[name])
            yield MeasureScores(name, part.values[0], part.undefined[0])
    else:
        raise ParameterError(
            f"reliability needs a ScoreTensor or a ScoreStore, as bg.score makes them. Got {type(scores).__name__}."
        )
