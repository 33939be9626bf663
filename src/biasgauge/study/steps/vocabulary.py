"""The words of all models of a group: what "full" means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.models import open_model
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

WORDS = "words.json"


def run(job: Job) -> None:
    """Every word once, in the order in which models have it."""
    models = [open_model(job, f"model{number}", "model") for number in range(len(job.inputs))]
    job.write_json(WORDS, list(dict.fromkeys(word for model in models for word in model.words)))


STEP = Step("vocabulary", 1, run, "the words of all models of a group")
