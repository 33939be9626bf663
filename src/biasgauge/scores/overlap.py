"""`neighbor_overlap`: how many of a word's nearest neighbors two models agree on.

Source: Wendlandt, Kummerfeld & Mihalcea, NAACL 2018; Antoniak & Mimno, TACL 2018. Unlike `stability` it needs no
alignment, so models may differ in their dimensions, and it sees nothing beyond the neighborhood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.core import (
    INTERVAL,
    Codes,
    Estimate,
    Floats,
    JsonObject,
    Places,
    Singles,
    VectorsLike,
    check_level,
    check_whole,
    distinct_words,
    unit_singles,
)
from biasgauge.results import Result, counted, number_text
from biasgauge.scores.engine import LEAST_FOR_ALL_PAIRS, MOST, run_phases
from biasgauge.scores.neighbors import AllPairs, block_rows, nearest
from biasgauge.stats import jackknife_mean, leave_one_out, mean_estimate
from biasgauge.vectors import JointVocabulary, by_reason, load_models

if TYPE_CHECKING:
    import pandas as pd

REASONS = ("", "not in every model", "its vector is zero in a model", "fewer than k other words are in every model")
"""Reasons why a word has no overlap; `NeighborOverlap.undefined` holds the index in this list, 0 where it has one."""


@dataclass(frozen=True, eq=False, repr=False)
class NeighborOverlap(Result):
    """Share of a word's k nearest neighbors that two models have in common, mean over all pairs of models.

    1: the same neighbors in every model; 0: none in common; `chance` is what unrelated models would give. Neighbors
    are sought among the words that every model has, by cosine, exactly; the word itself is none.

    Attributes:
        models: names.
        k: how many neighbors.
        words: as asked for; all words that every model has, by default.
        values: overlap of each word, in [0, 1]; NaN exactly where `undefined` is not 0.
        low, high: ends of its interval over models (jackknife over models, Student's t, cut at 0 and 1); NaN for
            fewer than three models, and where leaving out any of them gives the same value.
        undefined: places in `REASONS`.
        pool: how many words may be neighbors.
        mean: over words; its interval is over models where there are three or more, else over words.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "words": int,
        "mean": float | None,
        "interval": INTERVAL,
        "undefined": Mapping[str, int],
    }

    models: tuple[str, ...]
    k: int
    words: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    undefined: Codes
    pool: int
    mean: Estimate

    @property
    def chance(self) -> float | None:
        """Expected overlap of unrelated models, k / (pool − 1); None where there are no k other words."""
        return self.k / (self.pool - 1) if self.pool > self.k else None

    def to_frame(self) -> pd.DataFrame:
        """One row per word: overlap, low, high, and why it is undefined."""
        import pandas as pd

        reasons = np.array(REASONS, dtype=object)[self.undefined]
        columns = {"word": self.words, "overlap": self.values, "low": self.low, "high": self.high}
        return pd.DataFrame({**columns, "undefined": reasons})

    def to_dict(self) -> JsonObject:
        """One JSON-ready object: the mean; words are in `to_frame`."""
        sizes = {"models": list(self.models), "k": self.k, "words": len(self.words), "pool": self.pool}
        mean = {"mean": self.mean.value, "interval": self.mean.interval()}
        return {**sizes, "chance": self.chance, **mean, "undefined": by_reason(REASONS, self.undefined)}

    def _title(self) -> str:
        return f"Overlap of the {self.k} nearest neighbors"

    def _headline(self) -> str:
        counts = f"{counted(self.words, 'word')} over {counted(self.models, 'model')}"
        return f"Overlap of {counts}, k = {self.k}: mean {self.mean}"

    def _sentences(self) -> Sequence[str]:
        return [f"Unrelated models would share {number_text(self.chance, 3)} of the neighbors."] if self.chance else []


def neighbor_overlap(
    a: VectorsLike,
    b: VectorsLike,
    *more: VectorsLike,
    k: int = 10,
    words: Iterable[str] | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> NeighborOverlap:
    """Compare the nearest neighbors of words between models.

    Args:
        a: an `Embedding` or anything `load` takes.
        b: the same.
        more: further models; the result is the mean over all pairs of them.
        k: how many neighbors.
        words: report these; all words that every model has when None. Any of those can be a neighbor.
        level: nominal coverage of the intervals.
        n_jobs: threads; all cores when None. The result does not depend on it.

    Raises:
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    check_whole(1, k=k, n_jobs=1 if n_jobs is None else n_jobs)
    models = load_models([a, b, *more])
    joint = JointVocabulary.of(models)
    shared = joint.shared()
    every = (joint.words[index] for index in shared.tolist())
    word_list = tuple(every) if words is None else distinct_words(words, "words", "neighbor_overlap")
    directed = [model.directed(rows[shared]) for model, rows in zip(models, joint.rows, strict=True)]
    pool = shared[np.logical_and.reduce(directed)]
    indices = joint.places(word_list)
    in_pool, is_shared = np.full(len(joint.words) + 1, -1, np.intp), np.zeros(len(joint.words) + 1, bool)
    in_pool[pool], is_shared[shared] = np.arange(len(pool)), True  # the last index, −1, stays that of lost words
    pool_indices = in_pool[indices]
    undefined = np.where(is_shared[indices], np.where(pool_indices >= 0, 0, 2), 1).astype(np.uint8)
    if len(pool) <= k:
        undefined[undefined == 0] = 3
    defined = undefined == 0
    sums, pairs = np.zeros((len(models), len(word_list))), len(models) * (len(models) - 1) // 2
    if defined.any():
        neighbors = [
            _neighbors(unit_singles(model.vectors, rows[pool]), pool_indices[defined], k, n_jobs)
            for model, rows in zip(models, joint.rows, strict=True)
        ]
        for i, j in combinations(range(len(models)), 2):
            # No neighbor occurs twice in a row of either: equal numbers beside each other are those in common.
            both = np.sort(np.concatenate([neighbors[i], neighbors[j]], axis=1), axis=1)
            shares = np.count_nonzero(both[:, 1:] == both[:, :-1], axis=1) / k
            sums[i, defined] += shares
            sums[j, defined] += shares
    counts = np.tile(np.where(defined, len(models) - 1.0, 0.0), (len(models), 1))
    values = np.where(defined, sums.sum(axis=0) / 2 / pairs, np.nan)
    margins = leave_one_out(sums.sum(axis=0) / 2, defined * float(pairs), sums, counts).margins(level)
    return NeighborOverlap(
        models=tuple(model.name for model in models),
        k=k,
        words=word_list,
        values=values,
        low=np.maximum(values - margins, 0),
        high=np.minimum(values + margins, 1),
        undefined=undefined,
        pool=len(pool),
        mean=_mean(values[defined], sums[:, defined], pairs, level),
    )


def _mean(values: Floats, sums: Floats, pairs: int, level: float) -> Estimate:
    """Mean over words; its interval is over models where there are enough of them, else over words."""
    if pairs == 1:
        return mean_estimate(values, level=level, spread="normal", bounds=(0.0, 1.0))
    if not len(values):
        return jackknife_mean(None, np.nan, level, (0.0, 1.0), n=0)
    per_model = sums.mean(axis=1, keepdims=True)
    counts = np.full(per_model.shape, len(sums) - 1.0)
    left_out = leave_one_out(per_model.sum(axis=0) / 2, np.array([float(pairs)]), per_model, counts)
    return jackknife_mean(float(values.mean()), float(left_out.margins(level)[0]), level, (0.0, 1.0), n=len(values))


def _neighbors(pool: Singles, pool_indices: Places, k: int, n_jobs: int | None) -> Places:
    """Indices in the pool of the k nearest of the words at `pool_indices`."""
    everything = len(pool) >= LEAST_FOR_ALL_PAIRS and len(pool_indices) > MOST * len(pool)
    neighbors = np.empty((len(pool) if everything else len(pool_indices), k), np.intp)
    phases: list[Iterator[Callable[[], None]]] = []
    step = block_rows(len(pool))
    if everything:
        search = AllPairs(pool, k, exclude_self=True)
        phases += [search.first_jobs(), search.second_jobs()]
        step = search.tile
    chunks = [slice(start, min(start + step, len(neighbors))) for start in range(0, len(neighbors), step)]

    def store(chunk: slice) -> None:
        rows = pool_indices[chunk]
        neighbors[chunk] = search.neighbors(chunk) if everything else nearest(pool[rows], pool, k, rows)

    run_phases([*phases, (partial(store, chunk) for chunk in chunks)], n_jobs)
    return neighbors[pool_indices] if everything else neighbors
