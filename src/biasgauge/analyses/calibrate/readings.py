"""Scores and vectors of carriers and other words in the models of all planted texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.calibrate.planting import Pairs, Planted
from biasgauge.analyses.calibrate.rows import CarrierDose
from biasgauge.core import Flags, Floats, VectorsLike
from biasgauge.errors import InputError
from biasgauge.scores import score
from biasgauge.vectors import Embedding, load


@dataclass(frozen=True)
class ScoringPlan:
    """Words that are scored in every model, with pairs and measures.

    Attributes:
        carriers: words with doses.
        others: words with doses of another attribute.
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
        """All words, in the order of scores."""
        return (*self.carriers, *self.others, *self.background)

    @property
    def ends(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Words of first and of second ends, each once; a word of both counts as a second one."""
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
        measures: names of the measures.
        words: carriers, then carriers of another attribute, then words in which nothing was planted.
        carriers, others: numbers of the first two.
        scores: measure × word × draw × run: means over pairs.
        doses: carriers × draws: log odds, counted.
        levels: carriers × draws: intended doses.
        counts: frequency of each word.
        shuffled: measure × word × shuffled text.
        other_doses: other carriers × draws: log odds with the other attribute, counted.
        vectors: for each draw and run the vectors of carriers and ends.
        ends: words of first and of second ends, as the vectors have them.
        lost: words without a score in some model.
        excess: carriers × draws: first ends beside the carrier beyond those of the odds of the text, for each
            occurrence of the carrier; None where they were not counted.
        near: ends beside a carrier for each occurrence of it, median over carriers; share of first ends in the text.
        warnings: doses that were not reached, and measures without scores.
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
    warnings: tuple[str, ...] = ()
    excess: Floats | None = None
    near: tuple[float, float] = (0.0, 0.0)

    @property
    def of_carriers(self) -> Floats:
        """Scores of the carriers: measure × carrier × draw × run."""
        return self.scores[:, : self.carriers]

    def runs(self) -> Iterator[tuple[int, int, Embedding]]:
        """Draw, run and vectors of each model."""
        return ((draw, run, vectors) for (draw, run), vectors in self.vectors.items())


class ModelReading(NamedTuple):
    """Scores and vectors of one model.

    Attributes:
        scores: measure × word: means over pairs; NaN where a word has none.
        vectors: of carriers and ends that the model has.
    """

    scores: Floats
    vectors: Embedding


def read_model(source: VectorsLike, plan: ScoringPlan) -> ModelReading:
    """Score all words in one model: a file, or anything that `load` takes.

    Raises:
        InputError: the model lacks every pair.
    """
    model = load(source)
    first, second = plan.ends
    present = [word for word in (*plan.carriers, *first, *second) if word in model]
    values = score(model, pairs=plan.pairs, words=plan.words, measures=plan.measures).values[:, :, :, 0]
    defined = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
    return ModelReading(means, model.subset(present))


def join_readings(
    planted: Sequence[Planted],
    models: Sequence[Sequence[ModelReading]],
    shuffled: Sequence[ModelReading],
    plan: ScoringPlan,
) -> Readings:
    """Join the readings of the models of each planted text, and of shuffled texts, with counted doses."""
    scores = np.stack([np.stack([reading.scores for reading in runs], axis=2) for runs in models], axis=2)
    by_text = [reading.scores[:, :, None] for reading in shuffled]
    shuffled_scores = np.concatenate([np.empty((*plan.shape, 0)), *by_text], axis=2)
    vectors = {(draw, run): reading.vectors for draw, runs in enumerate(models) for run, reading in enumerate(runs)}
    return collect_readings(planted, scores, shuffled_scores, vectors, plan)


def collect_readings(
    planted: Sequence[Planted],
    scores: Floats,
    shuffled_scores: Floats,
    vectors: Mapping[tuple[int, int], Embedding],
    plan: ScoringPlan,
) -> Readings:
    """Join scores with counted doses, without measures and words that have none.

    Args:
        planted: the texts.
        scores: measure × word × text × run, means over pairs.
        shuffled_scores: measure × word × shuffled text.
        vectors: of carriers and ends, by text and run.
        plan: words and measures of the scores.

    Raises:
        InputError: no measure has scores, or most of the carriers have none.
    """
    words, carriers, n_planned_others = plan.words, len(plan.carriers), len(plan.others)
    usable: Flags = np.asarray(np.isfinite(scores[:, :carriers]).any(axis=(1, 2, 3)))
    remedy = "lower min_count, or give other carriers or pairs."
    if not usable.any():
        raise InputError(f"No measure has a score for any carrier: {remedy}")
    unusable = [name for name, has_scores in zip(plan.measures, usable, strict=True) if not has_scores]
    scores, shuffled_scores = scores[usable], shuffled_scores[usable]
    # A word counts if every measure scores it in every model.
    every_model = np.isfinite(scores).all(axis=(0, 2, 3)), np.isfinite(shuffled_scores).all(axis=(0, 2))
    complete: Flags = np.logical_and(*every_model)
    n_carriers, n_others = int(complete[:carriers].sum()), int(complete[carriers:][:n_planned_others].sum())
    if n_carriers < 0.8 * carriers:
        raise InputError(f"Only {n_carriers} of {carriers} carriers have a score in every model: {remedy}")
    doses = [{row.word: row for row in text.doses if row.edit == len(text.edits) - 1} for text in planted]
    other_doses = [{row.word: row for row in text.doses if row.edit == 0} for text in planted]
    scored = tuple(word for word, is_complete in zip(words, complete, strict=True) if is_complete)
    corpus = planted[0].corpus
    frequency = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    chosen = scored[:n_carriers]
    counts = np.array([frequency[word] for word in scored], np.float64)
    excess, near = _excess_ends(doses, chosen, counts[:n_carriers])
    return Readings(
        measures=tuple(name for name in plan.measures if name not in unusable),
        words=scored,
        carriers=n_carriers,
        others=n_others,
        scores=scores[:, complete],
        doses=_table(doses, chosen, "log_odds"),
        levels=_table(doses, chosen, "dose"),
        counts=counts,
        shuffled=shuffled_scores[:, complete],
        other_doses=_table(other_doses, scored[n_carriers : n_carriers + n_others], "log_odds"),
        vectors=vectors,
        ends=plan.ends,
        lost=tuple(word for word, is_complete in zip(words, complete, strict=True) if not is_complete),
        warnings=(
            *dict.fromkeys(remark for text in planted for remark in text.remarks),
            *(f"{name} has no score for any carrier and is left out" for name in unusable),
        ),
        excess=excess,
        near=near,
    )


def _excess_ends(
    doses: Sequence[Mapping[str, CarrierDose]], words: Sequence[str], occurrences: Floats
) -> tuple[Floats, tuple[float, float]]:
    """(n_wA − π (n_wA + n_wB)) / n_w of each carrier and text, π = n_A / (n_A + n_B); and `near` of the readings."""
    first, second, all_first, all_second = (_table(doses, words, name) for name in ("n_wa", "n_wb", "n_a", "n_b"))
    share = all_first / np.maximum(all_first + all_second, 1)
    ends = (first + second) / occurrences[:, None]
    excess: Floats = first / occurrences[:, None] - share * ends
    return excess, (float(np.median(ends)), float(share.mean()))


def _table(doses: Sequence[Mapping[str, CarrierDose]], words: Sequence[str], column: str) -> Floats:
    """Words × texts: one column of the counted doses."""
    values = [getattr(rows[word], column) for word in words for rows in doses]
    return np.array(values, np.float64).reshape(len(words), len(doses))
