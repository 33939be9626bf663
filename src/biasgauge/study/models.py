"""Models as outcomes of cells: how steps write and open them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from biasgauge.embeddings import Embedding, Notice, load, save

if TYPE_CHECKING:
    from biasgauge.study.step import Job

MODEL = "model.safetensors"
ABOUT = "about.json"


def write_model(job: Job, model: Embedding) -> None:
    """Keep a model, with what was odd about where it came from."""
    save(model, job.out / MODEL)
    about = {
        "format": model.format,
        "words": len(model),
        "dim": model.dim,
        "notices": [one.to_dict() for one in model.notices],
        "dropped": dict(model.dropped),
    }
    job.write_json(ABOUT, about)


def open_model(job: Job, source: str, name: str) -> Embedding:
    """The model that an input holds, under the name that results call it by; where it lies is not told on."""
    folder = job.inputs[source]
    model = replace(load(folder / MODEL, name=name), source=name)
    if not (folder / ABOUT).is_file():
        return model
    about = job.read_json(source, ABOUT)
    notices = tuple(Notice(**{**one, "examples": tuple(one["examples"])}) for one in about["notices"])
    return replace(model, format=about["format"], notices=notices, dropped=MappingProxyType(about["dropped"]))


def open_models(job: Job, names: list[str], start: str = "model") -> list[Embedding]:
    """The models of several inputs, numbered from 0 on."""
    return [open_model(job, f"{start}{number}", name) for number, name in enumerate(names)]
