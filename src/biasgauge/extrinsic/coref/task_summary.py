"""Metrics and gaps of coreference as means over seeds, with intervals over documents (or sentences) and seeds.

Documents are drawn again with what all seeds found in them, and seeds beside them where there are several, as for the
tasks of text classification. With one seed intervals say nothing about other seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.extrinsic.coref.metrics import RATES, conll_rates
from biasgauge.extrinsic.coref.paired import LINKED, PAIRED, PERCENT, paired_values
from biasgauge.extrinsic.coref.resampling import SWAPPED, bootstrap_sums, interval_of, swapped_p
from biasgauge.extrinsic.coref.winobias import VERSIONS
from biasgauge.extrinsic.gaps_result import Gap
from biasgauge.extrinsic.tasks_result import PairedItems, SeedRun, TaskGap, TaskMetric, TaskSummary
from biasgauge.scores import Resampling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from biasgauge.extrinsic.coref.metrics import Floats
    from biasgauge.extrinsic.tasks_task import Sampling
    from biasgauge.scores import Interval

CONLL = "conll"
WINOBIAS = "winobias "
WEAK = 0.2
"""CoNLL F1, or share of links found, below which gaps say little; the best of the shared task of 2011 had an F1 of .58
(Pradhan et al. 2011)."""
NOTHING = "nothing was found, or there is nothing to find"


def summarise(
    test: Floats,
    pairs: Mapping[str, Floats],
    logs: Mapping[int, list[dict[str, Any]]],
    how: Sampling,
    sentences: str = "",
) -> TaskSummary:
    """Metrics of the test documents and of both versions of WinoBias, and gaps pro − anti.

    Args:
        test: seeds × documents × what each adds.
        pairs: for each part of WinoBias, seeds × pairs × (pro, anti) × what each adds.
        logs: training of each seed.
        how: level, resamples and seed of the intervals.
        sentences: checksum of the sentences of WinoBias, so that results on the same ones can be told.
    """
    work = _Work(how, len(logs))
    metrics = [
        TaskMetric(metric=rate, of=CONLL, group=None, n=test.shape[1], **found)
        for rate, found in zip(RATES, work.numbers(test, conll_rates), strict=True)
    ]
    gaps, by_seed = [], [[] for _ in logs]  # type: tuple[list[TaskGap], list[list[Gap]]]
    for part, sums in pairs.items():
        of, size = f"{WINOBIAS}{part}", sums.shape[1]
        for at, version in enumerate(VERSIONS):
            found = work.numbers(sums[:, :, at], _shares)
            metrics += [
                TaskMetric(metric=name, of=of, group=version, n=size, **one)
                for name, one in zip(PAIRED, found, strict=True)
            ]
        chances = [swapped_p(one, differences, work.resampling) for one in sums]
        alone = [work.alone().numbers(one[None], differences) for one in sums]
        for place, (name, one) in enumerate(zip(PAIRED, work.numbers(sums, differences), strict=True)):
            about: dict[str, Any] = {"metric": name, "of": of, "a": VERSIONS[0], "b": VERSIONS[1]}
            about |= {"n_a": size, "n_b": size}
            known = [
                None if rows[place]["value"] is None else float(p[place])
                for rows, p in zip(alone, chances, strict=True)
            ]
            for seed, (rows, p) in enumerate(zip(alone, known, strict=True)):
                mine = {key: rows[place][key] for key in ("value", "interval", "reason")}
                by_seed[seed].append(Gap(**about, **mine, p_value=p, p_method=None if p is None else SWAPPED))
            p = known[0] if len(logs) == 1 else None
            gaps.append(TaskGap(**about, **one, p_value=p, p_method=None if p is None else SWAPPED, p_holm=None))
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
    for one in metrics:
        if one.metric == LINKED and one.of is not None and one.value is not None:
            linked.setdefault(one.of, []).append(one.value)
    few = [
        f"{max(shares):.0%} ({part.removeprefix(WINOBIAS)})" for part, shares in linked.items() if max(shares) < WEAK
    ]
    if few:
        yield f"of the links of WinoBias at most {' and '.join(few)} are found: gaps near 0 say little of the vectors"


def _shares(sums: Floats) -> Floats:
    return paired_values(sums) / PERCENT


def differences(both: Floats) -> Floats:
    """Pro − anti, from sums of the shape (…, 2, METRICS, SUMS)."""
    values = _shares(both)
    found: Floats = values[..., 0, :] - values[..., 1, :]
    return found


def _about(log: list[dict[str, Any]]) -> dict[str, Any]:
    best = max(log, key=lambda entry: entry["dev_f1"])
    return {"epochs": len(log), "best_epoch": best["epoch"], "best_dev_f1": best["dev_f1"]}


class _Work:
    """Means over seeds, with intervals."""

    def __init__(self, how: Sampling, seeds: int) -> None:
        self.how, self.seeds = how, seeds
        self.resampling = Resampling(how.method, how.level, how.resamples, how.random_state)
        self.picked = np.random.default_rng([how.random_state, 1]).integers(0, seeds, (how.resamples, seeds))

    def alone(self) -> _Work:
        """The same for one seed."""
        return _Work(self.how, 1)

    def numbers(self, sums: Floats, values: Callable[[Floats], Floats]) -> list[dict[str, Any]]:
        """For each number of `values`: mean, interval, sd and values of seeds, or the reason why it is undefined.

        Args:
            sums: seeds × items × what each adds.
            values: from sums of the shape (…, what each adds) to numbers (last axis).
        """
        by_seed = values(sums.sum(axis=1))
        drawn = np.stack([values(bootstrap_sums(one, self.resampling)) for one in sums], axis=1)
        picked = np.take_along_axis(drawn, self.picked[:, :, None], axis=1).mean(axis=1)
        without = values(sums.sum(axis=1, keepdims=True) - sums).mean(axis=0)
        over = "items" if self.seeds == 1 else "items and seeds"
        found = []
        for at in range(by_seed.shape[1]):
            each = tuple(None if np.isnan(one) else float(one) for one in by_seed[:, at])
            lost = None in each
            value = None if lost else float(by_seed[:, at].mean())
            around: Interval | None = None
            if value is not None:
                around = interval_of(value, picked[:, at], without[:, at], self.resampling, over)
            sd = None if lost or self.seeds == 1 else float(by_seed[:, at].std(ddof=1))
            found.append(
                {"value": value, "interval": around, "sd": sd, "values": each, "reason": NOTHING if lost else None}
            )
        return found
