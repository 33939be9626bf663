"""Metrics and gaps of a classifier, as means over seeds, with intervals over items and seeds.

Items are drawn again within each group with the predictions of all seeds, so that what is hard about an item for all
of them is not counted as several findings, and seeds are drawn again beside them (Owen 2007: a little wide rather than
narrow). With one seed only items are drawn, and intervals say nothing about other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from biasgauge.applications.group_gaps.cells import comparisons, rate_values, rates_of, sides, why_undefined
from biasgauge.applications.group_gaps.measured import gaps
from biasgauge.applications.group_gaps.result import REST, Gap, Label
from biasgauge.applications.tasks.result import SeedRun, TaskGap, TaskItems, TaskMetric, TaskSummary, over_seeds
from biasgauge.core import Floats, Integers, JsonObject
from biasgauge.stats import Resampling

NO_GROUPS = "the data names no groups of people; name words of groups (group_words) or a column of groups"


def summarize(
    labels: Sequence[str],
    predictions: Sequence[Sequence[str]],
    groups: Sequence[str | None],
    seeds: Sequence[int],
    about: Sequence[JsonObject],
    *,
    classes: Sequence[str],
    positive: str,
    order: Sequence[str] | None,
    how: Resampling,
    as_published: bool = False,
) -> TaskSummary:
    """Metrics and gaps over seeds, from what is true of each item, whom it is about, and the predictions of each seed.

    `about` says how training went with each seed. Groups are subtracted in `order`, sorted by default; others are left
    out. `as_published` counts a class without a rate as 0 in weighted means, as scikit-learn does.
    """
    present = sorted({group for group in groups if group is not None})
    names = [name for name in (order if order is not None else present) if name in present]
    work = _Work(labels, predictions, groups, names, classes, positive, how, zeros=as_published)
    no_gaps = None
    by_seed: list[tuple[Gap, ...]] = []
    warnings: tuple[str, ...] = ()
    if len(names) < 2:
        no_gaps = f"the only group is {names[0]!r}" if names else NO_GROUPS
        by_seed = [() for _ in seeds]
    else:
        kept = [at for at, group in enumerate(groups) if group in names]
        true, own = [labels[at] for at in kept], [groups[at] for at in kept]
        asked: dict[str, Any] = {"level": how.level, "resamples": how.resamples, "random_state": how.random_state}
        for marks in predictions:
            predicted = [marks[at] for at in kept]
            of = positive if positive in {*true, *predicted} else None
            result = gaps(true, predicted, own, positive=of, order=names, as_published=as_published, **asked)
            by_seed.append(result.gaps)
            warnings = warnings or result.warnings
    single = by_seed[0] if len(seeds) == 1 else ()
    alone: dict[tuple[Label, ...], Gap] = {(gap.metric, gap.of, gap.a, gap.b): gap for gap in single}
    runs = zip(seeds, about, by_seed, strict=True)
    return TaskSummary(
        metrics=tuple(work.metrics()),
        gaps=tuple(work.gaps(alone)) if no_gaps is None else (),
        seeds=tuple(SeedRun(seed, training, own_gaps) for seed, training, own_gaps in runs),
        counts={name: int(count) for name, count in zip(names, work.sizes[1:], strict=True)},
        warnings=warnings,
        no_gaps=no_gaps,
        items=TaskItems(tuple(labels), tuple(groups), tuple(map(tuple, predictions))),
    )


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
                mean, seeds = over_seeds(values, drawn, self.picked, self.how, self._reason(values, reasons))
                about: dict[str, Any] = {"metric": rate.metric, "of": rate.of, "group": name, "n": self.sizes[at]}
                yield TaskMetric.of_estimate(mean, **about, **seeds)

    def gaps(self, alone: dict[tuple[Label, ...], Gap]) -> Iterator[TaskGap]:
        cells, drawn = self.cells[:, 1:], self.drawn[:, :, 1:]
        for rate in self.rates:
            for pair in comparisons(len(self.names)):
                both = sides(cells, pair)
                each = [rate_values(rate, side, zeros=self.zeros) for side in both]
                values = each[0] - each[1]
                drawn_gaps = np.subtract(*(rate_values(rate, side, zeros=self.zeros) for side in sides(drawn, pair)))
                a, b = self.names[pair[0]], REST if pair[1] is None else self.names[pair[1]]
                reasons = [
                    why_undefined(rate, table, self.classes, REST if name == REST else f"group {name!r}")
                    for side, own, name in zip(both, each, (a, b), strict=True)
                    for table in side[np.isnan(own)]
                ]
                mean, seeds = over_seeds(values, drawn_gaps, self.picked, self.how, self._reason(values, reasons))
                sizes = [int(side[0].sum()) for side in both]
                about: dict[str, Any] = {"metric": rate.metric, "of": rate.of, "a": a, "b": b}
                about |= {"n": sum(sizes), "n_a": sizes[0], "n_b": sizes[1]}
                if single := alone.get((rate.metric, rate.of, a, b)):
                    about |= {name: getattr(single, name) for name in ("p_value", "p_method", "p_holm")}
                yield TaskGap.of_estimate(mean, **about, **seeds)

    def _reason(self, values: Floats, reasons: Sequence[str]) -> str:
        """Why a mean is undefined: what holds of the first seed that has no value."""
        if not reasons or self.seeds == 1:
            return "".join(reasons[:1])
        return f"{reasons[0]} with {np.isnan(values).sum()} of {self.seeds} seeds"
