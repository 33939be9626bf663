"""Scores of all models of a group, as one store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.scores import ScoreStore
from biasgauge.study.results import SCORES
from biasgauge.study.step import Step
from biasgauge.study.steps.score import NAME

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """Put the models under their names into one store, one at a time."""
    for number, label in enumerate(job.settings["models"]):
        part = ScoreStore.open(job.inputs[f"model{number}"] / SCORES)
        provenance = dict(part.provenance)
        about = {**provenance.pop("models")[NAME], "source": label}
        about.pop("sha256")
        whole = ScoreStore.create(
            job.out / SCORES, measures=part.measures, pairs=part.pairs, words=part.words, provenance=provenance
        )
        whole.append(label, part.model_scores(NAME), about)
        job.progress(number + 1, len(job.settings["models"]))


STEP = Step("tensor", 1, run, "scores of all models of a group")
