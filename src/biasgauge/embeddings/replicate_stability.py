"""`stability`: how much of a word's meaning survives training again.

For each pair of models, one is turned to the other by orthogonal Procrustes on all words that both have, raw; a word's
stability is the cosine of its two vectors after that, and its mean over all pairs. Source: Du, Fang & Nguyen,
"Assessing the Reliability of Word Embedding Gender Bias Measures", EMNLP 2021 ("embedding stability", ES). Turning the
second model to the first instead uses the transposed rotation and gives the same cosine, so pairs have no order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Floats
from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.joint_vocabulary import JointVocabulary, check_dimensions
from biasgauge.embeddings.loading import load_models
from biasgauge.embeddings.procrustes import Side, best_rotation, cosines, cross_product
from biasgauge.embeddings.stability_result import PairMean, PairStability, Stability
from biasgauge.errors import ParameterError
from biasgauge.geometry import all_lengths
from biasgauge.inputs import ModelsLike, distinct_words
from biasgauge.stats.estimate import Estimate, check_level
from biasgauge.stats.jackknife import JACKKNIFE, NO_SPREAD, leave_one_out
from biasgauge.stats.threads import on_one_thread

_PER_THREAD = 4


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
    """Compare every model with every other, and say of each word how far it keeps its place.

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
    check_level(level)
    work = _Comparison.of(vectors, words, center=center, unit=unit, level=level, n_jobs=n_jobs)
    names = [model.name for model in work.models]
    sums = np.zeros((len(names), len(work.words)))
    counts = np.zeros((len(names), len(work.words)))
    kept: list[PairMean] = []
    pairs = list(combinations(range(len(names)), 2))
    for (i, j), pair in zip(pairs, work.pairs(pairs), strict=True):
        sound = ~np.isnan(pair.cosines)
        for model in (i, j):
            sums[model, sound] += pair.cosines[sound]
            counts[model, sound] += 1
        kept.append(pair.mean)
        if progress is not None:
            progress(len(kept), len(pairs))
    total, count = sums.sum(axis=0) / 2, counts.sum(axis=0) / 2
    values = np.full(len(work.words), np.nan)
    np.divide(total, count, out=values, where=count > 0)
    margins = leave_one_out(total, count, sums, counts).margins(level)
    pooled = (total.sum(keepdims=True), count.sum(keepdims=True))
    margin = leave_one_out(*pooled, sums.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)).margins(level)
    mean = float(pooled[0][0] / pooled[1][0]) if pooled[1][0] else None
    return Stability(
        models=tuple(names),
        words=work.words,
        values=values,
        low=np.maximum(values - margins, -1),
        high=np.minimum(values + margins, 1),
        model_counts=np.count_nonzero(counts, axis=0),
        pair_counts=count.astype(np.intp),
        undefined=_reasons(work, count),
        mean=_overall(mean, float(margin[0]), level, models=len(names)),
        pairs=tuple(kept),
        notices=tuple(_notices(kept, work.models[0].dim)),
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
    check_level(level)
    work = _Comparison.of(vectors, words, center=center, unit=unit, level=level, n_jobs=n_jobs)
    return work.pairs(list(combinations(range(len(work.models)), 2)))


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What is to be compared, and how; the lengths of all vectors where no center will be subtracted from them."""

    models: Sequence[Embedding]
    joint: JointVocabulary
    words: tuple[str, ...]
    places: NDArray[np.intp]
    center: bool
    unit: bool
    level: float
    n_jobs: int
    lengths: Sequence[NDArray[np.float64]] | None

    @classmethod
    def of(
        cls,
        vectors: ModelsLike,
        words: Iterable[str] | None,
        *,
        center: bool,
        unit: bool,
        level: float,
        n_jobs: int | None,
    ) -> _Comparison:
        models = load_models(list(vectors) if isinstance(vectors, tuple) else vectors)
        if len(models) < 2:
            raise ParameterError("The 'vectors' parameter of stability must hold at least two models. Got one.")
        if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs < 1):
            raise ParameterError(
                f"The 'n_jobs' parameter of stability must be a whole number of at least 1. Got {n_jobs!r}."
            )
        check_dimensions(models)
        joint = JointVocabulary.of(models)
        asked = joint.words if words is None else distinct_words(words, "words", "stability")
        places = np.arange(len(asked)) if words is None else joint.places(asked)
        lengths = None if center else [all_lengths(model.vectors, rescale=True) for model in models]
        return cls(models, joint, asked, places, center, unit, level, n_jobs or os.cpu_count() or 1, lengths)

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> Iterator[PairStability]:
        """Yield each pair's stabilities; a few pairs are worked on at a time, each on one thread."""
        step = _PER_THREAD * self.n_jobs
        for start in range(0, len(pairs), step):
            with on_one_thread(), ThreadPoolExecutor(self.n_jobs) as threads:
                found = list(threads.map(self.pair, pairs[start : start + step]))
            yield from found

    def pair(self, pair: tuple[int, int]) -> PairStability:
        """Align two models on all words that both have, and compare the words asked for."""
        (one, other), (rows, other_rows) = [self.models[i] for i in pair], [self.joint.rows[i] for i in pair]
        shared = self.joint.shared(*pair)
        a, b = Side(one.vectors, rows[shared], self.unit), Side(other.vectors, other_rows[shared], self.unit)
        if self.center:
            a, b = a.centered(), b.centered()
        found = best_rotation(cross_product(a, b))
        if not found.rank:
            raise ParameterError(
                f"There is nothing to align {one.name!r} and {other.name!r} on: they share {len(shared):,} words, none "
                "of them with a direction in both."
            )
        asked = np.flatnonzero((self.places >= 0) & (rows[self.places] >= 0) & (other_rows[self.places] >= 0))
        own, others = rows[self.places[asked]], other_rows[self.places[asked]]
        if self.lengths is None:
            known = None
            a, b = replace(a, rows=own), replace(b, rows=others)
        else:  # scaling changes no cosine: the vectors as they are will do
            known = self.lengths[pair[0]][own], self.lengths[pair[1]][others]
            a, b = Side(one.vectors, own), Side(other.vectors, others)
        found_cosines = np.full(len(self.words), np.nan)
        found_cosines[asked] = cosines(a, b, found.matrix, known)
        return PairStability(
            found_cosines,
            _mean_of(one.name, other.name, found_cosines, self.level, shared=len(shared), rank=found.rank),
        )


def _mean_of(first: str, second: str, found: Floats, level: float, *, shared: int, rank: int) -> PairMean:
    """Mean over the words that have a cosine, with its interval over words by the normal approximation."""
    from scipy.special import ndtri

    sound = found[~np.isnan(found)]
    mean = float(sound.mean()) if len(sound) else None
    low = high = reason = None
    if mean is None or len(sound) < 2:
        reason = "fewer than two words have a value"
    else:
        margin = float(ndtri((1 + level) / 2) * sound.std(ddof=1) / len(sound) ** 0.5)
        low, high = max(mean - margin, -1.0), min(mean + margin, 1.0)
    return PairMean(
        first=first, second=second, shared=shared, rank=rank, n=len(sound),
        value=mean, low=low, high=high, level=level, method="normal", over="words", reason=reason,
    )  # fmt: skip


def _overall(mean: float | None, margin: float, level: float, models: int) -> Estimate:
    low = high = reason = None
    if mean is None:
        reason = "no word has a value"
    elif np.isnan(margin):
        reason = "there are fewer than three models" if models < 3 else NO_SPREAD
    else:
        low, high = max(mean - margin, -1.0), min(mean + margin, 1.0)
    return Estimate(
        value=mean, low=low, high=high, level=level, method=JACKKNIFE, n=models, over="models", reason=reason
    )


def _reasons(work: _Comparison, count: NDArray[np.float64]) -> NDArray[np.uint8]:
    held = (work.joint.rows[:, work.places] >= 0).sum(axis=0)
    held[work.places < 0] = 0
    reasons = np.where(held == 0, 1, np.where(held == 1, 2, 3)).astype(np.uint8)
    reasons[count > 0] = 0
    return reasons


def _notices(pairs: Sequence[PairMean], dim: int) -> Iterator[str]:
    few = [pair for pair in pairs if pair.shared <= dim]
    if few:
        yield (
            f"{len(few)} pairs of models share no more words than they have dimensions ({dim}): a rotation then fits "
            f"almost anything, and words look more stable than they are ({few[0].first} and {few[0].second} first)"
        )
