"""Text classification as a downstream task: a CNN on frozen vectors, with metrics and gaps as means over seeds.

Intervals are over items and seeds. Items are drawn again within each group together with the predictions of all seeds,
so that an item that is hard for all of them does not count several times, and seeds are drawn again independently (Owen
2007: slightly conservative). With one seed only items are drawn, and intervals say nothing about other seeds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.applications.classification.settings import THREADS, CnnSettings
from biasgauge.applications.classification.texts import (
    TWITTER,
    GroupWords,
    Retweets,
    TextData,
    Tokenized,
    Unknown,
    group_words,
    groups_by_words,
    task_vectors,
    tokenize,
)
from biasgauge.applications.confusion import Rate, group_pairs, pair_cells, rate_values, reported_rates, why_undefined
from biasgauge.applications.gap_result import REST, Gap, Label
from biasgauge.applications.group_gaps import gaps
from biasgauge.applications.task import SeedRun, Task, TaskGap, TaskItems, TaskMetric, TaskSummary, over_seeds
from biasgauge.core import Estimate, Integers, JsonObject, VectorsLike, check_choice
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import Resampling

TEXT_SETTINGS = frozenset({"as_published", "group_words", "order", "positive", "retweets", "tokenizer", "unknown"})
CLASSIFIER = TEXT_SETTINGS | CnnSettings.names()
"""Settings of every task that classifies texts."""
NO_GROUPS = "the data names no groups of people; name words of groups (group_words) or a column of groups"


def need_torch() -> None:
    """Raise an error that says how to install PyTorch where it is missing."""
    if find_spec("torch") is None:
        raise InputError('Downstream tasks need PyTorch. Install it with: pip install "biasgauge[extrinsic]"')


@dataclass(frozen=True)
class DataSet:
    """Labeled texts that a classifier can learn from; `biasgauge extrinsic NAME` trains one on them.

    Attributes:
        name: of the data set, and of its task.
        about: one sentence.
        load: called with the path of the data, and its settings as keywords.
        settings: names of those settings.
        asks_positive: `load` also takes `positive`, the class that the user counts as positive, or None.
    """

    name: str
    about: str
    load: Callable[..., TextData]
    settings: frozenset[str] = frozenset()
    asks_positive: bool = False

    def read(self, data: Path, settings: JsonObject) -> TextData:
        """Load the texts, with the data set's own settings taken out of `settings`."""
        arguments = {name: settings.pop(name) for name in self.settings if name in settings}
        if self.asks_positive:
            arguments["positive"] = settings.get("positive")
        return self.load(data, **arguments)

    def prepare(self, _name: str, vectors: VectorsLike, data: Path, **settings: Any) -> TextClassification:  # noqa: ANN401 - the task's
        """Read texts and vectors for the task of classifying them."""
        return TextClassification(self.read(data, settings), vectors, **settings)


@cache
def classification_task(data_set: DataSet) -> Task:
    """Task of classifying the texts of a data set."""
    return Task(data_set.name, data_set.about, CLASSIFIER | data_set.settings, data_set.prepare, tells_reading=True)


class TextClassification:
    """A classification task with texts tokenized and vectors read; docs/applications/extrinsic.md lists its settings.

    `as_published` trains (see `CnnSettings`) and averages as the released code of Goldfarb-Tarrant et al. 2021 does.
    """

    def __init__(
        self,
        data: TextData,
        vectors: VectorsLike,
        *,
        as_published: bool = False,
        group_words: GroupWords | None = None,
        order: Sequence[str] | None = None,
        positive: str | None = None,
        retweets: Retweets = "drop",
        tokenizer: str = TWITTER,
        unknown: Unknown = "zero",
        progress: Callable[[int, int], None] | None = None,
        **settings: Any,  # noqa: ANN401 - those of the classifier
    ) -> None:
        need_torch()
        self.cnn = CnnSettings.named(as_published=as_published, **settings)
        self.as_published = as_published
        self.parts, notes = tokenize(data, tokenizer, retweets)
        self.name, self.classes = data.name, data.classes
        self.positive = data.positive if positive is None else positive
        check_choice(self.classes, positive=self.positive)
        self.groups, self.order = _test_groups(self.parts["test"], data.order, group_words, order)
        self.vectors = task_vectors(vectors, self.parts.values(), data.name, unknown, progress)
        self.vectors_name, self.vectors_checksum = self.vectors.name, self.vectors.checksum
        # tokens and labels decide predictions; groups do not
        decisive = (json.dumps([name, split.tokens, split.labels]) for name, split in self.parts.items())
        self.data_checksum = hashlib.sha256("".join(decisive).encode()).hexdigest()
        self.coverage = self.vectors.coverage
        self.warnings = (*data.warnings, *notes, *self.vectors.warnings)
        self.settings = {**self.cnn.to_dict(), "classes": list(self.classes)}
        self.recorded = {
            "data": data.name,
            "texts": {name: len(split) for name, split in self.parts.items()},
            "positive": self.positive,
            "as_published": as_published,
            "retweets": retweets,
            "tokenizer": tokenizer,
            "unknown": unknown,
            "threads": THREADS,
            "torch": version("torch"),
        }

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> JsonObject:
        """Train with one seed and predict the test texts."""
        from biasgauge.applications.classification.cnn import NumberedTexts, fixed_threads, logits, train

        texts = {}
        for name, split in self.parts.items():
            labels = [self.classes.index(label) for label in split.labels]
            numbers, least = self.vectors.numbers, max(self.cnn.widths)
            texts[name] = NumberedTexts.of(split.tokens, labels, numbers, least=least)
        table, classes = self.vectors.table, len(self.classes)
        with fixed_threads():
            run = train(texts["train"], texts["dev"], table, classes, self.cnn, seed=seed, progress=progress)
            predictions = logits(run.model, texts["test"]).argmax(dim=1).tolist()
        return {
            "predictions": predictions,
            "best": run.best._asdict(),
            "history": [evaluation._asdict() for evaluation in run.history],
            "training_losses": list(run.losses),
            "epochs": len(run.losses),
            "steps": run.steps,
            "dropout_steps": run.dropout_steps,
            "stopped_early": run.stopped_early,
        }

    def summarize(self, outcomes: dict[int, JsonObject], resampling: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        predictions = [tuple(self.classes[code] for code in run["predictions"]) for run in outcomes.values()]
        items = TaskItems(self.parts["test"].labels, self.groups, tuple(predictions))
        long = {"predictions", "history", "training_losses"}
        runs = {seed: {name: run[name] for name in run if name not in long} for seed, run in outcomes.items()}
        settings: dict[str, Any] = {"order": self.order, "as_published": self.as_published}
        return summarize(items, runs, resampling, classes=self.classes, positive=self.positive, **settings)


def _test_groups(
    test: Tokenized, data_order: Sequence[str] | None, words: GroupWords | None, order: Sequence[str] | None
) -> tuple[tuple[str | None, ...], Sequence[str] | None]:
    """Group of each test text, and the order of groups: the user's, or that of the words, or that of the data."""
    groups = test.groups
    if words is not None:
        sets = group_words(words)
        groups, data_order = groups_by_words(test.tokens, sets), list(sets)
    present = {group for group in groups if group is not None}
    if order is not None and (missing := [name for name in order if name not in present]):
        raise ParameterError(
            f"No test text is about the group {missing[0]!r} of 'order'; groups are "
            f"{', '.join(sorted(present)) or 'none'}."
        )
    if order is not None or data_order is None:
        return groups, order
    return groups, [name for name in data_order if name in present]


def summarize(
    items: TaskItems,
    runs: Mapping[int, JsonObject],
    resampling: Resampling,
    *,
    classes: Sequence[str],
    positive: str,
    order: Sequence[str] | None,
    as_published: bool = False,
) -> TaskSummary:
    """Metrics and gaps over seeds, from test items and a description of the training `runs` by seed.

    Groups are subtracted in `order`, sorted by default; others are left out. `as_published` counts a class without a
    rate as 0 in weighted means, as scikit-learn does.
    """
    present = sorted({group for group in items.groups if group is not None})
    names = [name for name in (order if order is not None else present) if name in present]
    counts = _SeedConfusionCounts(items, names, classes, positive, resampling, zeros=as_published)
    no_gaps = None
    by_seed: list[tuple[Gap, ...]] = [() for _ in runs]
    warnings: tuple[str, ...] = ()
    if len(names) < 2:
        no_gaps = f"the only group is {names[0]!r}" if names else NO_GROUPS
    else:
        counted = [item for item, group in enumerate(items.groups) if group in names]
        labels, groups = ([column[item] for item in counted] for column in (items.labels, items.groups))
        settings: dict[str, Any] = {name: getattr(resampling, name) for name in ("level", "resamples", "random_state")}
        settings |= {"order": names, "as_published": as_published}
        for number, marks in enumerate(items.predictions):
            predicted = [marks[item] for item in counted]
            label = positive if positive in {*labels, *predicted} else None
            result = gaps(labels, predicted, groups, positive=label, **settings)
            by_seed[number] = result.gaps
            warnings = warnings or result.warnings
    single = by_seed[0] if len(runs) == 1 else ()
    tested: dict[tuple[Label, ...], Gap] = {(gap.metric, gap.positive_class, gap.a, gap.b): gap for gap in single}
    return TaskSummary(
        metrics=tuple(counts.metrics()),
        gaps=tuple(counts.gaps(tested)) if no_gaps is None else (),
        seeds=tuple(SeedRun(*run) for run in zip(runs, runs.values(), by_seed, strict=True)),
        counts={name: int(count) for name, count in zip(names, counts.sizes[1:], strict=True)},
        warnings=warnings,
        no_gaps=no_gaps,
        items=items,
    )


class _SeedConfusionCounts:
    """Confusion counts by (seed, group, label, prediction), in the data and in bootstrap samples; group 0 is all."""

    def __init__(
        self,
        items: TaskItems,
        names: Sequence[str],
        classes: Sequence[str],
        positive: str,
        resampling: Resampling,
        *,
        zeros: bool,
    ) -> None:
        self.names, self.classes, self.resampling, self.zeros = list(names), tuple(classes), resampling, zeros
        codes = {name: code for code, name in enumerate(classes)}
        rows = (items.labels, *items.predictions)
        marks: Integers = np.array([[codes[mark] for mark in row] for row in rows], np.int64)
        members = [np.array([name in (None, group) for group in items.groups], bool) for name in (None, *self.names)]
        self.sizes = [int(member.sum()) for member in members]
        self.seeds = len(items.predictions)
        random = np.random.default_rng([resampling.random_state, 0])
        counts = [self._count(marks[:, member], random) for member in members]
        self.cells = np.stack([observed for observed, _ in counts], axis=-3)
        self.drawn = np.stack([drawn for _, drawn in counts], axis=-3)
        self.picked = random.integers(0, self.seeds, (resampling.resamples, self.seeds))
        self.rates = reported_rates(classes, [codes[positive]])

    def _count(self, marks: Integers, random: np.random.Generator) -> tuple[Integers, Integers]:
        """Counts (seeds, label, prediction) of the items, and the same behind the axis of bootstrap samples.

        Items with the same label and the same predictions of all seeds are exchangeable, so a bootstrap sample is a
        multinomial draw over the few patterns that occur.
        """
        size = len(self.classes)
        patterns, counts = np.unique(marks, axis=1, return_counts=True)
        # for each pattern and seed, an indicator of its cell in the confusion table
        indicator = np.zeros((patterns.shape[1], self.seeds, size * size), np.int64)
        for seed in range(self.seeds):
            indicator[np.arange(patterns.shape[1]), seed, patterns[0] * size + patterns[seed + 1]] = 1
        flat = indicator.reshape(len(indicator), -1)
        drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=self.resampling.resamples)
        shape = (self.seeds, size, size)
        return (counts @ flat).reshape(shape), (drawn @ flat).reshape(len(drawn), *shape)

    def metrics(self) -> Iterator[TaskMetric]:
        for index, name in enumerate([None, *self.names]):
            group = "the test texts" if name is None else f"group {name!r}"
            for rate in self.rates:
                mean, seeds = self._over_seeds(rate, [(group, self.cells[:, index], self.drawn[:, :, index])])
                yield TaskMetric.of_estimate(mean, **rate.labels, group=name, n=self.sizes[index], **seeds)

    def gaps(self, tested: dict[tuple[Label, ...], Gap]) -> Iterator[TaskGap]:
        """Gaps as means over seeds; p-values, with one seed, are those of `tested`."""
        for rate in self.rates:
            for pair in group_pairs(len(self.names)):
                a, b = self.names[pair[0]], REST if pair[1] is None else self.names[pair[1]]
                names = f"group {a!r}", REST if pair[1] is None else f"group {b!r}"
                sides = pair_cells(self.cells[:, 1:], pair)
                drawn = pair_cells(self.drawn[:, :, 1:], pair)
                mean, seeds = self._over_seeds(rate, list(zip(names, sides, drawn, strict=True)))
                n_a, n_b = (int(side[0].sum()) for side in sides)
                labels: dict[str, Any] = {**rate.labels, "a": a, "b": b, "n": n_a + n_b, "n_a": n_a, "n_b": n_b}
                if single := tested.get((rate.metric, rate.positive_class, a, b)):
                    labels |= {name: getattr(single, name) for name in ("p_value", "p_method", "p_holm")}
                yield TaskGap.of_estimate(mean, **labels, **seeds)

    def _over_seeds(
        self, rate: Rate, sides: Sequence[tuple[str, Integers, Integers]]
    ) -> tuple[Estimate, dict[str, Any]]:
        """Mean over seeds of the rate of one side, or of its difference between two.

        A side is its name, its counts by seed, and its counts by bootstrap sample and seed.
        """
        by_side = [rate_values(rate, cells, zeros=self.zeros) for _, cells, _ in sides]
        drawn = [rate_values(rate, cells, zeros=self.zeros) for _, _, cells in sides]
        values, samples = (side[0] if len(sides) == 1 else side[0] - side[1] for side in (by_side, drawn))
        reasons = [
            why_undefined(rate, table, self.classes, name)
            for (name, cells, _), side_values in zip(sides, by_side, strict=True)
            for table in cells[np.isnan(side_values)]
        ]
        reason = "".join(reasons[:1])
        if reason and self.seeds > 1:
            reason += f" with {np.isnan(values).sum()} of {self.seeds} seeds"
        return over_seeds(values, samples, self.picked, self.resampling, reason)
