"""What the models say about carriers and other words: scores and vectors, gathered over all planted texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from biasgauge.arrays import Flags, Floats
from biasgauge.calibration.planting import Planted
from biasgauge.embeddings import Embedding, load
from biasgauge.errors import InputError
from biasgauge.scores import score

Pairs = tuple[tuple[str, str], ...]


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


def read_model(
    source: Any,  # noqa: ANN401 - whatever `load` takes
    *,
    carriers: Sequence[str],
    others: Sequence[str],
    background: Sequence[str],
    pairs: Pairs,
    measures: Sequence[str],
) -> ModelReading:
    """Score all words in one model: a file, or anything that `load` takes.

    Raises:
        InputError: the model lacks every pair.
    """
    model = load(source)
    first, second = _ends(pairs)
    kept = [word for word in (*carriers, *first, *second) if word in model]
    return ModelReading(_scored(model, (*carriers, *others, *background), pairs, measures), model.subset(kept))


def joined(
    planted: Sequence[Planted],
    read: Sequence[Sequence[ModelReading]],
    shuffled: Sequence[ModelReading],
    *,
    carriers: Sequence[str],
    others: Sequence[str],
    background: Sequence[str],
    pairs: Pairs,
    measures: Sequence[str],
) -> Readings:
    """Readings of all models: those of each planted text, and those of shuffled texts; the rest as in `gathered`."""
    size = len(measures), len(carriers) + len(others) + len(background)
    scores = np.full((*size, len(read), len(read[0])), np.nan)
    vectors = {}
    for draw, runs in enumerate(read):
        for run, reading in enumerate(runs):
            scores[:, :, draw, run] = reading.scores
            vectors[draw, run] = reading.vectors
    unordered = np.full((*size, len(shuffled)), np.nan)
    for place, reading in enumerate(shuffled):
        unordered[:, :, place] = reading.scores
    return gathered(
        planted, scores, unordered, vectors, carriers=carriers, others=others, background=background, pairs=pairs,
        measures=measures,
    )  # fmt: skip


def gathered(
    planted: Sequence[Planted],
    scores: Floats,
    unordered: Floats,
    vectors: Mapping[tuple[int, int], Embedding],
    *,
    carriers: Sequence[str],
    others: Sequence[str],
    background: Sequence[str],
    pairs: Pairs,
    measures: Sequence[str],
) -> Readings:
    """Put scores that were computed elsewhere beside the doses that were counted.

    Args:
        planted: the texts.
        scores: measure × word × text × run, means over pairs; words are carriers, others, background.
        unordered: measure × word × shuffled text.
        vectors: of carriers and ends, by text and run.
        carriers: words with doses.
        others: words with doses of something else.
        background: words in which nothing was planted.
        pairs: base pairs.
        measures: names of measures.

    Raises:
        InputError: no measure has scores, or most of the carriers have none.
    """
    words = (*carriers, *others, *background)
    ends = _ends(pairs)
    usable: Flags = np.asarray(np.isfinite(scores[:, : len(carriers)]).any(axis=(1, 2, 3)))
    if not usable.any():
        raise InputError("No measure has a score for any carrier: lower min_count, or give other carriers or pairs.")
    without = [name for name, some in zip(measures, usable, strict=True) if not some]
    notes = [f"{name} has no score for any carrier and is left out" for name in without]
    measures = [name for name, some in zip(measures, usable, strict=True) if some]
    scores, unordered = scores[usable], unordered[usable]
    sound: Flags = np.asarray(np.isfinite(scores).all(axis=(0, 2, 3)) & np.isfinite(unordered).all(axis=(0, 2)))
    if sound[: len(carriers)].sum() < 0.8 * len(carriers):
        raise InputError(
            f"Only {int(sound[: len(carriers)].sum())} of {len(carriers)} carriers have a score in every model: "
            "lower min_count, or give other carriers or pairs."
        )
    counted = [{row.word: row for row in text.doses if row.edit == len(text.edits) - 1} for text in planted]
    other = [{row.word: row for row in text.doses if row.edit == 0} for text in planted]
    kept_words = tuple(word for word, whole in zip(words, sound, strict=True) if whole)
    n_carriers, n_others = int(sound[: len(carriers)].sum()), int(sound[len(carriers) :][: len(others)].sum())
    corpus = planted[0].corpus
    frequency = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    first, second = kept_words[:n_carriers], kept_words[n_carriers : n_carriers + n_others]
    return Readings(
        measures=tuple(measures),
        words=kept_words,
        carriers=n_carriers,
        others=n_others,
        scores=scores[:, sound],
        doses=_table(counted, first, "log_odds"),
        levels=_table(counted, first, "dose"),
        counts=np.array([frequency[word] for word in kept_words], np.float64),
        shuffled=unordered[:, sound],
        other_doses=_table(other, second, "log_odds"),
        vectors=vectors,
        ends=ends,
        lost=tuple(word for word, whole in zip(words, sound, strict=True) if not whole),
        warnings=(*dict.fromkeys(remark for text in planted for remark in text.remarks), *notes),
    )


def _table(counted: Sequence[Mapping[str, Any]], words: Sequence[str], column: str) -> Floats:
    return np.array([[getattr(rows[word], column) for rows in counted] for word in words], np.float64).reshape(
        len(words), len(counted)
    )


def _scored(model: Embedding, words: Sequence[str], pairs: Pairs, measures: Sequence[str]) -> Floats:
    """Mean over pairs of each word's scores: measure × word; NaN where it has none."""
    values = score(model, pairs=pairs, words=words, measures=measures).values[:, :, :, 0]
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    return means


def _ends(pairs: Pairs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = (tuple(dict.fromkeys(pair[end] for pair in pairs)) for end in (0, 1))
    return tuple(word for word in first if word not in second), second
