"""Scores of replicates and their reliability; downstream tasks, and whether association tests track their gaps."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from biasgauge.core import JsonObject, to_plain
from biasgauge.errors import InternalError
from biasgauge.lexicons import WordSet
from biasgauge.scores import ScoreStore, score, score_to_store
from biasgauge.study.settings import (
    Setting,
    arguments,
    check_lexicons,
    check_word_lists,
    group_sets,
    import_function,
    parameters,
)
from biasgauge.study.step import RESULT, SCORES, TABLE, Job, Kind, Step, all_lexicons, analysis

WORDS = "words.json"
NAME = "model"
"""Name of every model here: scores do not depend on its name in a study."""


def gather_words(job: Job) -> None:
    """Every word once, in the order in which models have it: the meaning of "full"."""
    models = job.open_models([NAME] * len(job.inputs))
    job.write_json(WORDS, list(dict.fromkeys(word for model in models for word in model.words)))


def score_model(job: Job) -> None:
    """Score the words of the study, or all words of the group."""
    settings = arguments(job.function_settings(), parameters(score, 1))
    if "words" in job.inputs:
        settings["words"] = WordSet(settings["words"], tuple(job.read_json("words", WORDS)))
    model = job.open_model("vectors", NAME)
    score_to_store(job.out / SCORES, [model], n_jobs=1, progress=job.progress, **settings)


def put_together(job: Job) -> None:
    """Put the models under their names into one store, one at a time."""
    for number, label in enumerate(job.settings["models"]):
        scores = ScoreStore.open(job.inputs[f"model{number}"] / SCORES)
        provenance = dict(scores.provenance)
        description = {**provenance.pop("models")[NAME], "source": label}
        description.pop("sha256")
        tensor = ScoreStore.create(
            job.out / SCORES, measures=scores.measures, pairs=scores.pairs, words=scores.words, provenance=provenance
        )
        tensor.append(label, scores.model_scores(NAME), description)
        job.progress(number + 1, len(job.settings["models"]))


RELIABILITY = Kind(
    "reliability",
    needs="scores",
    functions=("biasgauge.analyses.reliability:reliability",),
    checks={"lists": check_word_lists},
    implicit_lexicons=all_lexicons,
    about="Do scores agree with themselves: over replicates, over measures, over pairs? 1 is perfect.",
    shown=("summary", "internal", "measures", "relations", "word_forms"),
)
COMPONENTS = Kind(
    "components",
    needs="scores",
    functions=("biasgauge.analyses.reliability:variance_components",),
    about="How much of the variance of scores belongs to words, pairs, replicates, measures and their mixes.",
    shown=("components",),
)
DECISION = Kind(
    "decision",
    needs="scores",
    functions=("biasgauge.analyses.reliability:decision_study", "biasgauge.analyses.reliability:variance_components"),
    tables={"needs.csv": "needs_frame"},
    about="How many replicates, pairs and measures a mean score needs to be dependable.",
    shown=("smallest", "needs"),
)
FACTORS = Kind(
    "factors",
    needs="sources",
    functions=("biasgauge.analyses.reliability:factors",),
    about="What makes a word's scores reliable: a regression with words, algorithms and corpora as levels.",
    shown=("fixed", "random", "r2"),
)


def decide(job: Job) -> None:
    """Estimate the components, then the designs that follow from them."""
    study, components = map(import_function, DECISION.functions)
    settings = DECISION.arguments(job)
    of_study = {name: settings.pop(name) for name in parameters(study, 1) if name in settings}
    DECISION.write(job, study(components(*DECISION.material(job), **settings), **of_study))


def find_factors(job: Job) -> None:
    """One source for each group of scores, with its models, and how often words occur in its corpus."""
    from biasgauge.analyses.reliability import FactorSource

    sources = []
    for number, source in enumerate(job.settings["sources"]):
        corpus = job.open_corpus(f"corpus{number}")
        sources.append(
            FactorSource(
                source["algorithm"],
                source["corpus"],
                ScoreStore.open(job.inputs[f"scores{number}"] / SCORES),
                vectors=job.open_models(source["models"], f"model{number}-"),
                counts=dict(zip(corpus.words, map(float, corpus.counts.tolist()), strict=True)),
            )
        )
    FACTORS.write(job, FACTORS.call(job, sources))


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
    Step("vocabulary", 1, gather_words, "the words of all models of a group"),
    Step("score", 1, score_model, "scores of one model"),
    Step("tensor", 1, put_together, "scores of all models of a group"),
    analysis(RELIABILITY, "do scores agree with themselves?"),
    analysis(COMPONENTS, "what do scores vary with?"),
    Step("decision", 1, decide, "how many replicates, pairs, words are enough?", (DECISION,)),
    Step("factors", 1, find_factors, "what goes with reliable scores?", (FACTORS,)),
    Step("task", 1, train_task, "a downstream task trained on one model with one random seed"),
    Step("task-summary", 1, sum_up_task, "a downstream task on one model, over random seeds"),
    Step("points", 1, make_points, "intrinsic numbers beside extrinsic ones", (POINTS,)),
    Step("correlate", 1, correlate_points, "does an intrinsic number track an extrinsic one?", (CORRELATE,)),
)
