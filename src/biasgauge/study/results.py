"""Results as outcomes of cells, and the common part of all analyses."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from biasgauge.report.tables import csv_text
from biasgauge.scores import ScoreStore
from biasgauge.study.files import restored
from biasgauge.study.kind import GIVEN, Kind
from biasgauge.study.models import open_model, open_models
from biasgauge.study.parameters import arguments, function_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from biasgauge.study.step import Job

RESULT = "result.json"
TABLE = "table.csv"
SCORES = "scores"


def settings_of(job: Job, kind: Kind) -> dict[str, Any]:
    """Settings of an analysis as its function takes them."""
    return arguments(restored(dict(job.settings["settings"]), job.files), kind.known) | dict(kind.fixed)


def called(job: Job, function: Callable[..., Any], *given: Any, **settings: Any) -> Any:  # noqa: ANN401 - any function
    """Call a function with one thread, and with the job's progress where it takes that."""
    takes = signature(function).parameters
    ours = {"n_jobs": 1, "progress": job.progress}
    return function(*given, **settings, **{name: value for name, value in ours.items() if name in takes})


def analysis(kind: Kind) -> Callable[[Job], None]:
    """The work of a kind whose function takes what it needs and gives a result with `to_dict`."""

    def run(job: Job) -> None:
        given = material(job, kind)
        result = called(job, function_named(kind.functions[0]), *given, **settings_of(job, kind))
        write_result(job, result, kind)

    return run


def material(job: Job, kind: Kind) -> list[Any]:
    """What the study hands to the function."""
    if kind.needs == "scores":
        return [ScoreStore.open(job.inputs["scores"] / SCORES)]
    if kind.needs == "model":
        return [open_model(job, "vectors", job.settings["model"])]
    if kind.needs == "models":
        return [open_models(job, job.settings["models"])]
    return [open_model(job, side, job.settings[side]) for side in ("before", "after")][: GIVEN[kind.needs]]


def write_result(job: Job, result: Any, kind: Kind) -> None:  # noqa: ANN401 - anything with to_dict
    """Keep a result and its tables."""
    job.write_json(RESULT, plain(result.to_dict()))
    frames = {TABLE: "to_frame", **kind.tables}
    for name, method in frames.items():
        if hasattr(result, method):
            write_table(job.out / name, getattr(result, method)())


def write_table(path: Path, frame: pd.DataFrame) -> None:
    """Keep a table: numbers in full, undefined ones empty, nothing that a spreadsheet would compute."""
    path.write_text(csv_text(frame), encoding="utf-8", newline="\n")


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """What JSON can hold: numbers of NumPy become numbers, tuples lists."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value
