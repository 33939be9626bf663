"""Scores of replicates (`score_to_store`), how reliable they are, what they vary with, and how many are enough."""

from __future__ import annotations

from biasgauge.lexicons import WordSet
from biasgauge.scores import ScoreStore, score, score_to_store
from biasgauge.study.settings import arguments, check_word_lists, import_function, parameters
from biasgauge.study.step import SCORES, Job, Kind, Step, all_lexicons, analysis

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


STEP = (
    Step("vocabulary", 1, gather_words, "the words of all models of a group"),
    Step("score", 1, score_model, "scores of one model"),
    Step("tensor", 1, put_together, "scores of all models of a group"),
    analysis(RELIABILITY, "do scores agree with themselves?"),
    analysis(COMPONENTS, "what do scores vary with?"),
    Step("decision", 1, decide, "how many replicates, pairs, words are enough?", (DECISION,)),
    Step("factors", 1, find_factors, "what goes with reliable scores?", (FACTORS,)),
)
