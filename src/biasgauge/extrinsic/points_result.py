"""What `points` returns: one row for each version of an embedding, association test, gap and task seed."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from biasgauge._io.atomic import write_text

if TYPE_CHECKING:
    import os

    import pandas as pd

_SHOWN = 20


@dataclass(frozen=True)
class Point:
    """An intrinsic number beside an extrinsic one.

    Attributes:
        variant: name of the version of the embedding: the `unit` of `correlate`.
        embedding, method, direction, strength: how it was made.
        test: the association test.
        weat: its effect size; None when undefined.
        weat_low, weat_high: how far it would move with other words of the same kind.
        found, asked: words of the test with a vector, and words of the test.
        weat_reason: why the effect size is undefined.
        task: the downstream task.
        metric, of, a, b: of the gap, as in `TaskGap`.
        gap: a − b, from −1 to 1; None when undefined.
        gap_reason: why it is undefined.
        seed: with which the task was trained.
    """

    variant: str
    embedding: str
    method: str
    direction: str
    strength: float
    test: str
    weat: float | None
    weat_low: float | None
    weat_high: float | None
    found: int
    asked: int
    weat_reason: str | None
    task: str
    metric: str
    of: str | None
    a: str
    b: str
    gap: float | None
    gap_reason: str | None
    seed: int


@dataclass(frozen=True)
class Performance:
    """How well a task is done with one version and seed; fields as in `Point` and `TaskMetric`."""

    variant: str
    embedding: str
    method: str
    direction: str
    strength: float
    task: str
    metric: str
    of: str | None
    group: str | None
    value: float | None
    seed: int


@dataclass(frozen=True)
class PointsResult:
    """Points of a correlation study.

    Attributes:
        points: for every version, association test, gap and task seed one.
        performance: how well the task was done: a number without which gaps cannot be judged.
        settings: everything that was asked for.
        warnings: what to know first.
    """

    points: tuple[Point, ...]
    performance: tuple[Performance, ...]
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row a point; `correlate` takes it as it is."""
        return _frame(self.points, Point)

    def performance_frame(self) -> pd.DataFrame:
        """One row for each metric, group, version and seed."""
        return _frame(self.performance, Performance)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None beside their reason."""
        return {
            "points": [asdict(one) for one in self.points],
            "performance": [asdict(one) for one in self.performance],
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the points as CSV, whole or not at all; numbers in full, undefined ones empty."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(one.name for one in fields(Point))
        table.writerows(["" if cell is None else cell for cell in astuple(one)] for one in self.points)
        write_text(path, text.getvalue())

    def _repr_html_(self) -> str:
        versions = len({one.variant for one in self.points})
        about = f"<p>{len(self.points):,} points of {versions:,} versions</p>"
        return f"{about}{self.to_frame().to_html(index=False, max_rows=_SHOWN)}"


def _frame(rows: tuple[Any, ...], kind: type) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

    return pd.DataFrame([asdict(one) for one in rows], columns=[one.name for one in fields(kind)])
