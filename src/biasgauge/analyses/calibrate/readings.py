"""What the models say about carriers and other words: scores and vectors, gathered over all planted texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from biasgauge.analyses.calibrate.planting import Planted
from biasgauge.analyses.calibrate.texts import Pairs
from biasgauge.core import Flags, Floats, VectorsLike
from biasgauge.errors import InputError
from biasgauge.scores import score
from biasgauge.vectors import Embedding, load


@dataclass(frozen=True)
class Asked:
    """What is read in every model: which words, scored by which pairs and measures.

    Attributes:
        carriers: words with doses.
        others: words with doses of something else.
        background: words in which nothing was planted.
        pairs: base pairs.
        measures: names of measures.
    """

    carriers: Sequence[str]
    others: Sequence[str]
    background: Sequence[str]
    pairs: Pairs
    measures: Sequence[str]

    @property
    def words(self) -> tuple[str, ...]:
        """All of them, in the order of scores."""
        return (*self.carriers, *self.others, *self.background)

    @property
    def ends(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Words of first and of second ends, each once; a word of both is a second one."""
        first, second = (tuple(dict.fromkeys(pair[end] for pair in self.pairs)) for end in (0, 1))
        return tuple(word for word in first if word not in second), second

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of measures and words: the shape of one model's scores."""
        return len(self.measures), len(self.words)


@dataclass(frozen=True, eq=False)
class Readings:
    """Scores of words in every model.

    Attributes:
        measures: which measures.
        words: carriers, then those that carry something else, then words in which nothing was planted.
        carriers, others: how many of the first two there are.
        scores: measure × word × draw × run: means over pairs.
        doses: carriers × draws: log odds, counted.
        levels: carriers × draws: doses, as asked for.
        counts: how often each word occurs.
        shuffled: measure × word × shuffled text.
        other_doses: doses of something else, carriers of those × draws, counted.
        vectors: for each draw and run the vectors of carriers and ends.
        ends: words of first and of second ends, as the vectors have them.
    """

    measures: tuple[str, ...]
    words: tuple[str, ...]
    carriers: int
    others: int
    scores: Floats
    doses: Floats
    levels: Floats
    counts: Floats
    shuffled: Floats
    other_doses: Floats
    vectors: Mapping[tuple[int, int], Embedding]
    ends: tuple[tuple[str, ...], tuple[str, ...]]
    lost: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    @property
    def of_carriers(self) -> Floats:
        """Scores of the carriers: measure × carrier × draw × run."""
        return self.scores[:, : self.carriers]

    def runs(self) -> Iterator[tuple[int, int, Embedding]]:
        """Draw, run and vectors of each model."""
        for (draw, run), vectors in self.vectors.items():
            yield draw, run, vectors


class ModelReading(NamedTuple):
    """What is read in one model.

    Attributes:
        scores: measure × word: means over pairs; NaN where a word has none.
        vectors: of carriers and ends, as far as the model has them.
    """

    scores: Floats
    vectors: Embedding


def read_model(source: VectorsLike, asked: Asked) -> ModelReading:
    """Score all words in one model: a file, or anything that `load` takes.

    Raises:
        InputError: the model lacks every pair.
    """
    model = load(source)
    first, second = asked.ends
    kept = [word for word in (*asked.carriers, *first, *second) if word in model]
    return ModelReading(_scored(model, asked), model.subset(kept))


def joined(
    planted: Sequence[Planted], read: Sequence[Sequence[ModelReading]], shuffled: Sequence[ModelReading], asked: Asked
) -> Readings:
    """Readings of all models: those of each planted text, and those of shuffled texts."""
    scores = np.full((*asked.shape, len(read), len(read[0])), np.nan)
    vectors = {}
    for draw, runs in enumerate(read):
        for run, reading in enumerate(runs):
            scores[:, :, draw, run] = reading.scores
            vectors[draw, run] = reading.vectors
    unordered = np.full((*asked.shape, len(shuffled)), np.nan)
    for text, reading in enumerate(shuffled):
        unordered[:, :, text] = reading.scores
    return gathered(planted, scores, unordered, vectors, asked)


def gathered(
    planted: Sequence[Planted],
    scores: Floats,
    unordered: Floats,
    vectors: Mapping[tuple[int, int], Embedding],
    asked: Asked,
) -> Readings:
    """Put scores that were computed elsewhere beside the doses that were counted.

    Args:
        planted: the texts.
        scores: measure × word × text × run, means over pairs.
        unordered: measure × word × shuffled text.
        vectors: of carriers and ends, by text and run.
        asked: whose scores they are.

    Raises:
        InputError: no measure has scores, or most of the carriers have none.
    """
    words, carriers, others = asked.words, len(asked.carriers), len(asked.others)
    usable: Flags = np.asarray(np.isfinite(scores[:, :carriers]).any(axis=(1, 2, 3)))
    if not usable.any():
        raise InputError("No measure has a score for any carrier: lower min_count, or give other carriers or pairs.")
    without = [name for name, has_scores in zip(asked.measures, usable, strict=True) if not has_scores]
    notes = [f"{name} has no score for any carrier and is left out" for name in without]
    measures = tuple(name for name in asked.measures if name not in without)
    scores, unordered = scores[usable], unordered[usable]
    sound: Flags = np.asarray(np.isfinite(scores).all(axis=(0, 2, 3)) & np.isfinite(unordered).all(axis=(0, 2)))
    n_carriers, n_others = int(sound[:carriers].sum()), int(sound[carriers:][:others].sum())
    if n_carriers < 0.8 * carriers:
        raise InputError(
            f"Only {n_carriers} of {carriers} carriers have a score in every model: "
            "lower min_count, or give other carriers or pairs."
        )
    counted = [{row.word: row for row in text.doses if row.edit == len(text.edits) - 1} for text in planted]
    counted_others = [{row.word: row for row in text.doses if row.edit == 0} for text in planted]
    kept_words = tuple(word for word, whole in zip(words, sound, strict=True) if whole)
    corpus = planted[0].corpus
    frequency = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    first, second = kept_words[:n_carriers], kept_words[n_carriers : n_carriers + n_others]
    return Readings(
        measures=measures,
        words=kept_words,
        carriers=n_carriers,
        others=n_others,
        scores=scores[:, sound],
        doses=_table(counted, first, "log_odds"),
        levels=_table(counted, first, "dose"),
        counts=np.array([frequency[word] for word in kept_words], np.float64),
        shuffled=unordered[:, sound],
        other_doses=_table(counted_others, second, "log_odds"),
        vectors=vectors,
        ends=asked.ends,
        lost=tuple(word for word, whole in zip(words, sound, strict=True) if not whole),
        warnings=(*dict.fromkeys(remark for text in planted for remark in text.remarks), *notes),
    )


def _table(counted: Sequence[Mapping[str, Any]], words: Sequence[str], column: str) -> Floats:
    return np.array([[getattr(rows[word], column) for rows in counted] for word in words], np.float64).reshape(
        len(words), len(counted)
    )


def _scored(model: Embedding, asked: Asked) -> Floats:
    """Mean over pairs of each word's scores: measure × word; NaN where it has none."""
    values = score(model, pairs=asked.pairs, words=asked.words, measures=asked.measures).values[:, :, :, 0]
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    return means
