"""What `extrinsic` returns: how well a task is done, and how differently by group; also from its JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.applications.group_gaps.result import Gap
from biasgauge.applications.tasks.figures import task_charts
from biasgauge.core import (
    Estimate,
    Floats,
    Integers,
    JsonMapping,
    JsonObject,
    LabeledEstimate,
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

ONE_SEED = (
    "One model was trained: how far the gaps hang on its seed is not known, and the intervals leave it out. Train "
    "several (--seeds 5)."
)
_RELIABLE = (
    "Whether the gaps are reliable enough to correlate with anything takes several embeddings: biasgauge correlate "
    "--seed-column."
)
_MOST_NAMED = 3
_MOST_GAPS = 40
_MOST_GROUPS = 4


@dataclass(frozen=True, kw_only=True)
class _OverSeeds(LabeledEstimate):
    """A mean over seeds, with its interval over items and, where there are several, over seeds.

    Attributes:
        metric: which number.
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        sd: standard deviation over seeds; None with one seed.
        values: of each seed.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("sd",)

    metric: str
    of: str | None
    sd: Estimate | None = None
    values: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class TaskMetric(_OverSeeds):
    """How well a task is done, as a mean over seeds, on the items of a `group`; None for all items."""

    group: str | None


@dataclass(frozen=True, kw_only=True)
class TaskGap(_OverSeeds, Gap):
    """Difference of a metric between two groups, a − b, as a mean over seeds: −1 to 1, 0 where groups fare alike.

    Fields as in `Gap` and `TaskMetric`; p is None with several seeds, whose p-values are with the seeds.
    """


@dataclass(frozen=True)
class SeedRun(Record):
    """One trained model.

    Attributes:
        seed: of its weights, dropout and order of texts.
        about: how training went.
        gaps: with p-values, of this seed alone.
        reused: whether it was in the cache.
    """

    seed: int
    about: JsonObject
    gaps: tuple[Gap, ...]
    reused: bool = False


@dataclass(frozen=True)
class TaskItems:
    """What is true of each test item, whom it is about, and the predictions of each seed, for `compare_tasks`."""

    labels: tuple[str, ...]
    groups: tuple[str | None, ...]
    predictions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class PairedItems:
    """What gaps between two versions of the same sentences are computed from, for `compare_tasks`.

    For each part of the test set: seeds × pairs of sentences × 2 versions × what each adds to the sums of the metrics.
    """

    parts: dict[str, Floats]
    checksum: str


@dataclass(frozen=True)
class TaskSummary:
    """Metrics and gaps over seeds: what a task gives of a `TaskResult`."""

    metrics: tuple[TaskMetric, ...]
    gaps: tuple[TaskGap, ...]
    seeds: tuple[SeedRun, ...]
    counts: dict[str, int]
    warnings: tuple[str, ...]
    no_gaps: str | None = None
    items: TaskItems | PairedItems | None = None


@dataclass(frozen=True, repr=False)
class TaskResult(Result):
    """How well a task is done with some vectors, and how differently by group.

    Attributes:
        task: its name.
        about: what it is.
        vectors: name of the vectors.
        metrics: of all items, then of each group.
        gaps: one for each metric and pair of groups.
        seeds: what is particular to each.
        counts: items by group.
        coverage: which share of the task's words has vectors.
        settings: everything that was asked for or chosen.
        warnings: what to know before reading the tables.
        no_gaps: why there are no gaps, where there are none.
        items: what the numbers are computed from, where a task has such; not in its JSON.
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
        """What seeds make of the gaps, in sentences."""
        return seed_readings(self.gaps, len(self.seeds))

    def derived(self) -> JsonMapping:
        """The sentences."""
        return {"readings": self.readings}

    def metrics_frame(self) -> pd.DataFrame:
        """One row a metric, of all items and of each group."""
        return records_frame(self.metrics)

    def summary(self) -> Summary:
        """How well the task is done, the rates of each group, and the gaps between groups."""
        over = "items and seeds; sd: over seeds" if len(self.seeds) > 1 else "items"
        rows = [(_name(row.metric), row.of, row, row.n) for row in self.metrics if row.group is None]
        value, items = Column("value [interval]", "estimate", 3), Column("items", "count")
        metrics = Table.of("metrics", "", ["metric", "of", value, items], rows)
        parts = [Summary("Metrics", "", question="how well is the task done?", tables=(metrics,))]
        parts += self._by_group()
        parts += [] if self.no_gaps is not None else [self._gaps()]
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
            parts=tuple(parts),
        )

    def _gaps(self) -> Summary:
        several = len(self.seeds) > 1
        spread = Column("sd", "number", 3) if several else Column("p", "p")
        rows = []
        for gap in self.gaps:
            sd = None if gap.sd is None else gap.sd.value
            rows.append((_name(gap.metric), gap.of, gap, sd if several else gap.p_value, f"{gap.a} − {gap.b}"))
        columns: list[Column | str] = ["metric", "of", Column("gap [interval]", "estimate", 3), spread, "groups"]
        question = "by how much does the first group have more than the second?"
        return Summary("Gaps", "", question=question, tables=(Table.of("gaps", "", columns, rows, most=_MOST_GAPS),))

    def _by_group(self) -> list[Summary]:
        """The rates that gaps are differences of, where groups are few."""
        own = [row for row in self.metrics if row.group is not None]
        groups = [str(group) for group in dict.fromkeys(row.group for row in own)]
        if not 1 < len(groups) <= _MOST_GROUPS:
            return []
        rates = {(_name(row.metric), row.of, row.group): row.value for row in own}
        columns: list[Column | str] = ["metric", "of", *(Column(group, "number", 3) for group in groups)]
        metrics = dict.fromkeys((metric, of) for metric, of, _ in rates)
        rows = [(*metric, *(rates.get((*metric, group)) for group in groups)) for metric in metrics]
        table = Table.of("by_group", "", columns, rows)
        return [Summary("By group", "", question="the rates that the gaps are differences of", tables=(table,))]


def _name(metric: str) -> str:
    return metric.removesuffix("_rate").replace("_", " ")


def seed_readings(gaps: Sequence[TaskGap], seeds: int) -> tuple[str, ...]:
    """What seeds make of the gaps, in plain sentences.

    One embedding cannot say how reliable a gap is: an intraclass correlation compares the spread over seeds with the
    spread over embeddings (`seed_reliability`, in `correlate`). It can say how large the spread over seeds is, and
    whether the gap keeps its sign.
    """
    known = [gap for gap in gaps if gap.value is not None]
    if not known:
        return ()
    if seeds < 2:
        return (ONE_SEED,)
    if not any(map(_sd, known)):
        return (f"All {seeds} seeds give the same gaps, to the last digit: look whether the models differ at all.",)
    most = max(known, key=_sd)
    sd = most.sd
    ends = "" if sd is None or sd.low is None else f", {level_text(sd.level)} {sd.low:.3f} to {sd.high:.3f}"
    signs = "No gap changes its sign from seed to seed."
    turning = [gap for gap in known if any((own or 0.0) * (gap.value or 0.0) < 0 for own in gap.values)]  # noqa: PD011 - no frame
    if turning:
        named = ", ".join(map(_in_words, turning[:_MOST_NAMED])) + (", …" if len(turning) > _MOST_NAMED else "")
        verb = "changes its sign" if len(turning) == 1 else "change their sign"
        signs = f"{len(turning)} of {len(known)} gaps {verb} from seed to seed ({named}): no property of the vectors."
    moves = f"{_in_words(most)}: {signed_text(most.value, 3)} with a standard deviation of {_sd(most):.3f}{ends}"
    return (f"Over {seeds} seeds the gap that moves most is {moves}.", signs, _RELIABLE)


def _sd(gap: TaskGap) -> float:
    return 0.0 if gap.sd is None else gap.sd.value or 0.0


def _in_words(gap: TaskGap) -> str:
    of = f" of {gap.of}" if gap.of else ""
    return f"{gap.metric.replace('_', ' ')}{of}, {gap.a} − {gap.b}"


def over_seeds(
    values: Floats,
    drawn: Floats,
    picked: Integers,
    how: Resampling,
    reason: str,
    left_out: Callable[[], Sequence[Floats]] = list,
) -> tuple[Estimate, dict[str, Any]]:
    """Mean over seeds, undefined where it is for any of them; then what each gives and how far they differ.

    Arguments as in `mean_over_seeds`; `reason` says why a value is undefined.
    """
    each = tuple(None if np.isnan(value) else float(value) for value in values)
    if None in each:
        return Estimate(value=None, reason=reason), {"values": each}
    mean = mean_over_seeds(values, drawn, picked, how, left_out)
    return mean, {"values": each, "sd": sd_over_seeds(values, how.level)}


def as_task(given: object) -> TaskResult:
    """A result as it is, or read from a file."""
    if isinstance(given, TaskResult):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_task(given)
    raise ParameterError(f"A task must be a result of extrinsic or a file of its JSON. Got {type(given).__name__}.")


def read_task(path: str | os.PathLike[str]) -> TaskResult:
    """Read what `biasgauge extrinsic … --json` printed; it has no items, so it cannot be compared by `compare_tasks`.

    Raises:
        InputError: the file cannot be read, is not JSON, or is not such a result; names the key.
    """
    file, expected = Path(path), "expected what biasgauge extrinsic --json prints"
    content = read_saved(file, again=expected)
    try:
        result: TaskResult = from_plain(TaskResult, content)
        check_level(from_plain(float, result.settings.get("level", "nothing"), "settings.level"))
    except InputError as problem:
        raise InputError(f"{file}: is not a result of a task ({str(problem).rstrip('.')}); {expected}") from None
    return result
