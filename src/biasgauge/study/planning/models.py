"""Cells of models: training, vectors that exist, and mitigations of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonObject
from biasgauge.errors import BiasgaugeError, InputError
from biasgauge.lexicons import describe
from biasgauge.study.files import matching_paths
from biasgauge.study.planning.builder import Group, Member, PlanBuilder, Settings, Version
from biasgauge.study.schema import ModelTable, Seeds
from biasgauge.study.settings import (
    Setting,
    check_words,
    implicit_checksum,
    mitigation_settings,
    parameters,
    training_recipe,
)

if TYPE_CHECKING:
    from biasgauge.study.planning.corpora import PlannedCorpus

OF = ("models", "vectors", "encoders", "mitigations")
MOST_DIM = 100_000
VIEWS = "views"
"""The encoder whose source is a folder of views, each of which is a model."""


def plan_models(plan: PlanBuilder, corpora: Mapping[str, PlannedCorpus]) -> None:
    """Cells for every model of every recipe; groups NAME/CORPUS."""
    for name, table in plan.study.models.items():
        path = ("models", name)
        recipe = check_recipe(plan, path, table.algorithm, table.settings, table.declared_keys())
        wanted = list(plan.study.corpora) if table.corpora is None else table.corpora
        if not wanted and not any(section == "corpora" for section, _ in plan.study.broken):
            plan.problem(path, f"the recipe {name!r} has no corpus; write a table [corpora.NAME]")
        for corpus in dict.fromkeys(wanted):
            if corpus not in plan.study.corpora and ("corpora", corpus) not in plan.study.broken:
                plan.unknown((*path, "corpora"), f"there is no corpus {corpus!r}", corpus, plan.study.corpora)
            elif recipe is not None and corpus in corpora:
                _train(plan, name, table, corpus, corpora[corpus], recipe)


def seed_list(seeds: Seeds, first: int) -> list[int]:
    """The seeds themselves: as many as are asked for, from the study's own on, or those that are named."""
    return list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)


def check_recipe(
    plan: PlanBuilder,
    path: Sequence[str],
    algorithm: str,
    settings_given: Mapping[str, Any],
    table_keys: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Settings of a training cell, but for seed and sample; None, with a problem noted, where they cannot be used.

    Args:
        plan: where problems are noted.
        path: of the table that has the settings.
        algorithm: its name.
        settings_given: settings of `train` and of the algorithm.
        table_keys: keys of that table which are no settings.
    """
    from biasgauge.text.training import ALGORITHMS, train

    if algorithm not in ALGORITHMS:
        plan.unknown((*path, "algorithm"), f"there is no algorithm {algorithm!r}", algorithm, ALGORITHMS)
        return None
    chosen = ALGORITHMS[algorithm]
    decided = {"algorithm", "seeds", "bootstrap", "random_state"}
    common = {name: setting for name, setting in parameters(train, 1).items() if name not in decided}
    settings = {field.name: Setting(field.name, field.default, str(field.type)) for field in fields(chosen.settings)}
    before = len(plan.problems)
    owner = f"the algorithm {algorithm!r}"
    plan.checked(path, settings_given, common | settings, owner, inline=None, table_keys=table_keys)
    if len(plan.problems) > before:
        return None
    if (dim := settings_given.get("dim", 1)) > MOST_DIM:
        plan.problem((*path, "dim"), f"'dim' of {owner} must be at most {MOST_DIM:,}, found {describe(dim)}")
        return None
    removed = settings_given.get("remove", [])
    if not isinstance(removed, list) or not all(isinstance(word, str) for word in removed):
        plan.problem((*path, "remove"), f"'remove' of {owner} must be a list of words, found {describe(removed)}")
        return None
    try:
        checked = chosen.settings_from({name: settings_given[name] for name in settings if name in settings_given})
        recipe = {name: settings_given.get(name, setting.default) for name, setting in common.items()}
        recipe["remove"] = removed
        recipe = {"algorithm": algorithm, "version": chosen.version, **recipe, "settings": dict(vars(checked))}
        training_recipe(recipe, seed=0)
    except BiasgaugeError as problem:
        plan.problem(path, str(problem))
        return None
    return recipe


class Draw(NamedTuple):
    """One of the models of a recipe and corpus: what its label ends with, and what its cell is told."""

    label: str
    settings: dict[str, int]


def model_draws(seeds: Sequence[int], bootstrap: int, first: int) -> list[Draw]:
    """Seeds of every bootstrap sample, or of the corpus itself; `first` is the seed of the samples."""
    return [
        Draw(
            f"seed{seed}" if sample is None else f"sample{sample}-seed{seed}",
            {"seed": seed, **({} if sample is None else {"sample": sample, "sample_seed": first})},
        )
        for sample in (range(bootstrap) if bootstrap else [None])
        for seed in seeds
    ]


def _train(
    plan: PlanBuilder, name: str, table: ModelTable, corpus: str, source: PlannedCorpus, recipe: JsonObject
) -> None:
    first = plan.study.about.seed
    members = []
    for draw in model_draws(seed_list(table.seeds, first), table.bootstrap or 0, first):
        label = f"{name}/{corpus}/{draw.label}"
        key = plan.add("train", {**recipe, **draw.settings}, inputs={"corpus": source.key}, label=f"train {label}")
        members.append(Member(label, key))
    version = Version(f"{name}/{source.root}")
    for settings in source.balanced:
        version = version.changed("balanced", settings, "strength")
    group = f"{name}/{corpus}"
    plan.groups[group] = Group(group, tuple(members), version, name, corpus, source.key)


def plan_vectors(plan: PlanBuilder) -> None:
    """Cells that take vectors in: one for each file; groups NAME."""
    for name, table in plan.study.vectors.items():
        if table.default is not None:
            shipped = _shipped(table.default)
            limit = {} if table.limit is None else {"limit": table.limit}
            members = [
                Member(
                    f"{name}/{member}" if len(shipped) > 1 else name,
                    plan.add(
                        "vectors",
                        {**settings, **limit},
                        label=f"load {name} {member}".rstrip(),
                    ),
                )
                for member, settings in shipped
            ]
            plan.groups[name] = Group(name, tuple(members), Version(name))
            continue
        paths = [table.path] if isinstance(table.path, str) else table.path or ()
        sources = [source for path in paths for source in _sources(plan, path, ("vectors", name, "path"))]
        if sources:
            plan.groups[name] = Group(name, tuple(_loaded(plan, name, sources, table.limit)), Version(name))


class _Source(NamedTuple):
    """Source of a model's vectors: name within its group, settings of its cell, the file if any."""

    stem: str
    settings: JsonObject
    path: Path | None


def _sources(plan: PlanBuilder, path: str, where: Sequence[str]) -> list[_Source]:
    """Sources of a path, a pattern or "ENCODER:SOURCE"; none, with a problem noted, where there is no such thing."""
    named = encoder_source(plan, path)
    if named is not None:
        settings, file = named
        return _views(plan, file, where) if settings["encoder"] == VIEWS else [_Source(settings["encoder"], *named)]
    return [_Source(file.name.split(".")[0], {}, file) for file in plan.located(path, where)]


def encoder_source(plan: PlanBuilder, path: str) -> tuple[dict[str, Any], Path | None] | None:
    """Settings of a cell for "ENCODER:SOURCE", and the file or folder where it names one; None where it is a path."""
    encoder, colon, source = path.partition(":")
    if not colon or encoder not in registry.names("encoder") or matching_paths(path, plan.study.folder):
        return None
    file = next(iter(matching_paths(source, plan.study.folder)), None) if source else None
    return ({"encoder": encoder} if file is not None else {"encoder": encoder, "source": source}), file


def _views(plan: PlanBuilder, folder: Path | None, where: Sequence[str]) -> list[_Source]:
    """Every view of a folder that `biasgauge encode` wrote, with its levels."""
    from biasgauge.vectors.encoders import read_views, short_name

    try:
        if folder is None:
            raise InputError("there is no such folder of views")
        stored = read_views(folder)
    except BiasgaugeError as problem:
        plan.problem(where, str(problem))
        return []
    return [_Source(short_name(file.facets), {"facets": file.facets}, folder / file.path) for file in stored.views]


def _loaded(plan: PlanBuilder, name: str, sources: Sequence[_Source], limit: int | None) -> list[Member]:
    members = []
    for stem, source in zip(different([source.stem for source in sources]), sources, strict=True):
        key = plan.add(
            "vectors",
            {**source.settings, **({} if limit is None else {"limit": limit})},
            paths={} if source.path is None else {"vectors": source.path},
            label=f"load {name} {stem}" if len(sources) > 1 else f"load {name}",
        )
        members.append(Member(f"{name}/{stem}" if len(sources) > 1 else name, key))
    return members


def different(stems: Sequence[str]) -> list[str]:
    """The same names, with numbers on those that occur more than once, so that none does."""
    often = Counter(stems)
    names_used = set(often)
    names = []
    for first, stem in enumerate(stems):
        name = stem
        if often[stem] > 1:
            name = next(f"{stem}-{number}" for number in count(first) if f"{stem}-{number}" not in names_used)
        names_used.add(name)
        names.append(name)
    return names


def _shipped(which: str) -> list[tuple[str, dict[str, Any]]]:
    """Shipped models: name within the group, and settings of the cell."""
    from biasgauge.io import file_sha256
    from biasgauge.vectors import DEFAULT_PATH, REPLICATES, replicate_path

    paths = (
        {"": DEFAULT_PATH} if which == "glove" else {f"seed{seed}": replicate_path(seed) for seed in range(REPLICATES)}
    )
    return [
        (member, {"default": which, "member": number, "sha256": file_sha256(path)})
        for number, (member, path) in enumerate(paths.items())
    ]


def plan_mitigations(plan: PlanBuilder) -> None:
    """Cells of mitigations, one for each model; groups NAME/GROUP."""
    tables = plan.study.mitigations
    made_of = {name: [reference.split("/")[0] for reference in table.of] for name, table in tables.items()}
    planned: set[str] = set()
    for name in plan.in_order("mitigations", made_of, "of"):
        table, path = tables[name], ("mitigations", name)
        planned.add(name)
        methods = registry.names("mitigation")
        if table.method not in methods:
            plan.unknown((*path, "method"), f"there is no mitigation {table.method!r}", table.method, methods)
            continue
        settings = plan.checked(
            path,
            table.settings,
            mitigation_settings(table.method),
            f"the method {table.method!r}",
            checks={"lexicon": lambda value: check_words(value) if isinstance(value, str) else ""},
            trial=partial(_possible, table.method),
        )
        settings.lexicons.update(implicit_checksum(registry.names("lexicon")))
        for reference in dict.fromkeys(table.of):
            if reference.split("/")[0] in tables and reference.split("/")[0] not in planned:
                continue  # in a circle, of which a sentence tells already
            for group in plan.named(reference, (*path, "of"), plan.groups, OF):
                _mitigate(plan, name, table.method, settings, group)


def _possible(method: str, settings: JsonObject) -> None:
    """Raise what `fit` would say of the settings, before hours of training."""
    from biasgauge.mitigation import mitigation_method

    mitigation_method(method, **settings)._check_settings()  # noqa: SLF001 - the public way takes vectors


def _mitigate(plan: PlanBuilder, name: str, method: str, settings: Settings, group: Group) -> None:
    members = [
        Member(
            f"{name}/{member.label}",
            plan.add(
                "mitigate",
                {"method": method, **settings.cell_settings},
                inputs={"vectors": member.key},
                paths=settings.paths,
                label=f"mitigate {name}/{member.label}",
            ),
            member,
        )
        for member in group.members
    ]
    full = f"{name}/{group.name}"
    algorithm = None if group.algorithm is None else f"{name}/{group.algorithm}"
    version = group.version.changed(method, settings.stored, "strength")
    plan.groups[full] = Group(full, tuple(members), version, algorithm, group.corpus, group.corpus_key)
