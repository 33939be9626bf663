"""Groups of models to compare: what each is made of, what sets its models apart, where it stands in an order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from biasgauge.core import Floats, ModelsLike, Record, check_number
from biasgauge.errors import ParameterError
from biasgauge.vectors import OWN, Embedding, load, named_models, recipe_beside

Replicates = Literal["auto", "seeds", "samples", "texts"]
"""What sets the models of a group apart: random seeds, bootstrap samples of one text, or texts of their own."""

Recipe = dict[str, Any]


@dataclass(frozen=True)
class ComparedGroup(Record):
    """One of the groups.

    Attributes:
        name: what it is called.
        models: names of its models.
        replicates: what sets them apart: "seeds", "samples" or "texts"; "none" where there is one.
        position: where it stands in the order; None where there is none.
    """

    name: str
    models: tuple[str, ...]
    replicates: str
    position: float | None = None


@dataclass(frozen=True, eq=False)
class ModelGroup:
    """A group with its models, of which only the words that are asked for are read.

    Attributes:
        description: name, models and what sets them apart.
        models: one or several.
        samples: the bootstrap sample of each model; models of one sample make one replicate.
        recipes: how each was trained, where that is known.
    """

    description: ComparedGroup
    models: tuple[Embedding, ...]
    samples: tuple[int | None, ...]
    recipes: tuple[Recipe | None, ...]

    @property
    def name(self) -> str:
        """Name of the group."""
        return self.description.name

    @property
    def resampled(self) -> bool:
        """True if its replicates are bootstrap samples of one text."""
        return self.description.replicates == "samples"

    def replicated(self, table: Floats) -> Floats:
        """Similarities by replicate, from those by model: seeds of one bootstrap sample are averaged."""
        if not self.resampled or None in self.samples:
            return table
        samples = np.array(self.samples)
        return np.stack([table[samples == sample].mean(axis=0) for sample in dict.fromkeys(self.samples)])


def read_groups(
    groups: Mapping[str, ModelsLike],
    words: Sequence[str],
    positions: Mapping[str, float],
    *,
    case_fallback: bool,
    replicates: Replicates,
) -> list[ModelGroup]:
    """Read the words asked for from every model of every group, in the order of positions where there are any.

    Raises:
        ParameterError: fewer than two groups, one without models, or one model in two places.
    """
    if not isinstance(groups, Mapping) or len(groups) < 2:
        got = f"{len(groups)} group" if isinstance(groups, Mapping) else type(groups).__name__
        raise ParameterError(
            'A comparison needs at least two named groups of models, such as {"1950s": […], "1990s": […]}. '
            f"Got {got}."
        )
    read = []
    seen: dict[str, str] = {}
    for name in sorted(groups, key=lambda name: positions.get(name, 0.0)):
        sources = groups[name]
        if isinstance(sources, (list, tuple, set)) and not len(sources):
            raise ParameterError(f"The group {name!r} has no models; give at least one file or model.")
        models = []
        for label, source in named_models(list(sources) if isinstance(sources, set) else sources).items():
            model = load(source, words, case_fallback=case_fallback, name=label)
            models.append(replace(model, source=source.source) if isinstance(source, Embedding) else model)
            where = f"{label!r} of {name!r}"
            if len(model) and (earlier := seen.setdefault(model.checksum, where)) != where:
                raise ParameterError(
                    f"{where} and {earlier} have the same vectors; a model can stand in one place only. Remove one."
                )
        recipes = [_recipe(model.source) for model in models]
        description = ComparedGroup(
            name, tuple(model.name for model in models), _replicate_kind(recipes, replicates), positions.get(name)
        )
        samples = tuple(None if recipe is None else recipe.get("sample") for recipe in recipes)
        read.append(ModelGroup(description, tuple(models), samples, tuple(recipes)))
    return read


def _recipe(source: str) -> Recipe | None:
    try:
        return recipe_beside(Path(source))
    except ValueError:  # no path
        return None


def _replicate_kind(recipes: Sequence[Recipe | None], stated: Replicates) -> str:
    """Kind of replicates, as the user states or as their recipes do; random seeds where neither says."""
    if len(recipes) == 1:
        return "none"
    if stated != "auto":
        return stated
    recorded = [recipe for recipe in recipes if recipe is not None]
    if len(recorded) < len(recipes):
        return "seeds"
    samples = {recipe.get("sample") for recipe in recorded}
    if None not in samples and len(samples) > 1:
        return "samples"
    return "texts" if len({recipe["corpus"] for recipe in recorded}) == len(recorded) else "seeds"


Order = bool | Sequence[str]
"""True where groups are given in their order, or their names in order."""


def positions_of(
    names: Sequence[str], order: Order, positions: Sequence[float] | Mapping[str, float] | None
) -> dict[str, float]:
    """Position of each group; empty where groups have no order.

    Raises:
        ParameterError: both are given, or they do not name every group once.
    """
    if positions is None:
        if order is False:
            return {}
        ordered = list(names) if order is True else list(order)
        if sorted(map(str, ordered)) != sorted(names):
            raise ParameterError(
                f"The 'order' must name every group once: {', '.join(names)}. Got {', '.join(map(str, ordered))}."
            )
        return {name: float(index) for index, name in enumerate(ordered)}
    if order is not False:
        raise ParameterError("Give 'order' or 'positions', not both: positions say the order too.")
    if isinstance(positions, Mapping):
        if set(positions) != set(names):
            raise ParameterError(
                f"The 'positions' must have every group: {', '.join(names)}. Got {', '.join(map(str, positions))}."
            )
        positions = [positions[name] for name in names]
    if len(positions) != len(names):
        raise ParameterError(
            f"The 'positions' must have a number for each of the {len(names)} groups. Got {len(positions)}."
        )
    placed = dict(zip(names, positions, strict=True))
    stated: dict[str, Any] = {f"positions of {name}": position for name, position in placed.items()}
    check_number(**stated)
    if len(set(placed.values())) < len(names):
        raise ParameterError(f"Every group needs a position of its own. Got {', '.join(map(str, placed.values()))}.")
    return {name: float(position) for name, position in placed.items()}


def doubts_about(groups: Sequence[ModelGroup]) -> Iterator[str]:
    """Yield warnings about the groups, to be read before trusting a difference between them."""
    alone = [group.name for group in groups if len(group.models) == 1]
    if alone:
        who = (
            f"{listed(alone)} {'has' if len(alone) == 1 else 'have'}" if len(alone) < len(groups) else "Every group has"
        )
        yield (
            f"{who} a single model, so how far training the same model again would move it is unknown: intervals are "
            "for other words only. Train replicates (biasgauge train --seeds 8, or --bootstrap 20)."
        )
    seeds = [group.name for group in groups if group.description.replicates == "seeds"]
    if seeds:
        yield (
            f"Models of {listed(seeds)} are taken to differ by random seed alone: intervals are for other "
            "training runs on the same text, not for other text of the same kind. Bootstrap samples of the text "
            "(biasgauge train --bootstrap 20) include that."
        )
    dims = {group.name: sorted({model.dim for model in group.models}) for group in groups}
    recipes = [recipe for group in groups for recipe in group.recipes if recipe is not None]
    names = {name for recipe in recipes for name in recipe} - {*OWN, "corpus"}
    apart = sorted(name for name in names if any(recipe.get(name) != recipes[0].get(name) for recipe in recipes))
    consequence = "their difference may be that of training, not of text."
    if len({tuple(sizes) for sizes in dims.values()}) > 1:
        listing = ", ".join(f"{name} {' and '.join(map(str, sizes))}" for name, sizes in dims.items())
        yield f"The groups differ in dimensions ({listing}): {consequence}"
    elif apart:
        yield f"The models were not trained by one recipe; they differ in {', '.join(apart)}: {consequence}"


def listed(names: Sequence[str]) -> str:
    """Names in a row: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def files_of(typed: str) -> list[str | Path]:
    """The models that were typed for a group: a file, several separated by commas, a folder, or a pattern with *.

    Raises:
        ParameterError: nothing is there.
    """
    files: list[str | Path] = []
    for entry in (entry.strip() for entry in typed.split(",")):
        path = Path(entry)
        if not entry:
            continue
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.is_file() and _may_be_vectors(file))
            if not inside:
                raise ParameterError(f"{path}: holds no vector files; name a folder that does, or the files.")
            files += inside
        elif "*" in entry and not path.exists():
            matched = sorted(Path(path.anchor or os.curdir).glob(str(path.relative_to(path.anchor))))
            if not matched:
                raise ParameterError(f"{entry}: matches no files.")
            files += [file for file in matched if _may_be_vectors(file)]
        else:
            files.append(entry)
    return files


def _may_be_vectors(file: Path) -> bool:
    return not file.name.startswith(".") and file.suffix not in {".json", ".toml", ".md", ".csv", ".html"}
