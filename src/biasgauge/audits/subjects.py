"""Subjects of an audit: models, and which of them are replicates of one another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from biasgauge.vectors import Embedding


@dataclass(frozen=True, eq=False)
class Subject:
    """One model, or replicates: models of the same text and settings that differ by random seed or sample alone.

    Attributes:
        name: of the model, or what the names of the replicates begin with.
        models: one or several.
    """

    name: str
    models: tuple[Embedding, ...]

    @property
    def replicated(self) -> bool:
        """True if there are replicates, or views in their place."""
        return len(self.models) > 1

    @property
    def shared(self) -> str:
        """Common part of the names of several models; empty for one model."""
        return _shared(self.models) if self.replicated else ""

    @property
    def viewed(self) -> bool:
        """True if the models are views of one transformer."""
        return bool(self.models[0].facets)


def subjects_of(models: Sequence[Embedding], *, replicates: bool = False) -> tuple[Subject, ...]:
    """Models grouped by what their recipes say; `replicates`: all are replicates, because the user says so.

    A model without a recipe is a subject of its own: another model is a second opinion, never a replicate. Views of one
    checkpoint are asked together.
    """
    groups: dict[str, list[Embedding]] = {}
    for number, model in enumerate(models):
        checkpoint = f"views of {model.facets['checkpoint']}" if "checkpoint" in model.facets else ""
        key = "all" if replicates else model.lineage or checkpoint or f"alone {number}"
        groups.setdefault(key, []).append(model)
    names: list[str] = []
    for group in groups.values():
        name = _name(group)
        same = sum(earlier == name or earlier.startswith(f"{name} (") for earlier in names)
        names.append(f"{name} ({same + 1})" if same else name)
    return tuple(Subject(name, tuple(group)) for name, group in zip(names, groups.values(), strict=True))


def _name(models: Sequence[Embedding]) -> str:
    if len(models) == 1:
        return models[0].name
    views = " views" if _of_one_checkpoint(models) else ""
    return f"{_shared(models)} × {len(models)}{views}"


def _of_one_checkpoint(models: Sequence[Embedding]) -> bool:
    return all("checkpoint" in model.facets for model in models)


def _shared(models: Sequence[Embedding]) -> str:
    """The checkpoint of views; else the letters with which all names begin, without a trailing "seed"."""
    if _of_one_checkpoint(models):
        return str(models[0].facets["checkpoint"])
    shared = ""
    for letters in zip(*(model.name for model in models), strict=False):
        if len(set(letters)) > 1:
            break
        shared += letters[0]
    return re.sub(r"[\s,./_-]*(seed)?[\s,./_-]*$", "", shared) or "replicates"


def last_layer_first(models: list[Embedding]) -> list[Embedding]:
    """Views with the last layer in front: what an audit asks of one model alone, it asks of the first."""
    if not all("layer" in model.facets for model in models):
        return models
    return sorted(models, key=lambda model: -int(model.facets["layer"]))
