"""Cells of models: training, vectors that exist, and mitigations of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonObject
from biasgauge.errors import InputError
from biasgauge.lexicons import describe
from biasgauge.study.files import matching_paths
from biasgauge.study.planning.builder import Member, PlanBuilder, PlannedGroup, changed, original
from biasgauge.study.schema import Seeds
from biasgauge.study.settings import (
    Setting,
    check_words,
    implicit_checksum,
    mitigation_settings,
    parameters,
    training_recipe,
)

MOST_DIM = 100_000
VIEWS = "views"
"""The encoder whose source is a folder of views, each of which is a model."""


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
    from biasgauge.vectors.encoders import read_views, short_name

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
    if not colon or encoder not in registry.names("encoder") or matching_paths(path, plan.study.folder):
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
