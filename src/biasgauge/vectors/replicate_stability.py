"""`stability`: how much of a word's meaning survives training again.

For each pair of models, one is turned to the other by orthogonal Procrustes on all words that both have; a word's
stability is the cosine of its two vectors after that, mean over pairs (Du, Fang & Nguyen, EMNLP 2021: "embedding
stability"). Turning the second to the first instead gives the same cosine, so pairs have no order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.core import (
    INTERVAL,
    Codes,
    Estimate,
    Floats,
    JsonObject,
    ModelsLike,
    Places,
    all_lengths,
    check_level,
    check_whole,
    distinct_words,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, chart_of_rows, counted
from biasgauge.stats import JACKKNIFE, NO_SPREAD, jackknife_mean, leave_one_out, mean_estimate, on_one_thread
from biasgauge.vectors.alignment import align_sides, check_dimensions, cosines
from biasgauge.vectors.coverage import by_reason
from biasgauge.vectors.embedding import JointVocabulary
from biasgauge.vectors.loading import load_models

if TYPE_CHECKING:
    import pandas as pd

_PER_THREAD = 4
REASONS = ("", "in no model", "in one model only", "its vector is zero in all models that have it, or in all but one")
"""Reasons for a word without a stability; `Stability.undefined` holds the index, 0 where it has one."""

NO_INTERVAL = "fewer than three models have the word with a direction"
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class PairMean(Estimate):
    """Agreement of two models: mean cosine after alignment over the `n` words that have one, with its interval.

    Attributes:
        first, second: names of the models.
        shared: number of words that decided the rotation.
        rank: rank of their cross-product; below the dimensions, any two models would seem stable.
    """

    first: str
    second: str
    shared: int
    rank: int

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        numbers = {"mean": self.value, "interval": self.interval(), "compared": self.n}
        return {"first": self.first, "second": self.second, **numbers, "shared": self.shared, "rank": self.rank}


@dataclass(frozen=True, eq=False)
class PairStability:
    """Stability of every word between two models.

    Attributes:
        cosines: for each word asked for, the cosine after alignment, in [−1, 1]; NaN where a model lacks the word or
            its vector is zero.
        mean: their mean, and what the alignment rests on.
    """

    cosines: Floats
    mean: PairMean


@dataclass(frozen=True, kw_only=True)
class WordStability(Estimate):
    """Stability of one word over the models and pairs of models: see `Stability`."""

    word: str
    models: int
    pairs: int


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
    """Mean stability of each word over all pairs of models that have it.

    1: the same vector after any training, but for a rotation; 0: unrelated vectors; range [−1, 1].
    Words with few occurrences are less stable. It is undefined, with a reason, for a word that fewer than two models
    have with a direction. `result["nurse"]` tells all about one word.

    Attributes:
        models: names.
        words: as asked for; all words of all models by default.
        values: stability of each word; NaN exactly where `undefined` is not 0.
        low, high: ends of its interval over models (jackknife over models: a pair is not independent of another that
            shares a model; Student's t; cut at −1 and 1); NaN where fewer than three models have the word, or leaving
            out any of them gives the same value.
        model_counts, pair_counts: how many models and pairs of models each word's value rests on.
        undefined: indices in `REASONS`.
        mean: over all words and pairs of models, with its interval over models.
        pairs: each pair of models: its mean over words, how many words it shares.
        notices: warnings.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "words": int,
        "mean": float | None,
        "interval": INTERVAL,
        "undefined": Mapping[str, int],
    }

    models: tuple[str, ...]
    words: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    model_counts: Places
    pair_counts: Places
    undefined: Codes
    mean: Estimate
    pairs: tuple[PairMean, ...]
    notices: tuple[str, ...] = ()

    def __getitem__(self, word: str) -> WordStability:
        if word not in self.words:
            raise KeyError(f"{word!r} was not asked for")
        index = self.words.index(word)
        reason = REASONS[int(self.undefined[index])] or None
        bounded = not np.isnan(self.low[index])
        if not reason and not bounded:
            reason = NO_INTERVAL if self.model_counts[index] < 3 else NO_SPREAD
        details: dict[str, Any] = {"level": self.mean.level, "method": JACKKNIFE, "over": "models", "reason": reason}
        if bounded:
            details |= {"low": float(self.low[index]), "high": float(self.high[index])}
        details |= {"models": int(self.model_counts[index]), "pairs": int(self.pair_counts[index])}
        return WordStability(word=word, value=None if self.undefined[index] else float(self.values[index]), **details)

    def to_frame(self) -> pd.DataFrame:
        """One row per word: stability, low, high, models, pairs, and why it is undefined."""
        import pandas as pd

        numbers = {"stability": self.values, "low": self.low, "high": self.high}
        counts = {"models": self.model_counts, "pairs": self.pair_counts}
        reasons = np.array(REASONS, dtype=object)[self.undefined]
        return pd.DataFrame({"word": self.words, **numbers, **counts, "undefined": reasons})

    def pairs_to_frame(self) -> pd.DataFrame:
        """One row per pair of models: first, second, mean, low, high (over words), words compared and shared, rank."""
        import pandas as pd

        rows = [{**pair.to_dict(), "low": pair.low, "high": pair.high} for pair in self.pairs]
        return pd.DataFrame(rows, columns=["first", "second", "mean", "low", "high", "compared", "shared", "rank"])

    def to_dict(self) -> JsonObject:
        """One JSON-ready object: the means; words are in `to_frame`."""
        return {
            "models": list(self.models),
            "words": len(self.words),
            "mean": self.mean.value,
            "interval": self.mean.interval(),
            "undefined": by_reason(REASONS, self.undefined),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "notices": list(self.notices),
        }

    def summary(self) -> Summary:
        """The mean, each pair of models, and the least stable words."""
        order = np.argsort(self.values, kind="stable")[: min(_SHOWN, np.count_nonzero(self.undefined == 0))]
        least = [self[self.words[index]] for index in order.tolist()]
        word_columns = ["word", Column("stability", "estimate", 3), Column("models", "count")]
        pair_columns = ["first", "second", Column("mean", "estimate", 3), Column("words", "count")]
        pairs = [(pair.first, pair.second, pair, pair.n) for pair in self.pairs]
        words = [(word.word, word, word.models) for word in least]
        drawn = [{"what": word.word, "stability": word.value, "low": word.low, "high": word.high} for word in least]
        remark = f"The {len(least)} least stable of {len(self.words):,} words, with intervals over models. 1: the same"
        axis = "mean cosine of two models' vectors after rotation"
        return Summary(
            title="Stability of words over replicates",
            headline=f"Stability of {counted(self.words, 'word')} over {counted(self.models, 'model')}: "
            f"mean {self.mean}.",
            tables=(
                Table.of("pairs", "Pairs of models", pair_columns, pairs, most=_SHOWN),
                Table.of("words", "Least stable words", word_columns, words),
            ),
            warnings=self.notices,
            charts=(chart_of_rows("words", "Least stable words", remark, axis, drawn, number="stability"),)
            if drawn
            else (),
        )


def stability(
    vectors: ModelsLike,
    *,
    words: Iterable[str] | None = None,
    center: bool = False,
    unit: bool = False,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Compare every model with every other after rotation: mean cosine of each word's vectors over all pairs.

    Args:
        vectors: a list of at least two, each an `Embedding` or anything `load` takes: replicates, usually.
        words: report these; all words of all models when None. Rotations always rest on all shared words.
        center: subtract from both models of a pair the mean of their shared words first (after `unit`).
        unit: scale vectors to length 1 before the rotation is sought, so that long vectors weigh no more.
        level: nominal coverage of the intervals.
        n_jobs: threads; all cores when None. The result does not depend on it.
        progress: called with (done, total) pairs of models.

    Raises:
        ParameterError: fewer than two models, other dimensions, or two models without a common word.
    """
    work = _PairComparisons(vectors, words, center=center, unit=unit, level=level, n_jobs=n_jobs)
    names = [model.name for model in work.models]
    sums = np.zeros((len(names), len(work.words)))
    counts = np.zeros((len(names), len(work.words)))
    means: list[PairMean] = []
    pairs = list(combinations(range(len(names)), 2))
    for (i, j), pair in zip(pairs, work, strict=True):
        sound = ~np.isnan(pair.cosines)
        for model in (i, j):
            sums[model, sound] += pair.cosines[sound]
            counts[model, sound] += 1
        means.append(pair.mean)
        if progress is not None:
            progress(len(means), len(pairs))
    total, count = sums.sum(axis=0) / 2, counts.sum(axis=0) / 2
    values = np.full(len(work.words), np.nan)
    np.divide(total, count, out=values, where=count > 0)
    margins = leave_one_out(total, count, sums, counts).margins(level)
    pooled = (total.sum(keepdims=True), count.sum(keepdims=True))
    margin = leave_one_out(*pooled, sums.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)).margins(level)
    mean = float(pooled[0][0] / pooled[1][0]) if pooled[1][0] else None
    dim = work.models[0].dim
    loose = [pair for pair in means if pair.shared <= dim]
    notice = (
        f"{len(loose)} pairs of models share no more words than they have dimensions ({dim}): a rotation then fits "
        f"almost anything, and words look more stable than they are ({loose[0].first} and {loose[0].second} first)"
        if loose
        else ""
    )
    models_with_word = (work.joint.rows[:, work.indices] >= 0).sum(axis=0)
    models_with_word[work.indices < 0] = 0
    few = "there are fewer than three models" if len(names) < 3 else NO_SPREAD
    return Stability(
        models=tuple(names),
        words=work.words,
        values=values,
        low=np.maximum(values - margins, -1),
        high=np.minimum(values + margins, 1),
        model_counts=np.count_nonzero(counts, axis=0),
        pair_counts=count.astype(np.intp),
        undefined=np.where(count > 0, 0, np.minimum(models_with_word, 2) + 1).astype(np.uint8),  # as in `REASONS`
        mean=jackknife_mean(mean, float(margin[0]), level, (-1.0, 1.0), n=len(names), reason=few),
        pairs=tuple(means),
        notices=(notice,) if notice else (),
    )


def stability_by_pair(
    vectors: ModelsLike,
    *,
    words: Iterable[str] | None = None,
    center: bool = False,
    unit: bool = False,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> Iterator[PairStability]:
    """Yield the stability of every word between two models, pair by pair: the columns of a words × pairs matrix.

    Arguments are those of `stability`. Nothing is kept between pairs, so any number of them can be gone through.
    """
    return iter(_PairComparisons(vectors, words, center=center, unit=unit, level=level, n_jobs=n_jobs))


class _PairComparisons:
    """Models and words to compare, with settings; lengths of all vectors where no center is subtracted."""

    def __init__(
        self, vectors: ModelsLike, words: Iterable[str] | None, *, center: bool, unit: bool, level: float,
        n_jobs: int | None,
    ) -> None:  # fmt: skip
        check_level(level)
        check_whole(1, n_jobs=1 if n_jobs is None else n_jobs)
        self.models = load_models(list(vectors) if isinstance(vectors, tuple) else vectors)
        if len(self.models) < 2:
            raise ParameterError("The 'vectors' parameter of stability must hold at least two models. Got one.")
        check_dimensions(self.models)
        self.joint = joint = JointVocabulary.of(self.models)
        self.words = joint.words if words is None else distinct_words(words, "words", "stability")
        self.indices = np.arange(len(self.words)) if words is None else joint.places(self.words)
        self.lengths = None if center else [all_lengths(model.vectors, rescale=True) for model in self.models]
        self._center, self._unit, self._level = center, unit, level
        self._n_jobs = n_jobs or os.cpu_count() or 1

    def __iter__(self) -> Iterator[PairStability]:
        """Yield each pair's stabilities; a few pairs are worked on at a time, each on one thread."""
        pairs = list(combinations(range(len(self.models)), 2))
        step = _PER_THREAD * self._n_jobs
        for start in range(0, len(pairs), step):
            with on_one_thread(), ThreadPoolExecutor(self._n_jobs) as threads:
                stabilities = list(threads.map(self.pair, pairs[start : start + step]))
            yield from stabilities

    def pair(self, pair: tuple[int, int]) -> PairStability:
        """Align two models on all words that both have, and compare the words asked for."""
        models, rows = [self.models[i] for i in pair], [self.joint.rows[i] for i in pair]
        shared = self.joint.shared(*pair)
        a, b, best = align_sides(
            models, [model_rows[shared] for model_rows in rows], unit=self._unit, center=self._center
        )
        lengths = None
        if self.lengths is not None:  # scaling changes no cosine: the vectors as they are will do
            lengths = self.lengths[pair[0]][a.rows], self.lengths[pair[1]][b.rows]
            a, b = replace(a, unit=False), replace(b, unit=False)
        index_in_pair = np.full(len(self.joint.words), -1)
        index_in_pair[shared] = np.arange(len(shared))
        indices = np.where(self.indices >= 0, index_in_pair[self.indices], -1)
        in_both = indices >= 0
        by_word = np.full(len(self.words), np.nan)
        by_word[in_both] = cosines(a, b, best.matrix, indices[in_both], lengths)
        mean = mean_estimate(by_word[~np.isnan(by_word)], level=self._level, spread="normal", bounds=(-1.0, 1.0))
        names = {"first": models[0].name, "second": models[1].name}
        return PairStability(by_word, PairMean.of_estimate(mean, **names, shared=len(shared), rank=best.rank))
