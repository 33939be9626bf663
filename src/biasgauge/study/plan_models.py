"""Cells of models: training, vectors that exist, and mitigations of both."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from biasgauge.errors import BiasgaugeError
from biasgauge.lexicons import lexicon_names
from biasgauge.lexicons.nearest import meant
from biasgauge.lexicons.table import found
from biasgauge.study.book import Group, Member, Version
from biasgauge.study.costs import model_size, vectors_size
from biasgauge.study.files import bytes_of
from biasgauge.study.kind import some_words, unasked
from biasgauge.study.ordering import in_order
from biasgauge.study.parameters import Known, parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from biasgauge.study.book import Book, Settings
    from biasgauge.study.plan_corpora import PlannedCorpus
    from biasgauge.study.schema import ModelTable, Seeds
    from biasgauge.training.recipe import Recipe

OF = ("models", "vectors", "mitigations")
MOST_DIM = 100_000


def plan_models(book: Book, corpora: Mapping[str, PlannedCorpus]) -> None:
    """Cells for every model of every recipe; groups NAME/CORPUS."""
    for name, table in book.study.models.items():
        path = ("models", name)
        recipe = _recipe(book, name, table)
        wanted = list(book.study.corpora) if table.corpora is None else table.corpora
        if not wanted and not any(section == "corpora" for section, _ in book.study.broken):
            book.problem(path, f"the recipe {name!r} has no corpus; write a table [corpora.NAME]")
        for corpus in dict.fromkeys(wanted):
            if corpus not in book.study.corpora and ("corpora", corpus) not in book.study.broken:
                known = list(book.study.corpora)
                listed = f"; there are {', '.join(known)}" if known else ""
                book.problem((*path, "corpora"), f"there is no corpus {corpus!r}{meant(corpus, known) or listed}")
            elif recipe is not None and corpus in corpora:
                _train(book, name, table, corpus, corpora[corpus], recipe)


def seed_list(seeds: Seeds, first: int) -> list[int]:
    """The seeds themselves: as many as are asked for, from the study's own on, or those that are named."""
    return list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)


def _recipe(book: Book, name: str, table: ModelTable) -> dict[str, Any] | None:
    """Settings of training, but for seed and sample; None where something is wrong with them."""
    from dataclasses import fields  # noqa: PLC0415 - as the next

    from biasgauge.training.algorithms import ALGORITHMS  # noqa: PLC0415 - only studies that train need it
    from biasgauge.training.train import train  # noqa: PLC0415 - as above

    path = ("models", name)
    if table.algorithm not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        near = meant(table.algorithm, ALGORITHMS) or f"; there are {known}"
        book.problem((*path, "algorithm"), f"there is no algorithm {table.algorithm!r}{near}")
        return None
    chosen = ALGORITHMS[table.algorithm]
    decided = {"algorithm", "seeds", "bootstrap", "random_state"}
    common = {one: about for one, about in parameters(train, 1).items() if one not in decided}
    own = {one.name: Known(one.default, str(one.type)) for one in fields(chosen.settings)}
    before = len(book.problems)
    what = f"the algorithm {table.algorithm!r}"
    book.checked(path, table.settings, common | own, what, inline=None, own=table.own())
    if len(book.problems) > before:
        return None
    if (dim := table.settings.get("dim", 1)) > MOST_DIM:
        book.problem((*path, "dim"), f"'dim' of {what} must be at most {MOST_DIM:,}, found {found(dim)}")
        return None
    removed = table.settings.get("remove", [])
    if not isinstance(removed, list) or not all(isinstance(word, str) for word in removed):
        book.problem((*path, "remove"), f"'remove' of {what} must be a list of words, found {found(removed)}")
        return None
    try:
        settings = chosen.settings_from({one: table.settings[one] for one in own if one in table.settings})
        recipe = {one: table.settings.get(one, about.default) for one, about in common.items()} | {"remove": removed}
        recipe = {"algorithm": table.algorithm, "version": chosen.version, **recipe, "settings": dict(vars(settings))}
        recipe_of(recipe, seed=0)
    except BiasgaugeError as problem:
        book.problem(path, str(problem))
        return None
    return recipe


def recipe_of(settings: Mapping[str, Any], *, seed: int, sample: int | None = None, corpus: str = "") -> Recipe:
    """The `Recipe` of what a cell of training is told."""
    from biasgauge.training.algorithms import ALGORITHMS  # noqa: PLC0415 - as above
    from biasgauge.training.recipe import Recipe  # noqa: PLC0415 - as above

    others = {
        name: value
        for name, value in settings.items()
        if name not in {"settings", "version", "sample_seed", "seed", "sample"}
    }
    others["remove"] = tuple(others["remove"])
    own = ALGORITHMS[settings["algorithm"]].settings_from(settings["settings"])
    drawn = 0 if sample is None else settings["sample_seed"]
    return Recipe(**{**others, "settings": own}, corpus=corpus, seed=seed, sample=sample, sample_seed=drawn)


def _train(
    book: Book, name: str, table: ModelTable, corpus: str, source: PlannedCorpus, recipe: dict[str, Any]
) -> None:
    first = book.study.about.seed
    size = model_size(book.sizes[source.key], recipe)
    members = []
    for sample in range(table.bootstrap) if table.bootstrap else [None]:
        for seed in seed_list(table.seeds, first):
            drawn = {} if sample is None else {"sample": sample, "sample_seed": first}
            own = f"seed{seed}" if sample is None else f"sample{sample}-seed{seed}"
            label = f"{name}/{corpus}/{own}"
            key = book.add(
                "train",
                {**recipe, "seed": seed, **drawn},
                inputs={"corpus": source.key},
                label=f"train {label}",
                size=size,
            )
            members.append(Member(label, key))
    version = Version(f"{name}/{source.root}")
    for settings in source.balanced:
        version = version.changed("balanced", settings, "strength")
    group = f"{name}/{corpus}"
    book.groups[group] = Group(group, tuple(members), version, name, corpus, source.key)


def plan_vectors(book: Book) -> None:
    """Cells that take vectors in: one for each file; groups NAME."""
    for name, table in book.study.vectors.items():
        if table.default is not None:
            sources = _shipped(table.default)
            limit = {} if table.limit is None else {"limit": table.limit}
            members = [
                Member(
                    f"{name}/{own}" if len(sources) > 1 else name,
                    book.add(
                        "vectors",
                        {**about, **limit},
                        label=f"load {name} {own}".rstrip(),
                        size=vectors_size(size, table.limit),
                    ),
                )
                for own, about, size in sources
            ]
            book.groups[name] = Group(name, tuple(members), Version(name))
            continue
        if places := book.located(table.path, ("vectors", name, "path")):
            book.groups[name] = Group(name, tuple(_loaded(book, name, places, table.limit)), Version(name))


def _loaded(book: Book, name: str, places: Sequence[Path], limit: int | None) -> list[Member]:
    members = []
    for own, place in zip(_different([place.name.split(".")[0] for place in places]), places, strict=True):
        key = book.add(
            "vectors",
            {} if limit is None else {"limit": limit},
            places={"vectors": place},
            label=f"load {name} {own}" if len(places) > 1 else f"load {name}",
            size=vectors_size(bytes_of(place), limit),
        )
        members.append(Member(f"{name}/{own}" if len(places) > 1 else name, key))
    return members


def _different(stems: Sequence[str]) -> list[str]:
    """The same names, with numbers on those that occur more than once, so that none does."""
    often = Counter(stems)
    taken = set(often)
    names = []
    for place, stem in enumerate(stems):
        name = stem
        if often[stem] > 1:
            name = next(one for number in count(place) if (one := f"{stem}-{number}") not in taken)
        taken.add(name)
        names.append(name)
    return names


def _shipped(which: str) -> list[tuple[str, dict[str, Any], int]]:
    """What ships: for each model its name within the group, what its cell is told, and its bytes."""
    from biasgauge._io.checksums import file_sha256  # noqa: PLC0415 - only studies of what ships need it
    from biasgauge.embeddings.default import DEFAULT_PATH, REPLICATES, replicate_path  # noqa: PLC0415 - as above

    paths = (
        {"": DEFAULT_PATH} if which == "glove" else {f"seed{seed}": replicate_path(seed) for seed in range(REPLICATES)}
    )
    return [
        (own, {"default": which, "member": number, "sha256": file_sha256(path)}, path.stat().st_size)
        for number, (own, path) in enumerate(paths.items())
    ]


def plan_mitigations(book: Book) -> None:
    """Cells of mitigations, one for each model; groups NAME/GROUP."""
    from biasgauge.mitigation.registry import mitigations  # noqa: PLC0415 - only those who mitigate need it

    tables = book.study.mitigations
    made_of = {name: [one.split("/")[0] for one in table.of] for name, table in tables.items()}
    settled: set[str] = set()
    for name, path in in_order(book, "mitigations", list(tables), made_of, "of"):
        table = tables[name]
        settled.add(name)
        if table.method not in mitigations():
            near = meant(table.method, mitigations()) or f"; there are {', '.join(mitigations())}"
            book.problem((*path[:2], "method"), f"there is no mitigation {table.method!r}{near}")
            continue
        settings = book.checked(
            path[:2],
            table.settings,
            method_settings(table.method),
            f"the method {table.method!r}",
            checks={"lexicon": lambda value: some_words(value) if isinstance(value, str) else ""},
            trial=partial(_possible, table.method),
        )
        settings.lexicons.update(unasked(lexicon_names()))
        for reference in dict.fromkeys(table.of):
            if reference.split("/")[0] in tables and reference.split("/")[0] not in settled:
                continue  # in a circle, of which a sentence tells already
            for group in book.named(reference, path, book.groups, OF):
                _mitigate(book, name, table.method, settings, group)


def method_settings(method: str) -> dict[str, Known]:
    """Settings of a mitigation."""
    from biasgauge.mitigation.registry import mitigation_method  # noqa: PLC0415 - as in plan_mitigations

    return {name: Known(value, "object") for name, value in mitigation_method(method).get_params().items()}


def _possible(method: str, settings: dict[str, Any]) -> None:
    """Raise what `fit` would say of the settings, before hours of training."""
    from biasgauge.mitigation.registry import mitigation_method  # noqa: PLC0415 - as in plan_mitigations

    mitigation_method(method, **settings)._check_settings()  # noqa: SLF001 - the public way takes vectors


def _mitigate(book: Book, name: str, method: str, settings: Settings, group: Group) -> None:
    members = [
        Member(
            f"{name}/{one.label}",
            book.add(
                "mitigate",
                {"method": method, **settings.told},
                inputs={"vectors": one.key},
                places=settings.places,
                label=f"mitigate {name}/{one.label}",
                size=book.sizes[one.key],
            ),
            one,
        )
        for one in group.members
    ]
    full = f"{name}/{group.name}"
    algorithm = None if group.algorithm is None else f"{name}/{group.algorithm}"
    version = group.version.changed(method, settings.kept, "strength")
    book.groups[full] = Group(full, tuple(members), version, algorithm, group.corpus, group.corpus_key)
