"""Which models are replicates of one another: those whose recipes differ by random seed or bootstrap sample alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from biasgauge.errors import InputError
from biasgauge.io import CHECKSUM_KEY, check_digest, read_record

OWN = ("seed", "sample", "sample_seed", "threads")
"""What replicates may differ by."""
_MOST_BYTES = 50_000_000


def lineage_of(path: Path) -> str:
    """Address of what a model shares with its replicates, from the recipe beside its file; empty without one."""
    recipe = recipe_beside(path)
    if recipe is None:
        return ""
    shared = {name: value for name, value in recipe.items() if name not in OWN}
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def recipe_beside(path: Path) -> dict[str, Any] | None:
    """The recipe that training left beside a file of vectors; None without one.

    A file of that name which is no recipe of ours says nothing.

    Raises:
        InputError: it is one of ours, and was altered.
    """
    record = _record_beside(path)
    return None if record is None else dict(record["recipe"])


def check_trained(path: Path) -> None:
    """Compare vectors that we trained with the checksum in the recipe beside them, once in a process.

    Without a recipe, or beside vectors that were converted to another format, there is nothing to compare.

    Raises:
        InputError: the vectors are others than those that the recipe describes.
    """
    about = (_record_beside(path) or {}).get("file")
    if isinstance(about, dict) and Path(str(about.get("name"))).suffix == path.suffix and path.is_file():
        beside = path.with_suffix(".json").name
        check_digest(path, about.get("sha256"), again=f"train it again or, if you changed it yourself, remove {beside}")


def _record_beside(path: Path) -> dict[str, Any] | None:
    if not path.name:  # the folder that we are in, or the root
        return None
    beside = path.with_suffix(".json")
    try:
        if not beside.is_file() or beside.stat().st_size > _MOST_BYTES:
            return None
        content = beside.read_bytes()
    except (OSError, ValueError):
        return None
    try:
        record = read_record(beside, again=f"train it again, or remove {beside.name}")
        return record if {"algorithm", "corpus", "settings", "seed"} <= record["recipe"].keys() else None
    except (InputError, KeyError, TypeError, AttributeError) as problem:
        if isinstance(problem, InputError) and f'"{CHECKSUM_KEY}"'.encode() in content:
            raise
        return None
