"""Steps that make texts and models: texts read, balanced, trained on; vectors taken in, encoded, mitigated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from biasgauge.core import to_plain
from biasgauge.errors import InputError
from biasgauge.io import file_sha256, manifest_text, read_json, read_record
from biasgauge.study.settings import arguments, mitigation_settings, training_recipe
from biasgauge.study.step import CORPUS, MODEL, Job, Step
from biasgauge.text import MANIFEST, read_corpus
from biasgauge.vectors import DEFAULT_PATH, load, replicate_path
from biasgauge.vectors.encoders import Contexts, draw_contexts, encode, open_view, save_views

TEXT, RECIPE, CONTEXTS, VIEWS = "text.txt", "recipe.json", "contexts.json", "views"
RECORDED = ("recipe", "digest", "words", "tokens", "losses", "untrained")
"""Parts of the record that training leaves without times and paths."""


def _texts(job: Job) -> list[Path]:
    """The text that a cell wrote, or the user's files in their order."""
    return [job.inputs["text"] / TEXT] if job.inputs else [job.files[f"text{i}"] for i in range(len(job.files))]


def read(job: Job) -> None:
    """Read the files in their order; their names do not count, so they are not recorded."""
    sources = _texts(job)
    read_corpus(sources, out=job.out / CORPUS, progress=job.progress, **job.settings["settings"])
    manifest = read_record(job.out / CORPUS / MANIFEST, again="run the study again")
    if all(source.is_file() for source in sources):
        for number, file in enumerate(manifest["settings"]["files"]):
            file["name"] = f"text{number}"
    job.write_text(f"{CORPUS}/{MANIFEST}", manifest_text(manifest, indent=1))


def write_balanced(job: Job) -> None:
    """Write the balanced text, and counts of its lines."""
    from biasgauge.mitigation import balance

    settings = job.function_settings()
    source = job.inputs["text"] / TEXT if job.inputs else job.files["text"]
    result = balance(source, settings.pop("lexicon"), out=job.out / TEXT, progress=job.progress, **settings)
    counts = {name: value for name, value in result.to_dict().items() if name not in {"path", "source", "settings"}}
    job.write_json("balance.json", to_plain({**counts, "warnings": result.warnings}))


def train(job: Job) -> None:
    """Train, and keep the vectors with how they were made."""
    from biasgauge.text.training import run_sweep

    corpus, settings = job.open_corpus(), job.settings
    sample = settings.get("sample")
    recipe = training_recipe(settings, seed=settings["seed"], sample=sample, corpus=corpus.checksum)
    (model,) = run_sweep(corpus, [recipe], job.out, n_jobs=1, device=job.device, progress=job.progress)
    record = model.path.with_suffix(".json")
    description = read_json(record)
    record.unlink()
    model.path.replace(job.out / MODEL)
    job.write_json(RECIPE, {name: description[name] for name in RECORDED})


def take_in(job: Job) -> None:
    """Read a file of any format once, and keep it in one that maps into memory."""
    source: Path | str
    if "default" in job.settings:
        source = DEFAULT_PATH if job.settings["default"] == "glove" else replicate_path(job.settings["member"])
        if file_sha256(source) != job.settings["sha256"]:
            raise InputError(
                "The vectors that ship here are not those of the plan; install the same biasgauge everywhere"
            )
    else:
        source = job.files["vectors"] if "vectors" in job.files else job.settings["source"]
    if "encoder" in job.settings:
        source = f"{job.settings['encoder']}:{source}"
    model = load(source, limit=job.settings.get("limit"), progress=job.progress)
    job.write_model(replace(model, facets=MappingProxyType(job.settings.get("facets", {}))))


def mitigate(job: Job) -> None:
    """Fit the method on the vectors, and keep the changed copy and the words that it found."""
    from biasgauge.mitigation import mitigation_method

    name = job.settings["method"]
    method = mitigation_method(name, **arguments(job.function_settings(), mitigation_settings(name)))
    before = job.open_model("vectors", "vectors")
    job.write_model(method.fit(before).transform(before, progress=job.progress))
    coverage = None if method.coverage_ is None else method.coverage_.to_dict()
    job.write_json("mitigation.json", {"coverage": coverage, "emptied": list(method.emptied_)})


def draw(job: Job) -> None:
    """Draw contexts of the words; the names of files are not recorded."""
    settings = dict(job.settings)
    drawn = draw_contexts(_texts(job), settings.pop("words"), progress=job.progress, **settings)
    recorded = {name: value for name, value in drawn.settings.items() if name != "corpus"}
    job.write_json(CONTEXTS, replace(drawn, settings=recorded).to_dict())


def encode_words(job: Job) -> None:
    """Encode the words in one template, or in their contexts, at all layers and poolings of the settings.

    Raises:
        InputError: no word has as many contexts as were asked for, so that a view would be empty.
    """
    settings = job.settings
    source = job.files["model"] if "model" in job.files else settings.get("source", "")
    contexts = Contexts.from_dict(job.read_json("contexts", CONTEXTS)) if "contexts" in job.inputs else None
    views = encode(
        f"{settings['encoder']}:{source}" if "encoder" in settings else str(source),
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
    job.write_model(open_view(job.inputs["views"] / VIEWS, job.settings["number"]))


STEP = (
    Step("corpus", 1, read, "text to tokens"),
    Step("balance", 1, write_balanced, "a text without some of its stereotypical lines"),
    Step("train", 1, train, "one model of a corpus"),
    Step("vectors", 1, take_in, "vectors that exist, taken in"),
    Step("mitigate", 1, mitigate, "vectors debiased or overbiased"),
    Step("contexts", 1, draw, "sentences of a text in which words stand"),
    Step("encode", 1, encode_words, "words in sentences through a transformer"),
    Step("view", 1, pick, "one view of a transformer"),
)
