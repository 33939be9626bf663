"""What goes with reliable scores? `factors` over the algorithms and corpora of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.corpora import open_corpus
from biasgauge.scores import ScoreStore
from biasgauge.study.kind import Kind
from biasgauge.study.models import open_models
from biasgauge.study.parameters import function_named
from biasgauge.study.results import SCORES, called, settings_of, write_result
from biasgauge.study.step import Step
from biasgauge.study.steps.corpus import CORPUS

if TYPE_CHECKING:
    from biasgauge.study.step import Job

KINDS = (Kind("factors", needs="sources", step="factors", functions=("reliability:factors",)),)


def run(job: Job) -> None:
    """One source for each group of scores, with its models, and how often words occur in its corpus."""
    from biasgauge.reliability import FactorSource  # noqa: PLC0415 - only this step needs it

    (kind,) = KINDS
    sources = []
    for number, about in enumerate(job.settings["sources"]):
        corpus = open_corpus(job.inputs[f"corpus{number}"] / CORPUS)
        sources.append(
            FactorSource(
                about["algorithm"],
                about["corpus"],
                ScoreStore.open(job.inputs[f"scores{number}"] / SCORES),
                models=open_models(job, about["models"], f"model{number}-"),
                counts=dict(zip(corpus.words, map(float, corpus.counts.tolist()), strict=True)),
            )
        )
    write_result(job, called(job, function_named(kind.functions[0]), sources, **settings_of(job, kind)), kind)


STEP = Step("factors", 1, run, "what goes with reliable scores?")
