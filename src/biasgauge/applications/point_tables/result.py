"""What `points` returns: one row for each version of an embedding, association test, gap and task seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from biasgauge.core import Estimate, JsonMapping, JsonObject, Record
from biasgauge.results import Column, Result, Summary, Table, counted, records_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class _OfVersion(Record):
    """A number of one version of an embedding.

    Attributes:
        variant: name of the version of the embedding: the `unit` of `correlate`.
        embedding, method, direction, strength: how it was made.
        task: the downstream task.
        metric, of: what is measured, as in `TaskGap`.
        seed: with which the task was trained.
    """

    variant: str
    embedding: str
    method: str
    direction: str
    strength: float
    task: str
    metric: str
    of: str | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class Point(_OfVersion):
    """An intrinsic number beside an extrinsic one.

    Attributes:
        test: the association test.
        weat: its effect size, with how far it would move with other words of the same kind.
        found, asked: words of the test with a vector, and words of the test.
        a, b: groups of the gap, as in `TaskGap`.
        gap: a − b, from −1 to 1; None when undefined.
        gap_reason: why it is undefined.
    """

    test: str
    weat: Estimate
    found: int
    asked: int
    a: str
    b: str
    gap: float | None
    gap_reason: str | None

    def derived(self) -> JsonMapping:
        """The effect size and the ends of its interval, each in a column of its own."""
        weat = self.weat
        return {"weat": weat.value, "weat_low": weat.low, "weat_high": weat.high, "weat_reason": weat.reason}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The point of which `to_dict` made `content`."""
        weat = {"value": content.get("weat"), **{end: content.get(f"weat_{end}") for end in ("low", "high", "reason")}}
        return super().from_dict({**content, "weat": weat})


@dataclass(frozen=True, kw_only=True)
class Performance(_OfVersion):
    """How well a task is done with one version and seed; fields as in `Point` and `TaskMetric`."""

    group: str | None
    value: float | None


@dataclass(frozen=True, repr=False)
class PointsResult(Result):
    """Points of a correlation study; `correlate` takes its frame, or the CSV file that `save` writes.

    Attributes:
        points: for every version, association test, gap and task seed one.
        performance: how well the task was done: a number without which gaps cannot be judged.
        settings: everything that was asked for.
        warnings: what to know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("points",)

    points: tuple[Point, ...]
    performance: tuple[Performance, ...]
    settings: JsonObject
    warnings: tuple[str, ...] = ()

    def performance_frame(self) -> pd.DataFrame:
        """One row for each metric, group, version and seed."""
        return records_frame(self.performance)

    def summary(self) -> Summary:
        """How many points there are, and the points."""
        versions = len({point.variant for point in self.points})
        columns = ["version", "test", Column("WEAT", "estimate"), "metric", "of", "groups"]
        columns += [Column("gap", "number", 3), Column("task seed", "count")]
        rows = [
            (row.variant, row.test, row.weat, row.metric, row.of, f"{row.a} − {row.b}", row.gap, row.seed)
            for row in self.points
        ]
        return Summary(
            title="Intrinsic and extrinsic numbers",
            headline=f"{counted(self.points, 'point')} of {counted(versions, 'version')}",
            tables=(Table.of("points", "The points", columns, rows, most=20),),
            warnings=self.warnings,
        )
