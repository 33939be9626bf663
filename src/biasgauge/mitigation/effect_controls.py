"""What moved that should not have: control words, similarity benchmarks, neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.association import Interval
from biasgauge.association.intervals import Resampling, interval_over_words
from biasgauge.association.set_test import Resampled
from biasgauge.embeddings import load, similarity_benchmark
from biasgauge.embeddings.procrustes import ROWS, unit
from biasgauge.mitigation.correlations import correlations_differ
from biasgauge.mitigation.effect_result import Row
from biasgauge.scores import neighbour_overlap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding, Similarity

_ASKED = 2_000


def moved_rows(
    before: Embedding, after: Embedding, sets: Mapping[str, Sequence[str]], interval: Resampling
) -> list[Row]:
    """Mean cosine of the new with the old vectors of each set of words, and of all words."""
    rows = []
    for name, words in {**sets, "all": before.words}.items():
        places = before.lookup(words).rows
        cosines = np.concatenate(
            [_cosines(before, after, places[at : at + ROWS]) for at in range(0, len(places), ROWS)] or [np.empty(0)]
        )
        cosines = cosines[np.isfinite(cosines)]
        if not len(cosines):
            rows.append(Row("moved", "cosine", name, None, None, None, reason="no word was found"))
            continue
        mean = float(cosines.mean())
        spread = _interval_of_mean(mean, cosines, interval)
        rows.append(Row("moved", "cosine", name, None, mean, None, after_interval=spread, count=len(cosines)))
    return rows


def _cosines(before: Embedding, after: Embedding, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Cosine of each word's two vectors; NaN where one is zero. Both models hold the same words in the same order."""
    old, new = (model.vectors[rows].astype(np.float64) for model in (before, after))
    found = np.einsum("ij,ij->i", unit(old), unit(new))
    return np.where(old.any(axis=1) & new.any(axis=1), found, np.nan)


def _interval_of_mean(mean: float, values: NDArray[np.float64], interval: Resampling) -> Interval | None:
    """The usual interval for a few words, the normal one for many, where resampling would only cost time."""
    if len(values) <= _ASKED:
        drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
        return interval_over_words(mean, drawn, interval)
    from scipy.special import ndtri  # noqa: PLC0415 - as the benchmarks do

    margin = float(ndtri((1 + interval.level) / 2)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return Interval(mean - margin, min(mean + margin, 1.0), interval.level, "normal", 0)


def benchmark_rows(before: Embedding, after: Embedding, names: Sequence[Any], level: float) -> list[Row]:
    """Spearman correlation with human similarity before and after, on the pairs that both have."""
    rows = []
    for name in names:
        old, new = (similarity_benchmark(model, name, level=level) for model in (before, after))
        first, second = old.spearman, new.spearman
        if first is None or second is None or old.pairs != new.pairs:
            why = old.reason or new.reason or "some pairs have a direction on one side only"
            rows.append(Row("benchmark", "spearman", old.benchmark, first, second, None, reason=why))
            continue
        rows.append(
            Row(
                "benchmark",
                "spearman",
                old.benchmark,
                first,
                second,
                second - first,
                _plain(old),
                _plain(new),
                correlations_differ(second, first, _ranked(old.cosines, new.cosines), len(old.pairs), level),
                count=len(old.pairs),
            )
        )
    return rows


def _plain(one: Similarity) -> Interval:
    ends = one.spearman_interval
    return Interval(ends.low, ends.high, ends.level, ends.method, 0, ends.generalises_over, reason=ends.reason)


def _ranked(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    from scipy.stats import spearmanr  # noqa: PLC0415 - half a second to import

    return float(spearmanr(one, other).statistic)


def overlap_row(before: Embedding, after: Embedding, k: int, level: float) -> Row:
    """Share of the k nearest neighbours that are the same, over at most 2,000 words spread over the vocabulary."""
    step = -(-len(before) // _ASKED)
    found = neighbour_overlap(
        load((before.words, before.vectors), name="before"),
        load((after.words, after.vectors), name="after"),
        k=k,
        words=before.words[::step],
        level=level,
    )
    why = None if found.mean is not None else found.interval.reason
    return Row(
        "neighbours",
        f"{k} nearest",
        "all",
        None,
        found.mean,
        None,
        after_interval=found.interval,
        count=len(found.words),
        chance=found.chance,
        reason=why,
    )
