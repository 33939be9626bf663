"""`ScoreTensor`: measure × pair × word × model, every axis labeled, every gap with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.core import Codes, JsonMapping, JsonObject, Singles
from biasgauge.errors import ParameterError
from biasgauge.results import Result, counted
from biasgauge.vectors import by_reason

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.scores.store import ScoreStore

AXES = ("measure", "pair", "word", "model")

REASONS = (
    "",
    "the word is not in the vocabulary",
    "the word's vector is not finite",
    "the word's vector is zero",
    "an end of the pair is not in the vocabulary",
    "an end of the pair has a vector that is not finite",
    "an end of the pair has a zero vector",
    "the ends of the pair have equal vectors",
    "fewer than k neighbors exist",
    "the measure gives no number for this word and pair",
)
"""Why a score is undefined; the tensor's mask holds the place in this list, 0 where the score is defined."""

WORD_LOST, END_LOST, EQUAL_ENDS, FEW_NEIGHBORS, NO_NUMBER = 1, 4, 7, 8, 9
"""Places in that list. The first two begin three each: not in the vocabulary, not finite, zero."""

LIES_IN_THE_WORD = frozenset(range(WORD_LOST, END_LOST))
"""Places of the reasons that lie in the word alone, whatever the pair."""


@dataclass(frozen=True)
class ModelScores:
    """Scores of one model (measures × pairs × words, NaN where undefined), and why some are: places in `REASONS`.

    Those of measures × pairs outweigh those of words.
    """

    values: Singles
    word_reasons: Codes
    pair_reasons: Codes

    def undefined(self) -> Codes:
        """Reasons for every score: measures × pairs × words."""
        by_pair = self.pair_reasons[:, :, None]
        reasons: Codes = np.where(by_pair, by_pair, self.word_reasons)
        reasons[(reasons == 0) & np.isnan(self.values)] = NO_NUMBER
        return reasons


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTensor(Result):
    """Scores with their labels. Whatever is selected, labels and scores are selected together.

    Attributes:
        values: measure × pair × word × model; NaN exactly where `undefined` is not 0.
        undefined: places in `REASONS`, of the same shape.
        measures, words, models: labels of their axes.
        pairs: labels of the pairs, each (first, second).
        provenance: checksums of the models and lexicons, settings, version: how these scores came about.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"shape": Mapping[str, int], "words": int, "undefined": Mapping[str, int]}

    values: Singles
    undefined: Codes
    measures: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    models: tuple[str, ...]
    provenance: JsonMapping

    def __post_init__(self) -> None:
        labels = (self.measures, self.pairs, self.words, self.models)
        shape = tuple(len(names) for names in labels)
        if self.values.shape != shape or self.undefined.shape != shape:
            raise ParameterError(
                f"A ScoreTensor needs one label for each place of each axis. Got labels for {shape}, scores of shape "
                f"{self.values.shape} and reasons of shape {self.undefined.shape}."
            )
        for axis, names in zip(AXES, labels, strict=True):
            if len(set(names)) != len(names):
                raise ParameterError(f"The labels of the axis {axis!r} of a ScoreTensor must differ from each other.")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Lengths of the four axes."""
        return (len(self.measures), len(self.pairs), len(self.words), len(self.models))

    def to_numpy(self) -> Singles:
        """Scores alone: measure × pair × word × model."""
        return self.values

    def reason(self, measure: str, pair: tuple[str, str], word: str, model: str) -> str:
        """Reason why one score is undefined; empty where it is defined."""
        chosen = self.select(measure=[measure], pair=[pair], word=[word], model=[model])
        return REASONS[int(chosen.undefined.item())]

    def select(
        self,
        *,
        measure: Iterable[str] | None = None,
        pair: Iterable[tuple[str, str]] | None = None,
        word: Iterable[str] | None = None,
        model: Iterable[str] | None = None,
    ) -> ScoreTensor:
        """Keep some labels of each axis, in the order given; None keeps all.

        Raises:
            ParameterError: a label is not there.
        """
        indices, labels = choose(self, measure, pair, word, model)
        grid = np.ix_(*indices)
        return replace(self, values=self.values[grid], undefined=self.undefined[grid], **labels)

    def count_undefined(self) -> dict[str, int]:
        """Count undefined scores by reason."""
        return by_reason(REASONS, self.undefined)

    def to_frame(self) -> pd.DataFrame:
        """One row per score: measure, first, second, word, model, score, and the reason where it is undefined."""
        import pandas as pd

        measures, pairs, words, models = (axis.ravel() for axis in np.indices(self.shape))
        ends = np.array(self.pairs, dtype=object).reshape(-1, 2)
        return pd.DataFrame(
            {
                "measure": np.array(self.measures, dtype=object)[measures],
                "first": ends[pairs, 0],
                "second": ends[pairs, 1],
                "word": np.array(self.words, dtype=object)[words],
                "model": np.array(self.models, dtype=object)[models],
                "score": self.values.ravel(),
                "undefined": np.array(REASONS, dtype=object)[self.undefined.ravel()],
            }
        )

    def to_dict(self) -> JsonObject:
        """Labels, shape, counts of undefined scores and provenance; the scores are in `to_frame` and `to_numpy`."""
        return describe(self)

    def _title(self) -> str:
        return "Scores"

    def _headline(self) -> str:
        sizes = " × ".join(counted(size, axis) for axis, size in zip(AXES, self.shape, strict=True))
        return f"{sizes}, {sum(self.count_undefined().values()):,} undefined"

    def _sentences(self) -> Sequence[str]:
        return [f"{count:,} scores are undefined: {reason}." for reason, count in self.count_undefined().items()]


def describe(scores: ScoreTensor | ScoreStore) -> JsonObject:
    """Labels, shape, counts of undefined scores and provenance of scores in memory or on disk, without the scores."""
    labels = (scores.measures, scores.pairs, scores.words, scores.models)
    return {
        "shape": {axis: len(names) for axis, names in zip(AXES, labels, strict=True)},
        "measures": list(scores.measures),
        "pairs": [list(pair) for pair in scores.pairs],
        "words": len(scores.words),
        "models": list(scores.models),
        "undefined": scores.count_undefined(),
        "provenance": dict(scores.provenance),
    }


def choose(
    scores: ScoreTensor | ScoreStore,
    measure: Iterable[str] | None,
    pair: Iterable[tuple[str, str]] | None,
    word: Iterable[str] | None,
    model: Iterable[str] | None,
) -> tuple[list[list[int]], dict[str, Any]]:
    """Return indices of the wanted labels of each axis (None: all of them), and those labels by field name."""
    indices: list[list[int]] = []
    labels: dict[str, Any] = {}
    for axis, wanted in zip(AXES, (measure, pair, word, model), strict=True):
        names: tuple[Any, ...] = getattr(scores, f"{axis}s")
        indices.append(_label_indices(axis, names, wanted))
        labels[f"{axis}s"] = tuple(names[index] for index in indices[-1])
    return indices, labels


def _label_indices(axis: str, names: Sequence[Any], wanted: Iterable[Any] | None) -> list[int]:
    if wanted is None:
        return list(range(len(names)))
    if isinstance(wanted, str):
        raise ParameterError(f"Labels of the axis {axis!r} must come in a list. Got the string {wanted!r}.")
    index = {name: number for number, name in enumerate(names)}
    indices = []
    for label in wanted:
        key = tuple(label) if axis == "pair" else label
        if key not in index:
            raise ParameterError(f"There is no {axis} {label!r}.")
        indices.append(index[key])
    return indices
