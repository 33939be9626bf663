"""Analyses of several groups of replicates: by how much they differ, and how that goes along an order."""

from __future__ import annotations

from dataclasses import replace

from biasgauge import registry
from biasgauge.embeddings import Embedding
from biasgauge.study.kind import Kind, some_lexicons, some_words
from biasgauge.study.outcomes import call, open_model, write_result
from biasgauge.study.step import Job, Step
from biasgauge.study.steps.models import RECIPE

COMPARE = Kind(
    "compare",
    needs="groups",
    functions=("comparison:compare",),
    checks={"test": some_lexicons(), "x": some_words, "y": some_words, "a": some_words, "b": some_words},
    unasked=registry.names("lexicon"),
    tables={"words.csv": "words_frame", "contrasts.csv": "contrasts_frame"},
    fewest=2,
    about="The contrast in the second group less that in the first: 0 is no difference.",
    shown=("differences", "trends", "contrasts"),
    result="comparison:Comparison",
    answers=True,
)


def compare_groups(job: Job) -> None:
    """Each group with its models, which keep what their recipes say of seeds and samples."""
    groups = {
        group["name"]: [_model(job, f"model{number}-{place}", name) for place, name in enumerate(group["models"])]
        for number, group in enumerate(job.settings["groups"])
    }
    write_result(job, call(job, COMPARE, groups), COMPARE)


def _model(job: Job, source: str, name: str) -> Embedding:
    model = open_model(job, source, name)
    recipe = job.inputs[source] / RECIPE
    return replace(model, source=str(recipe)) if recipe.is_file() else model


STEP = Step("compare", 1, compare_groups, "by how much groups of models differ", (COMPARE,))
