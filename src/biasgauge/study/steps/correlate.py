"""Does an intrinsic number track an extrinsic one? `correlate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.kind import Kind
from biasgauge.study.parameters import Known, function_named
from biasgauge.study.results import TABLE, settings_of, write_result
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

KINDS = (
    Kind(
        "correlate",
        needs="table",
        step="correlate",
        functions=("extrinsic:correlate",),
        extra={"points": Known(None, "object")},
        paths=("points",),
        tables={"points.csv": "points_frame"},
    ),
)


def run(job: Job) -> None:
    """On the points of an analysis of this study, or on a file of the user."""
    (kind,) = KINDS
    settings = settings_of(job, kind)
    given = settings.pop("points", None)
    points = job.inputs["points"] / TABLE if job.inputs else given
    write_result(job, function_named(kind.functions[0])(points, **settings), kind)


STEP = Step("correlate", 1, run, "does an intrinsic number track an extrinsic one?")
