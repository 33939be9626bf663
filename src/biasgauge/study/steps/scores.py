"""Scores of a group of replicates: its words, the scores of each model (`score_to_store`), and all of them together."""

from __future__ import annotations

from biasgauge.lexicons import WordSet
from biasgauge.scores import ScoreStore, score_to_store
from biasgauge.scores.scoring import score
from biasgauge.study.files import restored
from biasgauge.study.outcomes import SCORES, open_model
from biasgauge.study.parameters import arguments, parameters
from biasgauge.study.step import Job, Step

WORDS = "words.json"
NAME = "model"
"""What a model is called here: scores do not depend on what a study calls it."""


def gather_words(job: Job) -> None:
    """Every word once, in the order in which models have it: what "full" means."""
    models = [open_model(job, f"model{number}", NAME) for number in range(len(job.inputs))]
    job.write_json(WORDS, list(dict.fromkeys(word for model in models for word in model.words)))


def score_model(job: Job) -> None:
    """Score the words of the study, or all words of the group."""
    settings = arguments(restored(dict(job.settings["settings"]), job.files), parameters(score, 1))
    if "words" in job.inputs:
        settings["words"] = WordSet(settings["words"], tuple(job.read_json("words", WORDS)))
    model = open_model(job, "vectors", NAME)
    score_to_store(job.out / SCORES, [model], n_jobs=1, progress=job.progress, **settings)


def put_together(job: Job) -> None:
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


STEP = (
    Step("vocabulary", 1, gather_words, "the words of all models of a group"),
    Step("score", 1, score_model, "scores of one model"),
    Step("tensor", 1, put_together, "scores of all models of a group"),
)
