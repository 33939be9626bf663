"""Intrinsic numbers beside extrinsic ones: `points_from_results` over the models of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, some_lexicons
from biasgauge.study.models import open_model
from biasgauge.study.parameters import function_named
from biasgauge.study.results import RESULT, settings_of, write_result
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

KINDS = (
    Kind(
        "points",
        needs="points",
        step="points",
        functions=("extrinsic.points:points_from_results",),
        checks={"tests": some_lexicons("test")},
        unasked=lexicon_names(),
        tables={"performance.csv": "performance_frame"},
    ),
)


def run(job: Job) -> None:
    """`table.csv`: a row for each model, association test, gap and task seed."""
    from biasgauge.extrinsic.points import Variant  # noqa: PLC0415 - only this step needs it

    (kind,) = KINDS
    pairs = [
        (
            Variant(open_model(job, f"model{number}", version["name"]), **version),
            job.inputs[f"task{number}"] / RESULT,
        )
        for number, version in enumerate(job.settings["versions"])
    ]
    write_result(job, function_named(kind.functions[0])(pairs, **settings_of(job, kind)), kind)


STEP = Step("points", 1, run, "intrinsic numbers beside extrinsic ones")
