"""Metrics and gaps of coreference as means over seeds, with intervals over documents (or sentences) and seeds.

Documents are drawn again with what all seeds found in them, and seeds beside them where there are several, as for the
tasks of text classification. With one seed intervals say nothing about other seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from biasgauge.applications.coref.metrics import RATES, conll_rates
from biasgauge.applications.coref.paired import LINKED, PAIRED, PERCENT, paired_values
from biasgauge.applications.coref.winobias_pairs import VERSIONS
from biasgauge.applications.group_gaps.result import Gap, GapChange
from biasgauge.applications.tasks.result import PairedItems, SeedRun, TaskGap, TaskMetric, TaskSummary, over_seeds
from biasgauge.core import Estimate, Floats, JsonObject
from biasgauge.results import share_text
from biasgauge.stats import SWAPPED, Resampling, bootstrap_sums, estimates_of_sums, swapped_sums_p

CONLL = "conll"
WINOBIAS = "winobias "
WEAK = 0.2
"""CoNLL F1, or share of links found, below which gaps say little; the best of the shared task of 2011 had an F1 of .58
(Pradhan et al. 2011)."""
NOTHING = "nothing was found, or there is nothing to find"
SWAPPED_EMBEDDINGS = "monte-carlo, the two embeddings of each pair of sentences swapped"


def summarize(
    test: Floats,
    pairs: Mapping[str, Floats],
    logs: Mapping[int, list[JsonObject]],
    how: Resampling,
    sentences: str = "",
) -> TaskSummary:
    """Metrics of the test documents and of both versions of WinoBias, and gaps pro − anti.

    `test` is seeds × documents × what each adds, `pairs` for each part of WinoBias seeds × pairs × (pro, anti) × what
    each adds. `sentences` is the checksum of WinoBias's, so that results on the same ones can be told.
    """
    work = _Work(how, len(logs))
    metrics = [
        TaskMetric.of_estimate(mean, metric=rate, of=CONLL, group=None, n=test.shape[1], **seeds)
        for rate, (mean, seeds) in zip(RATES, work.numbers(test, conll_rates), strict=True)
    ]
    gaps, by_seed = [], [[] for _ in logs]  # type: tuple[list[TaskGap], list[list[Gap]]]
    for part, sums in pairs.items():
        of, size = f"{WINOBIAS}{part}", sums.shape[1]
        for at, version in enumerate(VERSIONS):
            numbers = zip(PAIRED, work.numbers(sums[:, :, at], _shares), strict=True)
            metrics += [
                TaskMetric.of_estimate(mean, metric=name, of=of, group=version, n=size, **seeds)
                for name, (mean, seeds) in numbers
            ]
        chances = [swapped_sums_p(own, differences, how) for own in sums]
        alone = [_Work(how, 1).numbers(own[None], differences) for own in sums]
        for place, (name, (mean, seeds)) in enumerate(zip(PAIRED, work.numbers(sums, differences), strict=True)):
            about: dict[str, Any] = {"metric": name, "of": of, "a": VERSIONS[0], "b": VERSIONS[1]}
            about |= {"n": size, "n_a": size, "n_b": size}
            for seed, (rows, own_chances) in enumerate(zip(alone, chances, strict=True)):
                own = rows[place][0]
                tested = {"p_value": float(own_chances[place]), "p_method": SWAPPED} if own.defined else {}
                by_seed[seed].append(Gap.of_estimate(own, **about, **tested))
            gaps.append(TaskGap.of_estimate(mean, **about, **seeds, **(tested if len(logs) == 1 else {})))
    runs = zip(logs.items(), by_seed, strict=True)
    return TaskSummary(
        metrics=tuple(metrics),
        gaps=tuple(gaps),
        seeds=tuple(SeedRun(seed, _about(log), tuple(own)) for (seed, log), own in runs),
        counts={f"{WINOBIAS}{part}": sums.shape[1] for part, sums in pairs.items()},
        warnings=tuple(_too_weak(metrics)),
        items=PairedItems(dict(pairs), sentences),
    )


def _too_weak(metrics: Sequence[TaskMetric]) -> Iterator[str]:
    """Notes where the models resolve next to nothing, so that gaps near 0 are no good news."""
    f1 = metrics[RATES.index("f1")].value
    if f1 is not None and f1 < WEAK:
        yield (
            f"CoNLL F1 is {f1:.2f}: models that resolve next to nothing show no gap either, whatever the vectors; "
            "train longer or on more documents before reading the gaps"
        )
    linked: dict[str, list[float]] = {}
    for metric in metrics:
        if metric.metric == LINKED and metric.of is not None and metric.value is not None:
            linked.setdefault(metric.of, []).append(metric.value)
    weak = {part.removeprefix(WINOBIAS): max(shares) for part, shares in linked.items() if max(shares) < WEAK}
    if weak:
        few = [f"{share_text(share)} ({part})" for part, share in weak.items()]
        yield f"of the links of WinoBias at most {' and '.join(few)} are found: gaps near 0 say little of the vectors"


def _shares(sums: Floats) -> Floats:
    return paired_values(sums) / PERCENT


def differences(both: Floats) -> Floats:
    """Pro − anti, from sums of the shape (…, 2, METRICS, SUMS)."""
    values = _shares(both)
    gaps: Floats = values[..., 0, :] - values[..., 1, :]
    return gaps


def _about(log: list[JsonObject]) -> JsonObject:
    best = max(log, key=lambda entry: entry["dev_f1"])
    return {"epochs": len(log), "best_epoch": best["epoch"], "best_dev_f1": best["dev_f1"]}


class _Work:
    """Means over seeds, with intervals."""

    def __init__(self, how: Resampling, seeds: int) -> None:
        self.how, self.seeds = how, seeds
        self.picked = np.random.default_rng([how.random_state, 1]).integers(0, seeds, (how.resamples, seeds))

    def numbers(self, sums: Floats, values: Callable[[Floats], Floats]) -> list[tuple[Estimate, dict[str, Any]]]:
        """For each number of `values` its mean over seeds, then the values of seeds and how far they differ.

        `sums` is seeds × items × what each adds; `values` makes numbers (last axis) of (…, what each adds).
        """
        by_seed = values(sums.sum(axis=1))
        drawn = np.stack([values(bootstrap_sums(own, self.how)) for own in sums], axis=1)
        without = values(sums.sum(axis=1, keepdims=True) - sums).mean(axis=0)
        columns = zip(by_seed.T, np.moveaxis(drawn, -1, 0), without.T, strict=True)
        return [
            over_seeds(own, own_drawn, self.picked, self.how, NOTHING, partial(list, [own_without]))
            for own, own_drawn, own_without in columns
        ]


def compare_pairs(first: Floats, second: Floats, of: str, how: Resampling) -> list[GapChange]:
    """How each gap pro − anti differs: second − first.

    A pair of sentences is drawn again with what both embeddings made of it, so that what is hard about it for both
    cancels; for p it is left to chance which embedding made what of it. `first` and `second` are what each pair adds:
    pairs × (pro, anti) × METRICS × SUMS.
    """

    def changes(sums: Floats) -> Floats:
        return differences(sums[..., 1, :, :, :]) - differences(sums[..., 0, :, :, :])

    both = np.stack([first, second], axis=1)
    gaps = differences(both.sum(axis=0))
    reasons = [f"{NOTHING} by the {'first' if np.isnan(gap) else 'second'} embedding" for gap in gaps[0]]
    estimates = estimates_of_sums(both, changes, how, "pairs of sentences", reasons)
    chances = swapped_sums_p(both, changes, how)
    rows = []
    for metric, estimate, pair, chance in zip(PAIRED, estimates, gaps.T, chances, strict=True):
        before, after = (None if np.isnan(gap) else float(gap) for gap in pair)
        about: dict[str, Any] = {"metric": metric, "of": of, "a": VERSIONS[0], "b": VERSIONS[1]}
        about |= {"first": before, "second": after, "n": len(both)}
        about |= {"p_value": float(chance), "p_method": SWAPPED_EMBEDDINGS} if estimate.defined else {}
        rows.append(GapChange.of_estimate(estimate, **about))
    return rows
