"""Cells of transformers: contexts drawn from a corpus, words encoded, and each view as a model of its own."""

from __future__ import annotations

import re
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

from biasgauge import registry
from biasgauge.core import JsonObject
from biasgauge.lexicons import words_of
from biasgauge.study.files import path_exists
from biasgauge.study.planning.builder import Member, PlanBuilder, PlannedGroup, original
from biasgauge.study.planning.models import distinct, encoder_source
from biasgauge.study.schema import EncoderTable
from biasgauge.study.settings import parameters
from biasgauge.vectors.encoders import (
    ALL,
    DEFAULT,
    GAP,
    chosen_layers,
    chosen_poolings,
    draw_contexts,
    encode,
    model_shape,
    short_name,
    templates_of,
)

SETTINGS = ("templates", "layers", "pooling", "draws", "case_sensitive", "random_state")
"""Settings of `encode` and `draw_contexts` that a study may give."""
LIBRARIES = ("torch", "transformers", "tokenizers")
"""Libraries whose versions count: others may round otherwise, or split words otherwise."""


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
    known = {name: known[name] for name in SETTINGS}
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
        is_list = file is not None or reference in registry.names("lexicon") or ":" in reference or len(names) == 1
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
