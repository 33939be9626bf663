"""Scores of one model: `score_to_store`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import WordSet
from biasgauge.scores import score_to_store
from biasgauge.scores.score import score
from biasgauge.study.files import restored
from biasgauge.study.models import open_model
from biasgauge.study.parameters import arguments, parameters
from biasgauge.study.results import SCORES
from biasgauge.study.step import Step
from biasgauge.study.steps.vocabulary import WORDS

if TYPE_CHECKING:
    from biasgauge.study.step import Job

NAME = "model"
"""What the model is called here: scores do not hang on what a study calls it."""


def run(job: Job) -> None:
    """Score the words of the study, or all words of the group."""
    settings = arguments(restored(dict(job.settings["settings"]), job.files), parameters(score, 1))
    if "words" in job.inputs:
        settings["words"] = WordSet(settings["words"], tuple(job.read_json("words", WORDS)))
    model = open_model(job, "vectors", NAME)
    score_to_store(job.out / SCORES, [model], n_jobs=1, progress=job.progress, **settings)


STEP = Step("score", 1, run, "scores of one model")
