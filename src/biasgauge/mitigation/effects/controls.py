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
        cosines = np.concatenate(
            [np.empty(0)]
            + [
                row_cosines(*(model.vectors[places[at : at + ROWS]] for model in (before, after)))
                for at in range(0, len(places), ROWS)
            ]
        )
        cosines = cosines[np.isfinite(cosines)]
        if not len(cosines):
            rows.append(Row(part="moved", name="cosine", of=name, reason="no word was found"))
            continue
        mean = _mean(cosines, interval)
        rows.append(Row(part="moved", name="cosine", of=name, after=mean, count=len(cosines)))
    return rows


def _mean(values: Floats, interval: Resampling) -> Estimate | None:
    """The usual interval for a few words, the normal one for many, where resampling would only cost time."""
    if len(values) <= _ASKED:
        drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
        return estimate_over_words(float(values.mean()), drawn, interval)
    return mean_estimate(values, level=interval.level, spread="normal", bounds=(-np.inf, 1.0))


def benchmark_rows(before: Embedding, after: Embedding, names: Sequence[Any], level: float) -> list[Row]:
    """Spearman correlation with human similarity before and after, on the pairs that both have."""
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
        change = correlations_differ(second, first, _ranked(old.cosines, new.cosines), len(old.pairs), level)
        about |= {"before": old.spearman, "after": new.spearman, "change": change}
        rows.append(Row(count=len(old.pairs), **about))
    return rows


def _ranked(one: Floats, other: Floats) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def overlap_row(before: Embedding, after: Embedding, k: int, level: float) -> Row:
    """Share of the k nearest neighbors that are the same, over at most 2,000 words spread over the vocabulary."""
    step = -(-len(before) // _ASKED)
    found = neighbor_overlap(
        load((before.words, before.vectors), name="before"),
        load((after.words, after.vectors), name="after"),
        k=k,
        words=before.words[::step],
        level=level,
    )
    return Row(
        part="neighbors",
        name=f"{k} nearest",
        of="all",
        after=found.mean,
        count=len(found.words),
        chance=found.chance,
        reason=None if found.mean.defined else found.mean.reason,
    )
