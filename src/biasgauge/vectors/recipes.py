"""Recipes beside vectors that we trained: names of models, replicates of one another, checksums, word counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgauge.errors import InputError
from biasgauge.io import CHECKSUM_KEY, check_digest, read_record

OWN = ("seed", "sample", "sample_seed", "threads")
"""Keys of a recipe by which replicates may differ."""
_MOST_BYTES = 50_000_000


def lineage_of(path: Path) -> str:
    """Digest of the recipe that a model shares with its replicates; empty without a recipe."""
    recipe = recipe_beside(path)
    if recipe is None:
        return ""
    shared = {name: value for name, value in recipe.items() if name not in OWN}
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def recipe_beside(path: Path) -> dict[str, Any] | None:
    """Read the recipe that training left beside a file of vectors; None without one.

    A file of that name which is not a recipe of ours is ignored.

    Raises:
        InputError: it is one of ours, and was altered.
    """
    record = _record_beside(path)
    return None if record is None else dict(record["recipe"])


def check_trained(path: Path) -> None:
    """Compare vectors that we trained with the checksum in the recipe beside them, once in a process.

    Without a recipe, or beside vectors that were converted to another format, there is nothing to compare.

    Raises:
        InputError: the vectors are not those of the recipe.
    """
    file = (_record_beside(path) or {}).get("file")
    if isinstance(file, dict) and Path(str(file.get("name"))).suffix == path.suffix and path.is_file():
        recipe_name = path.with_suffix(".json").name
        again = f"train it again or, if you changed it yourself, remove {recipe_name}"
        check_digest(path, file.get("sha256"), again=again)


def _record_beside(path: Path) -> dict[str, Any] | None:
    if not path.name:  # the folder that we are in, or the root
        return None
    recipe_path = path.with_suffix(".json")
    try:
        if not recipe_path.is_file() or recipe_path.stat().st_size > _MOST_BYTES:
            return None
        content = recipe_path.read_bytes()
    except (OSError, ValueError):
        return None
    try:
        record = read_record(recipe_path, again=f"train it again, or remove {recipe_path.name}")
        return record if {"algorithm", "corpus", "settings", "seed"} <= record["recipe"].keys() else None
    except (InputError, KeyError, TypeError, AttributeError) as problem:
        if isinstance(problem, InputError) and f'"{CHECKSUM_KEY}"'.encode() in content:
            raise
        return None


ALGORITHMS = {"sgns": "SGNS", "cbow": "CBOW", "fasttext": "fastText", "glove": "GloVe"}
_ENDINGS = re.compile(r"(\.(txt|vec|bin|npz|npy|safetensors|w2v|model|magnitude|gz|zst|xz|bz2|zip))+$", re.IGNORECASE)


def model_label(path: Path) -> str:
    """Name of a model: "SGNS 100d, seed 3" where a recipe lies beside its file, else "GoogleNews-vectors"."""
    recipe = recipe_beside(path) or {}
    settings = recipe.get("settings")
    dimensions = settings.get("dim") if isinstance(settings, dict) else None
    if not recipe or dimensions is None:
        return _ENDINGS.sub("", path.name) or path.name
    sample = recipe.get("sample")
    drawn = "" if sample is None else f", sample {sample}"
    return f"{ALGORITHMS.get(recipe['algorithm'], recipe['algorithm'])} {dimensions}d, seed {recipe['seed']}{drawn}"


def model_labels(paths: Sequence[Path]) -> list[str]:
    """Distinct names of files: equal ones get the file's or folder's name behind them, or a number."""
    labels = [model_label(path) for path in paths]
    for more in (
        lambda path: _ENDINGS.sub("", path.name),
        lambda path: path.resolve().parent.name,
        lambda path: path.name,
    ):
        counts = Counter(labels)
        labels = [
            label if counts[label] == 1 or more(path) in {"", label} else f"{label} ({more(path)})"
            for label, path in zip(labels, paths, strict=True)
        ]
    files: dict[str, list[Path]] = {}
    for label, path in zip(labels, paths, strict=True):
        same = files.setdefault(label, [])
        same += [] if path in same else [path]
    numbers = [files[label].index(path) + 1 for label, path in zip(labels, paths, strict=True)]
    return [f"{label} ({number})" if number > 1 else label for label, number in zip(labels, numbers, strict=True)]
