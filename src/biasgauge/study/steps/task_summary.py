"""A downstream task on one model, over seeds that are trained already: `extrinsic`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.errors import InternalError
from biasgauge.study.models import open_model
from biasgauge.study.results import RESULT, TABLE, plain, write_table
from biasgauge.study.step import Step
from biasgauge.study.steps.task import CELLS, task_settings

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """Metrics and gaps over seeds, from what each seed kept."""
    from biasgauge.extrinsic import extrinsic  # noqa: PLC0415 - only this step needs PyTorch

    seeds = job.settings["seeds"]
    with tempfile.TemporaryDirectory(dir=job.out.parent) as folder:
        for number in range(len(seeds)):
            for file in sorted((job.inputs[f"seed{number}"] / CELLS).iterdir()):
                shutil.copyfile(file, Path(folder) / file.name)
        found = extrinsic(
            job.settings["task"],
            open_model(job, "vectors", job.settings["model"]),
            job.files["data"],
            seeds=seeds,
            cache=folder,
            progress=job.progress,
            **task_settings(job),
            **job.settings["summary"],
        )
    if not all(one.reused for one in found.seeds):
        raise InternalError("A model that was trained for this summary was not found; please report it.")
    content = plain(found.to_dict())
    for one in content["seeds"]:
        one["reused"] = False  # in this study, it was trained for this
    job.write_json(RESULT, content)
    write_table(job.out / TABLE, found.to_frame())
    write_table(job.out / "metrics.csv", found.metrics_frame())


STEP = Step("task-summary", 1, run, "a downstream task on one model, over seeds")
