"""Which models are replicates of one another: those whose recipes differ by random seed or bootstrap sample alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from biasgauge._io.json_file import read_json
from biasgauge.errors import InputError

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
    """
    beside = path.with_suffix(".json")
    try:
        if not beside.is_file() or beside.stat().st_size > _MOST_BYTES:
            return None
        recipe = read_json(beside)["recipe"]
        return dict(recipe) if {"algorithm", "corpus", "settings", "seed"} <= recipe.keys() else None
    except (InputError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
