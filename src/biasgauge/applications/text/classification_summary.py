"""Metrics and gaps of a classifier, as means over seeds, with intervals over items and seeds.

Items are drawn again within each group with the predictions of all seeds, so that what is hard about an item for all
of them is not counted as several findings, and seeds are drawn again beside them (Owen 2007: a little wide rather than
narrow). With one seed only items are drawn, and intervals say nothing about other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from biasgauge.applications.group_gaps.cells import (
    Label,
    Rate,
    comparisons,
    rate_values,
    rates_of,
    sides,
    why_undefined,
)
from biasgauge.applications.group_gaps.measured import gaps
from biasgauge.applications.group_gaps.result import REST, Gap
from biasgauge.applications.tasks.result import SeedRun, TaskGap, TaskItems, TaskMetric, TaskSummary
from biasgauge.arrays import Floats, Integers
from biasgauge.stats.bootstrap import Resampling
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.over_seeds import mean_over_seeds, sd_over_seeds

NO_GROUPS = "the data names no groups of people; name words of groups (group_words) or a column of groups"


def summarize(
    labels: Sequence[str],
    predictions: Sequence[Sequence[str]],
    groups: Sequence[str | None],
    seeds: Sequence[int],
    about: Sequence[dict[str, Any]],
    *,
    classes: Sequence[str],
    positive: str,
    order: Sequence[str] | None,
    how: Resampling,
    as_published: bool = False,
) -> TaskSummary:
    """Metrics and gaps over seeds.

    Args:
        labels: what is true of each item.
        predictions: of each seed.
        groups: whom each item is about; None for nobody's.
        seeds: their numbers.
        about: how training went with each.
        classes: all of them.
        positive: the one that counts as positive.
        order: groups in the order in which they are subtracted, sorted by default; others are left out.
        how: level, resamples and seed of the intervals.
        as_published: count a class without a rate as 0 in weighted means, as scikit-learn does.
    """
    present = sorted({group for group in groups if group is not None})
    names = [name for name in (order if order is not None else present) if name in present]
    work = _Work(labels, predictions, groups, names, classes, positive, how, zeros=as_published)
    no_gaps = None
    by_seed: list[tuple[Gap, ...]] = [() for _ in seeds]
    warnings: tuple[str, ...] = ()
    if len(names) < 2:
        no_gaps = f"the only group is {names[0]!r}" if names else NO_GROUPS
    else:
        named = set(names)
        kept = [at for at, group in enumerate(groups) if group in named]
        results = [
            gaps(
                [labels[at] for at in kept],
                [one[at] for at in kept],
                [groups[at] for at in kept],
                positive=positive if _occurs(positive, labels, one, kept) else None,
                order=names,
                as_published=as_published,
                level=how.level,
                resamples=how.resamples,
                random_state=how.random_state,
            )
            for one in predictions
        ]
        by_seed = [result.gaps for result in results]
        warnings = results[0].warnings
    single = by_seed[0] if len(seeds) == 1 else ()
    alone: dict[tuple[Label, ...], Gap] = {(gap.metric, gap.of, gap.a, gap.b): gap for gap in single}
    runs = zip(seeds, about, by_seed, strict=True)
    return TaskSummary(
        metrics=tuple(work.metrics()),
        gaps=tuple(work.gaps(alone)) if no_gaps is None else (),
        seeds=tuple(SeedRun(seed, one, found) for seed, one, found in runs),
        counts={name: int(count) for name, count in zip(names, work.sizes[1:], strict=True)},
        warnings=warnings,
        no_gaps=no_gaps,
        items=TaskItems(tuple(labels), tuple(groups), tuple(map(tuple, predictions))),
    )


def _occurs(positive: str, labels: Sequence[str], predictions: Sequence[str], kept: Sequence[int]) -> bool:
    return any(positive in {labels[at], predictions[at]} for at in kept)


class _Work:
    """Integers by (seed, group, label, prediction), as they are and drawn again; group 0 is everyone."""

    def __init__(
        self,
        labels: Sequence[str],
        predictions: Sequence[Sequence[str]],
        groups: Sequence[str | None],
        names: Sequence[str],
        classes: Sequence[str],
        positive: str,
        how: Resampling,
        *,
        zeros: bool,
    ) -> None:
        self.names, self.classes, self.how, self.zeros = list(names), tuple(classes), how, zeros
        place = {name: at for at, name in enumerate(classes)}
        coded: Integers = np.array([[place[mark] for mark in row] for row in (labels, *predictions)], np.int64)
        owners = np.array([self.names.index(group) if group in self.names else -1 for group in groups], np.int64)
        members = [np.ones(coded.shape[1], bool), *(owners == at for at in range(len(self.names)))]
        self.sizes = [int(own.sum()) for own in members]
        self.seeds = len(predictions)
        random = np.random.default_rng([how.random_state, 0])
        both = [self._counted(coded[:, own], random) for own in members]
        self.cells = np.stack([counts for counts, _ in both], axis=-3)
        self.drawn = np.stack([drawn for _, drawn in both], axis=-3)
        self.picked = random.integers(0, self.seeds, (how.resamples, self.seeds))
        self.rates = rates_of(classes, [place[positive]])

    def _counted(self, coded: Integers, random: np.random.Generator) -> tuple[Integers, Integers]:
        """Counts of the items, and of items drawn again: (seeds, label, prediction) behind the resamples.

        Items with the same label and the same predictions of all seeds are alike, so a bootstrap sample is a
        multinomial draw over the few patterns that occur.
        """
        size = len(self.classes)
        patterns, counts = np.unique(coded, axis=1, return_counts=True)
        marks = np.zeros((patterns.shape[1], self.seeds, size * size), np.int64)
        for seed in range(self.seeds):
            marks[np.arange(patterns.shape[1]), seed, patterns[0] * size + patterns[seed + 1]] = 1
        flat = marks.reshape(len(marks), -1)
        drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=self.how.resamples)
        shape = (self.seeds, size, size)
        return (counts @ flat).reshape(shape), (drawn @ flat).reshape(len(drawn), *shape)

    def metrics(self) -> Iterator[TaskMetric]:
        for at, name in enumerate([None, *self.names]):
            for rate in self.rates:
                values = rate_values(rate, self.cells[:, at], zeros=self.zeros)
                drawn = rate_values(rate, self.drawn[:, :, at], zeros=self.zeros)
                who = "the test texts" if name is None else f"group {name!r}"
                reasons = [why_undefined(rate, cells, self.classes, who) for cells in self.cells[np.isnan(values), at]]
                mean, seeds = self._over(values, drawn, reasons)
                yield TaskMetric.of_estimate(
                    mean, metric=rate.metric, of=rate.of, group=name, n=self.sizes[at], **seeds
                )

    def gaps(self, alone: dict[tuple[Label, ...], Gap]) -> Iterator[TaskGap]:
        cells, drawn = self.cells[:, 1:], self.drawn[:, :, 1:]
        for rate in self.rates:
            for pair in comparisons(len(self.names)):
                both, both_drawn = sides(cells, pair), sides(drawn, pair)
                first, second = (rate_values(rate, one, zeros=self.zeros) for one in both)
                a, b = self.names[pair[0]], REST if pair[1] is None else self.names[pair[1]]
                drawn_gaps = np.subtract(*(rate_values(rate, one, zeros=self.zeros) for one in both_drawn))
                single = alone.get((rate.metric, rate.of, a, b))
                mean, seeds = self._over(first - second, drawn_gaps, self._reasons(rate, both, (a, b)))
                sizes = [int(side[0].sum()) for side in both]
                yield TaskGap.of_estimate(
                    mean,
                    metric=rate.metric,
                    of=rate.of,
                    a=a,
                    b=b,
                    n=sum(sizes),
                    n_a=sizes[0],
                    n_b=sizes[1],
                    p_value=None if single is None else single.p_value,
                    p_method=None if single is None else single.p_method,
                    p_holm=None if single is None else single.p_holm,
                    **seeds,
                )

    def _reasons(self, rate: Rate, both: tuple[Integers, Integers], names: tuple[str, str]) -> list[str]:
        return [
            why_undefined(rate, one, self.classes, REST if name == REST else f"group {name!r}")
            for cells, name in zip(both, names, strict=True)
            for one in cells[np.isnan(rate_values(rate, cells, zeros=self.zeros))]
        ]

    def _over(self, values: Floats, drawn: Floats, reasons: Sequence[str]) -> tuple[Estimate, dict[str, Any]]:
        """Mean over seeds, undefined where it is for any seed; then what each gives and how far they differ."""
        each = tuple(None if np.isnan(value) else float(value) for value in values)
        if None in each:
            some = "" if self.seeds == 1 else f" with {each.count(None)} of {self.seeds} seeds"
            return Estimate(value=None, reason=f"{reasons[0]}{some}"), {"values": each}
        mean = mean_over_seeds(values, drawn, self.picked, self.how)
        return mean, {"values": each, "sd": sd_over_seeds(values, self.how.level)}
