"""Transformers: contexts drawn from a text, words encoded (`encode`), and one view of them as a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from biasgauge.encoders.contexts import Contexts, draw_contexts
from biasgauge.encoders.encoding import encode
from biasgauge.encoders.view_files import open_view, save_views
from biasgauge.errors import InputError
from biasgauge.study.outcomes import write_model
from biasgauge.study.step import Job, Step
from biasgauge.study.steps.corpora import TEXT

CONTEXTS, VIEWS = "contexts.json", "views"


def draw(job: Job) -> None:
    """Draw contexts of the words; what the files are called is not recorded."""
    sources: Sequence[Path] = [job.inputs["text"] / TEXT] if job.inputs else list(job.files.values())
    settings = dict(job.settings)
    drawn = draw_contexts(sources, settings.pop("words"), progress=job.progress, **settings)
    told = {name: value for name, value in drawn.settings.items() if name != "corpus"}
    job.write_json(CONTEXTS, replace(drawn, settings=told).to_dict())


def encode_words(job: Job) -> None:
    """Encode the words in one template, or in their contexts, at all layers and poolings that are asked for.

    Raises:
        InputError: no word has as many contexts as were asked for, so that a view would be empty.
    """
    settings = job.settings
    source = job.files["model"] if "model" in job.files else settings.get("source", "")
    model = f"{settings['encoder']}:{source}" if "encoder" in settings else str(source)
    contexts = Contexts.from_dict(job.read_json("contexts", CONTEXTS)) if "contexts" in job.inputs else None
    views = encode(
        model,
        settings["words"],
        None if contexts is not None else [settings["template"]],
        contexts=contexts,
        layers=settings["layers"],
        pooling=settings["poolings"],
        name=settings["checkpoint"],
        device=job.device,
        progress=job.progress,
    )
    most = len(views.facets["context"])
    if contexts is not None and most < contexts.draws:
        raise InputError(
            f"No word stands {contexts.draws:,} times in the corpus, but at most {most:,}; ask for fewer draws"
        )
    save_views(sorted(views, key=lambda view: int(view.facets["context"])), job.out / VIEWS)


def pick(job: Job) -> None:
    """One view as a model that knows its layer, pooling, template and context."""
    write_model(job, open_view(job.inputs["views"] / VIEWS, job.settings["number"]))


STEP = (
    Step("contexts", 1, draw, "sentences of a text in which words stand"),
    Step("encode", 1, encode_words, "words in sentences through a transformer"),
    Step("view", 1, pick, "one view of a transformer"),
)
