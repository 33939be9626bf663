"""Downstream tasks (`extrinsic`), intrinsic numbers beside their gaps, and whether the two agree."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from biasgauge.core import JsonObject, to_plain
from biasgauge.errors import InternalError
from biasgauge.study.settings import Setting, check_lexicons, group_sets, import_function
from biasgauge.study.step import RESULT, TABLE, Job, Kind, Step, all_lexicons

CELLS = "cells"
FEWEST = 1000
"""Resamples of intervals that nobody looks at; the fewest that `extrinsic` takes."""

POINTS = Kind(
    "points",
    needs="points",
    functions=("biasgauge.analyses.correlate:points_from_results",),
    checks={"tests": check_lexicons("test")},
    implicit_lexicons=all_lexicons,
    tables={"performance.csv": "performance_frame"},
    about="Versions of embeddings: the effect size of an association test beside the gap of a task.",
    shown=("points",),
)
CORRELATE = Kind(
    "correlate",
    needs="table",
    functions=("biasgauge.analyses.correlate:correlate",),
    extra=(Setting("points", None, "Path"),),
    tables={"points.csv": "points_frame"},
    about="Does the intrinsic number go along with the extrinsic one? 0 is not at all.",
    shown=("groups",),
)


def _task_settings(job: Job) -> JsonObject:
    settings = job.function_settings()
    return {name: None if value == "none" else group_sets(value) for name, value in settings.items()}


def train_task(job: Job) -> None:
    """Train, and keep what `extrinsic` keeps of a finished model."""
    from biasgauge.applications import extrinsic

    extrinsic(
        job.settings["task"],
        job.open_model("vectors", "vectors"),
        job.files["data"],
        seeds=[job.settings["seed"]],
        cache=job.out / CELLS,
        resamples=FEWEST,
        progress=job.progress,
        **_task_settings(job),
    )


def sum_up_task(job: Job) -> None:
    """Metrics and gaps over random seeds, from what each of them kept."""
    from biasgauge.applications import extrinsic

    seeds = job.settings["seeds"]
    with tempfile.TemporaryDirectory(dir=job.out.parent) as folder:
        for number in range(len(seeds)):
            for file in sorted((job.inputs[f"seed{number}"] / CELLS).iterdir()):
                shutil.copyfile(file, Path(folder) / file.name)
        result = extrinsic(
            job.settings["task"],
            job.open_model("vectors", job.settings["model"]),
            job.files["data"],
            seeds=seeds,
            cache=folder,
            progress=job.progress,
            **_task_settings(job),
            **job.settings["summary"],
        )
    if not all(fit.reused for fit in result.seeds):
        raise InternalError("A model that was trained for this summary was not found; please report it.")
    content = to_plain(result)
    for fit in content["seeds"]:
        fit["reused"] = False  # in this study, it was trained for this
    job.write_json(RESULT, content)
    job.write_table(TABLE, result.to_frame())
    job.write_table("metrics.csv", result.metrics_frame())


def make_points(job: Job) -> None:
    """`table.csv`: a row for each model, association test, gap and task seed."""
    from biasgauge.analyses.correlate import Variant

    pairs = [
        (Variant(job.open_model(f"model{number}", version["name"]), **version), job.inputs[f"task{number}"] / RESULT)
        for number, version in enumerate(job.settings["versions"])
    ]
    POINTS.write(job, import_function(POINTS.functions[0])(pairs, **POINTS.arguments(job)))


def correlate_points(job: Job) -> None:
    """On the points of an analysis of this study, or on a file of the user."""
    settings = CORRELATE.arguments(job)
    file = settings.pop("points", None)
    points = job.inputs["points"] / TABLE if job.inputs else file
    CORRELATE.write(job, import_function(CORRELATE.functions[0])(points, **settings))


STEP = (
    Step("task", 1, train_task, "a downstream task trained on one model with one random seed"),
    Step("task-summary", 1, sum_up_task, "a downstream task on one model, over random seeds"),
    Step("points", 1, make_points, "intrinsic numbers beside extrinsic ones", (POINTS,)),
    Step("correlate", 1, correlate_points, "does an intrinsic number track an extrinsic one?", (CORRELATE,)),
)
