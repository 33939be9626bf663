"""One model of a corpus: `train` with one seed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from biasgauge.corpora import open_corpus
from biasgauge.study.models import MODEL
from biasgauge.study.plan_models import recipe_of
from biasgauge.study.step import Step
from biasgauge.study.steps.corpus import CORPUS

if TYPE_CHECKING:
    from biasgauge.study.step import Job

RECIPE = "recipe.json"
KEPT = ("recipe", "digest", "words", "tokens", "losses", "untrained")
"""What is kept of the record that training leaves: no times, no places."""


def run(job: Job) -> None:
    """Train, and keep the vectors with how they were made."""
    from biasgauge.training.sweep import run_sweep  # noqa: PLC0415 - only this step needs Numba

    corpus = open_corpus(job.inputs["corpus"] / CORPUS)
    recipe = recipe_of(
        job.settings, seed=job.settings["seed"], sample=job.settings.get("sample"), corpus=corpus.checksum
    )
    (model,) = run_sweep(corpus, [recipe], job.out, n_jobs=1, progress=job.progress)
    record = model.path.with_suffix(".json")
    about = json.loads(record.read_bytes())
    record.unlink()
    model.path.replace(job.out / MODEL)
    job.write_json(RECIPE, {name: about[name] for name in KEPT})


STEP = Step("train", 1, run, "one model of a corpus")
