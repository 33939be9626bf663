"""Transformers: contexts drawn from a text, words encoded (`encode`), each view as a model, tests over all views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from biasgauge import registry
from biasgauge.errors import InputError
from biasgauge.study.outcomes import analysis, write_model
from biasgauge.study.settings import TEST_OR_SETS, check_sets
from biasgauge.study.step import Job, Kind, Step
from biasgauge.study.steps.corpora import TEXT
from biasgauge.vectors.encoders import Contexts, draw_contexts, encode, open_view, save_views

CONTEXTS, VIEWS = "contexts.json", "views"


def draw(job: Job) -> None:
    """Draw contexts of the words; what the files are called is not recorded."""
    sources: Sequence[Path] = [job.inputs["text"] / TEXT] if job.inputs else list(job.files.values())
    settings = dict(job.settings)
    drawn = draw_contexts(sources, settings.pop("words"), progress=job.progress, **settings)
    settings_recorded = {name: value for name, value in drawn.settings.items() if name != "corpus"}
    job.write_json(CONTEXTS, replace(drawn, settings=settings_recorded).to_dict())


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


WEAT = registry.get("association_test", "weat").function
"""Whose settings the tests in context take too."""


def _in_context(name: str, about: str) -> Kind:
    return Kind(
        name,
        needs="models",
        functions=(f"biasgauge.scores:{name}", WEAT),
        checks=TEST_OR_SETS,
        hidden=("ties", "counts"),
        trial=check_sets,
        about=about,
        shown=("rows",),
    )


SEAT = _in_context("seat", "WEAT on words in templates, by layer and pooling; words are the sample.")
CEAT = _in_context(
    "ceat",
    "WEAT on words in natural contexts, by layer and pooling; words are the sample, contexts nested in them.",
)
SPECIFICATION_CURVE = Kind(
    "specification-curve",
    needs="models",
    functions=("biasgauge.analyses.robustness:specification_curve",),
    checks=TEST_OR_SETS,
    trial=check_sets,
    about="One test under every view, with a p of all of them together.",
    shown=("facets",),
    result="biasgauge.analyses.robustness:SpecificationCurve",
)
STEP = (
    Step("contexts", 1, draw, "sentences of a text in which words stand"),
    Step("encode", 1, encode_words, "words in sentences through a transformer"),
    Step("view", 1, pick, "one view of a transformer"),
    analysis(SEAT, "words in templates"),
    analysis(CEAT, "words in natural contexts"),
    analysis(SPECIFICATION_CURVE, "one test under every view"),
)
