"""Cells of transformers: contexts drawn from a corpus, words encoded, and each view as a model of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.core import JsonObject
from biasgauge.errors import BiasgaugeError
from biasgauge.lexicons import words_of
from biasgauge.study.files import path_exists
from biasgauge.study.planning.builder import Group, Member, PlanBuilder, Version
from biasgauge.study.planning.models import different, encoder_source
from biasgauge.study.settings import parameters
from biasgauge.vectors.encoders import (
    ALL,
    DEFAULT,
    GAP,
    ModelShape,
    chosen_layers,
    chosen_poolings,
    draw_contexts,
    encode,
    model_shape,
    short_name,
    templates_of,
)

if TYPE_CHECKING:
    from biasgauge.study.planning.corpora import PlannedCorpus
    from biasgauge.study.schema import EncoderTable

SETTINGS = ("templates", "layers", "pooling", "draws", "case_sensitive", "random_state")
"""What a study may say of `encode` and `draw_contexts`."""
LIBRARIES = ("torch", "transformers", "tokenizers")
"""Whose versions count: others may round otherwise, or split words otherwise."""


def plan_encoders(plan: PlanBuilder, corpora: Mapping[str, PlannedCorpus]) -> None:
    """Cells for every view of every transformer; groups NAME."""
    for name, table in plan.study.encoders.items():
        _Encoder(plan, name, table).plan_cells(corpora)


class _Encoder:
    """One table, whose settings become the words, sentences, layers and poolings that they mean."""

    def __init__(self, plan: PlanBuilder, name: str, table: EncoderTable) -> None:
        self.plan, self.name, self.table = plan, name, table
        self.path = ("encoders", name)
        self.settings: JsonObject = table.settings

    def plan_cells(self, corpora: Mapping[str, PlannedCorpus]) -> None:
        """Cells of contexts, of each checkpoint with each template, and of each view."""
        before = len(self.plan.problems)
        every = {
            **parameters(draw_contexts, 2),
            **parameters(encode, 2),
        }
        parameters_known = {name: every[name] for name in SETTINGS}
        self.plan.checked(
            self.path, self.settings, parameters_known, "an encoder", inline=None, table_keys=self.table.declared_keys()
        )
        words, templates = self._words(), self._templates()
        checkpoints = self._checkpoints()
        if len(self.plan.problems) > before:
            return
        drawn = None if self.table.corpus is None else self._contexts(words, corpora)
        if self.table.corpus is not None and drawn is None:
            return
        members: list[Member] = []
        labels: list[str] = []
        for source, folder, shape in checkpoints:
            layers, poolings = self._levels(shape)
            for template in [None] if drawn is not None else templates:
                settings = {**source, "words": words, "layers": layers, "poolings": poolings, "checkpoint": shape.name}
                settings |= {"template": template} if template is not None else {}
                contexts = range(1, self.settings.get("draws", 10) + 1) if template is None else [0]
                key = self.plan.add(
                    "encode",
                    {**settings, "versions": _versions()},
                    inputs={} if drawn is None else {"contexts": drawn},
                    paths={} if folder is None else {"model": folder},
                    label=f"encode {self.name} {template or 'in context'}",
                )
                for number, facets in enumerate(_facets(shape, layers, poolings, template, contexts)):
                    view = short_name(facets)
                    labels.append(f"{shape.name}-{view}" if len(checkpoints) > 1 else view)
                    members.append(Member("", self._view(key, number, labels[-1])))
        names = different([re.sub(r"[^\w.-]+", "-", label) for label in labels])
        group = tuple(Member(f"{self.name}/{view}", member.key) for view, member in zip(names, members, strict=True))
        if len({member.key for member in group}) < len(group):
            self.plan.problem((*self.path, "path"), f"{self.name!r} names one model twice")
        if group and len(self.plan.problems) == before:
            self.plan.groups[self.name] = Group(self.name, group, Version(self.name))

    def _view(self, key: str, number: int, label: str) -> str:
        return self.plan.add("view", {"number": number}, inputs={"views": key}, label=f"view {self.name} {label}")

    def _words(self) -> list[str]:
        """Every word once: those of each lexicon that is named, and the words that are none."""
        names = [self.table.words] if isinstance(self.table.words, str) else self.table.words
        listed: list[str] = []
        for name in names:
            stem = self.plan.study.folder / name.partition(".toml")[0]
            file = self.plan.study.folder / name if path_exists(stem.with_suffix(".toml")) else None
            is_list = file is not None or name in registry.names("lexicon") or ":" in name or len(names) == 1
            if not is_list:
                listed.append(name)
                continue
            try:
                listed += words_of(str(file or name)).words
            except BiasgaugeError as problem:
                self.plan.problem((*self.path, "words"), f"'words' of an encoder: {problem}")
        return list(dict.fromkeys(listed))

    def _templates(self) -> list[str]:
        templates = self.settings.get("templates", DEFAULT)
        if self.table.corpus is not None:
            if "templates" in self.settings:
                sentence = "words stand in templates or in natural contexts; leave out 'templates' or 'corpus'"
                self.plan.problem((*self.path, "templates"), sentence)
            return []
        try:
            if isinstance(templates, str) and GAP not in templates and ".toml" in templates:
                templates = str(self.plan.study.folder / templates)
            return list(templates_of(templates))
        except BiasgaugeError as problem:
            self.plan.problem((*self.path, "templates"), str(problem))
            return []

    def _checkpoints(self) -> list[tuple[dict[str, str], Path | None, ModelShape]]:
        """Settings, folder and shape of each model."""
        checkpoints: list[tuple[dict[str, str], Path | None, ModelShape]] = []
        for path in [self.table.path] if isinstance(self.table.path, str) else self.table.path:
            named = encoder_source(self.plan, path)
            folders: Sequence[Path | None]
            if named is not None:
                settings, folder = named
                source = f"{settings['encoder']}:{folder or settings['source']}"
                folders = [folder]
            else:
                settings, folders = {}, self.plan.located(path, (*self.path, "path"), "model")
            for folder in folders:
                try:
                    shape = model_shape(source if named is not None else str(folder))
                    chosen_layers(self._layers(), shape), chosen_poolings(self._poolings(), shape)
                except BiasgaugeError as problem:
                    self.plan.problem((*self.path, "path"), str(problem))
                else:
                    checkpoints.append((settings, folder, shape))
        names: list[str] = different([shape.name for _, _, shape in checkpoints])
        return [
            (settings, folder, ModelShape(name, shape.layers, shape.poolings, shape.dim))
            for name, (settings, folder, shape) in zip(names, checkpoints, strict=True)
        ]

    def _layers(self) -> Any:  # noqa: ANN401 - as the user wrote it
        return self.settings.get("layers", ALL)

    def _poolings(self) -> Any:  # noqa: ANN401 - as above
        return self.settings.get("pooling", ["mean"])

    def _levels(self, shape: ModelShape) -> tuple[list[int], list[str]]:
        return list(chosen_layers(self._layers(), shape)), list(chosen_poolings(self._poolings(), shape))

    def _contexts(self, words: list[str], corpora: Mapping[str, PlannedCorpus]) -> str | None:
        """The cell that draws them; None, and noted, where there is no such corpus."""
        name = self.table.corpus or ""
        if name not in corpora:
            if ("corpora", name) not in self.plan.study.broken and name not in self.plan.study.corpora:
                self.plan.unknown((*self.path, "corpus"), f"there is no corpus {name!r}", name, self.plan.study.corpora)
            return None
        corpus = corpora[name]
        drawn = {"draws": self.settings.get("draws", 10), "case_sensitive": self.settings.get("case_sensitive", False)}
        seed = self.settings.get("random_state", self.plan.study.about.seed)
        reading = {key: corpus.reading[key] for key in ("layout", "field", "documents")}
        return self.plan.add(
            "contexts",
            {"words": words, **drawn, **reading, "random_state": seed},
            inputs={} if corpus.text_key is None else {"text": corpus.text_key},
            paths={f"text{number}": file for number, file in enumerate(corpus.texts)},
            label=f"contexts {self.name}",
        )


def _facets(
    shape: ModelShape, layers: Sequence[int], poolings: Sequence[str], template: str | None, contexts: Sequence[int]
) -> list[JsonObject]:
    """Levels of the views of one cell, in the order in which it writes them."""
    return [
        {"checkpoint": shape.name, "layer": layer, "pooling": pooling, "template": template or "", "context": context}
        for context in contexts
        for layer in layers
        for pooling in poolings
    ]


def _versions() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
