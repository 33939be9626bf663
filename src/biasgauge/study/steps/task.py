"""A downstream task trained on one model with one seed: `extrinsic`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.study.files import restored
from biasgauge.study.models import open_model
from biasgauge.study.plan_tasks import groups_given
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

CELLS = "cells"
FEWEST = 1000
"""Resamples of intervals that nobody looks at; the fewest that `extrinsic` takes."""


def task_settings(job: Job) -> dict[str, Any]:
    """Settings of the task."""
    given: dict[str, Any] = restored(dict(job.settings["settings"]), job.files)
    return {name: None if value == "none" else groups_given(value) for name, value in given.items()}


def run(job: Job) -> None:
    """Keep what `extrinsic` keeps of a finished model."""
    from biasgauge.extrinsic import extrinsic  # noqa: PLC0415 - only this step needs PyTorch

    extrinsic(
        job.settings["task"],
        open_model(job, "vectors", "vectors"),
        job.files["data"],
        seeds=[job.settings["seed"]],
        cache=job.out / CELLS,
        resamples=FEWEST,
        progress=job.progress,
        **task_settings(job),
    )


STEP = Step("task", 1, run, "a downstream task trained on one model with one seed")
