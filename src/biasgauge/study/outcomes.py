"""Contents of cells: steps write and open models and results here, and call the function of an analysis."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonObject, to_plain
from biasgauge.io import csv_text
from biasgauge.scores import ScoreStore
from biasgauge.study.files import restored
from biasgauge.study.settings import arguments, import_function
from biasgauge.study.step import Job, Kind, Step
from biasgauge.text import open_corpus
from biasgauge.vectors import Embedding, Notice, load, save

if TYPE_CHECKING:
    import pandas as pd

CORPUS = "corpus"
MODEL, ABOUT = "model.safetensors", "about.json"
RESULT, TABLE = "result.json", "table.csv"
SCORES = "scores"


def write_model(job: Job, model: Embedding) -> None:
    """Keep a model, with what was odd about where it came from."""
    save(model, job.out / MODEL)
    description = {
        "format": model.format,
        "words": len(model),
        "dim": model.dim,
        "notices": [notice.to_dict() for notice in model.notices],
        "dropped": dict(model.dropped),
        **({"facets": dict(model.facets)} if model.facets else {}),
    }
    job.write_json(ABOUT, description)


def open_model(job: Job, source: str, name: str) -> Embedding:
    """The model that an input holds, under the name that results call it by; where it lies is not told on."""
    folder = job.inputs[source]
    model = replace(load(folder / MODEL, name=name), source=name)
    if not (folder / ABOUT).is_file():
        return model
    description = job.read_json(source, ABOUT)
    notices = tuple(Notice(**{**notice, "examples": tuple(notice["examples"])}) for notice in description["notices"])
    dropped, facets = (MappingProxyType(description.get(field, {})) for field in ("dropped", "facets"))
    return replace(model, format=description["format"], notices=notices, dropped=dropped, facets=facets)


def open_models(job: Job, names: list[str], start: str = "model") -> list[Embedding]:
    """The models of several inputs, numbered from 0 on."""
    return [open_model(job, f"{start}{number}", name) for number, name in enumerate(names)]


def settings_of(job: Job, kind: Kind) -> JsonObject:
    """Settings of an analysis as its function takes them."""
    return arguments(restored(dict(job.settings["settings"]), job.files), kind.settings) | dict(kind.fixed)


def material(job: Job, kind: Kind) -> list[Any]:
    """Positional arguments that the study hands to the function."""
    if kind.needs == "scores":
        return [ScoreStore.open(job.inputs["scores"] / SCORES)]
    if kind.needs == "corpus":
        return [open_corpus(job.inputs["corpus"] / CORPUS)]
    if kind.needs == "model":
        return [open_model(job, "vectors", job.settings["model"])]
    if kind.needs in {"models", "models and text"}:
        return [open_models(job, job.settings["models"])]
    return [open_model(job, side, job.settings[side]) for side in ("before", "after")][: kind.positional]


def call(job: Job, kind: Kind, *positional: Any, **more: Any) -> Any:  # noqa: ANN401 - any function
    """Call a kind's function with one thread, and with the job's progress where it takes that."""
    function = import_function(kind.functions[0])
    ours = {"n_jobs": 1, "progress": job.progress}
    accepted = {name: value for name, value in ours.items() if name in signature(function).parameters}
    return function(*positional, **settings_of(job, kind), **accepted, **more)


def analysis(kind: Kind, about: str, version: int = 1) -> Step:
    """The step of a kind whose function takes what it needs and gives a result."""

    def run(job: Job) -> None:
        write_result(job, call(job, kind, *material(job, kind)), kind)

    return Step(kind.name, version, run, about, (kind,))


def write_result(job: Job, result: object, kind: Kind) -> None:
    """Keep a result and its tables."""
    job.write_json(RESULT, to_plain(result))
    for name, method in {TABLE: "to_frame", **kind.tables}.items():
        if hasattr(result, method):
            write_table(job.out / name, getattr(result, method)())


def write_table(path: Path, frame: pd.DataFrame) -> None:
    """Keep a table: numbers in full, undefined ones empty, nothing that a spreadsheet would compute."""
    path.write_text(csv_text(frame), encoding="utf-8", newline="\n")
