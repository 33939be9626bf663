"""Groups of models to compare: what each is made of, what sets its models apart, where it stands in an order."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from biasgauge.core import Floats, ModelsLike, Record, VectorsLike, check_number
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE
from biasgauge.vectors import OWN, Embedding, load, named_models, record_beside

Replicates = Literal["auto", "seeds", "samples", "texts"]
"""What sets the models of a group apart: random seeds, bootstrap samples of one text, or texts of their own."""

_GENSIM_ARRAY = re.compile(r"(\.wv|\.trainables)?\.(vectors\w*|syn\w+)\.npy$")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")

TrainingRecord = dict[str, Any]
"""What training left beside a model: its recipe, the tokens that it read, the corpus."""


@dataclass(frozen=True)
class ComparedGroup(Record):
    """One of the groups.

    Attributes:
        name: what it is called.
        models: names of its models.
        replicates: what sets them apart: "seeds", "samples" or "texts"; "none" where there is one.
        position: where it stands in the order; None where there is none.
        tokens: tokens of the vocabulary that a model read in one epoch, the mean over models; None where unknown.
        draws: how often the text was dealt to parts anew; the parts of one draw are disjoint.
    """

    name: str
    models: tuple[str, ...]
    replicates: str
    position: float | None = None
    tokens: int | None = None
    draws: int = 1

    @property
    def over_documents(self) -> bool:
        """True if the spread of its models is that of other documents: random seeds know nothing of these."""
        return self.replicates in {"samples", "texts"}


@dataclass(frozen=True, eq=False)
class ModelGroup:
    """A group with its models, of which only the words that are asked for are read.

    Attributes:
        description: name, models and what sets them apart.
        models: one or several.
        records: what training left beside each, where it did.
        source: where the first of the models is, with all of its words.
    """

    description: ComparedGroup
    models: tuple[Embedding, ...]
    records: tuple[TrainingRecord | None, ...]
    source: VectorsLike

    @property
    def name(self) -> str:
        """Name of the group."""
        return self.description.name

    @property
    def resampled(self) -> bool:
        """True if its replicates are bootstrap samples of one text."""
        return self.description.replicates == "samples"

    @property
    def recipes(self) -> list[TrainingRecord]:
        """Recipes of the models that have one."""
        return [record["recipe"] for record in self.records if record is not None]

    def replicated(self, table: Floats) -> Floats:
        """Similarities by draw and replicate, from those by model: seeds of one bootstrap sample are averaged."""
        if self.description.draws > 1:
            draws = np.array([_drawn(record, "draw") for record in self.records])
            return np.stack([table[draws == draw] for draw in sorted(set(draws.tolist()))])
        samples = np.array([recipe.get("sample") for recipe in self.recipes])
        if not self.resampled or len(samples) < len(table) or None in samples:
            return table[None]
        return np.stack([table[samples == sample].mean(axis=0) for sample in dict.fromkeys(samples)])[None]


def read_groups(
    groups: Mapping[str, ModelsLike],
    words: Sequence[str],
    positions: Mapping[str, float],
    *,
    case_fallback: bool,
    replicates: Replicates,
    language: str = DEFAULT_LANGUAGE,
    texts: Mapping[str, str] | None = None,
) -> list[ModelGroup]:
    """Read the words asked for from every model of every group, in the order of positions where there are any.

    A model is read whole, so that frequencies of its words are known, and only these words are kept. `texts` has the
    checksum of the corpus of each group, where its models were trained on parts of it.

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
        named = named_models(list(sources) if isinstance(sources, set) else sources)
        for label, source in named.items():
            whole = load(source)
            model = load(whole, words, case_fallback=case_fallback, name=label)
            model = replace(model, source=whole.source, text=(texts or {}).get(name, whole.text))
            models.append(model.with_frequencies_of(whole, language))
            where = f"{label!r} of {name!r}"
            if len(model) and (earlier := seen.setdefault(model.checksum, where)) != where:
                raise ParameterError(
                    f"{where} and {earlier} have the same vectors; a model can stand in one place only. Remove one."
                )
        records = tuple(_training_record(model.source) for model in models)
        kind = _replicate_kind(records, replicates)
        tokens = [_tokens(record) for record in records if record is not None and "tokens" in record]
        description = ComparedGroup(
            name,
            tuple(model.name for model in models),
            kind,
            positions.get(name),
            tokens=round(float(np.mean(tokens))) if len(tokens) == len(models) else None,
            draws=_draws(name, records) if kind == "texts" else 1,
        )
        read.append(ModelGroup(description, tuple(models), records, next(iter(named.values()))))
    return read


def _training_record(source: str) -> TrainingRecord | None:
    try:
        return record_beside(Path(source))
    except ValueError:  # no path
        return None


def _tokens(record: TrainingRecord) -> float:
    """Tokens of the vocabulary that a model read in one epoch."""
    return float(record["tokens"]) / int(record["recipe"]["settings"]["epochs"])


def _drawn(record: TrainingRecord | None, kind: str) -> int | None:
    """Number of the "draw" or "sample" of documents that a model was trained on; None for a text that was not drawn."""
    number = None if record is None else record.get("corpus", {}).get("settings", {}).get(kind)
    return number if isinstance(number, int) else None


def _draws(name: str, records: Sequence[TrainingRecord | None]) -> int:
    """Number of draws that the models are of; 1 where their texts were not drawn.

    Raises:
        ParameterError: some models of a draw are missing, so that it is unknown which of the others share documents.
    """
    counts = Counter(_drawn(record, "draw") for record in records)
    if set(counts) == {None}:
        return 1
    if None in counts or len(set(counts.values())) > 1:
        raise ParameterError(
            f"The models of {name!r} are of parts of a text that was drawn several times, and some are missing; give "
            "all models of its folder."
        )
    return len(counts)


def _replicate_kind(records: Sequence[TrainingRecord | None], stated: Replicates) -> str:
    """Kind of replicates, as the user states or as their recipes do; random seeds where neither says."""
    if len(records) == 1:
        return "none"
    if stated != "auto":
        return stated
    recipes = [record["recipe"] for record in records if record is not None]
    if len(recipes) < len(records):
        return "seeds"
    samples = {recipe.get("sample") for recipe in recipes}
    if (None not in samples and len(samples) > 1) or None not in {_drawn(record, "sample") for record in records}:
        return "samples"
    return "texts" if len({recipe["corpus"] for recipe in recipes}) == len(recipes) else "seeds"


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
    dims = {group.name: sorted({model.dim for model in group.models}) for group in groups}
    recipes = [recipe for group in groups for recipe in group.recipes]
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
            files += _vector_files(path)
        elif "*" in entry and not path.exists():
            matched = sorted(Path(path.anchor or os.curdir).glob(str(path.relative_to(path.anchor))))
            if not matched:
                raise ParameterError(f"{entry}: matches no files.")
            files += [file for file in matched if _may_be_vectors(file)]
        else:
            files.append(entry)
    return files


def groups_by_year(folder: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """Group the vector files of a folder by the year in their names, the earliest first: `1990-w.npy`, `coha_1990.bin`.

    Files without a year in their names are left out; several of one year are replicates.

    Raises:
        ParameterError: it is no folder, holds no vector files, or none with one year in its name.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ParameterError(f"{path}: is not a folder; name a folder of files by year, or groups as NAME=FILES.")
    groups: dict[str, list[Path]] = {}
    for file in _vector_files(path):
        years = _YEAR.findall(file.name)
        if len(years) == 1:
            groups.setdefault(years[0], []).append(file)
    if not groups:
        raise ParameterError(f"{path}: no vector file there has a year in its name, such as 1990-w.npy.")
    return dict(sorted(groups.items()))


def _vector_files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if file.is_file() and _may_be_vectors(file))
    if not files:
        raise ParameterError(f"{folder}: holds no vector files; name a folder that does, or the files.")
    return files


def _may_be_vectors(file: Path) -> bool:
    vocabulary = file.name.endswith(("-vocab.pkl", ".vocab.pkl", ".vocab"))
    of_gensim = _GENSIM_ARRAY.search(file.name)  # an array that gensim put beside a model
    belongs = vocabulary or (of_gensim is not None and file.with_name(file.name[: of_gensim.start()]).exists())
    return not (file.name.startswith(".") or belongs or file.suffix in {".json", ".toml", ".md", ".csv", ".html"})
