"""What `extrinsic` returns: how well a task is done, and how differently by group."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from biasgauge.extrinsic.frames import rows_to_frame
from biasgauge.extrinsic.tasks_seeds import seed_readings

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from biasgauge.extrinsic.gaps_result import Gap
    from biasgauge.scores import Interval


@dataclass(frozen=True)
class TaskMetric:
    """How well a task is done, as a mean over seeds.

    Attributes:
        metric: which number.
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        group: whose items; None for all.
        value: mean over seeds; None when undefined.
        interval: how far it would move with other items and other seeds.
        sd: standard deviation over seeds; None with one seed.
        values: of each seed.
        n: items.
        reason: why it is undefined.
    """

    metric: str
    of: str | None
    group: str | None
    value: float | None
    interval: Interval | None
    sd: float | None
    values: tuple[float | None, ...]
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class TaskGap:
    """Difference of a metric between two groups, a − b, as a mean over seeds.

    Attributes:
        metric, of: as in `TaskMetric`.
        a, b: the groups; `b` may be "the rest".
        value: mean over seeds, from −1 to 1; 0 where the groups fare alike. None when undefined.
        interval: how far it would move with other items and other seeds.
        sd: standard deviation over seeds; None with one seed.
        values: of each seed.
        p_value: as in `Gap`; None with several seeds, whose p-values are with the seeds.
        p_method: how it was found.
        p_holm: corrected for the number of pairs of groups.
        n_a, n_b: items of the two groups.
        reason: why it is undefined.
        sd_interval: where the standard deviation over all seeds may lie; None with one seed.
    """

    metric: str
    of: str | None
    a: str
    b: str
    value: float | None
    interval: Interval | None
    sd: float | None
    values: tuple[float | None, ...]
    p_value: float | None
    p_method: str | None
    p_holm: float | None
    n_a: int
    n_b: int
    reason: str | None = None
    sd_interval: Interval | None = None


@dataclass(frozen=True)
class SeedRun:
    """One trained model.

    Attributes:
        seed: of its weights, dropout and order of texts.
        about: how training went.
        gaps: with p-values, of this seed alone.
        reused: whether it was in the cache.
    """

    seed: int
    about: dict[str, Any]
    gaps: tuple[Gap, ...]
    reused: bool = False


@dataclass(frozen=True)
class TaskItems:
    """What the gaps are computed from, for `compare_tasks`.

    Attributes:
        labels: what is true of each test item.
        groups: whom it is about; None for nobody's.
        predictions: of each seed.
    """

    labels: tuple[str, ...]
    groups: tuple[str | None, ...]
    predictions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class PairedItems:
    """What gaps between two versions of the same sentences are computed from, for `compare_tasks`.

    Attributes:
        parts: for each part of the test set, seeds × pairs of sentences × 2 versions × what each adds to the sums of
            the metrics.
        checksum: of the sentences.
    """

    parts: dict[str, NDArray[np.float64]]
    checksum: str


@dataclass(frozen=True)
class TaskSummary:
    """Metrics and gaps over seeds.

    Attributes:
        metrics: of all items, then of each group.
        gaps: one for each metric and pair of groups.
        seeds: what is particular to each.
        counts: items by group.
        warnings: what to know before reading the tables.
        no_gaps: why there are no gaps, where there are none.
        items: what the numbers are computed from, where a task has such.
    """

    metrics: tuple[TaskMetric, ...]
    gaps: tuple[TaskGap, ...]
    seeds: tuple[SeedRun, ...]
    counts: dict[str, int]
    warnings: tuple[str, ...]
    no_gaps: str | None = None
    items: TaskItems | PairedItems | None = None


@dataclass(frozen=True)
class TaskResult:
    """How well a task is done with some vectors, and how differently by group.

    Attributes:
        task: its name.
        about: what it is.
        vectors: name of the vectors.
        metrics, gaps, seeds, counts, no_gaps, items: as in `TaskSummary`.
        coverage: which share of the task's words has vectors.
        settings: everything that was asked for or chosen.
        warnings: what to know before reading the tables.
    """

    task: str
    about: str
    vectors: str
    metrics: tuple[TaskMetric, ...]
    gaps: tuple[TaskGap, ...]
    seeds: tuple[SeedRun, ...]
    counts: dict[str, int]
    coverage: dict[str, Any]
    settings: dict[str, Any]
    warnings: tuple[str, ...]
    no_gaps: str | None = None
    items: TaskItems | PairedItems | None = None

    @property
    def readings(self) -> tuple[str, ...]:
        """What seeds make of the gaps, in sentences."""
        return seed_readings(self.gaps, len(self.seeds))

    def to_frame(self) -> pd.DataFrame:
        """One row a gap."""
        return rows_to_frame(self.gaps, without=("values",))

    def metrics_frame(self) -> pd.DataFrame:
        """One row a metric, of all items and of each group."""
        return rows_to_frame(self.metrics, without=("values",))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without `items`; undefined numbers are None beside their reason."""
        return {
            "task": self.task,
            "about": self.about,
            "vectors": self.vectors,
            "metrics": [asdict(one) for one in self.metrics],
            "gaps": [asdict(one) for one in self.gaps],
            "no_gaps": self.no_gaps,
            "readings": list(self.readings),
            "seeds": [asdict(one) for one in self.seeds],
            "counts": self.counts,
            "coverage": self.coverage,
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        said = (*self.warnings, self.no_gaps or "", *self.readings)
        notes = "".join(f"<p>{escape(one)}</p>" for one in said if one)
        return f"{notes}{self.metrics_frame().to_html(index=False)}{self.to_frame().to_html(index=False)}"
