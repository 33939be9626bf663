"""Models: trained with one random seed (`train`), taken in from files (`load`), debiased or overbiased (`mitigate`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from biasgauge.errors import InputError
from biasgauge.io import file_sha256, read_json
from biasgauge.study.files import restored
from biasgauge.study.outcomes import CORPUS, MODEL, open_model, write_model
from biasgauge.study.settings import arguments, mitigation_settings, training_recipe
from biasgauge.study.step import Job, Step
from biasgauge.text import open_corpus
from biasgauge.vectors import DEFAULT_PATH, load, replicate_path

RECIPE = "recipe.json"
KEPT = ("recipe", "digest", "words", "tokens", "losses", "untrained")
"""What is kept of the record that training leaves: no times, no places."""


def train(job: Job) -> None:
    """Train, and keep the vectors with how they were made."""
    from biasgauge.text.training import run_sweep

    corpus = open_corpus(job.inputs["corpus"] / CORPUS)
    recipe = training_recipe(
        job.settings, seed=job.settings["seed"], sample=job.settings.get("sample"), corpus=corpus.checksum
    )
    (model,) = run_sweep(corpus, [recipe], job.out, n_jobs=1, device=job.device, progress=job.progress)
    record = model.path.with_suffix(".json")
    description = read_json(record)
    record.unlink()
    model.path.replace(job.out / MODEL)
    job.write_json(RECIPE, {name: description[name] for name in KEPT})


def take_in(job: Job) -> None:
    """Read a file of any format once, and keep it in one that maps into memory."""
    source: Path | str
    if "default" in job.settings:
        source = DEFAULT_PATH if job.settings["default"] == "glove" else replicate_path(job.settings["member"])
        if file_sha256(source) != job.settings["sha256"]:
            raise InputError(
                "The vectors that ship here are not those of the plan; install the same biasgauge everywhere"
            )
    else:
        source = job.files["vectors"] if "vectors" in job.files else job.settings["source"]
    if "encoder" in job.settings:
        source = f"{job.settings['encoder']}:{source}"
    model = load(source, limit=job.settings.get("limit"), progress=job.progress)
    write_model(job, replace(model, facets=MappingProxyType(job.settings.get("facets", {}))))


def mitigate(job: Job) -> None:
    """Fit the method on the vectors and keep the changed copy, and which words it found."""
    from biasgauge.mitigation import mitigation_method

    name = job.settings["method"]
    settings = restored(dict(job.settings["settings"]), job.files)
    method = mitigation_method(name, **arguments(settings, mitigation_settings(name)))
    before = open_model(job, "vectors", "vectors")
    write_model(job, method.fit(before).transform(before, progress=job.progress))
    coverage = None if method.coverage_ is None else method.coverage_.to_dict()
    job.write_json("mitigation.json", {"coverage": coverage, "emptied": list(method.emptied_)})


STEP = (
    Step("train", 1, train, "one model of a corpus"),
    Step("vectors", 1, take_in, "vectors that exist, taken in"),
    Step("mitigate", 1, mitigate, "vectors debiased or overbiased"),
)
