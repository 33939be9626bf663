"""Cells of models: training, vectors that exist, views of transformers, and mitigations of these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonObject
from biasgauge.errors import InputError
from biasgauge.lexicons import describe, words_of
from biasgauge.study.files import matching_paths, path_exists
from biasgauge.study.planning.builder import Member, PlanBuilder, PlannedGroup, changed, original
from biasgauge.study.schema import EncoderTable, Seeds
from biasgauge.study.settings import (
    Setting,
    check_words,
    implicit_checksum,
    mitigation_settings,
    parameters,
    training_recipe,
)
from biasgauge.vectors.encoders import (
    ALL,
    DEFAULT,
    GAP,
    chosen_layers,
    chosen_poolings,
    draw_contexts,
    encode,
    model_shape,
    read_views,
    short_name,
    templates_of,
)

MOST_DIM = 100_000
VIEWS = "views"
"""The encoder whose source is a folder of views, each of which is a model."""
ENCODER_SETTINGS = ("templates", "layers", "pooling", "draws", "case_sensitive", "random_state")
"""Settings of `encode` and `draw_contexts` that a study may give."""
LIBRARIES = ("torch", "transformers", "tokenizers")
"""Libraries whose versions count: others may round otherwise, or split words otherwise."""


def plan_models(plan: PlanBuilder) -> None:
    """Add a cell for every model of every recipe; groups NAME/CORPUS."""
    first = plan.study.about.seed
    for name, table in plan.study.models.items():
        path = ("models", name)
        recipe = check_recipe(plan, path, table.algorithm, table.settings, table.declared_keys())
        corpora = list(plan.study.corpora) if table.corpora is None else table.corpora
        if not corpora and not any(section == "corpora" for section, _ in plan.study.broken):
            plan.problem(path, f"the recipe {name!r} has no corpus; write a table [corpora.NAME]")
        for corpus in dict.fromkeys(corpora):
            source = plan.corpora.get(corpus)
            if plan.undeclared((*path, "corpora"), f"there is no corpus {corpus!r}", corpus, "corpora"):
                continue
            if recipe is None or source is None:
                continue
            group, inputs = f"{name}/{corpus}", {"corpus": source.key}
            members = []
            for end, draw in model_draws(seed_list(table.seeds, first), table.bootstrap or 0, first):
                label = f"{group}/{end}"
                key = plan.add("train", {**recipe, **draw}, inputs=inputs, label=f"train {label}")
                members.append(Member(label, key))
            version = original(f"{name}/{source.root}")
            for settings in source.balanced:
                version = changed(version, "balanced", settings)
            plan.groups[group] = PlannedGroup(group, tuple(members), version, name, corpus, source.key)


def seed_list(seeds: Seeds, first: int) -> list[int]:
    """The seeds themselves: a number of them from the study's seed on, or those that are named."""
    return list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)


def check_recipe(
    plan: PlanBuilder, path: Sequence[str], algorithm: str, settings: JsonObject, table_keys: Sequence[str] = ()
) -> JsonObject | None:
    """Settings of a training cell, but for seed and sample; None, with a problem noted, where they cannot be used.

    Args:
        plan: where problems are noted.
        path: of the table that has the settings.
        algorithm: its name.
        settings: those of `train` and of the algorithm.
        table_keys: keys of that table which are not settings.
    """
    from biasgauge.text.training import ALGORITHMS, train

    if algorithm not in ALGORITHMS:
        plan.unknown((*path, "algorithm"), f"there is no algorithm {algorithm!r}", algorithm, ALGORITHMS)
        return None
    chosen, owner, before = ALGORITHMS[algorithm], f"the algorithm {algorithm!r}", len(plan.problems)
    decided = {"algorithm", "seeds", "bootstrap", "random_state"}
    common = {name: setting for name, setting in parameters(train, 1).items() if name not in decided}
    specific = {field.name: Setting(field.name, field.default, str(field.type)) for field in fields(chosen.settings)}
    plan.checked(path, settings, common | specific, owner, table_keys=table_keys)
    if len(plan.problems) > before:
        return None
    removed = settings.get("remove", [])
    if (dim := settings.get("dim", 1)) > MOST_DIM:
        plan.problem((*path, "dim"), f"'dim' of {owner} must be at most {MOST_DIM:,}, found {describe(dim)}")
        return None
    if not isinstance(removed, list) or not all(isinstance(word, str) for word in removed):
        plan.problem((*path, "remove"), f"'remove' of {owner} must be a list of words, found {describe(removed)}")
        return None
    with plan.noting(path):
        values = chosen.settings_from({name: settings[name] for name in specific if name in settings})
        shared = {name: settings.get(name, setting.default) for name, setting in common.items()} | {"remove": removed}
        recipe = {"algorithm": algorithm, "version": chosen.version, **shared, "settings": dict(vars(values))}
        training_recipe(recipe, seed=0)
    return recipe if len(plan.problems) == before else None


def model_draws(seeds: Sequence[int], bootstrap: int, first: int) -> list[tuple[str, dict[str, int]]]:
    """End of the label and settings of every model: seeds of every bootstrap sample, or of the corpus itself.

    The samples are drawn with the seed `first`.
    """
    if not bootstrap:
        return [(f"seed{seed}", {"seed": seed}) for seed in seeds]
    return [
        (f"sample{sample}-seed{seed}", {"seed": seed, "sample": sample, "sample_seed": first})
        for sample in range(bootstrap)
        for seed in seeds
    ]


class VectorSource(NamedTuple):
    """Source of a model's vectors: name within its group, settings of its cell, the file if any."""

    stem: str
    settings: JsonObject
    path: Path | None = None


def plan_vectors(plan: PlanBuilder) -> None:
    """Add a cell for each model that is taken in; groups NAME."""
    for name, table in plan.study.vectors.items():
        if table.default is not None:
            sources = _shipped_sources(table.default)
        else:
            paths = [table.path] if isinstance(table.path, str) else table.path or ()
            sources = [source for path in paths for source in _sources(plan, path, ("vectors", name, "path"))]
        several = len(sources) > 1
        limit = {} if table.limit is None else {"limit": table.limit}
        members = []
        for stem, source in zip(distinct([source.stem for source in sources]), sources, strict=True):
            key = plan.add(
                "vectors",
                {**source.settings, **limit},
                paths={} if source.path is None else {"vectors": source.path},
                label=f"load {name} {stem}" if several else f"load {name}",
            )
            members.append(Member(f"{name}/{stem}" if several else name, key))
        if members:
            plan.groups[name] = PlannedGroup(name, tuple(members), original(name))


def _shipped_sources(which: str) -> list[VectorSource]:
    from biasgauge.io import file_sha256
    from biasgauge.vectors import DEFAULT_PATH, REPLICATES, replicate_path

    paths = [DEFAULT_PATH] if which == "glove" else [replicate_path(seed) for seed in range(REPLICATES)]
    return [
        VectorSource(f"seed{number}", {"default": which, "member": number, "sha256": file_sha256(path)})
        for number, path in enumerate(paths)
    ]


def _sources(plan: PlanBuilder, path: str, where: Sequence[str]) -> list[VectorSource]:
    """Sources of a path, a pattern or "ENCODER:SOURCE"; none, with a problem noted, where there is no such thing."""
    named = encoder_source(plan, path)
    if named is None:
        return [VectorSource(file.name.split(".")[0], {}, file) for file in plan.located(path, where)]
    settings, folder = named
    if settings["encoder"] != VIEWS:
        return [VectorSource(settings["encoder"], settings, folder)]
    sources: list[VectorSource] = []
    with plan.noting(where):
        if folder is None:
            raise InputError("there is no such folder of views")
        sources += [
            VectorSource(short_name(view.facets), {"facets": view.facets}, folder / view.path)
            for view in read_views(folder).views
        ]
    return sources


def encoder_source(plan: PlanBuilder, path: str) -> tuple[dict[str, Any], Path | None] | None:
    """Settings of a cell for "ENCODER:SOURCE", and the file or folder where it names one; None where it is a path."""
    encoder, colon, source = path.partition(":")
    if not colon or not registry.has("encoder", encoder) or matching_paths(path, plan.study.folder):
        return None
    file = next(iter(matching_paths(source, plan.study.folder)), None) if source else None
    return ({"encoder": encoder} if file is not None else {"encoder": encoder, "source": source}), file


def distinct(stems: Sequence[str]) -> list[str]:
    """The same names, with numbers on those that occur more than once, so that none does."""
    occurrences = Counter(stems)
    taken = set(occurrences)
    names = []
    for first, stem in enumerate(stems):
        name = stem
        if occurrences[stem] > 1:
            name = next(f"{stem}-{number}" for number in count(first) if f"{stem}-{number}" not in taken)
        taken.add(name)
        names.append(name)
    return names


def plan_mitigations(plan: PlanBuilder) -> None:
    """Add a cell for each mitigated model; groups NAME/GROUP."""
    tables = plan.study.mitigations
    methods = registry.names("mitigation")
    made_of = {name: [reference.split("/")[0] for reference in table.of] for name, table in tables.items()}
    for name in plan.in_order("mitigations", made_of, "of"):
        table, path = tables[name], ("mitigations", name)
        method = table.method
        if method not in methods:
            plan.unknown((*path, "method"), f"there is no mitigation {method!r}", method, methods)
            continue
        settings = plan.checked(
            (*path, "settings"),
            table.settings,
            mitigation_settings(method),
            f"the method {method!r}",
            checks={"lexicon": lambda value: check_words(value) if isinstance(value, str) else ""},
            trial=partial(_try_settings, method),
        )
        settings.lexicons.update(implicit_checksum(registry.names("lexicon")))
        for group in plan.named_once(table.of, (*path, "of")):
            members = []
            for member in group.members:
                label = f"{name}/{member.label}"
                key = plan.add(
                    "mitigate",
                    {"method": method, **settings.cell_settings},
                    inputs={"vectors": member.key},
                    paths=settings.paths,
                    label=f"mitigate {label}",
                )
                members.append(Member(label, key, member))
            plan.groups[f"{name}/{group.name}"] = replace(
                group,
                name=f"{name}/{group.name}",
                members=tuple(members),
                version=changed(group.version, method, settings.stored),
                algorithm=None if group.algorithm is None else f"{name}/{group.algorithm}",
            )


def _try_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Raise what `fit` would say of the settings, before hours of training."""
    from biasgauge.mitigation import mitigation_method

    mitigation_method(method, **settings)._check_settings()  # noqa: SLF001 - the public way takes vectors


class Checkpoint(NamedTuple):
    """One transformer: settings of its cells, its folder if any, its name, its layers and poolings."""

    settings: dict[str, str]
    folder: Path | None
    name: str
    layers: list[int]
    poolings: list[str]


def plan_encoders(plan: PlanBuilder) -> None:
    """Add cells for every view of every transformer; groups NAME."""
    for name, table in plan.study.encoders.items():
        _plan_encoder(plan, name, table)


def _plan_encoder(plan: PlanBuilder, name: str, table: EncoderTable) -> None:
    """Add cells of contexts, of each checkpoint with each template, and of each view."""
    before, path, settings = len(plan.problems), ("encoders", name), table.settings
    known = {**parameters(draw_contexts, 2), **parameters(encode, 2)}
    known = {name: known[name] for name in ENCODER_SETTINGS}
    plan.checked(path, settings, known, "an encoder", table_keys=table.declared_keys())
    words, templates, checkpoints = _words(plan, name, table), _templates(plan, name, table), []
    for source in [table.path] if isinstance(table.path, str) else table.path:
        checkpoints += _checkpoints(plan, (*path, "path"), source, settings)
    if len(plan.problems) > before:
        return
    contexts_input: dict[str, str] = {}
    if table.corpus is not None:
        if table.corpus not in plan.corpora:
            plan.undeclared((*path, "corpus"), f"there is no corpus {table.corpus!r}", table.corpus, "corpora")
            return
        contexts_input = {"contexts": _contexts_cell(plan, name, table, words)}
    versions = {name: version(name) for name in LIBRARIES if find_spec(name) is not None}
    labels: list[str] = []
    keys: list[str] = []
    checkpoint_names = distinct([checkpoint.name for checkpoint in checkpoints])
    for checkpoint_name, checkpoint in zip(checkpoint_names, checkpoints, strict=True):
        layers, poolings = checkpoint.layers, checkpoint.poolings
        encoding = {"words": words, "layers": layers, "poolings": poolings, "checkpoint": checkpoint_name}
        encoding |= {"versions": versions}
        for template in [None] if contexts_input else templates:
            key = plan.add(
                "encode",
                {
                    **checkpoint.settings,
                    **encoding,
                    **({} if template is None else {"template": template}),
                    "versions": versions,
                },
                inputs=contexts_input,
                paths={} if checkpoint.folder is None else {"model": checkpoint.folder},
                label=f"encode {name} {template or 'in context'}",
            )
            contexts = range(1, settings.get("draws", 10) + 1) if template is None else [0]
            # The views of a cell, in the order in which it writes them.
            for number, (context, layer, pooling) in enumerate(product(contexts, layers, poolings)):
                levels: JsonObject = {"checkpoint": checkpoint_name, "layer": layer, "pooling": pooling}
                view = short_name({**levels, "template": template or "", "context": context})
                labels.append(f"{checkpoint_name}-{view}" if len(checkpoints) > 1 else view)
                label = f"view {name} {labels[-1]}"
                keys.append(plan.add("view", {"number": number}, inputs={"views": key}, label=label))
    names = distinct([re.sub(r"[^\w.-]+", "-", label) for label in labels])
    members = tuple(Member(f"{name}/{view}", key) for view, key in zip(names, keys, strict=True))
    if len(set(keys)) < len(keys):
        plan.problem((*path, "path"), f"{name!r} names one model twice")
    elif members:
        plan.groups[name] = PlannedGroup(name, members, original(name))


def _words(plan: PlanBuilder, name: str, table: EncoderTable) -> list[str]:
    """Every word once: those of each lexicon that is named, and the words that are none."""
    names = [table.words] if isinstance(table.words, str) else table.words
    words: list[str] = []
    for reference in names:
        stem = plan.study.folder / reference.partition(".toml")[0]
        file = plan.study.folder / reference if path_exists(stem.with_suffix(".toml")) else None
        is_list = file is not None or registry.has("lexicon", reference) or ":" in reference or len(names) == 1
        if is_list:
            with plan.noting(("encoders", name, "words"), "'words' of an encoder: "):
                words += words_of(str(file or reference)).words
        else:
            words.append(reference)
    return list(dict.fromkeys(words))


def _templates(plan: PlanBuilder, name: str, table: EncoderTable) -> list[str]:
    path, templates = ("encoders", name, "templates"), table.settings.get("templates", DEFAULT)
    if table.corpus is not None:
        if "templates" in table.settings:
            plan.problem(path, "words stand in templates or in natural contexts; leave out 'templates' or 'corpus'")
        return []
    if isinstance(templates, str) and GAP not in templates and ".toml" in templates:
        templates = str(plan.study.folder / templates)
    sentences: list[str] = []
    with plan.noting(path):
        sentences += templates_of(templates)
    return sentences


def _checkpoints(plan: PlanBuilder, where: tuple[str, ...], path: str, settings: JsonObject) -> list[Checkpoint]:
    """The transformers of a path, a pattern or "ENCODER:SOURCE"."""
    named = encoder_source(plan, path)
    sources: list[tuple[dict[str, str], Path | None, str]]
    if named is None:
        sources = [({}, folder, str(folder)) for folder in plan.located(path, where, "model")]
    else:
        cell_settings, folder = named
        sources = [(cell_settings, folder, f"{cell_settings['encoder']}:{folder or cell_settings['source']}")]
    checkpoints = []
    for cell_settings, folder, source in sources:
        with plan.noting(where):
            shape = model_shape(source)
            layers = list(chosen_layers(settings.get("layers", ALL), shape))
            poolings = list(chosen_poolings(settings.get("pooling", ["mean"]), shape))
            checkpoints.append(Checkpoint(cell_settings, folder, shape.name, layers, poolings))
    return checkpoints


def _contexts_cell(plan: PlanBuilder, name: str, table: EncoderTable, words: list[str]) -> str:
    """Key of the cell that draws contexts from the corpus."""
    corpus, settings = plan.corpora[table.corpus or ""], table.settings
    reading = {key: corpus.reading[key] for key in ("layout", "field", "documents")}
    return plan.add(
        "contexts",
        {
            "words": words,
            "draws": settings.get("draws", 10),
            "case_sensitive": settings.get("case_sensitive", False),
            **reading,
            "random_state": settings.get("random_state", plan.study.about.seed),
        },
        inputs={} if corpus.text_key is None else {"text": corpus.text_key},
        paths={f"text{number}": file for number, file in enumerate(corpus.texts)},
        label=f"contexts {name}",
    )
