"""What moved that should not have: control words, similarity benchmarks, neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.embeddings import Embedding, load, similarity_benchmark
from biasgauge.embeddings.procrustes import ROWS
from biasgauge.geometry import row_cosines
from biasgauge.mitigation.effects.result import Row
from biasgauge.scores import neighbor_overlap
from biasgauge.stats.bootstrap import Resampled, Resampling, estimate_over_words
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.fisher import correlations_differ
from biasgauge.stats.means import mean_estimate

_ASKED = 2_000


def moved_rows(
    before: Embedding, after: Embedding, sets: Mapping[str, Sequence[str]], interval: Resampling
) -> list[Row]:
    """Mean cosine of the new with the old vectors of each set of words, and of all words."""
    rows = []
    for name, words in {**sets, "all": before.words}.items():
        places = before.lookup(words).rows
        blocks = [places[at : at + ROWS] for at in range(0, len(places), ROWS)]
        parts = [row_cosines(before.vectors[block], after.vectors[block]) for block in blocks]
        cosines = np.concatenate([np.empty(0), *parts])
        cosines = cosines[np.isfinite(cosines)]
        if not len(cosines):
            rows.append(Row(part="moved", name="cosine", of=name, reason="no word was found"))
            continue
        rows.append(Row(part="moved", name="cosine", of=name, after=_mean(cosines, interval), count=len(cosines)))
    return rows


def _mean(values: Floats, interval: Resampling) -> Estimate | None:
    """The usual interval for a few words, the normal one for many, where resampling would only cost time."""
    if len(values) <= _ASKED:
        drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
        return estimate_over_words(float(values.mean()), drawn, interval)
    return mean_estimate(values, level=interval.level, spread="normal", bounds=(-np.inf, 1.0))


def benchmark_rows(before: Embedding, after: Embedding, names: Sequence[Any], level: float) -> list[Row]:
    """Spearman correlation with human similarity before and after, on the pairs that both have."""
    from scipy.stats import spearmanr

    rows = []
    for name in names:
        old, new = (similarity_benchmark(model, name, level=level) for model in (before, after))
        first, second = old.spearman.value, new.spearman.value
        about: dict[str, Any] = {"part": "benchmark", "name": "spearman", "of": old.benchmark}
        if first is None or second is None or old.pairs != new.pairs:
            why = old.reason or new.reason or "some pairs have a direction on one side only"
            sides = [None if value is None else Estimate(value=value) for value in (first, second)]
            rows.append(Row(before=sides[0], after=sides[1], reason=why, **about))
            continue
        between = float(spearmanr(old.cosines, new.cosines).statistic)
        change = correlations_differ(second, first, between, len(old.pairs), level)
        about |= {"before": old.spearman, "after": new.spearman, "change": change}
        rows.append(Row(count=len(old.pairs), **about))
    return rows


def overlap_row(before: Embedding, after: Embedding, k: int, level: float) -> Row:
    """Share of the k nearest neighbors that are the same, over at most 2,000 words spread over the vocabulary."""
    step = -(-len(before) // _ASKED)
    sides = [load((model.words, model.vectors), name=name) for model, name in ((before, "before"), (after, "after"))]
    overlap = neighbor_overlap(*sides, k=k, words=before.words[::step], level=level)
    mean = overlap.mean
    return Row(
        part="neighbors", name=f"{k} nearest", of="all", after=mean, count=len(overlap.words), chance=overlap.chance,
        reason=None if mean.defined else mean.reason,
    )  # fmt: skip
