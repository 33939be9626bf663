"""Downstream tasks and their results: prepared once, trained with each seed, summarized over seeds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from biasgauge.applications.gap_result import Gap, Label, RatedEstimate, pair_label
from biasgauge.applications.task_figures import task_charts
from biasgauge.core import (
    Estimate,
    Floats,
    Integers,
    JsonMapping,
    JsonObject,
    Record,
    check_level,
    from_plain,
)
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_saved
from biasgauge.results import Column, Result, Summary, Table, level_text, records_frame, signed_text
from biasgauge.stats import Resampling, mean_over_seeds, sd_over_seeds

if TYPE_CHECKING:
    import pandas as pd

_ONE_SEED = (
    "One model was trained: the variation of the gaps over seeds is unknown and not part of the intervals. Train "
    "several (--seeds 5)."
)
_RELIABILITY_HINT = (
    "Whether the gaps are reliable enough to correlate with anything takes several embeddings: biasgauge correlate "
    "--seed-column."
)
_MAX_NAMED = 3
_MAX_GAPS = 40
_MAX_GROUPS = 4


@dataclass(frozen=True, kw_only=True)
class _OverSeeds(RatedEstimate):
    """A mean over seeds, with its interval over items and, where there are several, over seeds.

    Attributes:
        sd: standard deviation over seeds; None with one seed.
        values: of each seed.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("sd",)

    sd: Estimate | None = None
    values: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class TaskMetric(_OverSeeds):
    """Performance on a task, as a mean over seeds, on the items of a `group`; None for all items."""

    group: str | None


@dataclass(frozen=True, kw_only=True)
class TaskGap(_OverSeeds, Gap):
    """Difference of a metric between two groups, a − b, as a mean over seeds: −1 to 1, 0 where there is none.

    Fields as in `Gap` and `TaskMetric`; p is None with several seeds, whose p-values are with the seeds.
    """


@dataclass(frozen=True)
class SeedRun(Record):
    """One trained model.

    Attributes:
        seed: of its weights, dropout and order of texts.
        training: epochs, steps and the like; `about` in JSON.
        gaps: with p-values, of this seed alone.
        reused: True if it was in the cache.
    """

    renamed: ClassVar[Mapping[str, str]] = {"training": "about"}

    seed: int
    training: JsonObject
    gaps: tuple[Gap, ...]
    reused: bool = False


@dataclass(frozen=True)
class TaskItems:
    """Label and group of each test item, and the predictions of each seed, for `compare_tasks`."""

    labels: tuple[str, ...]
    groups: tuple[str | None, ...]
    predictions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class PairedItems:
    """Sums from which gaps between two versions of the same sentences are computed, for `compare_tasks`.

    For each part of the test set: seeds × pairs of sentences × 2 versions × what each adds to the sums of the metrics.
    """

    parts: dict[str, Floats]
    checksum: str


@dataclass(frozen=True)
class TaskSummary:
    """Metrics and gaps over seeds, as `Prepared.summarize` returns them; fields as in `TaskResult`."""

    metrics: tuple[TaskMetric, ...]
    gaps: tuple[TaskGap, ...]
    seeds: tuple[SeedRun, ...]
    counts: dict[str, int]
    warnings: tuple[str, ...]
    no_gaps: str | None = None
    items: TaskItems | PairedItems | None = None


class Prepared(Protocol):
    """A task with its data and vectors read.

    Attributes:
        vectors_name: name of the vectors in tables.
        vectors_checksum: of the vectors that the task uses.
        data_checksum: of the data, cleaned.
        settings: everything else that decides the outcome of a cell, JSON-ready.
        recorded: further settings to record.
        coverage: share of the task's words that has vectors.
        warnings: caveats.
    """

    vectors_name: str
    vectors_checksum: str
    data_checksum: str
    settings: JsonObject
    recorded: JsonObject
    coverage: JsonObject
    warnings: tuple[str, ...]

    def train(self, seed: int, progress: Callable[[int, int], None] | None) -> JsonObject:
        """Train and predict with one seed: a JSON-ready outcome, the same for the same seed."""

    def summarize(self, outcomes: dict[int, JsonObject], resampling: Resampling) -> TaskSummary:
        """Metrics and gaps from the outcomes of all seeds."""


@dataclass(frozen=True)
class Task:
    """One task by name.

    Attributes:
        name: as in `biasgauge extrinsic NAME`.
        about: one sentence.
        settings: names of the settings that `prepare` takes.
        prepare: called with the name, the vectors, the path of the data, and the settings as keywords.
        tells_reading: True if `prepare` takes the keyword `progress` too, called with (done, total) while it reads.
    """

    name: str
    about: str
    settings: frozenset[str]
    prepare: Callable[..., Prepared]
    tells_reading: bool = False


@dataclass(frozen=True, repr=False)
class TaskResult(Result):
    """Performance on a task with some vectors, and gaps between groups.

    Attributes:
        task: its name.
        about: its description.
        vectors: name of the vectors.
        metrics: of all items, then of each group.
        gaps: one for each metric and pair of groups.
        seeds: one entry for each trained model.
        counts: items by group.
        coverage: share of the task's words that has vectors.
        settings: all settings, given or default.
        warnings: caveats.
        no_gaps: reason why there are no gaps, where there are none.
        items: test items behind the numbers, where a task has such; not in its JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)
    hidden: ClassVar[frozenset[str]] = frozenset({"items"})

    task: str
    about: str
    vectors: str
    metrics: tuple[TaskMetric, ...]
    gaps: tuple[TaskGap, ...]
    seeds: tuple[SeedRun, ...]
    counts: dict[str, int]
    coverage: JsonObject
    settings: JsonObject
    warnings: tuple[str, ...]
    no_gaps: str | None = None
    items: TaskItems | PairedItems | None = None

    @property
    def readings(self) -> tuple[str, ...]:
        """Sentences on the variation of the gaps over seeds."""
        return seed_readings(self.gaps, len(self.seeds))

    def derived(self) -> JsonMapping:
        """The sentences."""
        return {"readings": self.readings}

    def metrics_frame(self) -> pd.DataFrame:
        """One row per metric, of all items and of each group."""
        return records_frame(self.metrics)

    def summary(self) -> Summary:
        """Performance, the rates of each group, and the gaps between groups."""
        over = "items and seeds; sd: over seeds" if len(self.seeds) > 1 else "items"
        return Summary(
            title=f"{self.task} with {self.vectors}",
            headline=f"{self.task}: {self.about}",
            sentences=(
                *self.readings,
                f"Intervals: {level_text(self.settings['level'])} over {over}.",
                *([] if self.no_gaps is None else [f"No gaps: {self.no_gaps}"]),
            ),
            warnings=self.warnings,
            charts=task_charts(self),
            parts=tuple(self._sections()),
        )

    def _sections(self) -> Iterator[Summary]:
        metrics = [(*_labels(row), row, row.n) for row in self.metrics if row.group is None]
        columns: list[Column | str] = ["metric", "of", Column("value [interval]", "estimate", 3)]
        table = Table.of("metrics", "", [*columns, Column("items", "count")], metrics)
        yield Summary("Metrics", "", question="performance on all items", tables=(table,))
        groups = [str(group) for group in dict.fromkeys(row.group for row in self.metrics if row.group is not None)]
        if 1 < len(groups) <= _MAX_GROUPS:
            rates = {(*_labels(row), row.group): row.value for row in self.metrics if row.group is not None}
            labels = dict.fromkeys(key[:2] for key in rates)
            rows = [(*label, *(rates.get((*label, group)) for group in groups)) for label in labels]
            columns = ["metric", "of", *(Column(group, "number", 3) for group in groups)]
            table = Table.of("by_group", "", columns, rows)
            yield Summary("By group", "", question="the rates that the gaps are differences of", tables=(table,))
        if self.no_gaps is None:
            several = len(self.seeds) > 1
            gaps = [
                (*_labels(gap), gap, (gap.sd and gap.sd.value) if several else gap.p_value, pair_label(gap))
                for gap in self.gaps
            ]
            spread = Column("sd", "number", 3) if several else Column("p", "p")
            columns = ["metric", "of", Column("gap [interval]", "estimate", 3), spread, "groups"]
            table = Table.of("gaps", "", columns, gaps, most=_MAX_GAPS)
            yield Summary("Gaps", "", question="rate of the first group − rate of the second", tables=(table,))


def _labels(row: TaskMetric | TaskGap) -> tuple[str, Label]:
    """Short name of a metric, and its class."""
    return row.metric.removesuffix("_rate").replace("_", " "), row.positive_class


def seed_readings(gaps: Sequence[TaskGap], seeds: int) -> tuple[str, ...]:
    """Sentences on the spread of the gaps over seeds, and on gaps that change their sign.

    One embedding cannot show how reliable a gap is: an intraclass correlation compares the spread over seeds with the
    spread over embeddings (`seed_reliability`, in `correlate`).
    """
    defined = [gap for gap in gaps if gap.value is not None]
    if not defined:
        return ()
    if seeds < 2:
        return (_ONE_SEED,)
    if not any(map(_sd, defined)):
        return (f"All {seeds} seeds give the same gaps, to the last digit: check that the models differ at all.",)
    widest = max(defined, key=_sd)
    sd = widest.sd
    ends = "" if sd is None or sd.low is None else f", {level_text(sd.level)} {sd.low:.3f} to {sd.high:.3f}"
    signs = "No gap changes its sign from seed to seed."
    turning = [gap for gap in defined if any((value or 0.0) * (gap.value or 0.0) < 0 for value in gap.values)]  # noqa: PD011 - no frame
    if turning:
        names = ", ".join(map(_gap_name, turning[:_MAX_NAMED])) + (", …" if len(turning) > _MAX_NAMED else "")
        verb = "changes its sign" if len(turning) == 1 else "change their sign"
        signs = f"{len(turning)} of {len(defined)} gaps {verb} from seed to seed ({names}): no property of the vectors."
    spread = f"{signed_text(widest.value, 3)} with a standard deviation of {_sd(widest):.3f}{ends}"
    return (
        f"Over {seeds} seeds the gap that varies most is {_gap_name(widest)}: {spread}.",
        signs,
        _RELIABILITY_HINT,
    )


def _sd(gap: TaskGap) -> float:
    return 0.0 if gap.sd is None else gap.sd.value or 0.0


def _gap_name(gap: TaskGap) -> str:
    label = f" of {gap.positive_class}" if gap.positive_class else ""
    return f"{gap.metric.replace('_', ' ')}{label}, {pair_label(gap)}"


def over_seeds(
    values: Floats,
    drawn: Floats,
    picked: Integers,
    resampling: Resampling,
    reason: str,
    left_out: Callable[[], Sequence[Floats]] = list,
) -> tuple[Estimate, dict[str, Any]]:
    """Mean over seeds, undefined where any seed is; then the values of the seeds and their standard deviation.

    Arguments as in `mean_over_seeds`; `reason` says why a value is undefined.
    """
    by_seed = tuple(None if np.isnan(value) else float(value) for value in values)
    if None in by_seed:
        return Estimate(value=None, reason=reason), {"values": by_seed}
    mean = mean_over_seeds(values, drawn, picked, resampling, left_out)
    return mean, {"values": by_seed, "sd": sd_over_seeds(values, resampling.level)}


def as_task(result: object) -> TaskResult:
    """Return a result as it is, or read it from a file."""
    if isinstance(result, TaskResult):
        return result
    if isinstance(result, (str, os.PathLike)):
        return read_task(result)
    raise ParameterError(f"A task must be a result of extrinsic or a file of its JSON. Got {type(result).__name__}.")


def read_task(path: str | os.PathLike[str]) -> TaskResult:
    """Read the output of `biasgauge extrinsic … --json`; it has no items, so `compare_tasks` cannot use it.

    Raises:
        InputError: the file cannot be read, is not JSON, or is not such a result; names the key.
    """
    file, expected = Path(path), "expected the output of biasgauge extrinsic --json"
    content = read_saved(file, again=expected)
    try:
        result: TaskResult = from_plain(TaskResult, content)
        check_level(from_plain(float, result.settings.get("level", "nothing"), "settings.level"))
    except InputError as problem:
        raise InputError(f"{file}: is not a result of a task ({str(problem).rstrip('.')}); {expected}") from None
    return result
